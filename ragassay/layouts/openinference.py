"""OpenInference spans, as Arize Phoenix and OpenTelemetry write them: a span a row, attributes flat or nested.

https://github.com/Arize-ai/openinference, "Semantic conventions": openinference.span.kind, input.value, output.value,
retrieval.documents.N.document.content, llm.token_count.prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ..errors import InputError
from .layout import Given
from .rows import Row
from .spans import Span, answers_of, our_id

NAME, FIELD = "openinference", "answer"
TITLE = "OpenInference spans: context, span_kind, parent_id, attributes (Phoenix)"
COLUMNS = frozenset(
    (
        *("id", "name", "context", "span_kind", "parent_id", "start_time", "end_time", "status_code"),
        *("status_message", "status", "attributes", "events", "kind"),
    )
)
_DEEPEST = 12


def fits(there: frozenset[str]) -> bool:
    """Whether rows with these columns are spans; those of a data frame have `context.trace_id`, `attributes.…`."""
    return {"context", "attributes"} <= there or "context.trace_id" in there


def used(name: str) -> bool:
    """Whether a column is one of a span's."""
    return name.split(".", 1)[0] in COLUMNS


def read(rows: Sequence[Row], path: Path) -> list[Given]:
    """An answer for each trace. Raises InputError with the line."""
    return answers_of(_spans(rows, path), path)


def _spans(rows: Sequence[Row], path: Path) -> Iterator[Span]:
    for row in rows:
        span = nested(row.fields)
        context, attributes = _object(span.get("context")), _object(span.get("attributes"))
        if not isinstance(context.get("trace_id"), str) or not isinstance(context.get("span_id"), str):
            raise InputError(f"{row.place}has no context.trace_id and span_id", file=path, line=row.line)
        kind = span.get("span_kind") or _at(attributes, "openinference", "span", "kind") or ""
        status = span.get("status_code") or _at(span, "status", "status_code") or ""
        message = span.get("status_message") or _at(span, "status", "description")
        failed = str(status).upper() == "ERROR"
        yield Span(
            row=row,
            trace=context["trace_id"],
            id=context["span_id"],
            parent=span.get("parent_id") or None,
            kind=str(kind).upper(),
            inputs=_at(attributes, "input", "value"),
            outputs=_at(attributes, "output", "value"),
            documents=_at(attributes, "retrieval", "documents"),
            query_id=our_id(attributes.get("metadata")),
            error=str(message or "the trace failed") if failed else None,
            seconds=seconds_between(span.get("start_time"), span.get("end_time")),
            usage={
                "input_tokens": _at(attributes, "llm", "token_count", "prompt"),
                "output_tokens": _at(attributes, "llm", "token_count", "completion"),
                "cost_usd": _at(attributes, "llm", "cost", "total"),
            },
        )


def nested(flat: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """`{"a.b.0.c": 1}` as `{"a": {"b": [{"c": 1}]}}`, to a depth of twelve objects; names that are not dotted stay."""
    tree: dict[str, Any] = {}
    for name, value in flat.items():
        parts = name.split(".")[:_DEEPEST]
        place = tree
        for part in parts[:-1]:
            inner = place.setdefault(part, {})
            place = inner if isinstance(inner, dict) else place.setdefault(f"{part}.", {})
        inside = nested(value, depth + 1) if isinstance(value, Mapping) and depth < _DEEPEST else value
        known = place.get(parts[-1])
        place[parts[-1]] = {**known, **inside} if isinstance(known, dict) and isinstance(inside, dict) else inside
    return {name: _listed(value) for name, value in tree.items()}


def _listed(value: Any, depth: int = 0) -> Any:
    """An object whose names count from 0 as a list."""
    if not isinstance(value, dict) or depth > 2 * _DEEPEST:
        return value
    made = {name: _listed(inner, depth + 1) for name, inner in value.items()}
    return [made[name] for name in sorted(made, key=int)] if made and all(n.isdecimal() for n in made) else made


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def seconds_between(start: Any, end: Any) -> float | None:
    """Between two times in ISO 8601; None where one is missing or they are the wrong way round."""
    try:
        taken = (datetime.fromisoformat(str(end)) - datetime.fromisoformat(str(start))).total_seconds()
    except (ValueError, TypeError):
        return None
    return taken if taken >= 0 else None
