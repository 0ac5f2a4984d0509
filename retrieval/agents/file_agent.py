"""A system that takes part by a file of its answers (`kind = "file"`), in any layout that `ragassay.layouts` reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragassay.errors import InputError
from ragassay.experiment.variant_settings import AgentSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import check_length
from ragassay.layouts.answers import Given, read_given
from ragassay.records import Answer, Passage, Query
from ragassay.text import plain

from .own_agents import own_answer

USED = (
    *("query_id", "query", "agent", "answer", "passages", "queries", "usage", "latency_s", "error", "contexts"),
    *("model", "prompt"),
)
"""Of what a file may give, what becomes part of an answer's record."""


def read_answers(
    agent: AgentSettings, workspace: Workspace, queries: Sequence[Query], passages: Mapping[str, Passage]
) -> tuple[list[Answer], list[str]]:
    """The system's answers in the order of `queries`, and notices.

    A file may hold several systems: the rows of `agent.name` count, or all rows where only one system is in it. A query
    without a row gets a record with an error. Passages that are written out are found in the corpus by their id or
    their text. Raises InputError, with the line, for a row that cannot be used and for two answers to one query.
    """
    path = workspace.corpus / str(agent.path)
    if not path.exists():
        remedy = f"answer the queries of {workspace.queries} with it and put the answers there"
        raise InputError(f"agent '{agent.name}' has no answers yet", file=path, remedy=remedy)
    given = read_given(path)
    rows = _rows_of(agent.name, given.answers, path)
    placed, unknown = _place(rows, queries, path)
    found = _Found(passages, [row for row in placed.values() if row.fields.get("contexts")])
    answers = {query_id: _answer(row, query_id, agent.name, found, path) for query_id, row in placed.items()}
    missing = f"no answer in {plain(str(agent.path))}"
    for query in queries:
        answers.setdefault(query.id, Answer(query_id=query.id, agent=agent.name, answer=None, error=missing))
    return [answers[query.id] for query in queries], [
        *given.unused(USED),
        *_notices(agent, unknown),
        *found.said(agent),
    ]


class _Found:
    """Which passages of the corpus those are that a file writes out, and how many are none."""

    def __init__(self, passages: Mapping[str, Passage], rows: Sequence[Given]) -> None:
        self.passages, self.lost = passages, 0
        self._by_text = {_words(one.text): one.id for one in passages.values()} if rows else {}

    def ids(self, contexts: Sequence[Mapping[str, Any]]) -> list[str]:
        """The ids of those that the corpus has, in their order."""
        ids = [self._id(one) for one in contexts]
        self.lost += ids.count(None)
        return [id for id in ids if id is not None]

    def said(self, agent: AgentSettings) -> list[str]:
        """A sentence on those that are none of the corpus."""
        if not self.lost:
            return []
        return [f"{agent.name}: passages written out that are not in corpus.jsonl are left out: {self.lost}"]

    def _id(self, context: Mapping[str, Any]) -> str | None:
        id = context.get("id")
        if isinstance(id, str) and id in self.passages and _words(self.passages[id].text) == _words(context["text"]):
            return id
        return self._by_text.get(_words(context["text"]))


def _words(text: str) -> str:
    return " ".join(text.split())


def _place(rows: Sequence[Given], queries: Sequence[Query], path: Path) -> tuple[dict[str, Given], list[str]]:
    """Query id to its row, by text where ids are another tool's; and how rows that are for no query name theirs."""
    by_text: dict[str, list[str]] = {}
    for query in queries:
        by_text.setdefault(query.text.strip(), []).append(query.id)
    known = {query.id for query in queries}
    placed, unknown = dict[str, Given](), []
    for row in rows:
        id, text = _query_of(row, path)
        ids = by_text.get(text.strip(), []) if text and (row.foreign_ids or not id) else [id] if id in known else []
        if not ids:
            unknown.append(plain(id or text))
        for query_id in ids:
            if query_id in placed:
                problem = f"answers query '{plain(query_id)}' again, after line {placed[query_id].line}"
                raise InputError(problem, file=path, line=row.line)
            placed[query_id] = row
    return placed, unknown


def _query_of(row: Given, path: Path) -> tuple[str, str]:
    """(its id, its text), one of which may be empty. Raises InputError where both are."""
    id, text = row.fields.get("query_id"), row.fields.get("query")
    if isinstance(id, int) and not isinstance(id, bool):
        id = str(id)
    id, text = id.strip() if isinstance(id, str) else "", text if isinstance(text, str) else ""
    if not id and not text.strip():
        raise InputError("has no query_id", file=path, line=row.line, remedy="name the query's _id in queries.jsonl")
    return id, text


def _rows_of(name: str, rows: Sequence[Given], path: Path) -> list[Given]:
    """The rows of one system. A row that names none is this system's."""
    systems = list(dict.fromkeys(_agent(row, path) or name for row in rows))
    if len(systems) <= 1:
        return list(rows)
    if name not in systems:
        listed = ", ".join(plain(system) for system in systems[:5]) + (", …" if len(systems) > 5 else "")
        remedy = f"name the [[agent]] after one of them: {listed}"
        raise InputError(f"holds {len(systems)} systems and none is named '{name}'", file=path, remedy=remedy)
    return [row for row in rows if (_agent(row, path) or name) == name]


def _agent(row: Given, path: Path) -> str | None:
    agent = row.fields.get("agent")
    if agent is not None and not isinstance(agent, str):
        raise InputError("agent is not a string", file=path, line=row.line)
    return (agent or "").strip() or None


def _answer(row: Given, query_id: str, name: str, found: _Found, path: Path) -> Answer:
    text = row.fields.get("answer")
    check_length(text if isinstance(text, str) else None, "answer", path, row.line)
    fields = dict(row.fields)
    if "contexts" in fields and not fields.get("passages"):
        fields["passages"] = found.ids(fields["contexts"])
    try:
        return own_answer(fields, query_id, name, found.passages.keys())
    except ValueError as error:
        raise InputError(str(error), file=path, line=row.line) from None


def _notices(agent: AgentSettings, unknown: Sequence[str]) -> list[str]:
    if not unknown:
        return []
    listed = ", ".join(unknown[:3]) + (", …" if len(unknown) > 3 else "")
    return [f"{agent.name}: answers to queries that are not in the test set are left out: {len(unknown)} ({listed})"]
