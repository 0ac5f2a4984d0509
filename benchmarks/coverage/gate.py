"""Does the gate pass a run that is not worse, and does it find out one that is?

    python -m benchmarks.coverage.gate [EXPERIMENTS]

Baseline and new run are the same agents answering and judged anew: a query is as hard in both (80% of the variance),
the rest is chance, correlated within a section. A drop takes scores to the bottom of their range, query by query. In
the last table nothing is chance: a query's score is the same in both runs, or goes to an end of the range. Printed as
Markdown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ragassay.arrays import Floats
from ragassay.evaluate.figures.values import Scale
from ragassay.evaluate.from_files.gate import TOLERATED, Gated, Matched, gate_rows, verdict_of
from ragassay.evaluate.inputs.clusters import Clusters

from .comparisons import MEASURES, SKEWED, Scores

EXPERIMENTS = 400
QUERIES = (30, 100, 200)
ENOUGH = 4000
"""So many queries show that a run without any change drops by less than 2% of MRR."""

ZIPF = 0
"""In place of the queries of each section: the sections' sizes fall as 1 / rank."""

LAYOUTS = ((1, 0.0), (5, 0.5), (ZIPF, 0.5))
"""Queries a section, and the correlation within it."""

SHARED = 0.8
"""Of a score's variance, what both runs have in common."""

ONE = (MEASURES[1],)
ALL = (MEASURES[1], MEASURES[4], MEASURES[5], SKEWED[1], SKEWED[1])
"""What the gate takes by itself: MRR and four criteria, two of them nearly perfect."""

DROP = 0.096
"""Of every agent's MRR, in the second table."""

VERDICTS = ("not worse", "undecided", "worse")


@dataclass(frozen=True)
class World:
    """A pair of runs. lost, won: the chance that the new run's score of a query on the first measure goes to the bottom
    or to the top. chance: whether scores differ by chance too."""

    n_queries: int
    per_section: int
    correlation: float
    agents: int
    measures: tuple[Scores, ...]
    lost: float = 0.0
    won: float = 0.0
    chance: bool = True

    @property
    def clusters(self) -> Clusters:
        """Each query's section."""
        return Clusters.named([f"q{number:05d}" for number in range(self.n_queries)], self._sections())

    def _sections(self) -> list[str]:
        if self.per_section:
            return [f"{number // self.per_section:05d}" for number in range(self.n_queries)]
        names: list[str] = []
        for rank in range(1, self.n_queries + 1):
            names += [f"{rank:05d}"] * max(1, round(self.n_queries / 5 / rank))
        return names[: self.n_queries]

    @property
    def true_drop(self) -> float:
        """Of the first measure's mean, in its own unit."""
        first = self.measures[0]
        return self.lost * first.mean - self.won * (first.limits[1] - first.mean)


def runs(world: World, clusters: Clusters, generator: np.random.Generator) -> Iterator[Matched]:
    """Every agent on every measure in one baseline and one new run."""
    for measure, scores in enumerate(world.measures):
        for agent in range(world.agents):
            hard = generator.normal(size=world.n_queries)
            before = _scores(world, clusters, scores, hard, generator)
            after = _scores(world, clusters, scores, hard, generator) if world.chance else before
            if measure == 0:
                fate = generator.random(world.n_queries)
                after = np.where(fate < world.lost, 0.0, np.where(fate > 1 - world.won, scores.limits[1], after))
            sides = [dict(zip(clusters.queries, side.tolist(), strict=True)) for side in (before, after)]
            yield Matched(f"a{agent}", f"m{measure}", *sides, Scale(highest=scores.limits[1]))


def _scores(world: World, clusters: Clusters, scores: Scores, hard: Floats, generator: np.random.Generator) -> Floats:
    shared = generator.normal(size=len(clusters.names))[clusters.numbers]
    own = generator.normal(size=world.n_queries)
    luck = np.sqrt(world.correlation) * shared + np.sqrt(1 - world.correlation) * own
    return scores.of(np.sqrt(SHARED) * hard + np.sqrt(1 - SHARED) * luck)


def judged(world: World, max_drop: float | None, experiments: int, seed: int = 1) -> list[tuple[Gated, ...]]:
    """The gate's rows in each experiment; the same seed gives the same runs."""
    clusters, found = world.clusters, []
    for experiment in range(experiments):
        generator = np.random.default_rng([seed, experiment, world.n_queries, world.per_section, world.agents])
        found.append(gate_rows(list(runs(world, clusters, generator)), clusters, max_drop))
    return found


def shares(found: Sequence[Sequence[Gated]]) -> str:
    """Of the runs, those with each verdict, as cells."""
    verdicts = [verdict_of(rows) for rows in found]
    return " | ".join(f"{verdicts.count(one) / len(verdicts):.1%}" for one in VERDICTS)


