"""What a view asks of an index. Everything comes as plain rows; texts in them are untrusted."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isinf, isnan
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.evaluate.statistics.clustered import Range, limits_of
from ragassay.records import Game

Order = Literal["place", "flips", "failed", "words"]

_ORDER: dict[Order, str] = {
    "place": "place",
    "flips": "flips DESC, place",
    "failed": "failed DESC, place",
    "words": "words DESC, place",
}
"""What queries are sorted by, most first; by values a listing sorts them (`views/queries.py`)."""

_MEASURED = (
    "SELECT agents.name, data, owed FROM measured JOIN measures ON measures.place = measure "
    "JOIN agents ON agents.place = agent WHERE measures.name = ? ORDER BY agents.place"
)

PLAYED = ("agent_a", "agent_b", "first", "judge", "winner", "reason", "error", "presentation", "place_a", "place_b")
"""The columns of a game, which are its record's fields."""

SOURCES = ("real", "written")
"""Who a query is of: the user, or a model."""

FACETS = ("source", "doc", "model", "kind", "role", "conversation", "move")
"""By what of a query a list can be narrowed; all but the source are columns."""

COLUMNS = {name: f"coalesce({name}, '')" for name in FACETS} | {
    "source": f"CASE WHEN model IS NULL THEN '{SOURCES[0]}' ELSE '{SOURCES[1]}' END"
}
"""Each facet in SQL; an empty text where a query has none."""

Failed = Literal["", "1", "answers"]
"""All queries, those with a failed record, those with a failed answer."""


@dataclass(frozen=True)
class Asked:
    """Which queries are wanted: words that must occur in question or answers, a value of each facet, an order, and
    what must have failed."""

    words: str = ""
    facets: tuple[tuple[str, str], ...] = ()
    sort: Order = "place"
    failed: Failed = ""


@dataclass(frozen=True)
class Measure:
    """A measure of the index, and the ends of its scale; high: infinite where it has no upper end."""

    place: int
    name: str
    low: float
    high: float
    lower_is_better: bool

    @property
    def limits(self) -> Range | None:
        """The ends, as an interval takes them; None where it has no upper end."""
        return limits_of(self.low, self.high)

    @property
    def width(self) -> float | None:
        """How far they are apart."""
        return None if self.limits is None else self.high - self.low

    def up_to(self, values: Iterable[float]) -> Measure:
        """With the highest of these values (NaN is none) as the upper end, where it has none."""
        known = (value for value in values if not isnan(value))
        return replace(self, high=max(known, default=self.low)) if isinf(self.high) else self

    def share(self, value: float) -> float | None:
        """Where a value lies between the ends, 0 to 1; None for NaN, and on a scale of no width."""
        if isnan(value) or self.high <= self.low:
            return None
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


