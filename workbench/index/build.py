"""A results folder as one SQLite file: what the stages have left so far, each thing by the place of its query.

Files that are not there yet leave their tables empty, so that a run under way can be looked at. The values by query
(`measured`) are those that `compare` left in `values.jsonl`.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import signal
import sqlite3
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from multiprocessing.connection import Connection
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ragassay.cores import why_ended
from ragassay.errors import InputError, RagassayError
from ragassay.evaluate.figures.turns_and_steps import number_of
from ragassay.evaluate.figures.values import read_values, scale_of
from ragassay.evaluate.inputs.clusters import source_clusters, writer
from ragassay.evaluate.ratings.verdicts import verdicts
from ragassay.evaluate.report.page import read_results
from ragassay.evidence import place_of
from ragassay.experiment.workspace import Workspace, read_not_asked
from ragassay.files import (
    Qrels,
    digest_file,
    digest_json,
    file_stamp,
    read_qrels,
    read_records,
    read_rows,
    while_unchanged,
)
from ragassay.records import (
    Answer,
    Assessment,
    Game,
    Judgment,
    Passage,
    Query,
    RankedList,
    Record,
    own_failures,
    perturbed_from,
)

from .read import PLAYED, Index

if TYPE_CHECKING:
    from ragassay.evaluate.measures.by_step import Steps

    from ..asked import Bench

R = TypeVar("R", bound=Record)

LAYOUT = 11
"""Counts up when the tables, or what is counted in them, change, so that an index of before is made anew."""

SCHEMA = Path(__file__).with_name("schema.sql")


def _answers(workspace: Workspace) -> list[Path]:
    """Of each agent; what a user's system is still being asked for is none."""
    return [path for path in sorted(workspace.results.glob("answers/*.jsonl")) if not path.stem.endswith(".partial")]


def stamp_of(workspace: Workspace) -> str:
    """What tells whether an index still fits: of each file its path, size and time, and the layout."""
    files = [workspace.queries, workspace.passages, workspace.relevance, workspace.pointwise, workspace.games]
    files += [workspace.judgments, workspace.lists, workspace.qrels, workspace.figures, workspace.values]
    files += [workspace.not_asked, workspace.own_qrels, *_answers(workspace)]
    seen = [(str(path), *found) for path in files if (found := file_stamp(path))]
    return digest_json([LAYOUT, seen])


digest_kept = while_unchanged(4096)(digest_file)
"""SHA-256 of a file's content, which is not read again where its size and time are as they were. Raises OSError."""


