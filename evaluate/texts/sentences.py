"""The sentences of an answer, the units that claims and citations are counted in; and stretches of so many tokens.

Rules, not a model: the same text gives the same sentences on every machine. A sentence ends at a stop that is followed
by what can begin another, in lower case too; abbreviations, decimals, names such as `util/delay.h` and inline code end
none, nor do three dots and a closing quote or bracket before lower case. Citations behind the stop belong to the
sentence before. A list item, a heading, a row of a table and an empty line end what stands before them. A row is one
sentence, and so is a block of code, its lines as they are.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from typing import Any

from ragassay.errors import InputError

CITATION = re.compile(r"\[\s*\d{1,3}(?:\s*(?:[,;]|[-\u2013])\s*\d{1,3})*\s*\]")
"""Numbers of up to three digits in square brackets: [1], [2, 4], [1-3]."""

CODE = re.compile(r"(?P<ticks>`{1,9})(?!`)[^`\n]*(?P=ticks)")
"""Code within a line."""

_BLOCK = re.compile(r"^ {0,3}(```|~~~).*?^ {0,3}\1", re.DOTALL | re.MULTILINE)
_LONGEST_RANGE = 20
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
_BULLET = re.compile(r"\s*(?:[-*+\u2022\u2013]|\(?(?:\d{1,3}|[A-Za-z])[.)])\s+")
_APART = re.compile(r" {0,3}(?:#{1,6}\s|\||>|(?:-{3,}|\*{3,}|={3,})\s*$)")
_MARKER = re.compile(r"\s*(?:\(?(?:\d{1,3}|[A-Za-z])[.)])\s+")

_CITED = rf"(?:\s*{CITATION.pattern})*"
_STOP = re.compile(
    rf"(?:(?<![.!?\u2026])[.!?\u2026]+[\"'\u2019\u201d\u00bb)*_]*{_CITED}(?=\s|$)"
    rf"|[\u3002\uff01\uff1f]+[\u300d\u300f\u201d)]*{_CITED})"
)
_CITES = re.compile(rf"{_CITED}\s*")
_OPENS = re.compile(r"[\"'\u2018\u201c\u201e\u00bf\u00a1\u00ab(\[*_`]*")
_CODE_WORD = re.compile(r"\S*(?:[_/\\=<>:]|\w[.(]\w|\w\(|\d)")
_SHORT = """
e.g i.e eg ie cf vs v viz al approx ca resp incl excl ed eds dr mr mrs ms prof st jr sr inc ltd co corp dept est max min
tel z.b d.h u.a bzw evtl ggf s.o s.u vgl p.ex c.-\u00e0-d env ej sra
"""
_BEFORE_NUMBERS = "fig figs eq eqs sec sect ch chap vol no nos pp p nr abb bsp art num p\u00e1g"
_NUMBERED = frozenset(_BEFORE_NUMBERS.split())

_BEFORE_LOWER = """
abbr adj adv appt assn ave blvd bros capt col cont esp fl ft gen gov hon hr hrs lat lb lbs lt mins mo mos mt orig oz
prev ref refs rep rev secs sen sgt univ usu yr yrs
"""
_OFTEN_LAST = "etc usw inc ltd co corp min max al est ed a.m p.m u.a jr sr"
_FIRST = """
a after all also although an and as at because before but by each for from he here how however if in it its no not note
on once only or otherwise she since so such that the then there these they this those thus to use we what when where
which while with without you your
"""
_NEAR = 100
"""Characters before and behind a stop that are looked at."""

_ENUMERATES = re.compile(r"(?:^|:)\s*\(?\d{1,2}$")
_ABBREVIATIONS = frozenset(_SHORT.split())
_GO_ON = frozenset(f"{_SHORT} {_BEFORE_LOWER} {_OFTEN_LAST} {_BEFORE_NUMBERS}".split())
"""Behind these a word in lower case begins nothing."""

_LETTERS = re.compile(r"[^\W\d]|\d{1,2}|[^\W\d]{1,2}(?:\.[^\W\d]{1,2})+")
"""A letter, an ordinal, letters with stops between: `E` of `E. coli`, `2`, `Ph.D`."""

_LONGEST_UNIT = 4
_MAY_END = frozenset(_OFTEN_LAST.split())
"""Abbreviations, or words that look like one, that end a sentence before a capital letter."""

_CLOSED = re.compile(r"[\"'\u2019\u201d\u00bb)]")
_INITIALS = re.compile(r"[A-Z](?:\.[A-Z])*")
_NAME_BEFORE = re.compile(r"(?:^|[\s(])(?:[A-Z]\S*|\S+\.|by|von|de) *$|^[^\w]*$")
_STARTERS = frozenset(_FIRST.split())


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of `text` in their order, with their citations and the marks of list items, without the space
    around them.

    Every letter of the text is in exactly one of them; what holds neither letter nor digit (a rule, a lone dash) is
    left out, and so are citations before which there is nothing to cite. Empty for text without words.
    """
    found: list[str] = []
    for piece in _pieces(text):
        bare = CITATION.sub("", piece)
        if any(character.isalnum() for character in bare):
            found.append(piece)
        elif found and bare != piece:
            found[-1] += f" {piece}"
    return tuple(found)


