"""Sheets of answers, a row a query and a file an agent: Ragas, DeepEval, Agent Evaluation, and our own columns as CSV;
data sets without answers: promptfoo, Inspect.

https://docs.ragas.io, "Evaluation sample"; https://deepeval.com/docs/evaluation-test-cases; https://docs.databricks.com,
"Agent Evaluation input schema". `ragassay.layouts` reads them back. A failure is a row without an answer; queries that
nobody answered are a file of their own, without a column of answers.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from ragassay.errors import InputError
from ragassay.files import json_line, write_json, write_text
from ragassay.layouts.cells import OUR_ID, Context
from ragassay.layouts.tables import AgentEvaluation as Rows
from ragassay.queries import FROM, link_of
from ragassay.records import Answer, Passage, Query, Usage
from ragassay.text import csv_cell, plain

from .collection import Collection
from .format import (
    IDS_OF_QUERIES,
    OF_AGENTS,
    OF_COST,
    OF_FAILURES,
    OF_PLACES,
    OF_TESTS,
    Format,
    Losses,
    answers,
    expected_text,
    grades,
    labels,
    labels_without_text,
    passages,
    titles,
    told_besides,
    told_besides_doc,
    told_of_passages,
    told_of_queries,
    unnamed_passages,
    unused_passages,
    usage,
)

Row = dict[str, Any]
Make = Callable[[Query, Answer | None, Collection], Row]
Pair = tuple[Query, Answer | None]

_FEWER: Losses = {"titles of passages": titles, "labels of passages without a text": labels_without_text}
_SHEET: Losses = {
    **IDS_OF_QUERIES,
    "metadata of queries": told_of_queries,
    "passages that nobody names": unused_passages,
    **_FEWER,
    "metadata of passages": told_of_passages,
    "grades of labels": grades,
    **OF_FAILURES,
    **OF_PLACES,
    **OF_AGENTS,
    **OF_COST,
    **OF_TESTS,
}


class Ragas(Format):
    """Ragas' samples: https://docs.ragas.io, "Evaluation sample"."""

    name = "ragas"
    title = "Ragas' samples"
    layouts = ("ragas",)
    loses: ClassVar[Losses] = _SHEET

    def write(self, collection: Collection, folder: Path) -> None:
        """AGENT.jsonl, as `EvaluationDataset.from_jsonl` reads it. Raises InputError where queries have one text."""
        _check_texts(collection, "Ragas' samples")
        for name, rows in _files(collection, _ragas):
            _write_lines(folder / f"{name}.jsonl", rows)


class RagasCsv(Format):
    """The same as a table."""

    name = "ragas-csv"
    title = "Ragas' samples"
    source = "ragas"
    loses: ClassVar[Losses] = _SHEET

    def write(self, collection: Collection, folder: Path) -> None:
        """AGENT.csv, lists as JSON in a cell. Raises InputError where two queries have one text."""
        _check_texts(collection, "Ragas' samples")
        for name, rows in _files(collection, _ragas):
            write_table(folder / f"{name}.csv", rows)


class DeepEval(Format):
    """DeepEval's test cases: https://deepeval.com/docs/evaluation-test-cases."""

    name = "deepeval"
    title = "DeepEval's test cases"
    layouts = ("deepeval",)
    loses: ClassVar[Losses] = {
        **{name: count for name, count in _SHEET.items() if name != "latencies"},
        "ids of passages": passages,
    }

    def write(self, collection: Collection, folder: Path) -> None:
        """AGENT.json, test cases as `add_test_cases_from_json_file` reads them. Raises InputError as for Ragas."""
        _check_texts(collection, "DeepEval's test cases")
        for name, rows in _files(collection, _deepeval):
            write_json(folder / f"{name}.json", rows)


class AgentEvaluation(Format):
    """Databricks' rows: https://docs.databricks.com, "Agent Evaluation input schema"."""

    name = "agent-evaluation"
    title = "Agent Evaluation's rows"
    layouts = ("agent-evaluation",)
    loses: ClassVar[Losses] = {
        "metadata of queries": lambda made: told_of_queries(made, besides=("expected_facts", "expected_docs")),
        "passages that no answer names": unnamed_passages,
        "titles of passages": titles,
        "metadata of passages besides their document": told_besides_doc,
        "labels": labels,
        **OF_FAILURES,
        **OF_PLACES,
        **OF_AGENTS,
        "tokens and costs": usage,
        **OF_TESTS,
    }

    def write(self, collection: Collection, folder: Path) -> None:
        """AGENT.jsonl, the rows that `mlflow.evaluate` takes."""
        for name, rows in _files(collection, _agent_evaluation):
            _write_lines(folder / f"{name}.jsonl", rows)


