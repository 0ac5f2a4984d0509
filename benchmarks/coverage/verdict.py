"""Does the verdict decide, name no wrong best, keep each true best, and say how likely and how dear its leader is?

    python -m benchmarks.coverage.verdict [EXPERIMENTS]

The games are those of `ratings/tournaments.py`: two exactly equal best agents in worlds of many kinds, the shares of
Table 5 of the RAGElo paper, a judge that fails, games chosen adaptively. What is decided is decided by the product's
functions; only runs that the t-tests of its ladder would decide are given to them, since all else in it makes telling
harder. Beside stands the procedure as it was before points: the leader against each other by the shares of games won, a
t-test and sign flips, both two-sided at 4.5%.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np

from benchmarks.ratings.tournaments import (
    Scores,
    Tables,
    World,
    equal_best,
    of_strengths,
    one_ahead,
    table_5,
    unequal_ties,
)
from ragassay.arrays import Floats, Ints, Truths
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.judging.adaptive import Design, places, play_out
from ragassay.evaluate.ratings.leader import Standing, stand
from ragassay.evaluate.ratings.verdicts import Verdict, points_of
from ragassay.evaluate.statistics.clustered import NO_SPREAD, estimate
from ragassay.evaluate.statistics.ladder import FEWEST_SECTIONS, LEVEL, holm_from_leader
from ragassay.evaluate.statistics.paired_comparison import tested_error
from ragassay.evaluate.statistics.sign_flip import flip_ps
from ragassay.records import Winner

EXPERIMENTS = 2000
AT_ONCE = 250
SEED = 7
MARGIN = 0.05

FIVE = table_5()
DESIGN = {(0.0, 200): "45.5 ± .7", (0.4, 200): "30.9 ± .7", (0.8, 200): "22.4 ± .7"}
"""What the procedure's design was said to decide, by the luck shared and queries (its own simulation)."""

KNOWN = {(0.0, 200): "46.4", (0.4, 200): "31.4", (0.8, 200): "23.2"}
"""The same of a t-test that knows the two best."""


def batches(world: World, experiments: int, seed: list[int]) -> Iterator[Tables]:
    """Some experiments at once, with other sections each time."""
    generator = np.random.default_rng(seed)
    for start in range(0, experiments, AT_ONCE):
        size = min(AT_ONCE, experiments - start)
        some = world if world.wins.ndim == 2 else replace(world, wins=world.wins[start : start + size])
        scores, clusters = some.play(size, generator)
        yield Tables.of(scores, world.wins.shape[-1], clusters)


def leaders(seen: Floats) -> Ints:
    """(experiments,): the agent with the most points, the first of level ones."""
    return np.asarray(np.round(np.nanmean(seen, axis=-1), 9).argmax(axis=1))


