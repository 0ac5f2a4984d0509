"""The fit of `judge_aware`: strengths, and each judge's reliability and position effect, for many tables side by side.

The likelihood is that of a logistic regression whose slopes are fitted too. It is climbed by Fisher's scoring, and near
the top, where the likelihood is concave, by Newton's method; steps are halved until it does not fall. After each step
reliabilities and strengths are brought to the scale on which the prior is largest, which changes no probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ragassay.arrays import Floats, Ints, Truths

RELIABILITY_SD = 2.0
"""Of the prior of a reliability g, exp(-(g^2 - 1)^2 / (8 SD^2)): around 1 and -1 like a normal one, smooth at 0."""
POSITION_SD = 2.0
"""Of the prior of a position effect, in log odds, normal around 0."""
STEPS = 500
TOLERANCE = 1e-8
FARTHEST = 30.0
"""Log odds of a game beyond which its agents have no finite strengths: they would grow for ever."""
_LONGEST_STEP = 2.0
_NEAR = 0.1
_HALVINGS = 30


@dataclass(frozen=True)
class Cells:
    """The kinds of games: a and b, by whom, and in which order; arrays (cells,).

    order: 1 where a was shown first, -1 where b was, 0 where that is not known.
    """

    n_agents: int
    n_judges: int
    a: Ints
    b: Ints
    judge: Ints
    order: Floats

    @cached_property
    def sides(self) -> Floats:
        """(cells, agents): 1 for a, -1 for b."""
        agents = np.arange(self.n_agents)
        signs: Floats = (self.a[:, None] == agents).astype(np.float64) - (self.b[:, None] == agents)
        return signs

    @cached_property
    def by_judge(self) -> Floats:
        """(cells, judges): 1 for the judge."""
        ones: Floats = (self.judge[:, None] == np.arange(self.n_judges)).astype(np.float64)
        return ones


@dataclass(frozen=True)
class Fit:
    """log: (tables, agents) log strengths, mean 0. reliability, position: (tables, judges), position in log odds.

    Of the scales that make no difference, the one on which sum g^4 = sum g^2 over the reliabilities g, and of the two
    signs the one with sum g |g| > 0.
    information: (tables, judges), what the games say of a reliability where strengths are known and the judge's
    position effect is not. finite: (tables,), whether no game has log odds beyond `FARTHEST`. converged: (tables,).
    """

    log: Floats
    reliability: Floats
    position: Floats
    information: Floats
    finite: Truths
    converged: Truths


def fit(cells: Cells, games: Floats, score: Floats) -> Fit:
    """The largest posterior of each table; agents must be linked by games.

    games: (tables, cells), how many; score: (tables, cells), what a got of them, a tie being half.
    """
    problem = _Problem(cells, games, score)
    at, converged = _climb(problem)
    log, reliability, position = problem.parts(at)
    far = np.where(games > 0, np.abs(problem.odds(at)), 0.0).max(axis=1, initial=0.0)
    return Fit(log, reliability, position, problem.of_reliability(at), far < FARTHEST, converged)


@dataclass(frozen=True)
class _Problem:
    """The unknowns are the log strengths, the reliabilities and the position effects, in that order."""

    cells: Cells
    games: Floats
    score: Floats

    def of(self, which: Truths) -> _Problem:
        """The same for some of the tables."""
        return _Problem(self.cells, self.games[which], self.score[which])

    def start(self) -> Floats:
        """Equal agents, and judges alike."""
        at = np.zeros((len(self.games), self.cells.n_agents + 2 * self.cells.n_judges))
        at[:, self.cells.n_agents : self.cells.n_agents + self.cells.n_judges] = 1.0
        return at

    def parts(self, at: Floats) -> tuple[Floats, Floats, Floats]:
        """Log strengths, reliabilities, position effects."""
        agents, judges = self.cells.n_agents, self.cells.n_judges
        return at[:, :agents], at[:, agents : agents + judges], at[:, agents + judges :]

    def gaps(self, at: Floats) -> Floats:
        """(tables, cells): by how much a is stronger."""
        log = at[:, : self.cells.n_agents]
        return np.asarray(log[:, self.cells.a] - log[:, self.cells.b])

    def odds(self, at: Floats) -> Floats:
        """(tables, cells): the log odds of a's winning."""
        _, reliability, position = self.parts(at)
        judge = self.cells.judge
        return np.asarray(reliability[:, judge] * self.gaps(at) + self.cells.order * position[:, judge])

    def posterior(self, at: Floats) -> Floats:
        """(tables,): its logarithm."""
        _, reliability, position = self.parts(at)
        odds = self.odds(at)
        likelihood = (self.score * odds - self.games * np.logaddexp(0.0, odds)).sum(axis=1)
        prior = ((reliability**2 - 1) / (2 * RELIABILITY_SD)) ** 2 + (position / POSITION_SD) ** 2
        return np.asarray(likelihood - prior.sum(axis=1) / 2)

    def gradient(self, at: Floats) -> Floats:
        """(tables, unknowns)."""
        _, reliability, position = self.parts(at)
        left = self.score - self.games * _share(self.odds(at))
        of_judge = self.cells.by_judge
        return np.concatenate(
            [
                (left * reliability[:, self.cells.judge]) @ self.cells.sides,
                (left * self.gaps(at)) @ of_judge - reliability * (reliability**2 - 1) / (2 * RELIABILITY_SD**2),
                (left * self.cells.order) @ of_judge - position / POSITION_SD**2,
            ],
            axis=1,
        )

    def information(self, at: Floats) -> Floats:
        """(tables, unknowns, unknowns): expected, with the prior's; the strengths' level is held where it is."""
        cells, (_, reliability, _) = self.cells, self.parts(at)
        agents, judges = cells.n_agents, cells.n_judges
        gaps, slope, weight = self.gaps(at), reliability[:, cells.judge], self._weight(at)
        full = np.zeros((len(at), agents + 2 * judges, agents + 2 * judges))
        full[:, :agents, :agents] = _outer(weight * slope**2, cells.sides, cells.sides) + 1 / agents
        for first, of_first in ((agents, gaps), (agents + judges, cells.order)):
            crossed = _outer(weight * slope * of_first, cells.sides, cells.by_judge)
            full[:, :agents, first : first + judges] = crossed
            full[:, first : first + judges, :agents] = crossed.transpose(0, 2, 1)
        k = np.arange(agents, agents + judges)
        full[:, k, k] = (weight * gaps**2) @ cells.by_judge + RELIABILITY_SD**-2
        full[:, k + judges, k + judges] = (weight * cells.order**2) @ cells.by_judge + POSITION_SD**-2
        full[:, k, k + judges] = full[:, k + judges, k] = (weight * gaps * cells.order) @ cells.by_judge
        return full

    def direction(self, at: Floats) -> Floats:
        """Fisher's step, no longer than `_LONGEST_STEP`; where it is below `_NEAR`, Newton's if that leads up."""
        expected, gradient = self.information(at), self.gradient(at)
        fisher = np.linalg.solve(expected, gradient[:, :, None])[:, :, 0]
        longest = np.abs(fisher).max(axis=1, keepdims=True)
        step = fisher * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, 1e-300))
        near = np.flatnonzero(longest[:, 0] < _NEAR)
        newton = np.linalg.solve(self._observed(at, expected)[near], gradient[near, :, None])[:, :, 0]
        good = ((newton * gradient[near]).sum(axis=1) > 0) & (np.abs(newton).max(axis=1, initial=0.0) < 2 * _NEAR)
        step[near[good]] = newton[good]
        return np.asarray(step)

    def _observed(self, at: Floats, expected: Floats) -> Floats:
        """The information as it is and not as expected: reliabilities with strengths, and the prior's curvature."""
        agents, judges = self.cells.n_agents, self.cells.n_judges
        left = self.score - self.games * _share(self.odds(at))
        crossed = _outer(left, self.cells.sides, self.cells.by_judge)
        observed = expected.copy()
        observed[:, :agents, agents : agents + judges] -= crossed
        observed[:, agents : agents + judges, :agents] -= crossed.transpose(0, 2, 1)
        k = np.arange(agents, agents + judges)
        observed[:, k, k] += 1.5 * (at[:, k] ** 2 - 1) / RELIABILITY_SD**2
        return observed

    def of_reliability(self, at: Floats) -> Floats:
        """(tables, judges): the games' information on each reliability, the judge's position effect being unknown."""
        gaps, weight, of_judge = self.gaps(at), self._weight(at), self.cells.by_judge
        shared = (weight * gaps * self.cells.order) @ of_judge
        position = (weight * self.cells.order**2) @ of_judge + POSITION_SD**-2
        return np.asarray((weight * gaps**2) @ of_judge - shared**2 / position)

    def rescaled(self, at: Floats) -> Floats:
        """Strengths of mean 0, on the scale on which the prior is largest, with the sign of `Fit`."""
        log, reliability, position = self.parts(at)
        squares = reliability**2
        size = np.sqrt(squares.sum(axis=1, keepdims=True) / (squares**2).sum(axis=1, keepdims=True))
        scale = np.where((reliability * np.abs(reliability)).sum(axis=1, keepdims=True) < 0, -size, size)
        centred = log - log.mean(axis=1, keepdims=True)
        return np.concatenate([centred / scale, reliability * scale, position], axis=1)

    def _weight(self, at: Floats) -> Floats:
        share = _share(self.odds(at))
        return np.asarray(self.games * share * (1 - share))


