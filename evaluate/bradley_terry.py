"""Bradley-Terry strengths from verdicts: the odds that a beats b are their strengths' ratio.

Bradley and Terry (Biometrika 39, 1952); a tie is half a win for each side. The maximum is found by Newman's iteration
(JMLR 24, 2023, eq. 26), which has the fixed point of Hunter's MM algorithm (Annals of Statistics 32, 2004, eq. 3) and
gets there in far fewer sweeps; all resamples are solved side by side.

Strengths are finite only where every agent has won, perhaps by way of others, against every other (Ford 1957). A table
that is not so connected gets no ratings and a sentence that says why, rather than a number from an iteration cut short.
What can still be said is who stands above whom: a stands above b where wins lead from a to b and none lead back, and
where they lead both ways the strengths decide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluate.bootstrap import DIGITS, Floats, Resamples, rounded
from evaluate.win_table import Contests
from ragassay.records import Figure

POINTS = 400 / np.log(10.0)
"""Rating points to a factor of e in the odds, as in Elo: 400 points are a factor of ten."""

TOLERANCE = 1e-10
SWEEPS = 10_000
UNBOUNDED_SHARE = 0.05
"""How many of the resamples may lack finite ratings before the interval is withheld."""

Truths = NDArray[np.bool_]


@dataclass(frozen=True)
class BradleyTerry:
    """Ratings on Elo's scale, centred on the initial rating, and how sure their order is.

    figures: of every agent; value None where there is no finite rating. rated: the agents with a verdict, in the order
    of the arrays' axes. above: (rated, rated) of the whole table: whether row stands above column. above_share: in what
    share of the resamples. p_best: the share of resamples in which none stood above the agent (divided evenly where
    that holds of several). converged: whether the iteration met its tolerance. note: why something is missing, or None.
    """

    figures: dict[str, Figure]
    rated: tuple[str, ...]
    above: Truths
    above_share: Floats
    p_best: dict[str, float]
    converged: bool
    note: str | None


def rate(contests: Contests, draws: Resamples, initial: float = 500.0) -> BradleyTerry:
    """Ratings with intervals from resampling queries. value = initial + 400 / ln 10 · (log strength - their mean).

    An agent without a verdict is left out, and the others are rated without it. Resamples without finite ratings are
    left out of the intervals; above 5% of them there are no intervals.
    """
    held = contests.with_verdicts()
    n, table = len(held.agents), held.wins_by_query()
    whole, converged = _order(table.sum(axis=0)[None])
    replicates = (draws.weights @ table.reshape(len(held.queries), n * n)).reshape(len(draws.weights), n, n)
    drawn, drawn_converged = _order(replicates)
    bounded = drawn.mutual.all(axis=(1, 2))
    unbounded_share = 1 - float(bounded.mean())
    figures = {}
    for agent in contests.agents:
        count, failed = contests.games_of(agent), contests.failed_of(agent)
        figures[agent] = Figure(value=None, n=count, n_failed=failed)
        if agent in held.agents and whole.mutual.all():
            index = held.agents.index(agent)
            ends: tuple[float | None, float | None] = (None, None)
            if unbounded_share <= UNBOUNDED_SHARE:
                ends = draws.interval(initial + POINTS * drawn.log[bounded, index], held.queries_of(agent))
            figures[agent] = rounded(initial + POINTS * whole.log[0, index], count, failed, *ends)
    return BradleyTerry(
        figures,
        held.agents,
        whole.above[0],
        drawn.above.mean(axis=0),
        _p_best(held.agents, drawn.above),
        bool(converged and drawn_converged),
        _note(contests, held, whole, unbounded_share),
    )


def _p_best(agents: tuple[str, ...], above: Truths) -> dict[str, float]:
    if not agents:
        return {}
    unbeaten = ~above.any(axis=1)
    shares = (unbeaten / unbeaten.sum(axis=1, keepdims=True)).mean(axis=0)
    return {agent: round(float(value), DIGITS) for agent, value in zip(agents, shares, strict=True)}


def log_strengths(wins: Floats) -> tuple[Floats, bool]:
    """Log strengths (tables, agents), each table's mean 0, and whether all converged.

    wins: (tables, agents, agents), row's wins against column. Within a table, each agent must reach all it has played
    through wins (`reach`); an agent that has played none keeps strength 1.
    """
    strength = np.ones(wins.shape[:2])
    if not strength.size:
        return strength, True
    for _ in range(SWEEPS):
        before = np.log(strength)
        for i in range(wins.shape[1]):
            pair = strength[:, i, None] + strength
            won, lost = (wins[:, i] * strength / pair).sum(axis=1), (wins[:, :, i] / pair).sum(axis=1)
            strength[:, i] = np.divide(won, lost, out=strength[:, i].copy(), where=lost > 0)
        log = np.log(strength)
        log -= log.mean(axis=1, keepdims=True)
        strength = np.exp(log)
        if np.abs(log - (before - before.mean(axis=1, keepdims=True))).max(initial=0.0) < TOLERANCE:
            return log, True
    return log, False


def reach(wins: Floats) -> Truths:
    """(tables, agents, agents): whether wins lead from row to column, itself included (Warshall 1962)."""
    reached = (wins > 0) | np.eye(wins.shape[1], dtype=bool)
    for middle in range(wins.shape[1]):
        reached |= reached[:, :, middle, None] & reached[:, None, middle, :]
    return reached


@dataclass(frozen=True)
class _Order:
    """For each table: log strengths (comparable where mutual), who reaches whom both ways, who stands above whom."""

    log: Floats
    mutual: Truths
    above: Truths


def _order(wins: Floats) -> tuple[_Order, bool]:
    """Tables are solved within each part whose agents reach one another, where a finite maximum exists."""
    reached = reach(wins)
    back = reached.transpose(0, 2, 1)
    mutual = reached & back
    log, converged = log_strengths(np.where(mutual, wins, 0.0))
    stronger = log[:, :, None] - log[:, None, :] > 1e-7
    return _Order(log, mutual, (reached & ~back) | (mutual & stronger)), converged


def _note(contests: Contests, held: Contests, whole: _Order, unbounded_share: float) -> str | None:
    if len(contests.agents) < 2:
        return "there is nothing to compare one agent with"
    if not held.agents:
        return "no ratings: no game has a verdict"
    said = []
    if not whole.mutual.all():
        said.append(_why_not_finite(held))
    elif unbounded_share > UNBOUNDED_SHARE:
        said.append(f"no intervals: {unbounded_share:.0%} of the resamples are one-sided and have no finite ratings")
    if idle := sorted(set(contests.agents) - set(held.agents)):
        said.append(f"not rated, since no game has a verdict: {_named(idle)}")
    return "; ".join(said) or None


def _why_not_finite(held: Contests) -> str:
    """One phrase: the table falls apart, or some agents never lost or tied against the others."""
    wins = held.wins_by_query().sum(axis=0)
    played, reached = reach((wins + wins.T)[None])[0], reach(wins[None])[0]
    if not played.all():
        first, rest = _agents(held, played[0]), _agents(held, ~played[0])
        return f"no finite ratings: {_named(first)} and {_named(rest)} have no verdict between them"
    top = _agents(held, (reached | ~reached.T).all(axis=1))
    return f"one-sided, no finite ratings: no other agent won or tied against {_named(top)}"


def _agents(held: Contests, which: Truths) -> list[str]:
    return [held.agents[index] for index in np.flatnonzero(which)]


def _named(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
