"""Answers from anywhere: the layout of a file is told by its columns, and what is not used of it is named.

A layout is a class of a module of this folder, or another package's by the entry point `ragassay.layouts`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from ..errors import InputError
from ..experiment.plugins import classes_in, names_of, plugin, plugins
from ..text import did_you_mean, listed, plain
from .cells import BY, OUR_ID, TABLES, Row, contexts, exchanges, header_of, read_rows, unpacked

FIELDS = frozenset(
    (
        *("query_id", "query", "agent", "answer", "passages", "queries", "usage", "latency_s", "error"),
        *("model", "prompt", "hops", "calls"),
        *("contexts", "reference_contexts", "expected_response", "expected_facts", "expected_docs"),
        *("conditions", "json_schema", "expected_files", "reference_passages", "metadata"),
    )
)
"""What a column can become. contexts, reference_contexts: `cells.Context`, what was retrieved and what is right;
passages, reference_passages: the ids of the same. metadata: what else is told of the query.
model, prompt: what the answer was made with."""


@dataclass(frozen=True)
class Column:
    """A column: which of `FIELDS` it becomes, and how its value is read (raises ValueError with what is wrong)."""

    field: str
    read: Callable[[Any], Any]

    def __post_init__(self) -> None:
        if self.field not in FIELDS:
            remedy = f"{did_you_mean(self.field, FIELDS)}fields are {listed(sorted(FIELDS))}"
            raise ValueError(f"a column cannot become '{self.field}'; {remedy}")


@dataclass(frozen=True)
class Given:
    """One answer in a file: where it stands, our `FIELDS`, and whether its query_id is another tool's own.

    left_out: what of it is not used to how many of it; without fields it is no answer, and that is all there is of it.
    """

    row: Row
    fields: Mapping[str, Any]
    foreign_ids: bool = False
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def line(self) -> int:
        """Where it is said to stand: the line, or the number in a JSON list."""
        return self.row.line or self.row.number


Columns = Mapping[str, Column]
Whole = Mapping[str, Callable[[Row, Any], Mapping[str, Any]]]


class Layout:
    """The columns that another tool writes, and which of our fields each becomes.

    `columns` in the order in which they are looked for: of those for one field the first that holds something.
    needs: sets of columns; a file that has all of one set is of this layout. foreign_ids: whether a query's id is the
    tool's own, so that queries are told by their texts first. strict: whether a row must have an answer or an error;
    elsewhere one that has neither is a failure. whole: columns that hold a whole answer, each with its reader: what
    it says counts where the row's own columns say nothing. used: columns that `read` makes an answer of together.
    several_rows: whether an answer stands in several rows; a file is held against these layouts first.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    needs: ClassVar[Sequence[frozenset[str]]] = ()
    columns: ClassVar[Columns] = MappingProxyType({})
    whole: ClassVar[Whole] = MappingProxyType({})
    used: ClassVar[Collection[str]] = ()
    foreign_ids: ClassVar[bool] = False
    strict: ClassVar[bool] = False
    several_rows: ClassVar[bool] = False

    def fits(self, there: Iterable[str]) -> bool:
        """Whether a file with these columns is of this layout."""
        known = set(there)
        return any(need <= known for need in self.needs)

    def field_of(self, name: str) -> str | None:
        """Which of our `FIELDS` a column becomes; None where it is not used."""
        if name in self.columns:
            return self.columns[name].field
        return "answer" if name in self.whole or name in self.used else None

    def notes(self, rows: Sequence[Row]) -> Sequence[str]:
        """What whoever gave the file should know of how it is read."""
        return ()

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """The answers in the rows. Raises InputError that names the line and the column."""
        return [self._given(row) for row in rows]

    def _given(self, row: Row) -> Given:
        fields: dict[str, Any] = {}
        for name, column in self.columns.items():
            value = row.fields.get(name)
            if value is None or column.field in fields or (value == "" and column.field not in {"answer", "query"}):
                continue
            fields[column.field] = row.told(column.read, value, f"'{plain(name)}' ")
        for name, read in self.whole.items():
            if row.fields.get(name):
                told = dict(read(row, row.fields[name]))
                if "answer" in fields:
                    told.pop("error", None)
                fields = told | fields
        if not self.strict and not {"answer", "error"} & fields.keys():
            fields["error"] = "no answer is given"
        for texts, ids in (("contexts", "passages"), ("reference_contexts", "reference_passages")):
            beside, bare = fields.get(ids) or (), fields.get(texts) or ()
            if bare and len(beside) == len(bare):  # ids that stand beside texts without one of their own
                pairs = zip(bare, beside, strict=True)
                fields[texts] = [one if id is None or one.get("id") else {**one, "id": str(id)} for one, id in pairs]
        return Given(row, fields, self.foreign_ids)


@cache
def layouts() -> dict[str, Layout]:
    """Ours by name: the layouts of the modules of this folder."""
    return {kind.name: kind() for kind in classes_in(__package__, Layout) if "name" in vars(kind)}


