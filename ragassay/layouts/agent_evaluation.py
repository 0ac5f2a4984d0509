"""Databricks Agent Evaluation's rows: request, response, retrieved_context[].content, expected_facts.

https://docs.databricks.com, "Agent Evaluation input schema" (MLflow 2); our own export has the same columns. A request
or a response may be a text, a conversation (`messages`) or a chat completion (`choices`). A row with an MLflow trace
(`trace`: a JSON text, or the object) needs neither response nor retrieved_context.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import InputError
from . import mlflow_traces
from .cells import as_list, contexts, number, said, text, texts, unpacked
from .layout import Column, Layout
from .rows import Row


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


def _of_trace(row: Row, value: Any, path: Path) -> Mapping[str, Any]:
    """What a trace tells besides the query. Raises InputError with the line."""
    found = unpacked(value)
    if not isinstance(found, Mapping) or not mlflow_traces.fits(frozenset(found)):
        remedy = "give it as `Trace.to_json` writes it, with info and data"
        raise InputError(f"{row.place}'trace' is no MLflow trace", file=path, line=row.line, remedy=remedy)
    (given,) = mlflow_traces.read([row._replace(fields=found)], path)
    return {name: told for name, told in given.fields.items() if name not in {"query", "query_id", "agent"}}


AGENT_EVALUATION = Layout(
    name="agent-evaluation",
    title="Databricks Agent Evaluation's: request, response or trace, retrieved_context, expected_response or _facts",
    needs=tuple(
        frozenset(("request", beside))
        for beside in ("response", "retrieved_context", "expected_response", "expected_facts", "trace")
    ),
    whole={"trace": _of_trace},
    columns={
        "request_id": Column("query_id", text),
        "request": Column("query", said),
        "response": Column("answer", _answered),
        "retrieved_context": Column("contexts", contexts),
        "expected_retrieved_context": Column("expected_docs", _doc_uris),
        "expected_response": Column("expected_response", text),
        "expected_facts": Column("expected_facts", texts),
        "agent": Column("agent", text),
        "agent/latency_seconds": Column("latency_s", number),
    },
    foreign_ids=True,
)
