"""Langfuse: what its SDK sends, as OTLP and as the observations that its API gives; no server."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

FIELDS = "query answer contexts input_tokens output_tokens"


def _traced(rows: list[dict[str, Any]], take: Callable[[Any], None]) -> None:
    """A trace for each row, as its SDK makes it; take is given the spans as they end."""
    from langfuse import Langfuse
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    class Taken(SpanExporter):
        def export(self, spans: Any) -> Any:
            take(spans)
            return SpanExportResult.SUCCESS

    client = Langfuse(public_key="pk", secret_key="sk", base_url="http://127.0.0.1:9", span_exporter=Taken())  # noqa: S106
    for row in rows:
        with client.start_as_current_observation(name="ask", as_type="chain", input={"question": row["query"]}) as root:
            with client.start_as_current_observation(name="search", as_type="retriever", input=row["query"]) as search:
                search.update(output=[{"page_content": text} for text in row["contexts"]])
            with client.start_as_current_observation(name="chat", as_type="generation", model="none") as model:
                model.update(usage_details={"input": row["input_tokens"], "output": row["output_tokens"]})
            root.update(output=row["answer"])
    client.flush()


def write_otlp(folder: Path, rows: list[dict[str, Any]]) -> None:
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    def take(spans: Any) -> None:
        with (folder / "traces.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(MessageToDict(encode_spans(spans))) + "\n")

    _traced(rows, take)


def write_observations(folder: Path, rows: list[dict[str, Any]]) -> None:
    from datetime import UTC, datetime

    from langfuse.api.commons.types.observation_v2 import ObservationV2

    made: list[str] = []

    def observation(span: Any) -> str:
        told = {name.rpartition(".")[2]: value for name, value in span.attributes.items()}
        times = (datetime.fromtimestamp(one / 1e9, UTC) for one in (span.start_time, span.end_time))
        return ObservationV2(
            id=f"{span.context.span_id:016x}",
            trace_id=f"{span.context.trace_id:032x}",
            parent_observation_id=f"{span.parent.span_id:016x}" if span.parent else None,
            project_id="theirs",
            **dict(zip(("start_time", "end_time"), times, strict=True)),
            type=told["type"].upper(),
            name=span.name,
            input=told.get("input"),
            output=told.get("output"),
            usage_details=json.loads(told.get("usage_details", "{}")),
        ).json()

    _traced(rows, lambda spans: made.extend(map(observation, spans)))
    (folder / "theirs.jsonl").write_text("".join(f"{one}\n" for one in made), encoding="utf-8")


WRITES = {"write_otlp": ("otlp", FIELDS), "write_observations": ("langfuse", FIELDS)}
