"""The Bradley-Terry fit, with or without Davidson's ties, of many tables of games side by side.

Davidson (Journal of the American Statistical Association 65, 1970, eq. 2.1): with strengths p and a tie parameter v,

    P(i beats j) = p_i / (p_i + p_j + v sqrt(p_i p_j)),    P(tie) = v sqrt(p_i p_j) / (p_i + p_j + v sqrt(p_i p_j)).

With v = 0 this is Bradley and Terry's model (Biometrika 39, 1952), for which a tie is counted as half a win for each
side. Both are solved by Newton's method on the logarithms, in which the likelihood is concave, with its steps halved
until the likelihood rises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragassay.arrays import Floats, Truths

from ..statistics.clustered import NO_SPREAD

SPREAD = 0.1
"""The scale of the half-Cauchy prior of the true means' standard deviation, in points (0 to 1)."""

_SPREADS = np.concatenate([[0.0], np.geomspace(0.002, 1.0, 60)])
_VARIANCES, _MANY = 5, 300
"""Into how many equal parts the distribution of the variance is cut; degrees of freedom from which it is known."""

_STEPS = np.linspace(-8, 8, 241)
"""Where the distribution of the largest is summed, in standard deviations of one around the whole of all."""


def best_of(means: Floats, variance: float, df: float = np.inf) -> tuple[Floats, float]:
    """(agents,): how likely each is the best, which sum to 1; and by how much the first is expected to fall short.

    The leader of many noisy means leads partly by luck. So the true means are taken to scatter normally around their
    mean with a standard deviation of their own, learned from the means seen (the model of the eight schools: Rubin
    1981; Gelman, Bayesian Analysis 1(3), 2006, section 5). Where they differ no more than their noise, all agents come
    out about as likely; where they differ much more, the best seen is the best. The noise is one variance, the mean
    over the contrasts of the agents, so that the larger mean is always the likelier best. It is an average over what
    may be true, and no guarantee: `statistics.ladder` has that.

    means: (agents,), at least two. variance: of the means' noise, above 0, as of one contrast of theirs, learned
    with `df` degrees of freedom: as in Student's t it may be larger.
    """
    from scipy.special import chdtri

    places = (np.arange(_VARIANCES) + 0.5) / _VARIANCES
    scales = df / chdtri(df, places) if df < _MANY else np.ones(1)
    parts = [_best_of(means - means.mean(), variance * scale) for scale in scales.tolist()]
    chances, losses = zip(*parts, strict=True)
    return np.mean(chances, axis=0), float(np.mean(losses))


def _best_of(centred: Floats, variance: float) -> tuple[Floats, float]:
    from scipy.special import ndtr

    weights = _weights(centred, variance)
    chance, loss = np.zeros(len(centred)), 0.0
    for spread, weight in zip(_SPREADS**2, weights, strict=True):
        if weight < 1e-9:
            continue
        kept = spread / (spread + variance)
        level, deviation = kept * centred, np.sqrt(kept * variance)
        if deviation < NO_SPREAD:
            chance += weight / len(centred)
            continue
        ends = level.min() + _STEPS[0] * deviation, level.max() + _STEPS[-1] * deviation
        at = np.linspace(*ends, max(len(_STEPS), int(8 * (ends[1] - ends[0]) / deviation)))
        z = (at - level[:, None]) / deviation
        below = np.maximum(ndtr(z), 1e-300)
        # Each one's density of being the largest: its own by the chance that all others are below.
        largest = np.exp(-(z**2) / 2 + np.log(below).sum(axis=0) - np.log(below))
        total = largest.sum()
        chance += weight * largest.sum(axis=1) / total
        loss += weight * float((largest.sum(axis=0) * at).sum() / total - level[0])
    return chance / chance.sum(), float(max(0.0, loss))


def common_variance(residuals: Floats, n: int) -> float:
    """The mean variance of the contrasts between agents' means.

    residuals: (agents, clusters), each cluster's part of a mean's error. n: clusters, at least 2.
    """
    spread = residuals @ residuals.T * n / (n - 1)
    k = len(spread)
    return float((np.trace(spread) - spread.sum() / k) / (k - 1))


