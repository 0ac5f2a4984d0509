"""A layout of answers: the columns that another tool writes, and which of our fields each becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..text import plain
from .rows import Row

FIELDS = frozenset(
    (
        *("query_id", "query", "agent", "answer", "passages", "queries", "usage", "latency_s", "error"),
        *("model", "prompt"),
        *("contexts", "reference_contexts", "expected_response", "expected_facts", "expected_docs"),
        *("conditions", "json_schema", "expected_files", "reference_passages", "metadata"),
    )
)
"""What a column can become. contexts, reference_contexts: `cells.Context`, what was retrieved and what is right;
passages, reference_passages: the ids of the same. metadata: what else is told of the query.
model, prompt: what the answer was made with."""

_IDS_OF = {"contexts": "passages", "reference_contexts": "reference_passages"}


@dataclass(frozen=True)
class Column:
    """A column: which field it becomes, and how its value is read (raises ValueError with what is wrong)."""

    field: str
    read: Callable[[Any], Any]


@dataclass(frozen=True)
class Given:
    """One answer in a file: where it stands, our `FIELDS`, and whether its query_id is another tool's own."""

    row: Row
    fields: Mapping[str, Any]
    foreign_ids: bool = False

    @property
    def line(self) -> int:
        """Where it is said to stand: the line, or the number in a JSON list."""
        return self.row.line or self.row.number


@dataclass(frozen=True)
class Layout:
    """`columns` in the order in which they are looked for: of those for one field the first that holds something.

    needs: sets of columns; a file that has all of one set is of this layout. foreign_ids: whether a query's id is the
    tool's own, so that queries are told by their texts first. strict: whether a row must have an answer or an error;
    elsewhere one that has neither is a failure. whole: columns that hold a whole answer, each with its reader: what
    it says counts where the row's own columns say nothing.
    """

    name: str
    title: str
    needs: Sequence[frozenset[str]]
    columns: Mapping[str, Column]
    foreign_ids: bool = False
    strict: bool = False
    whole: Mapping[str, Callable[[Row, Any, Path], Mapping[str, Any]]] = field(default_factory=dict)

    def fits(self, there: Iterable[str]) -> bool:
        """Whether a file with these columns is of this layout."""
        known = set(there)
        return any(need <= known for need in self.needs)

    def given(self, row: Row, path: Path) -> Given:
        """The row in our fields. Raises InputError that names the line and the column."""
        fields: dict[str, Any] = {}
        for name, column in self.columns.items():
            value = row.fields.get(name)
            if value is None or column.field in fields or (value == "" and column.field not in {"answer", "query"}):
                continue
            try:
                fields[column.field] = column.read(value)
            except ValueError as error:
                problem = f"{row.place}'{plain(name)}' {error}"
                raise InputError(problem, file=path, line=row.line) from None
        for name, read in self.whole.items():
            if row.fields.get(name):
                told = dict(read(row, row.fields[name], path))
                if "answer" in fields:
                    told.pop("error", None)
                fields = told | fields
        if not self.strict and not {"answer", "error"} & fields.keys():
            fields["error"] = "no answer is given"
        for texts, ids in _IDS_OF.items():
            if texts in fields:
                fields[texts] = _with_ids(fields[texts], fields.get(ids) or ())
        return Given(row, fields, self.foreign_ids)


def _with_ids(contexts: Sequence[Mapping[str, Any]], ids: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Texts with the ids that stand beside them, where there is one for each and they have none of their own."""
    beside = ids if len(ids) == len(contexts) else [None] * len(contexts)
    pairs = zip(contexts, beside, strict=True)
    return [one if id is None or one.get("id") else {**one, "id": str(id)} for one, id in pairs]
