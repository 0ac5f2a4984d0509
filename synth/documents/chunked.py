"""A document's passages by each `[[chunking]]`, and its sections where they are handed over."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.experiment.variant_settings import SECTIONS, Chunking
from ragassay.records import Passage, Section

from .chunking.cut import Means, spans_of
from .passages import passages_of, section_passages
from .text import DocumentText


def chunk(
    text: DocumentText,
    document_id: str,
    sections: Sequence[Section],
    chunkings: Sequence[Chunking],
    means: Means | None = None,
) -> dict[str, tuple[Passage, ...]]:
    """The passages by the chunkings' names; under SECTIONS the sections, where some chunking returns them.

    Raises InputError where the user's own code fails.
    """
    found = {one.name: tuple(_passages(text, document_id, sections, one, means)) for one in chunkings}
    if any(one.returns == "section" for one in chunkings):
        found[SECTIONS] = tuple(section_passages(text, sections))
    return found


def _passages(
    text: DocumentText, document_id: str, sections: Sequence[Section], chunking: Chunking, means: Means | None
) -> list[Passage]:
    within = sections if chunking.returns == "section" else ()
    return passages_of(text, document_id, spans_of(text, chunking, means), chunking.name, within)
