"""The sentences of an answer, the units that claims and citations are counted in; stretches of so many tokens; and what
texts have in common: ROUGE of two, and what one says again, in a row or anywhere.

Rules, not a model: the same text gives the same sentences on every machine. A sentence ends at a stop that is followed
by what can begin another, in lower case too; abbreviations, decimals, names such as `util/delay.h` and inline code end
none, nor do three dots and a closing quote or bracket before lower case. Citations behind the stop belong to the
sentence before. A list item, a heading, a row of a table and an empty line end what stands before them. A row is one
sentence, and so is a block of code, its lines as they are.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from ragassay.arrays import Ints
from ragassay.errors import InputError, MissingExtra, needing

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
    for block, is_code in _blocks(text):
        whole = is_code or block.lstrip().startswith("|")
        for piece in [block.strip()] if whole else _split(re.sub(r"\s+", " ", block).strip()):
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
        word = _OPENS.sub("", before.rsplit(" ", 1)[-1], count=1)
        is_unit = len(word) <= _LONGEST_UNIT and bool(re.search(r"\d\s*$", before.removesuffix(word)))
        goes_on = is_unit or word.casefold() in _GO_ON or bool(_LETTERS.fullmatch(word))
        if goes_on or stop[0].startswith(("..", "\u2026")) or _CLOSED.search(stop[0]):
            return False
        return not stop[0].startswith(".") or _word_ends(before, rest, following.upper())
    if not stop[0].startswith(".") or stop[0].startswith(".."):
        return begins or stop[0][0] != "\u2026"
    return _word_ends(before, rest, following)


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
    spans, found, low = _spans(text, tokenizer), list[str](), 0
    while low < len(spans):
        high = min(low + size, len(spans))
        if high < len(spans):
            high = _word_edge(text, spans, high, low + 1)
        found.append(text[spans[low][0] : spans[high - 1][1]])
        if high == len(spans):
            break
        low = max(_word_edge(text, spans, max(high - overlap, low + 1), low + 1), low + 1)
    return found


def n_tokens(text: str, tokenizer: Any) -> int:
    """How many tokens a text has, without those that a model puts around it."""
    return len(_spans(text, tokenizer))


def _spans(text: str, tokenizer: Any) -> list[Span]:
    """The place of each token; of tokens that stand for one character together, the whole character."""
    if not getattr(tokenizer, "is_fast", False):
        raise InputError("the model's tokenizer does not say where tokens stand", remedy="take a model with a fast one")
    found = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False)
    return [(low, high) for low, high in found["offset_mapping"] if high > low]


def _word_edge(text: str, spans: Sequence[Span], place: int, lowest: int) -> int:
    """The nearest token at or before `place`, from `lowest`, that begins a word; `place` where there is none."""
    for index in range(place, lowest - 1, -1):
        start = spans[index][0]
        if text[start].isspace() or text[start - 1].isspace():
            return index
    return place


WINDOW = 24
"""Characters of the parts whose distances are tried."""

_TRIED = 8
_NUMBER = re.compile(r"^\s*(?:\(?\d{1,3}[.)]|[-*+\u2022])\s+", re.MULTILINE)


class Loop(NamedTuple):
    """What is said in a row, how often, and over how many characters; "" and 0: nothing."""

    text: str
    times: int
    length: int


NOTHING = Loop("", 0, 0)


def longest_loop(text: str) -> Loop:
    """The loop over the most characters, its stretch said three times or more; numbers of lists and spaces apart.

    A stretch of p characters is said in a row where each character is the one p places before. Tried are the distances
    at which parts of WINDOW characters most often come again, so that the time grows with the text's length.
    """
    bare, best = re.sub(r"\s+", " ", _NUMBER.sub("", text)).strip(), NOTHING
    letters = np.frombuffer(bare.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    for period in _distances(bare):
        breaks = np.flatnonzero(np.concatenate([[True], letters[period:] != letters[:-period], [True]]))
        longest = int(np.argmax(np.diff(breaks)))
        start, length = int(breaks[longest]), int(breaks[longest + 1] - breaks[longest]) - 1 + period
        times = (length + 1) // period  # nothing stands between the last and what follows
        if times >= 3 and length > best.length:
            best = Loop(bare[start : start + period], times, length)
    return best


def _distances(text: str) -> list[int]:
    """From each part to the same one before it, the most frequent."""
    last: dict[str, int] = {}
    found: Counter[int] = Counter()
    for place in range(len(text) - WINDOW + 1):
        part = text[place : place + WINDOW]
        if part in last:
            found[place - last[part]] += 1
        last[part] = place
    return [distance for distance, _ in found.most_common(_TRIED)]


def longest_repeat(text: str) -> tuple[str, int]:
    """(the longest part that stands in the text twice without overlap, how often it does, counted from the left).

    Of equally long ones the first; "" and 0: none. By the ranks of all substrings of one length, doubled as in Karp,
    Miller and Rosenberg (1972, "Rapid identification of repeated patterns in strings, trees and arrays"): O(n log² n)
    with numpy's sorting, no text is a bad case.
    """
    if len(text) < 2:
        return "", 0
    length, start = _longest(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64))
    part = text[start : start + length]
    return part, text.count(part) if part else 0


def _longest(letters: Ints) -> tuple[int, int]:
    """(length, start), 0 and 0 where nothing repeats: the highest power of two that does, then the bits below it.

    What repeats at a length repeats at every shorter one, so that each bit can be tried by itself.
    """
    powers: list[Ints] = []
    ranks, length, start = _dense(letters), 1, 0
    while (found := _apart(ranks, length)) is not None:
        powers, start = [*powers, ranks], found
        if 4 * length > len(letters):
            break
        ranks, length = _joined(ranks, length, ranks), 2 * length
    if not powers:
        return 0, 0
    ranks, length = powers[-1], 1 << len(powers) - 1
    for bit in range(len(powers) - 2, -1, -1):
        more = length + (1 << bit)
        tried = _joined(ranks, length, powers[bit]) if 2 * more <= len(letters) else None
        if tried is not None and (found := _apart(tried, more)) is not None:
            ranks, length, start = tried, more, found
    return length, start


def _joined(first: Ints, length: int, second: Ints) -> Ints:
    """The ranks of substrings put together of one of `first` (of this length) and the one of `second` behind it."""
    n = min(len(first), len(second) - length)
    return _dense(first[:n] * (int(second.max()) + 1) + second[length : length + n])


def _dense(keys: Ints) -> Ints:
    """(n,): equal keys get equal ranks from 0."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    ranks = np.empty(len(keys), dtype=np.int64)
    ranks[order] = np.concatenate(([0], np.cumsum(ordered[1:] != ordered[:-1])))
    return ranks


