"""Layouts of a row an answer, in the order in which a file is held against them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from .answers import Column, Columns, Given, Layout, Whole, calls_of, turns_of
from .cells import Context, Row, as_list, as_object, asked, contexts, number, said, text, texts, unpacked
from .traces import MlflowTraces


def _doc_uris(value: Any) -> list[str]:
    found = [one.get("doc_uri") if isinstance(one, dict) else None for one in as_list(value)]
    if not all(isinstance(one, str) for one in found):
        raise ValueError("has a document without its doc_uri")
    return [str(one) for one in found]


def _answered(value: Any) -> str:
    """A text as it stands, though it be JSON: an answer may be. A conversation that was written into a cell is read."""
    found = unpacked(value)
    chat = isinstance(found, dict) and bool({"messages", "choices"} & found.keys())
    return value if isinstance(value, str) and not chat else said(value)


def _of_trace(row: Row, value: Any) -> Mapping[str, Any]:
    """What a trace tells besides the query. Raises InputError with the line."""
    found = as_object(unpacked(value))
    if not MlflowTraces().fits(found):
        raise row.wrong("'trace' is no MLflow trace", "give it as `Trace.to_json` writes it, with info and data")
    (given,) = MlflowTraces().read([row._replace(fields=found)], row.path)
    return {name: told for name, told in given.fields.items() if name not in {"query", "query_id", "agent"}}


class AgentEvaluation(Layout):
    """Databricks Agent Evaluation's rows: request, response, retrieved_context[].content, expected_facts.

    https://docs.databricks.com, "Agent Evaluation input schema" (MLflow 2); our own export has the same columns. A
    request or a response may be a text, a conversation (`messages`) or a chat completion (`choices`). A row with an
    MLflow trace (`trace`: a JSON text, or the object) needs neither response nor retrieved_context.
    """

    name = "agent-evaluation"
    title = "Databricks Agent Evaluation's: request, response or trace, retrieved_context, expected_response or _facts"
    needs = tuple(
        frozenset(("request", beside))
        for beside in ("response", "retrieved_context", "expected_response", "expected_facts", "trace")
    )
    whole: ClassVar[Whole] = {"trace": _of_trace}
    columns: ClassVar[Columns] = {
        "request_id": Column("query_id", text),
        "request": Column("query", asked),
        "response": Column("answer", _answered),
        "retrieved_context": Column("contexts", contexts),
        "expected_retrieved_context": Column("expected_docs", _doc_uris),
        "expected_response": Column("expected_response", text),
        "expected_facts": Column("expected_facts", texts),
        "agent": Column("agent", text),
        "agent/latency_seconds": Column("latency_s", number),
    }
    foreign_ids = True


_MARK = "|"
"""What DeepEval writes between the passages of a cell, whatever these hold (`deepeval.constants.DELIMITER`, 4.3.1)."""


def _divided(value: Any) -> list[Context]:
    """Passages, of a text as DeepEval divides it.

    Raises ValueError for a mark that stands in a passage, as far as that shows: beside white space, or another mark.
    """
    if not isinstance(value, str) or _MARK not in value or as_list(value) != [value]:
        return contexts(value)
    pieces = value.split(_MARK)
    if any(piece != piece.strip() or not piece for piece in pieces):
        raise ValueError(f"has a passage with “{_MARK}” in it, which DeepEval divides passages by; save it as .json")
    return contexts(pieces)


class DeepEval(Layout):
    """DeepEval's test cases, and data sets that `EvaluationDataset.save_as` writes.

    https://deepeval.com/docs/evaluation-test-cases (LLMTestCase). Its CSV and JSON Lines have all passages in one text.
    """

    name = "deepeval"
    title = "DeepEval's: input, actual_output, retrieval_context, expected_output"
    needs = tuple(
        frozenset(("input", beside))
        for beside in ("actual_output", "actualOutput", "expected_output", "expectedOutput")
    )
    columns: ClassVar[Columns] = {
        "input": Column("query", text),
        "actual_output": Column("answer", text),
        "actualOutput": Column("answer", text),
        "retrieval_context": Column("contexts", _divided),
        "retrievalContext": Column("contexts", _divided),
        "expected_output": Column("expected_response", text),
        "expectedOutput": Column("expected_response", text),
        "context": Column("reference_contexts", _divided),
        "completion_time": Column("latency_s", number),
        "completionTime": Column("latency_s", number),
        "agent": Column("agent", text),
    }

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """The test cases; goldens of which none has an answer are questions. Raises InputError with the line."""
        given = super().read(rows, path)
        goldens = any({"source_file", "sourceFile", "custom_column_key_values"} & row.fields.keys() for row in rows)
        if not goldens or any(one.fields.get("answer") for one in given):
            return given
        for place, one in enumerate(given):
            kept = {name: value for name, value in one.fields.items() if name not in {"answer", "error"}}
            given[place] = replace(one, fields=kept)
        return given

    def notes(self, rows: Sequence[Row]) -> Sequence[str]:
        """How many texts were divided into passages."""
        names = [name for name, column in self.columns.items() if column.read is _divided]
        cells = [cell for row in rows for name in names if isinstance(cell := row.fields.get(name), str)]
        n = sum(len(_divided(cell)) > 1 for cell in cells)
        said = f"{n} cells were divided by “{_MARK}”, which DeepEval writes between passages, whatever is in them"
        return (f"{said}: save as .json where one has it",) if n else ()


def _ids(value: Any) -> list[str]:
    return [text(one) for one in as_list(value)]


def _sentences(value: Any) -> str:
    """The sentences, each with its citations in brackets before its last stop."""
    said = []
    for one in as_list(value):
        if not isinstance(one, dict) or not isinstance(one.get("text"), str):
            raise ValueError("has a sentence without its text")
        numbers = one.get("citations") or []
        if not isinstance(numbers, list) or not all(type(n) is int and n >= 0 for n in numbers):
            raise ValueError("has citations that are no places in references, from 0")
        sentence, marks = one["text"].strip(), "".join(f"[{number + 1}]" for number in numbers)
        bare = sentence.rstrip(".!?。！？")
        said.append(f"{bare} {marks}{sentence[len(bare) :]}" if marks else sentence)
    whole = "".join(said[:1])
    for before, one in pairwise(said):  # a space between; a line's end where either has lines of its own, as code has
        whole += ("" if not before else "\n" if "\n" in before or "\n" in one else " ") + one
    return whole


class TrecRag(Layout):
    """Answers as TREC's RAG track takes them (2024).

    https://trec-rag.github.io, "TREC 2024 RAG: output format": citations are places in `references`, from 0. In our
    answers they are numbers in brackets, from 1.
    """

    name = "trec-rag"
    title = "TREC RAG's: topic_id, topic, run_id, references, answer[{text, citations}]"
    needs = (frozenset(("topic_id", "answer")),)
    columns: ClassVar[Columns] = {
        "topic_id": Column("query_id", text),
        "topic": Column("query", text),
        "run_id": Column("agent", text),
        "references": Column("passages", _ids),
        "answer": Column("answer", _sentences),
    }


_EXPECTED = "reference_tool_calls"


def _first(value: Any) -> str:
    found = texts(value)
    if not found:
        raise ValueError("is an empty list")
    return found[0]


class Ragas(Layout):
    """Ragas' samples: user_input, response, …; before version 0.2 question to ground_truth.

    https://docs.ragas.io, "Evaluation sample" (SingleTurnSample, and MultiTurnSample, of which each turn is a query).
    """

    name = "ragas"
    title = "Ragas': user_input, response, retrieved_contexts, reference"
    needs = (
        *(frozenset(("user_input", name)) for name in ("response", "reference", "reference_contexts", _EXPECTED)),
        *(frozenset(("question", "answer", name)) for name in ("contexts", "ground_truth", "ground_truths")),
    )
    columns: ClassVar[Columns] = {
        "user_input": Column("query", text),
        "question": Column("query", text),
        "response": Column("answer", text),
        "answer": Column("answer", text),
        "retrieved_contexts": Column("contexts", contexts),
        "contexts": Column("contexts", contexts),
        "retrieved_context_ids": Column("passages", _ids),
        "reference": Column("expected_response", text),
        "ground_truth": Column("expected_response", text),
        "ground_truths": Column("expected_response", _first),
        "reference_contexts": Column("reference_contexts", contexts),
        "reference_context_ids": Column("reference_passages", _ids),
        "agent": Column("agent", text),
    }

    def field_of(self, name: str) -> str | None:
        """The calls that should be made, too, which a conversation has."""
        return "metadata" if name == _EXPECTED else super().field_of(name)

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """The answers in the rows. Raises InputError that names the line and the column."""
        return [one for row in rows for one in self._of(row)]

    def _of(self, row: Row) -> list[Given]:
        chat = unpacked(row.fields.get("user_input"))
        messages = [as_object(one).keys() for one in chat] if isinstance(chat, list) else []
        if not messages or not all({"content", "type"} <= names for names in messages):
            return [self._given(row)]
        turns = turns_of(row, "user_input")
        expected, fields = unpacked(row.fields.get("reference")), dict(turns[-1].fields)
        if isinstance(expected, str) and expected:
            fields["expected_response"] = expected
        if calls := calls_of(unpacked(row.fields.get(_EXPECTED))):
            fields["metadata"] = {"expected_calls": calls, **fields["metadata"]}
        return [*turns[:-1], replace(turns[-1], fields=fields)]


class OpenRagEvalQueries(Layout):
    """Open RAG Eval's queries, without answers."""

    name = "open-rag-eval-queries"
    title = "Open RAG Eval's queries: query_id, query, expected_answer"
    needs = (frozenset(("query", "expected_answer")),)
    columns: ClassVar[Columns] = {
        "query_id": Column("query_id", text),
        "query": Column("query", text),
        "expected_answer": Column("expected_response", text),
    }
    foreign_ids = True


