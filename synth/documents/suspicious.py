"""Pages whose text looks wrong: what a person should look at before questions are made from them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from ragassay.records import Page, Record

from ..checking.mojibake import mojibake
from ..pdf.soundness import fault

EXCERPT = 160
"""Characters of a page that are shown."""

FEWEST_CHARACTERS = 40
FEWEST_LETTERS = 0.25
"""Of the characters that are not white: tables of numbers have fewer than prose, and more than this."""

FEWEST_LINES, LONELY_SHARE = 10, 0.4
FEWEST_RUINS, RUINED_SHARE = 5, 0.02
FEWEST_WORDS = 5

_RUIN = re.compile(r"(?<=[^\W\d_])-\n|(?<=[^\W\d_]{2})- (?=[a-zà-öø-ÿ]{2,})(?!(?:and|or|und|oder|et|ou|y|o|to|bis)\b)")
"""A word that stays broken at a line end, or was joined with the space left in it."""


class SuspiciousPage(Record):
    """A line of `suspicious-pages.jsonl`: what looks wrong on a page of a document of `n_pages`, and how it begins."""

    doc: str
    page: int
    n_pages: int
    reasons: tuple[str, ...]
    excerpt: str


def suspicious_pages(pages: Sequence[Page]) -> Iterator[SuspiciousPage]:
    """Those of the cleaned pages that something is wrong with, in their order. A page without text is none of them.

    That a page has too few words is said only where it is not the only one of its document.
    """
    n_pages: dict[str, int] = {}
    for page in pages:
        n_pages[page.doc] = n_pages.get(page.doc, 0) + 1
    for page in pages:
        if reasons := tuple(_reasons(page.text, alone=n_pages[page.doc] == 1)):
            excerpt = " ".join(page.text.split())[:EXCERPT]
            yield SuspiciousPage(
                doc=page.doc, page=page.page, n_pages=n_pages[page.doc], reasons=reasons, excerpt=excerpt
            )


def _reasons(text: str, *, alone: bool) -> Iterator[str]:
    squeezed = "".join(text.split())
    if not squeezed:
        return
    words = re.findall(r"\w+", text)
    if len(words) < FEWEST_WORDS and not alone:
        yield f"{len(words)} words"
    if found := mojibake(text):
        yield f"letters of another encoding: {found}"
    if why := fault(text):
        yield why
    letters = sum(unicodedata.category(character)[0] in "LM" for character in squeezed)
    if len(squeezed) >= FEWEST_CHARACTERS and letters < FEWEST_LETTERS * len(squeezed):
        yield "hardly a letter"
    yield from _lines_and_hyphens(text, len(words))


def _lines_and_hyphens(text: str, n_words: int) -> Iterator[str]:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    lonely = sum(len(line) == 1 for line in lines)
    if len(lines) >= FEWEST_LINES and lonely > LONELY_SHARE * len(lines):
        yield f"{lonely} of {len(lines)} lines are one character long"
    ruins = len(_RUIN.findall(text))
    if ruins >= FEWEST_RUINS and ruins > RUINED_SHARE * n_words:
        yield f"{ruins} words are broken by hyphens"
