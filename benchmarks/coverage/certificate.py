"""Does a certificate's stated error hold where the written queries are off? Simulated, with known differences.

    python -m benchmarks.coverage.certificate [EXPERIMENTS]

A value is a normal, cut to 0 and 1: a part that all systems share (how hard the query is), a part of the system's
family, and its own. Systems of three families differ by a family's worth and their own, many of them hardly. 120
written queries, two of each section, are like the real ones, but for `bias`: one family gains by so many standard
deviations of a query's difference between families on them. `few systems` are three, `flat` has all systems equal.
Counted is, of the pairs that are decided, how many are the other way round (of equal systems: all), how many were
expected to be, and how many of all pairs are decided. Beside `wrong` is its standard error, experiments taken as
wholes, since the pairs of one stand or fall together. The stated error holds where `wrong` is at most as expected.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ragassay.arrays import Floats
from ragassay.evaluate.certificate.decided import decide
from ragassay.evaluate.inputs.clusters import clusters_of_rows
from ragassay.evaluate.statistics.orders import pairs

EXPERIMENTS = 200
N_WRITTEN = 120
MIDDLE, SHARED, FAMILY, OWN = 0.6, 0.5, 0.35, 0.15
FAMILY_WORTH, OWN_WORTH = 0.08, 0.03
"""Standard deviations: of the four parts of a query's value, and of the worth of families and systems."""

SECTIONS = clusters_of_rows([f"{at // 2:04d}" for at in range(N_WRITTEN)])


@dataclass(frozen=True)
class World:
    """bias: of the first family on written queries, in standard deviations of a difference between families."""

    name: str
    n_systems: int = 12
    bias: float = 0.0
    flat: bool = False

    def worths(self, rng: np.random.Generator) -> Floats:
        """(systems,)"""
        if self.flat:
            return np.zeros(self.n_systems)
        families = rng.normal(0, FAMILY_WORTH, 3)[self.families]
        worths: Floats = families + rng.normal(0, OWN_WORTH, self.n_systems)
        return worths

    @property
    def families(self) -> Floats:
        """(systems,): the number of each one's family."""
        numbers: Floats = np.arange(self.n_systems) % 3
        return numbers

    def values(self, worths: Floats, n: int, bias: float, rng: np.random.Generator) -> Floats:
        """(systems, n)"""
        shared, own = rng.normal(0, SHARED, n), rng.normal(0, OWN, (self.n_systems, n))
        of_family = rng.normal(0, FAMILY, (3, n))[self.families]
        favour = np.where(self.families == 0, bias * FAMILY * np.sqrt(2), 0.0)
        level = MIDDLE + worths + favour
        values: Floats = np.clip(level[:, None] + shared + of_family + own, 0, 1)
        return values


WORLDS = (
    World("as real ones"),
    World("favour .25", bias=0.25),
    World("favour .5", bias=0.5),
    World("favour 1", bias=1.0),
    World("few systems", n_systems=3),
    World("few systems, favour .5", n_systems=3, bias=0.5),
    World("flat", flat=True),
    World("flat, favour .5", flat=True, bias=0.5),
)


def cell(world: World, n_real: int, experiments: int) -> tuple[float, float, float, float]:
    """Share of the pairs decided, and of all that are, those that are wrong, its standard error (of a ratio, by
    experiments) and those expected to be; NaN without any."""
    rng, first, second = np.random.default_rng(7), *pairs(world.n_systems)
    rows = []
    for seed in range(experiments):
        worths = world.worths(rng)
        real = world.values(worths, n_real, 0.0, rng)
        written = world.values(worths, N_WRITTEN, world.bias, rng)
        found = decide(real, written, SECTIONS, seed=seed)
        some = found.decided != 0
        turned = (found.decided != np.sign(worths[first] - worths[second]))[some]
        rows.append((some.sum(), turned.sum(), found.p_wrong[some].sum()))
    decided, wrong, expected = np.array(rows, dtype=float).T
    total = decided.sum()
    if not total:
        return 0.0, np.nan, np.nan, np.nan
    share = wrong.sum() / total
    error = np.sqrt(((wrong - share * decided) ** 2).sum()) / total
    return float(total / experiments / len(first)), float(share), float(error), float(expected.sum() / total)


def lines(experiments: int) -> Iterator[str]:
    """The table, row by row."""
    yield f"{experiments} experiments a cell\n"
    yield "| written queries | real | decided | wrong | expected |"
    yield "|---|--:|--:|--:|--:|"
    for world in WORLDS:
        for n_real in (10, 30, 100):
            decided, wrong, error, expected = cell(world, n_real, experiments)
            if not decided:
                yield f"| {world.name} | {n_real} | 0.0% | – | – |"
                continue
            yield f"| {world.name} | {n_real} | {decided:.1%} | {wrong:.1%} ± {100 * error:.1f} | {expected:.1%} |"


def main(experiments: str = str(EXPERIMENTS)) -> int:
    """Print the table."""
    for line in lines(int(experiments)):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
