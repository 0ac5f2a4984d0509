"""Who won against whom: verdicts as arrays, and the win percentages (Table 5), flips and position bias from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ragassay.arrays import Floats, Ints, Truths
from ragassay.records import Figure, Game

from ..results import Figures
from ..statistics.resamples import Resamples
from .verdicts import SCORES, Verdict


@dataclass(frozen=True)
class Contests:
    """The verdicts there are, one row each, in an order that the order of the file does not change.

    a, b, query: indices into `agents` and `queries`; score: a's, 1 won, 0.5 tied, 0 lost. `failed` are the verdicts
    that are missing, which no array holds.
    """

    agents: tuple[str, ...]
    queries: tuple[str, ...]
    a: Ints
    b: Ints
    query: Ints
    score: Floats
    failed: tuple[Verdict, ...] = ()

    def games_of(self, agent: str) -> int:
        """How many verdicts the agent has."""
        return int(self._has(agent).sum())

    def queries_of(self, agent: str) -> int:
        """On how many queries the agent has a verdict."""
        return len(np.unique(self.query[self._has(agent)]))

    def failed_of(self, agent: str) -> int:
        """How many of the agent's verdicts are missing."""
        return sum(agent in (verdict.agent_a, verdict.agent_b) for verdict in self.failed)

    def with_verdicts(self) -> Contests:
        """The same without the agents that have no verdict."""
        active = np.unique(np.concatenate([self.a, self.b]))
        names = tuple(self.agents[index] for index in active)
        a, b = np.searchsorted(active, self.a), np.searchsorted(active, self.b)
        return replace(self, agents=names, a=a, b=b)

    def wins_by_query(self) -> Floats:
        """(queries, agents, agents): row agent's wins against column agent, a tie half a win for each."""
        n = len(self.agents)
        table = np.zeros((len(self.queries), n, n))
        np.add.at(table, (self.query, self.a, self.b), self.score)
        np.add.at(table, (self.query, self.b, self.a), 1 - self.score)
        return table

    def _has(self, agent: str) -> Truths:
        index = self.agents.index(agent)
        found: Truths = (self.a == index) | (self.b == index)
        return found


def contests(verdicts: Sequence[Verdict], agents: Sequence[str], queries: Sequence[str]) -> Contests:
    """The verdicts as arrays. `agents` and `queries` name all that take part, also those without a verdict."""
    names, asked = tuple(sorted(set(agents))), tuple(sorted(set(queries)))
    agent_at = {name: index for index, name in enumerate(names)}
    query_at = {name: index for index, name in enumerate(asked)}
    rows = sorted(
        (query_at[v.query_id], agent_at[v.agent_a], agent_at[v.agent_b], SCORES[v.winner])
        for v in verdicts
        if v.winner is not None
    )
    columns = np.array(rows, dtype=np.float64).reshape(-1, 4)
    query, a, b = (columns[:, index].astype(np.intp) for index in range(3))
    return Contests(names, asked, a, b, query, columns[:, 3], tuple(v for v in verdicts if v.winner is None))


def wins(verdicts: Sequence[Verdict], agents: Sequence[str], draws: Resamples) -> Figures:
    """Row agent to column agent to the share of their verdicts that the row agent won. A tie is neither's win."""
    between: dict[frozenset[str], list[Verdict]] = {}
    for one in verdicts:
        between.setdefault(frozenset((one.agent_a, one.agent_b)), []).append(one)
    return {
        row: {
            column: share(between.get(frozenset((row, column)), ()), _won_by(row), draws)
            for column in agents
            if column != row
        }
        for row in agents
    }


def win_rate(verdicts: Sequence[Verdict], agents: Sequence[str], draws: Resamples) -> dict[str, Figure]:
    """The share of all an agent's verdicts that it won."""
    own: dict[str, list[Verdict]] = {name: [] for name in agents}
    for one in verdicts:
        for name in {one.agent_a, one.agent_b} & own.keys():
            own[name].append(one)
    return {name: share(rows, _won_by(name), draws) for name, rows in own.items()}


def win_rate_by_query(verdicts: Sequence[Verdict], agent: str, queries: Sequence[str]) -> dict[str, float | None]:
    """For each query, the share of the agent's verdicts there that it won; None where it has none."""
    scores: dict[str, list[bool]] = {query: [] for query in queries}
    for verdict in verdicts:
        if verdict.winner is not None and agent in (verdict.agent_a, verdict.agent_b):
            scores[verdict.query_id].append(_won_by(agent)(verdict))
    return {query: sum(won) / len(won) if won else None for query, won in scores.items()}


def flip_rate(verdicts: Sequence[Verdict], draws: Resamples) -> Figure:
    """The share of the pairs judged in both orders whose winner changed with the order."""
    both = [v for v in verdicts if v.flipped is not None]
    failed = sum(v.flipped is None and v.error is not None for v in verdicts)
    return draws.mean([(v.query_id, float(bool(v.flipped))) for v in both], failed)


def first_shown_wins(games: Sequence[Game], draws: Resamples) -> Figure:
    """The share of decided single games won by the answer shown first; ties are not decided."""
    decided = [game for game in games if game.winner in ("a", "b")]
    failed = sum(game.winner is None for game in games)
    return draws.mean([(game.query_id, float(game.winner == game.first)) for game in decided], failed)


def share(verdicts: Sequence[Verdict], holds: Callable[[Verdict], bool], draws: Resamples) -> Figure:
    """The share of the verdicts for which `holds`; those without a winner are counted as failed."""
    held = [v for v in verdicts if v.winner is not None]
    return draws.mean([(v.query_id, float(holds(v))) for v in held], len(verdicts) - len(held))


def _won_by(agent: str) -> Callable[[Verdict], bool]:
    return lambda v: (v.winner == "a" and v.agent_a == agent) or (v.winner == "b" and v.agent_b == agent)
