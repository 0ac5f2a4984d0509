"""What is judged, as a caller in Python has it: keywords, columns, or rows, made into the cases of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from ragassay.errors import InputError
from ragassay.evaluate.judging.engine.cases import AnswerCase, QueryCase
from ragassay.evaluate.judging.engine.evaluator import Evaluator
from ragassay.files import check_record
from ragassay.layouts.agent_evaluation import AGENT_EVALUATION
from ragassay.records import Answer, Passage, Query
from ragassay.text import did_you_mean

COLUMNS = ("query", "answer", "contexts", "expected_response", "expected_docs", "conditions")
"""What a row may say; other fields of a row are its own business."""

THEIRS = ("request", "response", "retrieved_context", "expected_retrieved_context", "expected_facts")
"""Columns of Databricks' Agent Evaluation, which a row may have in the place of ours."""

_COLUMN_OF = {"question": "query", "context": "contexts"}
_TEXTS = ("query", "answer", "expected_response")
SUBJECT = "answer"
"""What the records call the answer, as files have the agent's name there."""
_ALSO = ("id", "title", "doc")
_UNSAID = "(not said)"
"""Stands for the query where none is read, which a case must have."""


@dataclass(frozen=True)
class GivenRows:
    """The rows to judge by column, those that are missing left out; `one` where a single row was given."""

    rows: tuple[Mapping[str, Any], ...]
    one: bool


def columns_needed(kind: type[Evaluator]) -> tuple[str, ...]:
    """The columns that an evaluator looks at or needs, in the order of COLUMNS; query and answer where it says none."""
    parts = {*(kind.reads or ("question", "answer")), *kind.needs} - set(kind.may_lack)
    wanted = {_COLUMN_OF.get(part, part) for part in parts if part != "expected_response" or part in kind.needs}
    return tuple(name for name in COLUMNS if name in wanted)


