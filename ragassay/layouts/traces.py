"""Layouts of several rows an answer: traces, of which the root has the question and the answer, and Open RAG Eval's."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from math import isfinite, nan
from pathlib import Path
from typing import Any

from ..records import Asked, Turn, grouped
from .answers import Given, Layout
from .cells import OUR_ID, TEXT, Row, as_list, as_object, asked, contexts, first_of, said, unpacked

NO_LATENCY = "ragassay_latency_not_measured"
"""Beside it, where a span ends as it began since nobody measured how long it took: Phoenix takes only what ends."""


@dataclass(frozen=True)
class Span:
    """One step of a trace, whoever recorded it. seconds: how long it took; None where that is not told.
    begun, ended: when, in whatever unit, or 0 where that is not told.

    query_id: of the query that the trace answers, where it names one. agent: what the system is called, likewise.
    session: of which conversation it is a turn, likewise.
    """

    row: Row
    trace: str
    id: str
    parent: str | None
    kind: str
    inputs: Any = None
    outputs: Any = None
    documents: Any = None
    query_id: str | None = None
    agent: str | None = None
    error: str | None = None
    seconds: float | None = None
    begun: float = 0.0
    ended: float = 0.0
    session: str | None = None
    usage: Mapping[str, Any] | None = None


def answers_of(spans: Iterable[Span], *, partial: bool = False) -> list[Given]:
    """An answer for each trace, in the order of their first spans.

    Each retriever that another one does not hold is a step, those that overlap are one; the passages of the last that
    did not fail are what the answer was given. Steps are told where some trace has several. Tokens of models are added
    up. Where the root has no input, as that of a web server, what it holds is asked for it. What is no question, such
    as a trace of indexing, is left out and counted; so are traces without a root of their own where partial, as what
    was cut off may have. Traces of one session are turns of a conversation: what those before said is the history of
    each that brings none of its own. Raises InputError with the line for a trace without a root, and with what cannot
    be read.
    """
    traces = grouped((span.trace, span) for span in spans)
    given = _with_history([(trace, _answer(trace, partial)) for trace in traces.values()])
    if any(len(one.fields.get("hops", ())) > 1 for one in given):
        return given
    return [replace(one, fields={k: v for k, v in one.fields.items() if k != "hops"}) for one in given]


def _with_history(answers: Sequence[tuple[Sequence[Span], Given]]) -> list[Given]:
    """The answers in their order, those of a session after what those that began before them said."""
    made = [given for _, given in answers]
    sessions: dict[tuple[str, Any], list[tuple[float, int]]] = {}
    for place, (trace, given) in enumerate(answers):
        told = next((span.session for span in trace if span.session), None)
        if told is not None and "query" in given.fields:
            begun = min(span.begun for span in trace)
            sessions.setdefault((str(told), given.fields.get("agent")), []).append((begun, place))
    for (session, _), turns in sessions.items():
        history: list[Turn] = []
        for number, (_, place) in enumerate(sorted(turns), 1):
            fields = made[place].fields
            question = fields["query"]
            if history and not isinstance(question, Asked):
                question = Asked(question, tuple(history))
            metadata = {"conversation": session, "turn": number, **fields.get("metadata", {})}
            made[place] = replace(made[place], fields={**fields, "query": question, "metadata": metadata})
            history.append(Turn(role="user", text=str(question)))
            if fields.get("answer"):
                history.append(Turn(role="assistant", text=fields["answer"], by="model"))
    return made


def runs_apart(given: Iterable[Given]) -> list[Given]:
    """The same, where a system answers a question again by an agent with `run-2`, … behind its name."""
    asked = Counter[tuple[Any, ...]]()
    made = []
    for one in given:
        agent = one.fields.get("agent")
        key = (agent, one.fields.get("query_id"), one.fields.get("query"))
        asked[key] += 1
        if one.fields and asked[key] > 1:
            name = f"{agent}-run-{asked[key]}" if agent else f"run-{asked[key]}"
            one = replace(one, fields={**one.fields, "agent": name})
        made.append(one)
    return made


NO_QUESTION = "traces in whose root no question can be read, such as of indexing"
NO_ROOT = "traces of which the root is not in the file"
_ASK_NOTHING = frozenset(("EMBEDDING", "RERANKER", "EVALUATOR"))


def _answer(trace: Sequence[Span], partial: bool) -> Given:
    by_id = {span.id: span for span in trace}
    roots = [span for span in trace if span.parent not in by_id]
    if len(roots) != 1:
        first = trace[0]
        if partial:
            return Given(first.row, {}, left_out={NO_ROOT: 1})
        problem = f"the trace has {len(roots)} spans without a parent in the file"
        raise first.row.wrong(problem, "give whole traces, all spans of each")
    root = _asked(roots[0], trace)
    given, question = as_object(unpacked(root.inputs)), ""
    indexes = any(isinstance(given.get(name), list) for name in ("nodes", "documents", "texts"))  # or splits
    if root.kind not in _ASK_NOTHING and not indexes:
        with suppress(ValueError):
            question = asked(root.inputs)
    if not question.strip():
        return Given(root.row, {}, left_out={NO_QUESTION: 1})
    fields: dict[str, Any] = {"query": question, "query_id": root.query_id or roots[0].query_id}
    fields |= {"agent": roots[0].agent, "latency_s": root.seconds, "usage": _usage(trace) or None}
    fields = {name: value for name, value in fields.items() if value is not None}
    if root.error is None and root.outputs not in (None, ""):
        fields["answer"] = root.row.told(said, root.outputs, "the span's output ")
    else:
        fields["error"] = root.error or "the trace has no output"
    searches = [span for span in trace if span.kind == "RETRIEVER" and (span.documents is not None or span.error)]
    outer = [span for span in searches if not any(above in searches for above in _above(span, by_id))]
    if outer:
        hops = fields["hops"] = [_hop(step) for step in _steps(sorted(outer, key=lambda one: one.begun))]
        if found := [hop for hop in hops if "error" not in hop]:
            fields["contexts"] = found[-1]["contexts"]
            fields |= {"passages": found[-1]["passages"]} if found[-1]["passages"] else {}
    return Given(root.row, fields, foreign_ids=True)


def _steps(searches: Sequence[Span]) -> list[list[Span]]:
    """Searches in the order in which they began, those that overlap together."""
    steps: list[list[Span]] = []
    for search in searches:
        if steps and search.begun < max(one.ended for one in steps[-1]):
            steps[-1].append(search)
        else:
            steps.append([search])
    return steps


def _hop(step: Sequence[Span]) -> dict[str, Any]:
    """As of `records.Hop`, with the passages as contexts."""
    found = [one.row.told(_passages, one.documents, "the span's documents ") for one in step]
    asked_for, seconds = list[str](), [one.seconds for one in step if one.seconds is not None]
    for one in step:
        with suppress(ValueError):
            asked_for.append(said(one.inputs))
    told = {
        "query": " | ".join(dict.fromkeys(filter(None, asked_for))),
        "error": step[0].error if all(one.error for one in step) else None,
        "latency_s": max(seconds, default=None),
    }
    passages = [name for one in found for name in one.get("passages", ())]
    contexts = [one for each in found for one in each.get("contexts", ())]
    return {name: value for name, value in told.items() if value} | {"passages": passages, "contexts": contexts}


def _asked(root: Span, trace: Sequence[Span]) -> Span:
    """The root, or of what it holds the first chain or agent with an input where it has none."""
    seen, told = {root.id}, root
    while told.inputs in (None, ""):
        inside = [span for span in trace if span.parent == told.id and span.id not in seen]
        chains = [span for span in inside if span.inputs and span.kind in {"", "CHAIN", "AGENT"}]
        if not chains and len(inside) != 1:
            return root
        told = (chains or inside)[0]
        seen.add(told.id)
    return told


def _above(span: Span, by_id: Mapping[str, Span]) -> Iterator[Span]:
    """Each span that holds it, the nearest first."""
    seen = {span.id}
    while (parent := by_id.get(span.parent or "")) is not None and parent.id not in seen:
        seen.add(parent.id)
        yield parent
        span = parent


def _passages(documents: Any) -> dict[str, Any]:
    """The documents as our fields: with their texts, or those without one by their ids. Raises ValueError."""
    found = [nested(one) if isinstance(one, Mapping) else one for one in as_list(documents) if one != {}]
    flat = [inner if isinstance(inner := at(one, "document"), dict) else one for one in found]
    bare = [isinstance(one, dict) and "id" in one and not first_of(one, TEXT) for one in flat]
    if not any(bare):
        return {"contexts": contexts(flat)}
    ids = [str(one["id"]) for one in flat if isinstance(one, dict) and one.get("id") not in (None, "")]
    if len(ids) != len(flat):
        raise ValueError("are with and without texts and ids")
    return {"passages": ids, "contexts": contexts([one for one, no in zip(flat, bare, strict=True) if not no])}


def metadata_of(metadata: Any) -> Mapping[str, Any]:
    """An object, or that which a text of one has, as JSON or as Python writes it (a data frame's CSV); else none."""
    told = unpacked(metadata)
    if isinstance(told, str) and told.startswith("{"):
        (told,) = as_list(f"[{told}]")[:1] or [None]
    return as_object(told)


def our_id(metadata: Any) -> str | None:
    """The id of the query that `metadata` has of us."""
    found = metadata_of(metadata).get(OUR_ID)
    return found if isinstance(found, str) and found else None


def _usage(trace: Sequence[Span]) -> dict[str, Any]:
    """The sums over the model's spans; what one of them does not tell is not known of the trace."""
    told = [span.usage or {} for span in trace if span.kind in {"LLM", "CHAT_MODEL"}]
    names = ("input_tokens", "output_tokens", "cost_usd")
    found = {name: [finite(one.get(name)) for one in told] for name in names}
    return {name: sum(filter(None, ns)) for name, ns in found.items() if ns and None not in ns}


def finite(value: Any) -> int | float | None:
    """A number, or a cell with one, None of anything else, of NaN and of infinity; a whole one as a whole number, since
    a data frame has floats where a row lacks one.
    """
    try:
        found = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else nan
    except (ValueError, OverflowError):
        return None
    if not isfinite(found):
        return None
    return value if isinstance(value, int) else int(found) if found.is_integer() else found


DEEPEST = 12


def nested(flat: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """`{"a.b.0.c": 1}` as `{"a": {"b": [{"c": 1}]}}`, to a depth of twelve objects; names that are not dotted stay."""
    tree: dict[str, Any] = {}
    for name, value in flat.items():
        parts = name.split(".")[:DEEPEST]
        place = tree
        for part in parts[:-1]:
            inner = place.setdefault(part, {})
            place = inner if isinstance(inner, dict) else place.setdefault(f"{part}.", {})
        inside = nested(value, depth + 1) if isinstance(value, Mapping) and depth < DEEPEST else value
        known = place.get(parts[-1])
        place[parts[-1]] = {**known, **inside} if isinstance(known, dict) and isinstance(inside, dict) else inside
    return {name: _as_lists(value) for name, value in tree.items()}


def _as_lists(value: Any, depth: int = 0) -> Any:
    """An object whose names count from 0 as a list."""
    if not isinstance(value, dict) or depth > 2 * DEEPEST:
        return value
    made = {name: _as_lists(inner, depth + 1) for name, inner in value.items()}
    return [made[name] for name in sorted(made, key=int)] if made and all(n.isdecimal() for n in made) else made


def at(value: Any, *names: str) -> Any:
    """What stands at this path of names in objects; None where nothing does."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def instant(time: Any) -> float:
    """A time in ISO 8601 in seconds, a number as it is; 0 for anything else."""
    try:
        return float(time) if isinstance(time, int | float) else datetime.fromisoformat(str(time)).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def seconds_between(start: Any, end: Any) -> float | None:
    """Between two times in ISO 8601, or in milliseconds as a data frame's JSON has them; None where one is missing or
    they are the wrong way round.
    """
    try:
        if isinstance(start, int) and isinstance(end, int):
            return (end - start) / 1000 if end >= start else None
        taken = (datetime.fromisoformat(str(end)) - datetime.fromisoformat(str(start))).total_seconds()
    except (ValueError, TypeError):
        return None
    return taken if taken >= 0 else None


class OfSpans(Layout):
    """A layout of traces, of which a row has spans."""

    several_rows = True

    def spans(self, row: Row) -> Iterator[Span]:
        """Those of a row. Raises InputError with the line."""
        raise NotImplementedError

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """An answer for each trace. Raises InputError with the line."""
        return answers_of(span for row in rows for span in self.spans(row))


class MlflowTraces(OfSpans):
    """MLflow traces as JSON (`Trace.to_json`): info, and data with spans whose attributes are JSON in texts.

    https://mlflow.org/docs, "Trace data model": mlflow.spanType, mlflow.spanInputs, mlflow.spanOutputs,
    mlflow.chat.tokenUsage. A file has one trace, a list of them, or one a line; or it is the data frame of
    `mlflow.search_traces()`, whose column `trace` has the same.
    """

    name = "mlflow"
    title = "MLflow traces: info and data.spans"
    needs = (frozenset(("info", "data")), frozenset(("trace_id", "trace", "spans", "request")))
    used = (
        *("info", "data", "trace_id", "trace", "client_request_id", "state", "request_time", "execution_duration"),
        *("request", "response", "trace_metadata", "tags", "spans", "assessments"),
    )

    def spans(self, row: Row) -> Iterator[Span]:
        row = row._replace(fields=as_object(unpacked(row.fields.get("trace", row.fields))))
        spans = at(row.fields, "data", "spans")
        if not isinstance(spans, list) or not spans or not all(isinstance(span, Mapping) for span in spans):
            raise row.wrong("the trace has no spans (data.spans)")
        told = as_object(row.fields.get("info"))
        query_id = our_id(told.get("trace_metadata")) or our_id(told.get("request_metadata"))
        session = at(told, "trace_metadata", "mlflow.trace.session")
        for span in spans:
            yield _mlflow_span(row, span, query_id, session)


def _mlflow_span(row: Row, span: Mapping[str, Any], query_id: str | None, session: str | None) -> Span:
    told = {name: _decoded(value) for name, value in as_object(span.get("attributes")).items()}
    kind, outputs = str(told.get("mlflow.spanType") or "").upper(), told.get("mlflow.spanOutputs")
    usage, status = told.get("mlflow.chat.tokenUsage"), span.get("status")
    code, message = span.get("status_code", status), span.get("status_message")
    if isinstance(status, Mapping):
        code, message = status.get("code"), status.get("message")
    return Span(
        row=row,
        trace=str(row.number),
        id=str(span.get("span_id") or at(span, "context", "span_id")),
        parent=span.get("parent_span_id") or span.get("parent_id") or None,
        kind=kind,
        inputs=told.get("mlflow.spanInputs"),
        outputs=outputs,
        documents=outputs if kind == "RETRIEVER" else None,
        query_id=query_id,
        session=session,
        error=str(message or "the trace failed") if "ERROR" in str(code or "").upper() else None,
        seconds=_mlflow_seconds(span),
        begun=instant(span.get("start_time_unix_nano", span.get("start_time"))),
        ended=instant(span.get("end_time_unix_nano", span.get("end_time"))),
        usage=usage if isinstance(usage, Mapping) else None,
    )


def _decoded(value: Any) -> Any:
    """What an attribute holds: JSON in a text, such as `"\\"RETRIEVER\\""`."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _mlflow_seconds(span: Mapping[str, Any]) -> float | None:
    for start, end in (("start_time_unix_nano", "end_time_unix_nano"), ("start_time", "end_time")):
        begun, ended = span.get(start), span.get(end)
        if isinstance(begun, int) and isinstance(ended, int) and ended >= begun:
            return (ended - begun) / 1e9
    return None


class LangSmith(OfSpans):
    """LangSmith's runs, a run a row: run_type, inputs, outputs, parent_run_id, trace_id, tokens and cost.

    https://docs.langchain.com/langsmith/run-data-format; `Client.list_runs` gives the same fields.
    """

    name = "langsmith"
    title = "LangSmith's runs: id, trace_id, parent_run_id, run_type, inputs, outputs"
    needs = (frozenset(("run_type", "inputs")),)
    used = (
        *("id", "trace_id", "parent_run_id", "run_type", "inputs", "outputs", "error", "start_time", "end_time"),
        *("name", "status", "dotted_order", "prompt_tokens", "completion_tokens", "total_cost"),
        *("reference_example_id", "extra"),
    )

    def spans(self, row: Row) -> Iterator[Span]:
        run = row.fields
        if not isinstance(run.get("id"), str):
            raise row.wrong("the run has no id")
        outputs, kind = unpacked(run.get("outputs")), str(run.get("run_type")).upper()
        extra, example = at(unpacked(run.get("extra")), "metadata"), run.get("reference_example_id")
        # the run's own counts; else `usage_metadata` of its outputs, of a message in them, or of its metadata
        told = _usage_metadata(outputs) or _usage_metadata(extra) or {}
        counts = {"input_tokens": run.get("prompt_tokens"), "output_tokens": run.get("completion_tokens")}
        tokens = counts if any(counts.values()) or not told else {name: told.get(name) for name in counts}
        cost = run.get("total_cost")
        yield Span(
            row=row,
            trace=str(run.get("trace_id") or run["id"]),
            id=run["id"],
            parent=run.get("parent_run_id") or None,
            kind=kind,
            inputs=run.get("inputs"),
            outputs=outputs,
            documents=documents_of(outputs) if kind == "RETRIEVER" else None,
            query_id=our_id(extra) or (str(example) if example else None),
            error=str(run["error"]) if run.get("error") else None,
            seconds=seconds_between(run.get("start_time"), run.get("end_time")),
            begun=instant(run.get("start_time")),
            ended=instant(run.get("end_time")),
            usage={**tokens, "cost_usd": told.get("total_cost") if cost is None else cost},
        )


def _usage_metadata(value: Any, depth: int = 0) -> Mapping[str, Any] | None:
    if isinstance(value, Mapping) and isinstance(value.get("usage_metadata"), Mapping):
        return dict(value["usage_metadata"])
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return next((one for part in inside if depth < 6 and (one := _usage_metadata(part, depth + 1))), None)


def documents_of(outputs: Any) -> Any:
    """A retriever's documents stand under `documents` or `output`, or are the outputs."""
    if not isinstance(outputs, Mapping):
        return outputs
    return next((outputs[name] for name in ("documents", "output") if isinstance(outputs.get(name), list)), None)


class LangSmithExamples(Layout):
    """LangSmith's data sets, an example a row: inputs, outputs (what is expected) and metadata; no answers of a system.

    https://docs.langchain.com/langsmith/example-data-format. In JSON Lines or JSON the fields are objects; in CSV they
    are JSON in a cell, or a column each (`inputs.question`).
    """

    name = "langsmith-examples"
    title = "LangSmith's examples: id, inputs, outputs, metadata"
    several_rows = True

    def fits(self, there: Iterable[str]) -> bool:
        known = set(there)
        return {"inputs", "outputs"} <= {name.split(".", 1)[0] for name in known} and "run_type" not in known

    def field_of(self, name: str) -> str | None:
        return "query" if name.split(".", 1)[0] in {"id", "inputs", "outputs", "metadata"} else None

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """A query for each example, with what is expected. Raises InputError with the line."""
        made = []
        for row in rows:
            flat = any(name.startswith(("inputs.", "outputs.")) for name in row.fields)
            example = nested(row.fields) if flat else row.fields
            told = dict(as_object(unpacked(example.get("metadata"))))
            fields: dict[str, Any] = {"query_id": told.pop(OUR_ID, None) or example.get("id") or None}
            fields["query"] = row.told(said, example.get("inputs"), "'inputs' ")
            if unpacked(example.get("outputs")) not in (None, "", {}, []):
                fields["expected_response"] = row.told(said, example["outputs"], "'outputs' ")
            made.append(Given(row, fields | ({"metadata": told} if told else {})))
        return made


class OpenRagEval(Layout):
    """Open RAG Eval's answers.csv: a row for each passage of each run of a query, the answer in the first that has one.

    https://github.com/vectara/open-rag-eval, `rag_results_loader.py`. An answer cites by `passage_id`, such as [2]; in
    ours [2] is the second passage. The answers of further runs are those of an agent `run-2`, …: each is judged by
    itself.
    """

    name = "open-rag-eval"
    title = "Open RAG Eval's: query_id, query, query_run, passage_id, passage, generated_answer"
    needs = (frozenset(("query", "generated_answer")),)
    used = ("query_id", "query", "query_run", "passage_id", "passage", "generated_answer", "expected_answer")
    several_rows = True

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """An answer for each query and run, in the order of their first rows. Raises InputError with the line."""
        runs: dict[tuple[str, str], list[Row]] = {}
        for row in rows:
            query, run = _cell(row, "query_id") or _query_text(row), _cell(row, "query_run") or "1"
            runs.setdefault((query, run), []).append(row)
        return [_answer_of_run(run, group) for (_, run), group in runs.items()]


_OPEN_RAG_EVAL_FAILED = {"NO_ANSWER": "no answer is given (NO_ANSWER)", "API_ERROR": "the API failed (API_ERROR)"}
_CITES = re.compile(r"\[\s*\d{1,4}(?:\s*,\s*\d{1,4})*\s*\]")


def _answer_of_run(run: str, rows: Sequence[Row]) -> Given:
    first = rows[0]
    fields: dict[str, Any] = {"query": _query_text(first)}
    if id := _cell(first, "query_id"):
        fields["query_id"] = id
    number = run.removesuffix(".0")  # as pandas writes a column with gaps
    if number != "1":
        fields["agent"] = f"run-{number}"
    if expected := next((said for row in rows if (said := _cell(row, "expected_answer"))), None):
        fields["expected_response"] = expected
    shown = [row for row in rows if _cell(row, "passage")]
    fields["contexts"] = [{"text": _cell(row, "passage")} for row in shown]
    answer = next((said for row in rows if (said := _cell(row, "generated_answer"))), None)
    if answer is None or answer in _OPEN_RAG_EVAL_FAILED:
        fields["error"] = _OPEN_RAG_EVAL_FAILED.get(answer or "", "no answer is given")
    else:
        fields["answer"] = _by_place(answer, [_cell(row, "passage_id") for row in shown])
    return Given(first, fields, foreign_ids=True)


def _query_text(row: Row) -> str:
    if not (found := _cell(row, "query")):
        raise row.wrong("has no query")
    return found


def _cell(row: Row, name: str) -> str:
    value = row.fields.get(name)
    return "" if value is None else str(value).strip()


def _by_place(answer: str, ids: Sequence[str]) -> str:
    """The answer with the places of the passages in place of their ids, where these are numbers; none's is beyond."""
    numbers = [int(id.strip("[] ")) if id.strip("[] ").isdecimal() else None for id in ids]
    if None in numbers or numbers == list(range(1, len(ids) + 1)):
        return answer
    places: Mapping[int | None, int] = {number: place for place, number in enumerate(numbers, 1)}

    def told(found: re.Match[str]) -> str:
        cited = [int(number) for number in re.findall(r"\d+", found[0])]
        return "".join(f"[{places.get(number, len(ids) + number)}]" for number in cited)

    return _CITES.sub(told, answer)
