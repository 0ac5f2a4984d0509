"""What there is of a test and its systems, in memory: read from and written to a folder that the other verbs take, or
gathered from files of answers in whatever layout, queries by their ids or texts, passages by theirs.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import permutations, product
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ragassay.errors import InputError
from ragassay.files import (
    Qrels,
    Rankings,
    digest_bytes,
    read_qrels,
    read_records,
    read_run,
    record_of,
    write_records,
    write_run,
    write_text,
)
from ragassay.layouts.answers import Given, GivenAnswers, read_given
from ragassay.records import Answer, Asked, Game, Passage, Query, RankedList, Usage
from ragassay.text import plain

from ...inputs.findings import by_id
from ..answers import EXPECTED, context_id

_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Collection:
    """answers: agent to query id to the record; rankings: agent to its run. notes: sentences on what was left out."""

    queries: Mapping[str, Query] = field(default_factory=dict)
    passages: Mapping[str, Passage] = field(default_factory=dict)
    qrels: Qrels = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, Answer]] = field(default_factory=dict)
    rankings: Mapping[str, Rankings] = field(default_factory=dict)
    games: tuple[Game, ...] = ()
    notes: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """How many there are of each."""
        return {
            "queries": len(self.queries),
            "passages": len(self.passages),
            "labels": sum(map(len, self.qrels.values())),
            "answers": sum(map(len, self.answers.values())),
            "rankings": len(self.rankings),
            "games": len(self.games),
        }


def read_folder(folder: Path) -> Collection:
    """The collection of a results folder, or of one that `ragassay import` wrote. Raises InputError."""
    if not (folder / "queries.jsonl").is_file():
        remedy = "name a results folder, or one that `ragassay import` wrote"
        raise InputError("has no queries.jsonl", file=folder, remedy=remedy)
    labels = next((folder / name for name in ("qrels.tsv", "qrels.trec") if (folder / name).is_file()), None)
    queries = by_id(folder / "queries.jsonl", Query)
    answers: dict[str, dict[str, Answer]] = {}
    for path in sorted((folder / "answers").glob("*.jsonl")):
        if path.name.endswith(".partial.jsonl"):
            continue
        rows = answers.setdefault(path.stem, {})
        for answer in read_records(path, Answer):
            if answer.query_id in rows:
                raise InputError(f"has two answers to query '{plain(answer.query_id)}'", file=path)
            if answer.query_id not in queries:
                raise InputError(f"query '{plain(answer.query_id)}' is not in queries.jsonl", file=path)
            rows[answer.query_id] = answer
    passages, games = folder / "corpus.jsonl", folder / "games.jsonl"
    return Collection(
        queries=queries,
        passages=by_id(passages, Passage) if passages.is_file() else {},
        qrels=read_qrels(labels) if labels else {},
        answers=answers,
        rankings={path.stem: read_run(path) for path in sorted((folder / "rankings").glob("*.trec"))},
        games=tuple(_games(games, folder / "lists.jsonl")) if games.is_file() else (),
    )


def _games(path: Path, lists: Path) -> Iterator[Game]:
    """Those that were read from a list with its reason, which only the list has."""
    said: dict[tuple[str | int | None, ...], str | None] = {
        (row.query_id, row.judge, row.presentation, a, b, at_a, at_b): row.reason
        for row in (read_records(lists, RankedList) if lists.is_file() else ())
        for (at_a, of_a), (at_b, of_b) in permutations(enumerate(row.shown, 1), 2)
        for a, b in product(of_a, of_b)
    }
    for game in read_records(path, Game):
        ours = (game.query_id, game.judge, game.presentation, game.agent_a, game.agent_b, game.place_a, game.place_b)
        told = game.reason is None and game.winner is not None and ours in said
        yield game.model_copy(update={"reason": said[ours]}) if told else game


def write_folder(collection: Collection, out: Path) -> None:
    """The folder, whole or not at all; a file for each thing that there is. Raises InputError where `out` is there."""
    with whole_folder(out) as folder:
        write_records(folder / "queries.jsonl", collection.queries.values())
        if collection.passages:
            write_records(folder / "corpus.jsonl", collection.passages.values())
        if collection.qrels:
            write_beir_qrels(folder / "qrels.tsv", collection.qrels)
        for agent, answers in collection.answers.items():
            write_records(folder / "answers" / f"{agent}.jsonl", answers.values())
        for agent, ranking in collection.rankings.items():
            check_trec_ids(ranking, folder)
            write_run(folder / "rankings" / f"{agent}.trec", ranking, agent)
        if collection.games:
            write_records(folder / "games.jsonl", collection.games)


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """`out` itself, removed where what is written to it fails; for what keeps its own place in its files."""
    check_new(out)
    try:
        yield out
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise


def check_new(out: Path) -> None:
    """Raises InputError where there is something at `out`."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("is there already", file=out, remedy="name a new folder with --out")


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A folder beside `out`, moved there when all is written and removed otherwise. Raises InputError."""
    check_new(out)
    beside = out.with_name(f".{out.name}.{os.getpid()}.part")
    beside.mkdir(parents=True)
    try:
        yield beside
        if out.exists():
            out.rmdir()
        os.replace(beside, out)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def write_beir_qrels(path: Path, qrels: Qrels) -> None:
    """BEIR's table of labels, with its heading. Raises InputError for an id that it cannot hold."""
    check_trec_ids(qrels, path)
    lines = [f"{query}\t{passage}\t{label}\n" for query, row in qrels.items() for passage, label in row.items()]
    write_text(path, "".join(["query-id\tcorpus-id\tscore\n", *lines]))


