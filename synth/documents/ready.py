"""Passages that are ready, `corpus.jsonl` in the corpus folder: taken as they are, and sections made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.ingest_settings import IngestSettings
from ragassay.experiment.variant_settings import Chunking
from ragassay.files import check_record, first_problem, read_objects
from ragassay.records import Page, Passage
from ragassay.text import plain

from .chunked import chunk
from .chunking.cut import HERE_ALONE
from .cutting import Document
from .doc_ids import document_id
from .passages import where
from .sections import make_sections
from .text import DocumentText

NAMELESS = "corpus"
"""The document of passages with neither `metadata.doc` nor a title."""


def ready_documents(path: Path, settings: IngestSettings, chunkings: Sequence[Chunking]) -> list[Document]:
    """The documents that the passages make: those of one `metadata.doc`, or else of one title, in the file's order.

    A document's text is its passages' texts, a line break between them, and each passage is a page of it. Ids, titles
    and texts are as they stand; `metadata` gets doc, first_page, last_page, start and end. Raises InputError, with the
    line, for what is no passage, one without text, an id that stands twice or holds white space; and for none.
    """
    by_doc: dict[str, list[Passage]] = {}
    for passage in _passages(path):
        by_doc.setdefault(_doc(passage), []).append(passage)
    if not by_doc:
        raise InputError("holds no passages", file=path, remedy="write one a line: _id, title, text")
    identifiers = _identifiers(by_doc)
    return [_document(doc, identifiers[doc], passages, settings, chunkings) for doc, passages in by_doc.items()]


def _passages(path: Path) -> Iterable[Passage]:
    lines: dict[str, int] = {}
    for number, value in read_objects(path):
        try:
            passage = Passage.model_validate(value)
        except ValidationError as error:
            raise InputError(first_problem(error), file=path, line=number) from None
        check_record(passage, path, number)
        if re.search(r"\s", passage.id):
            raise InputError("its _id holds white space", file=path, line=number, remedy="write _id without")
        if not passage.text.strip():
            raise InputError("the passage has no text", file=path, line=number, remedy="leave it out")
        if (before := lines.setdefault(passage.id, number)) != number:
            problem = f"the _id '{plain(passage.id)}' stands on line {before} already"
            raise InputError(problem, file=path, line=number, remedy="give each passage its own")
        yield passage


def _doc(passage: Passage) -> str:
    doc = passage.metadata.get("doc")
    return doc if isinstance(doc, str) and doc.strip() else passage.title.strip() or NAMELESS


def _identifiers(docs: Iterable[str]) -> dict[str, str]:
    """An id for each; those that would be the same are numbered, as titles are no names of files."""
    given: dict[str, str] = {}
    taken: set[str] = set()
    for doc in docs:
        base = document_id(doc)
        given[doc] = next(name for n in count(1) if (name := base if n == 1 else f"{base}.{n}") not in taken)
        taken.add(given[doc])
    return given


def _document(
    doc: str, identifier: str, passages: Sequence[Passage], settings: IngestSettings, chunkings: Sequence[Chunking]
) -> Document:
    text = DocumentText(doc, tuple((number, passage.text) for number, passage in enumerate(passages, 1)))
    sections = make_sections(text, identifier, settings.section_tokens, len(passages) + 1)
    everywhere = [chunking for chunking in chunkings if chunking.by not in HERE_ALONE]
    return Document(
        doc,
        tuple(Page(doc=doc, page=number, text=page) for number, page in text.pages),
        tuple(sections),
        tuple(_placed(text, number, passage) for number, passage in enumerate(passages, 1)),
        chunked=chunk(text, identifier, sections, everywhere),
        identifier=identifier,
    )


def _placed(text: DocumentText, number: int, passage: Passage) -> Passage:
    start = text.page_start(number)
    place = where(text, start, start + len(passage.text))
    return passage.model_copy(update={"metadata": {**passage.metadata, **place}})