@dataclass(frozen=True)
class GivenAnswers:
    """The answers of a file, and notes on how it was read. columns: each to the field that it becomes, None of none.

    left_out: what of its rows is not used to how many of it.
    """

    path: Path
    layout: str
    answers: tuple[Given, ...]
    columns: dict[str, str | None]
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def agent(self) -> str:
        """What a system is called where the file does not say: the file's name."""
        name = self.path.name.removesuffix(self.path.suffix) if self.path.suffix else self.path.name
        return name.removesuffix(".otlp")

    @property
    def answered(self) -> bool:
        """Whether it has a column of answers or of errors that is filled; one that has none holds queries alone."""
        told = bool({"answer", "error"} & set(self.columns.values())) or any("answer" in o.fields for o in self.answers)
        return told and (not self.answers or any({"answer", "error"} & one.fields.keys() for one in self.answers))

    def unused(self, fields: Collection[str] = FIELDS) -> list[str]:
        """The notes, and sentences on columns that become none of `fields` and on what was left out; often none."""
        left = [plain(name) for name, field in self.columns.items() if field not in fields]
        more = [f"{len(left) - 8} more"] if len(left) > 8 else []
        told = [f"read as {self.layout}; not used: {listed([*left[:8], *more])}"] if left else []
        told += [f"left out: {_counted(self.left_out)}"] if self.left_out else []
        return [f"{plain(str(self.path))}: {sentence}" for sentence in (*self.notes, *told)]


def turns_of(row: Row, column: str) -> list[Given]:
    """A row's conversation as a query a turn, with the answer, its passages and its calls of tools where they are told.

    Of one that we wrote, the turns that were asked, each with its id and all that is told of it. Raises InputError with
    the line where it is none.
    """
    said = row.told(exchanges, unpacked(row.fields.get(column)), f"'{column}' ")
    made = []
    ours = any(OUR_ID in one.told for one in said)
    for number, one in enumerate(said, 1):
        given = (message.get("retrieval_context") for message in one.messages)
        passages = [found for several in given for found in row.told(contexts, several, f"'{column}' ")]
        fields: dict[str, Any] = {"query": one.question}
        fields["metadata"] = {"conversation": f"{row.path.stem}-{row.number}", "turn": number}
        if ours:
            fields["metadata"] = {name: value for name, value in one.told.items() if name not in (OUR_ID, BY)}
            fields["query_id"] = one.told.get(OUR_ID)
        if one.messages:
            fields["answer"] = one.answer or ""
            fields |= {} if one.answer else {"error": "the turn has no words of an answer"}
        called = [message.get(name) for message in one.messages for name in ("tool_calls", "tools_called")]
        fields |= {"contexts": passages} if passages else {}
        if any(isinstance(calls, list) for calls in called):  # Ragas, DeepEval
            fields["calls"] = [call for calls in called for call in calls_of(calls)]
        if not ours or fields["query_id"]:
            made.append(Given(row, fields))
    return made


def calls_of(told: Any) -> list[dict[str, Any]]:
    """Calls of tools, each as of `records.ToolCall`; what is none is left out."""
    found = []
    for one in told if isinstance(told, list) else ():
        if isinstance(one, Mapping) and isinstance(one.get("name"), str) and one["name"]:
            given: Any = next((one[name] for name in ("arguments", "args", "input_parameters") if one.get(name)), {})
            found.append({"name": one["name"], "arguments": dict(given) if isinstance(given, Mapping) else {"": given}})
    return found


def read_given(path: Path, layout: str | None = None) -> GivenAnswers:
    """The answers of a file in any of the layouts, or in the one that is named.

    Raises InputError, with the line and the column: a file of no known layout, one that is not read as its kind, and a
    value that is not what its column holds.
    """
    rows = list(read_rows(path))
    columns = list(dict.fromkeys(name for row in rows for name in row.fields))
    table = path.suffix.lower() in TABLES
    if not rows and table:
        columns = header_of(path)
    if table and _fitting(columns) is None:
        rows = [row._replace(fields={name.lower(): cell for name, cell in row.fields.items()}) for row in rows]
        columns = [name.lower() for name in columns]
    if not columns and not table and (layout is None or layout in layouts()):
        raise InputError("holds no answer", file=path)
    found = _fitting(columns) if layout is None else _named(layout)
    has = f"has the columns {', '.join(map(plain, columns[:12])) or 'nothing'}"
    if found is None:
        titles = "; ".join(one.title for one in layouts().values() if one.title)
        remedy = f"it needs answer and qid (or query), or the columns of one of: {titles}"
        raise InputError(has, file=path, line=1 if table else rows[0].line, remedy=remedy)
    if layout is not None and not found.fits(columns):
        raise InputError(has, file=path, remedy=f"as {layout} it needs {found.title}")
    given = found.read(rows, path)
    left_out = sum((Counter(one.left_out) for one in given), Counter[str]())
    answers = tuple(one for one in given if one.fields)
    if given and not answers:
        raise InputError(f"holds no question; left out: {_counted(left_out)}", file=path)
    fields, notes = {name: found.field_of(name) for name in columns}, list(found.notes(rows))
    if n := sum(row.n_unquoted for row in rows):
        said = f"an apostrophe that keeps a spreadsheet from running what follows was taken away in {n}"
        notes.append(f"{said} {'cell' if n == 1 else 'cells'}")
    return GivenAnswers(path, found.name, answers, fields, tuple(notes), left_out)


def _counted(left_out: Mapping[str, int]) -> str:
    return listed([f"{what} ({n:,})" for what, n in left_out.items()])


def _fitting(columns: Iterable[str]) -> Layout | None:
    """The layout of a file with these columns: ours, or else another package's."""
    there = frozenset(columns)
    if fitting := [one for one in layouts().values() if one.fits(there)]:
        return max(fitting, key=lambda one: one.several_rows)
    return next((one for kind in plugins("layouts", Layout).values() if (one := kind()).fits(there)), None)


def _named(name: str) -> Layout:
    """Ours of this name, or another package's. Raises InputError where there is none."""
    if name in layouts():
        return layouts()[name]
    if (theirs := plugin("layouts", name, Layout)) is not None:
        return theirs()
    names = [*layouts(), *names_of("layouts")]
    raise InputError(f"'{plain(name)}' is no layout", remedy=f"{did_you_mean(name, names)}there are {listed(names)}")
