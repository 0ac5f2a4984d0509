"""Evaluators on files of anybody's: answers, the passages they name, and the queries."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.files import check_record, first_problem, read_objects
from ragassay.records import Answer, Passage, Query
from ragassay.text import plain

from ..inputs.material import Material, by_id
from ..judging.engine.cases import QueryCase, cases_of

_ANSWER_FIELDS = ("query_id", "agent", "answer", "passages", "queries", "usage", "latency_s", "error")
_GROUND_TRUTH = ("expected_response", "expected_docs", "conditions", "json_schema", "expected_files")
_SAME = "its text, expected_response and whatever else is expected must be the same in every line"


def read_cases(
    answers: Sequence[Path], passages: Path | None, queries: Path | None, max_rows: int | None = None
) -> list[QueryCase]:
    """The cases that the files make; every agent owes an answer to every query.

    answers: JSON Lines with Answer's fields (others are ignored); `agent` is the file's name where it is left out, and
    the query's text may stand in the line as `query` instead of in queries.jsonl, and so may what is expected of the
    answer: `expected_response`, `expected_docs`, `conditions`, `json_schema`, `expected_files`. passages, queries:
    BEIR. max_rows: only the first so many answers, in the files' order, and what they are about. Raises InputError with
    file and line.
    """
    rows = [row for path in answers for row in _rows(path)]
    asked = _queries(queries, rows)
    known = by_id(passages, Passage) if passages else {}
    given: dict[tuple[str, str], Answer] = {}
    for path, number, value in rows:
        answer = _answer(path, number, value)
        if (answer.query_id, answer.agent) in given:
            raise InputError(f"a second answer of {answer.agent} to '{plain(answer.query_id)}'", file=path, line=number)
        if answer.query_id not in asked:
            raise InputError(f"query '{plain(answer.query_id)}' is not in the queries", file=path, line=number)
        unknown = [id for id in answer.passages if id not in known]
        if passages and unknown:
            raise InputError(f"passage '{plain(unknown[0])}' is not in {passages}", file=path, line=number)
        given[answer.query_id, answer.agent] = answer
    agents = tuple(dict.fromkeys(agent for _, agent in given))
    cases = cases_of(Material(tuple(asked.values()), agents, known, _all_owed(given, asked, agents)))
    return cases if max_rows is None else _first(cases, list(given)[:max_rows])


def _first(cases: Sequence[QueryCase], kept: Sequence[tuple[str, str]]) -> list[QueryCase]:
    """The cases of these answers, by query id and agent, with the passages that they name."""
    wanted, found = set(kept), []
    for case in cases:
        answers = tuple(one for one in case.answers if (case.query.id, one.subject) in wanted)
        failed = tuple(one for one in case.failed if (case.query.id, one.agent) in wanted)
        named = {id for row in (*(one.answer for one in answers), *failed) for id in row.passages}
        if answers or failed:
            passages = tuple(one for one in case.passages if one.id in named)
            found.append(QueryCase(case.query, passages, answers, failed))
    return found


def _rows(path: Path) -> list[tuple[Path, int, dict[str, Any]]]:
    rows = [(path, number, value) for number, value in read_objects(path)]
    if not rows:
        raise InputError("holds no answer", file=path)
    return rows


def _queries(path: Path | None, rows: Sequence[tuple[Path, int, dict[str, Any]]]) -> dict[str, Query]:
    if path is not None:
        return by_id(path, Query)
    queries: dict[str, Query] = {}
    for file, number, value in rows:
        if not isinstance(value.get("query"), str):
            remedy = "give the queries with --queries, or the text of each as `query` in its answer's line"
            raise InputError("has no query text", file=file, line=number, remedy=remedy)
        expected = {key: value[key] for key in _GROUND_TRUTH if value.get(key) is not None}
        id = str(value["query"] if value.get("query_id") is None else value["query_id"])
        if not id or not value["query"]:
            raise InputError("has an empty query", file=file, line=number)
        query = Query(id=id, text=value["query"], metadata=expected)
        check_record(query, file, number)
        if queries.setdefault(id, query) != query:
            raise InputError(f"query '{plain(id)}' is not as in a line before", file=file, line=number, remedy=_SAME)
    return queries


def _answer(path: Path, number: int, value: dict[str, Any]) -> Answer:
    fields = {name: value[name] for name in _ANSWER_FIELDS if value.get(name) is not None}
    fields.setdefault("query_id", value.get("query"))
    fields.setdefault("agent", path.name.removesuffix(".jsonl"))
    if isinstance(fields.get("answer"), str) and not fields["answer"].strip():
        fields = {**fields, "answer": None, "error": "the answer is empty"}
    try:
        answer = Answer.model_validate({"answer": None, **fields})
    except ValidationError as error:
        raise InputError(first_problem(error).replace("Value error, ", ""), file=path, line=number) from None
    if answer.latency_s is not None and not isfinite(answer.latency_s):
        raise InputError(f"latency_s is {answer.latency_s}", file=path, line=number)
    check_record(answer, path, number)
    return answer


def _all_owed(
    given: dict[tuple[str, str], Answer], queries: dict[str, Query], agents: Sequence[str]
) -> dict[tuple[str, str], Answer]:
    missing = "the agent's file has no answer"
    return {
        (query, agent): given.get((query, agent)) or Answer(query_id=query, agent=agent, answer=None, error=missing)
        for query in queries
        for agent in agents
    }
