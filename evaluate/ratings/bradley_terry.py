"""Bradley-Terry ratings from verdicts, ties by Davidson or as half wins; many tables of games are fitted side by side.

Davidson (Journal of the American Statistical Association 65, 1970, eq. 2.1): with strengths p and a tie parameter v,

    P(i beats j) = p_i / (p_i + p_j + v sqrt(p_i p_j)),    P(tie) = v sqrt(p_i p_j) / (p_i + p_j + v sqrt(p_i p_j)).

With v = 0 this is Bradley and Terry's model (Biometrika 39, 1952), for which a tie is counted as half a win for each
side. Both are solved by Newton's method on the logarithms, in which the likelihood is concave, with its steps halved
until the likelihood rises.

Strengths are finite only where every agent has won, perhaps by way of others, against every other (Ford 1957; a tie
goes both ways). A table that is not so connected gets no ratings and a sentence that says why, rather than a number
from an iteration cut short. Davidson's model needs more than that (`has_tie_parameter`). Where its maximum is not
finite, in the table or in more than 5% of the resamples, ties count as half wins instead, and the note says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats, Ints, Truths
from ragassay.records import Figure
from ragassay.text import listed

from ..statistics.clustered import NO_SPREAD
from ..statistics.resamples import DIGITS, Resamples
from .win_table import Contests

POINTS = 400 / np.log(10.0)
"""Rating points to a factor of e in the odds, as in Elo: 400 points are a factor of ten."""

UNBOUNDED_SHARE = 0.05
"""How many of the resamples may lack finite ratings before the interval is withheld."""

ALL_TIED = "all verdicts are ties: no agent stands above another, and nothing tells how far apart they may be"

HALF_INSTEAD = "ties are counted as half wins: all wins run one way, where Davidson's tie parameter has no finite value"

_AT_ONCE = 200_000
"""Cells of tables that are solved together: few enough to stay in the processor's cache."""

Ties = Literal["davidson", "half"]


@dataclass(frozen=True)
class BradleyTerry:
    """Ratings on Elo's scale, centred on the initial rating.

    figures: of every agent; value None where there is no finite rating. ties: the model used. tie_parameter:
    Davidson's, None for half wins. triples, intransitive: of three agents that each beat or lost to each other on most
    verdicts, how many there are, and how many of them run in a circle. converged: whether the fit met its tolerance.
    note: why something is missing, or None.
    """

    figures: dict[str, Figure]
    ties: Ties
    tie_parameter: float | None
    triples: int
    intransitive: int
    converged: bool
    note: str | None

    @property
    def notices(self) -> tuple[str, ...]:
        """What is amiss, for the head of the report."""
        unconverged = () if self.converged else (f"Bradley-Terry did not converge in {STEPS} steps",)
        return ((f"Bradley-Terry: {self.note}",) if self.note else ()) + unconverged


def rate(contests: Contests, draws: Resamples, initial: float = 500.0, ties: Ties = "davidson") -> BradleyTerry:
    """Ratings with intervals from resampling queries. value = initial + 400 / ln 10 · (log strength - their mean).

    Games count as `Contests.pair_weights` says: each pair as much as another, also where they met on different queries.

    An agent without a verdict is left out, and the others are rated without it. Resamples without finite ratings are
    left out of the intervals; above 5% of them there are no intervals.
    """
    held = contests.with_verdicts()
    cells, used = _Cells.of(held), ties
    totals, tied_totals = cells.tables(np.ones((1, len(held.queries))))
    if used == "davidson" and not has_tie_parameter(totals, tied_totals).all():
        used = "half"
    drawn = _drawn(cells, draws, used)
    if used == "davidson" and len(drawn.has) and 1 - drawn.has.mean() > UNBOUNDED_SHARE:
        used = "half"
        drawn = _drawn(cells, draws, used)
    whole, circles = _order(totals, tied_totals, used), _triples(totals[0])
    return BradleyTerry(
        figures=_figures(contests, held, whole, drawn, draws, initial),
        ties=used,
        tie_parameter=round(float(whole.tie_parameter[0]), DIGITS) if used == "davidson" and held.agents else None,
        triples=len(circles),
        intransitive=int(circles.sum()),
        converged=whole.converged and drawn.converged,
        note=_note(contests, held, whole, drawn, used != ties),
    )


