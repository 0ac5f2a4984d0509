"""Does the verdict decide, name no wrong best, keep each true best, and say what choosing the leader may lose?

    python -m benchmarks.coverage.verdict [EXPERIMENTS]

Games are drawn from shares of wins, ties being what is left: those of Table 5 of the RAGElo paper, and worlds whose
best agents are equal. Each pair's games follow a standard normal a query; correlated, the normals of a section share
half of their variance. Then two equal agents of which one fails where it would do badly, and two agents that differ by
less than matters, by as much, and not at all.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.coverage.comparisons import MEASURES, drawn, sections
from ragassay.arrays import Floats, Ints, Truths
from ragassay.evaluate.figures.failures_at_bottom import withhold_pairs
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.ratings.standing import LEVEL_LEADER, Standing, stand
from ragassay.evaluate.statistics.clustered import Values, estimate
from ragassay.evaluate.statistics.holm import holm
from ragassay.evaluate.statistics.paired_comparison import LEVEL, compare_pairs, pair_by_query, t_p

EXPERIMENTS = 2000
TABLE_5 = Path(__file__).parents[2] / "tests" / "data" / "paper_tables" / "ragelo_table5_wins.csv"
ALONE, TOGETHER = (1, 0.0), (5, 0.5)
"""Queries a section, and the correlation within it."""

FAR = 0.8
"""The share of its games that an equal best agent wins against one that is far behind."""


@dataclass(frozen=True)
class World:
    """wins: (agents, agents), the share of its games that row wins against column; the rest of a pair's are ties."""

    wins: Floats
    n_queries: int
    per_section: int
    correlation: float

    @property
    def n_agents(self) -> int:
        """How many agents there are."""
        return len(self.wins)

    @property
    def truth(self) -> Floats:
        """(agents,): the share of all its games that each wins."""
        share: Floats = self.wins.sum(axis=1) / (self.n_agents - 1)
        return share

    @property
    def best(self) -> Truths:
        """(agents,): which are the best, several where they are equal."""
        return np.asarray(self.truth > self.truth.max() - 1e-9)

    @property
    def clusters(self) -> Clusters:
        """The sections of the queries."""
        return sections(self.n_queries, self.per_section)


def table_5() -> Floats:
    """The shares that the paper prints."""
    with TABLE_5.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    return np.array([[float(cell or 0) / 100 for cell in row[1:]] for row in rows])


def equal_best(n_agents: int, n_best: int, won: float) -> Floats:
    """The first `n_best` win `won` of their games against each other and FAR against the rest, who are equal too."""
    wins = np.full((n_agents, n_agents), won)
    wins[:n_best, n_best:], wins[n_best:, :n_best] = FAR, (1 - FAR) / 2
    np.fill_diagonal(wins, 0)
    return wins


