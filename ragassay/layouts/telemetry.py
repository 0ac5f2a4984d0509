"""Spans of OpenTelemetry as OpenInference, GenAI or Langfuse mark them, a row a span or OTLP as JSON; Langfuse's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .answers import Given
from .cells import Row, as_object, unpacked
from .traces import (
    DEEPEST,
    NO_LATENCY,
    OfSpans,
    Span,
    answers_of,
    at,
    documents_of,
    finite,
    instant,
    metadata_of,
    nested,
    our_id,
    runs_apart,
    seconds_between,
)


class OpenInference(OfSpans):
    """OpenInference spans, as Arize Phoenix and OpenTelemetry write them: a span a row, attributes flat or nested.

    https://github.com/Arize-ai/openinference, "Semantic conventions": openinference.span.kind, input.value,
    output.value, retrieval.documents.N.document.content, llm.token_count.prompt. Those of a data frame have the columns
    `context.trace_id`, `attributes.…`.
    """

    name = "openinference"
    title = "OpenInference spans: context, span_kind, parent_id, attributes (Phoenix)"
    needs = (frozenset(("context", "attributes")), frozenset(("context.trace_id",)))
    used = (
        *("id", "name", "context", "span_kind", "parent_id", "start_time", "end_time", "status_code"),
        *("status_message", "status", "attributes", "events", "kind"),
    )

    def field_of(self, name: str) -> str | None:
        return super().field_of(name.split(".", 1)[0])

    def spans(self, row: Row) -> Iterator[Span]:
        span = nested(row.fields)
        context, attributes = as_object(span.get("context")), as_object(span.get("attributes"))
        if not isinstance(context.get("trace_id"), str) or not isinstance(context.get("span_id"), str):
            raise row.wrong("has no context.trace_id and span_id")
        status = span.get("status_code") or at(span, "status", "status_code") or ""
        unmeasured = metadata_of(attributes.get("metadata")).get(NO_LATENCY) is True
        message = span.get("status_message") or at(span, "status", "description")
        yield Span(
            row=row,
            trace=context["trace_id"],
            id=context["span_id"],
            parent=span.get("parent_id") or None,
            error=str(message or "the trace failed") if str(status).upper() == "ERROR" else None,
            seconds=None if unmeasured else seconds_between(span.get("start_time"), span.get("end_time")),
            begun=instant(span.get("start_time")),
            ended=instant(span.get("end_time")),
            **_told(attributes, span.get("span_kind")),
        )


_KINDS = {
    **dict.fromkeys(("chat", "generate_content", "text_completion"), "LLM"),
    **dict.fromkeys(("invoke_agent", "invoke_workflow", "create_agent"), "AGENT"),
    **{"retrieval": "RETRIEVER", "embeddings": "EMBEDDING", "execute_tool": "TOOL"},
}
"""`gen_ai.operation.name` as OpenInference's kind of span."""


