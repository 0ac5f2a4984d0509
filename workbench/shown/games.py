"""The games of a query: each pair's verdict with every order it was played in, and the lists of answers ranked
together with the letters that the judge knew the answers by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragassay.evaluate.judging.together.listwise import LETTERS
from ragassay.evaluate.ratings.verdicts import Verdict, verdicts
from ragassay.records import Game

_FIELDS = ("agent_a", "agent_b", "first", "judge", "winner", "reason", "error", "presentation", "place_a", "place_b")


@dataclass(frozen=True)
class Order:
    """One order of a pair. first: whose answer was shown first (in a list: earlier); winner: None where it is a tie
    or failed; reason: of this order alone, None of a list's."""

    first: str
    winner: str | None
    reason: str | None
    error: str | None
    presentation: int | None


@dataclass(frozen=True)
class PairShown:
    """A pair before one judge. outcomes: the verdict of each time it was played (agent, "tie", or None: failed)."""

    pair: tuple[str, str]
    judge: str
    verdicts: Sequence[Verdict]
    orders: Sequence[Order]


@dataclass(frozen=True)
class ListShown:
    """Answers ranked together. block: which of the query's lists of this presentation, None where there is one. shown:
    (letter, agents of the answer that stood there). ranked: agents by rank, best first, those of one rank together."""

    judge: str
    presentation: int
    block: int | None
    shown: Sequence[tuple[str, Sequence[str]]]
    ranked: Sequence[Sequence[str]]
    reason: str | None
    error: str | None


def pairs_of(rows: Sequence[Mapping[str, Any]], agents: Sequence[str]) -> list[PairShown]:
    """Each pair, in the agents' order."""
    rank = {agent: number for number, agent in enumerate(agents)}
    together: dict[tuple[tuple[int, str], tuple[int, str], str], list[Game]] = {}
    for game in map(_game, rows):
        first, second = sorted((rank.get(name, len(rank)), name) for name in (game.agent_a, game.agent_b))
        together.setdefault((first, second, game.judge), []).append(game)
    return [
        PairShown((key[0][1], key[1][1]), key[2], verdicts(games), [_order(game) for game in games])
        for key, games in sorted(together.items())
    ]


def lists_of(rows: Sequence[Mapping[str, Any]]) -> list[ListShown]:
    """Each list, as the index has it."""
    return [
        ListShown(
            row["judge"],
            row["presentation"],
            row["block"],
            [(_letter(place), agents) for place, agents in enumerate(row["shown"], 1)],
            row["ranked"],
            row["reason"],
            row["error"],
        )
        for row in rows
    ]


def _game(row: Mapping[str, Any]) -> Game:
    return Game.model_validate({"query_id": "", **{name: row[name] for name in _FIELDS}})


def _order(game: Game) -> Order:
    of = {"a": game.agent_a, "b": game.agent_b}
    reason = game.reason if game.presentation is None else None
    return Order(of[game.first], of.get(game.winner or ""), reason, game.error, game.presentation)


def _letter(place: int) -> str:
    return LETTERS[place - 1] if place <= len(LETTERS) else str(place)
