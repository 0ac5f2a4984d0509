"""Elo ratings from verdicts: the mean of many tournaments over the same games, each in its own shuffled order.

The standard model (Elo 1978, The Rating of Chessplayers): a's expected score against b is
1 / (1 + 10^((R_b - R_a) / 400)), and after a game a gains K (score - expected) and b loses it; a tie scores one half.
Ratings are never rounded. The order of the games moves the outcome, so one order is not enough (RAGElo has 500:
Rackauckas, Câmara and Zavrel 2024); the tournaments are played side by side, one numpy step a game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from math import log

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats, Ints
from ragassay.cores import Helpers
from ragassay.records import Figure

from ..statistics.resamples import Resamples
from .win_table import Contests

SCALE = 400.0
"""Rating points to a factor of ten in the odds."""

STARTS = 10
"""From how many points of the circle each shuffle is played, both ways round: 20 tournaments a shuffle."""

STARTS_OF_A_REPLICATE = 5
"""The same for a resample of the queries, one shuffle each: 10 tournaments, so that order adds little to the spread."""

Orders = NDArray[np.integer]
"""(rows, games): indices of games."""

_AT_ONCE = 1000
_STEPS = 64
"""Games whose players are looked up at a time: few enough to stay in the processor's cache."""

_GAMES_OF_A_PROCESS = 100_000_000
"""With so many in all tournaments, seconds of work, they are worth sharing among the machine's cores."""


