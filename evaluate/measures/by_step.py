"""What each step of a system that searches more than once brought that those before it had not.

With E the pieces of evidence of a query and S_h what was found of them up to step h, recall at h is |E ∩ S_h| / |E|. No
paper has these figures together: "new" is the gain of each retrieval in interactive retrieval, and the rest names what
a step can be besides: wasted, surplus, asked before. A step that failed found nothing and counts as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ragassay.evidence import Span

from .by_place import finds

Found = Sequence[tuple[str, Span]]
"""What a step found, best first: each passage's id and its place."""


def whole(passage: str) -> Span:
    """A passage as a piece of evidence of its own, where nobody says which text is."""
    return Span(passage, 0, 1)


def passage_of(piece: Span) -> str | None:
    """The passage that a piece is by `whole`; None of a piece of text."""
    return piece.doc if piece == whole(piece.doc) else None


class Steps(NamedTuple):
    """One query's steps, in their order; each tuple has a value a step.

    recall: share of the evidence found up to the step, from 0 to 1. first: the pieces that no step before had found.
    wasted: nothing new though evidence was missing. surplus: all had been found before. fresh: of the step's passages,
    the share that no step before had; None where it found none. repeated: its query, but for white space and case, was
    asked before. missed: the pieces that no step found. unused: those found that the passages of the answer do not
    hold. lost: recall of all steps less that of the passages that the answer was given, below 0 where these have
    evidence that no step found; None, as is `unused`, where the answer says no passages.
    """

    recall: tuple[float, ...]
    first: tuple[tuple[Span, ...], ...]
    wasted: tuple[bool, ...]
    surplus: tuple[bool, ...]
    fresh: tuple[float | None, ...]
    repeated: tuple[bool, ...]
    missed: tuple[Span, ...]
    unused: tuple[Span, ...] | None
    lost: float | None

    @property
    def new(self) -> tuple[int, ...]:
        """How many pieces each step was the first to find."""
        return tuple(map(len, self.first))

    @property
    def complete(self) -> bool:
        """Whether all evidence was found in the end."""
        return self.recall[-1] == 1

    def recall_at(self, step: int) -> float:
        """After step `step`, from 1; what was found before is carried forward where there were fewer."""
        return self.recall[min(step, len(self.recall)) - 1]


def steps_of(
    pieces: Sequence[Span], steps: Sequence[Found], queries: Sequence[str | None], given: Found | None
) -> Steps:
    """The values of one query. pieces: its evidence; queries: what each step asked, None where it does not say.

    given: what the answer was written from; None where that is not known. Raises ValueError without a piece or a step.
    """
    if not pieces or not steps:
        raise ValueError("steps have values where there is evidence, and one step at least")
    evidence = frozenset(pieces)
    found, passages, asked = set[Span](), set[str](), set[str]()
    recall, first = list[float](), list[tuple[Span, ...]]()
    wasted, surplus, repeated = list[bool](), list[bool](), list[bool]()
    fresh = list[float | None]()
    for step, query in zip(steps, queries, strict=True):
        complete = found == evidence
        held = _held(evidence - found, step)
        first.append(tuple(sorted(held)))
        found |= held
        recall.append(len(found) / len(evidence))
        surplus.append(complete)
        wasted.append(not complete and not held)
        ids = {name for name, _ in step}
        fresh.append(len(ids - passages) / len(ids) if ids else None)
        passages |= ids
        words = " ".join((query or "").casefold().split())
        repeated.append(bool(words) and words in asked)
        asked.add(words)
    handed = None if given is None else _held(evidence, given)
    lost = None if handed is None else recall[-1] - len(handed) / len(evidence)
    unused = None if handed is None else tuple(sorted(found - handed))
    of_steps = (tuple(recall), tuple(first), tuple(wasted), tuple(surplus), tuple(fresh), tuple(repeated))
    return Steps(*of_steps, tuple(sorted(evidence - found)), unused, lost)


def _held(evidence: AbstractSet[Span], found: Found) -> set[Span]:
    return {piece for piece in evidence for _, place in found if finds(place, piece)}
