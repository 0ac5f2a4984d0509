"""Simulated tournaments: do intervals of strengths cover, and what does adaptive play save?

    python -m benchmarks.coverage.ratings [EXPERIMENTS]

Every agent has a strength; on a query, and in a section of queries, each is better or worse than that by chance. Both
orders of a game are judged; the judge may prefer the answer shown first. What an interval is to cover is the strength
that the same fit gives for endlessly many queries.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.judging.adaptive import Design, Ints, Played, places, play_out
from ragassay.evaluate.ratings import bradley_terry
from ragassay.evaluate.ratings.bradley_terry import log_strengths
from ragassay.evaluate.ratings.win_table import Contests, Meetings
from ragassay.evaluate.statistics.resamples import resamples

BOOTSTRAP = 400
_MANY = 200_000


@dataclass(frozen=True)
class World:
    """How games come about. strengths: log odds. by_query, by_section: standard deviations of an agent's luck.

    tie: Davidson's parameter of a single order's verdict. first: the share of single verdicts given to the answer shown
    first without looking at it.
    """

    strengths: tuple[float, ...]
    n_queries: int
    per_section: int = 1
    by_query: float = 0.7
    by_section: float = 0.0
    tie: float = 0.5
    first: float = 0.0

    @property
    def cluster(self) -> Ints:
        """(queries,): each query's section."""
        return np.arange(self.n_queries) // self.per_section

    @property
    def pairs(self) -> NDArray[np.intp]:
        """(pairs, 2)."""
        return np.array(list(combinations(range(len(self.strengths)), 2)))


def verdict_shares(world: World, luck: Floats) -> tuple[Floats, Floats]:
    """P(first wins), P(tie) of the verdict from both orders, for luck (..., agents); (..., pairs)."""
    level = np.asarray(world.strengths) + luck
    half = (level[..., world.pairs[:, 0]] - level[..., world.pairs[:, 1]]) / 2
    total = np.exp(half) + np.exp(-half) + world.tie
    fair, lost = np.exp(half) / total, np.exp(-half) / total
    blind = world.first
    # A verdict stands where both orders agree: the pair's first agent is shown first in one of them.
    won = (blind + (1 - blind) * fair) * (1 - blind) * fair
    beaten = (blind + (1 - blind) * lost) * (1 - blind) * lost
    return won, 1 - won - beaten


def blind_share(world: World, first_picked: float) -> float:
    """`World.first` such that of equal agents the one shown first gets `first_picked` of all single verdicts, ties too.

    A judge that looks picks the first of two equal agents with f = (1 - E tie) / 2, by symmetry, where the tie's chance
    is v / (2 cosh(d / 2) + v) and d, the difference of their luck, is normal (Gauss-Hermite quadrature); one that is
    blind with chance s picks it with s + (1 - s) f.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    luck = np.sqrt(2) * np.hypot(world.by_query, world.by_section) * nodes
    tie = weights @ (world.tie / (2 * np.cosh(luck / 2) + world.tie)) / weights.sum()
    fair = (1 - float(tie)) / 2
    return (first_picked - fair) / (1 - fair)


def simulate(world: World, experiments: int, generator: np.random.Generator) -> Floats:
    """Scores of the pairs' first agents, (experiments, queries, pairs)."""
    n, sections = len(world.strengths), int(world.cluster.max()) + 1
    luck = world.by_query * generator.standard_normal((experiments, world.n_queries, n))
    luck += (world.by_section * generator.standard_normal((experiments, sections, n)))[:, world.cluster]
    won, tied = verdict_shares(world, luck)
    draw = generator.random(won.shape)
    return np.where(draw < won, 1.0, np.where(draw < won + tied, 0.5, 0.0))


def true_log(world: World, ties: bradley_terry.Ties) -> Floats:
    """(agents,): the log strengths of the fit to endlessly many queries."""
    generator, n = np.random.default_rng(99), len(world.strengths)
    spread = np.hypot(world.by_query, world.by_section)
    luck = spread * generator.standard_normal((_MANY, n))
    won, tied = (part.mean(axis=0) for part in verdict_shares(world, np.concatenate([luck, -luck])))
    first, second = world.pairs.T
    wins, draws = np.zeros((1, n, n)), np.zeros((1, n, n))
    wins[0, first, second], wins[0, second, first] = won, 1 - won - tied
    draws[0, first, second] = draws[0, second, first] = tied
    fit = log_strengths(wins, draws) if ties == "davidson" else log_strengths(wins + draws / 2)
    log: Floats = fit.log[0]
    return log


def contests_of(world: World, scores: Floats) -> Contests:
    """The verdicts of one experiment, (queries, pairs), NaN where not played."""
    known = ~np.isnan(scores)
    query, pair = np.nonzero(known)
    names = tuple(f"agent-{index:02d}" for index in range(len(world.strengths)))
    first, second = world.pairs[pair].T
    met = None if known.all() else Meetings.of(np.minimum(first, second), np.maximum(first, second), query)
    return Contests(names, query_names(world), first, second, query, scores[query, pair], (), met)


def query_names(world: World) -> tuple[str, ...]:
    """Their order is that of the queries."""
    return tuple(f"q{index:05d}" for index in range(world.n_queries))


@dataclass(frozen=True)
class Rated:
    """(experiments, agents) each: estimates and interval ends in log odds (NaN: none)."""

    log: Floats
    low: Floats
    high: Floats


