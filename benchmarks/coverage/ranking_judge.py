"""A simulated judge that ranks all agents' answers of a query together, or sees them two by two.

On a query each agent's answer has a quality: the agent's strength and luck, a standard normal, which queries of a
section share in part. In each presentation the judge sees each quality with noise of its own, and adds a bonus for the
place. Ranked together, answers that follow each other more closely than `tie` are equal; of two alone, both are. So all
pairs of one presentation depend on one another, and all of one query do either way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage.comparisons import drawn, sections
from benchmarks.ratings.tournaments import points_by
from ragassay.arrays import Floats, Ints, Truths
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.judging.games import Plan, Sitting, sittings, turns

Signs = NDArray[np.int8]

ORDERS = 2
"""In which a pair is judged."""

SEATINGS = 50
"""Seeds of seatings, over which experiments go."""

MANY = 24_000
"""Queries that stand for endlessly many; each row of a Williams square of six is seated as often."""


@dataclass(frozen=True)
class World:
    """strengths: in standard deviations of luck. correlation: of an agent's luck within the section."""

    strengths: tuple[float, ...]
    n_queries: int
    per_section: int = 1
    correlation: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """Of the agents, in order."""
        return tuple(f"agent-{index:02d}" for index in range(len(self.strengths)))

    @property
    def queries(self) -> tuple[str, ...]:
        """Their ids, in order."""
        return tuple(f"q{index:05d}" for index in range(self.n_queries))

    @property
    def pairs(self) -> Ints:
        """(pairs, 2)."""
        return np.array(list(combinations(range(len(self.strengths)), 2)))

    @property
    def clusters(self) -> Clusters:
        """The sections of the queries."""
        return sections(self.n_queries, self.per_section)

    @property
    def best(self) -> Truths:
        """(agents,): which are the best, several where they are equal."""
        return np.asarray(np.array(self.strengths) == max(self.strengths))

    @property
    def equal(self) -> Truths:
        """(agents, agents): who is as good as whom."""
        level = np.array(self.strengths)
        return np.asarray(level[:, None] == level)


@dataclass(frozen=True)
class Judge:
    """presentations: of the whole list; None: pairs, each in both orders.

    noise: the standard deviation of what it sees of an answer once. tie: the difference below which two are equal.
    first: the bonus of the first place; it falls evenly to none of the last.
    """

    presentations: int | None
    noise: float = 0.07
    tie: float = 0.42
    first: float = 0.0


@dataclass(frozen=True)
class Judged:
    """(experiments, queries, presentations, pairs) each. outcome: 1 where a pair's first agent won, 0 tied, -1 lost.
    ahead: whether it was shown before the other."""

    outcome: Signs
    ahead: Truths

    @property
    def verdict(self) -> Signs:
        """(experiments, queries, pairs): as `outcome`, a win only where all presentations agree."""
        same = (self.outcome == self.outcome[:, :, :1]).all(axis=2)
        return np.where(same, self.outcome[:, :, 0], 0).astype(np.int8)

    @property
    def flipped(self) -> Truths:
        """(experiments, queries, pairs): whether the winner changed with the presentation."""
        return np.asarray((self.outcome != self.outcome[:, :, :1]).any(axis=2))

    @property
    def to_first(self) -> Signs:
        """As `outcome`: 1 where the answer shown first won, -1 where it lost."""
        return np.where(self.ahead, self.outcome, -self.outcome).astype(np.int8)


