"""Do the intervals of means and differences, the verdicts and the needed numbers hold what they say?

    python -m benchmarks.coverage.comparisons [EXPERIMENTS]

Each cell draws test sets anew: queries in sections, the scores of a section correlated through a Gaussian copula (the
correlation is that of the underlying normal), most scores at an end of their range. Printed as Markdown: a summary by
kind of figure, the cells out of their bar with a sentence on who meets them, and the whole table.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from benchmarks.sections import drawn_in, in_sections, unequal_layouts
from ragassay.arrays import Floats
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.statistics.clustered import estimate, intervals
from ragassay.evaluate.statistics.paired_comparison import LEVEL, t_p
from ragassay.evaluate.statistics.power import needed_interval, needed_units

EXPERIMENTS = 2000
QUERIES = (30, 50, 100, 200)
LAYOUTS = ((1, 0.0), (5, 0.0), (5, 0.2), (5, 0.5))
"""Queries a section, and the correlation within it."""

STRONG = ((5, 0.8),)
"""Beyond the bar: the questions of a section nearly stand or fall together."""

LOWEST, HIGHEST = 0.93, 0.97
AGENTS = 6
PAIRS = ((1, 1), (1, 2), (4, 5), (3, 3))
"""Of the measures of two agents, places in `MEASURES`."""


@dataclass(frozen=True)
class Scores:
    """What a query can score, and how often; `limits` are the measure's."""

    name: str
    values: tuple[float, ...]
    shares: tuple[float, ...]
    limits: tuple[float, float]

    @property
    def mean(self) -> float:
        """The truth that an interval is to cover."""
        return float(np.dot(self.values, self.shares))

    def of(self, normal: Floats) -> Floats:
        """Standard normals to scores with these shares."""
        from scipy.special import ndtr

        at = np.searchsorted(np.cumsum(self.shares)[:-1], ndtr(normal), side="right")
        scores: Floats = np.asarray(self.values)[at]
        return scores


RECIPROCAL = (0.0, 1 / 5, 1 / 4, 1 / 3, 1 / 2, 1.0)
GAINS = (0.0, 0.387, 0.431, 0.5, 0.631, 0.851, 1.0)
MEASURES = (
    Scores("MRR@5, mean .41", RECIPROCAL, (0.5, 0.02, 0.03, 0.05, 0.1, 0.3), (0.0, 1.0)),
    Scores("MRR@5, mean .58", RECIPROCAL, (0.3, 0.02, 0.03, 0.05, 0.1, 0.5), (0.0, 1.0)),
    Scores("MRR@5, mean .77", RECIPROCAL, (0.12, 0.01, 0.02, 0.05, 0.1, 0.7), (0.0, 1.0)),
    Scores("nDCG@5, mean .68", GAINS, (0.2, 0.03, 0.03, 0.05, 0.09, 0.1, 0.5), (0.0, 1.0)),
    Scores("labels 0-2, mean 1.2", (0.0, 1.0, 2.0), (0.3, 0.2, 0.5), (0.0, 2.0)),
    Scores("labels 0-2, mean 1.7", (0.0, 1.0, 2.0), (0.05, 0.2, 0.75), (0.0, 2.0)),
)
SKEWED = (
    Scores("MRR@5, mean .89", RECIPROCAL, (0.05, 0.005, 0.005, 0.02, 0.07, 0.85), (0.0, 1.0)),
    Scores("labels 0-2, mean 1.9", (0.0, 1.0, 2.0), (0.01, 0.08, 0.91), (0.0, 2.0)),
)
"""Beyond the bar: near-perfect agents, of which few queries say anything."""

CEILING = (
    Scores("nDCG@5, mean .90", GAINS, (0.03, 0.01, 0.01, 0.02, 0.06, 0.17, 0.7), (0.0, 1.0)),
    Scores("nDCG@5, mean .95", GAINS, (0.01, 0.005, 0.005, 0.01, 0.03, 0.1, 0.84), (0.0, 1.0)),
)
"""Nearly all that is not perfect is nearly so: what is far off is easily not seen at all."""

MEAN, SKEWED_MEAN, STRONG_MEAN = "mean", "mean of a near-perfect agent", "mean, correlation 0.8"
CEILING_MEAN = "mean near the ceiling"
UNEQUAL_MEAN, UNEQUAL_DIFFERENCE = "mean, sections of unequal size", "difference, sections of unequal size"
UNEQUAL_VERDICT = "false verdict, 6 equal agents, sections of unequal size"
DIFFERENCE, ONE_WAY = "difference", "difference, few queries differ, the same way"
FALSE_VERDICT, NEEDED = "false verdict, 6 equal agents", "number of queries needed"