def middle(found: Sequence[Sequence[Gated]], figure: str) -> float:
    """The median of a figure of the first row."""
    return float(np.median([value for rows in found if (value := getattr(rows[0], figure)) is not None]))


def unchanged(experiments: int) -> Iterator[str]:
    """Lines of Markdown: runs without any change."""
    yield f"| queries | a section, correlation | rows | tolerated | {' | '.join(VERDICTS)} | could pass | needed |"
    yield "|--:|---|--:|--:|--:|--:|--:|--:|--:|"
    for world in [*worlds((ONE, ALL)), World(ENOUGH, 1, 0.0, 1, ONE)]:
        times = max(1, experiments // (1 if world.agents == 1 else 2))
        for max_drop in (None, 0.1):
            found = judged(world, max_drop, times)
            of = f"{world.agents * len(world.measures)} | {_given(max_drop)}"
            least, needed = middle(found, "passes"), middle(found, "needed")
            yield f"{_place(world)} | {of} | {shares(found)} | {least:.3f} | {needed:,.0f} |"


def all_down(experiments: int) -> Iterator[str]:
    """Lines of Markdown: every agent's MRR down by as much."""
    yield f"| queries | a section, correlation | {' | '.join(VERDICTS)} |"
    yield "|--:|---|--:|--:|--:|"
    for world in worlds((ALL,)):
        changed = _with_drop(world, DROP)
        yield f"{_place(changed)} | {shares(judged(changed, None, max(1, experiments // 2), seed=3))} |"


def at_the_tolerance(experiments: int) -> Iterator[str]:
    """Lines of Markdown: one row with a true drop of as much as is tolerated, and of more."""
    yield f"| queries | a section, correlation | tolerated | true drop | {' | '.join(VERDICTS)} |"
    yield "|--:|---|--:|--:|--:|--:|--:|"
    for world in [*worlds((ONE,)), World(ENOUGH, 1, 0.0, 1, ONE)]:
        for max_drop, truth in ((None, TOLERATED), (0.05, 0.05), (0.1, 0.1), (0.05, 0.2)):
            found = judged(_with_drop(world, truth), max_drop, experiments, seed=2)
            yield f"{_place(world)} | {_given(max_drop)} | {truth:.2f} | {shares(found)} |"


def few_changed(experiments: int) -> Iterator[str]:
    """Lines of Markdown: nothing is chance but which few queries changed; apart, runs in which none did."""
    yield f"| queries | tolerated | true drop | lost, won | {' | '.join(VERDICTS)} | of these no query changed |"
    yield "|--:|--:|--:|---|--:|--:|--:|--:|"
    for n in (*QUERIES, 1000):
        for max_drop, drop, won in (
            (None, 0.0, 0.01),
            (None, TOLERATED, 0.0),
            (None, TOLERATED, 0.02),
            (0.05, 0.05, 0.02),
        ):
            first = ONE[0]
            lost = (drop + won * (1 - first.mean)) / first.mean
            world = World(n, 1, 0.0, 1, ONE, lost, won, chance=False)
            found = judged(world, max_drop, experiments, seed=4)
            same = np.mean([rows[0].unchanged for rows in found])
            cells = f"{_given(max_drop)} | {world.true_drop:.2f} | {lost:.1%}, {won:.0%}"
            yield f"| {n} | {cells} | {shares(found)} | {same:.1%} |"


def worlds(of: Sequence[tuple[Scores, ...]]) -> Iterator[World]:
    """One agent on one measure, or six on five, in every layout."""
    for measures in of:
        for n in QUERIES:
            for each, correlation in LAYOUTS:
                yield World(n, each, correlation, 1 if measures is ONE else 6, measures)


def _with_drop(world: World, drop: float) -> World:
    lost = drop / world.measures[0].mean
    return World(world.n_queries, world.per_section, world.correlation, world.agents, world.measures, lost)


def _given(max_drop: float | None) -> str:
    return "2%" if max_drop is None else f"--max-drop {max_drop:g}"


def _place(world: World) -> str:
    return f"| {world.n_queries} | {world.per_section or 'Zipf'} at {world.correlation:g}"


def main() -> None:
    """Print the tables."""
    experiments = int(sys.argv[1]) if len(sys.argv) > 1 else EXPERIMENTS
    print("\n".join(unchanged(experiments)))
    print(f"\nRuns without any change, {experiments} pairs of runs a cell, {experiments // 2} of those with 30 rows.\n")
    print("\n".join(all_down(experiments)))
    print(f"\nEvery agent's MRR down by {DROP:g}, 30 rows, {experiments // 2} pairs of runs a cell.\n")
    print("\n".join(at_the_tolerance(experiments)))
    print(f"\nOne agent on one measure that has become worse, {experiments} pairs of runs a cell.\n")
    print("\n".join(few_changed(experiments)))
    print(f"\nThe same without chance: only few queries changed, {experiments} pairs of runs a cell.")


if __name__ == "__main__":
    main()
