"""Who won against whom: verdicts as arrays, and the win percentages (Table 5), flips and position bias from them.

What is estimated is what all games would give: every pair on every query. Where pairs have met on different queries, as
in adaptive play, close pairs have played more, and would weigh more in ratings and win rates for nothing but that. So
each pair weighs the same: a game of a pair that has met on m of n queries counts n / m. Meeting counts, whether the
judge gave a verdict or failed, so that a failed game is a missing verdict and not a reason to count another one more.
Where every pair has met on the same queries all weights are 1. A pair that never met weighs nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats, Ints, Truths
from ragassay.records import Figure, Game, Winner, for_want_of_an_answer

from ..results import Figures
from ..statistics.resamples import Resamples, rounded
from .verdicts import SCORES, Decided, Verdict, Weigh, wins_linearised


@dataclass(frozen=True)
class Meetings:
    """Who has met whom on which query, verdict or not: one row each, all (meetings,), those of a pair side by side.

    one, other: indices of agents, one < other; query: index of the query.
    """

    one: Ints
    other: Ints
    query: Ints

    @classmethod
    def of(cls, one: Ints, other: Ints, query: Ints) -> Meetings:
        """From rows in any order."""
        order = np.lexsort((query, other, one))
        return cls(one[order], other[order], query[order])

    def among(self, agents: Ints) -> Meetings:
        """Those of these agents, (agents,) sorted, which are then told by their places among them."""
        kept = np.isin(self.one, agents) & np.isin(self.other, agents)
        one, other = (np.searchsorted(agents, side[kept]) for side in (self.one, self.other))
        return Meetings(one, other, self.query[kept])

    @cached_property
    def starts(self) -> Ints:
        """(pairs,): where the rows of each pair begin."""
        return np.flatnonzero((np.diff(self.one, prepend=-1) != 0) | (np.diff(self.other, prepend=-1) != 0))

    @cached_property
    def queries(self) -> Ints:
        """Those on which anybody met."""
        return np.unique(self.query)


_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Contests:
    """The verdicts there are, one row each, in an order that the order of the file does not change.

    a, b, query: indices into `agents` and `queries`; score: a's, 1 won, 0.5 tied, 0 lost. `failed` are the verdicts
    that are missing, which no array holds. met: who has met on which query, where pairs are to count the same and have
    not all met on the same queries; else None, and each game counts 1.
    """

    agents: tuple[str, ...]
    queries: tuple[str, ...]
    a: Ints
    b: Ints
    query: Ints
    score: Floats
    failed: tuple[Decided, ...] = ()
    met: Meetings | None = None

    def pair_weights(self, weights: Floats | NDArray[np.int16]) -> Floats | None:
        """(draws, agents, agents): what a game of a pair counts, n / m of the queries of each draw; None: 1.

        weights: (draws, queries), how often each query was drawn.
        """
        if self.met is None:
            return None
        met, starts = self.met, self.met.starts
        one, other = met.one[starts], met.other[starts]
        m, n = np.zeros((len(weights), len(self.agents), len(self.agents))), np.zeros((len(weights), 1, 1))
        step = max(1, _AT_ONCE // max(1, len(met.query)))
        for start in range(0, len(weights), step):
            part = slice(start, start + step)
            n[part, 0, 0] = weights[part][:, met.queries].sum(axis=1)
            often = np.add.reduceat(weights[part][:, met.query].astype(np.float64), starts, axis=1)
            m[part, one, other] = m[part, other, one] = often
        return np.divide(n, m, out=np.zeros_like(m), where=m > 0)

    def game_weights(self) -> Floats:
        """(games,): what each counts."""
        of_pair = self.pair_weights(np.ones((1, len(self.queries))))
        return np.ones(len(self.a)) if of_pair is None else np.asarray(of_pair[0, self.a, self.b])

    def strangers(self) -> list[tuple[str, str]]:
        """The pairs without a verdict on each other, where pairs are weighed."""
        if self.met is None:
            return []
        known = {frozenset(pair) for pair in zip(self.a.tolist(), self.b.tolist(), strict=True)}
        every = combinations(range(len(self.agents)), 2)
        return [(self.agents[a], self.agents[b]) for a, b in every if frozenset((a, b)) not in known]

    def games_of(self, agent: str) -> int:
        """How many verdicts the agent has."""
        return int(self._has(agent).sum())

    def queries_of(self, agent: str) -> int:
        """On how many queries the agent has a verdict."""
        return len(np.unique(self.query[self._has(agent)]))

    def figures(self, of: Callable[[str], tuple[float, float | None, float | None] | None]) -> dict[str, Figure]:
        """Of each agent over its verdicts, from its value with the ends of an interval; None: it has no value."""
        found = {}
        for agent in self.agents:
            n, told = self.games_of(agent), of(agent)
            failed = sum(agent in (verdict.agent_a, verdict.agent_b) for verdict in self.failed)
            found[agent] = rounded(told[0], n, failed, *told[1:]) if told else Figure(value=None, n=n, n_failed=failed)
        return found

    def with_verdicts(self) -> Contests:
        """The same without the agents that have no verdict."""
        active = np.unique(np.concatenate([self.a, self.b]))
        names = tuple(self.agents[index] for index in active)
        a, b = np.searchsorted(active, self.a), np.searchsorted(active, self.b)
        met = None if self.met is None else self.met.among(active)
        return replace(self, agents=names, a=a, b=b, met=met)

    def wins_by_query(self) -> Floats:
        """(queries, agents, agents): row agent's wins against column agent, a tie half a win for each."""
        n = len(self.agents)
        table = np.zeros((len(self.queries), n, n))
        np.add.at(table, (self.query, self.a, self.b), self.score)
        np.add.at(table, (self.query, self.b, self.a), 1 - self.score)
        return table

    def _has(self, agent: str) -> Truths:
        index = self.agents.index(agent)
        return np.asarray((self.a == index) | (self.b == index))