def build(workspace: Workspace, out: Path) -> None:
    """Write the index to `out`, whole or not at all. Raises InputError with file and line."""
    if not workspace.results.is_dir():
        raise InputError("there is no such results folder any more", file=workspace.results, remedy="put it back")
    stamp = stamp_of(workspace)
    out.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=".index-")
    os.close(handle)
    try:
        connection = sqlite3.connect(name)
        try:
            _fill(connection, workspace, stamp)
        finally:
            connection.close()
        os.replace(name, out)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _fill(connection: sqlite3.Connection, workspace: Workspace, stamp: str) -> None:
    connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + SCHEMA.read_text("utf-8"))
    queries = _read(workspace.queries, Query)
    place = {query.id: number for number, query in enumerate(queries)}
    there = {path.stem for path in _answers(workspace)}
    named = [agent for agent in workspace.experiment.agent_names() if agent in there]
    agents = [*named, *sorted(there - set(named))]
    connection.executemany("INSERT INTO agents VALUES (?, ?)", enumerate(agents))
    answers = {agent: _of(_rows(workspace.answers(agent), Answer), place) for agent in agents}
    _insert(connection, "answers", (_answer(row, place, n) for n, a in enumerate(agents) for row in answers[a]))
    out = read_not_asked(workspace.not_asked)
    _insert(connection, "not_asked", ((place[q], n) for n, a in enumerate(agents) for q in place if (q, a) in out))
    passages = _read(workspace.passages, Passage)
    _insert(connection, "passages", ((one.id, one.title, one.text, json.dumps(one.metadata)) for one in passages))
    _insert(connection, "spans", ((one.id, *span) for one in passages if (span := place_of(one)) is not None))
    _insert(connection, "steps", _steps(workspace, {n: answers[a] for n, a in enumerate(agents)}, passages, place))
    labels: dict[str, list[Judgment]] = {
        "passage": _rows(workspace.relevance, Judgment),
        "answer": _rows(workspace.pointwise, Judgment),
        "evaluator": [*_read(workspace.judgments, Assessment)],
    }
    _insert(connection, "labels", (_label(of, r, place) for of, rows in labels.items() for r in _of(rows, place)))
    games, played = _of(_rows(workspace.games, Game), place), attrgetter(*PLAYED)
    _insert(connection, "games", ((place[row.query_id], *played(row)) for row in games))
    _insert(connection, "lists", (_list(row, place) for row in _of(_read(workspace.lists, RankedList), place)))
    _insert_measures(connection, workspace, agents, queries)
    _insert(connection, "causes", _causes(workspace, place, agents))
    rows: Iterator[Answer | Judgment | Game] = chain(*answers.values(), *labels.values(), games)
    failed = Counter(row.query_id for row in own_failures(rows))
    flips = Counter(one.query_id for one in verdicts(games) if one.flipped)  # pairs that another order turned
    clusters = source_clusters(queries)
    together = [clusters.names[clusters.number(query.id)] for query in queries]
    counted = ((flips[query.id], failed[query.id]) for query in queries)
    parts = zip(enumerate(queries), counted, together, strict=True)
    _insert(connection, "queries", ((n, *_query(q), *counts, name, *_turn(q)) for (n, q), counts, name in parts))
    texts: dict[int, list[str]] = {}
    for row in chain(*answers.values()):
        texts.setdefault(place[row.query_id], []).append(row.answer or "")
    words = ((n, query.text, "\n".join(dict.fromkeys(texts.get(n, [])))) for n, query in enumerate(queries))
    connection.executemany("INSERT INTO words (rowid, query, answers) VALUES (?, ?, ?)", words)
    connection.executemany("INSERT INTO about VALUES (?, ?)", [("stamp", stamp), ("n_queries", str(len(queries)))])
    connection.commit()


def _read(path: Path, kind: type[R]) -> list[R]:
    return read_records(path, kind) if path.exists() else []


def _rows(path: Path, kind: type[R]) -> list[R]:
    """In less time and room, where records are many and only looked at."""
    return read_rows(path, kind) if path.exists() else []


Asked = TypeVar("Asked", Answer, Judgment, Game, RankedList)


def _of(rows: Iterable[Asked], place: Mapping[str, int]) -> list[Asked]:
    """Those of the queries that there are."""
    return [row for row in rows if row.query_id in place]


def _insert(connection: sqlite3.Connection, table: str, rows: Iterable[Sequence[object]]) -> None:
    rows = iter(rows)
    first = next(rows, None)
    if first is not None:
        marks = ", ".join("?" * len(first))
        connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", chain([first], rows))  # noqa: S608


def _answer(row: Answer, place: Mapping[str, int], agent: int) -> tuple[object, ...]:
    said = (row.answer, row.error, json.dumps(row.passages), json.dumps(row.queries))
    took = (row.usage.input_tokens, row.usage.output_tokens, row.usage.cost_usd, row.latency_s)
    return (place[row.query_id], agent, *said, *took)


def _label(of: str, row: Judgment, place: Mapping[str, int]) -> tuple[object, ...]:
    details = json.dumps(row.details) if isinstance(row, Assessment) and row.details else None
    said = (row.label, row.reason, row.error, details)
    return (place[row.query_id], of, row.subject, row.criterion, row.judge, *said)


def _list(row: RankedList, place: Mapping[str, int]) -> tuple[object, ...]:
    order = None if row.order is None else json.dumps(row.order)
    which = (row.judge, row.presentation, row.block)
    return (place[row.query_id], *which, json.dumps(row.shown), order, row.reason, row.error)


def _query(query: Query) -> tuple[object, ...]:
    given = (query.metadata.get(name) for name in ("doc", "section", "kind", "role"))
    doc, section, kind, role = (value if isinstance(value, str) and value else None for value in given)
    told = (doc, section, writer(query), kind, role, len(query.text.split()), json.dumps(query.metadata))
    return (query.id, query.text, *told, json.dumps([turn.dump() for turn in query.history]))


def _turn(query: Query) -> tuple[str | None, int | None, str | None]:
    """The conversation that it is a turn of, which turn of it, and its move; nothing of a perturbed turn, which was not
    said in it.
    """
    conversation = query.metadata.get("conversation")
    if conversation is None or perturbed_from(query) is not None:
        return None, None, None
    move = query.metadata.get("move")
    return str(conversation) or None, number_of(query), str(move) if move else None


