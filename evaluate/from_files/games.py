"""Games that somebody else wrote down: JSON Lines, a JSON array, CSV or TSV, with or without the order they had.

Three spellings are known, told by their columns (keys): ours (query_id, agent_a, agent_b, winner, and what `Game` has
besides), RAGElo's (qid, agent_a, agent_b, answer: A, B or C) and that of LMSYS's Chatbot Arena (question_id, model_a,
model_b, and winner, or winner_model_a, winner_model_b and winner_tie of 0 and 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field, ValidationError, model_validator

from ragassay.errors import InputError
from ragassay.files import first_problem, read_json, read_objects
from ragassay.records import Game, Winner
from ragassay.text import csv_text, plain

from ..agreement.label_tables import read_labels
from ..ratings.verdicts import sorted_game

LAYOUTS = (
    "a game has query_id, agent_a, agent_b and winner (a, b or tie), and first (a or b) where the order is known; "
    "or RAGElo's qid, agent_a, agent_b and answer (A, B or C); or LMSYS's question_id, model_a, model_b and winner; "
    "in JSON Lines, .json, .csv or .tsv"
)

_QUERY = ("query_id", "qid", "question_id", "id")
_WINNERS: dict[str, Winner] = {
    **{"a": "a", "model_a": "a", "agent_a": "a"},
    **{"b": "b", "model_b": "b", "agent_b": "b"},
    **{"tie": "tie", "c": "tie", "tie (bothbad)": "tie", "both_bad": "tie", "bothbad": "tie"},
}
_ONE_HOT: dict[str, Winner] = {"winner_model_a": "a", "winner_model_b": "b", "winner_tie": "tie"}
_YES = {"1", "1.0", "true"}
_NOT_LINES = {".csv", ".tsv", ".tab", ".json"}


class AnyonesGame(Game):
    """A game that somebody else may have written: fields that we do not know are ignored."""

    model_config = ConfigDict(extra="ignore")

    agent_a: str = Field(min_length=1)
    agent_b: str = Field(min_length=1)
    probability: float | None = Field(None, ge=0, le=1)

    @model_validator(mode="after")
    def _two_agents(self) -> AnyonesGame:
        if self.agent_a == self.agent_b:
            raise ValueError(f"agent '{self.agent_a}' plays itself")
        return self


@dataclass(frozen=True)
class GamesFile:
    """`games`: all of them; `ordered`: those of which it is known whose answer was shown first.

    A game without an order is told from the side of the agent that sorts first, so that no two of them are taken for
    the two orders of one game.
    """

    games: tuple[Game, ...]
    ordered: tuple[Game, ...]


def read_games(path: Path) -> GamesFile:
    """The games of a file: `.csv` and `.tsv` are tables, `.json` one array, anything else JSON Lines.

    Raises InputError, with the line, for a file of no known layout, one without a game, and a game that is none.
    """
    games: list[Game] = []
    ordered: list[Game] = []
    for line, row in _rows(path):
        first = row.get("first")
        given = {**row, "first": "a" if first in (None, "") else first}
        try:
            game: Game = AnyonesGame.model_validate(given)
        except ValidationError as error:
            problem = first_problem(error).removeprefix("Value error, ")
            raise InputError(problem, file=path, line=line, remedy=LAYOUTS) from None
        if first in (None, ""):
            games.append(sorted_game(game).model_copy(update={"first": "a"}))
        else:
            games.append(game)
            ordered.append(game)
    if not games:
        raise InputError("has no game", file=path)
    return GamesFile(tuple(games), tuple(ordered))


def _rows(path: Path) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    """(line, fields in our spelling). Raises InputError."""
    kind = path.suffix.lower()
    if kind in {".csv", ".tsv", ".tab"}:
        table = read_labels(path).rows
        rows: Iterable[tuple[int | None, Mapping[str, Any]]] = [(n, _unescaped(row)) for n, row in table]
    else:
        rows = enumerate(_array(path), 1) if kind == ".json" else read_objects(path)
    for number, row in rows:
        line = None if kind == ".json" else number
        ours = kind not in _NOT_LINES and row.keys() >= {"query_id", "agent_a", "agent_b"} and "answer" not in row
        yield line, row if ours else _ours(row, path, line)


def _unescaped(row: Mapping[str, str]) -> Mapping[str, str]:
    return {name: csv_text(cell) for name, cell in row.items()}


def _array(path: Path) -> list[Any]:
    value = read_json(path)
    if not isinstance(value, list) or not all(isinstance(game, dict) for game in value):
        raise InputError("is not a JSON array of games", file=path, remedy=f"{LAYOUTS}; JSON Lines is called .jsonl")
    return value


def _ours(row: Mapping[str, Any], path: Path, line: int | None) -> Mapping[str, Any]:
    """The same under the names of `Game`. Raises InputError."""
    side = "model" if "model_a" in row else "agent"
    names = {"agent_a": f"{side}_a", "agent_b": f"{side}_b"}
    query = next((name for name in _QUERY if name in row), _QUERY[0])
    ragelo = "answer" in row and "winner" not in row
    if lacking := [name for name in (query, *names.values()) if row.get(name) in (None, "")]:
        raise InputError(f"has no '{lacking[0]}'", file=path, line=line, remedy=LAYOUTS)
    if row.keys() >= _ONE_HOT.keys():
        winner = _hot(row, path, line)
    else:
        winner = _winner(row, "answer" if ragelo else "winner", names, path, line)
    kept = {name: row[name] for name in ("judge", "reason", "probability", "presentation") if row.get(name)}
    if ragelo and winner and isinstance(said := row.get("raw_answer"), str) and said:
        kept.setdefault("reason", said)
    return kept | {
        "query_id": str(row[query]),
        **{ours: row[theirs] for ours, theirs in names.items()},
        "first": "a" if ragelo else row.get("first"),
        "winner": winner,
        "error": row.get("error") or (None if winner else "no winner is given"),
    }


def _winner(
    row: Mapping[str, Any], column: str, names: Mapping[str, str], path: Path, line: int | None
) -> Winner | None:
    """Who won, by one of the words for it or by the agent's name; None where the cell is empty."""
    if column not in row and "error" not in row:
        raise InputError(f"has no '{column}'", file=path, line=line, remedy=LAYOUTS)
    given = row.get(column)
    if given in (None, ""):
        return None
    text = str(given).strip()
    if known := _WINNERS.get(text.lower()):
        return known
    for side, name in (("a", "agent_a"), ("b", "agent_b")):
        if text == row.get(names[name]):
            return "a" if side == "a" else "b"
    raise InputError(f"{column} is '{plain(text[:60])}'", file=path, line=line, remedy=LAYOUTS)


def _hot(row: Mapping[str, Any], path: Path, line: int | None) -> Winner | None:
    held = [winner for name, winner in _ONE_HOT.items() if str(row.get(name, "")).lower() in _YES]
    if len(held) > 1:
        raise InputError(f"{' and '.join(held)} are both said to win", file=path, line=line, remedy=LAYOUTS)
    return held[0] if held else None