def rated(world: World, scores: Floats, ties: bradley_terry.Ties = "davidson") -> Rated:
    """`bradley_terry.rate` on each experiment, (experiments, queries, pairs)."""
    sections = Clusters.named(query_names(world), [str(number) for number in world.cluster])
    rows = []
    for index, one in enumerate(scores):
        draws = resamples(query_names(world), BOOTSTRAP, index, sections)
        result = bradley_terry.rate(contests_of(world, one), draws, 0.0, ties)
        row = []
        for figure in result.figures.values():
            ends = (figure.value, figure.ci_low, figure.ci_high)
            points = [np.nan if end is None else end / bradley_terry.POINTS for end in ends]
            if result.ties != ties:
                points = [np.nan] * 3
            row.append(points)
        rows.append(row)
    return Rated(*np.moveaxis(np.array(rows, dtype=np.float64), 2, 0))


def played(world: World, scores: Floats, generator: np.random.Generator, max_share: float = 0.5) -> Played:
    """Adaptive play of each experiment."""
    design = Design(len(world.strengths), world.n_queries, max_share=max_share)
    seeds = generator.integers(2**31, size=len(scores)).tolist()
    place = np.stack([places(world.cluster, design.n_agents, random.Random(seed)) for seed in seeds])
    return play_out(design, world.cluster, place, lambda new: np.where(new, scores, np.nan))


def coverage(rating: Rated, truth: Floats) -> tuple[float, float]:
    """The share of intervals that hold the truth, and the share of experiments without any."""
    there = ~np.isnan(rating.low)
    inside = (rating.low <= truth) & (truth <= rating.high)
    return float(inside[there].mean()), float(1 - there.mean())


WORLDS = {
    "4 agents": (0.6, 0.3, 0.0, -0.6),
    "6 agents": (0.8, 0.5, 0.2, 0.0, -0.5, -1.0),
}
CLEAR = (1.5, 0.9, 0.3, -0.3, -0.9, -1.5)


def strength_cells(experiments: int) -> Iterator[str]:
    """Coverage of strengths."""
    for name, strengths in WORLDS.items():
        for n_queries, per_section in ((30, 1), (50, 1), (50, 5), (100, 1), (100, 5), (200, 5)):
            for ties in ("davidson", "half"):
                world = World(strengths, n_queries, per_section, by_section=0.5 * (per_section > 1))
                scores = simulate(world, experiments, np.random.default_rng([7, n_queries, per_section]))
                rating = rated(world, scores, ties)
                share, none = coverage(rating, true_log(world, ties))
                yield f"| {name} | {n_queries} | {per_section} | {ties} | {share:.3f} | {none:.3f} |"


SIZES = ((50, 1), (100, 1), (100, 5))
"""Queries, and how many a section."""

ADAPTIVE = (
    *(("equal, judge picks the first 85%", (0.0,) * 6, 0.5, *size) for size in SIZES),
    *(("spread", WORLDS["6 agents"], 0.5, *size) for size in SIZES),
    ("spread", WORLDS["6 agents"], 1.0, 100, 1),
    *(("clear", CLEAR, 0.5, *size) for size in SIZES),
    ("clear", CLEAR, 1.0, 100, 1),
)
"""Name, strengths, the budget as a share of all games, and the size."""


def adaptive_cells(experiments: int) -> Iterator[str]:
    """Adaptive play: games played, wrong decisions on the best, coverage, first-listed less last."""
    for name, strengths, max_share, n_queries, per_section in ADAPTIVE:
        world = World(strengths, n_queries, per_section, by_section=0.5 * (per_section > 1))
        if "85%" in name:
            world = replace(world, first=blind_share(world, 0.85))
        generator = np.random.default_rng([1911, n_queries, per_section])
        scores = simulate(world, experiments, generator)
        done = played(world, scores, generator, max_share)
        yield f"| {name} | {n_queries} | {per_section} | {max_share} | {_adaptive(world, done)} |"


def _adaptive(world: World, done: Played) -> str:
    best = np.flatnonzero(np.asarray(world.strengths) == max(world.strengths))
    wrong = ((done.best >= 0) & ((len(best) > 1) | (done.best != best[0]))).mean()
    rating = rated(world, done.scores)
    share, none = coverage(rating, true_log(world, "davidson"))
    gap = (rating.log[:, 0] - rating.log[:, -1])[~np.isnan(rating.log[:, 0])]
    error = gap.std(ddof=1) / np.sqrt(len(gap))
    truth = true_log(world, "davidson")
    off = gap.mean() - (truth[0] - truth[-1])
    games = done.met.sum(axis=1).mean() / (world.n_queries * len(world.pairs))
    decided = (done.best >= 0).mean()
    return (
        f"{games:.2f} | {done.rounds.mean():.1f} | {decided:.3f} | {wrong:.3f} | {share:.3f} | {none:.3f} | "
        f"{off / error:+.1f} SE | {off / gap.std(ddof=1):+.2f} SD"
    )


def main() -> None:
    """Print the tables."""
    experiments = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    parts = sys.argv[2:] or ["strengths", "adaptive"]
    if "strengths" in parts:
        print("| agents | queries | a section | ties | covers | no interval |")
        print("|---|---|---|---|---|---|")
        for line in strength_cells(experiments):
            print(line, flush=True)
    if "adaptive" in parts:
        print("\n| | queries | a section | at most | games | rounds | decided | wrong | covers | no interval", end="")
        print(" | first - last | |\n|---|---|---|---|---|---|---|---|---|---|---|---|")
        for line in adaptive_cells(experiments):
            print(line, flush=True)


if __name__ == "__main__":
    main()