BETWEEN = "93% to 97%"
ABOVE, SHORT = "above the bar", "short of the bar"

MET = {
    (MEAN, ABOVE): "With six sections of five questions and labels near the top: the interval is wider than need be.",
    (SKEWED_MEAN, ABOVE): (
        "With up to 50 queries of an agent that is nearly always right: wider than need be. Only the end away from the "
        "limit can miss there, and each end is held to 2.5%."
    ),
    (CEILING_MEAN, ABOVE): "With few queries or sections of an agent that is nearly always right: wider than need be.",
    (SKEWED_MEAN, SHORT): "With an agent that is nearly always right and few sections that hold all of its failures.",
    (UNEQUAL_MEAN, ABOVE): (
        "With 50 or 100 queries of which a few sections have most, or a mean near the top: wider than need be."
    ),
    (UNEQUAL_MEAN, SHORT): (
        "With some large sections whose questions nearly stand or fall together, beside many of one question: the few "
        "large ones that fail are easily all missed."
    ),
    (UNEQUAL_DIFFERENCE, ABOVE): (
        "With a few large sections in which nothing is correlated: the degrees of freedom take them to be."
    ),
    (STRONG_MEAN, ABOVE): "With six or ten sections whose questions nearly stand or fall together: wider than need be.",
    (STRONG_MEAN, SHORT): (
        "With ten or twenty sections whose questions nearly stand or fall together, and an agent that is nearly always "
        "right: the few sections that fail are easily all missed, and the interval is then too near the top."
    ),
    (ONE_WAY, ABOVE): (
        "With agents that answer nearly all queries alike, one never worse: wider than need be, since one or two "
        "queries that differ neither rule out 0 nor tell how many more there are."
    ),
    (ONE_WAY, SHORT): (
        "With agents that differ on a few sections only, whose questions stand or fall together, in a set where one "
        "query in a hundred points the other way."
    ),
    (FALSE_VERDICT, SHORT): "Equal agents are called different too often.",
    (NEEDED, SHORT): "The number of queries said to be needed is surer than it should be.",
}
"""When a user meets the cells of a kind that are out of their bar."""

ELSE = {ABOVE: "The interval is wider than need be.", SHORT: "The interval is too narrow."}
"""Of the other kinds."""


@dataclass(frozen=True)
class Cell:
    """One row: what was simulated, the share that came out so, the bar it is held to and whether it reaches it.

    per_section: how many queries a section has, or the kind of layout in `benchmarks.sections`.
    """

    kind: str
    what: str
    n_queries: int
    per_section: str
    correlation: float
    share: float
    bar: str
    reached: bool
    experiments: int


def drawn(shape: tuple[int, ...], per_section: int, correlation: float, generator: np.random.Generator) -> Floats:
    """Standard normals (*shape), the last axis queries, correlated within each `per_section` that follow another."""
    return drawn_in(shape[:-1], sections(shape[-1], per_section), correlation, generator)


