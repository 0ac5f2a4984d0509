"""Do verdicts and intervals hold with answers ranked together, whose pairs depend on one another?

    python -m benchmarks.coverage.listwise [EXPERIMENTS]

Lists are simulated (`ranking_judge.py`) as the product seats them, with the same judge of pairs beside: six equal
agents, strengths by which the shares of Table 5 of the RAGElo paper come about, two equal best agents. What is made of
the verdicts is the product's code. A judge may favour the first places.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.coverage.ranking_judge import Judge, Judged, Signs, Truth, World, play, truth
from benchmarks.coverage.verdict import decided
from benchmarks.ratings.tournaments import Tables, table_5
from ragassay.arrays import Floats, Truths
from ragassay.evaluate.statistics.clustered import estimate, interval, intervals
from ragassay.evaluate.statistics.paired_comparison import LEVEL, t_p
from ragassay.evaluate.statistics.resamples import holm
from ragassay.evaluate.statistics.sign_flip import flip_p

EXPERIMENTS, FEW = 1000, 400
SIZES = ((12, 1, 0.0), (50, 1, 0.0), (50, 5, 0.5), (200, 1, 0.0), (200, 5, 0.5))
"""Queries, how many a section, and the correlation within it."""

FAVOUR = 0.5
"""What the first place adds, in standard deviations of luck, for a judge that favours it."""

JUDGES = {
    "pairs": Judge(None),
    "lists, 1": Judge(1),
    "lists, 2": Judge(2),
    "lists, 4": Judge(4),
    "pairs, first place favoured": Judge(None, first=FAVOUR),
    "lists, 1, first places favoured": Judge(1, first=FAVOUR),
    "lists, 2, first places favoured": Judge(2, first=FAVOUR),
}
EQUAL, FAR = (0.0,) * 6, (0.0, 0.0, -1.2, -1.2, -1.2, -1.2)


def thurstone(wins: Floats) -> tuple[float, ...]:
    """Strengths in standard deviations of an answer's quality from shares of wins (agents, agents), ties as halves.

    Thurstone's case V by least squares (Mosteller, Psychometrika 16, 1951).
    """
    from scipy.special import ndtri

    points = (1 + wins - wins.T) / 2
    return tuple(np.round(np.sqrt(2) * ndtri(points).mean(axis=1), 2).tolist())


def worlds() -> dict[str, tuple[float, ...]]:
    """Strengths by name."""
    return {"six equal": EQUAL, "Table 5": thurstone(table_5()), "two equal best": FAR}


@dataclass(frozen=True)
class Cell:
    """A world, a judge and so many experiments of them, and the points that come of the verdicts."""

    world: World
    judge: Judge
    judged: Judged
    verdict: Signs
    tables: Tables

    @classmethod
    def of(cls, world: World, judge: Judge, experiments: int, start: int = 0) -> Cell:
        """The same seed for every judge; others that `start` later."""
        place = [21, world.n_queries, world.per_section, int(world.best.sum())]
        generator = np.random.default_rng([*place, start] if start else place)
        judged = play(world, judge, experiments, generator)
        scores = (1 + judged.verdict.swapaxes(1, 2).astype(np.float32)) / 2
        return cls(world, judge, judged, judged.verdict, Tables.of(scores, len(world.strengths), world.clusters))

    @property
    def truth(self) -> Truth:
        """Of endlessly many queries."""
        return truth(self.world.strengths, self.judge)

    @property
    def gaps(self) -> Floats:
        """(experiments, pairs, queries): differences of points."""
        first, second = self.world.pairs.T
        return np.asarray(self.tables.seen[:, first] - self.tables.seen[:, second])


def told_apart(cell: Cell) -> tuple[float, float]:
    """How often Holm's correction over all pairs calls some equal agents different, or two the wrong way round, and the
    share of the truly different pairs that it tells apart rightly."""
    first, second = cell.world.pairs.T
    clusters = cell.world.clusters
    sums = clusters.sums(cell.gaps)
    found = estimate(sums, np.broadcast_to(clusters.sizes, sums.shape))
    p = t_p(found, cell.world.n_queries)
    for at in np.argwhere(np.isnan(p)):
        p[tuple(at)] = flip_p(sums[tuple(at)], 7)
    differ = np.array([holm(row) for row in p.tolist()], dtype=np.float64) <= LEVEL
    level = np.array(cell.world.strengths)
    right = differ & (np.sign(found.value) == np.sign(level[first] - level[second]))
    unequal = ~cell.world.equal[first, second]
    power = float(right[:, unequal].mean()) if unequal.any() else np.nan
    return float((differ & ~right).any(axis=1).mean()), power


@dataclass(frozen=True)
class Place:
    """A cell by name: of a world, its size and the judge."""

    world: str
    size: tuple[int, int, float]
    judge: str
    experiments: int

    @property
    def few(self) -> int:
        """Experiments for the slower figures."""
        return min(self.experiments, FEW)

    def played(self, experiments: int, start: int = 0) -> Cell:
        """Its experiments, or others that `start` later."""
        return Cell.of(World(worlds()[self.world], *self.size), JUDGES[self.judge], experiments, start)

    def __str__(self) -> str:
        """The first columns of its lines."""
        return f"| {self.world} | {self.size[0]} | {self.size[1]} | {self.judge} |"


def places(experiments: int, sizes: Sequence[tuple[int, int, float]], judges: Sequence[str]) -> list[Place]:
    """Every cell of a table."""
    return [Place(*named, experiments) for named in product(worlds(), sizes, judges)]


def verdicts_and_intervals(place: Place) -> tuple[str, str]:
    """A line of the first table and one of the second."""
    cell = place.played(place.experiments)
    false, power = told_apart(cell)
    called = decided(cell.tables)
    only, any_called = cell.world.best & (cell.world.best.sum() == 1), called >= 0
    shares = f"{false:.1%} | {(any_called & ~only[called]).mean():.1%} | {any_called.mean():.1%} | {_percent(power)}"
    held = " | ".join((_points(cell), _differences(cell), _flips(cell), _first_wins(cell)))
    return (
        f"{place} {(cell.verdict == 0).mean():.0%} | {shares} |",
        f"{place} {held} | {_percent(_place_favoured(cell, place.few))} |",
    )


def _points(cell: Cell) -> str:
    ends = intervals(cell.tables.seen, np.ones(cell.world.n_queries), cell.world.clusters, (0.0, 1.0))
    return _both(_holds(ends, cell.truth.points))


def _differences(cell: Cell) -> str:
    """Of points, over all pairs."""
    first, second = cell.world.pairs.T
    ones, limits = np.ones(cell.world.n_queries), (-1.0, 1.0)
    ends = intervals(cell.gaps, ones, cell.world.clusters, limits, difference=True)
    return _both(_holds(ends, cell.truth.points[first] - cell.truth.points[second]))


def _flips(cell: Cell) -> str:
    """The interval of the flip rate; none of a single presentation."""
    if cell.judge.presentations == 1:
        return "–"
    rate = cell.judged.flipped.mean(axis=2)
    ends = intervals(rate, np.ones(cell.world.n_queries), cell.world.clusters, (0.0, 1.0))
    return _percent(float(_holds(ends, np.array(cell.truth.flip_rate)).mean()))


def _first_wins(cell: Cell) -> str:
    """The interval of the share of decided rows won by the answer shown first; queries may have none."""
    decided = (cell.judged.outcome != 0).sum(axis=(2, 3)).astype(np.float64)
    first = (cell.judged.to_first == 1).sum(axis=(2, 3)).astype(np.float64)
    ends = [interval(*rows, cell.world.clusters, (0.0, 1.0)) for rows in zip(first, decided, strict=True)]
    return _percent(float(_holds(np.array(ends, dtype=np.float64).T, np.array(cell.truth.first_wins)).mean()))


def _place_favoured(cell: Cell, few: int) -> float:
    """How often the audit says that the judge favours a place (p below 5%); NaN of a single presentation."""
    if cell.judge.presentations == 1:
        return np.nan
    lean = np.sign(cell.judged.to_first.sum(axis=2)) * cell.judged.flipped
    sums = cell.world.clusters.sums(lean.sum(axis=2).astype(np.float64))
    p = [flip_p(row, 7) for row in sums[:few]]
    return float(np.mean([one is not None and one < LEVEL for one in p]))


def _holds(ends: tuple[Floats, Floats, Floats] | Floats, value: Floats) -> Truths:
    return np.asarray((ends[1] <= value + 1e-12) & (value - 1e-12 <= ends[2]))


def _both(inside: Truths) -> str:
    return f"{inside.mean():.1%} ({inside.mean(axis=0).min():.1%})"


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{share:.1%}"


def main() -> None:
    """Print the tables, on all cores."""
    experiments = int(sys.argv[1]) if len(sys.argv) > 1 else EXPERIMENTS
    print("| world | queries | a section | judged | ties | false better or worse | false best | decided ", end="")
    print("| pairs told apart |\n|---|--:|--:|---|--:|--:|--:|--:|--:|")
    held = []
    with ProcessPoolExecutor() as pool:
        for verdict, line in pool.map(verdicts_and_intervals, places(experiments, SIZES, list(JUDGES))):
            print(verdict, flush=True)
            held.append(line)
    print(
        f"\n{experiments:,} experiments a line; queries of a section of five are correlated by .5. How often 95% ",
        end="",
    )
    print("intervals hold the truth, the worst agent or pair in brackets, and how often the audit says that ", end="")
    print(f"a place is favoured ({min(experiments, FEW):,} experiments):\n")
    print("| world | queries | a section | judged | points | differences | flip rate | first shown wins | favoured |")
    print("|---|--:|--:|---|--:|--:|--:|--:|--:|")
    print("\n".join(held))


if __name__ == "__main__":
    main()
