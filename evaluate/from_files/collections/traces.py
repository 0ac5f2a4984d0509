"""Answers as traces, a file an agent: LangSmith's runs and data set, Phoenix' spans (OpenInference), MLflow's traces;
and a whole results folder as a run of MLflow.

A trace is a root with the question and the answer, a retriever with the passages, and a model with what was used, where
there are any. Its times begin at 1970: only how long it took is known. Ids are made of the agent's and the query's
names, so that the same answers make the same bytes. `ragassay.layouts` reads them back.
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from ragassay.errors import InputError, MissingExtra
from ragassay.files import digest_bytes, json_line, read_json, write_text
from ragassay.layouts.cells import OUR_ID, unpacked
from ragassay.layouts.traces import NO_LATENCY
from ragassay.records import Answer, Passage, Query
from ragassay.text import plain

from .collection import Collection
from .format import OF_AGENTS, OF_QUERIES, OF_TESTS, Format, Losses, answers_of, expected_text, parts, told_besides

_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)


def _end(answer: Answer) -> datetime | None:
    try:
        return None if answer.latency_s is None else _BEGIN + timedelta(seconds=max(answer.latency_s, 0))
    except (OverflowError, ValueError):
        return None


def _uneven(collection: Collection) -> int:
    """Latencies that are no whole number of microseconds."""
    given = [answer for answer in answers_of(collection) if answer.latency_s is not None]
    return sum((end := _end(one)) is None or (end - _BEGIN).total_seconds() != one.latency_s for one in given)


_TRACE: Losses = {
    **parts("titles of passages", "metadata of passages besides their document", "passages that no answer names"),
    **parts("passages of answers without their text", "labels"),
    "parts of microseconds of latencies": _uneven,
    **parts(*OF_AGENTS, *OF_TESTS),
}
_SPANS: Losses = {**parts(*OF_QUERIES, "queries that nobody answered"), **_TRACE}
_NAMESPACE = UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")


class Trace(NamedTuple):
    """An answer to a query, with the passages whose text is at hand."""

    query: Query
    answer: Answer
    passages: tuple[Passage, ...]

    def id(self, part: str, length: int) -> str:
        """Hexadecimal digits that are this part's of this trace's."""
        name = json.dumps([self.answer.agent, self.query.id, part])
        return digest_bytes(name.encode("utf-8", "surrogatepass"))[:length]

    @property
    def uses(self) -> dict[str, int | float]:
        """Tokens and cost, as far as they are known."""
        return {name: value for name, value in self.answer.usage.dump().items() if value is not None}

    @property
    def end(self) -> datetime | None:
        """When it ended, to the microsecond; None where that is not known, or is no time that a calendar has."""
        return _end(self.answer)


class LangSmith(Format):
    """LangSmith's runs and data sets, told apart by their columns when they are read."""

    name = "langsmith"
    title = "LangSmith's runs and data sets"
    layouts = ("langsmith", "langsmith-examples")
    loses = _TRACE

    def write(self, collection: Collection, folder: Path) -> None:
        """examples.jsonl, the data set, and runs/AGENT.jsonl."""
        examples = (
            {
                "id": _example_id(query),
                "inputs": {"question": query.text},
                "outputs": None if (expected := expected_text(query)) is None else {"answer": expected},
                "metadata": {**told_besides(query), OUR_ID: query.id},
            }
            for query in collection.queries.values()
        )
        write_text(folder / "examples.jsonl", "".join(map(json_line, examples)))
        _write(collection, folder / "runs", _runs)


class Phoenix(Format):
    """Phoenix' spans (OpenInference)."""

    name = "phoenix"
    title = "OpenInference's spans"
    layouts = ("openinference",)
    loses = _SPANS

    def write(self, collection: Collection, folder: Path) -> None:
        """AGENT.jsonl, the spans that Phoenix' client takes (`log_spans`). Raises InputError where nobody answered."""
        _check_answered(collection)
        _write(collection, folder, _spans)


