"""A collection made from files of answers, in whatever layout: queries by their ids or texts, passages by theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.files import Qrels, check_record, first_problem
from ragassay.layouts.answers import Given, GivenAnswers, read_given
from ragassay.records import Answer, Passage, Query, Record, Usage
from ragassay.text import plain

from ..answers import EXPECTED, context_id
from .collection import Collection, agent_name

R = TypeVar("R", bound=Record)
_FIELDS = ("answer", "passages", "queries", "latency_s", "error", "model", "prompt")


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
        metadata = metadata or {}
        told = {**(known.metadata if known else {}), **metadata}
        if known is not None and any(known.metadata.get(name, told[name]) != told[name] for name in metadata):
            raise InputError(f"query '{plain(id)}' is not expected what it was before", file=path, line=line)
        self.queries[id] = made(Query, {"id": id, "text": text, "metadata": told}, path, line)
        self._by_text.setdefault(text, id)
        return id

    def passage(self, fields: Mapping[str, Any], path: Path, line: int | None) -> str:
        """Its id. Raises InputError for one id of two texts, and for what is no passage."""
        passage = made(Passage, fields, path, line)
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
        record = made(Answer, {"answer": None, **answer, "agent": name}, path, line)
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


def made(kind: type[R], fields: Mapping[str, Any], path: Path, line: int | None) -> R:
    """The record of these fields. Raises InputError with the line for what is none, or longer than is taken."""
    try:
        record = kind.model_validate(fields)
    except ValidationError as error:
        raise InputError(first_problem(error).replace("Value error, ", ""), file=path, line=line) from None
    check_record(record, path, line or 1)
    return record


def read_answer_files(paths: Sequence[Path], *layouts: str) -> Collection:
    """The collection that files of answers make, of one of the layouts, or of any where none is named.

    Reference passages are labelled 1. Raises InputError.
    """
    gathering = Gathering()
    for path in paths:
        file = _given(path, layouts)
        gathering.notes += file.unused()
        for row in file.answers:
            _take(gathering, row, file)
        if file.answers and not file.answered:
            gathering.notes.append(f"{plain(path.name)}: read as {file.layout}; queries without answers")
    return gathering.collection()


def _given(path: Path, layouts: Sequence[str]) -> GivenAnswers:
    if len(layouts) == 1:
        return read_given(path, layouts[0])
    file = read_given(path)
    if layouts and file.layout not in layouts:
        raise InputError(f"has the columns of {file.layout}, not of {' or '.join(layouts)}", file=path)
    return file


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
    query = gathering.query(
        None if id is None else str(id), text, path, line, (fields.get("metadata") or {}) | expected
    )
    for context in fields.get("reference_contexts") or ():
        gathering.qrels.setdefault(query, {})[_passage(gathering, context, path, line)] = 1
    given = fields.get("contexts") or ()
    named = [_passage(gathering, one, path, line) for one in given]
    if not file.answered or ("answer" not in fields and "error" not in fields):
        return
    answer = {name: fields[name] for name in _FIELDS if fields.get(name) is not None}
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
