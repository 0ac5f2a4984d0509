"""Verdicts: what the orders of each game say together; and points, which rank agents and test them, from verdicts.

Judges favour a position (Zheng et al. 2023, arXiv:2306.05685, section 3.4), so a pair is judged in both orders and wins
only where both agree. Where the judge gave probabilities, their mean over the orders decides. Of answers ranked
together each presentation of the list is an order, and a pair wins only where all agree.

An agent's points on a query are the mean over its opponents of win 1, tie 1/2, loss 0. A game that failed is missing.
Beside the points that were seen stand those with every failed game lost, and won, so that what failures hide can be
asked: a judge that fails where an agent would lose otherwise lifts it. An answer that failed loses: its games are lost
where the worst is asked of its agent, missing where the best is, and won by the other.

Where pairs have met on different queries, as in adaptive play, a pair that met on m of n queries counts n / m, and a
query's value is the agent's points plus what the query adds to them: the linearised mean (Binder, International
Statistical Review 51, 1983). Its mean is the points, and differences of two agents have the spread of the difference of
theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal, Protocol

import numpy as np

from ragassay.arrays import Floats, Ints, Truths
from ragassay.errors import InputError
from ragassay.records import IDENTICAL, Game, Winner, for_want_of_an_answer, grouped
from ragassay.text import plain

from ..inputs.labels import PANEL, check_vote, why_no_majority
from ..statistics.clustered import Values

SCORES: dict[Winner, float] = {"a": 1.0, "tie": 0.5, "b": 0.0}
"""What a winner gives the first agent."""

_OTHER: dict[Winner, Winner] = {"a": "b", "b": "a", "tie": "tie"}


@dataclass(frozen=True)
class Verdict:
    """One judge's verdict on one pair of agents for one query; `agent_a` sorts before `agent_b`.

    winner: "a", "b" or "tie"; None, with `error`, where a row of the game failed.
    flipped: whether the winner changed with the order; None where an order is missing or failed, and where the judge
    was not asked since the answers are the same text (`identical`), which cannot flip.
    n_orders: the rows it is made from: 1 or 2, or as many as there were presentations. probability: the mean over both
    orders of agent_a's being better. lean: in how many orders the answer shown first won, less those it lost; None
    where flipped is.
    """

    query_id: str
    agent_a: str
    agent_b: str
    judge: str
    winner: Winner | None
    flipped: bool | None
    error: str | None
    n_orders: int
    probability: float | None = None
    lean: int | None = None
    identical: bool = False

    @property
    def unplayed(self) -> bool:
        """Whether there is no winner because there was no answer to judge, which is no failure of the judge."""
        return for_want_of_an_answer(self.error)

    def score_of(self, agents: Collection[str]) -> float | None:
        """What the winner gives whichever of the two is among `agents`: 1, 0.5 or 0; None without a winner."""
        if self.winner is None:
            return None
        return SCORES[self.winner] if self.agent_a in agents else 1 - SCORES[self.winner]


def verdicts(games: Sequence[Game]) -> list[Verdict]:
    """The verdict on each pair of rows, ordered by query, agents and judge as they first appear in `games`.

    Rows belong together by query, unordered pair and judge, whichever agent a row calls a. Both orders agree: that
    winner; they disagree: a tie that flipped; any error: no winner. A row whose other order is not there stands as it
    is. Where a file repeats a game, the k-th row of one order meets the k-th of the other; rows with a `presentation`
    are one verdict, however many.

    Raises InputError where an agent plays itself.
    """
    pairs = grouped(((game.query_id, game.agent_a, game.agent_b, game.judge), game) for game in map(sorted_game, games))
    return [verdict(*orders) for rows in pairs.values() for orders in _games(rows)]


def _games(rows: Sequence[Game]) -> Iterator[Sequence[Game]]:
    """The rows of a pair, those of each game together: of two orders, or of all presentations."""
    alone = [row for row in rows if row.presentation is None]
    orders = ([row for row in alone if row.first == first] for first in ("a", "b"))
    for both in zip_longest(*orders):
        yield [row for row in both if row is not None]
    if listed := [row for row in rows if row.presentation is not None]:
        yield listed


def verdict(row: Game, *others: Game) -> Verdict:
    """The verdict on one pair from the rows of its orders, all with agent_a first in the alphabet."""
    rows = [row, *others]
    errors = list(dict.fromkeys(row.error for row in rows if row.error is not None))
    winners = [row.winner for row in rows if row.winner is not None]
    identical = all(row.reason == IDENTICAL for row in rows)
    all_there = len(winners) == len(rows) > 1 and not identical
    given = [row.probability for row in rows if row.probability is not None and row.error is None]
    mean = sum(given) / len(given) if len(given) == len(rows) > 1 else None
    agreed: Winner = winners[0] if len(set(winners)) == 1 else "tie"
    to_first = [0 if row.winner == "tie" else 1 if row.winner == row.first else -1 for row in rows]
    return Verdict(
        query_id=row.query_id,
        agent_a=row.agent_a,
        agent_b=row.agent_b,
        judge=row.judge,
        winner=None if errors else agreed if mean is None else winner_of(mean),
        flipped=len(set(winners)) > 1 if all_there else None,
        error="; ".join(errors) or None,
        n_orders=len(rows),
        probability=mean,
        lean=sum(to_first) if all_there else None,
        identical=identical,
    )


def winner_of(probability: float) -> Winner:
    """a above 0.5, b below, else a tie; the distance from 0.5 is rounded to 9 digits first."""
    distance = round(probability - 0.5, 9)
    return "a" if distance > 0 else "b" if distance < 0 else "tie"


def sorted_game(game: Game) -> Game:
    """The same row told from the side of the agent that sorts first."""
    if game.agent_a == game.agent_b:
        raise InputError(f"agent '{plain(game.agent_a)}' plays itself in query '{plain(game.query_id)}'")
    if game.agent_a < game.agent_b:
        return game
    return game.model_copy(
        update={
            "agent_a": game.agent_b,
            "agent_b": game.agent_a,
            "first": _OTHER[game.first],
            "winner": None if game.winner is None else _OTHER[game.winner],
            "probability": None if game.probability is None else 1 - game.probability,
        }
    )


def merge_verdicts(verdicts: Iterable[Verdict], panel: Sequence[str]) -> list[Verdict]:
    """A verdict of `PANEL` on each game that a judge of the panel was asked about, as they first come in `verdicts`.

    Each judge's verdict is its own from both orders (`verdicts.verdicts`). The winner is whom more than half of the
    verdicts given name; without such a majority it is a tie. More than half of the panel must have given a verdict,
    else there is no winner and the error says what each of the others lacks. Orders are each judge's own matter, so
    that `flipped`, `lean` and `probability` are None. Where a file repeats a game, the k-th of one judge meets the k-th
    of the others. Raises InputError for a judge who is not of the panel.
    """
    games: dict[tuple[str, str, str, int], dict[str, Verdict]] = {}
    often: Counter[tuple[str, str, str, str]] = Counter()
    for one in verdicts:
        pair = (one.query_id, one.agent_a, one.agent_b)
        said = games.setdefault((*pair, often[(*pair, one.judge)]), {})
        check_vote(one.judge, said, panel, f"'{one.agent_a}' against '{one.agent_b}' for query '{one.query_id}'")
        said[one.judge] = one
        often[(*pair, one.judge)] += 1
    return [_merged(said, panel) for said in games.values()]


def panel_verdicts(verdicts: Sequence[Verdict], panel: Sequence[str]) -> list[Verdict]:
    """The verdicts that figures are made from: those of the one judge as they are, or of several the majority's."""
    return merge_verdicts(verdicts, panel) if len(panel) > 1 else list(verdicts)