def rows_of(given: Mapping[str, Any], rows: Any, caller: str) -> GivenRows:
    """Keywords (`given`, None where left out) as one row or many, or `rows`: a list of dicts, or a data frame.

    There are many where the first keyword that is there, but contexts, expected_docs and conditions, is no text. A
    column may have Agent Evaluation's name (`THEIRS`) and what stands there.
    Raises InputError where both or neither are given, and for columns of different lengths.
    """
    given = {name: value for name, value in given.items() if value is not None}
    if rows is not None:
        if given:
            problem = f"rows and {next(iter(given))} are both given"
            raise InputError(problem, file=caller, remedy="leave one of them out")
        return GivenRows(tuple(_row(row, caller) for row in _listed(rows, "rows", caller)), one=False)
    texts = (*_TEXTS, "request", "response")
    if not any(name in given for name in texts):
        return GivenRows((_row(given, caller),), one=True)
    first = next(name for name in texts if name in given)
    if isinstance(given[first], str | Mapping):
        return GivenRows((_row(given, caller),), one=True)
    columns = {name: _listed(value, name, caller) for name, value in given.items()}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InputError(f"the columns differ in length: {said}", file=caller, remedy="give a value for each row")
    made = (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
    return GivenRows(tuple(_row(row, caller) for row in made), one=False)


def check_columns(given: GivenRows, kind: type[Evaluator], caller: str) -> None:
    """Raises InputError where no row has a column that the evaluator needs."""
    there = {name for row in given.rows for name in row}
    for name in columns_needed(kind) if given.rows else ():
        if name not in there:
            near = did_you_mean(name, sorted(there - set(COLUMNS)))
            needed = ", ".join(columns_needed(kind))
            raise InputError(f"{name} is missing", file=caller, remedy=f"{near}it reads {needed}")


def missing_of(row: Mapping[str, Any], kind: type[Evaluator]) -> str | None:
    """Why a row cannot be judged: a column that it lacks, or one without a word. Of a blank answer the case says it."""
    for name in columns_needed(kind):
        if name not in row or (name != "answer" and isinstance(row[name], str) and not row[name].strip()):
            return f"{name} is missing"
    return None


def case_of(row: Mapping[str, Any], number: int, caller: str) -> QueryCase:
    """A row, counted from 1, as a case with one answer, which failed where it is blank; "" where none is given.

    Raises InputError for what is not a text, or not a list of them, and for what is longer than judges take.
    """
    texts = {name: _text(row[name], name, number, caller) for name in _TEXTS if name in row}
    metadata = {name: row[name] for name in ("expected_response", "expected_docs", "conditions") if name in row}
    if "expected_docs" in row:
        metadata["expected_docs"] = [
            _text(one, "expected_docs", number, caller)
            for one in _many(row["expected_docs"], "expected_docs", number, caller)
        ]
    query = Query(id=str(number), text=texts.get("query") or _UNSAID, metadata=metadata)
    passages = _passages(row.get("contexts", ()), number, caller)
    answer = _answer(texts.get("answer"), number, tuple(one.id for one in passages))
    for record in (query, answer, *passages):
        check_record(record, Path(caller), number)
    given = () if answer.error is not None else (AnswerCase(query, answer, passages),)
    return QueryCase(query, passages, given, () if given else (answer,))


def _answer(text: str | None, number: int, passages: tuple[str, ...]) -> Answer:
    blank = text is not None and not text.strip()
    return Answer(
        query_id=str(number),
        agent=SUBJECT,
        answer=None if blank else text or "",
        passages=passages,
        error="the answer is empty" if blank else None,
    )


def _passages(contexts: Any, number: int, caller: str) -> tuple[Passage, ...]:
    """A text is a passage by its place, from 1; a table may say `id`, `title` and `doc` besides its `text`."""
    made = []
    for place, given in enumerate(_many(contexts, "contexts", number, caller), start=1):
        told = given if isinstance(given, Mapping) else {"text": given}
        parts = {name: _text(told.get(name), "contexts", number, caller) for name in ("text", *_ALSO) if name in told}
        if "text" not in parts:
            raise InputError("a context has no text", file=caller, line=number, remedy="give each as a text")
        made.append(
            Passage(
                id=parts.get("id") or f"context-{place}",
                title=parts.get("title", ""),
                text=parts["text"],
                metadata={"doc": parts["doc"]} if "doc" in parts else {},
            )
        )
    if len({one.id for one in made}) < len(made):
        raise InputError("two contexts have the same id", file=caller, line=number, remedy="give each an id of its own")
    return tuple(made)


def _row(row: Any, caller: str) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise InputError(f"a row is {type(row).__name__}", file=caller, remedy="give each as a dict of its columns")
    return _in_ours({name: value for name, value in row.items() if not _is_missing(value)}, caller)


def _in_ours(row: dict[str, Any], caller: str) -> dict[str, Any]:
    """With our columns for theirs, where ours are not there."""
    for name in THEIRS:
        column = AGENT_EVALUATION.columns[name]
        ours = "expected_response" if name == "expected_facts" else column.field
        if name not in row or ours in row:
            continue
        try:
            value = column.read(row[name])
        except ValueError as error:
            raise InputError(f"{name} {error}", file=caller) from None
        row = row | {ours: "\n".join(value) if name == "expected_facts" else value}
    return row


def _text(value: Any, name: str, number: int, caller: str) -> str:
    if not isinstance(value, str):
        problem = f"{name} holds {type(value).__name__}, which is no text"
        raise InputError(problem, file=caller, line=number, remedy="give texts, or None for what is missing")
    return value


def _many(value: Any, name: str, number: int, caller: str) -> list[Any]:
    """The parts of a row's list, which may be an array."""
    if isinstance(value, str | Mapping):
        problem = f"{name} is {type(value).__name__}"
        raise InputError(problem, file=caller, line=number, remedy="give a list, for one text too")
    return _listed(value, name, caller)


def _listed(value: Any, name: str, caller: str) -> list[Any]:
    """A list of a list, a tuple, a data frame's column (`tolist`) or of a data frame's rows (`to_dict`)."""
    if isinstance(value, list | tuple):
        return list(value)
    for method, arguments in (("tolist", ()), ("to_dict", ("records",))):
        if hasattr(value, method) and not isinstance(value, Mapping):
            return list(getattr(value, method)(*arguments))
    remedy = "give a list, or a column of a data frame" if name != "rows" else "give a list of dicts, or a data frame"
    raise InputError(f"{name} is {type(value).__name__}", file=caller, remedy=remedy)


def _is_missing(value: Any) -> bool:
    """None, NaN, and what pandas has for them."""
    return value is None or type(value).__name__ in {"NAType", "NaTType"} or (isinstance(value, float) and isnan(value))