def contests(
    verdicts: Sequence[Decided],
    agents: Sequence[str],
    queries: Sequence[str],
    weigh: Weigh = "pairs",
    planned: Sequence[Decided] | None = None,
) -> Contests:
    """The verdicts, or games in one order alone, as arrays.

    `agents` and `queries` name all that take part, also those without a verdict. planned: those of all games that
    were met, where `verdicts` are only some of them.
    """
    names, asked = tuple(sorted(set(agents))), tuple(sorted(set(queries)))
    agent_at = {name: index for index, name in enumerate(names)}
    query_at = {name: index for index, name in enumerate(asked)}
    held = [v for v in verdicts if v.winner is not None]
    query = np.array([query_at[v.query_id] for v in held], dtype=np.intp)
    a = np.array([agent_at[v.agent_a] for v in held], dtype=np.intp)
    b = np.array([agent_at[v.agent_b] for v in held], dtype=np.intp)
    score = np.array([SCORES[v.winner] for v in held if v.winner is not None], dtype=np.float64)
    order = np.lexsort((score, b, a, query))
    failed = tuple(v for v in verdicts if v.winner is None)
    met, meetings = None, _meetings(verdicts if planned is None else planned)
    if weigh == "pairs" and not _alike(meetings):
        rows = [(agent_at[one], agent_at[other], query_at[query]) for query, one, other in meetings]
        met = Meetings.of(*np.array(rows, dtype=np.intp).T)
    return Contests(names, asked, a[order], b[order], query[order], score[order], failed, met)


_Met = set[tuple[str, str, str]]
"""Query, and the two agents."""


def _meetings(verdicts: Sequence[Decided]) -> _Met:
    return {(v.query_id, v.agent_a, v.agent_b) for v in verdicts}


