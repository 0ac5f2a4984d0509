"""Adaptive play: which games are left to play, and when the order of the agents is decided.

After each round the games so far are fitted by Bradley-Terry (a tie half a win), and every pair's difference is tested
by its likelihood ratio, divided by how much queries scatter beyond the model. A pair is decided where that ratio is
beyond a limit shared out over the looks and over the pairs still open (Bonferroni over looks, Holm 1979 over pairs):
all decisions of a whole run are right at once with the asked confidence, although the data are looked at often. What
follows from decided pairs is decided too.

In each round an open pair plays a batch of queries, and a decided one a quarter of a batch (successive elimination:
Even-Dar, Mannor and Mansour, Journal of Machine Learning Research 7, 2006, section 3, but for that quarter). Play ends
when no open pair has a query left, or the budget is spent. The quarter is for the ratings: a pair is decided while luck
makes it look further apart than it is, and more games take that luck back (Bramley and Vitello, Assessment in Education
26(1), 2019, found the like of adaptive designs). `benchmarks/results/ratings/adaptive_play.md` has figures.

Which pairs play depends on the results, which queries they play on does not: each pair goes through the queries in a
random order of its own. So the verdicts of a pair are always a random sample of its queries.

Everything is computed for many runs side by side (`tables`), which is what the simulations need; a real run is one.
Pairs are in the order of `itertools.combinations` of the agents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import ceil

import numpy as np

from ragassay.arrays import Floats, Ints, Truths

from ...ratings.bradley_terry_fit import log_strengths

BATCH_SHARE = 0.1
"""Of all queries, what an open pair plays in a round."""

FEWEST_IN_BATCH = 3
"""At least so many queries a batch."""

DECIDED_SHARE = 0.25
"""Of a batch, what a decided pair still plays in a round, rounded up."""

FEWEST_CLUSTERS = 6
"""Below six independent queries or sections nothing is decided: not even a win in each is significant at 5%."""

_KNOWN_TIES = 0.5
"""How many tied games each pair is taken to have played before the first, so that estimates are finite at any time."""

_STEADY = 10
"""Queries' worth of belief that they scatter as the model says, before their scatter is measured."""


@dataclass(frozen=True)
class Design:
    """How much is played. A game is one pair on one query, in both orders. confidence and max_share are in (0, 1]."""

    n_agents: int
    n_queries: int
    confidence: float = 0.95
    max_share: float = 0.5

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""
        return self.n_agents * (self.n_agents - 1) // 2

    @property
    def batch(self) -> int:
        """Queries that an open pair plays in a round."""
        return min(self.n_queries, max(FEWEST_IN_BATCH, ceil(BATCH_SHARE * self.n_queries)))

    @property
    def budget(self) -> int:
        """Games at most; the first round is played in any case."""
        return max(self.batch * self.n_pairs, int(self.max_share * self.n_queries * self.n_pairs))

    @property
    def looks(self) -> int:
        """How often the order is tested, at most."""
        return ceil(self.n_queries / max(1, self.batch))


@dataclass(frozen=True)
class Played:
    """scores: (tables, queries, pairs), NaN where not played or without a verdict. met: (tables, pairs), on how many
    queries. decided: as `decide` gives it, after the last round. rounds: (tables,), how many each took."""

    scores: Floats
    met: Ints
    decided: Ints
    rounds: Ints


def play_out(
    design: Design, cluster: Ints, place: Ints, reveal: Callable[[Truths], Floats], n_queries: Ints | None = None
) -> Played:
    """Round after round, until each pair is decided or has met on all queries, or the budget is spent.

    place: (tables, queries, pairs), each pair's own order of the queries, from 0. reveal: plays the games that are true
    in a (tables, queries, pairs) array and returns their scores, NaN elsewhere. n_queries: (tables, pairs), on how many
    queries a pair can meet, where not on all.
    """
    scores = np.full(place.shape, np.nan)
    size = np.full((len(place), design.n_pairs), design.n_queries) if n_queries is None else n_queries
    met, decided = (np.zeros((len(place), design.n_pairs), dtype=np.intp) for _ in range(2))
    more, rounds = np.minimum(size, design.batch), np.zeros(len(place), dtype=np.intp)
    while more.any():
        new = (place >= met[:, None]) & (place < (met + more)[:, None])
        scores = np.where(new, reveal(new), scores)
        met, rounds = met + more, rounds + more.any(axis=1)
        decided = decide(weigh(scores, cluster, design.n_agents), decided, design)
        more = choose(decided, size - met, design.budget - met.sum(axis=1), design)
    return Played(scores, met, decided, rounds)


def weigh(scores: Floats, cluster: Ints, n_agents: int) -> Floats:
    """(tables, pairs): how far each difference is from 0 in standard errors, by the games so far, above 0 for a pair's
    first agent. 0 throughout a table with games in fewer than `FEWEST_CLUSTERS` clusters.

    scores: (tables, queries, pairs), the first agent's score (1, 0.5, 0), NaN where there is no verdict. cluster:
    (queries,) from 0, what is not independent.
    """
    first, second = _ends(n_agents)
    known = ~np.isnan(scores)
    games = known.sum(axis=1) + _KNOWN_TIES
    won = np.where(known, scores, 0.0).sum(axis=1) + _KNOWN_TIES / 2
    table = _square(won, games - won, n_agents)
    fit = log_strengths(table)
    rate = 1 / (1 + np.exp(fit.log[:, second] - fit.log[:, first]))
    contrasts = np.eye(n_agents)[first] - np.eye(n_agents)[second]
    inverse = np.linalg.inv(fit.information + 1 / n_agents)
    covariance = contrasts @ inverse @ contrasts.T
    excess = _excess(np.where(known, scores - rate[:, None], 0.0), cluster, covariance)
    fall = _likelihood(table, fit.log) - _likelihood_if_equal(table, games, n_agents)
    enough = _clusters_met(known, cluster) >= FEWEST_CLUSTERS
    z: Floats = np.sign(rate - 0.5) * np.sqrt(np.maximum(2 * fall, 0) / excess[:, None])
    return np.where(enough[:, None], z, 0.0)


