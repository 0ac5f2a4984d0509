"""Judge-aware Bradley-Terry: one order of agents from several judges, each with its reliability and position effect.

The model is that of a "judge-aware ranking framework" (arXiv:2601.21817), in which each judge discriminates by a
parameter of its own, with an order effect as of Davidson and Beaver (Biometrics 33(4), 1977). With log strengths theta,
judge k's reliability gamma_k and position effect beta_k,

    log odds of i beating j, i shown first, by judge k = gamma_k (theta_i - theta_j) + beta_k.

A judge of reliability 0 throws dice, one below 0 contradicts the others; one who calls many games a tie is less
reliable, since a tie is half a win for each. What is ours: reliabilities have a weak prior around 1 and -1, position
effects one around 0 (`judge_aware_fit`). The likelihood does not tell the scale of reliabilities from that of
strengths. We take that on which the prior is largest, sum gamma_k^4 = sum gamma_k^2: a single judge then has 1 and the
model is Bradley and Terry's, and a judge who throws dice moves nobody's rating. Nor does it tell the sign of both;
sum gamma_k |gamma_k| > 0 goes with the weightier judges. Both orders of a game count, each as a game; what a query's
games and judges have in common is left to the resampling of whole queries (or sections).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from ragassay.arrays import Floats, Ints, Truths
from ragassay.records import Figure, Game
from ragassay.text import listed

from ..statistics.resamples import Resamples, rounded
from .bradley_terry import POINTS, UNBOUNDED_SHARE, why_not_finite
from .bradley_terry_fit import reach
from .judge_aware_fit import STEPS, Cells, Fit, fit
from .verdicts import SCORES, sorted_game
from .win_table import Contests

LEAST_INFORMATION = 5.0
"""Of a judge's games on its reliability; with less its standard error is above 0.45, and the prior weighs."""


@dataclass(frozen=True)
class JudgedGames:
    """Games with a winner, a row each, each order by itself; `failed` are those without.

    a, b, judge, query: (rows,), indices into `agents`, `judges` and `queries`. order: 1 where a was shown first, -1
    where b was. score: a's, 1 won, 0.5 tied, 0 lost.
    """

    agents: tuple[str, ...]
    judges: tuple[str, ...]
    queries: tuple[str, ...]
    a: Ints
    b: Ints
    judge: Ints
    query: Ints
    order: Floats
    score: Floats
    failed: tuple[Game, ...] = ()

    def contests(self) -> Contests:
        """The same without judges and orders."""
        return Contests(self.agents, self.queries, self.a, self.b, self.query, self.score)

    def of_agent(self, agent: str) -> Truths:
        """(rows,): its games."""
        index = self.agents.index(agent)
        return np.asarray((self.a == index) | (self.b == index))

    def of_judge(self, judge: str) -> Truths:
        """(rows,): its games."""
        return np.asarray(self.judge == self.judges.index(judge))


@dataclass(frozen=True)
class JudgeAware:
    """Ratings on Elo's scale, centred on the initial rating, and what each judge is worth; n counts games.

    ratings: of every agent. reliability: of every judge, gamma. position: of every judge, what an answer shown first
    scores against an equal one, 0.5 where position does not matter. A value is None where it cannot be told, intervals
    where resamples do not tell them; `notes` say why. converged: whether every fit met its tolerance.
    """

    ratings: dict[str, Figure]
    reliability: dict[str, Figure]
    position: dict[str, Figure]
    converged: bool
    notes: tuple[str, ...]


def judged_games(games: Iterable[Game], agents: Sequence[str], queries: Sequence[str]) -> JudgedGames:
    """The games as arrays, in an order that the order of the file does not change.

    agents, queries: all that take part. Raises InputError where an agent plays itself.
    """
    rows = sorted(map(sorted_game, games), key=lambda g: (g.query_id, g.agent_a, g.agent_b, g.judge, g.first))
    names = [tuple(sorted(set(each))) for each in (agents, (row.judge for row in rows), queries)]
    at = [{name: index for index, name in enumerate(each)} for each in names]
    told = [
        (at[0][g.agent_a], at[0][g.agent_b], at[1][g.judge], at[2][g.query_id], 1 if g.first == "a" else -1, score)
        for g in rows
        if g.winner is not None and (score := SCORES[g.winner]) is not None
    ]
    columns = np.array(told, dtype=np.float64).reshape(-1, 6)
    a, b, judge, query = (columns[:, index].astype(np.intp) for index in range(4))
    failed = tuple(row for row in rows if row.winner is None)
    return JudgedGames(names[0], names[1], names[2], a, b, judge, query, columns[:, 4], columns[:, 5], failed)


