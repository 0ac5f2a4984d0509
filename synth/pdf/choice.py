"""Which reader a document is read with: PDFium, unless its text is in doubt and pypdf's is better on a sample of pages.

PDFium is some twenty times as fast. pypdf is asked only about documents that PDFium cannot open or reads with faults,
and about those whose scripts or columns readers are apt to put into a wrong order.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ragassay.errors import InputError
from ragassay.files import digest_file
from ragassay.text import plain

from .process import PageText, PdfPool, Probe
from .readers import ReaderName
from .soundness import DISAGREE, Doubt, better, doubt_of, page_fault, script_of

SAMPLE = 6

SOUND = "its text is sound"
AGREE = "the two readers agree"

Wanted = Sequence[tuple[Path, Sequence[int]]]
Texts = dict[int, PageText]
Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Opened:
    """A document, the reader that opened it, and why not PDFium; where none could, `probe` has an error."""

    probe: Probe
    reader: ReaderName
    why: str = ""

    @property
    def readable(self) -> bool:
        """Whether it could be opened."""
        return self.probe.error is None


@dataclass(frozen=True)
class Reading:
    """The pages of a document as they are used, which reader they are of, and why; `n_other` are of the other."""

    pages: tuple[PageText, ...]
    reader: ReaderName
    why: str
    n_other: int = 0


def open_documents(pool: PdfPool, paths: Sequence[Path]) -> list[Opened]:
    """Each document as PDFium opens it, or else pypdf."""
    opened = [Opened(probe, "pdfium") for probe in pool.probe(paths, "pdfium")]
    failed = [number for number, one in enumerate(opened) if not one.readable]
    for number, probe in zip(failed, pool.probe([paths[number] for number in failed], "pypdf"), strict=True):
        if not probe.error:
            opened[number] = Opened(probe, "pypdf", f"pdfium cannot open it: it {opened[number].probe.error}")
    return opened


def read_documents(
    pool: PdfPool, opened: Sequence[Opened], wanted: Wanted, language: str, progress: Report | None = None
) -> list[Reading]:
    """The wanted pages of each document, by the reader whose text is sound.

    Pages that no reader gets right have an error that says what is wrong with them. Raises nothing.
    """
    n_before = 0

    def read(reader: ReaderName, pages: Mapping[int, Sequence[int]]) -> dict[int, Texts]:
        """These pages of these documents, by the documents' numbers; they are reported behind those asked before."""
        nonlocal n_before
        before = n_before
        n_before += sum(map(len, pages.values()))
        report = (lambda done, total: progress(before + done, before + total)) if progress else None
        texts = pool.read([(wanted[number][0], own) for number, own in pages.items()], report, reader)
        return {number: {text.page: text for text in own} for number, own in zip(pages, texts, strict=True)}

    by_pdfium = [n for n, one in enumerate(opened) if one.reader == "pdfium"]
    by_pypdf = [n for n, one in enumerate(opened) if one.reader == "pypdf"]
    first = read("pdfium", {n: wanted[n][1] for n in by_pdfium}) | read("pypdf", {n: wanted[n][1] for n in by_pypdf})
    script = script_of(language)
    doubts = {n: doubt for n in by_pdfium if (doubt := doubt_of(list(first[n].values()), script))}
    asked = read("pypdf", {n: _sample(doubt.pages) for n, doubt in doubts.items()})
    cases = {n: Case(doubt, first[n], asked[n]) for n, doubt in doubts.items()}
    more = read("pypdf", {n: case.still_to_ask() for n, case in cases.items()})
    return [
        cases[n].settled(more[n])
        if n in cases
        else Reading(tuple(map(_named, first[n].values())), one.reader, one.why or SOUND)
        for n, one in enumerate(opened)
    ]


