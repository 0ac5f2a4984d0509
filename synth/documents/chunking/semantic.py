"""Passages cut where the meaning turns: between sentences whose embeddings lie far apart.

After G. Kamradt, "5 Levels of Text Splitting" (2024), level 4, as LangChain's SemanticChunker has it: each sentence is
embedded together with one before and one after it, and the text is cut where the cosine distance of neighbours is above
a percentile of all distances of the document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..cut_points import Stretch
from ..text import DocumentText, Span
from .sentences import Run, cut_to, filled, sentences

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.floating]

NEIGHBOURS = 1
"""Sentences before and after one that are embedded with it."""


def by_meaning(
    text: DocumentText, size: int, breakpoint: float, embed: Callable[[Sequence[str]], Vectors]
) -> list[Span]:
    """Neighbouring sentences whose distance is at most the percentile `breakpoint` (0 to 100), `size` words at most.

    `embed` gives a row for each text. A stretch of sentences that is longer than `size` is filled up sentence by
    sentence.
    """
    runs = [sentences(stretch) for stretch in text.stretches]
    said = [told for stretch, own in zip(text.stretches, runs, strict=True) for told in _in_company(text, stretch, own)]
    vectors = embed(said) if said else None
    if vectors is None:
        return []
    distances = _distances(vectors, [len(own) for own in runs])
    highest = _percentile([one for own in distances for one in own], breakpoint)
    found: list[Span] = []
    for stretch, own, far in zip(text.stretches, runs, distances, strict=True):
        for alike in _alike(own, [distance > highest for distance in far]):
            found += [stretch.span(*run) for run in filled(cut_to(stretch, alike, size), size, 0)]
    return found


def _in_company(text: DocumentText, stretch: Stretch, runs: Sequence[Run]) -> Iterator[str]:
    for number in range(len(runs)):
        some = runs[max(0, number - NEIGHBOURS) : number + NEIGHBOURS + 1]
        start, end = stretch.span(some[0][0], some[-1][1])
        yield text.text[start:end]


def _distances(vectors: Vectors, lengths: Sequence[int]) -> list[list[float]]:
    """Of each stretch, the cosine distances of its neighbouring rows; 1 of a row of zeros."""
    import numpy as np

    rows, found, begin = np.asarray(vectors, dtype=np.float64), [], 0
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    for n in lengths:
        own = rows[begin : begin + n]
        found.append([float(one) for one in 1 - np.sum(own[:-1] * own[1:], axis=1)])
        begin += n
    return found


def _percentile(distances: Sequence[float], breakpoint: float) -> float:
    import numpy as np

    return float(np.percentile(distances, breakpoint)) if distances else 0.0


def _alike(runs: Sequence[Run], cuts: Sequence[bool]) -> Iterator[list[Run]]:
    """The sentences from cut to cut."""
    alike: list[Run] = []
    for run, ends in zip(runs, [*cuts, True], strict=True):
        alike.append(run)
        if ends:
            yield alike
            alike = []
