"""Verdicts: what the orders of each game say together, and whether the winner flipped with the order.

Judges favour a position (Zheng et al. 2023, arXiv:2306.05685, section 3.4), so a pair is judged in both orders and wins
only where both agree. Where the judge gave probabilities, their mean over the orders decides. Of answers ranked
together each presentation of the list is an order, and a pair wins only where all agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from ragassay.errors import InputError
from ragassay.records import IDENTICAL, Game, Winner, for_want_of_an_answer
from ragassay.text import plain

from ..inputs.labels import PANEL, check_vote, why_no_majority

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


def verdicts(games: Sequence[Game], margin: float = 0.0) -> list[Verdict]:
    """The verdict on each pair of rows, ordered by query, agents and judge as they first appear in `games`.

    Rows belong together by query, unordered pair and judge, whichever agent a row calls a. Both orders agree: that
    winner; they disagree: a tie that flipped; any error: no winner. A row whose other order is not there stands as it
    is. Where a file repeats a game, the k-th row of one order meets the k-th of the other; rows with a `presentation`
    are one verdict, however many.

    margin: in probability mode, how far the mean must be from 0.5 for a winner (0 to 0.5).
    Raises InputError where an agent plays itself.
    """
    if not 0 <= margin < 0.5:
        raise ValueError("margin must be at least 0 and below 0.5")
    pairs: dict[tuple[str, str, str, str], list[Game]] = {}
    for game in map(sorted_game, games):
        pairs.setdefault((game.query_id, game.agent_a, game.agent_b, game.judge), []).append(game)
    return [verdict(*orders, margin=margin) for rows in pairs.values() for orders in _games(rows)]


def _games(rows: Sequence[Game]) -> Iterator[Sequence[Game]]:
    """The rows of a pair, those of each game together: of two orders, or of all presentations."""
    alone = [row for row in rows if row.presentation is None]
    orders = ([row for row in alone if row.first == first] for first in ("a", "b"))
    for both in zip_longest(*orders):
        yield [row for row in both if row is not None]
    if listed := [row for row in rows if row.presentation is not None]:
        yield listed


def verdict(row: Game, *others: Game, margin: float = 0.0) -> Verdict:
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
        winner=None if errors else agreed if mean is None else winner_of(mean, margin),
        flipped=len(set(winners)) > 1 if all_there else None,
        error="; ".join(errors) or None,
        n_orders=len(rows),
        probability=mean,
        lean=sum(to_first) if all_there else None,
        identical=identical,
    )


def winner_of(probability: float, margin: float = 0.0) -> Winner:
    """a above 0.5 + margin, b below 0.5 - margin, else a tie; the distance from 0.5 is rounded to 9 digits first."""
    distance = round(probability - 0.5, 9)
    return "a" if distance > margin else "b" if distance < -margin else "tie"


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
    given = [said[judge].winner for judge in panel if judge in said]
    errors = {
        judge: "it was not asked" if judge not in said else said[judge].error or ""
        for judge in panel
        if judge not in said or said[judge].winner is None
    }
    why = why_no_majority(errors, panel)
    return Verdict(
        query_id=one.query_id,
        agent_a=one.agent_a,
        agent_b=one.agent_b,
        judge=PANEL,
        winner=None if why else _majority([winner for winner in given if winner is not None]),
        flipped=None,
        error=why,
        n_orders=max(each.n_orders for each in said.values()),
    )


def _majority(winners: Sequence[Winner]) -> Winner:
    winner, times = Counter(winners).most_common(1)[0]
    return winner if 2 * times > len(winners) else "tie"