_NO_ANSWERS: Losses = {
    "passages": passages,
    "titles of passages": titles,
    "labels": labels,
    "answers": answers,
    **OF_TESTS,
}


class Promptfoo(Format):
    """promptfoo's tests: https://www.promptfoo.dev/docs/configuration/test-cases."""

    name = "promptfoo"
    title = "promptfoo's tests"
    layouts = ("promptfoo",)
    loses: ClassVar[Losses] = _NO_ANSWERS

    def write(self, collection: Collection, folder: Path) -> None:
        """tests.json, for `tests: file://tests.json`: the variables question and expected_response, and metadata.

        promptfoo fills in templates and reads files in variables, so that texts are as they are only without them.
        Raises InputError for one with `{{`, `{%` or `{#`, or that begins with file://.
        """
        rows = []
        for query in collection.queries.values():
            told = {"question": query.text, "expected_response": expected_text(query)}
            variables = {name: text for name, text in told.items() if text is not None}
            for name, text in variables.items():
                if text.startswith("file://") or any(mark in text for mark in ("{{", "{%", "{#")):
                    problem = (
                        f"{name} of the query '{plain(query.id)}' would be run by promptfoo (file:// or a template)"
                    )
                    raise InputError(problem, remedy="leave it out, or export to inspect or csv")
            rows.append({"vars": variables, "metadata": {**told_besides(query), OUR_ID: query.id}})
        write_json(folder / "tests.json", rows)


class Inspect(Format):
    """Inspect's data sets: https://inspect.aisi.org.uk/datasets.html."""

    name = "inspect"
    title = "Inspect's data sets"
    layouts = ("inspect",)
    loses: ClassVar[Losses] = _NO_ANSWERS

    def write(self, collection: Collection, folder: Path) -> None:
        """dataset.jsonl, for `json_dataset`: id, input, target and metadata."""
        queries = collection.queries.values()
        rows = [
            {"id": one.id, "input": one.text, "target": expected_text(one) or "", "metadata": told_besides(one)}
            for one in queries
        ]
        _write_lines(folder / "dataset.jsonl", rows)


class Csv(Format):
    """Our own columns as a table; read from files of answers in any layout."""

    name = "csv"
    title = "a table of answers"
    loses: ClassVar[Losses] = {
        "passages that nobody names": unused_passages,
        **_FEWER,
        "metadata of passages besides their document": told_besides_doc,
        "grades of labels": grades,
        **OF_TESTS,
    }

    def write(self, collection: Collection, folder: Path) -> None:
        """answers.csv of all agents, and queries.csv of the queries that nobody answered; what has parts is JSON."""
        queries = collection.queries
        rows = [
            _ours(queries[id], answer, collection) for own in collection.answers.values() for id, answer in own.items()
        ]
        if rows:
            write_table(folder / "answers.csv", rows)
        if rest := [_ours(query, None, collection) for query in _unanswered(collection)]:
            write_table(folder / "queries.csv", rest)


