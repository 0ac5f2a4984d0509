"""Simulated judges and people's labels of what they judge: what the cells of corrected figures are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats
from ragassay.evaluate.statistics.ppi import Sample

COVERS = 0.94


@dataclass(frozen=True)
class Cell:
    """One cell: its name, the share that covered (or was called different) with its bar, and the widths.

    called: of agents that do differ, the share called different; None elsewhere.
    """

    name: str
    method: str
    share: float
    bar: str
    passed: bool
    mean_width: float
    narrowest: float
    simulations: int
    called: float | None = None


Interval = tuple[float, float]


def judged(truth: Floats, tpr: float, fpr: float, generator: np.random.Generator) -> Floats:
    """A judge's verdicts on labels `truth`, with these true- and false-positive rates."""
    return (generator.random(truth.shape) < np.where(truth > 0, tpr, fpr)).astype(np.float64)


def drawn(verdicts: Floats, n: int, by_judge: bool, generator: np.random.Generator) -> tuple[NDArray[np.intp], Floats]:
    """The indices of `n` items and 1 over their probabilities: a simple sample, or half from each verdict."""
    if not by_judge:
        return generator.choice(len(verdicts), n, replace=False), np.full(len(verdicts), len(verdicts) / n)
    chosen, weight = [], np.ones(len(verdicts))
    for value, quota in ((1.0, n // 2), (0.0, n - n // 2)):
        where = np.flatnonzero(verdicts == value)
        quota = min(quota, len(where))
        chosen.append(generator.choice(where, quota, replace=False))
        weight[where] = len(where) / max(quota, 1)
    return np.concatenate(chosen), weight


def sample_of(verdicts: Floats, truth: Floats, chosen: NDArray[np.intp], weight: Floats) -> Sample:
    """One item a cluster, labels 0 and 1."""
    human = np.full(len(verdicts), np.nan)
    human[chosen] = truth[chosen]
    return Sample(np.arange(len(verdicts)), verdicts, human, weight, 0.0, 1.0)


def together(share: float, correlation: float, section: NDArray[np.intp], generator: np.random.Generator) -> Floats:
    """Zeros and ones with mean `share`, and this correlation within a section (beta-binomial)."""
    if correlation == 0 or share in (0, 1):
        return (generator.random(len(section)) < share).astype(np.float64)
    scale = 1 / correlation - 1
    rates: Floats = generator.beta(share * scale, (1 - share) * scale, int(section.max()) + 1)
    return (generator.random(len(section)) < rates[section]).astype(np.float64)


def mean_and_least(widths: Floats) -> tuple[float, float]:
    return float(widths.mean()), float(widths.min())