def check_trec_ids(rows: Rankings | Qrels, file: Path) -> None:
    """Raises InputError for an id with white space, which tables of labels and runs cannot hold."""
    for query, row in rows.items():
        for id in (query, *(one if isinstance(one, str) else one[0] for one in row)):
            check_trec_id(id, file)


def check_trec_id(id: str, file: Path) -> None:
    """Raises InputError for an id with white space."""
    if not id or id.split() != [id]:
        problem = f"the id '{plain(id)}' has white space, which a TREC run and qrels cannot hold"
        raise InputError(problem, file=file.name, remedy="give it another id")


def agent_name(name: str) -> str:
    """A name that can be a file's: letters, digits, dots, underscores and hyphens."""
    return _NO_NAME.sub("-", name).strip("-.") or "agent"


_FIELDS = ("answer", "passages", "queries", "latency_s", "error", "model", "prompt", "hops", "calls")


class Gathering:
    """Takes rows one after another; `collection` is what they make."""

    def __init__(self) -> None:
        self.queries: dict[str, Query] = {}
        self.passages: dict[str, Passage] = {}
        self.qrels: Qrels = {}
        self.answers: dict[str, dict[str, Answer]] = {}
        self.notes: list[str] = []
        self._by_text: dict[str, str] = {}
        self._renamed: dict[str, str] = {}

    def query(
        self, id: str | None, text: str, path: Path, line: int | None, metadata: Mapping[str, Any] | None = None
    ) -> str:
        """The query's id, which is made (q1, q2, …) where none is given. Raises InputError for one id of two texts."""
        if not text.strip():
            raise InputError("has an empty query", file=path, line=line)
        number = len(self.queries) + 1
        while id is None and text not in self._by_text and f"q{number}" in self.queries:
            number += 1
        id = id or self._by_text.get(text) or f"q{number}"
        known = self.queries.get(id)
        if known is not None and known.text != text:
            raise InputError(f"query '{plain(id)}' has another text than before", file=path, line=line)
        before, more = known.metadata if known else {}, metadata or {}
        told = {**before, **more}
        if any(before[name] != value for name, value in more.items() if name in before):
            raise InputError(f"query '{plain(id)}' is not expected what it was before", file=path, line=line)
        self.queries[id] = record_of({"id": id, "text": text, "metadata": told}, Query, path, line)
        self._by_text.setdefault(text, id)
        return id

    def passage(self, fields: Mapping[str, Any], path: Path, line: int | None) -> str:
        """Its id. Raises InputError for one id of two texts, and for what is no passage."""
        passage = record_of(fields, Passage, path, line)
        known = self.passages.setdefault(passage.id, passage)
        if known.text != passage.text:
            problem = f"passage '{plain(passage.id)}' has another text than before"
            raise InputError(problem, file=path, line=line, remedy="give each passage an id of its own")
        return passage.id

    def answer(self, agent: str, answer: dict[str, Any], path: Path, line: int | None) -> None:
        """Keep an answer. Raises InputError for a second one to a query, and for one that is none."""
        name = agent_name(agent)
        if self._renamed.setdefault(name, agent) != agent:
            raise InputError(f"the agents '{plain(agent)}' and '{plain(self._renamed[name])}' have one name", file=path)
        if name != agent and (note := f"agent '{plain(agent)}' is called {name}") not in self.notes:
            self.notes.append(note)
        if isinstance(answer.get("answer"), str) and not answer["answer"].strip():
            answer = {**answer, "answer": None, "error": answer.get("error") or "the answer is empty"}
        record = record_of({"answer": None, **answer, "agent": name}, Answer, path, line)
        if record.query_id in self.answers.setdefault(name, {}):
            raise InputError(f"a second answer of {name} to '{plain(record.query_id)}'", file=path, line=line)
        self.answers[name][record.query_id] = record

    def known_as(self, agent: str) -> str:
        """What the agent is called here where it has answers, else its own name."""
        return agent_name(agent) if agent_name(agent) in self.answers else agent

    def collection(self, **more: Any) -> Collection:
        """What was gathered."""
        whole = Collection(self.queries, self.passages, self.qrels, self.answers, notes=tuple(self.notes))
        return whole if not more else Collection(**{**vars(whole), **more})