def cited(sentence: str) -> tuple[int, ...]:
    """The numbers that a sentence cites, each once, in their order; [1-3] is 1, 2, 3. Brackets in code cite nothing."""
    numbers: list[int] = []
    for citation in CITATION.findall(_BLOCK.sub("", CODE.sub("", sentence))):
        for part in re.split(r"[,;]", citation.strip("[] ")):
            ends = [int(end) for end in re.findall(r"\d+", part)]
            numbers += range(ends[0], ends[-1] + 1) if 0 < ends[-1] - ends[0] <= _LONGEST_RANGE else ends
    return tuple(dict.fromkeys(numbers))


def without_citations(sentence: str) -> str:
    """The sentence without the numbers that it cites."""
    kept, start = [], 0
    code = [match.span() for pattern in (CODE, _BLOCK) for match in pattern.finditer(sentence)]
    for citation in re.finditer(rf"(?<!\s)\s*{CITATION.pattern}", sentence):
        if not any(low <= citation.start() < high for low, high in code):
            kept.append(sentence[start : citation.start()])
            start = citation.end()
    return "".join([*kept, sentence[start:]]).strip()


def _pieces(text: str) -> Iterator[str]:
    for block, whole in _blocks(text):
        if whole or block.lstrip().startswith("|"):
            yield block.strip()
        else:
            yield from _split(re.sub(r"\s+", " ", block).strip())


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """(text, whether it is code) of every paragraph, list item, heading, row and block of code."""
    lines: list[str] = []
    fenced = code = False
    for line in text.splitlines():
        edge = bool(_FENCE.match(line))
        indented = bool(_INDENTED.match(line)) and not _BULLET.match(line) and (code or not lines)
        is_code = fenced or edge or indented
        begins = not line.strip() or bool(_BULLET.match(line) or _APART.match(line))
        ends = bool(_APART.match(line)) and not line.lstrip().startswith(">")
        if lines and (is_code != code or (not is_code and begins)):
            yield "\n".join(lines), code
            lines = []
        if line.strip():
            lines.append(line)
            code = is_code
        if (edge and fenced) or (not is_code and (ends or (len(lines) == 1 and _CITES.fullmatch(line)))):
            yield "\n".join(lines), code
            lines = []
        fenced = fenced != edge
    yield "\n".join(lines), code


def _split(line: str) -> Iterator[str]:
    """The sentences of a paragraph in one line."""
    inside = [match.span() for match in CODE.finditer(line)]
    begins = [low for low, _ in inside]
    marker = _MARKER.match(line)
    start, begun = 0, marker.end() if marker else 0
    for stop in _STOP.finditer(line, begun):
        before = bisect(begins, stop.start()) - 1
        if (before >= 0 and stop.start() < inside[before][1]) or not _is_end(line, stop, start):
            continue
        yield line[start : stop.end()].strip()
        start = stop.end()
    yield line[start:].strip()


