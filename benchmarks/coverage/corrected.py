"""Do corrected rates and differences hold what they say? Simulated judges and labels, ours beside two libraries'.

    python -m benchmarks.coverage.corrected [SIMULATIONS]

Each cell draws the test set, the judge's verdicts and the labels anew. `cells` gives the rows for the table of
coverage. truescore and evalstats stand beside ours where they are installed (`pip install truescore==0.7.4`); else a
row says that not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from math import ceil

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats
from ragassay.evaluate.statistics.corrected_mean import correct_difference, correct_mean
from ragassay.evaluate.statistics.labels_needed import labels_needed, needed_for
from ragassay.evaluate.statistics.ppi import Sample

ITEMS = 2000
TRUTHS = (0.5, 0.8, 0.9, 0.95)
JUDGES = ((1.0, 0.2), (0.95, 0.05), (0.98, 0.5))
LABELS = (30, 50)
COVERS, CALLED_DIFFERENT = 0.94, 0.06


@dataclass(frozen=True)
class Cell:
    """One cell: its name, the share that covered (or was called different) with its bar, and the widths."""

    name: str
    method: str
    share: float
    bar: str
    passed: bool
    mean_width: float
    narrowest: float
    simulations: int


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


def ours(verdicts: Floats, truth: Floats, chosen: NDArray[np.intp], weight: Floats, seed: int) -> Interval:
    found = correct_mean(sample_of(verdicts, truth, chosen, weight), seed)
    return found.low, found.high


def truescores(verdicts: Floats, truth: Floats, chosen: NDArray[np.intp], weight: Floats, seed: int) -> Interval:
    from truescore import ppi_estimate

    found = ppi_estimate(verdicts, truth[chosen], chosen)
    return found.low, found.high


def evalstatses(verdicts: Floats, truth: Floats, chosen: NDArray[np.intp], weight: Floats, seed: int) -> Interval:
    correct = import_module("evalstats.ppi").correct

    rest = np.delete(verdicts, chosen)
    labelled = {"Y_lab": truth[chosen], "Y_hat_lab": verdicts[chosen]}
    found = correct(np.mean, **labelled, Y_hat_unlab=rest, backend="analytic", rng=seed)
    return float(found.ci_low), float(found.ci_high)


METHODS: dict[str, tuple[Callable[..., Interval], bool]] = {
    "ours, simple sample": (ours, False),
    "ours, drawn by verdict": (ours, True),
    "truescore, simple sample": (truescores, False),
    "evalstats, simple sample": (evalstatses, False),
}
PEERS = ("truescore", "evalstats")


def corrected_rate(method: str, n: int, truth: float, tpr: float, fpr: float, simulations: int, seed: int = 7) -> Cell:
    """How often the interval of a corrected rate holds the truth, and how narrow it gets."""
    interval, by_judge = METHODS[method]
    generator = np.random.default_rng(seed)
    ends = np.empty((simulations, 2))
    for index in range(simulations):
        labels = (generator.random(ITEMS) < truth).astype(np.float64)
        verdicts = judged(labels, tpr, fpr, generator)
        ends[index] = interval(verdicts, labels, *drawn(verdicts, n, by_judge, generator), index)
    share = float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())
    widths = ends[:, 1] - ends[:, 0]
    name = f"corrected rate, {n} labels, truth {truth:g}, judge {tpr:g}/{fpr:g}"
    passed = share >= COVERS and widths.min() > 0
    return Cell(name, method, share, ">= 0.94", passed, float(widths.mean()), float(widths.min()), simulations)


def corrected_difference(
    design: str, simulations: int, labels: int = 100, truth: float = 0.7, queries: int = 2000, seed: int = 7
) -> Cell:
    """How often two equally good agents are called different, where the judge misses more of one's right answers.

    design "paired": both agents' answers to `labels` queries are labelled; "apart": half as many of each agent's, on
    other queries; "truescore": its `ppi_compare` on the paired design.
    """
    generator = np.random.default_rng(seed)
    ends = np.empty((simulations, 2))
    for index in range(simulations):
        right = (generator.random((2, queries)) < truth).astype(np.float64)
        verdicts = [judged(right[0], 0.95, 0.1, generator), judged(right[1], 0.85, 0.1, generator)]
        chosen = generator.permutation(queries)[:labels]
        ends[index] = _difference(design, verdicts, right, chosen, index)
    share = float(((ends[:, 0] > 0) | (ends[:, 1] < 0)).mean())
    widths = ends[:, 1] - ends[:, 0]
    name = f"corrected difference of equal agents, {labels} labels, truth {truth:g}, judge .95 and .85"
    passed = share <= CALLED_DIFFERENT
    return Cell(name, design, share, "<= 0.06", passed, float(widths.mean()), float(widths.min()), simulations)


def _difference(design: str, verdicts: list[Floats], right: Floats, chosen: NDArray[np.intp], seed: int) -> Interval:
    if design == "truescore":
        from truescore import ppi_compare

        theirs = ppi_compare(verdicts[0], verdicts[1], right[0][chosen], right[1][chosen], chosen)
        return theirs.low, theirs.high
    half = len(chosen) // 2
    parts = (chosen[:half], chosen[half:]) if design == "apart" else (chosen, chosen)
    weight = np.ones(len(right[0]))
    samples = [sample_of(v, r, c, weight) for v, r, c in zip(verdicts, right, parts, strict=True)]
    found = correct_difference(samples[0], samples[1], seed)
    return found.low, found.high


def corrected_in_sections(simulations: int, correlation: float, labels: int = 50, truth: float = 0.8) -> Cell:
    """200 queries, five a section, whose answers are right (and judged right) together: how often the rate is held."""
    generator = np.random.default_rng(7)
    ends, section = np.empty((simulations, 2)), np.repeat(np.arange(40), 5)
    for index in range(simulations):
        right = _together(truth, correlation, section, generator)
        missed, taken = (_together(share, correlation, section, generator) for share in (0.05, 0.1))
        verdicts = np.where(right > 0, 1 - missed, taken)
        human = np.full(len(section), np.nan)
        chosen = generator.choice(len(section), labels, replace=False)
        human[chosen] = right[chosen]
        found = correct_mean(Sample(section, verdicts, human, np.ones(len(section)), 0.0, 1.0), index)
        ends[index] = found.low, found.high
    share = float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())
    widths = ends[:, 1] - ends[:, 0]
    name = f"corrected rate, {labels} labels of 200 queries, five a section, correlation {correlation:g}"
    passed = share >= COVERS and widths.min() > 0
    return Cell(name, "ours", share, ">= 0.94", passed, float(widths.mean()), float(widths.min()), simulations)


def _together(share: float, correlation: float, section: NDArray[np.intp], generator: np.random.Generator) -> Floats:
    """Zeros and ones with mean `share`, and this correlation within a section (beta-binomial)."""
    if correlation == 0:
        return (generator.random(len(section)) < share).astype(np.float64)
    scale = 1 / correlation - 1
    rates: Floats = generator.beta(share * scale, (1 - share) * scale, int(section.max()) + 1)
    return (generator.random(len(section)) < rates[section]).astype(np.float64)


def labels_wanted(
    truth: float, tpr: float, fpr: float, simulations: int, pilot: int = 50, half_width: float = 0.05
) -> Cell:
    """How often the interval for the number of labels needed, told from a pilot, holds the number; widths are labels'.

    An end that says "not with these items" counts as more labels than there are.
    """
    generator = np.random.default_rng(7)
    wanted = _number_needed(truth, tpr, fpr, half_width)
    ends = np.empty((simulations, 2))
    for index in range(simulations):
        labels = (generator.random(ITEMS) < truth).astype(np.float64)
        verdicts = judged(labels, tpr, fpr, generator)
        found = labels_needed(sample_of(verdicts, labels, *drawn(verdicts, pilot, False, generator)), half_width, index)
        ends[index] = [ITEMS + 1 if end is None else end for end in (found.low, found.high)]
    share = float(((ends[:, 0] <= ceil(wanted)) & (wanted <= ends[:, 1])).mean())
    widths = ends[:, 1] - ends[:, 0]
    name = f"labels needed for ±{half_width:g} from a pilot of {pilot}, truth {truth:g}, judge {tpr:g}/{fpr:g}"
    return Cell(name, f"ours ({wanted:.0f} needed)", share, ">= 0.93", share >= 0.93, *_two(widths), simulations)


def _two(widths: Floats) -> tuple[float, float]:
    return float(widths.mean()), float(widths.min())


def _number_needed(truth: float, tpr: float, fpr: float, half_width: float) -> float:
    yes = truth * tpr + (1 - truth) * fpr
    right, missed = truth * tpr / yes, truth * (1 - tpr) / (1 - yes)
    within = yes * right * (1 - right) + (1 - yes) * missed * (1 - missed)
    return needed_for(within, truth * (1 - truth), ITEMS, half_width)


def cells(simulations: int = 2000) -> Iterator[Cell]:
    """Every cell, by each method, one after the other as they are done; ours first, then those of what is installed."""
    installed = [peer for peer in PEERS if find_spec(peer)]
    for truth in (0.7, 0.5, 0.9):
        for design in ("paired", "apart", *(peer for peer in ("truescore",) if peer in installed)):
            yield corrected_difference(design, simulations, truth=truth)
    for correlation in (0.0, 0.2, 0.5):
        yield corrected_in_sections(simulations, correlation)
    for truth in TRUTHS:
        for tpr, fpr in JUDGES:
            yield labels_wanted(truth, tpr, fpr, simulations)
    for method in METHODS:
        if method.split(",")[0] in ("ours", *installed):
            for n in LABELS:
                for tpr, fpr in JUDGES:
                    for truth in TRUTHS:
                        yield corrected_rate(method, n, truth, tpr, fpr, simulations)


def lacking() -> Sequence[str]:
    """A row for each library that is not installed."""
    return [f"| corrected rate | {peer}: not installed | – | | | | |" for peer in PEERS if not find_spec(peer)]


HEADER = "| cell | method | share | bar | | mean width | narrowest |\n|---|---|---|---|---|---|---|"


def line(cell: Cell) -> str:
    """A row of the Markdown table."""
    mark = "yes" if cell.passed else "NO"
    widths = f"{cell.mean_width:.3f} | {cell.narrowest:.3f}"
    return f"| {cell.name} | {cell.method} | {cell.share:.3f} | {cell.bar} | {mark} | {widths} |"


if __name__ == "__main__":
    print(HEADER)
    for row in cells(int(sys.argv[1]) if len(sys.argv) > 1 else 2000):
        print(line(row), flush=True)
    for absent in lacking():
        print(absent)
