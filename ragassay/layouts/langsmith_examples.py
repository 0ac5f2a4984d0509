"""LangSmith's data sets, an example a row: inputs, outputs (what is expected) and metadata; no answers of a system.

https://docs.langchain.com/langsmith/example-data-format. In JSON Lines or JSON the fields are objects; in CSV they are
JSON in a cell, or a column each (`inputs.question`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from .cells import said, unpacked
from .layout import Given
from .openinference import nested
from .rows import Row
from .spans import OUR_ID

NAME, TITLE, FIELD = "langsmith-examples", "LangSmith's examples: id, inputs, outputs, metadata", "query"
COLUMNS = frozenset(("id", "inputs", "outputs", "metadata"))


def fits(there: frozenset[str]) -> bool:
    """Whether rows with these columns are examples."""
    return {"inputs", "outputs"} <= {name.split(".", 1)[0] for name in there} and "run_type" not in there


def used(name: str) -> bool:
    """Whether a column is one of an example's that is read."""
    return name.split(".", 1)[0] in COLUMNS


def read(rows: Sequence[Row], path: Path) -> list[Given]:
    """A query for each example, with what is expected. Raises InputError with the line."""
    return list(_examples(rows, path))


def _examples(rows: Sequence[Row], path: Path) -> Iterator[Given]:
    for row in rows:
        flat = any(name.startswith(("inputs.", "outputs.")) for name in row.fields)
        example = nested(row.fields) if flat else row.fields
        told = unpacked(example.get("metadata"))
        told = dict(told) if isinstance(told, Mapping) else {}
        fields: dict[str, Any] = {"query_id": told.pop(OUR_ID, None) or example.get("id") or None}
        fields["query"] = _said("inputs", example.get("inputs"), row, path)
        if unpacked(example.get("outputs")) not in (None, "", {}, []):
            fields["expected_response"] = _said("outputs", example.get("outputs"), row, path)
        yield Given(row, fields | ({"metadata": told} if told else {}))


def _said(what: str, value: Any, row: Row, path: Path) -> str:
    try:
        return said(value)
    except ValueError as error:
        raise InputError(f"{row.place}'{what}' {error}", file=path, line=row.line) from None