class Index:
    """A reader of one index file. Connections are one a thread, read-only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._measured: dict[str, tuple[dict[str, Floats], dict[str, Truths]]] = {}

    def close(self) -> None:
        """Close every thread's connection."""
        for connection in self._all:
            connection.close()
        self._all.clear()

    @property
    def stamp(self) -> str:
        """What the files were when it was made; empty where the file is no index."""
        try:
            row = self.one("SELECT value FROM about WHERE key = 'stamp'")
        except sqlite3.DatabaseError:
            return ""
        return str(row["value"]) if row else ""

    @cached_property
    def agents(self) -> tuple[str, ...]:
        """Their names, in the experiment's order."""
        return tuple(row["name"] for row in self.rows("SELECT name FROM agents ORDER BY place"))

    @cached_property
    def n_queries(self) -> int:
        """How many there are."""
        return int(self.rows("SELECT count(*) AS n FROM queries")[0]["n"])

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """In the report's order."""
        rows = self.rows("SELECT * FROM measures ORDER BY place")
        return tuple(Measure(r["place"], r["name"], r["low"], r["high"], bool(r["lower_is_better"])) for r in rows)

    def measure(self, name: str) -> Measure | None:
        """The one of that name."""
        return next((one for one in self.measures if one.name == name), None)

    def column(self, measure: str) -> dict[str, Floats]:
        """Agent to a value for each query, by place, NaN where there is none; only agents that have the measure."""
        return self._columns(measure)[0]

    def owed(self, measure: str) -> dict[str, Truths]:
        """Agent to whether each query, by place, is owed a value: where it has none all the same, something failed."""
        return self._columns(measure)[1]

    def _columns(self, measure: str) -> tuple[dict[str, Floats], dict[str, Truths]]:
        if measure not in self._measured:
            rows = self.rows(_MEASURED, (measure,))
            values = {row["name"]: np.frombuffer(row["data"], "<f8") for row in rows}
            self._measured[measure] = values, {row["name"]: np.frombuffer(row["owed"], np.bool_) for row in rows}
        return self._measured[measure]

    @cached_property
    def asked(self) -> dict[str, Truths]:
        """Agent to whether it was asked each query, by place; empty where all were asked all."""
        rows = self.rows("SELECT agents.name, query FROM not_asked JOIN agents ON agents.place = agent")
        found = {agent: np.ones(self.n_queries, dtype=bool) for agent in self.agents if rows}
        for row in rows:
            found[row["name"]][row["query"]] = False
        return found

    @cached_property
    def causes(self) -> dict[str, list[int]]:
        """Root cause of a failed answer to the places of the queries that have one, the commonest first."""
        found: dict[str, list[int]] = {}
        for row in self.rows("SELECT cause, query FROM causes GROUP BY cause, query"):
            found.setdefault(row["cause"], []).append(row["query"])
        return dict(sorted(found.items(), key=lambda item: (-len(item[1]), item[0])))

    def places(self, asked: Asked) -> list[int]:
        """The places of the queries that are wanted, in the order wanted."""
        wheres, given = ["1"], list[object]()
        for facet, value in asked.facets:
            if facet not in FACETS:
                raise ValueError(f"{facet} is no facet")
            wheres.append(f"{COLUMNS[facet]} = ?")
            given.append(value)
        if asked.failed:
            of_answers = "place IN (SELECT query FROM answers WHERE error IS NOT NULL)"
            wheres.append("failed > 0" if asked.failed == "1" else of_answers)
        # each word must occur, the last may be the beginning of one; nothing in them is an operator
        parts = ['"' + word.replace('"', '""') + '"' for word in asked.words.replace("\0", " ").split()]
        if parts:
            wheres.append("place IN (SELECT rowid FROM words WHERE words MATCH ?)")
            given.append(" ".join(parts) + "*")
        sql = f"SELECT place FROM queries WHERE {' AND '.join(wheres)} ORDER BY {_ORDER[asked.sort]}"  # noqa: S608
        return [row["place"] for row in self.rows(sql, given)]

    @cached_property
    def facets(self) -> dict[str, list[tuple[str, int]]]:
        """Every facet: its values with how many queries have each, most first; an empty text where it has none."""
        sql = "SELECT {} AS v, count(*) AS n FROM queries GROUP BY v ORDER BY n DESC, v"
        return {name: [(row["v"], row["n"]) for row in self.rows(sql.format(COLUMNS[name]))] for name in FACETS}

    def queries(self, places: Sequence[int]) -> list[dict[str, Any]]:
        """The rows of these queries, in the order given."""
        marks = ", ".join("?" * len(places))
        rows = self.rows(f"SELECT * FROM queries WHERE place IN ({marks})", list(places))  # noqa: S608
        there = {row["place"]: _loaded(row, "metadata", "history") for row in rows}
        return [there[place] for place in places if place in there]

    def place_of(self, query_id: str) -> int | None:
        """The place of a query by its id."""
        row = self.one("SELECT place FROM queries WHERE id = ?", (query_id,))
        return None if row is None else int(row["place"])

    def answers(self, place: int) -> list[dict[str, Any]]:
        """The agents' answers to a query, in the agents' order."""
        named = "answers JOIN agents ON agents.place = agent"
        sql = f"SELECT *, agents.name AS name FROM {named} WHERE query = ? ORDER BY agent"  # noqa: S608
        return [_loaded(row, "passages", "queries") for row in self.rows(sql, (place,))]

    def steps(self, place: int) -> dict[str, dict[str, Any]]:
        """Agent to its answer's hops, what they brought (`by_step.Steps`; None: not known), and why that is not."""
        sql = "SELECT steps.*, name FROM steps JOIN agents ON place = agent WHERE query = ? ORDER BY agent"
        return {row["name"]: _loaded(row, "hops", "brought") for row in self.rows(sql, (place,))}

    def turns(self, conversation: str) -> list[int]:
        """The places of a conversation's turns that were asked, in its order."""
        rows = self.rows("SELECT place FROM queries WHERE conversation = ? ORDER BY turn, place", (conversation,))
        return [row["place"] for row in rows]

    def passages(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Passages by their ids, those that the corpus has."""
        marks = ", ".join("?" * len(ids))
        rows = self.rows(f"SELECT * FROM passages WHERE id IN ({marks})", list(ids))  # noqa: S608
        return {row["id"]: _loaded(row, "metadata") for row in rows}

    def labels(self, place: int) -> list[dict[str, Any]]:
        """What judges gave the passages and answers of a query; `of` is passage, answer or evaluator."""
        return [dict(row) for row in self.rows("SELECT * FROM labels WHERE query = ? ORDER BY rowid", (place,))]

    def games(self, place: int) -> list[Game]:
        """The games of a query, every order of each."""
        sql = f"SELECT '' AS query_id, {', '.join(PLAYED)} FROM games WHERE query = ? ORDER BY rowid"  # noqa: S608
        return [Game.model_validate(dict(row)) for row in self.rows(sql, (place,))]

    def lists(self, place: int) -> list[dict[str, Any]]:
        """The lists of a query's answers that were ranked together; `shown` and `ranked` as in `lists.jsonl`."""
        rows = self.rows("SELECT * FROM lists WHERE query = ? ORDER BY rowid", (place,))
        return [_loaded(row, "shown", "ranked") for row in rows]

    def rows(self, sql: str, given: Sequence[object] = ()) -> list[sqlite3.Row]:
        """All rows of a query."""
        return self._connection().execute(sql, given).fetchall()

    def one(self, sql: str, given: Sequence[object] = ()) -> sqlite3.Row | None:
        """The first row, if any."""
        row: sqlite3.Row | None = self._connection().execute(sql, given).fetchone()
        return row

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            uri = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
            connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
            connection.row_factory = sqlite3.Row
            self._local.connection = connection
            self._all.append(connection)
        return connection


def _loaded(row: sqlite3.Row, *names: str) -> dict[str, Any]:
    """The row, with these columns, which are JSON, as what they hold."""
    return dict(row) | {name: json.loads(row[name] or "null") for name in names}
