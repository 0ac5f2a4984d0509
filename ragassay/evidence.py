"""The evidence of every query of a file: what `metadata.evidence` gives, else the passages that people labelled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from .errors import InputError
from .files import read_objects, read_qrels, read_records
from .records import Found, Page, Passage
from .text import did_you_mean, plain, some_of

SHORTEST = 8
"""Characters, white space left out, of the shortest quote that is looked for; shorter ones stand anywhere."""

_SAME = str.maketrans(dict.fromkeys("“”„", '"') | dict.fromkeys("‘’", "'") | dict.fromkeys("‐‑–—−", "-"))
"""Marks that models set differently when they copy."""


class Folded(NamedTuple):
    """A text without white space and without hyphens between letters; places[i] is where character i stood."""

    text: str
    places: tuple[int, ...]


class Quotable:
    """A text in which quotes are looked for; it is folded once, at the first quote that is not there as it is."""

    def __init__(self, text: str) -> None:
        self.text = text

    def find(self, quote: str) -> tuple[int, int] | None:
        """(start, end) of the quote's first occurrence, end exclusive; None where it is not there.

        It is looked for as it is, and then without what PDFs and models change when text is copied: white space,
        hyphens between letters, the forms of quotation marks and dashes. Letters and figures have to be the same.
        """
        wanted = _fold(quote)
        if len(wanted.text) < SHORTEST:
            return None
        start = self.text.find(quote.strip())
        if start >= 0:
            return start, start + len(quote.strip())
        at = self._folded.text.find(wanted.text)
        if at < 0:
            return None
        return self._folded.places[at], self._folded.places[at + len(wanted.text) - 1] + 1

    def has_twice(self, quote: str) -> bool:
        """Whether the quote stands in more than one place."""
        wanted, text = _fold(quote).text, self._folded.text
        return long_enough(quote) and text.find(wanted, text.find(wanted) + 1) > text.find(wanted) >= 0

    @cached_property
    def _folded(self) -> Folded:
        return _fold(self.text)


def long_enough(quote: str) -> bool:
    """Whether a quote is looked for."""
    return len(_fold(quote).text) >= SHORTEST


def _fold(text: str) -> Folded:
    marks = text.translate(_SAME)
    dense = [place for place, char in enumerate(marks) if not char.isspace()]
    kept = [
        place
        for number, place in enumerate(dense)
        if not (
            marks[place] == "-"
            and 0 < number < len(dense) - 1
            and marks[dense[number - 1]].isalpha()
            and marks[dense[number + 1]].isalpha()
        )
    ]
    return Folded("".join(marks[place] for place in kept), tuple(kept))


class Span(NamedTuple):
    """Characters `start` to `end` (from 0, end exclusive) of the text of `doc`: its pages joined by newlines."""

    doc: str
    start: int
    end: int


Evidence = tuple[Span, ...]
"""The pieces a query rests on: by document and place, none overlapping another. One at least."""


def merged(spans: Iterable[Span]) -> Evidence:
    """The spans by document and place, those that overlap made one; spans that only touch stay two."""
    found: list[Span] = []
    for span in sorted(spans):
        last = found[-1] if found else None
        if last and last.doc == span.doc and span.start < last.end:
            found[-1] = Span(last.doc, last.start, max(last.end, span.end))
        else:
            found.append(span)
    return tuple(found)


def place_of(passage: Passage) -> Span | None:
    """Where a passage stands, by its metadata (doc, start, end); None where that does not say it."""
    doc, start, end = (passage.metadata.get(key) for key in ("doc", "start", "end"))
    if isinstance(doc, str) and type(start) is int and type(end) is int and 0 <= start < end:
        return Span(doc, start, end)
    return None


class Graded(NamedTuple):
    """A query's evidence by grade, each as `merged` leaves it and one piece at least.

    relevant: of grade 2, which answers the query; where there is none, of grade 1. at_1: of grade 1, which holds a part
    of the answer, or 2. Where nobody told grades apart the two are the same. relevant_pieces, pieces: the same as they
    were given, each once, overlapping or not.
    """

    relevant: Evidence
    at_1: Evidence
    relevant_pieces: tuple[Span, ...]
    pieces: tuple[Span, ...]

    @classmethod
    def of(cls, pieces: Iterable[tuple[Span, int]]) -> Graded | None:
        """Of pieces with their grades, those of grade 0 left out; None where no other is there."""
        graded = [(span, grade) for span, grade in pieces if grade > 0]
        if not graded:
            return None
        spans = tuple(sorted({span for span, _ in graded}))
        relevant = tuple(sorted({span for span, grade in graded if grade > 1})) or spans
        return cls(merged(relevant), merged(spans), relevant, spans)


def covered(span: Span, pieces: Evidence) -> int:
    """How many of the span's characters stand in pieces, which are as `merged` leaves them."""
    return sum(max(0, min(span.end, end) - max(span.start, start)) for doc, start, end in pieces if doc == span.doc)