def _alike(meetings: _Met) -> bool:
    """Whether every pair of those that have met with anybody has met on the same queries."""
    agents = {agent for _, *pair in meetings for agent in pair}
    return len(meetings) == len({query for query, _, _ in meetings}) * (len(agents) * (len(agents) - 1) // 2)


def pair_weights(verdicts: Sequence[Decided]) -> dict[tuple[str, str], float]:
    """What a game of two agents (in the order of their names) counts, n / m; nothing where each counts 1."""
    meetings = _meetings(verdicts)
    if _alike(meetings):
        return {}
    n = len({query for query, _, _ in meetings})
    return {pair: n / m for pair, m in Counter((one, other) for _, one, other in meetings).items()}


def wins(verdicts: Sequence[Verdict], agents: Sequence[str], draws: Resamples) -> Figures:
    """Row agent to column agent to the share of their verdicts that the row agent won. A tie is neither's win."""
    tally = _Tally.of(verdicts, agents, draws)
    between, none = tally.by_pair(), np.zeros(0, dtype=np.intp)
    return {
        row: {
            column: tally.share(between.get((min(i, j), max(i, j)), none), i, draws)
            for j, column in enumerate(agents)
            if j != i
        }
        for i, row in enumerate(agents)
    }


def win_rate(verdicts: Sequence[Verdict], agents: Sequence[str], draws: Resamples) -> dict[str, Figure]:
    """The share of all an agent's verdicts that it won, each pair weighing the same."""
    if _alike(_meetings(verdicts)):
        tally = _Tally.of(verdicts, agents, draws)
        return {
            name: tally.share(np.flatnonzero((tally.one == i) | (tally.other == i)), i, draws)
            for i, name in enumerate(agents)
        }
    found = {}
    for name, values in win_rates_by_query(verdicts, agents).items():
        given = [v.winner is not None for v in verdicts if name in (v.agent_a, v.agent_b)]
        ones, held = dict.fromkeys(values, 1.0), sum(given)
        found[name] = draws.ratio(values, ones, n=held, n_failed=len(given) - held, limits=(0.0, 1.0))
    return found


@dataclass(frozen=True)
class _Tally:
    """Verdicts as numbers, (verdicts,) each: of the query in `Resamples.queries`, the two agents in the order asked
    for, and who won; -1 for a query or agent that is not among them, `_TIED` and `_FAILED`."""

    query: Ints
    one: Ints
    other: Ints
    winner: Ints

    @classmethod
    def of(cls, verdicts: Sequence[Verdict], agents: Sequence[str], draws: Resamples) -> _Tally:
        at = {name: index for index, name in enumerate(agents)}
        query, one, other = (
            np.fromiter((places.get(name, -1) for name in names), np.intp, len(verdicts))
            for places, names in (
                (draws.clusters.places, (v.query_id for v in verdicts)),
                (at, (v.agent_a for v in verdicts)),
                (at, (v.agent_b for v in verdicts)),
            )
        )
        won = np.fromiter((_WON[v.winner] for v in verdicts), np.intp, len(verdicts))
        return cls(query, one, other, np.where(won == 1, one, np.where(won == 2, other, won)))

    def by_pair(self) -> dict[tuple[int, int], Ints]:
        """Two agents, the first asked for first, to the places of their verdicts."""
        if not len(self.query):
            return {}
        size = 1 + max(self.one.max(initial=0), self.other.max(initial=0))
        number = np.minimum(self.one, self.other) * size + np.maximum(self.one, self.other)
        order = np.argsort(number, kind="stable")
        pairs, starts = np.unique(number[order], return_index=True)
        parts = np.split(order, starts[1:])
        return {divmod(pair, size): rows for pair, rows in zip(pairs.tolist(), parts, strict=True) if pair >= 0}

    def share(self, rows: Ints, agent: int, draws: Resamples) -> Figure:
        """Of the verdicts in these places the share that the agent won; those without a winner have failed."""
        given = rows[self.winner[rows] != _FAILED]
        known = given[self.query[given] >= 0]
        below, above = (
            np.bincount(self.query[some], minlength=len(draws.queries)).astype(np.float64)
            for some in (known, known[self.winner[known] == agent])
        )
        return draws.of_columns(above, below, len(given), len(rows) - len(given), (0.0, 1.0))


_TIED, _FAILED = -2, -3
_WON: dict[Winner | None, int] = {"a": 1, "b": 2, "tie": _TIED, None: _FAILED}


def win_rates_by_query(verdicts: Sequence[Verdict], agents: Sequence[str]) -> dict[str, dict[str, float]]:
    """Each agent's, where pairs have met on different queries, for each query on which anybody has met: the win rate
    plus what the query adds to it (`wins_linearised`), which may be below 0 or above 1. None of one without a verdict.

    Its mean is the win rate, and differences of two agents have the spread of the difference of theirs. The shares of
    verdicts won on each query would be against other opponents on each.
    """
    met_on = sorted({one.query_id for one in verdicts})
    everybody = sorted({*agents} | {name for one in verdicts for name in (one.agent_a, one.agent_b)})
    rows = dict(zip(everybody, wins_linearised(verdicts, everybody, met_on).tolist(), strict=True))
    pairs = {name: zip(met_on, rows[name], strict=True) for name in agents}
    return {name: {query: value for query, value in row if value == value} for name, row in pairs.items()}


def flip_rate(verdicts: Sequence[Verdict], draws: Resamples) -> Figure:
    """The share of the pairs judged in several orders whose winner changed with the order; identical ones are none.

    n_failed: pairs that the judge failed on.
    """
    both = [v for v in verdicts if v.flipped is not None]
    failed = sum(v.flipped is None and v.error is not None and not v.unplayed for v in verdicts)
    return draws.mean([(v.query_id, float(bool(v.flipped))) for v in both], failed)


def first_shown_wins(games: Sequence[Game], draws: Resamples) -> Figure:
    """The share of decided single games won by the answer shown first; ties are not decided.

    n_failed: games that the judge failed on.
    """
    decided = [game for game in games if game.winner in ("a", "b")]
    failed = sum(game.winner is None and not for_want_of_an_answer(game.error) for game in games)
    return draws.mean([(game.query_id, float(game.winner == game.first)) for game in decided], failed)