def _is_end(line: str, stop: re.Match[str], start: int) -> bool:
    """Whether the sentence that begins at `start` ends at the stop: by the word before it and by what comes next."""
    if stop[0][0] in "\u3002\uff01\uff1f":
        return True
    rest = line[stop.end() : stop.end() + _NEAR].lstrip()
    if not rest:
        return True
    cited = bool(CITATION.search(stop[0]))
    following = rest[_OPENS.match(rest).end() :][:1]  # type: ignore[union-attr]
    begins = not following.islower() or bool(_CODE_WORD.match(rest.split(" ", 1)[0])) or rest[0] == "`"
    before = line[max(start, stop.start() - _NEAR) : stop.start()].strip()
    if not begins and not cited:
        if stop[0].startswith(("..", "\u2026")) or _CLOSED.search(stop[0]) or _goes_on(before):
            return False
        return not stop[0].startswith(".") or _word_ends(before, rest, following.upper())
    if not stop[0].startswith(".") or stop[0].startswith(".."):
        return begins or stop[0][0] != "\u2026"
    return _word_ends(before, rest, following)


def _goes_on(before: str) -> bool:
    """Whether the sentence goes on in lower case behind the stop, since its last word is short for something."""
    *_, word = before.rsplit(" ", 1)
    word = _OPENS.sub("", word, count=1)
    is_unit = len(word) <= _LONGEST_UNIT and bool(re.search(r"\d\s*$", before.removesuffix(word)))
    return is_unit or word.casefold() in _GO_ON or bool(_LETTERS.fullmatch(word))


def _word_ends(before: str, rest: str, following: str) -> bool:
    """Whether the stop behind the last word of `before` is more than the sign of an abbreviation."""
    match = re.search(r"[^\s(\[\"'\u201c\u201e]+$", before)
    word = match[0] if match else ""
    if _INITIALS.fullmatch(word):
        starts = re.match(r"\W*(\w*)", rest)
        named = len(word) > 1 or bool(_NAME_BEFORE.search(before.removesuffix(word)))
        return not named or (starts is not None and starts[1].casefold() in _STARTERS)
    name = word.casefold()
    is_unit = word.islower() and bool(re.search(r"\d\s*$", before.removesuffix(word)))
    if name in _NUMBERED:
        return not following.isdigit()
    if name in _MAY_END or is_unit:
        return following.isupper()
    return name not in _ABBREVIATIONS and not _ENUMERATES.search(before)


Span = tuple[int, int]


def windows(text: str, tokenizer: Any, size: int, overlap: int = 0) -> list[str]:
    """`text` in stretches of at most `size` tokens, each beginning `overlap` tokens before the last one ends.

    They end and begin between words where a word is shorter than a stretch, and together hold every character but the
    space around them. A text that fits is one stretch; one without tokens is none. tokenizer: a fast one of
    transformers. Raises InputError where it cannot say where its tokens stand.
    """
    if not 0 <= overlap < size:
        raise ValueError("overlap must be at least 0 and smaller than size")
    spans = _spans(text, tokenizer)
    return [text[spans[low][0] : spans[high - 1][1]] for low, high in _cuts(text, spans, size, overlap)]


def n_tokens(text: str, tokenizer: Any) -> int:
    """How many tokens a text has, without those that a model puts around it."""
    return len(_spans(text, tokenizer))


def _spans(text: str, tokenizer: Any) -> list[Span]:
    """The place of each token; of tokens that stand for one character together, the whole character."""
    if not getattr(tokenizer, "is_fast", False):
        raise InputError("the model's tokenizer does not say where tokens stand", remedy="take a model with a fast one")
    found = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False)
    return [(low, high) for low, high in found["offset_mapping"] if high > low]


def _cuts(text: str, spans: Sequence[Span], size: int, overlap: int) -> Iterator[Span]:
    """(first, last + 1) token of each stretch."""
    low = 0
    while low < len(spans):
        high = min(low + size, len(spans))
        if high < len(spans):
            high = _word_edge(text, spans, high, low + 1)
        yield low, high
        if high == len(spans):
            return
        low = max(_word_edge(text, spans, max(high - overlap, low + 1), low + 1), low + 1)


def _word_edge(text: str, spans: Sequence[Span], place: int, lowest: int) -> int:
    """The nearest token at or before `place`, from `lowest`, that begins a word; `place` where there is none."""
    for index in range(place, lowest - 1, -1):
        start = spans[index][0]
        if text[start].isspace() or text[start - 1].isspace():
            return index
    return place
