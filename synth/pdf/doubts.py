"""When PDFium's text of a document is in doubt, on which pages, and which of two readings of a page is better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .process import PageText
from .readers import ReaderName
from .scripts import HARD, RIGHT_TO_LEFT_LETTER, Script
from .soundness import FEWEST_CHARACTERS, alike, fault, letter_order, letters_of, words_of

MANY = 0.1
"""The share of faulty pages from which the whole document is in doubt."""

HARD_SHARE = 0.3
SCRIPT_SHARE, FEWEST_LETTERS = 0.01, 200
SAME_LETTERS, SAME_WORDS = 0.96, 0.7
FOREIGN_LETTERS = 0.9
FULLER = 1.05

HARD_TO_READ = "its script is one that readers get wrong"
DOWNWARDS = "its columns run downwards"
DISAGREE = "the two readers disagree about its letters"


@dataclass(frozen=True)
class Doubt:
    """Why a document's text is in doubt, on which pages, and whether all its pages are with them.

    `foreign`: it has no letters of the script of the corpus's language, which is a doubt that two readers can allay.
    """

    why: str
    pages: tuple[int, ...]
    whole: bool = True
    foreign: Script | None = None


def page_fault(page: PageText) -> str | None:
    """What is wrong with a page as it was read; None where nothing is seen."""
    return page.error or fault(page.text or "")


def doubt_of(pages: Sequence[PageText], script: Script | None) -> Doubt | None:
    """What makes the text of a document doubtful, if anything; `script` is that of the corpus's language."""
    faults = {page.page: found for page in pages if (found := page_fault(page))}
    with_text = [page for page in pages if len(page.text or "") >= FEWEST_CHARACTERS]
    hard = _numbers([page for page in with_text if _is_hard(page.text or "")])
    downwards = _numbers([page for page in pages if page.downwards])
    most = Counter(faults.values()).most_common(1)[0][0] if faults else None
    doubtful, many = tuple(sorted({*faults, *hard, *downwards})), MANY * len(pages)
    if most and len(faults) > many:
        return Doubt(most, doubtful)
    if script and _lacks(script, with_text):
        return Doubt(f"it has no {script.name} letters", _numbers(with_text), foreign=script)
    if 2 * len(with_text) < len(pages):
        return Doubt("most of its pages have no text", _numbers([page for page in pages if page not in with_text]))
    if doubtful:
        return Doubt(most or (HARD_TO_READ if hard else DOWNWARDS), doubtful, whole=len(doubtful) > many)
    return None


def _numbers(pages: Sequence[PageText]) -> tuple[int, ...]:
    return tuple(page.page for page in pages)


def _lacks(script: Script, pages: Sequence[PageText]) -> bool:
    letters = sum(sum(map(str.isalpha, page.text or "")) for page in pages)
    return letters >= FEWEST_LETTERS and script.count(page.text or "" for page in pages) < SCRIPT_SHARE * letters


def _is_hard(text: str) -> bool:
    return not text.isascii() and len(HARD.findall(text)) > HARD_SHARE * len(text)


def better(pdfium: PageText, pypdf: PageText, script: Script | None = None) -> ReaderName | None:
    """Whose reading of a page is to be used; None where neither can be. Of two that agree it is PDFium's.

    `script` is given where the document has none of its letters.
    """
    wrong, wrong_too = page_fault(pdfium), page_fault(pypdf)
    one, other = pdfium.text or "", pypdf.text or ""
    if wrong:
        return None if wrong_too or not other.strip() else "pypdf"
    if len(one.strip()) < FEWEST_CHARACTERS:
        return "pdfium" if wrong_too or len(other.strip()) < FEWEST_CHARACTERS else "pypdf"
    if script:
        return _of_script(script, one, other)
    if pdfium.downwards:
        return "pypdf" if not wrong_too and _is_fuller(other, one) else "pdfium"
    return _of_hard_script(one, other) if _is_hard(one) else "pdfium"


def _of_script(script: Script, one: str, other: str) -> ReaderName | None:
    if script.count([other]) > SCRIPT_SHARE * len(other):
        return "pypdf"
    return "pdfium" if alike(letters_of(one), letters_of(other)) >= FOREIGN_LETTERS else None


def _is_fuller(text: str, other: str) -> bool:
    """Whether `text` has nearly all letters of the other, and clearly more."""
    mine, others = letters_of(text), letters_of(other)
    shared = (mine & others).total()
    return mine.total() > FULLER * others.total() and shared >= SAME_LETTERS * others.total()


def _of_hard_script(one: str, other: str) -> ReaderName | None:
    order, order_too = (ahead - backwards for ahead, backwards in map(letter_order, (one, other)))
    if alike(letters_of(one), letters_of(other)) < SAME_LETTERS:
        return None
    if alike(words_of(one), words_of(other)) >= SAME_WORDS or not RIGHT_TO_LEFT_LETTER.search(one):
        return "pdfium"
    return None if order == order_too == 0 else "pdfium" if order >= order_too else "pypdf"
