"""MLflow traces as JSON (`Trace.to_json`): info, and data with spans whose attributes are JSON in texts.

https://mlflow.org/docs, "Trace data model": mlflow.spanType, mlflow.spanInputs, mlflow.spanOutputs,
mlflow.chat.tokenUsage. A file has one trace, a list of them, or one a line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from .cells import unpacked
from .layout import Given
from .rows import Row
from .spans import Span, answers_of, our_id

NAME, TITLE, FIELD = "mlflow", "MLflow traces: info and data.spans", "answer"


def fits(there: frozenset[str]) -> bool:
    """Whether rows with these columns are traces."""
    return {"info", "data"} <= there


def used(name: str) -> bool:
    """Whether a column is one of a trace's."""
    return name in {"info", "data"}


def read(rows: Sequence[Row], path: Path) -> list[Given]:
    """An answer for each trace. Raises InputError with the line."""
    return answers_of(_spans(rows, path), path)


def _spans(rows: Sequence[Row], path: Path) -> Iterator[Span]:
    for row in rows:
        data = row.fields.get("data")
        spans = data.get("spans") if isinstance(data, Mapping) else None
        if not isinstance(spans, list) or not spans or not all(isinstance(span, Mapping) for span in spans):
            raise InputError(f"{row.place}the trace has no spans (data.spans)", file=path, line=row.line)
        info = row.fields.get("info")
        told = info if isinstance(info, Mapping) else {}
        query_id = our_id(told.get("trace_metadata")) or our_id(told.get("request_metadata"))
        for span in spans:
            yield _span(row, span, query_id)


def _span(row: Row, span: Mapping[str, Any], query_id: str | None) -> Span:
    attributes = span.get("attributes")
    told = {name: _decoded(value) for name, value in attributes.items()} if isinstance(attributes, Mapping) else {}
    context = span.get("context")
    id = span.get("span_id") or (context.get("span_id") if isinstance(context, Mapping) else None)
    kind, outputs = str(told.get("mlflow.spanType") or "").upper(), told.get("mlflow.spanOutputs")
    usage = told.get("mlflow.chat.tokenUsage")
    return Span(
        row=row,
        trace=str(row.number),
        id=str(id),
        parent=span.get("parent_span_id") or span.get("parent_id") or None,
        kind=kind,
        inputs=told.get("mlflow.spanInputs"),
        outputs=outputs,
        documents=outputs if kind == "RETRIEVER" else None,
        query_id=query_id,
        error=_error(span),
        seconds=_seconds(span),
        usage=usage if isinstance(usage, Mapping) else None,
    )


def _decoded(value: Any) -> Any:
    """What an attribute holds: JSON in a text, such as `"\\"RETRIEVER\\""`."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return unpacked(value)


def _error(span: Mapping[str, Any]) -> str | None:
    status = span.get("status")
    code = status.get("code") if isinstance(status, Mapping) else span.get("status_code", status)
    message = status.get("message") if isinstance(status, Mapping) else span.get("status_message")
    return str(message or "the trace failed") if "ERROR" in str(code or "").upper() else None


def _seconds(span: Mapping[str, Any]) -> float | None:
    for start, end in (("start_time_unix_nano", "end_time_unix_nano"), ("start_time", "end_time")):
        begun, ended = span.get(start), span.get(end)
        if isinstance(begun, int) and isinstance(ended, int) and ended >= begun:
            return (ended - begun) / 1e9
    return None