@dataclass(frozen=True)
class _Order:
    """For each table: log strengths, comparable where agents reach each other both ways.

    bounded: whether the log strengths are the model's finite maximum. has: whether Davidson's model has one within each
    part; False of half wins.
    """

    log: Floats
    tie_parameter: Floats
    bounded: Truths
    has: Truths
    converged: bool


@dataclass(frozen=True)
class _Cells:
    """The cells of a table that some game fills: of wins, row against column, and of ties.

    often: (cells, queries), sparse, how many games of each query do; row, column, tied: (cells,).
    """

    held: Contests
    often: Any
    row: Ints
    column: Ints
    tied: Truths

    @classmethod
    def of(cls, held: Contests) -> _Cells:
        """Of all games."""
        from scipy.sparse import csr_array

        lost, tied, n = held.score == 0, held.score == 0.5, len(held.agents)
        row, column = np.where(lost, held.b, held.a), np.where(lost, held.a, held.b)
        cell, number = np.unique((tied * n + row) * n + column, return_inverse=True)
        often = csr_array((np.ones(len(number)), (number, held.query)), shape=(len(cell), len(held.queries)))
        place = cell % (n * n) if n else cell
        return cls(held, often, place // max(n, 1), place % max(n, 1), cell >= n * n)

    def tables(self, weights: Floats | NDArray[np.int16]) -> tuple[Floats, Floats]:
        """(draws, agents, agents) twice: row's wins against column, and ties, each pair's at what they count.

        weights: (draws, queries), how often each query was drawn.
        """
        n = len(self.held.agents)
        wins, ties = (np.zeros((len(weights), n, n)) for _ in range(2))
        often = (self.often @ weights.T.astype(np.float64)).T
        for table, which in ((wins, ~self.tied), (ties, self.tied)):
            table[:, self.row[which], self.column[which]] = often[:, which]
        ties = ties + ties.transpose(0, 2, 1)
        of_pair = self.held.pair_weights(weights)
        return (wins, ties) if of_pair is None else (wins * of_pair, ties * of_pair)


def _drawn(cells: _Cells, draws: Resamples, model: Ties) -> _Order:
    """The order of the table of each draw."""
    n, step = len(draws.weights), max(1, _AT_ONCE // max(1, len(cells.held.agents) ** 2))
    slices = [draws.weights[start : start + step] for start in range(0, n, step)] or [draws.weights]
    parts = [_order(*cells.tables(weights), model) for weights in slices]
    names = ("log", "tie_parameter", "bounded", "has")
    log, parameter, bounded, has = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
    return _Order(log, parameter, bounded, has, all(part.converged for part in parts))


def _order(wins: Floats, ties: Floats, model: Ties) -> _Order:
    """Tables are solved within each part whose agents reach one another, where a finite maximum exists.

    The few tables in which Davidson's has none are ordered by half wins, and not bounded.
    """
    reached = reach(wins + ties)
    mutual = reached & reached.transpose(0, 2, 1)
    whole = mutual.all(axis=(1, 2))
    # A circle is within a part, so that it is still there when the parts are told apart.
    has = has_tie_parameter(wins, ties) if model == "davidson" else np.zeros(len(wins), dtype=bool)
    wins, ties = np.where(mutual, wins, 0.0), np.where(mutual, ties, 0.0)
    log, parameter, converged = np.zeros(wins.shape[:2]), np.zeros(len(wins)), True
    for which, davidson in ((has, True), (~has, False)):
        if which.any():
            score, tied = (wins, ties[which]) if davidson else (wins + ties / 2, None)
            fit = log_strengths(score[which], tied, mutual[which])
            log[which], parameter[which] = fit.log, fit.tie_parameter
            converged = converged and bool(fit.converged.all())
    bounded = np.asarray(whole & has if model == "davidson" else whole)
    return _Order(log, parameter, bounded, has, converged)


def _figures(
    contests: Contests, held: Contests, whole: _Order, drawn: _Order, draws: Resamples, initial: float
) -> dict[str, Figure]:
    def of(agent: str) -> tuple[float, float | None, float | None] | None:
        if agent not in held.agents or not whole.bounded.all():
            return None
        index = held.agents.index(agent)
        ends: tuple[float | None, float | None] = (None, None)
        if _unbounded_share(drawn) <= UNBOUNDED_SHARE:
            replicates = initial + POINTS * drawn.log[drawn.bounded, index]
            ends = draws.rating_interval(replicates, held.queries_of(agent))
        return initial + POINTS * whole.log[0, index], *ends

    return contests.figures(of)


def _unbounded_share(drawn: _Order) -> float:
    return 1 - float(drawn.bounded.mean())


def _triples(wins: Floats) -> Truths:
    """For each three agents of which every two have a majority between them: whether the majorities run in a circle."""
    ahead = wins > wins.T
    decided = ahead | ahead.T
    i, j, k = np.array(list(combinations(range(len(wins)), 3)), dtype=np.intp).reshape(-1, 3).T
    circle = (ahead[i, j] == ahead[j, k]) & (ahead[j, k] == ahead[k, i])
    return np.asarray(circle[decided[i, j] & decided[j, k] & decided[i, k]])


def _note(contests: Contests, held: Contests, whole: _Order, drawn: _Order, half_instead: bool) -> str | None:
    if len(contests.agents) < 2:
        return "there is nothing to compare one agent with"
    if not held.agents:
        return "no ratings: no game has a verdict"
    said = []
    if not whole.bounded.all():
        said.append(why_not_finite(held))
    elif _unbounded_share(drawn) > UNBOUNDED_SHARE:
        share = _unbounded_share(drawn)
        said.append(f"no intervals: {share:.0%} of the resamples are one-sided and have no finite ratings")
    elif len(drawn.log) > 1 and float(np.ptp(drawn.log, axis=0).max()) < 1e-9 and (held.score != 0.5).any():
        said.append("no intervals: every resample of the queries says the same")
    if half_instead and whole.bounded.all():
        said.append(HALF_INSTEAD if (held.score != 0.5).any() else ALL_TIED)
    if strangers := held.strangers():
        pairs = listed([f"{a} and {b}" for a, b in strangers])
        said.append(f"no verdict compares {pairs} directly, so that all games might give other ratings")
    if idle := sorted(set(contests.agents) - set(held.agents)):
        said.append(f"not rated, since no game has a verdict: {listed(idle)}")
    return "; ".join(said) or None


def why_not_finite(held: Contests) -> str:
    """One phrase: the table falls apart, or some agents never lost or tied against the others."""
    wins = held.wins_by_query().sum(axis=0)
    played, reached = reach((wins + wins.T)[None])[0], reach(wins[None])[0]
    if not played.all():
        first, rest = _agents(held, played[0]), _agents(held, ~played[0])
        return f"no finite ratings: no verdict links {listed(first)} to {listed(rest)}"
    top = _agents(held, (reached | ~reached.T).all(axis=1))
    return f"one-sided, no finite ratings: no other agent won or tied against {listed(top)}"


def _agents(held: Contests, which: Truths) -> list[str]:
    return [held.agents[index] for index in np.flatnonzero(which)]


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

    # The posterior of the standard deviation of the true means, on the grid; each value stands for its step.
    total = variance + _SPREADS**2
    log = -0.5 * ((len(centred) - 1) * np.log(total) + (centred**2).sum() / total) - np.log1p((_SPREADS / SPREAD) ** 2)
    weights = np.exp(log - log.max()) * np.gradient(_SPREADS)
    chance, loss = np.zeros(len(centred)), 0.0
    for spread, weight in zip(_SPREADS**2, weights / weights.sum(), strict=True):
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
    led = reach(wins)
    circle = (led & led.transpose(0, 2, 1) & ~np.eye(wins.shape[1], dtype=bool)).any(axis=(1, 2))
    return np.asarray(circle | ~ties.any(axis=(1, 2)))


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
    of_parts = (problem.parts * at[:, None, :-1]).sum(axis=2) / problem.parts.sum(axis=2)
    log = at[:, :-1] - of_parts
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
        return np.asarray(((self.score - self.games / 2) * half - self.games * total / 2).sum(axis=(1, 2)) + tied)

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