class MlflowTraces(Format):
    """MLflow's traces."""

    name = "mlflow-traces"
    title = "MLflow's traces"
    layouts = ("mlflow",)
    loses = _SPANS

    def write(self, collection: Collection, folder: Path) -> None:
        """AGENT.jsonl, a trace a line as `Trace.to_json` writes it. Raises InputError where nobody answered."""
        _check_answered(collection)
        _write(collection, folder, lambda trace: iter([_mlflow(trace)]))


def _check_answered(collection: Collection) -> None:
    if not collection.counts()["answers"]:
        raise InputError("nobody answered, and traces hold nothing else", remedy="export to csv or hf")


def _write(collection: Collection, folder: Path, rows: Callable[[Trace], Iterator[dict[str, Any]]]) -> None:
    for agent, answers in collection.answers.items():
        made = []
        for id, answer in answers.items():
            known = tuple(collection.passages[one] for one in answer.passages if one in collection.passages)
            made += list(rows(Trace(collection.queries[id], answer, known)))
        if made:
            write_text(folder / f"{agent}.jsonl", "".join(map(json_line, made)))


def _example_id(query: Query) -> str:
    return str(uuid5(_NAMESPACE, f"ragassay:{json.dumps(query.id)}"))


def _runs(trace: Trace) -> Iterator[dict[str, Any]]:
    answer, top = trace.answer, _uuid(trace, "root")
    shared = {"trace_id": top, "start_time": _BEGIN.isoformat()}
    yield {
        **{"id": top, "name": answer.agent, "run_type": "chain", "parent_run_id": None, **shared},
        "end_time": trace.end.isoformat() if trace.end else None,
        "inputs": {"question": trace.query.text},
        "outputs": None if answer.answer is None else {"answer": answer.answer},
        "error": answer.error,
        "reference_example_id": _example_id(trace.query),
        "extra": {"metadata": {OUR_ID: trace.query.id}},
    }
    child = {"parent_run_id": top, "inputs": {"query": trace.query.text}, **shared}
    if trace.passages:
        outputs = {"documents": _documents(trace, "doc")}
        named = {"id": _uuid(trace, "retriever"), "name": "retriever", "run_type": "retriever"}
        yield {**child, **named, "outputs": outputs}
    if uses := trace.uses:
        names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens", "cost_usd": "total_cost"}
        used = {theirs: uses[ours] for ours, theirs in names.items() if ours in uses}
        yield {**child, "id": _uuid(trace, "llm"), "name": "llm", "run_type": "llm", "outputs": None, **used}


def _uuid(trace: Trace, part: str) -> str:
    return str(UUID(trace.id(part, 32)))


def _documents(trace: Trace, source: str) -> list[dict[str, Any]]:
    """The passages as LangChain has documents. source: the field that says what they are from."""
    return [{"id": one.id, "page_content": one.text, "metadata": _source(one, source)} for one in trace.passages]


def _source(passage: Passage, name: str) -> dict[str, str]:
    found = passage.metadata.get("doc")
    return {name: found} if isinstance(found, str) and found else {}


def _spans(trace: Trace) -> Iterator[dict[str, Any]]:
    answer, asked = trace.answer, _value("input", "query", trace.query.text)
    told = {OUR_ID: trace.query.id, **({} if trace.end else {NO_LATENCY: True})}
    top = {"metadata": json.dumps(told, ensure_ascii=False), **asked}
    top |= {} if answer.answer is None else _value("output", "answer", answer.answer)
    yield _span(trace, answer.agent, "CHAIN", top)
    if trace.passages:
        found = dict(asked)
        for number, one in enumerate(trace.passages):
            document = f"retrieval.documents.{number}.document"
            found |= {f"{document}.id": one.id, f"{document}.content": one.text}
            if source := _source(one, "doc"):
                found[f"{document}.metadata"] = json.dumps(source, ensure_ascii=False)
        yield _span(trace, "retriever", "RETRIEVER", found)
    if uses := trace.uses:
        names = {
            "input_tokens": "token_count.prompt",
            "output_tokens": "token_count.completion",
            "cost_usd": "cost.total",
        }
        yield _span(trace, "llm", "LLM", {f"llm.{name}": uses[ours] for ours, name in names.items() if ours in uses})