def _merged(said: Mapping[str, Verdict], panel: Sequence[str]) -> Verdict:
    one = next(iter(said.values()))
    winners = {judge: said[judge].winner for judge in panel if judge in said and said[judge].winner is not None}
    why = why_no_majority(said, winners, panel)
    often = Counter(winners.values())
    agreed: Winner | None = next((winner for winner, times in often.items() if 2 * times > len(winners)), "tie")
    return Verdict(
        query_id=one.query_id,
        agent_a=one.agent_a,
        agent_b=one.agent_b,
        judge=PANEL,
        winner=None if why else agreed,
        flipped=None,
        error=why,
        n_orders=max(each.n_orders for each in said.values()),
    )


class Decided(Protocol):
    """A verdict, or a game that is told as one (`verdicts.sorted_game`)."""

    @property
    def query_id(self) -> str: ...
    @property
    def agent_a(self) -> str: ...
    @property
    def agent_b(self) -> str: ...
    @property
    def winner(self) -> Winner | None: ...


Weigh = Literal["pairs", "games"]
"""Whether each pair counts the same, or each game: the latter where nobody planned who meets whom, as in a league."""

NOBODY: Mapping[str, Collection[str]] = {}


@dataclass(frozen=True)
class Points:
    """Of agents on queries, both sorted; all (agents, queries) from 0 to 1, NaN where there is none.

    seen: by the verdicts there are. lost, won: with every failed game of the agent lost, and won; the same array where
    nothing failed. failures: (games, 3), agent, opponent and query of each game that failed and may count against the
    agent. n_failed: games without a verdict. strangers: pairs of agents with a verdict that have none on each other.
    asked: where the agent was asked the query; None: everywhere. Elsewhere there is no value, and none is missing.
    With pairs that met on different queries values are linearised, and may be below 0 or above 1.
    """

    agents: tuple[str, ...]
    queries: tuple[str, ...]
    seen: Floats
    lost: Floats
    won: Floats
    failures: Ints
    n_failed: int = 0
    strangers: tuple[tuple[str, str], ...] = ()
    asked: Truths | None = None

    @property
    def means(self) -> Floats:
        """(agents,): the points of each, NaN of one without a verdict."""
        known = ~np.isnan(self.seen)
        total = np.where(known, self.seen, 0.0).sum(axis=1)
        return np.asarray(np.divide(total, known.sum(axis=1), out=np.full(len(total), np.nan), where=known.any(axis=1)))

    @property
    def order(self) -> tuple[str, ...]:
        """The agents, best first; level ones by name, those without a verdict last."""
        means = np.round(self.means, 9)
        places = sorted(range(len(means)), key=lambda at: (np.isnan(means[at]), -np.nan_to_num(means[at]), at))
        return tuple(self.agents[at] for at in places)

    def values(self) -> dict[str, Values]:
        """Agent to query to points, of the queries that it was asked."""
        rows = ([None if value != value else value for value in row] for row in self.seen.tolist())
        found = {agent: dict(zip(self.queries, row, strict=True)) for agent, row in zip(self.agents, rows, strict=True)}
        if self.asked is not None:
            for row, there in zip(found.values(), self.asked, strict=True):
                for at in np.flatnonzero(~there):
                    del row[self.queries[at]]
        return found

    def of(self, agents: Sequence[str]) -> Points:
        """Those of some agents, in this order; their points against all remain."""
        at = [self.agents.index(agent) for agent in agents]
        strangers = tuple(pair for pair in self.strangers if set(pair) <= set(agents))
        place = np.full(len(self.agents) + 1, -1)
        place[at] = np.arange(len(at))
        agent, opponent, query = self.failures.T
        failures = np.stack([place[agent], place[opponent], query], axis=1)[place[agent] >= 0]
        rows = self.seen[at], self.lost[at], self.won[at]
        asked = None if self.asked is None else self.asked[at]
        return Points(tuple(agents), self.queries, *rows, failures, self.n_failed, strangers, asked)