def read_answer_files(
    paths: Sequence[Path], *layouts: str, passages: Mapping[str, Passage] = MappingProxyType({})
) -> Collection:
    """The collection that files of answers make, of one of the layouts, or of any where none is named.

    passages: those that are known before. Reference passages are labelled 1. Raises InputError.
    """
    gathering = Gathering()
    gathering.passages.update(passages)
    for path in paths:
        file = read_given(path, layouts[0] if len(layouts) == 1 else None)
        if layouts and file.layout not in layouts:
            raise InputError(f"has the columns of {file.layout}, not of {' or '.join(layouts)}", file=path)
        gathering.notes += file.unused()
        for row in file.answers:
            _take(gathering, row, file)
        if file.answers and not file.answered:
            gathering.notes.append(f"{plain(path.name)}: read as {file.layout}; queries without answers")
    return gathering.collection()


def _take(gathering: Gathering, row: Given, file: GivenAnswers) -> None:
    path, fields, line = file.path, row.fields, row.line
    id, text = fields.get("query_id"), fields.get("query")
    if not isinstance(text, str):
        if str(id) not in gathering.queries:
            raise InputError("has no query text", file=path, line=line, remedy="give the text beside the id")
        text = gathering.queries[str(id)].text
    expected = {name: fields[name] for name in EXPECTED if fields.get(name) is not None}
    if "expected_facts" in expected:
        expected.setdefault("expected_response", "\n".join(map(str, expected["expected_facts"])))
    metadata = (fields.get("metadata") or {}) | expected
    if isinstance(text, Asked):  # which conversation it is of is known by its first turn
        conversation = digest_bytes(text.history[0].text.encode("utf-8", "surrogatepass"))[:10]
        turn = 1 + sum(one.role == "user" for one in text.history)
        metadata = {"conversation": conversation, "turn": turn, **metadata}
    query = gathering.query(None if id is None else str(id), text, path, line, metadata)
    right = [_passage(gathering, one, path, line) for one in fields.get("reference_contexts") or ()]
    for id in right or fields.get("reference_passages") or ():
        gathering.qrels.setdefault(query, {})[id] = 1
    given = fields.get("contexts") or ()
    named = [_passage(gathering, one, path, line) for one in given]
    if not file.answered or ("answer" not in fields and "error" not in fields):
        return
    answer = {name: fields[name] for name in _FIELDS if fields.get(name) is not None}
    if hops := fields.get("hops"):  # a text that has no id gets one
        of_hops = [[_passage(gathering, one, path, line) for one in hop.get("contexts", ())] for hop in hops]
        answer["hops"] = [
            {name: value for name, value in hop.items() if name != "contexts"}
            | {"passages": [*hop.get("passages", ()), *more]}
            for hop, more in zip(hops, of_hops, strict=True)
        ]
    used = fields.get("usage")
    if isinstance(used, dict):
        answer["usage"] = {name: used[name] for name in Usage.model_fields if used.get(name) is not None}
    if named and not (fields.get("passages") and all(one.get("id") for one in given)):
        answer["passages"] = named
    gathering.answer(str(fields.get("agent") or file.agent), {**answer, "query_id": query}, path, line)


def _passage(gathering: Gathering, context: dict[str, Any], path: Path, line: int) -> str:
    metadata = {"doc": context["doc"]} if context.get("doc") else {}
    fields = {"id": context_id(context), "text": context["text"], "metadata": metadata}
    return gathering.passage(fields, path, line)