def _value(side: str, name: str, text: str) -> dict[str, str]:
    """A text as OpenInference has it; one that would be read as JSON in an object."""
    if unpacked(text) == text:
        return {f"{side}.value": text, f"{side}.mime_type": "text/plain"}
    value = json.dumps({name: text}, ensure_ascii=False)
    return {f"{side}.value": value, f"{side}.mime_type": "application/json"}


def _span(trace: Trace, name: str, kind: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    top = kind == "CHAIN"
    failed = top and trace.answer.error is not None
    return {
        **{"name": name, "span_kind": kind},
        "context": {"trace_id": trace.id("trace", 32), "span_id": trace.id(kind, 16)},
        "parent_id": None if top else trace.id("CHAIN", 16),
        "start_time": _BEGIN.isoformat(),
        "end_time": (trace.end if top and trace.end else _BEGIN).isoformat(),
        **{"status_code": "ERROR" if failed else "OK", "status_message": trace.answer.error or "" if top else ""},
        "attributes": {"openinference.span.kind": kind, **attributes},
        "events": [],
    }


def _mlflow(trace: Trace) -> dict[str, Any]:
    answer, trace_id = trace.answer, f"tr-{trace.id('trace', 32)}"
    spans = [_part(trace, trace_id, "CHAIN", {"query": trace.query.text}, answer.answer and {"answer": answer.answer})]
    if trace.passages:
        spans.append(_part(trace, trace_id, "RETRIEVER", {"query": trace.query.text}, _documents(trace, "doc_uri")))
    if uses := trace.uses:
        spans.append(_part(trace, trace_id, "LLM", None, None, {"mlflow.chat.tokenUsage": json.dumps(uses)}))
    info = {
        "trace_id": trace_id,
        "trace_location": {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": "0"}},
        "request_time": "1970-01-01T00:00:00Z",
        "state": "OK" if answer.error is None else "ERROR",
        "trace_metadata": {OUR_ID: trace.query.id},
        "tags": {"mlflow.traceName": answer.agent},
    }
    return {"info": info, "data": {"spans": spans}}


def _part(
    trace: Trace, trace_id: str, kind: str, inputs: Any, outputs: Any, more: Mapping[str, str] | None = None
) -> dict[str, Any]:
    top = kind == "CHAIN"
    failed = top and trace.answer.error is not None
    taken = (trace.end - _BEGIN) // timedelta(microseconds=1) if top and trace.end else None
    values = {"mlflow.spanType": kind, "mlflow.spanInputs": inputs, "mlflow.spanOutputs": outputs}
    attributes = {name: json.dumps(value, ensure_ascii=False) for name, value in values.items() if value is not None}
    return {
        **{"trace_id": _bytes(trace.id("trace", 32)), "span_id": _bytes(trace.id(kind, 16))},
        "parent_span_id": None if top else _bytes(trace.id("CHAIN", 16)),
        "name": trace.answer.agent if top else kind.lower(),
        **{"start_time_unix_nano": 0, "end_time_unix_nano": None if taken is None else taken * 1000},
        "events": [],
        "status": {
            "code": "STATUS_CODE_ERROR" if failed else "STATUS_CODE_OK",
            "message": trace.answer.error or "" if failed else "",
        },
        "attributes": {"mlflow.traceRequestId": json.dumps(trace_id), **attributes, **(more or {})},
    }


def _bytes(digits: str) -> str:
    return base64.b64encode(bytes.fromhex(digits)).decode("ascii")


PARTS = ("value", "n", "n_failed", "ci_low", "ci_high")
"""What a figure has; each is a metric of its own."""

_NOT_IN_A_NAME = re.compile(r"[^\w\-. /]+", re.ASCII)


def mlflow_metrics(results: Mapping[str, Any]) -> tuple[dict[str, dict[str, float]], int]:
    """(agent to name to number, how many figures have no value) of what results.json has of each agent by itself.

    A figure's value is a metric of its own name, its other `PARTS` are below `detail/`. MLflow's names have underscores
    for what it takes in none; a second figure that this makes one of the same name has a number behind it.
    """
    made: dict[str, dict[str, float]] = {agent: {} for agent in results.get("agents", ())}
    missing = 0
    for agent, metrics in made.items():
        sections = ("points", "win_rate", "bradley_terry", "elo")
        figures = [(section, results.get(section, {}).get(agent)) for section in sections]
        for section in ("retrieval", "pointwise", "evaluations", "answers"):
            figures += results.get(section, {}).get(agent, {}).items()
        taken = Counter[str]()
        for key, figure in figures:
            if not isinstance(figure, Mapping):
                continue
            name = _NOT_IN_A_NAME.sub("_", key).strip("/_") or "_"
            taken[name] += 1
            name = name if taken[name] == 1 else f"{name}.{taken[name]}"
            missing += figure.get("value") is None
            for part in PARTS:
                number = figure.get(part)
                if isinstance(number, int | float) and math.isfinite(number):
                    metrics[name if part == "value" else f"detail/{name}.{part}"] = float(number)
    return made, missing


def write_mlflow_run(collection: Collection, results: Path, folder: Path) -> list[str]:
    """Write a run into `folder` (mlflow.db, a SQLite store, and its artifacts): of each agent a run below it with its
    figures as metrics and its answers, the report and a table of games; sentences on what it cannot hold.

    Raises MissingExtra without what MLflow's store needs, and InputError for a folder without results.json.
    """
    if not (results / "results.json").is_file():
        remedy = "name a results folder that `ragassay compare` has finished"
        raise InputError("has no results.json", file=results, remedy=remedy)
    found, missing = mlflow_metrics(read_json(results / "results.json"))
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    try:
        import alembic  # noqa: F401 - MLflow says of neither that it is missing
        import pandas  # noqa: F401
        from mlflow import MlflowClient
        from mlflow.entities import Metric, Param
        from mlflow.exceptions import MlflowException
    except ImportError:
        raise MissingExtra("an export to MLflow", "mlflow") from None
    place, name = folder.resolve(), results.resolve().name
    place.mkdir(parents=True, exist_ok=True)
    source = {"mlflow.source.name": "ragassay"}
    try:
        client: Any = MlflowClient(tracking_uri=f"sqlite:///{place / 'mlflow.db'}")
        artifacts = (place / "artifacts").as_uri()
        experiment = client.create_experiment(name or "ragassay", artifact_location=artifacts)
        whole = client.create_run(experiment, run_name=name, tags=source).info.run_id
        client.log_batch(whole, params=[Param(f"n_{what}", str(n)) for what, n in collection.counts().items()])
        for artifact in ("results.json", "report.html", "validity.html"):
            if (results / artifact).is_file():
                client.log_artifact(whole, str(results / artifact))
        _log_table(client, whole, "games.json", [game.dump() for game in collection.games])
        for agent in dict.fromkeys((*found, *collection.answers)):
            tags = {**source, "mlflow.parentRunId": whole}
            run = client.create_run(experiment, run_name=agent, tags=tags).info.run_id
            client.log_batch(run, metrics=[Metric(key, value, 0, 0) for key, value in found.get(agent, {}).items()])
            rows = collection.answers.get(agent, {}).items()
            asked = [{"query": collection.queries[id].text, **one.dump()} for id, one in rows]
            _log_table(client, run, "answers.json", asked)
            client.set_terminated(run)
        client.set_terminated(whole)
    except MlflowException as error:
        raise InputError(f"MLflow does not take it ({plain(str(error))})", file=results) from None
    return [f"figures without a value are no metrics: {missing} left out"] if missing else []


def _log_table(client: Any, run: str, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        columns = dict.fromkeys(column for row in rows for column in row)
        client.log_table(run, {column: [row.get(column) for row in rows] for column in columns}, name)