def _told(attributes: Mapping[str, Any], kind: Any = None) -> dict[str, Any]:
    """What the attributes, nested, tell of a span: OpenInference's, and GenAI's or Langfuse's where these say nothing.

    https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-spans.md: gen_ai.operation.name,
    gen_ai.input.messages, gen_ai.output.messages, gen_ai.retrieval.query.text, gen_ai.retrieval.documents, of which
    texts are optional, gen_ai.usage.input_tokens and .output_tokens. Langfuse's SDK writes langfuse.observation.type,
    .input, .output and .usage_details.
    """
    gen_ai, counts = as_object(attributes.get("gen_ai")), as_object(at(attributes, "llm", "token_count"))
    langfuse = as_object(at(attributes, "langfuse", "observation"))
    used, costs = unpacked(langfuse.get("usage_details")), unpacked(langfuse.get("cost_details"))
    kind = kind or at(attributes, "openinference", "span", "kind") or _langfuse_kind(langfuse.get("type"))
    known = str(kind or "").upper()
    messages = unpacked(at(gen_ai, "input", "messages"))
    if isinstance(messages, list) and not any(at(one, "role") == "user" for one in messages):
        messages = None
    query, replied = at(gen_ai, "retrieval", "query", "text"), unpacked(at(gen_ai, "output", "messages"))
    found = [at(attributes, "retrieval", "documents"), at(gen_ai, "retrieval", "documents")]
    if known == "RETRIEVER":
        found.append(documents_of(unpacked(langfuse.get("output"))))
    return {
        "kind": known if known not in {"", "UNKNOWN"} else _KINDS.get(str(at(gen_ai, "operation", "name")), ""),
        "inputs": _first(at(attributes, "input", "value"), messages, query, langfuse.get("input")),
        "outputs": _first(at(attributes, "output", "value"), replied, langfuse.get("output")),
        "documents": _first(*found),
        "query_id": our_id(attributes.get("metadata")),
        "session": _first(at(attributes, "session", "id"), at(gen_ai, "conversation", "id")),
        "usage": {
            "input_tokens": _first(counts.get("prompt"), at(gen_ai, "usage", "input_tokens"), at(used, "input")),
            "output_tokens": _first(counts.get("completion"), at(gen_ai, "usage", "output_tokens"), at(used, "output")),
            "cost_usd": _first(at(attributes, "llm", "cost", "total"), at(costs, "total")),
        },
    }


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None and value != ""), None)


class Otlp(OfSpans):
    """OTLP as JSON, with attributes of OpenInference, GenAI or Langfuse: `resourceSpans`, as a collector's file
    exporter and `ragassay import --listen` write them, a request a line, or the items of one such list.

    https://opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding". Spans come in the order in which they ended and
    are taken in that in which they began. Traces of which the root is missing are left out and counted.
    """

    name = "otlp"
    title = "OTLP as JSON: resourceSpans"
    needs = (frozenset(("resourceSpans",)), frozenset(("scopeSpans",)))
    used = ("resourceSpans", "scopeSpans", "resource", "schemaUrl")

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """An answer for each trace, of a question that is asked again by an agent `run-2`, …; raises InputError."""
        sent = {(one.trace, one.id): one for row in rows for one in self.spans(row)}
        spans = sorted(sent.values(), key=lambda span: span.begun)  # one that was sent again stands there once
        return runs_apart(answers_of(spans, partial=True))

    def spans(self, row: Row) -> Iterator[Span]:
        """Each span; of an agent called `service.name`. One without an id or a trace is an error."""
        for part in _objects(row.fields.get("resourceSpans", [row.fields])):
            service = str(_attributes(as_object(part.get("resource"))).get("service.name") or "")
            agent = None if service.startswith("unknown_service") else service or None
            for span in (one for scope in _objects(part.get("scopeSpans")) for one in _objects(scope.get("spans"))):
                if not isinstance(span.get("traceId"), str) or not isinstance(span.get("spanId"), str):
                    raise row.wrong("has a span without traceId and spanId")
                status = as_object(span.get("status"))
                failed = status.get("code") in (2, "STATUS_CODE_ERROR")
                times = (span.get("startTimeUnixNano"), span.get("endTimeUnixNano"))
                start, end = (int(str(one)) if str(one).isdecimal() else None for one in times)
                yield Span(
                    row=row,
                    trace=span["traceId"],
                    id=span["spanId"],
                    parent=span.get("parentSpanId") or None,
                    agent=agent,
                    error=str(status.get("message") or "the trace failed") if failed else None,
                    seconds=(end - start) / 1e9 if start and end and end >= start else None,
                    begun=start or 0,
                    ended=end or 0,
                    **_told(nested(_attributes(span))),
                )


def _attributes(holder: Mapping[str, Any]) -> dict[str, Any]:
    return {str(one.get("key")): _value(one.get("value")) for one in _objects(holder.get("attributes"))}


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _value(value: Any, depth: int = 0) -> Any:
    """What an AnyValue holds; whole numbers may be written as texts."""
    (name, held), *_ = [*as_object(value).items(), ("", None)]
    inner = _objects(at(held, "values"))
    if name == "arrayValue" and depth < DEEPEST:
        return [_value(one, depth + 1) for one in inner]
    if name == "kvlistValue" and depth < DEEPEST:
        return {str(one.get("key")): _value(one.get("value"), depth + 1) for one in inner}
    return int(held) if name == "intValue" and str(held).lstrip("-").isdecimal() else held


