"""Our own answers, with their passages named by id or written out (`contexts`), in JSON Lines, JSON or CSV."""

from __future__ import annotations

import json
from typing import Any

from .cells import as_list, contexts
from .layout import Column, Layout


def _as_it_is(value: Any) -> Any:
    return value


def _list(value: Any) -> Any:
    return list(as_list(value)) if isinstance(value, str) else value


def _object(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError("is not JSON") from None


def _told(value: Any) -> Any:
    found = _object(value)
    if not isinstance(found, dict):
        raise ValueError("is not a JSON object")
    return found


OURS = Layout(
    name="ragassay",
    title="ragassay's: query_id (or query), answer, and agent, passages or contexts, usage, latency_s, error",
    needs=(frozenset(("query_id",)), frozenset(("query", "answer"))),
    columns={
        **{
            name: Column(name, _as_it_is)
            for name in ("query_id", "query", "agent", "answer", "error", "model", "prompt")
        },
        **{
            name: Column(name, _list)
            for name in ("passages", "queries", "expected_docs", "expected_facts", "expected_files")
        },
        "expected_response": Column("expected_response", _as_it_is),
        "conditions": Column("conditions", _as_it_is),
        "json_schema": Column("json_schema", _object),
        "usage": Column("usage", _object),
        "latency_s": Column("latency_s", _as_it_is),
        "contexts": Column("contexts", contexts),
        "reference_contexts": Column("reference_contexts", contexts),
        "metadata": Column("metadata", _told),
    },
    strict=True,
)
