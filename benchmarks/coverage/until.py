"""Does a run that ends once it is decided err no more than one of fixed length, and how many queries does it take?

    python -m benchmarks.coverage.until [EXPERIMENTS]

Games as in `benchmarks.coverage.verdict`. A run looks ten times, at whole sections, until 400 queries are in; at each
look the product's ladder is held to what Kim and DeMets's spending leaves it. Who is told from the leader stays told.
"best" ends a run when all others are told, "good enough" when no other may be better by the margin of 5 points. Beside
stand the same looks with the bounds of a fixed run ("naive"), O'Brien and Fleming's spending, and the fixed run itself,
looked at once at its end. Games saved are those between two agents told, which no look needs.

With `[run] eliminate = "answers"` agents told are asked every other batch only (`looks.passed_over`): their games on
the other queries are not played, and the product's points are of those that are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from benchmarks.coverage.verdict import FIVE, MARGIN, PLACE, SEED, TWO_OF_SIX, TWO_OF_TWO, Cell, batches, print_lines
from benchmarks.ratings.tournaments import Scores, Tables, World, equal_best, one_ahead
from ragassay.arrays import Floats, Ints, Truths
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.looks import passed_over
from ragassay.evaluate.ratings.verdicts import points_of
from ragassay.evaluate.statistics.ladder import Look, Spending, holm_from_leader, whole_sections
from ragassay.records import Winner

EXPERIMENTS = 1000
LOOKS = 10
N = 400


@dataclass(frozen=True)
class Ended:
    """A run. best, good_enough: after how many queries it was decided, or safe, and for whom; None where it never was.

    games: share of all games until it was decided that were played, those between two agents told left out.
    """

    best: tuple[int, int] | None
    good_enough: tuple[int, int] | None
    games: float


def run(tables: Tables, experiment: int, ends: tuple[int, ...], spending: Spending | None) -> Ended:
    """Look until both are known. spending: None for the bounds of a fixed run at each look."""
    n_agents = tables.seen.shape[1]
    told = np.zeros(n_agents, bool)
    best = good_enough = None
    played, last, every = 0.0, 0, n_agents * (n_agents - 1) / 2
    for at, end in enumerate(ends):
        played += (end - last) * (1 - told.sum() * (told.sum() - 1) / 2 / every)
        last = end
        seen, clusters = tables.seen[experiment, :, :end], _first(tables.clusters, end)
        order = _order(seen, told)
        look = Look(ends, at, spending) if spending else None
        found = holm_from_leader(seen[order], clusters, SEED, look=look, before=told[order[1:]])
        told[order[1:]] |= found.told
        if good_enough is None and found.n_sections >= 6 and (found.low > -MARGIN).all():
            good_enough = (end, int(order[0]))
        if told.sum() == n_agents - 1:
            best = (end, int(order[0]))
            break
    return Ended(best, good_enough or best, played / last)


def _first(clusters: Clusters, n: int) -> Clusters:
    return clusters.of(clusters.queries[:n])


def _order(seen: Floats, told: Truths) -> Ints:
    """Best first, and behind them those told."""
    means = np.round(np.nanmean(seen, axis=1), 9)
    return np.argsort(-np.where(told, means - 2, means), kind="stable")


def runs(cell: Cell, experiments: int, looks: int, spending: Spending | None) -> Iterator[Ended]:
    """Of one world."""
    for tables in batches(cell.world, experiments, cell.seed):
        sizes = np.bincount(tables.clusters.numbers).tolist()
        ends = whole_sections(sizes, looks)
        for experiment in range(len(tables.seen)):
            yield run(tables, experiment, ends, spending)


def wrong_cells() -> Iterator[Cell]:
    """Worlds without a best agent: to be decided is wrong."""
    for luck in (0.0, 0.4, 0.8):
        yield Cell("two of two", World(TWO_OF_TWO, N, luck=luck))
        yield Cell("two of six", World(TWO_OF_SIX, N, luck=luck))
    for layout, icc in (("by 5", 0.5), ("1 to 10", 0.2), ("1 to 10", 0.5), ("1 to 10", 0.8), ("Zipf", 0.5)):
        yield Cell("two of two", World(TWO_OF_TWO, N, layout, icc))
        yield Cell("two of six", World(TWO_OF_SIX, N, layout, icc, 0.4))
    yield Cell("six equal", World(equal_best(6, 6, 0.4), N, luck=0.4))
    yield Cell("six equal", World(equal_best(6, 6, 0.4), N, "1 to 10", 0.5, 0.4))
    yield Cell("two of 20", World(equal_best(20, 2, 0.4), N, luck=0.4))


def wrong_lines(experiments: int) -> Iterator[str]:
    """How often a run ends with a best agent where there is none."""
    yield f"{PLACE} decided, wrongly | O'Brien–Fleming | naive |\n|---|--:|---|--:|--:|--:|--:|--:|"
    shares, over = [], 5 + 200 * np.sqrt(0.05 * 0.95 / experiments)
    for cell in wrong_cells():
        beside: list[Spending | None] = ["obrien-fleming", None] if cell.world.layout == "alone" else []
        n = experiments if len(cell.world.wins) < 20 else experiments // 4
        ways = ["kim-demets", *beside] if n == experiments else ["kim-demets"]
        told = [100 * np.mean([one.best is not None for one in runs(cell, n, LOOKS, way)]) for way in ways]
        shares.append(told[0])
        yield f"{cell} {' | '.join(f'{one:.1f}' for one in told)} |{' |' * (3 - len(told))}"
    missed = sum(share > over for share in shares)
    ends = f"{min(shares):.1f}% to {max(shares):.1f}%, {missed or 'none'} over {over:.1f}%"
    yield f"\n{len(shares)} cells of {experiments:,} runs (a quarter of it with 20 agents): {ends}."


def margin_lines(experiments: int) -> Iterator[str]:
    """How often a run ends "good enough" with an agent that another is ahead of by just the margin."""
    yield f"{PLACE} good enough, wrongly | ended |\n|---|--:|---|--:|--:|--:|--:|"
    for n_agents in (2, 6, 12):
        for layout, icc in (("alone", 0.0), ("1 to 10", 0.5), ("Zipf", 0.5)):
            cell = Cell(
                f"one of {n_agents} ahead by the margin", World(one_ahead(n_agents, MARGIN), N, layout, icc, 0.4)
            )
            found = [one.good_enough for one in runs(cell, experiments, LOOKS, "kim-demets")]
            wrong = np.mean([one is not None and one[1] != 0 for one in found])
            yield f"{cell} {100 * wrong:.1f} | {100 * np.mean([one is not None for one in found]):.1f} |"


WAYS: dict[str, Callable[[Ended], tuple[int, int] | None]] = {
    "best": lambda one: one.best,
    "good enough": lambda one: one.good_enough,
}


def power_lines(experiments: int) -> Iterator[str]:
    """How many queries a run takes, and what fixed ones decide."""
    yield "| world | until | ended | queries, mean / 90% | design | O'Brien–Fleming | fixed: all / as many |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    for name, wins, design in (
        ("Table 5", FIVE, {"best": "49.6%, 341", "good enough": "98%, 189"}),
        ("10 points ahead", one_ahead(6, 0.1), {"best": "99.0%, 220 / 320"}),
        ("14 points ahead", one_ahead(6, 0.14), {"best": "all, 139 / 200"}),
        ("two of six", TWO_OF_SIX, {"good enough": "241"}),
        ("six equal", equal_best(6, 6, 0.4), {"good enough": "92%, 335"}),
    ):
        cell = Cell(name, World(wins, N, luck=0.4))
        early, late = (list(runs(cell, experiments, LOOKS, way)) for way in ("kim-demets", "obrien-fleming"))
        once = list(runs(cell, experiments, 1, None))
        for until in WAYS:
            share, took = _ended(early, until)
            share_late, took_late = _ended(late, until)
            as_many = World(wins, max(12, round(float(took.mean()))), luck=0.4)
            fixed = [
                100 * _ended(some, until)[0] for some in (once, list(runs(Cell(name, as_many), experiments, 1, None)))
            ]
            yield (
                f"| {name} | {until} | {share:.1%} | {took.mean():.0f} / {np.percentile(took, 90):.0f} | "
                f"{design.get(until, '')} | {share_late:.1%}, {took_late.mean():.0f} | "
                f"{fixed[0]:.1f}% / {fixed[1]:.1f}% |"
            )
        yield f"| {name} | games until best | {np.mean([one.games for one in early]):.0%} of all | | | | |"


def _ended(found: Sequence[Ended], until: str) -> tuple[float, Floats]:
    """The share of the runs that ended, and how many queries each took."""
    ends = [WAYS[until](one) for one in found]
    return float(np.mean([end is not None for end in ends])), np.array([end[0] if end else N for end in ends])


class Game(NamedTuple):
    """A game with a verdict, as `points_of` takes it."""

    query_id: str
    agent_a: str
    agent_b: str
    winner: Winner


@dataclass(frozen=True)
class Eliminated:
    """As `Ended`. answers: share of all answers to the queries until it was decided that were asked for."""

    best: tuple[int, int] | None
    good_enough: tuple[int, int] | None
    answers: float


def eliminate(scores: Scores, clusters: Clusters, ends: tuple[int, ...]) -> Eliminated:
    """One run of the product's points and ladder. scores: (pairs, queries), the first agent's."""
    n_agents = round((1 + np.sqrt(1 + 8 * len(scores))) / 2)
    names = [f"{agent:02d}" for agent in range(n_agents)]
    winners: dict[float, Winner] = {0.0: "b", 0.5: "tie", 1.0: "a"}
    told: tuple[str, ...] = ()
    games, not_asked, last = list[Game](), set[tuple[str, str]](), 0
    best = good_enough = None
    for at, end in enumerate(ends):
        batch, idle = clusters.queries[last:end], passed_over(at, told)
        not_asked |= {(query, agent) for query in batch for agent in idle}
        for (a, b), row in zip(combinations(names, 2), scores[:, last:end].tolist(), strict=True):
            if not ({a, b} & {*idle} or {a, b} <= {*told}):
                games += [Game(query, a, b, winners[score]) for query, score in zip(batch, row, strict=True)]
        last = end
        seen = points_of(games, names, clusters.queries[:end], not_asked=not_asked).seen
        out = np.isin(names, told)
        order = _order(seen, out)
        found = holm_from_leader(seen[order], _first(clusters, end), SEED, look=Look(ends, at), before=out[order[1:]])
        told = tuple(names[agent] for agent, one in zip(order[1:], found.told | out[order[1:]], strict=True) if one)
        if good_enough is None and found.n_sections >= 6 and (found.low > -MARGIN).all():
            good_enough = (end, int(order[0]))
        if len(told) == n_agents - 1:
            best = (end, int(order[0]))
            break
    return Eliminated(best, good_enough or best, 1 - len(not_asked) / (last * n_agents))


def eliminate_lines(experiments: int) -> Iterator[str]:
    """How often a run with fewer answers is wrong, and what it decides. Half as many where one agent is the best."""
    yield "| world | sections | luck | best, wrongly | best | queries | answers | all asked | good enough, wrongly |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|"
    for name, wins, layout, icc, luck in (
        ("two of six", TWO_OF_SIX, "alone", 0.0, 0.0),
        ("two of six", TWO_OF_SIX, "alone", 0.0, 0.4),
        ("two of six", TWO_OF_SIX, "1 to 10", 0.5, 0.4),
        ("six equal", equal_best(6, 6, 0.4), "alone", 0.0, 0.4),
        ("one of 6 ahead by the margin", one_ahead(6, MARGIN), "alone", 0.0, 0.4),
        ("Table 5", FIVE, "alone", 0.0, 0.4),
        ("10 points ahead", one_ahead(6, 0.1), "alone", 0.0, 0.4),
        ("14 points ahead", one_ahead(6, 0.14), "alone", 0.0, 0.4),
    ):
        cell = Cell(name, World(wins, N, layout, icc, luck))
        best, truth = np.flatnonzero(cell.world.best), cell.world.truth
        n = experiments if len(best) > 1 else experiments // 2
        generator, found = np.random.default_rng(cell.seed), list[Eliminated]()
        for start in range(0, n, 50):
            scores, clusters = cell.world.play(min(50, n - start), generator)
            ends = whole_sections(np.bincount(clusters.numbers).tolist(), LOOKS)
            found += [eliminate(one, clusters, ends) for one in scores]
        wrong = [one.best is not None and (len(best) > 1 or one.best[1] != best[0]) for one in found]
        called = np.mean([one.best is not None for one in found])
        worse = [
            one.good_enough is not None and truth.max() - truth[one.good_enough[1]] > MARGIN - 1e-9 for one in found
        ]
        took = np.mean([one.best[0] if one.best else N for one in found])
        beside = _ended(list(runs(cell, n, LOOKS, "kim-demets")), "best")[0]
        yield (
            f"| {name} | {layout} | {luck:g} | {np.mean(wrong):.1%} | {called:.1%}"
            f" | {took:.0f} | {np.mean([one.answers for one in found]):.0%} | {beside:.1%} | {np.mean(worse):.1%} |"
        )


def main() -> None:
    """Print the tables."""
    experiments = int(sys.argv[1]) if len(sys.argv) > 1 else EXPERIMENTS
    print(f"Two equal bests, or all equal; {LOOKS} looks, {N} queries, in %:\n")
    print_lines(wrong_lines(experiments))
    print(f"\nGood enough within {100 * MARGIN:g} points, in %:\n")
    print_lines(margin_lines(experiments // 2))
    print(f"\nWhat is decided, in %, and after how many of {N} queries:\n")
    print_lines(power_lines(experiments // 2))
    print(f'\nWith eliminate = "answers", until the best is known, at most {N} queries:\n')
    print_lines(eliminate_lines(experiments))


if __name__ == "__main__":
    main()
