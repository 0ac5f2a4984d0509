"""Evaluators on files of anybody's: answers, the passages they name, and the queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from ragassay.digests import digest_bytes
from ragassay.errors import InputError
from ragassay.files import check_record, first_problem
from ragassay.layouts.answers import GivenAnswers, read_given
from ragassay.layouts.layout import FIELDS
from ragassay.records import Answer, Passage, Query
from ragassay.text import plain

from ..inputs.material import Material, by_id
from ..judging.engine.cases import QueryCase, cases_of

EXPECTED = ("expected_response", "expected_docs", "expected_facts", "conditions", "json_schema", "expected_files")
USED = FIELDS - {"reference_contexts", "reference_passages", "metadata", "model", "prompt"}
_ANSWER_FIELDS = ("query_id", "agent", "answer", "passages", "queries", "usage", "latency_s", "error")
_SAME = "its text, expected_response and whatever else is expected must be the same in every line"

Row = tuple[Path, int, dict[str, Any], str]
"""(file, line, our fields, what the agent is called where the row does not say)."""


class GivenCases(NamedTuple):
    """The cases, sentences on what of the files is not used, and whether passages are written out in the answers."""

    cases: list[QueryCase]
    notices: tuple[str, ...]
    with_texts: bool


def read_cases(
    answers: Sequence[Path],
    passages: Path | None,
    queries: Path | None,
    max_rows: int | None = None,
    layout: str | None = None,
) -> GivenCases:
    """The cases that the files make; every agent owes an answer to every query.

    answers: in any layout of `ragassay.layouts`, or all in the one that is named; `agent` is the file's name where it
    is left out, the query's text and what is expected of the answer may stand in the line instead of in queries.jsonl,
    and passages may be written out. Where expected facts stand for an expected answer they are it, a line each.
    passages, queries: BEIR. max_rows: only the first so many answers, in the files' order, and what they are about.
    Raises InputError with file and line.
    """
    if queries is not None and queries.suffix.lower() in {".csv", ".tsv"} and queries.exists():
        remedy = "`ragassay import` makes it of other tools' files, or give `query` in the answers' rows"
        raise InputError("is a table, and queries are JSON Lines in BEIR's layout", file=queries, remedy=remedy)
    files = [read_given(path, layout) for path in answers]
    asked, known = None if queries is None else by_id(queries, Query), by_id(passages, Passage) if passages else {}
    rows = [row for file in files for row in _rows(file, asked)]
    asked = _queries(rows) if asked is None else asked
    listed = dict(known)
    known = known | _written_out(rows, known)
    given: dict[tuple[str, str], Answer] = {}
    for path, number, value, agent in rows:
        answer = _answer(path, number, value, agent)
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
    used = USED if queries is None else USED - set(EXPECTED)
    return GivenCases(
        cases if max_rows is None else _first(cases, list(given)[:max_rows]),
        tuple(sentence for file in files for sentence in file.unused(used)),
        len(known) > len(listed),
    )


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


def _rows(file: GivenAnswers, asked: Mapping[str, Query] | None) -> list[Row]:
    """The rows; one whose query's id is another tool's, or that has none, is told by the text of a query of `asked`."""
    by_text = {query.text.strip(): query.id for query in (asked or {}).values()}
    rows = []
    for one in file.answers if file.answered else ():
        value = dict(one.fields)
        id, text = value.get("query_id"), value.get("query")
        if isinstance(text, str) and (id is None or (one.foreign_ids and asked is not None and id not in asked)):
            value["query_id"] = by_text.get(text.strip(), id)
        if value.get("contexts") and not value.get("passages"):
            value["passages"] = [context_id(context) for context in value["contexts"]]
        rows.append((file.path, one.line, {k: v for k, v in value.items() if v is not None}, file.agent))
    if not rows:
        raise InputError("holds no answer", file=file.path)
    return rows


def context_id(context: Mapping[str, Any]) -> str:
    """The id of a passage that is written out: its own, or one made from its text."""
    return str(context["id"]) if context.get("id") else f"text-{digest_bytes(_bytes(context['text']))[:16]}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _written_out(rows: Sequence[Row], known: Mapping[str, Passage]) -> dict[str, Passage]:
    """The passages that stand in the answers' lines. Raises InputError where one id has two texts."""
    found: dict[str, Passage] = {}
    for path, number, value, _ in rows:
        for context in value.get("contexts") or ():
            doc = {"doc": context["doc"]} if context.get("doc") else {}
            passage = Passage(id=context_id(context), text=context["text"], metadata=doc)
            check_record(passage, path, number)
            there = known.get(passage.id) or found.setdefault(passage.id, passage)
            if there.text != passage.text:
                remedy = "give each passage an id of its own, or none"
                problem = f"passage '{plain(passage.id)}' has another text than before"
                raise InputError(problem, file=path, line=number, remedy=remedy)
    return found


def _queries(rows: Sequence[Row]) -> dict[str, Query]:
    queries: dict[str, Query] = {}
    for file, number, value, _ in rows:
        if not isinstance(value.get("query"), str):
            remedy = "give the queries with --queries, or the text of each as `query` in its answer's line"
            raise InputError("has no query text", file=file, line=number, remedy=remedy)
        expected = {key: value[key] for key in EXPECTED if value.get(key) is not None}
        if "expected_facts" in expected and "expected_response" not in expected:
            expected["expected_response"] = "\n".join(map(str, expected["expected_facts"]))
        id = str(value["query"] if value.get("query_id") is None else value["query_id"])
        if not id or not value["query"]:
            raise InputError("has an empty query", file=file, line=number)
        query = Query(id=id, text=value["query"], metadata=expected)
        check_record(query, file, number)
        if queries.setdefault(id, query) != query:
            raise InputError(f"query '{plain(id)}' is not as in a line before", file=file, line=number, remedy=_SAME)
    return queries


def _answer(path: Path, number: int, value: dict[str, Any], agent: str) -> Answer:
    fields = {name: value[name] for name in _ANSWER_FIELDS if value.get(name) is not None}
    fields.setdefault("query_id", value.get("query"))
    fields.setdefault("agent", agent)
    if isinstance(fields.get("answer"), str) and not fields["answer"].strip():
        fields = {**fields, "answer": None, "error": fields.get("error") or "the answer is empty"}
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