def ahead(values: Floats, leader: Ints, clusters: Clusters) -> tuple[Floats, Floats]:
    """(experiments, agents) twice: how far the leader is ahead of each, and the one-sided p of the clustered t-test.

    values: (experiments, agents, queries). p is 0 of a lead without spread, and 1 against itself.
    """
    from scipy.special import stdtr

    gaps = values[np.arange(len(values)), leader][:, None] - values
    there = ~np.isnan(gaps)
    found = estimate(clusters.sums(np.where(there, gaps, 0.0)), clusters.sums(there.astype(np.float64)))
    error = tested_error(found, there.sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.where(error > NO_SPREAD, stdtr(found.df, -found.value / error), 1.0 - (found.value > NO_SPREAD))
    return found.value, np.where(np.isnan(p), 1.0, p)


def may_be_decided(tables: Tables) -> Truths:
    """(experiments,): whether Holm's steps pass the t-tests of the points seen, without which nothing is decided."""
    leader = leaders(tables.seen)
    p = ahead(tables.seen, leader, tables.clusters)[1]
    p[np.arange(len(p)), leader] = -1.0
    k = p.shape[1] - 1
    limits = np.minimum(LEVEL / np.arange(k, 0, -1), LEVEL / 2)
    return np.asarray((np.sort(p, axis=1)[:, 1:] <= 1.001 * limits).all(axis=1))


def standing(tables: Tables, experiment: int, margin: float = MARGIN) -> Standing:
    """Of one experiment, all of it."""
    found = stand(tables.points(experiment), tables.clusters, SEED, margin)
    assert found is not None
    return found


def told(tables: Tables, experiment: int) -> tuple[Ints, Truths]:
    """The order (agents,), best first, and whether the leader is told from each other (others,); `standing`, sooner."""
    order = np.argsort(-np.round(np.nanmean(tables.seen[experiment], axis=-1), 9), kind="stable")
    seen, lost, won = (table[experiment, order] for table in (tables.seen, tables.lost, tables.won))
    failed = (lost[0] - won[1:], won[0] - lost[1:]) if tables.failed[experiment].any() else (None, None)
    return order, holm_from_leader(seen, tables.clusters, SEED, *failed).told


def decided(tables: Tables) -> Ints:
    """(experiments,): the agent that the product's ladder tells from each other, or -1."""
    called = np.full(len(tables.seen), -1)
    for experiment in np.flatnonzero(may_be_decided(tables)).tolist():
        order, passed = told(tables, experiment)
        if passed.all():
            called[experiment] = order[0]
    return called


def decided_before(tables: Tables) -> Ints:
    """The same by the procedure as it was: on shares of games won."""
    leader = leaders(tables.seen)
    value, p = ahead(tables.shares, leader, tables.clusters)
    mine = np.arange(value.shape[1]) == leader[:, None]
    n_sections = len(np.unique(tables.clusters.numbers))
    passed = (mine | ((value > 0) & (2 * p <= LEVEL))).all(axis=1) & (n_sections >= FEWEST_SECTIONS)
    called = np.full(len(value), -1)
    for at in np.flatnonzero(passed).tolist():
        gaps = np.delete(tables.shares[at, leader[at]] - tables.shares[at], leader[at], axis=0)
        whole = np.where(np.isnan(gaps), 0.0, gaps) * len(gaps)
        flips = flip_ps(tables.clusters.sums(whole), SEED)
        if all(one is not None and one <= LEVEL for one in flips):
            called[at] = leader[at]
    return called


@dataclass(frozen=True)
class Cell:
    """A world by name, and how many agents tie how."""

    name: str
    world: World

    @property
    def seed(self) -> list[int]:
        """Of its experiments."""
        world = self.world
        return [31, *(round(100 * one) for one in (world.icc, world.luck)), world.n_queries, *map(ord, world.layout)]

    def __str__(self) -> str:
        world = self.world
        return f"| {self.name} | {world.n_queries} | {world.layout} | {world.icc:g} | {world.luck:g} |"


PLACE = "| world | queries | sections | icc | luck shared |"
TWO_OF_TWO, TWO_OF_SIX = equal_best(2, 2, 0.4), equal_best(6, 2, 0.4)
UNEVEN = (("by 5", 0.5), ("1 to 10", 0.2), ("1 to 10", 0.5), ("1 to 10", 0.8), ("Zipf", 0.5), ("big", 0.5))


def wrong_cells() -> Iterator[Cell]:
    """Two exactly equal best agents, or all of them equal."""
    for n in (12, 30, 60, 200, 400):
        yield Cell("two of two", World(TWO_OF_TWO, n))
        yield Cell("two of six", World(TWO_OF_SIX, n, luck=0.4))
    for n in (60, 200):
        yield Cell("two of two, none tied", World(equal_best(2, 2, 0.5), n))
        yield Cell("two of six, none tied", World(equal_best(6, 2, 0.5), n, luck=0.8))
    for layout, icc in (*UNEVEN, ("Zipf", 0.8), ("big", 0.8), ("Zipf", 0.2), ("big", 0.2), ("by 5", 0.8)):
        yield Cell("two of two", World(TWO_OF_TWO, 100, layout, icc))
        yield Cell("two of six", World(TWO_OF_SIX, 200, layout, icc, 0.4))
    for layout, icc in UNEVEN[-3:]:
        yield Cell("two of two", World(TWO_OF_TWO, 400, layout, icc))
    for n_agents in (12, 20):
        yield Cell(f"two of {n_agents}", World(equal_best(n_agents, 2, 0.4), 100, luck=0.4))
        yield Cell(f"two of {n_agents}", World(equal_best(n_agents, 2, 0.4), 200, "1 to 10", 0.5, 0.4))
    for n_agents in (6, 20):
        yield Cell(f"{n_agents} equal", World(equal_best(n_agents, n_agents, 0.4), 100, luck=0.4))
    for luck in (0.0, 0.4, 0.8):
        yield Cell("two of six, ties 40% and 55%", World(unequal_ties(6), 200, luck=luck))


def wrong_lines(experiments: int) -> Iterator[str]:
    """How often any agent is called the best, where none is."""
    yield f"{PLACE} wrong | before |\n|---|--:|---|--:|--:|--:|--:|"
    shares, over = [], 5 + 200 * np.sqrt(0.05 * 0.95 / experiments)
    for cell in wrong_cells():
        now, then = _shares(cell, experiments, decided, decided_before)
        shares.append(now)
        yield f"{cell} {now:.1f} | {then:.1f} |"
    missed = sum(share > over for share in shares)
    ends = f"from {min(shares):.1f}% to {max(shares):.1f}%, {missed or 'none'} over {over:.1f}%"
    yield f"\n{len(shares)} cells of {experiments:,} runs: {ends} (5% and two standard errors)."


def _shares(cell: Cell, experiments: int, *by: Callable[[Tables], Ints]) -> list[float]:
    """In how many of a hundred runs each way calls an agent the best."""
    found = [[(way(tables) >= 0) for way in by] for tables in batches(cell.world, experiments, cell.seed)]
    return [float(100 * np.concatenate(rows).mean()) for rows in zip(*found, strict=True)]


def set_cells() -> Iterator[Cell]:
    """Worlds in which the true best may be missed."""
    for n, layout, icc in ((60, "alone", 0.0), (200, "alone", 0.0), (200, "1 to 10", 0.5)):
        yield Cell("two of six", World(TWO_OF_SIX, n, layout, icc, 0.4))
        yield Cell("six equal", World(equal_best(6, 6, 0.4), n, layout, icc, 0.4))
        yield Cell("one of six 1 point ahead", World(one_ahead(6, 0.01), n, layout, icc, 0.4))
        yield Cell("Table 5", World(FIVE, n, layout, icc, 0.4))
    yield Cell("six equal", World(equal_best(6, 6, 0.4), 200, "Zipf", 0.5, 0.4))
    yield Cell("20 equal", World(equal_best(20, 20, 0.4), 100, luck=0.4))
    yield Cell("two of six, ties 40% and 55%", World(unequal_ties(6), 200, luck=0.4))


def set_lines(experiments: int) -> Iterator[str]:
    """How often a true best is among the possible ones, how many these are, and how often the leader is told from some
    agent that is as good or better."""
    yield f"{PLACE} true best in the set | set | leader right | any told wrongly |"
    yield "|---|--:|---|--:|--:|--:|--:|--:|--:|"
    low, lowest = 95 - 200 * np.sqrt(0.05 * 0.95 / experiments), 100.0
    for cell in set_cells():
        best, truth, rows = cell.world.best, cell.world.truth, []
        for tables in batches(cell.world, experiments, cell.seed):
            for experiment in range(len(tables.seen)):
                order, passed = told(tables, experiment)
                out, leader = order[1:][passed], order[0]
                wrongly = (truth[out] > truth[leader] - 1e-9).any()
                rows.append((1 - best[out].sum() / best.sum(), (len(order) - len(out)) / 100, best[leader], wrongly))
        covered, size, right, wrongly = (100 * np.mean(rows, axis=0)).tolist()
        lowest = min(lowest, covered)
        yield f"{cell} {covered:.1f} | {size:.2f} | {right:.1f} | {wrongly:.1f} |"
    yield f"\n{experiments:,} runs a line: at least {lowest:.1f}% (95% less two standard errors: {low:.1f}%)."


def _stood(cell: Cell, experiments: int, margin: float = MARGIN) -> Iterator[Standing]:
    for tables in batches(cell.world, experiments, cell.seed):
        for experiment in range(len(tables.seen)):
            yield standing(tables, experiment, margin)


def margin_lines(experiments: int) -> Iterator[str]:
    """Of worlds in which the best agent is better than each other by the margin exactly: `safe` of another leader and
    `equal` of the best are wrong. And of level agents, how often they are said."""
    yield "| world | queries | safe, wrongly | equal, wrongly | all level: safe | equal |\n|---|--:|--:|--:|--:|--:|"
    for n_agents, n in ((2, 200), (2, 800), (2, 3200), (6, 100), (6, 400), (6, 800), (12, 200), (12, 400)):
        wrong = np.zeros(2)
        for found in _stood(Cell("", World(one_ahead(n_agents, MARGIN), n, luck=0.4)), experiments):
            best = found.leader == "00"
            wrong += found.safe and not best, found.equal and best
        level = np.zeros(2)
        for found in _stood(Cell("", World(one_ahead(n_agents, 0), n, luck=0.4)), experiments // 2):
            level += found.safe, found.equal
        shares = " | ".join(f"{one:.1f}" for one in (*wrong / experiments * 100, *level / (experiments // 2) * 100))
        yield f"| {n_agents} agents | {n} | {shares} |"


def chance_lines(experiments: int) -> Iterator[str]:
    """P(best) of the leader said, and how often it is right; strengths are drawn anew in each run."""
    said, right, loss, lost, turned = [], [], [], [], 0
    for n_agents in (2, 4, 6, 12):
        for spread in (0.05, 0.15, 0.4, 1.0):
            for n, layout in ((50, "alone"), (200, "1 to 10")):
                generator = np.random.default_rng([32, n_agents, round(100 * spread), n])
                strengths = spread * generator.standard_normal((experiments // 8, n_agents))
                world = World(of_strengths(strengths), n, layout, 0.3 if layout != "alone" else 0.0, 0.4)
                for truth, found in zip(world.truth, _stood(Cell("", world), len(strengths)), strict=True):
                    chances, leader = list(found.p_best.values()), int(found.leader)
                    turned += sorted(chances, reverse=True) != chances
                    said.append(chances[0])
                    right.append(leader == truth.argmax())
                    loss.append(100 * (found.expected_loss or 0.0))
                    lost.append(100 * (truth.max() - truth[leader]))
    claim, true = np.array(said), np.array(right)
    yield "| P(best) of the leader | runs | said | right | loss said | true |\n|---|--:|--:|--:|--:|--:|"
    ends = (0.0, 0.7, 0.8, 0.9, 0.95, 1.01)
    for low, high in pairwise(ends):
        some = (low <= claim) & (claim < high)
        figures = (claim[some].mean(), true[some].mean(), np.array(loss)[some].mean(), np.array(lost)[some].mean())
        name = f"{low:g} to {min(high, 1):g}"
        yield f"| {name} | {some.sum():,} | {figures[0]:.3f} | {figures[1]:.3f} | {figures[2]:.2f} | {figures[3]:.2f} |"
    yield f"\n{len(claim):,} runs; in {turned or 'none'} is the order by P(best) another than by points."


def power_lines(experiments: int) -> Iterator[str]:
    """Table 5, and one agent ahead of all others."""
    yield "| world | luck shared | queries | decided | design | a t-test that knows the two best | design | before |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    truth = World(FIVE, 0).truth
    two = np.argsort(-truth)[:2]

    def knowing(tables: Tables) -> Ints:
        values = tables.seen[:, two]
        return np.where(ahead(values, np.zeros(len(values), np.intp), tables.clusters)[1][:, 1] <= LEVEL / 2, 0, -1)

    for luck in (0.0, 0.4, 0.8):
        for n in (50, 100, 200, 400):
            cell = Cell("Table 5", World(FIVE, n, luck=luck))
            now, known, then = _shares(cell, experiments, decided, knowing, decided_before)
            at = (luck, n)
            yield (
                f"| Table 5 | {luck:g} | {n} | {now:.1f} | {DESIGN.get(at, '')} | {known:.1f} | {KNOWN.get(at, '')} | "
                f"{then:.1f} |"
            )
    for n_agents, n, by, design in ((6, 100, 0.14, "78.4"), (12, 100, 0.1, ""), (6, 200, 0.1, "78.9")):
        cell = Cell("", World(one_ahead(n_agents, by), n, luck=0.4))
        now, then = _shares(cell, experiments, decided, decided_before)
        yield f"| one of {n_agents} {100 * by:.0f} points ahead | 0.4 | {n} | {now:.1f} | {design} | | | {then:.1f} |"
    error = 100 * np.sqrt(0.25 / experiments)
    yield f"\n{experiments:,} runs a line, in % (± {error:.1f} at most)."


Fails = Callable[[Scores, np.random.Generator], Truths]
"""(experiments, pairs, queries): which games the judge fails on."""


def selectively(share: float, n_agents: int) -> Fails:
    """A share of the games that the first agent loses, which are of the first pairs."""

    def fails(scores: Scores, generator: np.random.Generator) -> Truths:
        its = np.arange(scores.shape[1]) < n_agents - 1
        return np.asarray((scores == 0) & its[:, None] & (generator.random(scores.shape) < share))

    return fails


def at_random(share: float) -> Fails:
    """A share of all games."""
    return lambda scores, generator: np.asarray(generator.random(scores.shape) < share)


FAILING = (
    ("two equal of six, 25% of one's losses fail", TWO_OF_SIX, selectively(0.25, 6), ""),
    ("two equal of six, 50% of one's losses fail", TWO_OF_SIX, selectively(0.5, 6), "wrong 2.3"),
    ("two equal of two, 25% of one's losses fail", TWO_OF_TWO, selectively(0.25, 2), ""),
    ("two equal of two, 50% of one's losses fail", TWO_OF_TWO, selectively(0.5, 2), ""),
    ("Table 5, none fails", FIVE, at_random(0.0), "31.6"),
    ("Table 5, .5% of all games fail", FIVE, at_random(0.005), "25.0"),
    ("Table 5, 1% of all games fail", FIVE, at_random(0.01), "18.4"),
    ("Table 5, 3% of all games fail", FIVE, at_random(0.03), "4.5"),
)


def failing_lines(experiments: int) -> Iterator[str]:
    """A judge that fails on games, by its failures counted, left out, and before."""
    yield "| world, 200 queries, luck .4 | decided | design | decided with failures left out | before |"
    yield "|---|--:|--:|--:|--:|"
    for name, wins, fails, design in FAILING:
        generator, rows, world = np.random.default_rng(33), [], World(wins, 200, luck=0.4)
        for start in range(0, experiments, AT_ONCE):
            scores, clusters = world.play(min(AT_ONCE, experiments - start), generator)
            left = np.where(fails(scores, generator), np.float32(np.nan), scores)
            tables = Tables.of(left, len(wins), clusters)
            plain = replace(tables, failed=np.zeros_like(tables.failed))
            rows.append([way >= 0 for way in (decided(tables), decided(plain), decided_before(tables))])
        now, out, then = (100 * np.concatenate(part).mean() for part in zip(*rows, strict=True))
        yield f"| {name} | {now:.1f} | {design} | {out:.1f} | {then:.1f} |"


def chosen_lines(experiments: int) -> Iterator[str]:
    """Half of the games, chosen by adaptive play or not, each pair counting as much as another."""
    yield "| world, 200 queries, luck .4 | games | decided | design | played |\n|---|---|--:|--:|--:|"
    for name, wins, design in (("two equal of six", TWO_OF_SIX, ("4.5 ± .5", "")), ("Table 5", FIVE, ("29.2", "20.9"))):
        world, generator = World(wins, 200, luck=0.4), np.random.default_rng(34)
        names = [f"{agent:02d}" for agent in range(len(wins))]
        called, played = np.zeros(2), np.zeros(2)
        for _ in range(experiments):
            scores, clusters = world.play(1, generator)
            games = scores[0].T.astype(np.float64)
            place = places(clusters.numbers, len(wins), random.Random(int(generator.integers(2**31))))
            for way, met in enumerate((_adaptively(games, clusters, place, len(wins)), place < len(games) // 2)):
                points = points_of(verdicts_of(games, met, names), names, clusters.queries)
                seen = points.of(points.order).seen
                called[way] += holm_from_leader(seen, clusters, SEED).told.all()
                played[way] += met.mean()
        for way, kind in enumerate(("adaptive", "half of each pair's")):
            share, part = 100 * called[way] / experiments, 100 * played[way] / experiments
            yield f"| {name} | {kind} | {share:.1f} | {design[way]} | {part:.0f} |"
    yield f"\n{experiments:,} runs a line, in %."


def _adaptively(games: Floats, clusters: Clusters, place: Ints, n_agents: int) -> Truths:
    """(queries, pairs): which are played."""
    design = Design(n_agents, len(games))
    done = play_out(design, clusters.numbers, place[None], lambda new: np.where(new, games, np.nan))
    return np.asarray(place < done.met[0])


def verdicts_of(games: Floats, met: Truths, names: Sequence[str]) -> list[Verdict]:
    """Of games (queries, pairs), those that were met; NaN where the judge failed."""
    ends, said = list(combinations(names, 2)), dict[float, Winner]({1.0: "a", 0.5: "tie", 0.0: "b"})
    return [
        Verdict(f"{query:05d}", *ends[pair], "j", said.get(games[query, pair]), None, None, 2)
        for query, pair in np.argwhere(met).tolist()
    ]


def main() -> None:
    """Print the tables."""
    experiments = int(sys.argv[1]) if len(sys.argv) > 1 else EXPERIMENTS
    print_lines(wrong_lines(experiments))
    print("\nThe true best among the possible ones, in %:\n")
    print_lines(set_lines(experiments // 2))
    print(f"\nWithin {100 * MARGIN:g} points, in %; the wrong ones where the best is better by exactly that:\n")
    print_lines(margin_lines(experiments // 4))
    print("\nP(best), all strengths drawn:\n")
    print_lines(chance_lines(experiments // 2))
    print("\nWhat is decided:\n")
    print_lines(power_lines(experiments))
    print("\nA judge that fails, in % of runs; of two equal agents every decision is wrong:\n")
    print_lines(failing_lines(experiments // 2))
    print("\nHalf of the games:\n")
    print_lines(chosen_lines(experiments // 2))


def print_lines(lines: Iterator[str]) -> None:
    """Each as soon as it is there."""
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