class Documents:
    """The text of each document: the texts of its pages, in the file's order, joined by newlines."""

    def __init__(self, pages: Iterable[Page]) -> None:
        texts: dict[str, list[str]] = {}
        self._pages: dict[str, dict[int, tuple[int, int]]] = {}
        lengths: dict[str, int] = {}
        for page in pages:
            start = lengths.get(page.doc, 0)
            texts.setdefault(page.doc, []).append(page.text)
            self._pages.setdefault(page.doc, {})[page.page] = (start, start + len(page.text))
            lengths[page.doc] = start + len(page.text) + 1
        self._texts: Mapping[str, Quotable] = {doc: Quotable("\n".join(parts)) for doc, parts in texts.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The documents, in the file's order."""
        return tuple(self._texts)

    def text(self, doc: str) -> str:
        """A document's text. Raises KeyError where it is not known."""
        return self._texts[doc].text

    def has_page(self, doc: str, page: int) -> bool:
        """Whether the document has a page of this number that was read and not left out."""
        return page in self._pages[doc]

    def of_pages(self, doc: str, first: int, last: int) -> Span:
        """From the beginning of one page to the end of another. Raises KeyError where it has not both."""
        pages = self._pages[doc]
        return Span(doc, pages[first][0], pages[last][1])

    def of_quote(self, doc: str, quote: str) -> Span | None:
        """The first place where the quote stands (`Quotable.find`); None where it does not."""
        found = self._texts[doc].find(quote)
        return Span(doc, *found) if found else None

    def has_twice(self, doc: str, quote: str) -> bool:
        """Whether the quote stands in several places of the document."""
        return self._texts[doc].has_twice(quote)

    def stripped(self, span: Span) -> Span | None:
        """The span without the white space at its ends; None where there is nothing else in it."""
        text = self.text(span.doc)[span.start : span.end]
        start = span.start + len(text) - len(text.lstrip())
        return Span(span.doc, start, start + len(text.strip())) if text.strip() else None


FORMS = (
    '{"doc": …, "start": …, "end": …}, {"doc": …, "quote": …}, {"doc": …, "first_page": …, "last_page": …} or '
    '{"passage": …}'
)
OFFSETS, QUOTE = frozenset(("doc", "start", "end")), frozenset(("doc", "quote"))
PAGES, PASSAGE = frozenset(("doc", "first_page", "last_page")), frozenset(("passage",))
GRADED = frozenset(("grade", "found_by"))
"""What may stand beside each of these: 1 or 2 by the rule of relevance, without it 2; and who found it."""
_TEXTS = ("doc", "quote", "passage", "found_by")


def given_pieces(value: Mapping[str, Any], file: Path, line: int) -> Sequence[Mapping[str, Any]]:
    """The pieces that a line of `queries.jsonl` gives, each in one of the `FORMS`; none where it gives no evidence.

    They are `metadata.evidence`, else a field `evidence` beside the metadata, where whatever is not ours counts as
    metadata too. Raises InputError with file and line where they are no list, or one of them has no such form.
    """
    metadata = value.get("metadata")
    given = metadata.get("evidence") if isinstance(metadata, dict) else None
    given = value.get("evidence") if given is None else given
    if given is not None and not isinstance(given, list):
        raise InputError("evidence is not a list", file=file, line=line, remedy=f"write a list of {FORMS}")
    for number, piece in enumerate(given or (), 1):
        try:
            _check_form(piece)
        except InputError as error:
            raise InputError(f"evidence {number}: {error.problem}", file=file, line=line, remedy=error.remedy) from None
    return given or ()


def _check_form(piece: object) -> None:
    if not isinstance(piece, dict):
        raise InputError("is not an object", remedy=f"write {FORMS}")
    if frozenset(piece) - GRADED not in (OFFSETS, QUOTE, PAGES, PASSAGE):
        named = ", ".join(f"'{plain(key)}'" for key in sorted(piece)) or "no key"
        raise InputError(f"has {named}", remedy=f"write {FORMS}, each by itself")
    if piece.get("grade", 2) not in (1, 2) or isinstance(piece.get("grade"), bool | float):
        raise InputError("'grade' is neither 1 nor 2", remedy="2 answers the query, 1 holds a part of the answer")
    for key, value in piece.items():
        kind = str if key in _TEXTS else int
        if type(value) is not kind:
            raise InputError(f"'{key}' is not a {'text' if kind is str else 'whole number'}", remedy=f"write {FORMS}")
    if "start" in piece and not 0 <= piece["start"] < piece["end"]:
        problem = f"start {piece['start']} is not before end {piece['end']}, or below 0"
        raise InputError(problem, remedy="characters count from 0, and end is the first one after the evidence")
    if "first_page" in piece and not 1 <= piece["first_page"] <= piece["last_page"]:
        problem = f"first_page {piece['first_page']} is after last_page {piece['last_page']}, or below 1"
        raise InputError(problem, remedy="pages count from 1, and both are part of the evidence")
    if "quote" in piece and not long_enough(piece["quote"]):
        raise InputError(f"the quote “{plain(piece['quote'])}” is too short to be found", remedy="quote more words")


_SHOWN = 60


def span_of(piece: Mapping[str, Any], documents: Documents, passages: Callable[[], Mapping[str, Passage]]) -> Span:
    """Where a piece stands that has one of the forms, without white space at its ends.

    passages: those of corpus.jsonl by their ids, asked for only where a piece names one. Raises InputError, without
    file and line, where what it names is not in the documents.
    """
    span = _of_passage(piece["passage"], passages()) if "passage" in piece else None
    doc = span.doc if span else piece["doc"]
    if doc not in documents.names:
        remedy = f"{did_you_mean(doc, documents.names)}name it as pages.jsonl does, with its folder in the corpus"
        raise InputError(f"names the document '{plain(doc)}', of which there is no text", remedy=remedy)
    found = span or _in_document(piece, documents)
    length = len(documents.text(doc))
    if found.end > length:
        problem = f"{found.start} to {found.end} is outside the text of {plain(doc)}, which has {length:,} characters"
        raise InputError(problem, remedy="count in its pages of pages.jsonl joined by newlines, or give a quote")
    if (stripped := documents.stripped(found)) is None:
        raise InputError(f"there is no text at {found.start} to {found.end} of {plain(doc)}", remedy="give others")
    return stripped


def _of_passage(name: str, passages: Mapping[str, Passage]) -> Span:
    if name not in passages:
        problem = f"names the passage '{plain(name)}', which is not in corpus.jsonl"
        remedy = "give one of its ids, or a document and a quote, which stay true when passages change"
        raise InputError(problem, remedy=did_you_mean(name, passages) + remedy)
    span = place_of(passages[name])
    if span is None:
        problem = f"the passage '{plain(name)}' does not say where it stands (metadata doc, start, end)"
        raise InputError(problem, remedy="give a document and a quote instead")
    return span


def _in_document(piece: Mapping[str, Any], documents: Documents) -> Span:
    form = frozenset(piece) - GRADED
    if form == OFFSETS:
        return Span(piece["doc"], piece["start"], piece["end"])
    doc = piece["doc"]
    if form == QUOTE:
        if (span := documents.of_quote(doc, piece["quote"])) is not None:
            return span
        shown = plain(" ".join(piece["quote"].split()))
        shown = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
        remedy = "copy it from its text in pages.jsonl, or give the pages"
        raise InputError(f"the quote “{shown}” does not stand in {plain(doc)}", remedy=remedy)
    for page in (piece["first_page"], piece["last_page"]):
        if not documents.has_page(doc, page):
            remedy = "name pages that are there; one left out by exclude_pages, or that cannot be read, is not"
            raise InputError(f"page {page} of {plain(doc)} is not in pages.jsonl", remedy=remedy)
    return documents.of_pages(doc, piece["first_page"], piece["last_page"])


BINARY = 1
"""The highest label of a `qrels.tsv` in which nobody told grades apart: there 1 stands for grade 2."""
PEOPLE = "people"
"""What `found_by` says of a piece that people gave; so does its absence."""
SAME_PLACE = 0.5
"""The share of the shorter one's characters from which on a found piece is what people judged."""


@dataclass(frozen=True)
class _Texts:
    """What evidence is looked up in, read where there is some."""

    pages: Path
    corpus: Path

    @cached_property
    def documents(self) -> Documents:
        if not self.pages.exists():
            raise InputError("evidence needs it, and it is not there", file=self.pages, remedy="run `ragassay ingest`")
        return Documents(read_records(self.pages, Page))

    @cached_property
    def passages(self) -> Mapping[str, Passage]:
        return {passage.id: passage for passage in read_records(self.corpus, Passage)}


def read_evidence(queries: Path, pages: Path, corpus: Path, qrels: Path | None = None) -> dict[str, Evidence]:
    """Query id to what is relevant of its evidence (`Graded`), in the file's order; else as `read_graded`."""
    return {query: graded.relevant for query, graded in read_graded(queries, pages, corpus, qrels).items()}


def read_graded(
    queries: Path,
    pages: Path,
    corpus: Path,
    qrels: Path | None = None,
    deeper: Mapping[str, Sequence[tuple[Span, int]]] | None = None,
) -> dict[str, Graded]:
    """Query id to its evidence with grades, in the file's order; a query without any is absent.

    queries: `queries.jsonl`, of the corpus folder or of the results. pages, corpus: `pages.jsonl` and `corpus.jsonl`,
    read only where there is evidence, and where it is of passages. qrels: people's labels by passage id, for queries to
    which people gave no evidence: 1 and more are grades, 2 the highest; where all of a file are 0 or 1, 1 is grade 2.
    What people gave or labelled, with 0 too, wins over what was found in the same place (`SAME_PLACE`). deeper: pieces
    by query with their grades, graded since; one that holds a piece of its grade or a higher one adds nothing, for that
    is what it was graded by. Raises InputError with file and line for what is wrong with any.
    """
    texts, found = _Texts(pages, corpus), {}
    labelled = read_qrels(qrels) if qrels and qrels.exists() else {}
    highest = max((label for labels in labelled.values() for label in labels.values()), default=BINARY)
    for line, value in read_objects(queries):
        query = str(value.get("_id", value.get("id")))
        told, looked_for = list[tuple[Span, int]](), list[tuple[Span, int]]()
        for n, piece in enumerate(given_pieces(value, queries, line), 1):
            by_people = piece.get("found_by", PEOPLE) == PEOPLE
            span = _span(piece, f"evidence {n}: ", texts, queries, line)
            (told if by_people else looked_for).append((span, piece.get("grade", 2)))
        for span, grade in sorted((deeper or {}).get(query, ()), key=lambda one: one[0].end - one[0].start):
            pieces = (one for one, known in looked_for if known >= grade)
            if not any(covered(one, (span,)) >= SAME_PLACE * (one.end - one.start) for one in pieces):
                looked_for.append((span, grade))
        if not told and qrels:
            labels = labelled.get(query, {})
            for name in (name for name, label in labels.items() if label > 0):
                span = _span({"passage": name}, "", texts, qrels, _line_of(query, name, qrels))
                told.append((span, 2 if highest <= BINARY else min(labels[name], 2)))
            if looked_for:
                without = [name for name, label in labels.items() if label <= 0]
                told += [(span, 0) for span in _placed(without, texts.passages)]
        others = [(span, grade) for span, grade in looked_for if not any(_same_place(span, one) for one, _ in told)]
        if graded := Graded.of([*told, *others]):
            found[query] = graded
    return found


def _same_place(one: Span, other: Span) -> bool:
    shorter = min(one.end - one.start, other.end - other.start)
    return covered(one, (other,)) >= SAME_PLACE * shorter


def _placed(names: Iterable[str], passages: Mapping[str, Passage]) -> list[Span]:
    """Where those of the passages stand that are there and say it."""
    return [span for name in names if name in passages and (span := place_of(passages[name]))]


def read_judged(found: Path, corpus: Path, qrels: Path | None = None) -> dict[str, Evidence]:
    """Query id to the places that somebody judged, relevant or not; a query for which nobody judged passages is absent.

    found: `found.jsonl`, of which a passage counts with a label, not with an error. qrels: people's labels by id of the
    passages of `corpus`. Where neither file is there nothing is told of any query.
    """
    judged: dict[str, list[Span]] = {}
    for row in read_records(found, Found) if found.exists() else ():
        spans = judged.setdefault(row.query_id, [])
        if row.label is not None and row.doc is not None and row.start is not None and row.end is not None:
            spans.append(Span(row.doc, row.start, row.end))
    labelled = read_qrels(qrels) if qrels and qrels.exists() else {}
    passages = {passage.id: passage for passage in read_records(corpus, Passage)} if labelled else {}
    for query, labels in labelled.items():
        judged.setdefault(query, []).extend(_placed(labels, passages))
    return {query: merged(spans) for query, spans in judged.items()}


def in_several_places(queries: Path, pages: Path) -> list[str]:
    """A sentence where quotes stand in several places of their document; of evidence that `read_graded` takes."""
    texts, found = _Texts(pages, pages), []
    for line, value in read_objects(queries):
        for piece in given_pieces(value, queries, line):
            if "quote" in piece and texts.documents.has_twice(piece["doc"], piece["quote"]):
                found.append(plain(str(value.get("_id", value.get("id")))))
    if not found:
        return []
    named = some_of(dict.fromkeys(found))
    some = "1 quote stands" if len(found) == 1 else f"{len(found)} quotes stand"
    return [f"evidence: {some} in several places of a document ({named}), of which the first counts; quote more words"]


def _span(piece: Mapping[str, Any], which: str, texts: _Texts, path: Path, line: int | None) -> Span:
    documents = texts.documents
    try:
        return span_of(piece, documents, lambda: texts.passages)
    except InputError as error:
        if error.file is not None:  # corpus.jsonl itself cannot be read
            raise
        raise InputError(f"{which}{error.problem}", file=path, line=line, remedy=error.remedy) from None


def _line_of(query: str, passage: str, path: Path) -> int | None:
    """Where qrels label the passage for the query."""
    rows = (line.split() for line in path.read_text(encoding="utf-8-sig").split("\n"))
    return next((n for n, row in enumerate(rows, 1) if row and (row[0], row[-2:-1]) == (query, [passage])), None)