def rate_by_judges(
    games: JudgedGames, draws: Resamples, initial: float = 500.0, *, position: bool = True
) -> JudgeAware:
    """Ratings, reliabilities and position effects, intervals from resampling queries; every game counts the same.

    draws: over `games.queries`. position: whether judges may favour a place; else `position` is empty. An agent
    without a game is not rated. Where wins do not lead from every agent to every other there are no finite strengths,
    and then there is nothing to hold the judges against either. Such resamples are left out; above 5% of them there are
    no intervals.
    """
    played = np.unique(np.concatenate([games.a, games.b]))
    if not len(played):
        return _without_ratings(games, "no ratings: no game has a winner", position)
    cells, which = _cells(games, played, position)
    whole = _fit(cells, *_tables(games, which, cells, draws, np.ones((1, len(draws.queries)))))
    if (why := _why_none(games, whole)) is not None:
        return _without_ratings(games, why, position)
    drawn = _fit(cells, *_tables(games, which, cells, draws, draws.weights.astype(np.float64)))
    return _rated(games, played, whole, _Resampled(games, draws, drawn), initial, position)


def _cells(games: JudgedGames, played: Ints, position: bool) -> tuple[Cells, Ints]:
    """The kinds of games there are, among the agents that play, and the kind of each row."""
    order = games.order if position else np.zeros(len(games.order))
    rows = np.stack([np.searchsorted(played, games.a), np.searchsorted(played, games.b), games.judge, order], axis=1)
    kinds, which = np.unique(rows, axis=0, return_inverse=True)
    a, b, judge = (kinds[:, index].astype(np.intp) for index in range(3))
    return Cells(len(played), len(games.judges), a, b, judge, kinds[:, 3].astype(np.float64)), which.reshape(-1)


def _tables(games: JudgedGames, which: Ints, cells: Cells, draws: Resamples, weights: Floats) -> tuple[Floats, Floats]:
    """(draws, cells) twice: how many games of each kind, and what a scored in them. weights: (draws, queries)."""
    of_query = np.array([draws.clusters.number(query) for query in games.queries], dtype=np.intp)
    counts, scores = (np.zeros((len(draws.clusters.names), len(cells.a))) for _ in range(2))
    np.add.at(counts, (of_query[games.query], which), 1.0)
    np.add.at(scores, (of_query[games.query], which), games.score)
    of_cluster = weights[:, np.unique(draws.clusters.numbers, return_index=True)[1]]
    return of_cluster @ counts, of_cluster @ scores


def _fit(cells: Cells, counts: Floats, scores: Floats) -> Fit:
    """The fit of the tables in which wins lead from every agent to every other; of the others there is none."""
    wins = np.zeros((len(counts), cells.n_agents, cells.n_agents))
    for cell, (a, b) in enumerate(zip(cells.a.tolist(), cells.b.tolist(), strict=True)):
        wins[:, a, b] += scores[:, cell]
        wins[:, b, a] += counts[:, cell] - scores[:, cell]
    linked = reach(wins).all(axis=(1, 2))
    return fit(cells, counts[linked], scores[linked])


def _why_none(games: JudgedGames, whole: Fit) -> str | None:
    """Why there are no ratings, or None where there are."""
    if not len(whole.log):
        return why_not_finite(games.contests().with_verdicts())
    if not whole.finite[0]:
        return "no finite ratings: the verdicts of the judges that go together run one way"
    return None


def _without_ratings(games: JudgedGames, why: str, position: bool) -> JudgeAware:
    of_judges = {judge: _nothing(games, judge) for judge in games.judges}
    ratings = {
        agent: Figure(value=None, n=int(games.of_agent(agent).sum()), n_failed=_failed_of(games, agent))
        for agent in games.agents
    }
    return JudgeAware(ratings, of_judges, of_judges if position else {}, True, (why,))


def _nothing(games: JudgedGames, judge: str) -> Figure:
    failed = sum(row.judge == judge for row in games.failed)
    return Figure(value=None, n=int(games.of_judge(judge).sum()), n_failed=failed)


def _failed_of(games: JudgedGames, agent: str) -> int:
    return sum(agent in (row.agent_a, row.agent_b) for row in games.failed)