def play(world: World, experiments: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """(experiments, agents, queries) twice: the shares of its games that each won, and the same with ties as halves."""
    from scipy.special import ndtri

    won = np.zeros((experiments, world.n_agents, world.n_queries))
    points = np.zeros_like(won)
    for one, other in combinations(range(world.n_agents), 2):
        shape = (experiments, world.n_queries)
        normal = drawn(shape, world.per_section, world.correlation, generator)
        first, second = normal < ndtri(world.wins[one, other]), normal > ndtri(1 - world.wins[other, one])
        for agent, ahead, behind in ((one, first, second), (other, second, first)):
            won[:, agent] += ahead
            points[:, agent] += (1.0 + ahead - behind) / 2
    return won / (world.n_agents - 1), points / (world.n_agents - 1)


def values_of(rates: Floats) -> dict[str, Values]:
    """Agent to query to value of (agents, queries), NaN where there is none; names in the order of `sections`."""
    return {
        str(agent): {str(query): None if np.isnan(value) else value for query, value in enumerate(row.tolist())}
        for agent, row in enumerate(rates)
    }


def standing(rates: Floats, points: Floats, clusters: Clusters) -> Standing:
    """Of one experiment, (agents, queries): agents stand by their points, as by Bradley-Terry with all games played."""
    order = np.argsort(-np.nanmean(points, axis=1), kind="stable")
    return stand([str(agent) for agent in order], values_of(rates), clusters, 7)


@dataclass(frozen=True)
class Tally:
    """Means over experiments: whether the leader was decided, by Holm over all pairs, wrongly, was a best agent; how
    many true bests were among the possible ones, how many these were; claimed and true regret."""

    decided: float
    by_holm: float
    wrong: float
    right: float
    covered: float
    size: float
    claimed: float
    lost: float


def tally(world: World, experiments: int, generator: np.random.Generator) -> Tally:
    """By the code of the verdict itself."""
    rows = []
    for _ in range(experiments):
        won, points = (part[0] for part in play(world, 1, generator))
        found = standing(won, points, world.clusters)
        leader, possible = int(found.leader), {int(agent) for agent in found.possible_best}
        rows.append(
            (
                found.decided,
                _by_holm(won, leader, world),
                found.decided and _is_wrong(world, leader),
                world.best[leader],
                np.mean([agent in possible for agent in np.flatnonzero(world.best)]),
                len(possible),
                found.expected_regret or 0.0,
                world.truth.max() - world.truth[leader],
            )
        )
    return Tally(*np.mean(np.array(rows, dtype=np.float64), axis=0).tolist())


def _is_wrong(world: World, leader: int) -> bool:
    """Whether it is wrong to call `leader` the best: another is better or as good."""
    return not world.best[leader] or int(world.best.sum()) > 1


def _by_holm(won: Floats, leader: int, world: World) -> bool:
    """Whether the leader is told from each other by tests corrected over all pairs, as the verdict was made before."""
    pairs = list(combinations(range(world.n_agents), 2))
    sums, sizes = world.clusters.sums(won), world.clusters.sizes
    found = [estimate(sums[a] - sums[b], sizes) for a, b in pairs]
    adjusted = holm([float(np.nan_to_num(t_p(one, world.n_queries), nan=1.0)) for one in found])
    return all(
        p is not None and p <= LEVEL and (one.value > 0) == (pair[0] == leader)
        for pair, one, p in zip(pairs, found, adjusted, strict=True)
        if leader in pair
    )


def false_best(world: World, experiments: int, generator: np.random.Generator, at_once: int = 200) -> float:
    """How often any agent is called the best that is not the only best."""
    wrong = 0
    for start in range(0, experiments, at_once):
        called = called_best(*play(world, min(at_once, experiments - start), generator), world.clusters)
        wrong += sum(_is_wrong(world, agent) for agent in called[called >= 0].tolist())
    return wrong / experiments


def called_best(won: Floats, points: Floats, clusters: Clusters) -> Ints:
    """(experiments,): the agent that is called the best, or -1; of (experiments, agents, queries), as `play` gives.

    Only experiments that pass the t-test are given to the verdict's code.
    """
    sums, rows = clusters.sums(won), np.arange(len(won))
    leader = points.mean(axis=-1).argmax(axis=1)
    passed = np.ones(len(won), dtype=bool)
    for agent in range(won.shape[1]):
        found = estimate(sums[rows, leader] - sums[:, agent], np.broadcast_to(clusters.sizes, sums[:, 0].shape))
        passed &= (leader == agent) | ~(t_p(found, won.shape[-1]) > LEVEL_LEADER)
    called = np.full(len(won), -1)
    for index in np.flatnonzero(passed):
        found_one = standing(won[index], points[index], clusters)
        if found_one.decided:
            called[index] = int(found_one.leader)
    return called


def table_cells(experiments: int) -> Iterator[str]:
    """Table 5, and worlds of equal agents, by the whole verdict."""
    cells = [("Table 5", table_5(), n, layout) for n in (50, 100, 200, 400) for layout in (ALONE, TOGETHER)]
    cells += [("two equal best", equal_best(6, 2, 0.4), n, layout) for n in (60, 200) for layout in (ALONE, TOGETHER)]
    cells += [("six equal", equal_best(6, 6, 0.4), n, layout) for n in (60, 200) for layout in (ALONE, TOGETHER)]
    for name, wins, n, (each, correlation) in cells:
        world = World(wins, n, each, correlation)
        one = tally(world, experiments, np.random.default_rng([11, n, each, int(world.best.sum())]))
        wrong = f"{one.wrong:.1%}" if name == "Table 5" else "below"
        yield (
            f"| {name} | {n} | {each} | {correlation:g} | {one.by_holm:.1%} | {one.decided:.1%} | {wrong} | "
            f"{one.right:.1%} | {one.covered:.1%} | {one.size:.2f} | {100 * one.claimed:.2f} | {100 * one.lost:.2f} |"
        )


WORST = (
    ("two of six, a fifth tied", 6, 0.4),
    ("two of six, none tied", 6, 0.5),
    ("two of two, a fifth tied", 2, 0.4),
    ("two of two, none tied", 2, 0.5),
)


def worst_cells(experiments: int) -> Iterator[str]:
    """Two equal best agents, and how often one of them is called the best."""
    for name, n_agents, won in WORST:
        shares = []
        for n, (each, correlation) in (
            *((n, ALONE) for n in (12, 30, 60, 200, 400)),
            *((n, TOGETHER) for n in (30, 60, 200, 400)),
            (60, (6, 0.5)),
        ):
            world = World(equal_best(n_agents, 2, won), n, each, correlation)
            generator = np.random.default_rng([12, n_agents, round(10 * won), n, each])
            shares.append(f"{false_best(world, experiments, generator):.1%}")
        yield f"| {name} | {' | '.join(shares)} |"


def failing_cells(experiments: int) -> Iterator[str]:
    """Two equal agents, one of which fails on half of the queries on which it would score 0: called better, before and
    now; called worse now."""
    for scores in MEASURES[:4]:
        for n, (each, correlation) in ((100, ALONE), (200, ALONE), (200, TOGETHER)):
            generator, clusters = np.random.default_rng([13, n, each]), sections(n, each)
            before, ahead, behind = 0, 0, 0
            for _ in range(experiments):
                values = scores.of(drawn((2, n), each, correlation, generator))
                fails = (values[0] == 0) & (generator.random(n) < 0.5)
                left_out = np.where([fails, np.zeros(n, dtype=bool)], np.nan, values)
                plain = compare_pairs("m", values_of(left_out), clusters)
                low = compare_pairs("m", values_of(values), clusters)
                now = withhold_pairs(plain, low, {"0": [str(q) for q in np.flatnonzero(fails)]})[0].verdict
                before += plain[0].verdict == "better"
                ahead, behind = ahead + (now == "better"), behind + (now == "worse")
            shares = " | ".join(f"{count / experiments:.1%}" for count in (before, ahead, behind))
            yield f"| {scores.name} | {n} | {each} | {correlation:g} | {shares} |"


def failing_leader_cells(experiments: int) -> Iterator[str]:
    """Two equal best agents of six, one of which fails on half of the queries on which it wins no game."""
    for n in (100, 200):
        world = World(equal_best(6, 2, 0.4), n, 1, 0.0)
        generator, before, now = np.random.default_rng([14, n]), 0, 0
        for _ in range(experiments):
            scores = _games(world, generator)
            fails = (scores[0, 1:] < 1).all(axis=0) & (generator.random(n) < 0.5)
            plain = _rated(np.where(fails & _of(0, 6), np.nan, scores), world)
            low = _rated(np.where(fails & _of(0, 6), _lost(0, 6), scores), world)
            before += plain.decided and plain.leader == "0"
            now += plain.decided and low.decided and plain.leader == low.leader == "0"
        yield f"| {n} | {before / experiments:.1%} | {now / experiments:.1%} |"


def _games(world: World, generator: np.random.Generator) -> Floats:
    """(agents, agents, queries): 1, 0.5 or 0 for the row's agent; NaN of an agent against itself."""
    n, table = world.n_agents, np.full((world.n_agents, world.n_agents, world.n_queries), np.nan)
    for a, b in combinations(range(n), 2):
        luck = generator.random(world.n_queries)
        table[a, b] = np.where(luck < world.wins[a, b], 1.0, np.where(luck > 1 - world.wins[b, a], 0.0, 0.5))
        table[b, a] = 1 - table[a, b]
    return table


def _of(agent: int, n: int) -> Truths:
    """(n, n, 1): the games of an agent."""
    which = np.zeros((n, n, 1), dtype=bool)
    which[agent], which[:, agent] = True, True
    return which


def _lost(agent: int, n: int) -> Floats:
    """(n, n, 1): every game of an agent as lost."""
    scores = np.full((n, n, 1), np.nan)
    scores[agent], scores[:, agent], scores[agent, agent] = 0.0, 1.0, np.nan
    return scores


def _rated(scores: Floats, world: World) -> Standing:
    """By the mean of each agent's games a query; agents stand by their points."""
    played = np.maximum((~np.isnan(scores)).sum(axis=1), 1)
    none = np.isnan(scores).all(axis=1)
    rates = np.where(none, np.nan, (scores == 1).sum(axis=1) / played)
    points = np.where(none, np.nan, np.nansum(scores, axis=1) / played)
    return standing(rates, points, world.clusters)


def equal_cells(experiments: int, matters: float = 0.05) -> Iterator[str]:
    """Two agents and games of which a fifth are ties: how often they are called practically equal, within 5 points."""
    for n, (each, correlation) in ((800, ALONE), (1600, ALONE), (3200, ALONE), (3200, TOGETHER)):
        shares = []
        for difference in (0.0, matters / 2, matters):
            generator, clusters = np.random.default_rng([15, n, each, round(1000 * difference)]), sections(n, each)
            equal = 0
            for _ in range(experiments):
                normal = drawn((n,), each, correlation, generator)
                values = values_of(_won(normal, 0.4 + difference / 2, 0.4 - difference / 2))
                equal += pair_by_query(values["0"], values["1"], clusters).is_within(matters, 1.0)
            shares.append(f"{equal / experiments:.1%}")
        yield f"| {n} | {each} | {correlation:g} | {' | '.join(shares)} |"


def _won(normal: Floats, first: float, second: float) -> Floats:
    """(2, queries): who won, from standard normals."""
    from scipy.special import ndtri

    return np.array([normal < ndtri(first), normal > ndtri(1 - second)], dtype=np.float64)


def main() -> None:
    """Print the tables; a line of the slower ones stands for a fifth of the experiments, a false best for more."""
    experiments = int(sys.argv[1]) if len(sys.argv) > 1 else EXPERIMENTS
    few, many = experiments // 5, 4 * experiments
    print("| world | queries | a section | correlation | decided with Holm over all pairs | decided | wrong ", end="")
    print("| leader right | true bests among the possible | how many possible | regret: said | true |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    _print(table_cells(few))
    print(
        f"\n{few:,} experiments a line; regrets in points of win rate. How often one of two equal best agents is ",
        end="",
    )
    print(
        f"called the best, {many:,} experiments a cell (bar: 5%), by queries, and queries a section correlated by .5:\n"
    )
    print("| world | 12 | 30 | 60 | 200 | 400 | 30, by 5 | 60, by 5 | 200, by 5 | 400, by 5 | 60, by 6 |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    _print(worst_cells(many))
    print(f"\nTwo equal agents, one fails on half of the queries where it would score 0, {few:,} experiments a line:\n")
    print("| measure | queries | a section | correlation | failing one better, left out | as it is said now | worse |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    _print(failing_cells(few))
    print(f"\nTwo equal best of six, one fails on half of the queries where it wins no game, {few:,} experiments:\n")
    print("| queries | failing one called the best, left out | as it is said now |\n|--:|--:|--:|")
    _print(failing_leader_cells(few))
    print(f"\nCalled practically equal, 5 points matter, {few:,} experiments a cell; at 5 points at most 5%:\n")
    print("| queries | a section | correlation | no difference | 2.5 points | 5 points |\n|--:|--:|--:|--:|--:|--:|")
    _print(equal_cells(few))


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