def _steps(
    workspace: Workspace, answers: Mapping[int, Sequence[Answer]], passages: Sequence[Passage], place: Mapping[str, int]
) -> Iterator[tuple[object, ...]]:
    """(query, agent, its hops, what they brought (`by_step.Steps`), why that is not known) of each answer with hops."""
    stepping = {str(agent): some for agent, rows in answers.items() if (some := [row for row in rows if row.hops])}
    if not stepping:
        return
    from ragassay.evaluate.figures.turns_and_steps import steps_by_query

    known: dict[str, dict[str, Steps | None]] = {}
    labels: Qrels = {}
    fault = None
    try:
        for path in (workspace.qrels, workspace.own_qrels):
            labels |= read_qrels(path) if path.exists() else {}
        known = steps_by_query(workspace, stepping, {one.id: one for one in passages}, labels)
    except InputError as error:
        fault = str(error)
    for agent, rows in stepping.items():
        for row in rows:
            mine = known.get(agent, {})
            found = mine.get(row.query_id)
            unplaced = "where a passage that was found stands is not known" if row.query_id in mine else None
            why = None if found else fault or unplaced or "no evidence of this query is known"
            hops = json.dumps([hop.model_dump(mode="json") for hop in row.hops])
            yield place[row.query_id], int(agent), hops, json.dumps(found._asdict()) if found else None, why


def _insert_measures(
    connection: sqlite3.Connection, workspace: Workspace, agents: Sequence[str], queries: Sequence[Query]
) -> None:
    """Two columns a measure and agent, by the place of the query: its value, NaN where none is; whether one is owed."""
    if not (workspace.figures.exists() and workspace.values.exists()):
        return
    results = read_results(workspace.figures)
    for number, (name, by_agent) in enumerate(read_values(workspace.values).measures.items()):
        scale = scale_of(name, results)
        row = (number, name, scale.lowest, scale.highest, scale.lower_is_better)
        connection.execute("INSERT INTO measures VALUES (?, ?, ?, ?, ?)", row)
        for place, agent in enumerate(agents):
            if (values := by_agent.get(agent)) is not None:
                data = np.array([values.get(query.id) for query in queries], dtype="<f8").tobytes()
                owed = np.array([query.id in values for query in queries], dtype=bool).tobytes()
                connection.execute("INSERT INTO measured VALUES (?, ?, ?, ?)", (number, place, data, owed))