def _sample(pages: Sequence[int]) -> list[int]:
    """At most SAMPLE of the pages, from all over them."""
    count = min(SAMPLE, len(pages))
    return sorted({pages[len(pages) * index // count] for index in range(count)})


def _named(page: PageText, why: str | None = None) -> PageText:
    """The page, without its text if something is wrong with it."""
    wrong = page_fault(page) or why
    return page if wrong is None else PageText(page.page, error=wrong)


@dataclass(frozen=True)
class Case:
    """A document in doubt: all its pages as PDFium reads them, and some as pypdf does."""

    doubt: Doubt
    pdfium: Texts
    sample: Texts

    @cached_property
    def verdicts(self) -> list[ReaderName | None]:
        """For each page of the sample, whose reading is the better one; None: neither."""
        return [better(self.pdfium[page], text, self.doubt.foreign) for page, text in self.sample.items()]

    def _most(self, verdict: ReaderName | None) -> bool:
        return 2 * self.verdicts.count(verdict) > len(self.verdicts)

    @property
    def reader(self) -> ReaderName:
        """Which reader the document is read with."""
        return "pypdf" if self.doubt.whole and self._most("pypdf") else "pdfium"

    def still_to_ask(self) -> list[int]:
        """The pages that pypdf must read besides the sample."""
        if self.reader == "pypdf":
            return [page for page in self.pdfium if page not in self.sample]
        if "pypdf" not in self.verdicts:
            return []
        return [page for page in self.doubt.pages if page not in self.sample]

    def settled(self, more: Texts) -> Reading:
        """Each page by the reader that gets it right, or with an error where none does."""
        asked = self.sample | more
        pages = tuple(self._page(text, asked.get(number)) for number, text in self.pdfium.items())
        own = asked if self.reader == "pypdf" else self.pdfium
        others = sum(page.error is None and page != own.get(page.page) for page in pages)
        why = AGREE if self._most("pdfium") else self.doubt.why
        if self.reader == "pypdf":
            why = f"as pdfium reads it, {self.doubt.why}"
        elif self.doubt.foreign and why == AGREE:
            why = f"{self.doubt.why}; {AGREE}"
        return Reading(pages, self.reader, why, others)

    def _page(self, pdfium: PageText, pypdf: PageText | None) -> PageText:
        if self.reader == "pypdf" and pypdf and not page_fault(pypdf):
            return pypdf
        if pypdf is None:  # it was not asked about the page: wrong, if most of those that it was asked about are
            wrong = self._most(None) and pdfium.page in self.doubt.pages
            return _named(pdfium, DISAGREE if wrong else None)
        whose = better(pdfium, pypdf, self.doubt.foreign)
        if whose is None and not self._most("pdfium"):
            return PageText(pdfium.page, error=page_fault(pdfium) or DISAGREE)
        return pypdf if whose == "pypdf" else _named(pdfium)


PROGRAM = "ocrmypdf"

_TESSERACT = {
    **{"ar": "ara", "bg": "bul", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "en": "eng"},
    **{"es": "spa", "et": "est", "eu": "eus", "fa": "fas", "fi": "fin", "fr": "fra", "he": "heb", "hi": "hin"},
    **{"hr": "hrv", "hu": "hun", "id": "ind", "it": "ita", "ja": "jpn", "ko": "kor", "lt": "lit", "lv": "lav"},
    **{"nl": "nld", "no": "nor", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus", "sk": "slk", "sl": "slv"},
    **{"sr": "srp", "sv": "swe", "th": "tha", "tr": "tur", "uk": "ukr", "vi": "vie", "zh": "chi_sim"},
}
"""Codes of ISO 639-1 to the names of Tesseract's languages."""


def check_ocr(settings: Path) -> None:
    """Raises InputError where the program is not installed; `settings` is the file that asks for it."""
    if shutil.which(PROGRAM) is None:
        remedy = f"install {PROGRAM} (apt install {PROGRAM}), or take ocr out"
        raise InputError(f"ocr needs the program {PROGRAM}, which is not installed", file=settings, remedy=remedy)


def with_text(pdf: Path, folder: Path, language: str, timeout_s: float) -> Path:
    """A copy of the PDF in `folder` with text on the pages that had none; one made before is taken again.

    Raises OSError, which says why, where the program fails or takes longer than `timeout_s`.
    """
    name = _TESSERACT.get(re.split(r"[-_ ]", language.strip().lower())[0])
    made = folder / f"{digest_file(pdf)[:32]}-{name or 'default'}.pdf"
    if made.exists():
        return made
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".{made.name}.part"
    command = [PROGRAM, "--skip-text", "--quiet", "--output-type", "pdf", *(["-l", name] if name else [])]
    command += [str(pdf.absolute()), str(part.absolute())]
    try:
        ended = subprocess.run(command, capture_output=True, timeout=timeout_s, check=False)  # noqa: S603
        if ended.returncode:
            said = ended.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [f"status {ended.returncode}"]
            raise OSError(f"{PROGRAM}: {plain(said[0])[:200]}")
        os.replace(part, made)
    except subprocess.TimeoutExpired:
        raise OSError(f"{PROGRAM} took longer than {timeout_s:.0f} s") from None
    finally:
        part.unlink(missing_ok=True)
    return made
