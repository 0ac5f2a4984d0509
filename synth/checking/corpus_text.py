"""The corpus that a test set is checked against: its documents' texts, searched by characters and by words."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from ragassay.errors import InputError
from ragassay.evidence import PASSAGE, QUOTE, Documents, Span, span_of
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace, read_passages
from ragassay.files import read_records
from ragassay.records import Page, Passage, Section
from ragassay.text import one_line

from ..formats import PDF, kind_of
from ..ingest import ingest
from ..looks import Passages
from .test_set import Item, Piece
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
        names, ends = list(self.documents), list(accumulate(len(part) + 1 for part in self._parts))
        places = (self._folded.find(piece) for piece in _pieces(folded(text)))
        found = Counter(names[bisect_right(ends, at)] for at in places if at >= 0)
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


def windows(text: str) -> Iterator[str]:
    """Overlapping parts of about 200 words, or 400 characters of a text without spaces; a short text is one."""
    words = text.split()
    if len(text) > 12 * max(len(words), 1):
        whole, length, step, glue = list(text), WIDE_WINDOW, WIDE_STEP, ""
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
    if by_page:
        documents = {doc: by_page.text(doc) for doc in by_page.names}
    else:
        texts: dict[str, list[str]] = {}
        for passage in known.values():
            texts.setdefault(document_of(passage), []).extend(filter(None, (passage.title, passage.text)))
        documents = {doc: "\n".join(parts) for doc, parts in texts.items()}
    if not any(map(str.isalnum, "".join(documents.values()))):
        problem = "the corpus has no text: not a letter stands in it"
        raise InputError(problem, file=place, remedy="scanned PDFs need OCR before; else see what ingest says of them")
    sections = folder / "sections.jsonl"
    cut = read_records(sections, Section) if by_page and sections.exists() else []
    return CorpusText(place, documents, by_page, known, tuple(cut), language)


def _pieces(text: str) -> Iterator[str]:
    """Pieces that do not overlap; the rest of the text, where it is at least half of one."""
    wide = sum("\u0e00" <= char <= "\u0eff" or "\u3040" <= char <= "\ud7af" for char in text) * 2 > len(text)
    length = WIDE_PIECE if wide else PIECE
    for start in range(0, len(text), length):
        piece = text[start : start + length]
        if start == 0 or 2 * len(piece) >= length:
            yield piece


THERE = 0.25
"""Share of a text's pieces that must stand in the corpus (docs/check.md has what it was measured on)."""


@dataclass(frozen=True)
class Found:
    """One piece of evidence. text, doc, span: as far as they are known. fault: why it is not in the corpus.

    share: of a text from elsewhere, how much of it stands there, 0 to 1. judged: whether it could be looked up.
    """

    text: str = ""
    doc: str | None = None
    span: Span | None = None
    fault: str | None = None
    share: float | None = None
    judged: bool = True


def evidence_of(item: Item, corpus: CorpusText) -> tuple[Found, ...]:
    """Each piece of the item's evidence, looked up; none where it brings none."""
    return tuple(_found(piece, corpus) for piece in item.evidence)


def _found(piece: Piece, corpus: CorpusText) -> Found:
    if isinstance(piece, str):
        return _text(piece, corpus)
    form = frozenset(piece)
    if corpus.pages is not None:
        try:
            span = span_of(piece, corpus.pages, lambda: corpus.passages)
            return Found(corpus.pages.text(span.doc)[span.start : span.end], span.doc, span)
        except InputError as error:
            if form != PASSAGE or piece["passage"] not in corpus.passages:
                return Found(str(piece.get("quote", "")), fault=error.problem)
    if form == PASSAGE:  # a passage that does not say where it stands
        name = str(piece["passage"])
        if (passage := corpus.passages.get(name)) is None:
            return Found(fault=f"the passage '{name}' is not in the corpus")
        return Found("\n".join(filter(None, (passage.title, passage.text))), document_of(passage))
    doc = piece["doc"]  # without pages.jsonl a document and a quote can be looked up; pages and offsets cannot
    if doc not in corpus.documents:
        return Found(fault=f"names the document '{doc}', of which there is no text")
    return _text(piece["quote"], corpus) if form == QUOTE else Found(doc=doc, judged=False)


def _text(text: str, corpus: CorpusText) -> Found:
    share = corpus.share_of(text)
    if share < THERE:
        shown = one_line(text)
        shown = shown if len(shown) <= 60 else shown[:60] + "…"
        part = f"only {share:.0%}" if share else "nothing"
        return Found(text, fault=f"{part} of “{shown}” stands in the corpus", share=share)
    doc = corpus.document_with(text)
    span = corpus.pages.of_quote(doc, text) if corpus.pages and doc else None
    return Found(text, doc, span, share=share)


NO_MODEL = {"model": "file:none"}


def read_corpus(
    place: Path, language: str | None = None, progress: Callable[[int, int], None] | None = None
) -> tuple[CorpusText, tuple[str, ...]]:
    """The corpus, and what is to be said of reading it.

    A folder with neither pages.jsonl nor corpus.jsonl is read as `ragassay ingest` does, by its experiment.toml where
    there is one, into a folder that is gone afterwards. language: ISO 639; without it that of experiment.toml, or "en".
    Raises InputError.
    """
    made = any((place / name).exists() for name in ("pages.jsonl", "corpus.jsonl"))
    files = [] if made or not place.is_dir() else place.rglob("*")
    file, kinds = place / "experiment.toml", {kind for path in files if (kind := kind_of(path.name))}
    if not kinds:
        language = language or (load_experiment(file).corpus.language if file.exists() else "en")
        return open_corpus(place, language), ()
    if file.exists():
        experiment = load_experiment(file).model_copy(update={"chunking": ()})
    else:  # nothing but defaults, for PDFs or what else is there
        asked = {"ingest": {"kinds": [PDF] if PDF in kinds else sorted(kinds)}, "questions": {"source": "own"}}
        experiment = Experiment.model_validate(asked | {"answer": NO_MODEL, "judge": NO_MODEL})
    with TemporaryDirectory(prefix="ragassay-check-") as folder:
        workspace = Workspace(place, Path(folder), experiment)
        outcome = ingest(workspace, progress)
        corpus = open_corpus(Path(folder), language or workspace.experiment.corpus.language)
    return replace(corpus, place=place), outcome.notices