@dataclass(frozen=True)
class Circles:
    """Every row of games (rows, games), in an order drawn at random, from each of `starts` points, both ways round.

    Each order is as random as any other, but a game played late in one is played early in another, so that their mean
    depends on the draw much less than the mean of as many separate shuffles (systematic and antithetic sampling).
    """

    games: Orders
    starts: int

    @property
    def size(self) -> int:
        """How many tournaments there are."""
        return 2 * self.starts * len(self.games)

    def steps(self) -> Iterator[Ints]:
        """(steps, tournaments): the next games of all tournaments; those of one start and way stand together."""
        size = self.games.shape[1]
        turned = np.ascontiguousarray(self.games.T)
        ahead = (np.arange(size) + np.arange(self.starts)[:, None] * size // self.starts) % max(size, 1)
        circle = np.concatenate([ahead, ahead[:, ::-1]]).T
        for start in range(0, size, _STEPS):
            yield np.take(turned, circle[start : start + _STEPS], axis=0).reshape(-1, self.size).astype(np.intp)

    def by_row(self, ratings: Floats) -> Floats:
        """(rows, tournaments of a row, agents) of ratings (tournaments, agents)."""
        return ratings.reshape(2 * self.starts, len(self.games), -1).transpose(1, 0, 2)


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


def play(contests: Contests, circles: Circles, k_factor: float, initial: float) -> Floats:
    """Ratings (tournaments, agents) after playing games, indices into `contests`, in the orders of `circles`.

    An index equal to the number of games is no game. A game counts as `Contests.game_weights` says, in so many K.
    """
    kinds, number = _kinds(contests)
    orders = Circles(number[circles.games], circles.starts)
    return _played(_Part(kinds, orders, len(contests.agents), k_factor, initial))


@dataclass(frozen=True)
class _Kinds:
    """The different games there are, by players, score and weight: so few that looking one up is fast. The last is no
    game, between two agents beyond all others."""

    a: Ints
    b: Ints
    score: Floats
    weight: Floats


def _kinds(contests: Contests) -> tuple[_Kinds, Orders]:
    """The kinds, and (games + 1,) the number of each game's in few bytes, that of no game last."""
    agents = len(contests.agents)
    columns = np.stack([contests.a, contests.b, contests.score, contests.game_weights()])
    kinds, number = np.unique(np.column_stack([columns, (agents, agents + 1, 0.5, 1.0)]), axis=1, return_inverse=True)
    a, b = (np.ascontiguousarray(kinds[side]).astype(np.intp) for side in (0, 1))
    return _Kinds(a, b, kinds[2], kinds[3]), number.ravel().astype(np.min_scalar_type(len(a)))


@dataclass(frozen=True)
class _Part:
    """Tournaments that are played side by side, by one process. circles: of kinds, not of games."""

    kinds: _Kinds
    circles: Circles
    agents: int
    k_factor: float
    initial: float


def _played(part: _Part) -> Floats:
    """Ratings (tournaments, agents)."""
    n, width, kinds = part.circles.size, part.agents + 2, part.kinds
    rows = np.arange(n) * width
    # In units of 2 · SCALE / ln 10 points the expectation is 1/2 - tanh(R_b - R_a) / 2, and the gain so many units:
    # K ln 10 / (4 SCALE) · (2 (score - 1/2) + tanh(R_b - R_a)).
    step = part.k_factor * log(10) / (4 * SCALE)
    steps, even = step * kinds.weight, bool((kinds.weight == 1).all())
    beyond_half = 2 * steps * (kinds.score - 0.5)
    ratings, gain, both = np.zeros(n * width), np.empty(n), np.empty((2, n))
    one, other = both
    for given in part.circles.steps():
        places = np.empty((len(given), 2, n), dtype=np.intp)
        for side, players in enumerate((kinds.a, kinds.b)):
            np.add(np.take(players, given), rows, out=places[:, side])
        sizes = repeat(step, len(given)) if even else np.take(steps, given)
        for place, won, size in zip(places, np.take(beyond_half, given), sizes, strict=True):
            ratings.take(place, out=both, mode="clip")
            np.tanh(np.subtract(other, one, out=gain), out=gain)
            gain *= size
            gain += won
            one += gain
            other -= gain
            ratings[place] = both
    return part.initial + ratings.reshape(n, width)[:, : part.agents] * (2 * SCALE / log(10))


def shuffled(games: Orders, starts: int, generator: np.random.Generator) -> Circles:
    """Every row of `games` in random order."""
    return Circles(generator.permuted(games, axis=1), starts)


def is_large(n_verdicts: int, replicates: int, tournaments: int) -> bool:
    """Whether `rate` is work enough to be shared among processes; replicates: 0 without intervals."""
    return n_verdicts * (tournaments + replicates * 2 * STARTS_OF_A_REPLICATE) >= _GAMES_OF_A_PROCESS


def rate(
    contests: Contests, draws: Resamples | None, settings: EloSettings, helpers: Helpers | None = None
) -> dict[str, Figure]:
    """Each agent's mean rating, over its verdicts; None without a verdict.

    draws: gives each an interval from resampling queries, whose replicates are means of 2 · `STARTS_OF_A_REPLICATE`
    tournaments over the games of the queries drawn, which is many times the work; None: no intervals.
    helpers: who plays (default: processes of its own where it `is_large`).
    """
    if not len(contests.a):
        return contests.figures(lambda agent: None)
    generator, (kinds, number) = np.random.default_rng([settings.seed, 1]), _kinds(contests)
    shuffles = -(-settings.tournaments // (2 * STARTS))
    circles = shuffled(np.tile(number[:-1], (shuffles, 1)), STARTS, generator)
    part = _Part(kinds, circles, len(contests.agents), settings.k_factor, settings.initial)
    ends: dict[str, tuple[float | None, float | None]] = dict.fromkeys(contests.agents, (None, None))
    if draws is None:
        ratings = _played(part)
    elif helpers is None:
        with Helpers(is_large(len(contests.a), len(draws.weights), settings.tournaments)) as own:
            return rate(contests, draws, settings, own)
    else:
        ratings, *others = helpers.each(_played, chain([part], _replicates(contests, draws, settings)))
        each = 2 * STARTS_OF_A_REPLICATE
        drawn = np.concatenate([one.reshape(each, len(one) // each, -1).mean(axis=0) for one in others])
        for index, agent in enumerate(contests.agents):
            ends[agent] = draws.rating_interval(drawn[:, index], contests.queries_of(agent))
    own_ratings = circles.by_row(ratings).reshape(-1, part.agents)[: settings.tournaments].mean(axis=0)
    means = dict(zip(contests.agents, own_ratings, strict=True))
    return contests.figures(lambda agent: (means[agent], *ends[agent]) if contests.games_of(agent) else None)


def begin(
    contests: Contests, draws: Resamples | None, settings: EloSettings, helpers: Helpers
) -> Callable[[], dict[str, Figure]]:
    """`rate`, which is waited for when its figures are asked for."""
    if draws is None:
        return helpers.start(rate, contests, None, settings)
    return helpers.beside(partial(rate, contests, draws, settings, helpers))


def _replicates(contests: Contests, draws: Resamples, settings: EloSettings) -> Iterator[_Part]:
    """Tournaments over the games of each draw of queries, as they are needed: each part has the games of its draws."""
    generator, (kinds, number) = np.random.default_rng([settings.seed, 2]), _kinds(contests)
    of_query = np.bincount(contests.query, minlength=len(contests.queries))
    longest, step = int((draws.weights @ of_query).max(initial=0)), _AT_ONCE // (2 * STARTS_OF_A_REPLICATE)
    for start in range(0, len(draws.weights), step):
        block = draws.weights[start : start + step, contests.query]
        games = np.full((len(block), longest), number[-1])
        for row, weight in zip(games, block, strict=True):
            drawn = np.repeat(number[:-1], weight)
            row[: len(drawn)] = drawn
        circles = shuffled(games, STARTS_OF_A_REPLICATE, generator)
        yield _Part(kinds, circles, len(contests.agents), settings.k_factor, settings.initial)