def decide(z: Floats, decided: Ints, design: Design) -> Ints:
    """(tables, pairs): 1 where the first agent is decided to be better, -1 the second, 0 open. What was stays."""
    from scipy.special import ndtri

    found = decided.copy()
    for _ in range(design.n_pairs):
        still = np.maximum((found == 0).sum(axis=1), 1)
        limit = -ndtri((1 - design.confidence) / (2 * still * design.looks))
        new = np.where((found == 0) & (np.abs(z) > limit[:, None]), np.sign(z), 0).astype(np.intp)
        if not new.any():
            break
        found = _closed(found + new, design.n_agents)
    return found


def choose(decided: Ints, left: Ints, room: Ints, design: Design) -> Ints:
    """(tables, pairs): how many more games each pair plays; all pairs the same part of it where `room` is short.

    left: (tables, pairs), on how many queries a pair has not met. room: (tables,), games still in the budget; fewer
    than there are pairs may stay there. Tables without an open pair that has queries left play none.
    """
    still = ((decided == 0) & (left > 0)).any(axis=1)
    batch = np.where(decided == 0, design.batch, ceil(DECIDED_SHARE * design.batch))
    wanted = np.minimum(batch, left) * still[:, None]
    total = np.maximum(wanted.sum(axis=1), 1)
    chosen: Ints = wanted * np.minimum(room, total)[:, None] // total[:, None]
    return chosen


def _ends(n_agents: int) -> tuple[Ints, Ints]:
    """The first and the second agent of each pair."""
    pairs = np.array(list(combinations(range(n_agents), 2)), dtype=np.intp).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _square(won: Floats, lost: Floats, n_agents: int) -> Floats:
    """(tables, agents, agents), row's wins against column, from a pair's."""
    first, second = _ends(n_agents)
    table = np.zeros((len(won), n_agents, n_agents))
    table[:, first, second], table[:, second, first] = won, lost
    return table


def _excess(residuals: Floats, cluster: Ints, covariance: Floats) -> Floats:
    """(tables,): the differences' variance as the clusters scatter, over the model's; the mean over pairs, above 0.

    Ties make it less than 1, agreement of the games within a cluster more.
    """
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    influence = np.add.reduceat(residuals[:, order], starts, axis=1) @ covariance
    n = (np.add.reduceat(np.abs(residuals[:, order]), starts, axis=1).sum(axis=2) > 0).sum(axis=1)
    scatter = (influence**2).sum(axis=1) * (n / np.maximum(n - 1, 1))[:, None]
    ratio = (scatter / np.diagonal(covariance, axis1=1, axis2=2)).mean(axis=1)
    shrunk: Floats = (n * ratio + _STEADY) / (n + _STEADY)
    return shrunk


def _clusters_met(known: Truths, cluster: Ints) -> Ints:
    """(tables,): in how many clusters a game of any pair has a verdict."""
    of_query = np.asarray(known.any(axis=2))
    met = np.zeros((len(known), int(cluster.max(initial=-1)) + 1), dtype=np.intp)
    for query, number in enumerate(cluster):
        met[:, number] |= of_query[:, query]
    return np.asarray(met.sum(axis=1))


def _likelihood(table: Floats, log: Floats) -> Floats:
    """(tables, 1): its logarithm at these log strengths."""
    value: Floats = -(table * np.logaddexp(0, log[:, None, :] - log[:, :, None])).sum(axis=(1, 2))
    return value[:, None]


def _likelihood_if_equal(table: Floats, games: Floats, n_agents: int) -> Floats:
    """(tables, pairs): the logarithm of the largest likelihood where the two agents of a pair are equally strong."""
    merged = np.stack([_merged(table, i, j) for i, j in combinations(range(n_agents), 2)], axis=1)
    flat = merged.reshape(-1, n_agents - 1, n_agents - 1)
    value = _likelihood(flat, log_strengths(flat).log).reshape(games.shape)
    return np.asarray(value - games * np.log(2.0))


def _merged(table: Floats, i: int, j: int) -> Floats:
    """The tables with two agents as one, without the games between them."""
    kept = np.delete(np.eye(table.shape[1]), j, axis=0)
    kept[i if i < j else i - 1, j] = 1
    merged = kept @ table @ kept.T
    inner = np.arange(table.shape[1] - 1)
    merged[:, inner, inner] = 0
    return np.asarray(merged)


def _closed(decided: Ints, n_agents: int) -> Ints:
    """What is decided, with what follows by way of a third agent (where nothing says the opposite)."""
    first, second = _ends(n_agents)
    won, lost = ((decided == sign).astype(np.float64) for sign in (1, -1))
    better = _square(won, lost, n_agents) > 0
    for middle in range(n_agents):
        better |= better[:, :, middle, None] & better[:, None, middle, :]
    one, other = better[:, first, second], better[:, second, first]
    implied = one.astype(np.intp) - other.astype(np.intp)
    return np.where(decided != 0, decided, implied)
