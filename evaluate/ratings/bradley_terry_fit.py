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