def play(world: World, judge: Judge, experiments: int, generator: np.random.Generator) -> Judged:
    """What the judge says in so many experiments."""
    n = len(world.strengths)
    luck = drawn((experiments, n, world.n_queries), world.per_section, world.correlation, generator)
    quality = np.moveaxis(luck, 1, 2) + world.strengths
    if judge.presentations is None:
        return _in_pairs(world, judge, quality, generator)
    seeds = generator.integers(SEATINGS, size=experiments).tolist()
    place = np.stack([_places(world.names, world.queries, judge.presentations, seed) for seed in seeds])
    bonus = judge.first * (n - 1 - place) / (n - 1)
    seen = quality[:, :, None] + bonus + judge.noise * generator.standard_normal(place.shape)
    rank, (first, second) = ranks(seen, judge.tie), world.pairs.T
    outcome = np.sign(rank[..., second] - rank[..., first]).astype(np.int8)
    return Judged(outcome, place[..., first] < place[..., second])


def ranks(seen: Floats, tie: float) -> Ints:
    """(..., agents): each one's rank from 0, the same where answers next to each other are closer than `tie`."""
    order = np.argsort(-seen, axis=-1)
    gaps = -np.diff(np.take_along_axis(seen, order, -1), axis=-1)
    groups = np.concatenate([np.zeros_like(order[..., :1]), np.cumsum(gaps > tie, axis=-1)], axis=-1)
    found = np.empty_like(order)
    np.put_along_axis(found, order, groups, -1)
    return found


@lru_cache(maxsize=1000)
def _places(agents: tuple[str, ...], queries: tuple[str, ...], presentations: int, seed: int) -> Signs:
    """(queries, presentations, agents): where each stands, from 0, as the product seats them."""
    turn, at = turns(queries, f"{seed}:presentations"), {name: index for index, name in enumerate(agents)}
    (block,) = Plan([agents], queries, anchors=0, seed=seed).blocks(queries[0])
    seated = (sittings(block.agents, turn[query], presentations) for query in queries)
    rows = [[[at[name] for name in _shown(one)] for one in each] for each in seated]
    return np.argsort(np.array(rows), axis=-1).astype(np.int8)


def _shown(sitting: Sitting) -> tuple[str, ...]:
    return sitting.agents[::-1] if sitting.turned else sitting.agents


def _in_pairs(world: World, judge: Judge, quality: Floats, generator: np.random.Generator) -> Judged:
    """Each pair in both orders, its two answers seen anew each time."""
    first, second = world.pairs.T
    ahead = np.broadcast_to(np.array([[True], [False]]), (*quality.shape[:2], ORDERS, len(first)))
    noise = np.sqrt(2) * judge.noise * generator.standard_normal(ahead.shape)
    gap = (quality[..., first] - quality[..., second])[:, :, None] + noise + judge.first * np.where(ahead, 1.0, -1.0)
    return Judged((np.sign(gap) * (np.abs(gap) > judge.tie)).astype(np.int8), ahead)


@dataclass(frozen=True)
class Truth:
    """Of endlessly many queries. wins: (agents, agents), the share of its games that row wins against column; points:
    (agents,); flip_rate: of the pairs; first_wins: of the decided rows the share won by the answer shown first."""

    wins: Floats
    flip_rate: float
    first_wins: float

    @property
    def points(self) -> Floats:
        """(agents,): the mean of win 1, tie 1/2, loss 0 over its opponents."""
        return points_by(self.wins)


@lru_cache
def truth(strengths: tuple[float, ...], judge: Judge) -> Truth:
    """By one long experiment; agents of the same strength get the same, by averaging over them."""
    world = World(strengths, MANY)
    judged = play(world, judge, 1, np.random.default_rng(99))
    wins, (first, second) = np.zeros((len(strengths),) * 2), world.pairs.T
    wins[first, second] = (judged.verdict[0] == 1).mean(axis=0)
    wins[second, first] = (judged.verdict[0] == -1).mean(axis=0)
    same = world.equal.astype(np.float64)
    np.fill_diagonal(apart := np.ones_like(wins), 0)
    wins = (same @ wins @ same) / np.maximum(same @ apart @ same, 1) * apart
    decided = judged.outcome != 0
    return Truth(wins, float(judged.flipped.mean()), float((judged.to_first == 1).sum() / decided.sum()))
