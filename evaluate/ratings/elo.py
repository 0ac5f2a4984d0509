"""Elo ratings from verdicts: the mean of many tournaments over the same games, each in its own shuffled order.

The standard model (Elo 1978, The Rating of Chessplayers): a's expected score against b is
1 / (1 + 10^((R_b - R_a) / 400)), and after a game a gains K (score - expected) and b loses it; a tie scores one half.
Ratings are never rounded. The order of the games moves the outcome, so one order is not enough (RAGElo has 500:
Rackauckas, Câmara and Zavrel 2024); the tournaments are played side by side, one numpy step a game.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from math import log

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats
from ragassay.records import Figure

from ..statistics.resamples import Resamples, rounded
from .win_table import Contests

SCALE = 400.0
"""Rating points to a factor of ten in the odds."""

STARTS = 10
"""From how many points of the circle each shuffle is played, both ways round: 20 tournaments a shuffle."""

STARTS_OF_A_REPLICATE = 5
"""The same for a resample of the queries, one shuffle each: 10 tournaments, so that order adds little to the spread."""

Orders = NDArray[np.integer]
"""(tournaments, games): indices of games in the order in which each tournament plays them."""

_AT_ONCE = 1000
_STEPS = 64
"""Games whose players are looked up at a time: few enough to stay in the processor's cache."""


@dataclass(frozen=True)
class EloSettings:
    """K is the most that a game can move a rating. A small K leaves the initial rating slowly, a large one adds noise.

    With K 4 the RAGElo paper's Table 6 follows from its Table 5 (a thousand games an agent) within 5 points for any
    seed; with K 16 the same table is within 4 to 6. A few dozen queries are settled by 16, and not yet by 4.
    """

    k_factor: float = 4.0
    initial: float = 500.0
    tournaments: int = 500
    seed: int = 7


def play(contests: Contests, orders: Orders, k_factor: float, initial: float) -> Floats:
    """Ratings (tournaments, agents) after playing the games in the order of each row of `orders`.

    orders: (tournaments, games) indices into `contests`; an index equal to the number of games is no game. A game
    counts as `Contests.game_weights` says, in so many K.
    """
    n, agents = len(orders), len(contests.agents)
    rows = np.arange(n) * (agents + 2)
    a, b = np.append(contests.a, agents), np.append(contests.b, agents + 1)
    # In units of 2 · SCALE / ln 10 points the expectation is 1/2 - tanh(R_b - R_a) / 2, and the gain so many units:
    # K ln 10 / (4 SCALE) · (2 (score - 1/2) + tanh(R_b - R_a)).
    weights = np.append(contests.game_weights(), 1.0)
    step = k_factor * log(10) / (4 * SCALE)
    steps, even = step * weights, bool((weights == 1).all())
    beyond_half = 2 * steps * (np.append(contests.score, 0.5) - 0.5)
    ratings, gain, both = np.zeros(n * (agents + 2)), np.empty(n), np.empty((2, n))
    one, other = both
    for start in range(0, orders.shape[1], _STEPS):
        games = np.ascontiguousarray(orders[:, start : start + _STEPS].T)
        places = np.stack([np.take(a, games) + rows, np.take(b, games) + rows], axis=1)
        sizes = repeat(step, len(games)) if even else np.take(steps, games)
        for place, won, size in zip(places, np.take(beyond_half, games), sizes, strict=True):
            np.take(ratings, place, out=both, mode="clip")
            np.tanh(np.subtract(other, one, out=gain), out=gain)
            gain *= size
            gain += won
            one += gain
            other -= gain
            ratings[place] = both
    return initial + ratings.reshape(n, agents + 2)[:, :agents] * (2 * SCALE / log(10))


def shuffled(games: Orders, starts: int, generator: np.random.Generator) -> Orders:
    """(rows · 2 · starts, games): every row of `games` in random order, from each of `starts` points, both ways round.

    Each order is as random as any other, but a game played late in one is played early in another, so that their mean
    depends on the draw much less than the mean of as many separate shuffles (systematic and antithetic sampling).
    """
    size = games.shape[1]
    ahead = (np.arange(size) + np.arange(starts)[:, None] * size // starts) % max(size, 1)
    circle = np.concatenate([ahead, ahead[:, ::-1]])
    return np.take(generator.permuted(games, axis=1), circle, axis=1).reshape(-1, size)


def rate(contests: Contests, draws: Resamples, settings: EloSettings) -> dict[str, Figure]:
    """Each agent's mean rating, over its verdicts, with an interval from resampling queries; None without a verdict.

    The interval's replicates are means of 2 · `STARTS_OF_A_REPLICATE` tournaments over the games of the queries drawn.
    """
    if not len(contests.a):
        return {agent: Figure(value=None, n=0, n_failed=contests.failed_of(agent)) for agent in contests.agents}
    means = tournament_mean(contests, settings)
    replicates = _replicates(contests, draws, settings)
    figures = {}
    for index, agent in enumerate(contests.agents):
        n, failed = contests.games_of(agent), contests.failed_of(agent)
        low, high = draws.rating_interval(replicates[:, index], contests.queries_of(agent))
        figures[agent] = rounded(means[index], n, failed, low, high) if n else Figure(value=None, n=0, n_failed=failed)
    return figures


def tournament_mean(contests: Contests, settings: EloSettings) -> Floats:
    """(agents,): the mean rating over the tournaments."""
    generator = np.random.default_rng([settings.seed, 1])
    shuffles = -(-settings.tournaments // (2 * STARTS))
    games = np.tile(np.arange(len(contests.a), dtype=np.int32), (shuffles, 1))
    orders = shuffled(games, STARTS, generator)[: settings.tournaments]
    means: Floats = play(contests, orders, settings.k_factor, settings.initial).mean(axis=0)
    return means


def _replicates(contests: Contests, draws: Resamples, settings: EloSettings) -> Floats:
    """(replicates, agents): mean ratings over the games of each draw of queries."""
    generator = np.random.default_rng([settings.seed, 2])
    each = 2 * STARTS_OF_A_REPLICATE
    none, parts = len(contests.a), []
    longest = int((draws.weights @ np.bincount(contests.query, minlength=len(contests.queries))).max(initial=0))
    for start in range(0, len(draws.weights), _AT_ONCE // each):
        block = draws.weights[start : start + _AT_ONCE // each, contests.query]
        games = np.full((len(block), longest), none, dtype=np.int32)
        for row, weight in zip(games, block, strict=True):
            drawn = np.repeat(np.arange(none), weight)
            row[: len(drawn)] = drawn
        ratings: Floats = play(
            contests, shuffled(games, STARTS_OF_A_REPLICATE, generator), settings.k_factor, settings.initial
        )
        parts.append(ratings.reshape(len(block), each, -1).mean(axis=1))
    return np.concatenate(parts)