def _weights(centred: Floats, variance: float) -> Floats:
    """The posterior of the standard deviation of the true means, on the grid; each value stands for its step."""
    total = variance + _SPREADS**2
    log = -0.5 * ((len(centred) - 1) * np.log(total) + (centred**2).sum() / total) - np.log1p((_SPREADS / SPREAD) ** 2)
    weights = np.exp(log - log.max()) * np.gradient(_SPREADS)
    shares: Floats = weights / weights.sum()
    return shares


TOLERANCE = 1e-10
STEPS = 200
_LONGEST_STEP = 3.0
_HALVINGS = 30


@dataclass(frozen=True)
class Fit:
    """log: (tables, agents) log strengths, mean 0 in each table. tie_parameter: (tables,) v, 0 for half wins.

    information: (tables, agents, agents), that of the log strengths alone. converged: (tables,).
    """

    log: Floats
    tie_parameter: Floats
    information: Floats
    converged: Truths


def reach(wins: Floats) -> Truths:
    """(tables, agents, agents): whether wins lead from row to column, itself included (Warshall 1962)."""
    reached = (wins > 0) | np.eye(wins.shape[1], dtype=bool)
    for middle in range(wins.shape[1]):
        reached |= reached[:, :, middle, None] & reached[:, None, middle, :]
    return reached


def has_tie_parameter(wins: Floats, ties: Floats) -> Truths:
    """(tables,): whether Davidson's likelihood has a finite maximum where that of half wins has one.

    It has where no tie was seen (v is then 0), and where some agents beat one another in a circle. Otherwise all wins
    may run one way, and the likelihood can rise for ever as strengths and v grow together; such a table is refused
    although a few of them do have a maximum.
    """
    return np.asarray(has_circle(wins) | ~ties.any(axis=(1, 2)))


def has_circle(wins: Floats) -> Truths:
    """(tables,): whether some agents beat one another in a circle."""
    led = reach(wins)
    return np.asarray((led & led.transpose(0, 2, 1) & ~np.eye(wins.shape[1], dtype=bool)).any(axis=(1, 2)))


def log_strengths(wins: Floats, ties: Floats | None = None, parts: Truths | None = None) -> Fit:
    """The maximum of the likelihood of each table.

    wins: (tables, agents, agents), row's wins against column, where ties are counted as halves if `ties` is None.
    ties: (tables, agents, agents), symmetric, how many games were tied; Davidson's model is then fitted.
    Within a table, an agent must reach all that it has played through wins or ties (`reach`), and with `ties`
    `has_tie_parameter` must hold; agents that no game links are solved apart, each part with mean 0. parts: who is
    linked to whom, (tables, agents, agents), if it is known.
    """
    tied = np.zeros_like(wins) if ties is None else ties
    games = wins + wins.transpose(0, 2, 1) + tied
    problem = _Problem(wins + tied / 2, games, tied.sum(axis=(1, 2)) / 2, reach(games) if parts is None else parts)
    if not wins.size:
        return Fit(np.zeros(wins.shape[:2]), np.zeros(len(wins)), np.zeros(wins.shape), np.ones(len(wins), dtype=bool))
    at, totals, converged = _climb(problem)
    log = at[:, :-1] - _mean_of_parts(at[:, :-1], problem.parts)
    log -= log.mean(axis=1, keepdims=True)
    information = problem.information(*problem.shares(at, *totals))[:, :-1, :-1]
    return Fit(log, np.where(problem.n_ties > 0, np.exp(at[:, -1]), 0.0), information, converged)


