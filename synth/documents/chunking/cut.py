"""Which way of cutting a `[[chunking]]` names, and the spans that it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragassay.experiment.variant_settings import Chunking

from ..text import DocumentText, Span
from .headings import by_headings
from .own import OwnCut, by_python
from .pages import by_pages
from .recursive import by_recursive
from .semantic import by_meaning
from .sentences import by_sentences
from .words import by_words

if TYPE_CHECKING:
    from .semantic import Vectors

Embed = Callable[[str | None, Sequence[str]], "Vectors"]
"""An embedding by name (None: [retrieval]'s) and texts to a row for each text."""

HERE_ALONE = frozenset({"semantic", "python"})
"""Ways that need an embedding or the user's code: they cut in this process, and not in those that clean documents."""

BREAKPOINT = 95.0
"""The percentile from which on semantic chunking cuts, where none is set: that of LangChain's SemanticChunker."""


@dataclass(frozen=True)
class Means:
    """What HERE_ALONE need: an embedding for semantic chunkings, and the callables by the chunkings' names."""

    embed: Embed | None = None
    own: Mapping[str, OwnCut] = field(default_factory=dict)


def spans_of(text: DocumentText, chunking: Chunking, means: Means | None = None) -> list[Span]:
    """Where the passages of a document begin and end, ascending; none crosses a hole that left-out pages made.

    means: needed by those of HERE_ALONE.
    Raises InputError where the user's own code fails.
    """
    size, overlap = chunking.words, chunking.overlap or 0
    match chunking.by:
        case "words":
            return by_words(text, size, overlap)
        case "sentences":
            return by_sentences(text, size, overlap)
        case "recursive":
            return by_recursive(text, size, overlap)
        case "headings":
            return by_headings(text, size)
        case "pages":
            return by_pages(text, size)
        case "semantic":
            assert means and means.embed
            return _by_meaning(text, chunking, means.embed)
        case "python":
            assert means
            return by_python(text, means.own[chunking.name])


def _by_meaning(text: DocumentText, chunking: Chunking, embed: Embed) -> list[Span]:
    percentile = BREAKPOINT if chunking.breakpoint is None else chunking.breakpoint
    return by_meaning(text, chunking.words, percentile, lambda texts: embed(chunking.embedding, texts))
