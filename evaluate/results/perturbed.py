"""What became of the answers when questions were asked in changed words."""

from __future__ import annotations

from pydantic import Field

from ragassay.records import Figure, Record


class Perturbed(Record):
    """A query made of another (`ragassay perturb`) beside its original.

    n_originals: those of which something was made. kinds: perturbation to how many queries. thresholds: criterion to
    the label from which an answer is good enough; where less is better (`lower_is_better`), to which.
    flips: agent to criterion to perturbation ("all" first) to the share of its queries, of those where both answers
    have a label (n; n_failed lack one), whose answer is good enough and its original's is not, or the other way round;
    intervals over originals, those of one section together. worse: the same, of those that were good enough and are no
    more. flipped: agent to criterion to the perturbed queries whose answers flip.
    """

    n_originals: int
    kinds: dict[str, int]
    thresholds: dict[str, float]
    lower_is_better: tuple[str, ...] = ()
    flips: dict[str, dict[str, dict[str, Figure]]] = Field(default_factory=dict)
    worse: dict[str, dict[str, dict[str, Figure]]] = Field(default_factory=dict)
    flipped: dict[str, dict[str, tuple[str, ...]]] = Field(default_factory=dict)
