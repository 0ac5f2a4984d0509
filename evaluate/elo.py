"""Elo ratings from verdicts: the mean of many tournaments over the same games, each in its own shuffled order.

The standard model (Elo 1978, The Rating of Chessplayers): a's expected score against b is
1 / (1 + 10^((R_b - R_a) / 400)), and after a game a gains K (score - expected) and b loses it; a tie scores one half.
Ratings are never rounded. The order of the games moves the outcome, so one order is not enough (RAGElo, Rackauckas,
Câmara and Zavrel 2024, has 500); the tournaments are played side by side, one numpy step a game.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluate.bootstrap import Floats, Resamples, rounded
from evaluate.win_table import Contests
from ragassay.records import Figure

SCALE = 400.0
"""Rating points to a factor of ten in the odds."""

TOURNAMENTS_A_REPLICATE = 20
"""Each resample of the queries is the mean of so many tournaments: enough that their order adds little to the spread."""

_AT_ONCE = 1000


@dataclass(frozen=True)
class EloSettings:
    """K 16 and 500 give the RAGElo paper's Table 6 back from its Table 5; other tools start at 1000 with K 32 or 4."""

    k_factor: float = 16.0
    initial: float = 500.0
    tournaments: int = 500
    seed: int = 7


def play(contests: Contests, orders: NDArray[np.intp], k_factor: float, initial: float) -> Floats:
    """Ratings (tournaments, agents) after playing the games in the order of each row of `orders`.

    orders: (tournaments, games) indices into `contests`; an index equal to the number of games is no game.
    """
    n, agents, steps = len(orders), len(contests.agents), np.ascontiguousarray(orders.T)
    row = np.arange(n) * (agents + 2)
    one, other = np.append(contests.a, agents)[steps] + row, np.append(contests.b, agents + 1)[steps] + row
    score = k_factor * np.append(contests.score, 0.5)[steps]
    ratings = np.zeros(n * (agents + 2))
    for mine, theirs, won in zip(one, other, score, strict=True):
        gap = ratings[theirs]
        here = ratings[mine]
        expected = k_factor / (1.0 + np.exp((gap - here) * (np.log(10.0) / SCALE)))
        gain = won - expected
        ratings[mine] = here + gain
        ratings[theirs] = gap - gain
    return initial + ratings.reshape(n, agents + 2)[:, :agents]


def shuffled(n_games: int, tournaments: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """(tournaments, games): one random order of the games a row."""
    return generator.permuted(np.tile(np.arange(n_games), (tournaments, 1)), axis=1)


def rate(contests: Contests, draws: Resamples, settings: EloSettings) -> dict[str, Figure]:
    """Each agent's mean rating, over its verdicts, with an interval from resampling queries; None without a verdict.

    The interval's replicates are means of `TOURNAMENTS_A_REPLICATE` tournaments over the games of the queries drawn.
    """
    if not len(contests.a):
        return {agent: Figure(value=None, n=0, n_failed=contests.failed_of(agent)) for agent in contests.agents}
    generator = np.random.default_rng([settings.seed, 1])
    orders = shuffled(len(contests.a), settings.tournaments, generator)
    means = play(contests, orders, settings.k_factor, settings.initial).mean(axis=0)
    replicates = _replicates(contests, draws, settings)
    figures = {}
    for index, agent in enumerate(contests.agents):
        n, failed = contests.games_of(agent), contests.failed_of(agent)
        low, high = draws.interval(replicates[:, index], contests.queries_of(agent))
        figures[agent] = rounded(means[index], n, failed, low, high) if n else Figure(value=None, n=0, n_failed=failed)
    return figures


def _replicates(contests: Contests, draws: Resamples, settings: EloSettings) -> Floats:
    """(replicates, agents): mean ratings over the games of each draw of queries."""
    generator = np.random.default_rng([settings.seed, 2])
    each = min(TOURNAMENTS_A_REPLICATE, settings.tournaments)
    weights = draws.weights[:, contests.query]
    none, longest, parts = len(contests.a), int(weights.sum(axis=1).max(initial=0)), []
    for start in range(0, len(weights), _AT_ONCE // each):
        block = weights[start : start + _AT_ONCE // each]
        games = np.full((len(block), longest), none)
        for row, weight in zip(games, block, strict=True):
            drawn = np.repeat(np.arange(none), weight)
            row[: len(drawn)] = drawn
        orders = generator.permuted(np.repeat(games, each, axis=0), axis=1)
        ratings = play(contests, orders, settings.k_factor, settings.initial)
        parts.append(ratings.reshape(len(block), each, -1).mean(axis=1))
    return np.concatenate(parts)