def _list(value: Any) -> Any:
    return list(as_list(value)) if isinstance(value, str) else value


def _object(value: Any) -> Any:
    """An object as it is, or as a cell has it: JSON, or as Python writes it. Raises ValueError."""
    if not isinstance(value, str):
        return value
    found = as_list(f"[{value}]")
    if len(found) != 1 or isinstance(found[0], str):
        raise ValueError("is not JSON")
    return found[0]


def _told(value: Any) -> Any:
    found = _object(value)
    if not isinstance(found, dict):
        raise ValueError("is not a JSON object")
    return found


class Ours(Layout):
    """Our own answers, with their passages named by id or written out (`contexts`), in JSON Lines, JSON or CSV."""

    name = "ragassay"
    title = "ragassay's: query_id (or query), answer, and agent, passages or contexts, usage, latency_s, error"
    needs = (frozenset(("query_id",)), frozenset(("query", "answer")))
    columns: ClassVar[Columns] = {
        name: Column(name, read)
        for read, names in (
            (lambda value: value, ("query_id", "query", "agent", "answer", "error", "model", "prompt")),
            (_list, ("passages", "queries", "expected_docs", "expected_facts", "expected_files")),
            (lambda value: value, ("expected_response", "conditions", "latency_s")),
            (_object, ("json_schema", "usage")),
            (contexts, ("contexts", "reference_contexts")),
            (_told, ("metadata",)),
        )
        for name in names
    }
    strict = True


class Ragelo(Layout):
    """RAGElo's answers: a table of qid (or the query's text), agent and answer, or the same as JSON.

    https://github.com/zetaalphavector/RAGElo, docs/examples: queries.csv, documents.csv, answers.csv.
    """

    name = "ragelo"
    title = "RAGElo's: qid (or query), agent, answer"
    needs = (frozenset(("qid", "answer")), frozenset(("question", "answer")))
    columns: ClassVar[Columns] = {
        "qid": Column("query_id", text),
        "query_id": Column("query_id", text),
        "query": Column("query", text),
        "question": Column("query", text),
        "agent": Column("agent", text),
        "answer": Column("answer", text),
        "text": Column("answer", text),
    }
    foreign_ids = True