def sections(queries: int, per_section: int) -> Clusters:
    """So many queries in each section."""
    return in_sections([per_section] * (queries // per_section))


def means(experiments: int, seed: int = 1) -> Iterator[Cell]:
    """How often the 95% interval of a mean holds the truth."""
    for number, scores in enumerate((*MEASURES, *SKEWED)):
        for n, (each, correlation) in layouts((*LAYOUTS, *STRONG)):
            generator = np.random.default_rng([seed, number, n, each, round(10 * correlation)])
            values = scores.of(drawn((experiments, n), each, correlation, generator))
            kind = STRONG_MEAN if (each, correlation) in STRONG else SKEWED_MEAN if scores in SKEWED else MEAN
            yield _mean(kind, values, scores, str(each), sections(n, each), correlation)


def means_of_unequal_sections(experiments: int, seed: int = 7) -> Iterator[Cell]:
    """The same with sections of unequal size."""
    for number, scores in enumerate(MEASURES):
        for layout, clusters, correlation in unequal_layouts():
            generator = _of_layout(seed, number, clusters, correlation)
            values = scores.of(drawn_in((experiments,), clusters, correlation, generator))
            yield _mean(UNEQUAL_MEAN, values, scores, layout, clusters, correlation)


def _of_layout(seed: int, number: int, clusters: Clusters, correlation: float) -> np.random.Generator:
    return np.random.default_rng([seed, number, *clusters.sizes.astype(int).tolist(), round(10 * correlation)])


def means_near_the_ceiling(experiments: int, seed: int = 6) -> Iterator[Cell]:
    """The same where nearly all is right: yes and no in sections that stand or fall together, and nDCG of few queries.

    The correlation of yes and no is their own (beta-binomial), and not an underlying normal's.
    """
    for n, rate, correlation in product((50, 100, 200, 400), (0.9, 0.96, 0.98), (0.2, 0.6)):
        generator = np.random.default_rng([seed, n, round(100 * rate), round(10 * correlation)])
        rates = generator.beta(*(np.array([rate, 1 - rate]) * (1 / correlation - 1)), (experiments, n // 5))
        values = (generator.random((experiments, n)) < np.repeat(rates, 5, axis=1)).astype(np.float64)
        scores = Scores(f"yes or no, mean {rate:g}", (0.0, 1.0), (1 - rate, rate), (0.0, 1.0))
        yield _mean(CEILING_MEAN, values, scores, "5", sections(n, 5), correlation)
    for number, scores in enumerate(CEILING):
        for n, (each, correlation) in product((12, 20, 30, 50, 100, 200), ((1, 0.0), (5, 0.2), (5, 0.5), (5, 0.8))):
            if n % each == 0:
                generator = np.random.default_rng([seed, number, n, each, round(10 * correlation)])
                values = scores.of(drawn((experiments, n), each, correlation, generator))
                yield _mean(CEILING_MEAN, values, scores, str(each), sections(n, each), correlation)


def _mean(kind: str, values: Floats, scores: Scores, layout: str, clusters: Clusters, correlation: float) -> Cell:
    """How often the interval of the mean of values (experiments, queries) holds the truth."""
    experiments, n = values.shape
    _, low, high = intervals(values, np.ones(n), clusters, scores.limits)
    covered = float(((low <= scores.mean + 1e-12) & (scores.mean - 1e-12 <= high)).mean())
    return between(kind, scores.name, n, layout, correlation, covered, experiments)


def differences(experiments: int, seed: int = 2) -> Iterator[Cell]:
    """How often the 95% interval of a paired difference holds the truth, of equal agents and of unequal ones."""
    for number, (one, other) in enumerate(PAIRS):
        a, b = MEASURES[one], MEASURES[other]
        for n, (each, correlation) in layouts():
            generator = np.random.default_rng([seed, number, n, each, round(10 * correlation)])
            gaps = paired_gaps(a, b, experiments, sections(n, each), correlation, generator)
            yield _difference(DIFFERENCE, a, b, gaps, str(each), sections(n, each), correlation)


def differences_of_unequal_sections(experiments: int, seed: int = 8) -> Iterator[Cell]:
    """The same with sections of unequal size."""
    for number, (one, other) in enumerate(PAIRS):
        a, b = MEASURES[one], MEASURES[other]
        for layout, clusters, correlation in unequal_layouts():
            generator = _of_layout(seed, number, clusters, correlation)
            gaps = paired_gaps(a, b, experiments, clusters, correlation, generator)
            yield _difference(UNEQUAL_DIFFERENCE, a, b, gaps, layout, clusters, correlation)


def _difference(
    kind: str, a: Scores, b: Scores, gaps: Floats, layout: str, clusters: Clusters, correlation: float
) -> Cell:
    """How often the interval of the mean of gaps (experiments, queries) holds the difference of a and b."""
    width, truth = a.limits[1] - a.limits[0], a.mean - b.mean
    _, low, high = intervals(gaps, np.ones(gaps.shape[1]), clusters, (-width, width), difference=True)
    covered = float(((low <= truth + 1e-12) & (truth - 1e-12 <= high)).mean())
    return between(kind, f"{a.name} - {b.name}", gaps.shape[1], layout, correlation, covered, len(gaps))


def one_way_differences(experiments: int, seed: int = 5) -> Iterator[Cell]:
    """The same where few queries differ, by the whole range, and (almost) all of them the same way."""
    for ahead, back in ((0.05, 0.0), (0.1, 0.0), (0.15, 0.0), (0.2, 0.0), (0.1, 0.01)):
        for n, (each, correlation) in layouts((*LAYOUTS, *STRONG)):
            generator = np.random.default_rng(
                [seed, round(1000 * ahead), round(1000 * back), n, round(10 * correlation)]
            )
            gaps = one_way_gaps(ahead, back, drawn((experiments, n), each, correlation, generator))
            _, low, high = intervals(gaps, np.ones(n), sections(n, each), (-1.0, 1.0), difference=True)
            covered = float(((low <= ahead - back + 1e-12) & (ahead - back - 1e-12 <= high)).mean())
            what = f"{ahead:.0%} of the queries better" + (f", {back:.0%} worse" if back else "")
            yield between(ONE_WAY, what, n, str(each), correlation, covered, experiments)


def one_way_gaps(ahead: float, back: float, normal: Floats) -> Floats:
    """Standard normals to 1 (with probability `ahead`), -1 (`back`) and 0."""
    from scipy.special import ndtri

    gaps: Floats = np.where(normal < ndtri(ahead), 1.0, np.where(normal > ndtri(1 - back), -1.0, 0.0))
    return gaps


def paired_gaps(
    a: Scores, b: Scores, experiments: int, clusters: Clusters, correlation: float, generator: np.random.Generator
) -> Floats:
    """Differences of two agents that find the same queries hard: half of the variance is the query's."""
    hard = np.sqrt(0.5) * generator.normal(size=(experiments, len(clusters.numbers)))
    sides = [hard + np.sqrt(0.5) * drawn_in((experiments,), clusters, correlation, generator) for _ in range(2)]
    return a.of(sides[0]) - b.of(sides[1])


def false_verdicts(experiments: int, seed: int = 3) -> Iterator[Cell]:
    """How often any of the pairs of equal agents is called different, after Holm: the familywise error."""
    for number, scores in enumerate(MEASURES):
        for n, (each, correlation) in layouts():
            generator = np.random.default_rng([seed, number, n, each, round(10 * correlation)])
            clusters = sections(n, each)
            share = _familywise(scores, experiments, clusters, correlation, generator)
            yield _false_verdict(FALSE_VERDICT, scores, clusters, str(each), correlation, share, experiments)


def false_verdicts_of_unequal_sections(experiments: int, seed: int = 9) -> Iterator[Cell]:
    """The same with sections of unequal size."""
    for number, scores in enumerate(MEASURES):
        for layout, clusters, correlation in unequal_layouts():
            generator = _of_layout(seed, number, clusters, correlation)
            share = _familywise(scores, experiments, clusters, correlation, generator)
            yield _false_verdict(UNEQUAL_VERDICT, scores, clusters, layout, correlation, share, experiments)


def _familywise(
    scores: Scores, experiments: int, clusters: Clusters, correlation: float, generator: np.random.Generator
) -> float:
    pairs = np.array(list(combinations(range(AGENTS), 2)))
    wrong = 0
    for start in range(0, experiments, 500):
        shape = (min(500, experiments - start), AGENTS)
        values = clusters.sums(scores.of(drawn_in(shape, clusters, correlation, generator)))
        gaps = values[:, pairs[:, 0]] - values[:, pairs[:, 1]]
        p = t_p(estimate(gaps, clusters.sizes), len(clusters.numbers))
        # Holm calls some pair different just where the smallest p passes Bonferroni.
        wrong += int((np.nanmin(np.where(np.isnan(p), 1.0, p), axis=1) * len(pairs) <= LEVEL).sum())
    return wrong / experiments


def _false_verdict(
    kind: str, scores: Scores, clusters: Clusters, layout: str, correlation: float, share: float, experiments: int
) -> Cell:
    n = len(clusters.numbers)
    return Cell(kind, scores.name, n, layout, correlation, share, "<= 5%", share <= LEVEL, experiments)


def needed(experiments: int, seed: int = 4) -> Iterator[Cell]:
    """How often the interval of the number of queries needed holds it, from pilots of 50."""
    n, level = 50, LEVEL
    for number, (one, other) in enumerate(((1, 2), (0, 1), (0, 2), (4, 5))):
        a, b = MEASURES[one], MEASURES[other]
        for each, correlation in LAYOUTS:
            generator = np.random.default_rng([seed, number, each, round(10 * correlation)])
            many = paired_gaps(a, b, 400, sections(1000, each), correlation, generator)
            of_sections = sections(1000, each).sums(many).ravel() / each
            truth = float(needed_units(np.array(of_sections.mean() / of_sections.std()), level))
            gaps = paired_gaps(a, b, experiments, sections(n, each), correlation, generator)
            found = estimate(sections(n, each).sums(gaps), np.full(n // each, float(each)))
            with np.errstate(invalid="ignore", divide="ignore"):
                t = np.where(found.error > 0, found.value / found.error, 0.0)
            _, low, high = needed_interval(t, found.df, found.n_clusters.astype(np.float64), level)
            covered = float(((low <= truth) & (truth <= high)).mean())
            what = f"{truth * each:.0f} for {a.name} - {b.name}"
            yield Cell(NEEDED, what, n, str(each), correlation, covered, ">= 93%", covered >= LOWEST, experiments)


def layouts(of: Sequence[tuple[int, float]] = LAYOUTS) -> Iterator[tuple[int, tuple[int, float]]]:
    """Every number of queries with every layout."""
    return ((n, layout) for n in QUERIES for layout in of)


def cells(experiments: int = EXPERIMENTS) -> Iterator[Cell]:
    """Every row of the table."""
    yield from means(experiments)
    yield from means_of_unequal_sections(experiments)
    yield from means_near_the_ceiling(experiments)
    yield from differences(experiments)
    yield from differences_of_unequal_sections(experiments)
    yield from one_way_differences(experiments)
    yield from false_verdicts(experiments)
    yield from false_verdicts_of_unequal_sections(experiments)
    yield from needed(experiments)


def between(kind: str, what: str, n: int, layout: str, correlation: float, share: float, experiments: int) -> Cell:
    """A row of an interval, held to `BETWEEN`."""
    reached = LOWEST <= share <= HIGHEST
    return Cell(kind, what, n, layout, correlation, share, BETWEEN, reached, experiments)


def summary(rows: Sequence[Cell]) -> Iterator[str]:
    """Lines of Markdown: a row for each kind of figure."""
    yield "| kind of figure | bar | cells | lowest | highest | out of the bar |"
    yield "|---|---|--:|--:|--:|--:|"
    for kind in dict.fromkeys(row.kind for row in rows):
        own = [row for row in rows if row.kind == kind]
        ends = f"{min(row.share for row in own):.1%} | {max(row.share for row in own):.1%}"
        out = sum(not row.reached for row in own)
        yield f"| {kind} | {own[0].bar} | {len(own)} | {ends} | {out or 'none'} |"


def missed(rows: Sequence[Cell]) -> Iterator[str]:
    """Lines of Markdown: the cells out of the bar by name, and when a user meets them."""
    for kind in dict.fromkeys(row.kind for row in rows):
        out = [row for row in rows if row.kind == kind and not row.reached]
        for side, own in (
            (ABOVE, [row for row in out if _above(row)]),
            (SHORT, [row for row in out if not _above(row)]),
        ):
            if own:
                yield f"\n{kind[0].upper()}{kind[1:]}, {side}. {MET.get((kind, side), ELSE[side])}\n"
                yield from _named(own)


def _above(row: Cell) -> bool:
    return row.bar == BETWEEN and row.share > HIGHEST


def _named(rows: Sequence[Cell]) -> Iterator[str]:
    """A line for the cells of each measure and number of queries."""
    for what, n in dict.fromkeys((row.what, row.n_queries) for row in rows):
        own = [row for row in rows if (row.what, row.n_queries) == (what, n)]
        layouts_there = ", ".join(f"{row.per_section} at {row.correlation:g}: {row.share:.1%}" for row in own)
        yield f"- {what}, {n} queries; a section and correlation {layouts_there}"


def whole(rows: Sequence[Cell]) -> Iterator[str]:
    """Lines of Markdown: every cell."""
    yield "| figure | what | queries | a section | correlation | share | bar | |"
    yield "|---|---|--:|--:|--:|--:|---|---|"
    for row in rows:
        place = f"{row.n_queries} | {row.per_section} | {row.correlation:g}"
        mark = "" if row.reached else "missed"
        yield f"| {row.kind} | {row.what} | {place} | {row.share:.1%} | {row.bar} | {mark} |"


def main() -> None:
    """Print the tables as Markdown, the summary first."""
    experiments = int(sys.argv[1]) if len(sys.argv) > 1 else EXPERIMENTS
    rows = list(cells(experiments))
    lines = [
        *summary(rows),
        *missed(rows),
        f"\nEvery cell, {experiments:,} simulated experiments each:\n",
        *whole(rows),
    ]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