class Langfuse(OfSpans):
    """Langfuse's export: traces with their `observations`, or an observation a row.

    https://langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields (trace_id, type, usage_details);
    the API's and the page's names are the same in camel case. Passages are the output of a RETRIEVER.
    """

    name = "langfuse"
    title = "Langfuse's: observations, or type, trace_id, parent_observation_id, input, output"
    needs = (frozenset(("observations",)), frozenset(("type", "trace_id", "parent_observation_id")))
    used = (
        *("id", "trace", "trace_id", "observations", "type", "parent_observation_id", "start_time", "end_time", "name"),
        *("timestamp", "metadata", "level", "status_message", "input", "output", "usage", "usage_details"),
        *("cost_details", "total_cost", "calculated_total_cost", "latency"),
    )

    def fits(self, there: Iterable[str]) -> bool:
        return super().fits(map(_snake, there))

    def field_of(self, name: str) -> str | None:
        return super().field_of(_snake(name))

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """An answer for each trace. Raises InputError with the line."""
        spans = [span for row in rows for span in self.spans(row)]
        return runs_apart(answers_of(sorted(spans, key=lambda one: one.begun)))

    def spans(self, row: Row) -> Iterator[Span]:
        """Of a trace with its observations the trace, too, as what holds them."""
        told = {_snake(name): value for name, value in row.fields.items()}
        observations = unpacked(told.get("observations"))
        if not isinstance(observations, list):
            yield _langfuse_span(row, told, str(told.get("trace_id")), None)
            return
        trace = {_snake(name): value for name, value in (as_object(told.get("trace")) or told).items()}
        if not isinstance(trace.get("id"), str) or not all(isinstance(one, Mapping) for one in observations):
            problem = "the trace has no id, or its observations are not written out"
            raise row.wrong(problem, "export traces with their observations")
        top = trace | {"start_time": trace.get("timestamp"), "type": "CHAIN"}
        inside = [{_snake(name): value for name, value in one.items()} for one in observations]
        if trace.get("input") not in (None, "") or len(inside) != 1:
            yield _langfuse_span(row, top, trace["id"], None)
        for one in inside:
            yield _langfuse_span(row, one, trace["id"], trace["id"])


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _langfuse_span(row: Row, told: Mapping[str, Any], trace: str, above: str | None) -> Span:
    kind = _langfuse_kind(told.get("type"))
    outputs, counts = unpacked(told.get("output")), unpacked(told.get("usage_details") or told.get("usage"))
    costs = [told.get("calculated_total_cost"), told.get("total_cost"), at(unpacked(told.get("cost_details")), "total")]
    seconds = seconds_between(told.get("start_time"), told.get("end_time"))
    return Span(
        row=row,
        trace=trace,
        id=str(told.get("id")),
        parent=told.get("parent_observation_id") or above,
        kind=kind,
        inputs=told.get("input"),
        outputs=outputs,
        documents=documents_of(outputs) if kind == "RETRIEVER" else None,
        query_id=our_id(told.get("metadata")),
        error=str(told.get("status_message") or "the trace failed") if told.get("level") == "ERROR" else None,
        seconds=finite(told.get("latency")) if seconds is None else seconds,
        begun=instant(told.get("start_time")),
        usage={"input_tokens": at(counts, "input"), "output_tokens": at(counts, "output"), "cost_usd": _first(*costs)},
    )


def _langfuse_kind(told: Any) -> str:
    """The type of an observation as OpenInference's kind of span."""
    kind = str(told or "").upper()
    return {"GENERATION": "LLM", "SPAN": "", "EVENT": "TOOL"}.get(kind, kind)
