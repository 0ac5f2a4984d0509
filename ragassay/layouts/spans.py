"""Traces as answers: of each trace the root's question and answer, what its retrievers gave, and what models used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from .cells import contexts, said, unpacked
from .layout import Given
from .rows import Row

OUR_ID = "ragassay_query_id"
"""In the metadata of what we write: the query's id, for which traces and data sets of others have no place."""


@dataclass(frozen=True)
class Span:
    """One step of a trace, whoever recorded it. seconds: how long it took; None where that is not told.

    query_id: of the query that the trace answers, where it names one.
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
    error: str | None = None
    seconds: float | None = None
    usage: Mapping[str, Any] | None = None


def answers_of(spans: Iterable[Span], path: Path) -> list[Given]:
    """An answer for each trace, in the order of their first spans.

    The last retriever that another one does not hold counts, and tokens of models are added up. Raises InputError with
    the line for a trace without a root, without a question, or with what cannot be read.
    """
    traces: dict[str, list[Span]] = {}
    for span in spans:
        traces.setdefault(span.trace, []).append(span)
    return [_answer(trace, path) for trace in traces.values()]


def _answer(trace: Sequence[Span], path: Path) -> Given:
    ids = {span.id for span in trace}
    roots = [span for span in trace if span.parent not in ids]
    if len(roots) != 1:
        first = trace[0]
        problem = f"{first.row.place}the trace has {len(roots)} spans without a parent in the file"
        raise InputError(problem, file=path, line=first.row.line, remedy="give whole traces, all spans of each")
    root = roots[0]
    fields: dict[str, Any] = {"query": _read("input", root, said, root.inputs, path)}
    if root.query_id is not None:
        fields["query_id"] = root.query_id
    if root.error is None and root.outputs not in (None, ""):
        fields["answer"] = _read("output", root, said, root.outputs, path)
    else:
        fields["error"] = root.error or "the trace has no output"
    retrievers = [span for span in trace if span.kind == "RETRIEVER" and span.documents is not None]
    if retrievers:
        last = retrievers[-1]
        fields["contexts"] = _read("documents", last, contexts, last.documents, path)
    if root.seconds is not None:
        fields["latency_s"] = root.seconds
    if used := _usage(trace):
        fields["usage"] = used
    return Given(root.row, fields, foreign_ids=True)


def our_id(metadata: Any) -> str | None:
    """The id of the query that `metadata`, an object or the JSON of one, has of us."""
    told = unpacked(metadata)
    found = told.get(OUR_ID) if isinstance(told, Mapping) else None
    return found if isinstance(found, str) and found else None


def _read(what: str, span: Span, read: Any, value: Any, path: Path) -> Any:
    try:
        return read(value)
    except ValueError as error:
        problem = f"{span.row.place}the span's {what} {error}"
        raise InputError(problem, file=path, line=span.row.line) from None


def _usage(trace: Sequence[Span]) -> dict[str, Any]:
    """The sums over the model's spans; what one of them does not tell is not known of the trace."""
    told = [span.usage or {} for span in trace if span.kind in {"LLM", "CHAT_MODEL"}]
    names = ("input_tokens", "output_tokens", "cost_usd")
    whole = [name for name in names if told and all(_is_number(one.get(name)) for one in told)]
    return {name: sum(one[name] for one in told) for name in whole}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value