def _causes(workspace: Workspace, place: Mapping[str, int], agents: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """(query, agent, root cause) of each answer that fails by Agent Evaluation; none where that took no part."""
    if not (workspace.figures.exists() and workspace.experiment.evaluates and workspace.judgments.exists()):
        return
    from ragassay.evaluate.figures.pass_or_fail import read_judged
    from ragassay.evaluate.judging.catalog import experiment_evaluators
    from ragassay.evaluate.judging.judges.pointwise import FAMILY

    if not any(evaluator.family == FAMILY for evaluator in experiment_evaluators(workspace)):
        return
    try:
        rows = read_judged(workspace).rows
    except InputError:
        return
    for row in rows:
        if (cause := row.overall.root_cause) is not None:
            yield place[row.query.id], agents.index(row.answer.agent), cause


class Apart:
    """A process of its own that does one thing, `work(*given)`, and ends.

    work: a module's function; it, its arguments and its result must pickle. helps: whether it ends with ours.
    """

    def __init__(self, work: Callable[..., Any], *given: Any, helps: bool = False) -> None:
        context = multiprocessing.get_context("spawn")
        self._heard, says = context.Pipe(duplex=False)
        self._process = context.Process(target=_do, args=(says, work, given), daemon=helps)
        self._process.start()
        says.close()

    @property
    def done(self) -> bool:
        """Whether it has said what came of it, or has died."""
        return self._heard.poll()

    def result(self) -> tuple[Any, str | None]:
        """What it gave, and why it gave nothing; None where it did. Asked once, after it is done."""
        try:
            value, error = self._heard.recv()
            self._process.join()
        except EOFError:
            self._process.join()
            value, error = None, why_ended(self._process.exitcode or 0)
        self._heard.close()
        return value, error

    def end(self) -> None:
        """Stop it."""
        self._process.kill()
        self._process.join()


def _do(says: Connection, work: Callable[..., Any], given: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of the terminal; ours is ended by us
    try:
        says.send((work(*given), None))
    except RagassayError as error:
        says.send((None, str(error)))
    except Exception as error:  # noqa: BLE001 - whatever it is, the page says it
        says.send((None, f"{type(error).__name__}: {error}"))


def _make(workspace: Workspace, path: Path) -> None:
    gc.disable()  # records are in no circles, and looking through them for some takes a quarter of the time
    try:
        build(workspace, path)
    except Exception as error:  # noqa: BLE001 - whatever it is, the page says it
        raise RagassayError(str(error)) from None


class Kept:
    """The folders for indexes and pictures; those that stand elsewhere are gone when the server ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._elsewhere: dict[Path, tempfile.TemporaryDirectory[str] | None] = {}

    def folder(self, workspace: Workspace) -> Path:
        """`workbench` in the results folder, or a temporary folder where nothing can be written there.

        Raises OSError where that cannot be either.
        """
        with self._lock:
            own = workspace.workbench
            if own not in self._elsewhere:
                if not workspace.results.is_dir():
                    return own
                elsewhere = None
                try:  # by writing there: rights do not tell of a disk that is mounted to be read
                    own.mkdir(exist_ok=True)
                    tempfile.TemporaryFile(dir=own).close()
                except OSError:
                    elsewhere = tempfile.TemporaryDirectory(prefix="ragassay-")
                self._elsewhere[own] = elsewhere
            elsewhere = self._elsewhere[own]
            return own if elsewhere is None else Path(elsewhere.name)

    def close(self) -> None:
        """Take the temporary folders away."""
        with self._lock:
            for elsewhere in filter(None, self._elsewhere.values()):
                elsewhere.cleanup()
            self._elsewhere.clear()


@dataclass
class _Folder:
    """What there is of one folder: the index in use, and the one that is being made."""

    index: Index | None = None
    making: Apart | None = None
    stamp: str = ""
    error: str | None = None


class Keeper:
    """Gives the index of a folder, has it made where it is missing or of before, and says why it cannot be made."""

    def __init__(self, kept: Kept) -> None:
        self._lock, self._kept = threading.Lock(), kept
        self._folders: dict[str, _Folder] = {}

    def begin(self, bench: Bench) -> None:
        """Have the index made unless it is there or on the way."""
        with self._lock:
            self._look(bench)

    def index(self, bench: Bench) -> Index | None:
        """The index of the folder, perhaps of a moment before; None while the first one is made."""
        with self._lock:
            return self._look(bench).index

    def error(self, bench: Bench) -> str | None:
        """Why the last index could not be made."""
        with self._lock:
            return self._look(bench).error

    def throw_away(self, bench: Bench) -> None:
        """Do without an index that cannot be read; it is made again."""
        with self._lock:
            folder = self._folders.setdefault(bench.name, _Folder())
            folder.index, folder.stamp = None, ""
            with suppress(OSError):
                self._path(bench).unlink()

    def close(self) -> None:
        """End what is being made."""
        with self._lock:
            for folder in self._folders.values():
                if folder.making is not None:
                    folder.making.end()
                if folder.index is not None:
                    folder.index.close()
            self._folders.clear()

    def is_made(self, bench: Bench) -> bool:
        """Whether there is an index, which may be of before; keeps nobody waiting."""
        return self._path(bench).exists()

    def _path(self, bench: Bench) -> Path:
        return self._kept.folder(bench.workspace) / "index.sqlite"

    def _look(self, bench: Bench) -> _Folder:
        folder = self._folders.setdefault(bench.name, _Folder())
        path = self._path(bench)
        if folder.making is not None and folder.making.done:
            _, folder.error = folder.making.result()
            folder.making = None
            if folder.error is None:
                folder.index = Index(path)  # the one before is not closed: requests that have it go on with it
        if folder.index is not None and not path.exists():
            folder.index, folder.stamp = None, ""
        stamp = stamp_of(bench.workspace)
        if folder.making is None and stamp != folder.stamp:
            if folder.index is None and path.exists() and Index(path).stamp == stamp:
                folder.index, folder.stamp = Index(path), stamp
            else:
                folder.stamp, folder.making = stamp, Apart(_make, bench.workspace, path, helps=True)
        return folder
