"""Does the gate pass a run that is not worse, and does it find out one that is?

    python -m benchmarks.coverage.gate [EXPERIMENTS]

Baseline and new run are the same agents answering and judged anew: a query is as hard in both (80% of the variance),
the rest is chance, correlated within a section. A drop takes scores to the bottom of their range, query by query. Each
cell is judged without `--max-drop`, and with 0.02, which was the default once. Printed as Markdown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ragassay.arrays import Floats
from ragassay.evaluate.from_files.gate_rows import Gated, Matched, Scale, gate_rows, verdict_of
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.statistics.paired_comparison import pair_by_query

from .comparisons import MEASURES, SKEWED, Scores, drawn

EXPERIMENTS = 400
QUERIES = (50, 200)
LAYOUTS = ((1, 0.0), (5, 0.5))
"""Queries a section, and the correlation within it."""

SHARED = 0.8
"""Of a score's variance, what both runs have in common."""

ONE = (MEASURES[1],)
ALL = (MEASURES[1], MEASURES[4], MEASURES[5], SKEWED[1], SKEWED[1])
"""What the gate takes by itself: MRR and four criteria, two of them nearly perfect."""

OLD = 0.02


@dataclass(frozen=True)
class World:
    """A pair of runs. lost: the chance that the new run's score of a query on the first measure goes to the bottom."""

    n_queries: int
    per_section: int
    correlation: float
    agents: int
    measures: tuple[Scores, ...]
    lost: float = 0.0

    @property
    def clusters(self) -> Clusters:
        """Each query's section."""
        names = [f"{number // self.per_section:04d}" for number in range(self.n_queries)]
        return Clusters.named([f"q{number:04d}" for number in range(self.n_queries)], names)

    @property
    def true_drop(self) -> float:
        """Of the first measure's mean, as a share of its range."""
        return self.lost * self.measures[0].mean / self.measures[0].limits[1]


def runs(world: World, clusters: Clusters, generator: np.random.Generator) -> Iterator[Matched]:
    """Every agent on every measure in one baseline and one new run."""
    for measure, scores in enumerate(world.measures):
        for agent in range(world.agents):
            hard = generator.normal(size=world.n_queries)
            before, after = (_scores(world, scores, hard, generator) for _ in range(2))
            if measure == 0:
                after = np.where(generator.random(world.n_queries) < world.lost, 0.0, after)
            sides = [dict(zip(clusters.queries, side.tolist(), strict=True)) for side in (before, after)]
            pair = pair_by_query(*sides, clusters)
            yield Matched(f"a{agent}", f"m{measure}", *sides, pair, Scale(highest=scores.limits[1]))


def _scores(world: World, scores: Scores, hard: Floats, generator: np.random.Generator) -> Floats:
    own = drawn((world.n_queries,), world.per_section, world.correlation, generator)
    return scores.of(np.sqrt(SHARED) * hard + np.sqrt(1 - SHARED) * own)


def judged(world: World, max_drop: float | None, experiments: int, seed: int = 1) -> list[tuple[Gated, ...]]:
    """The gate's rows in each experiment; the same seed gives the same runs."""
    clusters, found = world.clusters, []
    for experiment in range(experiments):
        generator = np.random.default_rng([seed, experiment, world.n_queries, world.per_section, world.agents])
        found.append(gate_rows(list(runs(world, clusters, generator)), clusters, max_drop)[0])
    return found


def share_of(found: Sequence[Sequence[Gated]], verdict: str) -> float:
    """Of the runs, those with the verdict."""
    return float(np.mean([verdict_of(rows) == verdict for rows in found]))


def tolerated(found: Sequence[Sequence[Gated]]) -> float:
    """The median of what was tolerated on the first measure, as a share of its range (an MRR)."""
    return float(np.median([rows[0].max_drop for rows in found]))


def unchanged(experiments: int) -> Iterator[str]:
    """Lines of Markdown: runs without any change, by the default and by a drop of 0.02."""
    yield "| queries | a section, correlation | rows | tolerated of MRR | passed | worse | passed 0.02 | worse 0.02 |"
    yield "|--:|---|--:|--:|--:|--:|--:|--:|"
    for world in worlds():
        times = experiments if world.agents == 1 else max(1, experiments // 2)
        now, then = (judged(world, max_drop, times) for max_drop in (None, OLD))
        figures = [share_of(rows, verdict) for rows in (now, then) for verdict in ("not worse", "worse")]
        yield f"{_place(world)} | {tolerated(now):.2f} | {' | '.join(f'{share:.1%}' for share in figures)} |"


def dropped(experiments: int) -> Iterator[str]:
    """Lines of Markdown: one row with a true drop of as much as is tolerated, and of twice that."""
    yield "| queries | a section, correlation | --max-drop | true drop | passed with no more tolerated | worse |"
    yield "|--:|---|--:|--:|--:|--:|"
    for world in worlds((ONE,)):
        usual = tolerated(judged(world, None, 100))
        for max_drop, truth in ((None, usual), (None, 2 * usual), (0.05, 0.05), (0.1, 0.1), (0.05, 0.2)):
            changed = World(
                world.n_queries, world.per_section, world.correlation, 1, ONE, truth / world.measures[0].mean
            )
            found = judged(changed, max_drop, experiments, seed=2)
            wrong = np.mean([rows[0].verdict == "not worse" and rows[0].max_drop <= truth + 1e-9 for rows in found])
            given = "none" if max_drop is None else f"{max_drop:g}"
            cells = f"{given} | {changed.true_drop:.2f} | {wrong:.1%} | {share_of(found, 'worse'):.1%}"
            yield f"| {world.n_queries} | {_layout(world)} | {cells} |"


def worlds(of: Sequence[tuple[Scores, ...]] = (ONE, ALL)) -> Iterator[World]:
    """One agent on one measure, and six on five, in every layout."""
    for measures in of:
        for n in QUERIES:
            for each, correlation in LAYOUTS:
                yield World(n, each, correlation, 1 if measures is ONE else 6, measures)


def _place(world: World) -> str:
    return f"| {world.n_queries} | {_layout(world)} | {world.agents * len(world.measures)}"


def _layout(world: World) -> str:
    return f"{world.per_section} at {world.correlation:g}"


def main() -> None:
    """Print both tables."""
    experiments = int(sys.argv[1]) if len(sys.argv) > 1 else EXPERIMENTS
    print("\n".join(unchanged(experiments)))
    print(f"\nRuns without any change, {experiments} pairs of runs a cell, {experiments // 2} of those with 30 rows.\n")
    print("\n".join(dropped(experiments)))
    print(f"\nOne agent on one measure that has become worse, {experiments} pairs of runs a cell.")


if __name__ == "__main__":
    main()
