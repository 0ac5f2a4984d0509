"""Of how many passages the workbench finds the place on the page, and whether that is where their words are.

    python -m benchmarks.workbench.placed PDF…

Each PDF is read and cut as `[ingest]` does by default, with either reader. A piece is what of a passage stands on one
page. "placed": of the pieces those that are marked; "letters": of their letters those that have a place; "right": of
the marked pieces those for which PDFium, asked for the text within the boxes, gives the piece's words: at least 95% of
its letters, and at most 5% others. Elsewhere than in letters (rules, dots) boxes are not looked at.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragassay.experiment.settings import IngestSettings
from ragassay.records import Page
from ragassay.synth.documents.cutting import Raw, cut_document
from ragassay.synth.pdf.process import PdfPool
from ragassay.synth.pdf.readers import ReaderName
from ragassay.workbench.pages import worker
from ragassay.workbench.pages.pictures import Alignment, Placed, letters_of
from ragassay.workbench.pages.texts import DocumentPages

READERS: tuple[ReaderName, ...] = ("pdfium", "pypdf")
AGREE = 0.95


@dataclass
class Counts:
    """Of one document and reader."""

    pieces: int = 0
    placed: int = 0
    right: int = 0
    letters: int = 0
    found: float = 0.0

    def line(self, name: str, reader: str) -> str:
        """A row of the table."""
        shares = (self.placed / self.pieces, self.found / self.letters, self.right / max(self.placed, 1))
        cells = [name, reader, str(self.pieces), *(f"{100 * share:.2f}%" for share in shares)]
        return "| " + " | ".join(cells) + " |"


def measured(path: Path, reader: ReaderName) -> Counts:
    """The counts of one PDF."""
    import pypdfium2

    counts = Counts()
    pages, stretches = _read(path, reader)
    with closing(pypdfium2.PdfDocument(path)) as pdf:
        for page, pieces in _by_page(pages, stretches):
            with closing(pdf[page.page - 1]) as opened, closing(opened.get_textpage()) as textpage:
                seen = worker.characters(opened, textpage)
                aligned = Alignment(page.text, seen["text"], seen["boxes"])
                for start, end in pieces:
                    words, placed = letters_of(page.text[start:end]).text, aligned.placed(start, end)
                    if placed.share is None:
                        continue
                    counts.pieces += 1
                    counts.letters += len(words)
                    counts.found += placed.share * len(words)
                    counts.placed += placed.found
                    counts.right += placed.found and _is_right(words, placed, opened, textpage)
    return counts


def _read(path: Path, reader: ReaderName) -> tuple[DocumentPages, list[tuple[int, int]]]:
    with PdfPool(reader, n_workers=1) as pool:
        (probe,) = pool.probe([path])
        (texts,) = pool.read([(path, list(range(1, probe.pages + 1)))])
    document = cut_document(IngestSettings(), (), Raw(path.name, path.stem, probe, tuple(texts)))
    stretches = [(passage.metadata["start"], passage.metadata["end"]) for passage in document.passages]
    return DocumentPages(path.name, document.pages), stretches


def _by_page(
    document: DocumentPages, stretches: Sequence[tuple[int, int]]
) -> Iterator[tuple[Page, list[tuple[int, int]]]]:
    found: dict[int, list[tuple[int, int]]] = {}
    for start, end in stretches:
        for piece in document.pieces(start, end):
            found.setdefault(piece.page, []).append((piece.start, piece.end))
    for page in document.pages:
        if page.page in found:
            yield page, found[page.page]


def _is_right(words: str, placed: Placed, page: Any, textpage: Any) -> bool:
    """Whether the text within the boxes is the piece's, as far as their letters go."""
    width, height = page.get_size()
    inside: Counter[str] = Counter()
    for x0, y0, x1, y1 in placed.boxes:
        left, right = (x / worker.SCALE * width for x in (x0, x1))
        bottom, top = (height - y / worker.SCALE * height for y in (y1, y0))
        middle, half = (top + bottom) / 2, (top - bottom) / 4  # of the line itself, and nothing of its neighbours
        text = textpage.get_text_bounded(left - 1, middle - half, right + 1, middle + half)
        inside.update(letters_of(text).text)
    wanted = Counter(words)
    shared = (wanted & inside).total()
    return shared >= AGREE * wanted.total() and shared >= AGREE * inside.total()


def main(paths: Sequence[str]) -> None:
    """Print the table."""
    print("| document | reader | pieces | placed | letters | right |\n|---|---|--:|--:|--:|--:|")
    for path in map(Path, paths):
        for reader in READERS:
            print(measured(path, reader).line(path.name, reader), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
