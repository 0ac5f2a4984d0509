"""A system that takes part by a file of its answers (`kind = "file"`): JSON Lines as ours, or RAGElo's CSV."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from ragassay.errors import InputError
from ragassay.experiment.variant_settings import AgentSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import check_length, read_objects
from ragassay.records import Answer, Query
from ragassay.text import plain

from .own_agents import own_answer
from .ragelo_csv import AnswerRow, read_ragelo


def read_answers(
    agent: AgentSettings, workspace: Workspace, queries: Sequence[Query], passage_ids: AbstractSet[str]
) -> tuple[list[Answer], list[str]]:
    """The system's answers in the order of `queries`, and notices.

    A file may hold several systems: the rows of `agent.name` count, or all rows where only one system is in it. A query
    without a row gets a record with an error. Raises InputError, with the line, for a row that cannot be used and for
    two answers to one query.
    """
    path = workspace.corpus / str(agent.path)
    if not path.exists():
        remedy = f"answer the queries of {workspace.queries} with it and put the answers there"
        raise InputError(f"agent '{agent.name}' has no answers yet", file=path, remedy=remedy)
    rows = read_ragelo(path) if path.suffix.lower() == ".csv" else _json_rows(path)
    placed, unknown = _place(_rows_of(agent.name, rows, path), queries, path)
    answers = {query_id: _answer(row, query_id, agent.name, passage_ids, path) for query_id, row in placed.items()}
    missing = f"no answer in {plain(str(agent.path))}"
    for query in queries:
        answers.setdefault(query.id, Answer(query_id=query.id, agent=agent.name, answer=None, error=missing))
    return [answers[query.id] for query in queries], _notices(agent, unknown)


def _place(rows: Sequence[AnswerRow], queries: Sequence[Query], path: Path) -> tuple[dict[str, AnswerRow], list[str]]:
    """Query id to its row, by text where the row has one; and how the rows that are for no query name theirs."""
    by_text: dict[str, list[str]] = {}
    for query in queries:
        by_text.setdefault(query.text.strip(), []).append(query.id)
    by_id = {query.id: [query.id] for query in queries}
    placed, unknown = dict[str, AnswerRow](), []
    for row in rows:
        ids = by_text.get(row.query, []) if row.query else by_id.get(str(row.query_id), [])
        if not ids:
            unknown.append(plain(row.query_id or row.query or ""))
        for query_id in ids:
            if query_id in placed:
                problem = f"answers query '{plain(query_id)}' again, after line {placed[query_id].line}"
                raise InputError(problem, file=path, line=row.line)
            placed[query_id] = row
    return placed, unknown


def _json_rows(path: Path) -> list[AnswerRow]:
    rows = []
    for line, fields in read_objects(path):
        query_id, agent = fields.get("query_id"), fields.get("agent")
        if isinstance(query_id, int) and not isinstance(query_id, bool):
            query_id = str(query_id)
        if not isinstance(query_id, str) or not query_id:
            raise InputError("has no query_id", file=path, line=line, remedy="name the query's _id in queries.jsonl")
        if agent is not None and not isinstance(agent, str):
            raise InputError("agent is not a string", file=path, line=line)
        rows.append(AnswerRow(line, query_id, None, agent or None, fields))
    return rows


def _rows_of(name: str, rows: Sequence[AnswerRow], path: Path) -> list[AnswerRow]:
    """The rows of one system. A row that names none is this system's."""
    systems = list(dict.fromkeys(row.agent or name for row in rows))
    if len(systems) <= 1:
        return list(rows)
    if name not in systems:
        listed = ", ".join(plain(system) for system in systems[:5]) + (", …" if len(systems) > 5 else "")
        remedy = f"name the [[agent]] after one of them: {listed}"
        raise InputError(f"holds {len(systems)} systems and none is named '{name}'", file=path, remedy=remedy)
    return [row for row in rows if (row.agent or name) == name]


def _answer(row: AnswerRow, query_id: str, name: str, passage_ids: AbstractSet[str], path: Path) -> Answer:
    text = row.fields.get("answer")
    check_length(text if isinstance(text, str) else None, "answer", path, row.line)
    try:
        return own_answer(row.fields, query_id, name, passage_ids)
    except ValueError as error:
        raise InputError(str(error), file=path, line=row.line) from None


def _notices(agent: AgentSettings, unknown: Sequence[str]) -> list[str]:
    if not unknown:
        return []
    listed = ", ".join(unknown[:3]) + (", …" if len(unknown) > 3 else "")
    return [f"{agent.name}: answers to queries that are not in the test set are left out: {len(unknown)} ({listed})"]