@dataclass(frozen=True)
class _Problem:
    """score: row's wins with half the ties; games: symmetric; n_ties: (tables,); parts: who is linked to whom.

    The unknowns are the log strengths and, last, log v.
    """

    score: Floats
    games: Floats
    n_ties: Floats
    parts: Truths

    def of(self, which: Truths) -> _Problem:
        """The same for some of the tables."""
        return _Problem(self.score[which], self.games[which], self.n_ties[which], self.parts[which])

    def start(self) -> Floats:
        """Equal strengths, and v as the share of ties would have it among equals."""
        decided = np.maximum(self.games.sum(axis=(1, 2)) / 2 - self.n_ties, 0.5)
        at = np.zeros((len(self.games), self.games.shape[1] + 1))
        at[:, -1] = np.log(np.where(self.n_ties > 0, 2 * self.n_ties / decided, 1.0))
        return at

    def shares(self, at: Floats, half: Floats, total: Floats) -> tuple[Floats, Floats]:
        """P(row wins) and P(tie), from `totals`."""
        return np.exp(half - total), np.exp(self._log_tie(at) - total)

    def totals(self, at: Floats) -> tuple[Floats, Floats]:
        """Half the differences of the log strengths, d, and log(exp(d) + exp(-d) + v)."""
        half, tie = (at[:, :-1, None] - at[:, None, :-1]) / 2, self._log_tie(at)
        most = np.maximum(np.abs(half), tie)
        ahead = np.exp(half - most)
        return half, most + np.log(ahead + ahead.transpose(0, 2, 1) + np.exp(tie - most))

    def _log_tie(self, at: Floats) -> Floats:
        return np.where(self.n_ties > 0, at[:, -1], -np.inf)[:, None, None]

    def likelihood(self, at: Floats, half: Floats, total: Floats) -> Floats:
        """Its logarithm, (tables,), from `totals`."""
        tied = np.where(self.n_ties > 0, self.n_ties * at[:, -1], 0.0)
        # score - games / 2 is half of wins less losses, and each pair stands in the table twice.
        value: Floats = ((self.score - self.games / 2) * half - self.games * total / 2).sum(axis=(1, 2)) + tied
        return value

    def gradient(self, won: Floats, tie: Floats) -> Floats:
        """(tables, agents + 1), at these `shares`."""
        strengths = (self.score - self.games * (won + tie / 2)).sum(axis=2)
        ties = self.n_ties - np.where(self.n_ties > 0, (self.games * tie).sum(axis=(1, 2)) / 2, 0.0)
        return np.concatenate([strengths, ties[:, None]], axis=1)

    def information(self, won: Floats, tie: Floats) -> Floats:
        """(tables, agents + 1, agents + 1), of rank short by one for each part, and by one where no game was tied."""
        lost, size = won.transpose(0, 2, 1), won.shape[1] + 1
        between = self.games * ((won + lost) / 4 - ((won - lost) / 2) ** 2)
        full = np.zeros((len(won), size, size))
        full[:, :-1, :-1] = -between
        inner = np.arange(size - 1)
        full[:, inner, inner] += between.sum(axis=2)
        full[:, :-1, -1] = full[:, -1, :-1] = -(self.games * (won - lost) / 2 * tie).sum(axis=2)
        full[:, -1, -1] = (self.games * tie * (1 - tie)).sum(axis=(1, 2)) / 2
        return full

    def direction(self, at: Floats, half: Floats, total: Floats) -> Floats:
        """Newton's step, no part longer than `_LONGEST_STEP`; from `totals`."""
        won, tie = self.shares(at, half, total)
        full = self.information(won, tie)
        # What the likelihood does not know (each part's level, log v without ties) stays where it is.
        full[:, :-1, :-1] += self.parts / self.parts.sum(axis=2, keepdims=True)
        full[:, -1, -1] += self.n_ties == 0
        step = np.linalg.solve(full, self.gradient(won, tie)[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        return np.asarray(step * np.minimum(1, _LONGEST_STEP / np.maximum(longest, 1e-300)), dtype=np.float64)


def _climb(problem: _Problem) -> tuple[Floats, tuple[Floats, Floats], Truths]:
    """(tables, agents + 1) at the top, the `totals` there, and which tables got there."""
    at, open_tables = problem.start(), np.ones(len(problem.games), dtype=bool)
    half, total = problem.totals(at)
    reached = problem.likelihood(at, half, total)
    for _ in range(STEPS):
        here, place, before = problem.of(open_tables), at[open_tables], reached[open_tables]
        step, size = here.direction(place, half[open_tables], total[open_tables]), np.ones((len(place), 1))
        for _ in range(_HALVINGS):
            totals = here.totals(place + size * step)
            after = here.likelihood(place + size * step, *totals)
            lower = after < before - 1e-12 * np.abs(before)
            if not lower.any():
                break
            size[lower] /= 2
        at[open_tables], reached[open_tables] = place + size * step, after
        half[open_tables], total[open_tables] = totals
        open_tables[open_tables] = np.abs(step).max(axis=1) > TOLERANCE
        if not open_tables.any():
            break
    return at, (half, total), ~open_tables


def _mean_of_parts(log: Floats, parts: Truths) -> Floats:
    """Each agent's part's mean."""
    mean: Floats = (parts * log[:, None, :]).sum(axis=2) / parts.sum(axis=2)
    return mean