def _apart(ranks: Ints, length: int) -> int | None:
    """The first start of a substring that begins again `length` places later or more; None where there is none."""
    n, places = int(ranks.max()) + 1, np.arange(len(ranks))
    last = np.zeros(n, dtype=np.intp)
    last[ranks] = places
    far = np.flatnonzero(last[ranks] - places >= length)
    return int(far[0]) if len(far) else None


ROUGES = ("rouge1", "rouge2", "rougeL")
_WORD = re.compile(r"[^\W_]+")


class Words:
    """The tokenizer that rouge-score is given, which asks for the words of both texts again: they are kept a while."""

    @staticmethod
    @lru_cache(maxsize=16)
    def tokenize(text: str) -> tuple[str, ...]:
        """The words of a text."""
        return tuple(_WORD.findall(text.lower()))


def check_at_hand() -> None:
    """Raises MissingExtra where rouge-score is not installed. Loads nothing: with it come NLTK and scikit-learn."""
    if find_spec("rouge_score") is None:
        raise MissingExtra("ROUGE needs rouge_score, which", "local")


def rouge(one: str, other: str) -> dict[str, float | None]:
    """The F1 of each of `ROUGES`, 0 to 1, whichever text comes first.

    ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries") by Google's
    rouge-score, without stemming. Its own words are runs of a to z and 0 to 9; ours are runs of letters and digits of
    any script, in lower case, which for English is the same.
    None where it is undefined: both texts without a word, or for ROUGE-2 both without a pair of words.
    """
    first, second = Words().tokenize(one), Words().tokenize(other)
    found = {name: float(score.fmeasure) for name, score in _scorer().score(one, other).items()}
    common = longest_common_subsequence(first, second)
    precision, recall = common / max(len(second), 1), common / max(len(first), 1)
    found["rougeL"] = 2 * precision * recall / (precision + recall) if common else 0.0
    longest = max(len(first), len(second))
    least = {"rouge1": 1, "rouge2": 2, "rougeL": 1}
    return {name: found[name] if longest >= least[name] else None for name in ROUGES}


def longest_common_subsequence(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """How many things it has: each row of the table is one whole number with a bit for each thing of `one`.

    Hyyrö's algorithm (2004, "Bit-parallel LCS-length computation revisited"): rouge-score's table takes gigabytes of
    long texts.
    """
    at: dict[Hashable, int] = {}
    for place, word in enumerate(one):
        at[word] = at.get(word, 0) | 1 << place
    whole = (1 << len(one)) - 1
    row = whole
    for word in other:
        if matches := row & at.get(word, 0):
            row = (row + matches | row - matches) & whole
    return len(one) - row.bit_count()


@lru_cache(maxsize=1)
def _scorer() -> Any:
    with needing("ROUGE needs {}, which", "local"):
        from rouge_score.rouge_scorer import RougeScorer
    return RougeScorer(["rouge1", "rouge2"], tokenizer=Words())
