"""Evaluators asked from Python: whom, where replies are kept, what at most may be paid, and what it came to."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any, Literal

from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.cli.pipeline.opening import locked
from ragassay.cli.verbs.judge import files_workspace, with_settings
from ragassay.errors import InputError, RepliesMissing
from ragassay.evaluate.judging.catalog import built_in, experiment_evaluators
from ragassay.evaluate.judging.engine.cases import AnswerCase, QueryCase
from ragassay.evaluate.judging.engine.evaluator import Evaluator
from ragassay.evaluate.judging.engine.rounds import assess
from ragassay.experiment.tables import NO_MODEL
from ragassay.experiment.workspace import Workspace
from ragassay.files import check_record
from ragassay.layouts.tables import AgentEvaluation
from ragassay.progress import NoProgress, Outcome
from ragassay.records import Answer, Assessment, Passage, Query
from ragassay.text import did_you_mean, plain

from .pytest_plugin import Spent

Mode = Literal["auto", "label", "probability"]


@dataclass(frozen=True)
class Asking:
    """How evaluators are asked.

    model: the judge, such as `openai:gpt-4o`; base_url: its address, if not its provider's. mode: for labels with
    reasons, or for probabilities. work: the folder that keeps requests and replies; equal requests are paid for once.
    max_cost: US dollars, of this call alone; None: config's, or 20. config: an experiment.toml for the settings of
    models and judges.
    """

    model: str | None = None
    base_url: str | None = None
    mode: Mode | None = None
    work: str | Path = ".ragassay"
    max_cost: float | None = None
    config: str | Path | None = None

    def workspace(self, names: Sequence[str], settings: Mapping[str, Mapping[str, Any]]) -> Workspace:
        """An experiment of these evaluators only, with their options. Raises InputError."""
        if self.max_cost is not None and not self.max_cost > 0:
            raise InputError(f"max_cost is {self.max_cost:g}", remedy="it must be more than 0")
        model = self.model or (None if self.config else NO_MODEL)
        config = None if self.config is None else Path(self.config)
        given = {"with_": ",".join(names), "model": model, "config": config, "work": Path(self.work)}
        made = files_workspace(argparse.Namespace(**{**vars(self), **given}))
        return with_settings(made, {name: table for name, table in settings.items() if table})


class _Counting(NoProgress):
    """Counts the replies by what became of them."""

    def __init__(self) -> None:
        self.outcomes: Counter[Outcome] = Counter()

    def advance(self, outcome: Outcome, spent_usd: float | None, error: str | None = None) -> None:
        del spent_usd, error
        self.outcomes[outcome] += 1


def evaluators_in(workspace: Workspace, caller: str) -> list[Evaluator]:
    """Those of the workspace, each with its options. Raises InputError, said of `caller` and not of a file."""
    try:
        return experiment_evaluators(workspace)
    except InputError as error:
        problem = re.sub(r"^evaluate\.settings\.[^:]+: ", "", error.problem)
        raise InputError(problem, file=caller, remedy=error.remedy) from None


def ask(
    workspace: Workspace, evaluators: Sequence[Evaluator], cases: Sequence[QueryCase], caller: str
) -> tuple[list[Assessment], Spent]:
    """Every assessment that the cases owe, in the evaluators' order, and what was spent.

    Waits while another process asks from the same folder. Raises InputError where a judge is to be asked and none is
    named, and what a caller raises (BudgetSpent, RepliesMissing).
    """
    unnamed = workspace.experiment.evaluating_model == NO_MODEL
    ours = [one for one in evaluators if one.name in built_in()]
    if asking := [one.name for one in ours if unnamed and one.asking == "judge"]:
        raise _no_model(asking[0], caller)
    for evaluator in evaluators:
        if any(not evaluator.lacks(case.query) for case in cases):
            evaluator.check_at_hand()
    counting = _Counting()
    with locked(workspace, wait=True):
        asked = Caller(workspace, "judge", ReplyCache(workspace.replies), counting)
        try:
            rows = assess(evaluators, cases, asked)
        except RepliesMissing:
            if unnamed:
                raise _no_model(evaluators[0].name, caller) from None
            raise
        finally:
            asked.close()
    outcomes = counting.outcomes
    priced = not (outcomes["done"] and any(usage.n_unmeasured for usage in asked.usage()))
    return rows, Spent(outcomes["cached"], outcomes["done"], outcomes["failed"], asked.budget.new_usd, priced)


def _no_model(name: str, caller: str) -> InputError:
    remedy = 'give model="openai:gpt-4o" or the like, or an experiment.toml as config'
    return InputError(f"{plain(name)} asks a model and none is named", file=caller, remedy=remedy)


COLUMNS = ("query", "answer", "contexts", "expected_response", "expected_docs", "conditions")
"""What a row may say; other fields of a row are its own business."""

THEIRS = ("request", "response", "retrieved_context", "expected_retrieved_context", "expected_facts")
"""Columns of Databricks' Agent Evaluation, which a row may have in the place of ours."""

_COLUMN_OF = {"question": "query", "context": "contexts"}
_TEXTS = ("query", "answer", "expected_response")
SUBJECT = "answer"
"""What the records call the answer, as files have the agent's name there."""
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
    first = next((name for name in (*_TEXTS, "request", "response") if name in given), None)
    if first is None or isinstance(given[first], str | Mapping):
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
        docs = _many(row["expected_docs"], "expected_docs", number, caller)
        metadata["expected_docs"] = [_text(one, "expected_docs", number, caller) for one in docs]
    query = Query(id=str(number), text=texts.get("query") or _UNSAID, metadata=metadata)
    passages = _passages(row.get("contexts", ()), number, caller)
    blank = "answer" in texts and not texts["answer"].strip()
    answer = Answer(
        query_id=str(number),
        agent=SUBJECT,
        answer=None if blank else texts.get("answer", ""),
        passages=tuple(one.id for one in passages),
        error="the answer is empty" if blank else None,
    )
    for record in (query, answer, *passages):
        check_record(record, Path(caller), number)
    return QueryCase(
        query, passages, () if blank else (AnswerCase(query, answer, passages),), (answer,) if blank else ()
    )


def _passages(contexts: Any, number: int, caller: str) -> tuple[Passage, ...]:
    """A text is a passage by its place, from 1; a table may say `id`, `title` and `doc` besides its `text`."""
    made = []
    for place, given in enumerate(_many(contexts, "contexts", number, caller), start=1):
        told = given if isinstance(given, Mapping) else {"text": given}
        parts = {
            name: _text(told[name], "contexts", number, caller)
            for name in ("text", "id", "title", "doc")
            if name in told
        }
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
    """What of a row is there, with our columns for theirs, where ours are not there."""
    if not isinstance(row, Mapping):
        raise InputError(f"a row is {type(row).__name__}", file=caller, remedy="give each as a dict of its columns")
    told: dict[str, Any] = {name: value for name, value in row.items() if not _is_missing(value)}
    for name in THEIRS:
        column = AgentEvaluation.columns[name]
        ours = "expected_response" if name == "expected_facts" else column.field
        if name not in told or ours in told:
            continue
        try:
            value = column.read(told[name])
        except ValueError as error:
            raise InputError(f"{name} {error}", file=caller) from None
        told |= {ours: "\n".join(value) if name == "expected_facts" else value}
    return told


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
