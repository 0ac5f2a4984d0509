"""Answers from anywhere: the layout of a file is told by its columns, and what is not used of it is named."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..text import did_you_mean, listed, plain
from . import langsmith, langsmith_examples, mlflow_traces, open_rag_eval, openinference
from .agent_evaluation import AGENT_EVALUATION
from .deepeval import DEEPEVAL
from .layout import FIELDS, Given, Layout
from .ours import OURS
from .ragas import RAGAS
from .ragelo import RAGELO
from .rows import TABLES, header_of, read_rows
from .trec_rag import TREC_RAG

DECLARED = (AGENT_EVALUATION, DEEPEVAL, TREC_RAG, RAGAS, open_rag_eval.QUERIES, OURS, RAGELO)
"""The layouts of columns, in the order in which a file is held against them."""

TRACES = (openinference, mlflow_traces, langsmith, langsmith_examples, open_rag_eval)
"""Those of several rows an answer."""
NAMES = (*(layout.name for layout in DECLARED), *(traces.NAME for traces in TRACES))
REMEDY = "it needs answer and qid (or query), or the columns of one of: " + "; ".join(
    [*(layout.title for layout in DECLARED if layout is not RAGELO), *(traces.TITLE for traces in TRACES)]
)
_SHOWN = 8


@dataclass(frozen=True)
class GivenAnswers:
    """The answers of a file. columns: each column to the field that it becomes, None where it becomes none."""

    path: Path
    layout: str
    answers: tuple[Given, ...]
    columns: dict[str, str | None]

    @property
    def agent(self) -> str:
        """What a system is called where the file does not say: the file's name."""
        return self.path.name.removesuffix(self.path.suffix) if self.path.suffix else self.path.name

    @property
    def answered(self) -> bool:
        """Whether it has a column of answers or of errors; one that has none holds queries alone."""
        return bool({"answer", "error"} & set(self.columns.values()))

    def unused(self, fields: Collection[str] = FIELDS) -> list[str]:
        """A sentence on the columns that become none of `fields`; empty where all are used."""
        left = [plain(name) for name, field in self.columns.items() if field not in fields]
        if not left:
            return []
        more = [f"{len(left) - _SHOWN} more"] if len(left) > _SHOWN else []
        names = listed([*left[:_SHOWN], *more])
        return [f"{plain(str(self.path))}: read as {self.layout}; not used: {names}"]


def read_given(path: Path, layout: str | None = None) -> GivenAnswers:
    """The answers of a file in any of the layouts, or in the one that is named.

    Raises InputError, with the line and the column: a file of no known layout, one that is not read as its kind, and a
    value that is not what its column holds.
    """
    rows = list(read_rows(path))
    columns = list(dict.fromkeys(name for row in rows for name in row.fields))
    if not rows and path.suffix.lower() in TABLES:
        columns = header_of(path)
    if path.suffix.lower() in TABLES and _fitting(columns) is None:
        rows = [row._replace(fields={name.lower(): cell for name, cell in row.fields.items()}) for row in rows]
        columns = [name.lower() for name in columns]
    if not columns and path.suffix.lower() not in TABLES and (layout is None or layout in NAMES):
        raise InputError("holds no answer", file=path)
    found = _fitting(columns) if layout is None else _named(layout, columns, path)
    if found is None:
        line = 1 if path.suffix.lower() in TABLES else rows[0].line
        raise InputError(f"has the columns {_names(columns)}", file=path, line=line, remedy=REMEDY)
    if isinstance(found, Layout):
        given = [found.given(row, path) for row in rows]
        return GivenAnswers(path, found.name, tuple(given), {name: _field(found, name) for name in columns})
    spans = found.read(rows, path)
    return GivenAnswers(
        path, found.NAME, tuple(spans), {name: found.FIELD if found.used(name) else None for name in columns}
    )


def _names(columns: Sequence[str]) -> str:
    return ", ".join(plain(name) for name in columns[:12]) or "nothing"


def _field(layout: Layout, name: str) -> str | None:
    if name in layout.columns:
        return layout.columns[name].field
    return "answer" if name in layout.whole else None


def _fitting(columns: Iterable[str]) -> Any:
    there = frozenset(columns)
    return next(
        (traces for traces in TRACES if traces.fits(there)), next((one for one in DECLARED if one.fits(there)), None)
    )


def _named(name: str, columns: Sequence[str], path: Path) -> Any:
    """The layout of this name. Raises InputError where there is none, or the file lacks all that it needs."""
    layouts: dict[str, Any] = {one.name: one for one in DECLARED} | {one.NAME: one for one in TRACES}
    if name not in layouts:
        raise InputError(
            f"'{plain(name)}' is no layout", remedy=f"{did_you_mean(name, NAMES)}there are {listed(NAMES)}"
        )
    found = layouts[name]
    fits: Callable[[frozenset[str]], bool] = found.fits
    if not fits(frozenset(columns)):
        title = found.title if isinstance(found, Layout) else found.TITLE
        raise InputError(f"has the columns {_names(columns)}", file=path, remedy=f"as {name} it needs {title}")
    return found
