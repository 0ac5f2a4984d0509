"""The corpus that a test set is checked against: its documents' texts, searched by characters and by words."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from ragassay.errors import InputError
from ragassay.evidence.documents import Documents
from ragassay.experiment.corpus import read_passages
from ragassay.files import read_records
from ragassay.records import Page, Passage, Section

from ..choosing.best_passage import Passages
from .wording import scripts_of

WINDOW, STEP = 200, 160
"""Words of the windows into which longer texts are cut before a question is held against them, and their distance."""
WIDE_WINDOW, WIDE_STEP = 400, 320
"""The same in characters, of texts without spaces."""
PIECE, WIDE_PIECE = 24, 12
"""Letters and digits of the pieces in which evidence is looked for: about five words; of scripts without spaces six."""


def folded(text: str) -> str:
    """Its letters and digits alone, in small letters and one form: what readers of PDFs agree on."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


@dataclass(frozen=True)
class CorpusText:
    """documents: name to text. pages: the same by pages, None where there are none. passages: by id.

    sections: none where they are not known. place: what to call it in messages.
    """

    place: Path
    documents: Mapping[str, str]
    pages: Documents | None
    passages: Mapping[str, Passage]
    sections: Sequence[Section] = ()
    language: str = "en"

    @cached_property
    def scripts(self) -> Counter[str]:
        """How many letters of each script there are."""
        return scripts_of(self.documents.values())

    def share_of(self, text: str) -> float:
        """How much of a text stands in the corpus, 0 to 1: of its pieces of 24 letters (12 of scripts without spaces).

        1 where it stands there as a whole; line ends, punctuation, case and accents set differently are no difference.
        """
        wanted = folded(text)
        if not wanted or wanted in self._folded:
            return 1.0
        pieces = list(_pieces(wanted))
        return sum(piece in self._folded for piece in pieces) / len(pieces)

    def document_with(self, text: str) -> str | None:
        """The document in which most of a text's pieces are found; None where none is."""
        found = Counter(
            self._document_at(at) for piece in _pieces(folded(text)) if (at := self._folded.find(piece)) >= 0
        )
        return found.most_common(1)[0][0] if found else None

    def best_passage(self, question: str) -> tuple[str, str] | None:
        """(document, window of its text) that BM25 finds first for a question; None where no word is shared."""
        best = self.search.best(question)
        return (self._of_window[best], best) if best else None

    @cached_property
    def _of_window(self) -> Mapping[str, str]:
        """Window to document."""
        if self.passages:
            texts = [(document_of(passage), passage.text) for passage in self.passages.values()]
        else:
            texts = list(self.documents.items())
        found: dict[str, str] = {}
        for name, text in texts:
            for window in windows(text):
                found.setdefault(window, name)
        return found

    @cached_property
    def search(self) -> Passages:
        """Every window, searched by its words."""
        return Passages(list(self._of_window), self.language)

    @cached_property
    def _parts(self) -> Sequence[str]:
        return [folded(text) for text in self.documents.values()]

    @cached_property
    def _folded(self) -> str:
        return " ".join(self._parts)

    @cached_property
    def _ends(self) -> Sequence[int]:
        return list(accumulate(len(part) + 1 for part in self._parts))

    def _document_at(self, at: int) -> str:
        return list(self.documents)[bisect_right(self._ends, at)]


def windows(text: str) -> Iterator[str]:
    """Overlapping parts of about 200 words, or 400 characters of a text without spaces; a short text is one."""
    words = text.split()
    if len(text) > 12 * max(len(words), 1):
        whole, length, step, glue = list("".join(text)), WIDE_WINDOW, WIDE_STEP, ""
    else:
        whole, length, step, glue = words, WINDOW, STEP, " "
    for start in range(0, max(len(whole) - length + step, 1), step):
        yield glue.join(whole[start : start + length])


def document_of(passage: Passage) -> str:
    """The document that a passage is of: its metadata's, else itself."""
    doc = passage.metadata.get("doc")
    return doc if isinstance(doc, str) else passage.id


def open_corpus(place: Path, language: str) -> CorpusText:
    """What `place` has: a folder with pages.jsonl, corpus.jsonl or both, or either file.

    Raises InputError where there is neither, where a line cannot be read, or where there is no text.
    """
    folder = place if place.is_dir() else place.parent
    pages, passages = folder / "pages.jsonl", folder / "corpus.jsonl" if place.is_dir() else place
    if place.name == "pages.jsonl":
        pages, passages = place, folder / "corpus.jsonl"
    if not place.exists() or not (pages.exists() or passages.exists()):
        remedy = "name a folder with corpus.jsonl (BEIR), pages.jsonl or PDFs in it"
        raise InputError("there is no text to check against", file=place, remedy=remedy)
    known = {passage.id: passage for passage in read_passages(passages)} if passages.exists() else {}
    by_page = Documents(read_records(pages, Page)) if pages.exists() else None
    documents = {doc: by_page.text(doc) for doc in by_page.names} if by_page else _joined(known)
    if not any(map(str.isalnum, "".join(documents.values()))):
        problem = "the corpus has no text: not a letter stands in it"
        raise InputError(problem, file=place, remedy="scanned PDFs need OCR before; else see what ingest says of them")
    sections = folder / "sections.jsonl"
    cut = read_records(sections, Section) if by_page and sections.exists() else []
    return CorpusText(place, documents, by_page, known, tuple(cut), language)


def _joined(passages: Mapping[str, Passage]) -> dict[str, str]:
    texts: dict[str, list[str]] = {}
    for passage in passages.values():
        texts.setdefault(document_of(passage), []).extend(filter(None, (passage.title, passage.text)))
    return {doc: "\n".join(parts) for doc, parts in texts.items()}


def _pieces(text: str) -> Iterator[str]:
    """Pieces that do not overlap; the rest of the text, where it is at least half of one."""
    wide = sum("\u0e00" <= char <= "\u0eff" or "\u3040" <= char <= "\ud7af" for char in text) * 2 > len(text)
    length = WIDE_PIECE if wide else PIECE
    for start in range(0, len(text), length):
        piece = text[start : start + length]
        if start == 0 or 2 * len(piece) >= length:
            yield piece
