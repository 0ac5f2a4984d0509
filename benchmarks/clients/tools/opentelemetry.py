"""OpenTelemetry's SDK: spans with OpenInference's and GenAI's attributes, as a collector's file exporter writes."""

import json
from pathlib import Path
from typing import Any

FIELDS = "query answer contexts input_tokens output_tokens"


def _write(folder: Path, rows: list[dict[str, Any]], attributes: Any) -> None:
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

    class ToFile(SpanExporter):
        def export(self, spans: Any) -> Any:
            with (folder / "traces.jsonl").open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(MessageToDict(encode_spans(spans))) + "\n")
            return SpanExportResult.SUCCESS

    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(ToFile()))
    tracer = provider.get_tracer("clients")
    for row in rows:
        root, retriever, model = attributes(row)
        with tracer.start_as_current_span("POST /ask"), tracer.start_as_current_span("ask") as span:
            span.set_attributes(root)
            for name, told in (("retrieval", retriever), ("chat", model)):
                with tracer.start_as_current_span(name) as inner:
                    inner.set_attributes(told)


def write_openinference(folder: Path, rows: list[dict[str, Any]]) -> None:
    def attributes(row: dict[str, Any]) -> Any:
        found = {f"retrieval.documents.{n}.document.content": text for n, text in enumerate(row["contexts"])}
        names = {"llm.token_count.prompt": "input_tokens", "llm.token_count.completion": "output_tokens"}
        kind = "openinference.span.kind"
        root = {kind: "CHAIN", "input.value": row["query"], "output.value": row["answer"]}
        return root, {kind: "RETRIEVER", **found}, {kind: "LLM", **{name: row[ours] for name, ours in names.items()}}

    _write(folder, rows, attributes)


def write_genai(folder: Path, rows: list[dict[str, Any]]) -> None:
    def message(role: str, text: str) -> str:
        return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}], "finish_reason": "stop"}])

    def attributes(row: dict[str, Any]) -> Any:
        root = {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": message("user", row["query"])}
        root |= {"gen_ai.output.messages": message("assistant", row["answer"])}
        found = [{"id": f"{row['query']}-{n}", "content": text} for n, text in enumerate(row["contexts"])]
        used = {f"gen_ai.usage.{name}": row[name] for name in ("input_tokens", "output_tokens")}
        retriever = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": json.dumps(found)}
        return root, retriever, {"gen_ai.operation.name": "chat", **used}

    _write(folder, rows, attributes)


WRITES = dict.fromkeys(("write_openinference", "write_genai"), ("otlp", FIELDS))