def write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """The rows as CSV (RFC 4180): None is an empty cell, what is no text or number JSON (`text.csv_cell`)."""
    stream = io.StringIO(newline="")
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(stream, columns, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    write_text(path, stream.getvalue())


def _check_texts(collection: Collection, title: str) -> None:
    first: dict[str, str] = {}
    for id, query in collection.queries.items():
        if (other := first.setdefault(query.text, id)) != id:
            problem = f"the queries '{plain(other)}' and '{plain(id)}' have one text, and {title} have no ids"
            raise InputError(problem, remedy="leave one of them out, or export to csv or hf, which have ids")


def _cell(value: Any) -> Any:
    whole = value is None or isinstance(value, int | float)
    return value if whole else csv_cell(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _write_lines(path: Path, rows: Iterable[Row]) -> None:
    write_text(path, "".join(map(json_line, rows)))


def _files(collection: Collection, make: Make) -> list[tuple[str, list[Row]]]:
    """(name, rows) of each file."""
    return [(name, [make(*row, collection) for row in rows]) for name, rows in files_of(collection)]


def files_of(collection: Collection) -> list[tuple[str, list[Pair]]]:
    """What is asked in each agent's file, with its answer, and in one for the queries that nobody answered."""
    files: list[tuple[str, list[Pair]]] = [
        (agent, [(collection.queries[id], answer) for id, answer in rows.items()])
        for agent, rows in collection.answers.items()
        if rows
    ]
    rest: list[Pair] = [(query, None) for query in _unanswered(collection)]
    if rest:
        taken = {name.casefold() for name, _ in files}
        names = ("testset", *(f"testset-{number}" for number in range(2, len(files) + 3)))
        files.append((next(name for name in names if name not in taken), rest))
    return files


def _unanswered(collection: Collection) -> list[Query]:
    answered = {id for rows in collection.answers.values() for id in rows}
    return [query for id, query in collection.queries.items() if id not in answered]


def _ragas(query: Query, answer: Answer | None, collection: Collection) -> Row:
    made: Row = {"user_input": query.text, **_link(query, collection)}
    if answer is not None:
        known = _known(answer.passages, collection)
        made |= {"response": answer.answer, "retrieved_contexts": [one.text for one in known]}
        made |= {"retrieved_context_ids": [one.id for one in known]}
    right = _right(query, collection)
    made |= {"reference": expected_text(query), "reference_contexts": [one.text for one in right] or None}
    return made | {"reference_context_ids": [one.id for one in right] or None}


def _link(query: Query, collection: Collection) -> dict[str, str]:
    """Of a perturbed query its kind and its original, by the text, since samples have no ids."""
    link = link_of(query)
    original = collection.queries.get(link.get(FROM, ""))
    return link | ({FROM: original.text} if original else {})


def _deepeval(query: Query, answer: Answer | None, collection: Collection) -> Row:
    made: Row = {"input": query.text}
    if answer is not None:
        made |= {"actual_output": answer.answer, "completion_time": answer.latency_s}
        made |= {"retrieval_context": [one.text for one in _known(answer.passages, collection)]}
    right = [one.text for one in _right(query, collection)]
    return made | {"expected_output": expected_text(query), "context": right or None}


def _agent_evaluation(query: Query, answer: Answer | None, collection: Collection) -> Row:
    made: Row = {"request_id": query.id, "request": _as_text("request", query.text)}
    if answer is not None:
        context = [_context(one, "passage_id", "doc_uri", "content") for one in _known(answer.passages, collection)]
        made |= {"response": answer.answer and _as_text("response", answer.answer), "retrieved_context": context}
        made |= {"agent": answer.agent, "agent/latency_seconds": answer.latency_s}
    facts, docs = (_texts(query.metadata.get(name)) for name in ("expected_facts", "expected_docs"))
    made |= {"expected_response": expected_text(query), "expected_facts": facts}
    made["expected_retrieved_context"] = [{"doc_uri": doc} for doc in docs] if docs else None
    return made


def _ours(query: Query, answer: Answer | None, collection: Collection) -> Row:
    made: Row = {"query_id": query.id, "query": query.text, "expected_response": expected_text(query)}
    made["metadata"] = told_besides(query) or None
    made["reference_contexts"] = [_context(one, "id", "doc", "text") for one in _right(query, collection)] or None
    if answer is None:
        return made
    made |= {"agent": answer.agent, "answer": answer.answer, "error": answer.error}
    made |= {"passages": answer.passages or None, "queries": answer.queries or None, "latency_s": answer.latency_s}
    used = {name: value for name, value in answer.usage.dump().items() if value is not None}
    made["contexts"] = [_context(one, "id", "doc", "text") for one in _known(answer.passages, collection)] or None
    made["usage"] = used if answer.usage != Usage() else None
    return made | {name: said for name in ("model", "prompt") if (said := getattr(answer, name)) is not None}


def _known(ids: Iterable[str], collection: Collection) -> list[Passage]:
    return [collection.passages[id] for id in ids if id in collection.passages]


def _right(query: Query, collection: Collection) -> list[Passage]:
    return _known((id for id, label in collection.qrels.get(query.id, {}).items() if label >= 1), collection)


def _texts(value: Any) -> list[str] | None:
    return value if isinstance(value, list) and value and all(isinstance(one, str) for one in value) else None


def _context(passage: Passage, id: str, doc: str, text: str) -> Context:
    source = passage.metadata.get("doc")
    return {id: passage.id, text: passage.text} | ({doc: source} if isinstance(source, str) and source else {})


def _as_text(column: str, text: str) -> Any:
    """The text, or a conversation of it where the text would be taken for one."""
    try:
        if Rows.columns[column].read(text) == text:
            return text
    except ValueError:
        pass
    return {"messages": [{"role": "user" if column == "request" else "assistant", "content": text}]}
