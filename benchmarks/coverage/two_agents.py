"""Differences of two agents corrected by people's labels: cells of `benchmarks.coverage.corrected`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats
from ragassay.evaluate.statistics.ppi import Sample, correct_difference, ppi_difference

from .labelled import COVERS, Cell, Interval, drawn, mean_and_least, sample_of, together

LEVEL = 0.05

PERFECT = (1.0, 0.0)
UNEQUAL = ((0.95, 0.1), (0.85, 0.1))
"""Judges of two agents, each (true, false positive rate)."""

HARSHER = (
    UNEQUAL,
    ((1.0, 0.2), (0.95, 0.05)),
    (PERFECT, (0.97, 0.0)),
    (PERFECT, (1.0, 0.3)),
    ((0.98, 0.5), (0.98, 0.5)),
)


@dataclass(frozen=True)
class Two:
    """Two agents: how often each is right, the judge's rates on each, and what is asked of how many.

    design "paired": both agents' answers to `labels` queries are labelled; "apart": half as many of each agent's, on
    other queries; "by verdict": half as many of each, again half from each verdict; "games": an item is a game of the
    two, which one wins and the other loses. Queries are in sections of `each`, with `correlation` (see `together`).
    """

    truths: tuple[float, float]
    judges: tuple[tuple[float, float], tuple[float, float]]
    labels: int = 100
    queries: int = 2000
    design: str = "paired"
    each: int = 1
    correlation: float = 0.0

    @property
    def name(self) -> str:
        """What the table says of it."""
        equal = self.truths[0] == self.truths[1]
        truth = f"{self.truths[0]:g}" if equal else f"{self.truths[0]:g} and {self.truths[1]:g}"
        rates = " and ".join(f"{tpr:g}/{fpr:g}" for tpr, fpr in dict.fromkeys(self.judges))
        layout = f", in sections of {self.each}, correlation {self.correlation:g}" if self.each > 1 else ""
        agents = "equal agents" if equal else "agents"
        labels = f"{self.labels} labels of {self.queries} queries"
        return f"corrected difference, {agents}, {labels}{layout}, truth {truth}, judge {rates}"


def corrected_difference(two: Two, simulations: int, method: str = "ours", seed: int = 7) -> Cell:
    """How often equal agents are called different; of unequal ones, how often their difference is held, and called.

    The former may be 5% and two standard errors.

    method: "ours", "PPI++" (its t interval without pseudo-residuals) or "truescore" (`ppi_compare`, design "paired").
    """
    generator = np.random.default_rng(seed)
    section = np.arange(two.queries) // two.each
    ends = np.empty((simulations, 2))
    for index in range(simulations):
        right = np.array([together(truth, two.correlation, section, generator) for truth in two.truths])
        if two.design == "games":
            right[1] = 1 - right[0]
        verdicts = [
            _verdicts(row, rates, two, section, generator) for row, rates in zip(right, two.judges, strict=True)
        ]
        if two.design == "games":
            verdicts[1] = 1 - verdicts[0]
        ends[index] = METHODS_OF_TWO[method](verdicts, right, _labelled(two, verdicts, generator), section)
    return _ofmean_and_least(two, method, ends)


def _ofmean_and_least(two: Two, method: str, ends: Floats) -> Cell:
    gap = two.truths[0] - two.truths[1]
    called = float(((ends[:, 0] > 0) | (ends[:, 1] < 0)).mean())
    held = float(((ends[:, 0] <= gap + 1e-12) & (gap - 1e-12 <= ends[:, 1])).mean())
    label = f"{method}, {two.design}"
    widths = mean_and_least(ends[:, 1] - ends[:, 0])
    if gap == 0:
        most = LEVEL + 2 * sqrt(LEVEL * (1 - LEVEL) / len(ends))
        return Cell(two.name, label, called, f"<= {most:.3f}", called <= most, *widths, len(ends))
    return Cell(two.name, label, held, ">= 0.94", held >= COVERS, *widths, len(ends), called)


def _verdicts(
    right: Floats, rates: tuple[float, float], two: Two, section: NDArray[np.intp], generator: np.random.Generator
) -> Floats:
    missed, taken = (together(share, two.correlation, section, generator) for share in (1 - rates[0], rates[1]))
    return np.where(right > 0, 1 - missed, taken)


Drawn = tuple[NDArray[np.intp], Floats]
"""The indices of what is labelled, and the weight of each item."""


def _labelled(two: Two, verdicts: Sequence[Floats], generator: np.random.Generator) -> tuple[Drawn, Drawn]:
    if two.design == "by verdict":
        one, other = (drawn(each, two.labels // 2, True, generator) for each in verdicts)
        return one, other
    chosen, alike = generator.permutation(two.queries)[: two.labels], np.ones(two.queries)
    half = two.labels // 2
    parts = (chosen[:half], chosen[half:]) if two.design == "apart" else (chosen, chosen)
    return (parts[0], alike), (parts[1], alike)


def _samples(
    verdicts: Sequence[Floats], right: Floats, parts: tuple[Drawn, Drawn], section: NDArray[np.intp]
) -> tuple[Sample, Sample]:
    one, other = (replace(sample_of(verdicts[agent], right[agent], *parts[agent]), cluster=section) for agent in (0, 1))
    return one, other


def _ours(*given: Any) -> Interval:
    found = correct_difference(*_samples(*given))
    return found.low, found.high


def _ppis(*given: Any) -> Interval:
    found = ppi_difference(*_samples(*given), pseudo_residuals=0.0)
    assert found.ci_low is not None and found.ci_high is not None
    return found.ci_low, found.ci_high


def _truescores(verdicts: Sequence[Floats], right: Floats, parts: tuple[Drawn, Drawn], _: object) -> Interval:
    from truescore import ppi_compare

    chosen = parts[0][0]
    theirs = ppi_compare(verdicts[0], verdicts[1], right[0][chosen], right[1][chosen], chosen)
    return theirs.low, theirs.high


METHODS_OF_TWO: dict[str, Callable[..., Interval]] = {"ours": _ours, "PPI++": _ppis, "truescore": _truescores}


def equal_agents() -> Iterator[Two]:
    """Agents that are not to be called different, whatever the judge says of each."""
    for truth in (0.7, 0.5, 0.9):
        for design in ("paired", "apart"):
            yield Two((truth, truth), UNEQUAL, design=design)
    for labels in (30, 50, 200):
        for truth in (0.7, 0.95):
            for judges in HARSHER:
                for design in ("paired", "apart"):
                    yield Two((truth, truth), judges, labels, design=design)
    for truth in (0.7, 0.9, 0.95):
        for judges in HARSHER:
            yield Two((truth, truth), judges, design="by verdict")
    for labels, queries in ((30, 60), (60, 200)):
        for truth in (0.9, 0.95):
            for judges in HARSHER:
                for design in ("paired", "apart"):
                    yield Two((truth, truth), judges, labels, queries, design)
    for labels in (30, 100):
        for rates in ((0.9, 0.1), (0.97, 0.03)):
            yield Two((0.5, 0.5), (rates, rates), labels, design="games")
    for correlation in (0.2, 0.5, 0.8):
        for labels in (50, 100, 200):
            for truth in (0.7, 0.9):
                for judges in HARSHER[:3]:
                    yield Two((truth, truth), judges, labels, 200, each=5, correlation=correlation)


def unequal_agents() -> Iterator[Two]:
    """Agents right on .9 and .8: what is to be called different."""
    for each, correlation in ((1, 0.0), (5, 0.2), (5, 0.5)):
        for judges in ((PERFECT, PERFECT), UNEQUAL):
            for labels in (50, 100, 200):
                for design in ("paired", "apart"):
                    yield Two((0.9, 0.8), judges, labels, 200, design, each, correlation)
