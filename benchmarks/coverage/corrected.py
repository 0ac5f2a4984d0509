"""Do corrected rates and differences hold what they say? Simulated judges and labels, ours beside two libraries'.

    python -m benchmarks.coverage.corrected [SIMULATIONS [differences] [adaptive] [needed] [rates]]

Each cell draws the test set, the judge's verdicts and the labels anew. Of agents that do differ the last column says
how often they were called so, and beside ours stands PPI++'s interval as it is. `cells` gives the rows for the table of
coverage. truescore and evalstats stand beside ours where they are installed (`pip install truescore==0.7.4`); else a
row says that not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from math import ceil

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats
from ragassay.evaluate.statistics.power import labels_needed, needed_for
from ragassay.evaluate.statistics.ppi import Sample, correct_mean

from . import adaptive_labels
from .labelled import COVERS, Cell, Interval, drawn, judged, mean_and_least, sample_of, together
from .two_agents import UNEQUAL, corrected_difference, equal_agents, unequal_agents

ITEMS = 2000
ADAPTIVE = 25
"""So many times fewer experiments of adaptive play, each of which has six win rates and five differences."""

TRUTHS = (0.5, 0.8, 0.9, 0.95)
JUDGES = ((1.0, 0.2), (0.95, 0.05), (0.98, 0.5))
LABELS = (30, 50)


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


def corrected_in_sections(simulations: int, correlation: float, labels: int = 50, truth: float = 0.8) -> Cell:
    """200 queries, five a section, whose answers are right (and judged right) together: how often the rate is held."""
    generator = np.random.default_rng(7)
    ends, section = np.empty((simulations, 2)), np.repeat(np.arange(40), 5)
    for index in range(simulations):
        right = together(truth, correlation, section, generator)
        missed, taken = (together(share, correlation, section, generator) for share in (0.05, 0.1))
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
        ends[index] = [ITEMS + 1 if end is None else end for end in (found.ci_low, found.ci_high)]
    share = float(((ends[:, 0] <= ceil(wanted)) & (wanted <= ends[:, 1])).mean())
    widths = ends[:, 1] - ends[:, 0]
    name = f"labels needed for ±{half_width:g} from a pilot of {pilot}, truth {truth:g}, judge {tpr:g}/{fpr:g}"
    return Cell(
        name, f"ours ({wanted:.0f} needed)", share, ">= 0.93", share >= 0.93, *mean_and_least(widths), simulations
    )


def _number_needed(truth: float, tpr: float, fpr: float, half_width: float) -> float:
    yes = truth * tpr + (1 - truth) * fpr
    right, missed = truth * tpr / yes, truth * (1 - tpr) / (1 - yes)
    within = yes * right * (1 - right) + (1 - yes) * missed * (1 - missed)
    return float(needed_for(within, truth * (1 - truth), ITEMS, half_width))


def cells(simulations: int = 2000, parts: Sequence[str] = ()) -> Iterator[Cell]:
    """Every cell of the parts, or of all, by each method, one after the other as they are done."""
    for name, part in PARTS.items():
        if not parts or name in parts:
            yield from part(simulations)


def _installed() -> list[str]:
    return [peer for peer in PEERS if find_spec(peer)]


def _differences(simulations: int) -> Iterator[Cell]:
    for two in equal_agents():
        yield corrected_difference(two, simulations)
        if two.judges == UNEQUAL and (two.labels, two.queries, two.design) == (100, 2000, "paired"):
            yield from (corrected_difference(two, simulations, peer) for peer in _installed() if peer == "truescore")
    for two in unequal_agents():
        yield corrected_difference(two, simulations)
        yield corrected_difference(two, simulations, "PPI++")


def _needed(simulations: int) -> Iterator[Cell]:
    for truth in TRUTHS:
        for tpr, fpr in JUDGES:
            yield labels_wanted(truth, tpr, fpr, simulations)


def _rates(simulations: int) -> Iterator[Cell]:
    for correlation in (0.0, 0.2, 0.5):
        yield corrected_in_sections(simulations, correlation)
    for method in METHODS:
        if method.split(",")[0] in ("ours", *_installed()):
            for n in LABELS:
                for tpr, fpr in JUDGES:
                    for truth in TRUTHS:
                        yield corrected_rate(method, n, truth, tpr, fpr, simulations)


PARTS: dict[str, Callable[[int], Iterator[Cell]]] = {
    "differences": _differences,
    "adaptive": lambda simulations: adaptive_labels.cells(ceil(simulations / ADAPTIVE)),
    "needed": _needed,
    "rates": _rates,
}


def lacking() -> Sequence[str]:
    """A row for each library that is not installed."""
    return [f"| corrected rate | {peer}: not installed | – | | | | | |" for peer in PEERS if not find_spec(peer)]


HEADER = (
    "| cell | method | share | bar | | mean width | narrowest | called different |\n|---|---|---|---|---|---|---|---|"
)


def line(cell: Cell) -> str:
    """A row of the Markdown table."""
    mark = "yes" if cell.passed else "NO"
    widths = f"{cell.mean_width:.3f} | {cell.narrowest:.3f}"
    called = "" if cell.called is None else f"{cell.called:.3f}"
    return f"| {cell.name} | {cell.method} | {cell.share:.3f} | {cell.bar} | {mark} | {widths} | {called} |"


if __name__ == "__main__":
    print(HEADER)
    for row in cells(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, sys.argv[2:]):
        print(line(row), flush=True)
    for absent in lacking():
        print(absent)
