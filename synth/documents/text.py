"""A document's text: its kept pages' cleaned texts joined by newlines, and where its pages and headings stand in it."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

from ..formats import Heading
from ..pdf.readers import OutlineEntry

SHORT_LINE = 0.7
"""A line that ends this far short of the usual length ends a paragraph, a list item or a line of code."""


class Strength(IntEnum):
    """How good a place is to cut at, the best last."""

    WORD = 0
    LINE = 1
    SENTENCE = 2
    PARAGRAPH = 3
    HEADING = 4


class Cut(NamedTuple):
    """A place between two words: the first ends before `end`, the next begins at `start`; white space lies between."""

    end: int
    start: int
    strength: Strength


class Stretch(NamedTuple):
    """A stretch of text without a hole: (start, end) of each of its words, and the places between them (one fewer)."""

    spans: list[tuple[int, int]]
    places: list[Cut]

    def span(self, first: int, stop: int) -> tuple[int, int]:
        """(start, end) in the text of the words from `first` to `stop`, excluded."""
        return self.spans[first][0], self.spans[stop - 1][1]


_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_WIDE}][^\w\s]*|[^\s{_WIDE}]{{1,40}}")
"""A word; where a script has no spaces, a character; a longer run without a space is cut."""

_SENTENCE_END = re.compile(r"[.!?…:;]['\"’”)\]»]*$|[。！？；]['\"’”)」』]*$")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|e\.g|i\.e|etc|cf|vs|Fig|fig|Sec|sec|No|Nr|Dr|Mr|Mrs|Ms|z\.B|d\.h|bzw|ca|approx)\.$"
)
_BULLET = re.compile(r"[•▪◦‣–—*\-]\s")
_COUNTED_ITEM = re.compile(r"[(\[]?\w{1,2}[.)\]]\s")
_CLOSING = frozenset(")]}>,;.:!?”»’%")
_NUMBERED_HEADING = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,3}){1,5}\.?|(?:Chapter|Appendix|Section)\s+[\dA-Z]+[.:]?)\s+[^\W\d_<].{2,90}$"
)


def cut(text: str, start: int, end: int, headings: Set[int] = frozenset()) -> Stretch:
    """The words between two offsets and the places between them. `headings` are offsets at which headings begin."""
    spans = [match.span() for match in _WORD.finditer(text, start, end)]
    lengths = sorted(map(len, text[start:end].split("\n")))
    usual = lengths[len(lengths) * 9 // 10]  # nine of ten lines are no longer, in characters
    places = [
        Cut(before_end, next_start, _strength(text, before, before_end, next_start, headings, usual))
        for (before, before_end), (next_start, _) in pairwise(spans)
    ]
    return Stretch(spans, places)


def _strength(text: str, word: int, end: int, start: int, headings: Set[int], usual: int) -> Strength:
    """That of the place from `end` of a word, which begins at `word`, to `start` of the next."""
    between = text[end:start]
    ends_sentence = (
        not text[end - 1].isalnum()
        and _SENTENCE_END.search(text, word, end)
        and not _ABBREVIATION.search(text[max(0, word - 1) : end])
    )
    if "\n" not in between:
        begins_sentence = text[end - 1] not in ":;" and not text[start].islower()
        return Strength.SENTENCE if ends_sentence and begins_sentence else Strength.WORD
    line_end = text.find("\n", start)
    line = text[start : line_end if line_end >= 0 else len(text)]
    if start in headings or (_NUMBERED_HEADING.match(line) and not _SENTENCE_END.search(line)):
        return Strength.HEADING
    if between.count("\n") > 1 or _BULLET.match(line):
        return Strength.PARAGRAPH
    ends_short = end - (text.rfind("\n", 0, end) + 1) < SHORT_LINE * usual
    if ends_sentence and (ends_short or _COUNTED_ITEM.match(line)):
        return Strength.PARAGRAPH
    if ends_sentence:
        return Strength.SENTENCE
    return Strength.WORD if text[start] in _CLOSING and not ends_short else Strength.LINE


def best(cuts: Sequence[Cut], first: int, last: int, wanted: int, tolerance: float) -> int:
    """The index of the best cut from `first` to `last` (both included, first <= last).

    A cut one step stronger is worth `tolerance` words of distance from the one wanted; of equals the first is taken.
    A place within a line and a sentence is taken only where there is no other.
    """
    places = [i for i in range(first, last + 1) if cuts[i].strength > Strength.WORD] or range(first, last + 1)
    return max(places, key=lambda i: (cuts[i].strength * tolerance - abs(i - wanted), -i))


_FORMS = re.compile("[\u2f00-\u2fd5\ufb1d-\ufb4f\ufb50-\ufbff\ufc00-\ufdcf\ufe10-\ufe19\ufe30-\ufe44\ufe70-\ufefc]")
"""Kangxi radicals, forms of Hebrew and Arabic letters and ligatures, punctuation of columns that run downwards."""

_RADICALS = (
    "⺂⺃⺅⺉⺋⺎⺏⺐⺒⺓⺔⺕⺖⺘⺙⺛⺞⺟⺠⺡⺣⺤⺦⺨⺫⺭⺯⺰⺱⺲⺳⺹⺺⺾⺿⻂⻃⻄⻅"
    "⻆⻈⻉⻋⻌⻍⻎⻐⻑⻒⻓⻔⻖⻘⻙⻚⻛⻜⻝⻟⻠⻢⻣⻤⻥⻦⻧⻨⻩⻪⻫⻬⻭⻮⻯⻰⻱⻲⻳"
)
_IDEOGRAPHS = (
    "乛乚亻刂㔾兀尣尢巳幺彑彐忄扌攵旡歺母民氵灬爫丬犭罒礻糹纟罓罒㓁耂肀艹艹衤覀西见"
    "角讠贝车辶辶辶钅長镸长门阝青韦页风飞食飠饣马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀龟"
)
_SAME_GLYPH = str.maketrans(_RADICALS, _IDEOGRAPHS)
"""The radicals without a decomposition in Unicode that are one glyph with an ideograph in Noto Sans CJK."""


def plain_letters(text: str) -> str:
    """The text with letters for their forms; ligatures of letters become their letters, in the order of reading.

    A font has one glyph for the letter and the form, and a PDF made from glyphs may say either; a query has the letter.
    """
    if text.isascii():
        return text
    letters = text.translate(_SAME_GLYPH)
    return _FORMS.sub(lambda form: unicodedata.normalize("NFKC", form[0]).replace(" ", ""), letters)


_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "∗": "*", "\u00a0": " "}
    | {"\uf0b7": "•", "\uf0a7": "▪", "\u2028": "\n", "\u2029": "\n", "\x85": "\n", "\x0c": "\n", "\t": " "}
)
"""NFKC would do the ligatures too, and make 10⁶ into 106."""

_PDFIUM_HYPHEN = re.compile("[\x02\ufffe]\n?")
_CONTINUATION = re.compile("←[-↩]?\n")
"""Where Doxygen breaks a long line of code."""

_INVISIBLE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\ue000-\uf8ff\U000e0000-\U0010ffff]"
)
_LOOSE_ACCENT = re.compile("([´¨ˇ˘])(?<=[^\\W\\d_].)([^\\W\\d_])")
_COMBINING = {"´": "\u0301", "¨": "\u0308", "ˇ": "\u030c", "˘": "\u0306"}
"""TeX's older fonts set an accent as a character of its own before the letter."""