def _share(odds: Floats) -> Floats:
    return np.asarray((1 + np.tanh(odds / 2)) / 2)


def _outer(weight: Floats, rows: Floats, columns: Floats) -> Floats:
    """(tables, rows, columns): the sum over cells of weight (tables, cells) times both."""
    pairs = (rows[:, :, None] * columns[:, None, :]).reshape(len(rows), -1)
    return np.asarray((weight @ pairs).reshape(-1, rows.shape[1], columns.shape[1]))


def _climb(problem: _Problem) -> tuple[Floats, Truths]:
    """(tables, unknowns) at the top, and which tables got there."""
    at, going = problem.start(), np.ones(len(problem.games), dtype=bool)
    for _ in range(STEPS):
        if not going.any():
            break
        here, place = problem.of(going), at[going]
        at[going] = here.rescaled(_up(here, place, here.direction(place)))
        far = np.abs(here.odds(at[going])).max(axis=1, initial=0.0) > 2 * FARTHEST
        going[going] = (np.abs(at[going] - place).max(axis=1) > TOLERANCE) & ~far
    return at, ~going


def _up(problem: _Problem, place: Floats, step: Floats) -> Floats:
    """As far along the step as the posterior does not fall."""
    before, size = problem.posterior(place), np.ones((len(place), 1))
    for _ in range(_HALVINGS):
        lower = problem.posterior(place + size * step) < before - 1e-12 * np.abs(before)
        if not lower.any():
            break
        size[lower] /= 2
    return np.asarray(place + size * step)
