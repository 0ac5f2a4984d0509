"""LangSmith's runs, a run a row: run_type, inputs, outputs, parent_run_id, trace_id, tokens and cost.

https://docs.langchain.com/langsmith/run-data-format; `Client.list_runs` gives the same fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from .cells import unpacked
from .layout import Given
from .openinference import seconds_between
from .rows import Row
from .spans import Span, answers_of, our_id

NAME, TITLE, FIELD = "langsmith", "LangSmith's runs: id, trace_id, parent_run_id, run_type, inputs, outputs", "answer"
COLUMNS = frozenset(
    (
        *("id", "trace_id", "parent_run_id", "run_type", "inputs", "outputs", "error", "start_time", "end_time"),
        *("name", "status", "dotted_order", "prompt_tokens", "completion_tokens", "total_cost"),
        *("reference_example_id", "extra"),
    )
)


def fits(there: frozenset[str]) -> bool:
    """Whether rows with these columns are runs."""
    return {"run_type", "inputs"} <= there


def used(name: str) -> bool:
    """Whether a column is one of a run's that is read."""
    return name in COLUMNS


def read(rows: Sequence[Row], path: Path) -> list[Given]:
    """An answer for each trace. Raises InputError with the line."""
    return answers_of(_spans(rows, path), path)


def _spans(rows: Sequence[Row], path: Path) -> Iterator[Span]:
    for row in rows:
        run = row.fields
        if not isinstance(run.get("id"), str):
            raise InputError(f"{row.place}the run has no id", file=path, line=row.line)
        outputs, kind = unpacked(run.get("outputs")), str(run.get("run_type")).upper()
        yield Span(
            row=row,
            trace=str(run.get("trace_id") or run["id"]),
            id=run["id"],
            parent=run.get("parent_run_id") or None,
            kind=kind,
            inputs=run.get("inputs"),
            outputs=outputs,
            documents=_documents(outputs) if kind == "RETRIEVER" else None,
            query_id=_query_id(run),
            error=str(run["error"]) if run.get("error") else None,
            seconds=seconds_between(run.get("start_time"), run.get("end_time")),
            usage={
                "input_tokens": run.get("prompt_tokens"),
                "output_tokens": run.get("completion_tokens"),
                "cost_usd": run.get("total_cost"),
            },
        )


def _query_id(run: Mapping[str, Any]) -> str | None:
    """Ours where we wrote it, else the id of the example that the run was made for."""
    extra, example = unpacked(run.get("extra")), run.get("reference_example_id")
    ours = our_id(extra.get("metadata")) if isinstance(extra, Mapping) else None
    return ours or (str(example) if example else None)


def _documents(outputs: Any) -> Any:
    """A retriever's documents stand under `documents` or `output`, or are the outputs."""
    if not isinstance(outputs, Mapping):
        return outputs
    return next((outputs[name] for name in ("documents", "output") if isinstance(outputs.get(name), list)), None)
