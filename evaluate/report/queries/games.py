"""The games of one query as a table: who won, in each order, a letter a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragassay.records import Game

from .evidence import GameView

WON, LOST, TIE, FAILED = "W", "L", "T", "F"


@dataclass(frozen=True)
class Met:
    """One pair by the row agent: `letters` for each time it was played, `verdict` W, L, T or F of all together."""

    letters: str
    verdict: str


@dataclass(frozen=True)
class GameTable:
    """One judge's games: the better placed agent of a pair is the row, the other the column. None: never met."""

    judge: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Met | None, ...]], ...]


def game_tables(games: Sequence[GameView], agents: Sequence[str]) -> list[GameTable]:
    """A table for each judge, in the order of the games, its rows and columns in that of `agents`, others last."""
    judges = dict.fromkeys(game.rows[0].judge for game in games)
    names = list(dict.fromkeys([*agents, *(name for game in games for name in game.pair)]))
    return [_table(judge, [game for game in games if game.rows[0].judge == judge], names) for judge in judges]


def _table(judge: str, games: Sequence[GameView], names: Sequence[str]) -> GameTable:
    met = {game.pair: _met(game) for game in games}
    columns = tuple(name for name in names if any(name == pair[1] for pair in met))
    rows = [name for name in names if any(name == pair[0] for pair in met)]
    return GameTable(judge, columns, tuple((row, tuple(met.get((row, to)) for to in columns)) for row in rows))


def _met(game: GameView) -> Met:
    """The row agent shown first comes first; what was ranked in lists stays in their order."""
    one = game.pair[0]
    rows = sorted(game.rows, key=lambda row: (row.presentation or 0, row.presentation is None and _first(row) != one))
    winners = [None if v.winner is None else _letter(v.winner, v.agent_a, one) for v in game.verdicts]
    verdict = FAILED if None in winners or not winners else winners[0] if len(set(winners)) == 1 else TIE
    return Met("".join(_letter(row.winner, row.agent_a, one) for row in rows), verdict or FAILED)


def _first(row: Game) -> str:
    return row.agent_a if row.first == "a" else row.agent_b


def _letter(winner: str | None, agent_a: str, one: str) -> str:
    if winner is None:
        return FAILED
    return TIE if winner == "tie" else WON if (winner == "a") == (agent_a == one) else LOST