@dataclass(frozen=True)
class _Resampled:
    """The fits of the resamples, for intervals."""

    games: JudgedGames
    draws: Resamples
    fit: Fit

    @property
    def lacking(self) -> float:
        """The share of the resamples without finite ratings."""
        return 1 - int(self.fit.finite.sum()) / len(self.draws.weights) if len(self.draws.weights) else 0.0

    def figure(self, value: float, replicates: Floats, rows: Truths, n_failed: int) -> Figure:
        """A value with its interval, over the games `rows`."""
        ends: tuple[float | None, float | None] = (None, None)
        if self.lacking <= UNBOUNDED_SHARE:
            ends = self._ends(value, replicates[self.fit.finite], len(np.unique(self.games.query[rows])))
        return rounded(value, int(rows.sum()), n_failed, *ends)

    def _ends(self, value: float, replicates: Floats, n_queries: int) -> tuple[float | None, float | None]:
        """Of percentiles and of Student's t with the replicates' standard error, the farther ones.

        The scale that reliabilities share bends them, so that percentiles of the largest are too near to one another.
        """
        low, high = self.draws.rating_interval(replicates, n_queries)
        if low is None or high is None:
            return None, None
        from scipy.special import stdtrit

        n = self.draws.units(n_queries)
        error = float(replicates.std(ddof=1)) * sqrt(n / (n - 1))
        reach = float(stdtrit(n - 1, (1 + self.draws.confidence) / 2)) * error
        return min(low, value - reach), max(high, value + reach)


def _rated(
    games: JudgedGames, played: Ints, whole: Fit, drawn: _Resampled, initial: float, position: bool
) -> JudgeAware:
    ratings = _ratings(games, played, whole, drawn, initial)
    reliability = {judge: _nothing(games, judge) for judge in games.judges}
    places = dict(reliability) if position else {}
    for k, judge in enumerate(games.judges):
        rows, failed = games.of_judge(judge), reliability[judge].n_failed
        if position and rows.any():
            value, replicates = _chance(whole.position[0, k]), _chance(drawn.fit.position[:, k])
            places[judge] = _within(drawn.figure(float(value), replicates, rows, failed))
        if whole.information[0, k] >= LEAST_INFORMATION:
            replicates = drawn.fit.reliability[:, k]
            reliability[judge] = drawn.figure(whole.reliability[0, k], replicates, rows, failed)
    converged = bool(whole.converged.all() and drawn.fit.converged.all())
    notes = _notes(games, ratings, reliability, converged, drawn.lacking)
    return JudgeAware(ratings, reliability, places, converged, tuple(notes))


def _ratings(games: JudgedGames, played: Ints, whole: Fit, drawn: _Resampled, initial: float) -> dict[str, Figure]:
    found = {agent: Figure(value=None, n=0, n_failed=_failed_of(games, agent)) for agent in games.agents}
    for column, index in enumerate(played.tolist()):
        agent = games.agents[index]
        value, replicates = initial + POINTS * whole.log[0, column], initial + POINTS * drawn.fit.log[:, column]
        found[agent] = drawn.figure(value, replicates, games.of_agent(agent), found[agent].n_failed)
    return found


def _within(figure: Figure) -> Figure:
    """The same with an interval from 0 to 1."""
    if figure.ci_low is None or figure.ci_high is None:
        return figure
    return figure.model_copy(update={"ci_low": max(0.0, figure.ci_low), "ci_high": min(1.0, figure.ci_high)})


def _chance(log_odds: Floats) -> Floats:
    return np.asarray((1 + np.tanh(log_odds / 2)) / 2)


def _notes(
    games: JudgedGames,
    ratings: dict[str, Figure],
    reliability: dict[str, Figure],
    converged: bool,
    lacking: float,
) -> list[str]:
    said = [] if converged else [f"judge-aware Bradley-Terry did not converge in {STEPS} steps"]
    if lacking > UNBOUNDED_SHARE:
        said.append(f"no intervals: {lacking:.0%} of the resamples are one-sided and have no finite ratings")
    if idle := [agent for agent, figure in ratings.items() if figure.value is None]:
        said.append(f"not rated, since no game has a winner: {listed(idle)}")
    if len(games.judges) > 1 and not any((figure.ci_low or 0.0) > 0 for figure in reliability.values()):
        said.append("no judge is sure to go with the others: which order of the agents they share is not told")
    return said + [f"{judge}: {why}" for judge in games.judges if (why := _doubt(reliability[judge])) is not None]


def _doubt(reliability: Figure) -> str | None:
    """What is amiss with a judge, by its reliability."""
    if reliability.value is None:
        return "its games do not tell its reliability"
    if reliability.value < 0:
        sure = reliability.ci_high is not None and reliability.ci_high < 0
        return f"its verdicts {'' if sure else 'rather '}contradict those of the others"
    if reliability.ci_low is not None and reliability.ci_low <= 0:
        return "its reliability is not told from 0: its verdicts may have nothing to do with the agents"
    return None