def points_of(
    verdicts: Sequence[Decided],
    agents: Sequence[str],
    queries: Sequence[str],
    weigh: Weigh = "pairs",
    unanswered: Mapping[str, Collection[str]] = NOBODY,
    not_asked: Collection[tuple[str, str]] = (),
) -> Points:
    """From verdicts, in any order. agents, queries: all that take part.

    unanswered: agent to the queries on which its answer failed. weigh: whether each pair counts the same, or each game,
    where pairs have met on different queries. not_asked: (query id, agent) that a plan left out.
    """
    names, asked = tuple(sorted(set(agents))), tuple(sorted(set(queries)))
    rows = _Rows.of(verdicts, names, asked, unanswered)
    plan = None if rows.alike else weigh
    shape = (len(names), len(asked))
    counting = rows.doubted | rows.own_fault
    failures = np.stack([rows.agent, rows.opponent, rows.query], axis=1)[counting]
    seen = _table(rows, ~rows.missing, 0.0, shape, plan)
    lost = won = seen
    if rows.missing.any():
        lost = _table(rows, ~rows.missing | counting | rows.given, 0.0, shape, plan)
        won = _table(rows, ~rows.missing | rows.doubted | rows.given, 1.0, shape, plan)
    found = Points(names, asked, seen, lost, won, failures, int(rows.missing.sum()) // 2, rows.strangers(names))
    if not not_asked:
        return found
    there = np.array([[(query, name) not in not_asked for query in asked] for name in names], dtype=bool)
    seen, lost, won = (_of_asked(table, there) for table in (seen, lost, won))
    return replace(found, seen=seen, lost=lost, won=won, asked=there)


def _of_asked(table: Floats, asked: Truths) -> Floats:
    """Points where the agent was asked, asked (agents, queries). What a query adds to the mean of n is spread over
    those n; over the m that it was asked it adds m / n of that."""
    found, known = table.copy(), ~np.isnan(table)
    for row in np.flatnonzero((known & ~asked).any(axis=1)):
        there = known[row]
        mean, share = table[row, there].mean(), (there & asked[row]).sum() / there.sum()
        found[row] = np.where(asked[row], mean + (table[row] - mean) * share, np.nan)
    return found


@dataclass(frozen=True)
class _Rows:
    """Every game twice, once from the side of each; all (rows,). missing: without a verdict; of these, doubted: by the
    judge's failure; own_fault: since the agent's own answer failed; given: since the opponent's alone did."""

    agent: Ints
    opponent: Ints
    query: Ints
    score: Floats
    missing: Truths
    doubted: Truths
    own_fault: Truths
    given: Truths

    @classmethod
    def of(
        cls,
        verdicts: Sequence[Decided],
        names: Sequence[str],
        queries: Sequence[str],
        unanswered: Mapping[str, Collection[str]],
    ) -> _Rows:
        agent_at, query_at = ({name: at for at, name in enumerate(row)} for row in (names, queries))
        n = len(verdicts)
        a = np.fromiter((agent_at[v.agent_a] for v in verdicts), dtype=np.intp, count=n)
        b = np.fromiter((agent_at[v.agent_b] for v in verdicts), dtype=np.intp, count=n)
        query = np.fromiter((query_at[v.query_id] for v in verdicts), dtype=np.intp, count=n)
        given = (np.nan if v.winner is None else SCORES[v.winner] for v in verdicts)
        score = np.fromiter(given, dtype=np.float64, count=n)
        silent = np.zeros((len(names), len(queries)), dtype=bool)
        for name, ids in unanswered.items():
            if name in agent_at:
                silent[agent_at[name], [query_at[one] for one in ids if one in query_at]] = True
        agent, opponent = np.concatenate([a, b]), np.concatenate([b, a])
        both = np.concatenate([query, query])
        missing: Truths = np.isnan(np.concatenate([score, score]))
        mine, theirs = silent[agent, both], silent[opponent, both]
        return cls(
            agent,
            opponent,
            both,
            np.nan_to_num(np.concatenate([score, 1 - score])),
            missing,
            missing & ~mine & ~theirs,
            missing & mine,
            missing & theirs & ~mine,
        )

    @property
    def alike(self) -> bool:
        """Whether every two of those that have met anybody have met on the same queries."""
        n_met, n_queries = len(np.unique(self.agent)), len(np.unique(self.query))
        top = max(int(self.agent.max(initial=0)), int(self.opponent.max(initial=0))) + 1
        place = (self.query * top + self.agent) * top + self.opponent
        return bool(len(np.unique(place)) == n_queries * n_met * (n_met - 1))

    def strangers(self, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Pairs of agents that have a verdict, and none on each other."""
        met = np.zeros((len(names), len(names)), dtype=bool)
        met[self.agent[~self.missing], self.opponent[~self.missing]] = True
        rated = met.any(axis=1)
        apart = np.triu((~met & np.outer(rated, rated)).astype(np.intp), 1)
        return tuple((names[a], names[b]) for a, b in np.argwhere(apart).tolist())


def _table(rows: _Rows, counted: Truths, failed_score: float, shape: tuple[int, int], plan: Weigh | None) -> Floats:
    """Points by the rows counted, those missing at `failed_score`. plan: how they are linearised; None: not at all."""
    agent, query = rows.agent[counted], rows.query[counted]
    failed = np.where(rows.given, 1.0, failed_score)
    score = np.where(rows.missing, failed, rows.score)[counted]
    if plan is not None:
        return _linearised(rows, counted, score, shape, plan)
    total, number = np.zeros(shape), np.zeros(shape)
    np.add.at(total, (agent, query), score)
    np.add.at(number, (agent, query), 1.0)
    return np.asarray(np.divide(total, number, out=np.full(shape, np.nan), where=number > 0))


def wins_linearised(verdicts: Sequence[Decided], agents: Sequence[str], queries: Sequence[str]) -> Floats:
    """(agents, queries): the share of an agent's verdicts that it won, each pair weighing the same, and what the query
    adds to it, as points are linearised; NaN of one without a verdict."""
    rows = _Rows.of(verdicts, agents, queries, NOBODY)
    won = (rows.score[~rows.missing] == 1).astype(np.float64)
    return _linearised(rows, ~rows.missing, won, (len(agents), len(queries)), "pairs")


def _linearised(rows: _Rows, counted: Truths, score: Floats, shape: tuple[int, int], plan: Weigh) -> Floats:
    """W + n sum_o w_o f_o (s - s_o) / sum_o w_o N_o on each of the n queries met on, for each agent.

    W = sum_o w_o sum s / sum_o w_o N_o over opponents o, s the scores of its N_o games against o, s_o their mean; w_o =
    n / m_o, m_o the queries on which they met. f_o = sqrt(m / (m - 1) (n - 1) / n), m the queries with a game that
    counts, since against o there are only m queries to learn s_o from. Of games that count the same w_o is 1, and s_o
    is W.
    """
    n_agents = shape[0]
    agent, opponent, query = rows.agent[counted], rows.opponent[counted], rows.query[counted]
    asked = np.unique(rows.query)
    n = len(asked)
    found = np.full(shape, np.nan)

    def by_pair(values: Floats | None, which: Truths | None = None) -> Floats:
        a, o = (rows.agent, rows.opponent) if which is None else (agent, opponent)
        return np.bincount(a * n_agents + o, weights=values, minlength=n_agents**2).astype(np.float64)

    pair = agent * n_agents + opponent
    number, total = by_pair(None, counted), by_pair(score, counted)
    met = _queries_of(rows.agent * n_agents + rows.opponent, rows.query, n_agents**2)
    known = _queries_of(pair, query, n_agents**2)
    weight = np.divide(n, met, out=np.zeros_like(met), where=met > 0) if plan == "pairs" else np.ones_like(met)
    held = (weight * number).reshape(n_agents, -1).sum(axis=1)
    rated = held > 0
    mean = np.divide((weight * total).reshape(n_agents, -1).sum(axis=1), held, out=np.zeros_like(held), where=rated)
    if plan == "pairs":
        centre = np.divide(total, number, out=np.zeros_like(total), where=number > 0)[pair]
        with np.errstate(divide="ignore", invalid="ignore"):
            few = np.where(known > 1, np.sqrt(known / (known - 1) * (n - 1) / n), 1.0)
    else:
        centre, few = mean[agent], np.ones_like(known)
    added = np.zeros(shape)
    np.add.at(added, (agent, query), (weight * few)[pair] * (score - centre) * n / held[agent])
    found[np.ix_(rated, asked)] = mean[rated, None] + added[np.ix_(rated, asked)]
    return found


def _queries_of(pair: Ints, query: Ints, n_pairs: int) -> Floats:
    """(pairs,): on how many queries each has a row."""
    n = int(query.max(initial=0)) + 1
    return np.bincount(np.unique(pair * n + query) // n, minlength=n_pairs).astype(np.float64)