_JUSTIFIED = re.compile(r"(?<=\S) {2,3}(?=\S)")
_FAR_APART = re.compile(r"(?<=\S) {4,}(?=\S)")
_BLANK_LINES = re.compile(r"\n{3,}")
_LETTERS_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BROKEN_WORD = re.compile(r"(?<![^\W\d_])([^\W\d_]++(?:-[^\W\d_]++)*+)-\n *([^\W\d_]+)(\S*)[ ]?")
"""Tried once a word: that begins with no letter before it, and no part of it is given back."""


def clean_characters(raw: str) -> str:
    """A page's text without what cannot be seen or stored, in NFC; lines keep their order and their indentation.

    Line breaks stay, since tables, register descriptions and code live by them.
    """
    text = plain_letters(raw).replace("\r\n", "\n").replace("\r", "\n")
    text = _PDFIUM_HYPHEN.sub("-\n", text)
    text = _INVISIBLE.sub("", unicodedata.normalize("NFC", text.translate(_LIGATURES)))
    text = _LOOSE_ACCENT.sub(lambda m: unicodedata.normalize("NFC", m[2] + _COMBINING[m[1]]), text)
    text = _FAR_APART.sub("   ", _JUSTIFIED.sub(" ", _CONTINUATION.sub("", text)))
    lines = (line.rstrip() for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n")


def join_broken_words(pages: Sequence[str]) -> list[str]:
    """The pages of one document with words that were broken at a line end whole again, at the end of the first line.

    Whether the hyphen belongs to the word is asked of the document: "fixed-" "point" keeps it where "fixed-point" or
    both of its parts, and no "fixedpoint", stand elsewhere in it. Names with digits or underscores are left alone.
    """
    known: Counter[str] = Counter()
    for page in pages:
        known.update(map(str.lower, _LETTERS_WORD.findall(_BROKEN_WORD.sub(" ", page))))
    return [_BROKEN_WORD.sub(lambda m: _joined(m, known), page).strip("\n") for page in pages]


def _joined(match: re.Match[str], known: Counter[str]) -> str:
    first, second, rest = match[1], match[2], match[3]
    if second[0].isupper() or len(first) < 2:
        return match[0]
    whole, hyphened = f"{first}{second}".lower(), f"{first}-{second}".lower()
    last_part = first.lower().rsplit("-", 1)[-1]
    two_words = known[last_part] > 1 and known[second.lower()] > 1 and len(second) > 2
    hyphen = "-" if known[hyphened] > known[whole] or (two_words and not known[whole]) else ""
    return f"{first}{hyphen}{second}{rest}\n"


MOST_LINES_OF_A_HEADING = 3

Span = tuple[int, int]
"""Where a piece of a document's text begins and ends, in characters; it begins and ends with none that is white."""

_NUMBERING = re.compile(r"(chapter|appendix)?[a-z]?\d*")


@dataclass(frozen=True)
class DocumentText:
    """The text of one document. `pages` are (number, cleaned text), ascending, without the excluded pages."""

    doc: str
    pages: tuple[tuple[int, str], ...]
    outline: tuple[OutlineEntry, ...] = ()

    @cached_property
    def text(self) -> str:
        """What `start` and `end` of sections and passages count in, in characters."""
        return "\n".join(text for _, text in self.pages)

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(text) + 1 for _, text in self.pages[:-1]), initial=0))

    def page_at(self, offset: int) -> int:
        """The number of the page on which the character at `offset` stands."""
        return self.pages[bisect_right(self._starts, offset) - 1][0]

    def page_start(self, number: int) -> int:
        """The offset at which the page with this number begins; the text's length where there is no such page."""
        index = bisect_left(self.pages, number, key=lambda page: page[0])
        found = index < len(self.pages) and self.pages[index][0] == number
        return self._starts[index] if found else len(self.text)

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """Each stretch of consecutive pages that has text, with its words and the places between them."""
        headings, found = frozenset(heading.start for heading in self.headings), list[Stretch]()
        for _, run in groupby(enumerate(self.pages), key=lambda place: place[1][0] - place[0]):
            indexes = [index for index, _ in run]
            end = self._starts[indexes[-1]] + len(self.pages[indexes[-1]][1])
            found.append(cut(self.text, self._starts[indexes[0]], end, headings))
        return tuple(stretch for stretch in found if stretch.spans)

    @cached_property
    def headings(self) -> tuple[Heading, ...]:
        """The outline's entries in the order of the text; one whose words are not found stands where its page begins.

        Entries that point to pages left out are left out too.
        """
        indexes = {number: index for index, (number, _) in enumerate(self.pages)}
        found, taken = [], dict[tuple[int, str], int]()
        for order, entry in enumerate(self.outline):
            index, title = indexes.get(entry.page), " ".join(clean_characters(entry.title).split())
            if index is not None and title:
                behind = taken.get((index, title), -1)
                within = heading_line(self.pages[index][1], title, behind)
                taken[index, title] = behind if within is None else within
                within = max(behind, 0) if within is None else within
                found.append((self._starts[index] + within, order, entry.level, title))
        return tuple(Heading(start, level, title) for start, _, level, title in sorted(found))

    def title_at(self, offset: int) -> str:
        """The nearest heading at or before `offset`, behind the one above it: "Sleep modes > Idle". "" for none."""
        reached = bisect_right(self.headings, offset, key=lambda heading: heading.start)
        if not reached:
            return ""
        nearest = self.headings[reached - 1]
        above = next((h for h in reversed(self.headings[: reached - 1]) if h.level < nearest.level), None)
        return f"{above.title} > {nearest.title}" if above else nearest.title


def heading_line(page: str, title: str, behind: int = -1) -> int | None:
    """Where on the page, behind an offset, the line (or up to three lines) is the title, a number before it aside."""
    wanted = squashed(title)
    lines = list(re.finditer(r"[^\n]+", page))
    for index, line in enumerate(lines):
        if line.start() <= behind:
            continue
        for count in range(1, MOST_LINES_OF_A_HEADING + 1):
            together = squashed(page[line.start() : lines[min(index + count, len(lines)) - 1].end()])
            if wanted and together.endswith(wanted) and _NUMBERING.fullmatch(together[: -len(wanted)]):
                return line.start()
            if len(together) > len(wanted) + 20:
                break
    return None


def squashed(text: str) -> str:
    """Letters and digits alone, in small letters: titles are set with other spaces and marks than their entries."""
    return "".join(filter(str.isalnum, text)).casefold()
