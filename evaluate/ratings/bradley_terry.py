"""Bradley-Terry ratings from verdicts, ties by Davidson or as half wins.

The fit is in `bradley_terry_fit`. Strengths are finite only where every agent has won, perhaps by way of others,
against every other (Ford 1957; a tie goes both ways). A table that is not so connected gets no ratings and a sentence
that says why, rather than a number from an iteration cut short.

Davidson's model needs more than that (`bradley_terry_fit.has_tie_parameter`). Where its maximum is not finite, in the
table or in more than 5% of the resamples, ties count as half wins instead, and the note says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats, Ints, Truths
from ragassay.records import Figure
from ragassay.text import listed

from ..statistics.resamples import DIGITS, Resamples, rounded
from .bradley_terry_fit import STEPS, has_circle, has_tie_parameter, log_strengths, reach
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
    drawn, has = _drawn(cells, draws, used)
    if used == "davidson" and 1 - has > UNBOUNDED_SHARE:
        used = "half"
        drawn, _ = _drawn(cells, draws, used)
    whole, circles = _order(totals, tied_totals, used)[0], _triples(totals[0])
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

    bounded: whether the log strengths are the model's finite maximum.
    """

    log: Floats
    tie_parameter: Floats
    bounded: Truths
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


def _drawn(cells: _Cells, draws: Resamples, model: Ties) -> tuple[_Order, float]:
    """The order of the table of each draw, and in what share of them Davidson's model has a maximum."""
    n, step = len(draws.weights), max(1, _AT_ONCE // max(1, len(cells.held.agents) ** 2))
    slices = [draws.weights[start : start + step] for start in range(0, n, step)] or [draws.weights]
    parts, has = zip(*(_order(*cells.tables(weights), model) for weights in slices), strict=True)
    return _joined(parts), float(np.concatenate(has).mean()) if n else 1.0


def _joined(parts: Sequence[_Order]) -> _Order:
    log, parameter, bounded = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("log", "tie_parameter", "bounded")
    )
    return _Order(log, parameter, bounded, all(part.converged for part in parts))


def _order(wins: Floats, ties: Floats, model: Ties) -> tuple[_Order, Truths]:
    """Tables are solved within each part whose agents reach one another, where a finite maximum exists.

    The few tables in which Davidson's has none are ordered by half wins, and not bounded. Second: (tables,), in which
    it has one.
    """
    reached = reach(wins + ties)
    mutual = reached & reached.transpose(0, 2, 1)
    whole = mutual.all(axis=(1, 2))
    circle, has = has_circle(wins) if model == "davidson" else None, np.ones(len(wins), dtype=bool)
    if circle is not None:
        has = circle | ~ties.any(axis=(1, 2))
    wins, ties = np.where(mutual, wins, 0.0), np.where(mutual, ties, 0.0)
    # A circle is within a part, so that it is still there.
    by_davidson = np.zeros(len(wins), dtype=bool) if circle is None else circle | ~ties.any(axis=(1, 2))
    log, parameter, converged = np.zeros(wins.shape[:2]), np.zeros(len(wins)), True
    for which, tied in ((by_davidson, True), (~by_davidson, False)):
        if which.any():
            won, halves = wins[which], ties[which]
            fit = (
                log_strengths(won, halves, mutual[which])
                if tied
                else log_strengths(won + halves / 2, None, mutual[which])
            )
            log[which], parameter[which] = fit.log, fit.tie_parameter
            converged = converged and bool(fit.converged.all())
    bounded = np.asarray(whole & by_davidson if model == "davidson" else whole)
    return _Order(log, parameter, bounded, converged), has


def _figures(
    contests: Contests, held: Contests, whole: _Order, drawn: _Order, draws: Resamples, initial: float
) -> dict[str, Figure]:
    figures = {}
    for agent in contests.agents:
        count, failed = contests.games_of(agent), contests.failed_of(agent)
        figures[agent] = Figure(value=None, n=count, n_failed=failed)
        if agent in held.agents and whole.bounded.all():
            index = held.agents.index(agent)
            ends: tuple[float | None, float | None] = (None, None)
            if _unbounded_share(drawn) <= UNBOUNDED_SHARE:
                replicates = initial + POINTS * drawn.log[drawn.bounded, index]
                ends = draws.rating_interval(replicates, held.queries_of(agent))
            figures[agent] = rounded(initial + POINTS * whole.log[0, index], count, failed, *ends)
    return figures


def _unbounded_share(drawn: _Order) -> float:
    return 1 - float(drawn.bounded.mean())


def _triples(wins: Floats) -> Truths:
    """For each three agents of which every two have a majority between them: whether the majorities run in a circle."""
    ahead = wins > wins.T
    decided = ahead | ahead.T
    i, j, k = np.array(list(combinations(range(len(wins)), 3)), dtype=np.intp).reshape(-1, 3).T
    circle = (ahead[i, j] == ahead[j, k]) & (ahead[j, k] == ahead[k, i])
    found: Truths = circle[decided[i, j] & decided[j, k] & decided[i, k]]
    return found


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
