"""Labels put on another scale before they are compared: `--map 0=3,1=2`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragassay.errors import InputError
from ragassay.text import plain

from ..confusion import spelt
from ..label_tables import Label, LabelTable, Ratings, number_of, ratings

_SHAPE = "write OLD=NEW,OLD=NEW (a missing label where NEW is empty), for one column COL:OLD=NEW"
_BY = "(query)"


def recoded(table: LabelTable, raters: Sequence[str], maps: Sequence[str]) -> LabelTable:
    """The table with the labels of the columns `raters` as `maps` have them, all exchanged at once.

    maps: `OLD=NEW,…` of all raters, or `COL:OLD=NEW,…` of one, which then holds there; numbers are alike however they
    are spelt, and an empty NEW is a missing label. Raises InputError for a map of another shape, an OLD that is named
    twice, and one that is no label of those columns.
    """
    of_all: dict[str, str] = {}
    own: dict[str, dict[str, str]] = {name: {} for name in raters}
    for text in maps:
        column = max((name for name in raters if text.startswith(f"{name}:")), key=len, default=None)
        one = own[column] if column is not None else of_all
        for old, new in _exchanges(text if column is None else text.removeprefix(f"{column}:")):
            _check(table, raters if column is None else [column], old, old in one)
            one[old] = new
    whole = {name: of_all | own[name] for name in raters}
    rows = tuple((line, row | _row(row, whole)) for line, row in table.rows)
    return replace(table, rows=rows)


def _row(row: dict[str, str], maps: dict[str, dict[str, str]]) -> dict[str, str]:
    return {name: one.get(_key(row[name]), row[name]) for name, one in maps.items() if name in row}


def _exchanges(text: str) -> list[tuple[str, str]]:
    parts = [part.partition("=") for part in text.split(",")]
    if any(not old.strip() or not equals for old, equals, _ in parts):
        raise InputError(f"--map is '{plain(text)}'", remedy=_SHAPE)
    return [(_key(old.strip()), new.strip()) for old, _, new in parts]


def _check(table: LabelTable, columns: Sequence[str], old: str, again: bool) -> None:
    if again:
        raise InputError(f"--map names the label '{plain(old)}' twice")
    if not any(_key(row.get(name, "")) == old for _, row in table.rows for name in columns):
        where = ", ".join(f"'{plain(name)}'" for name in list(columns)[:5])
        raise InputError(f"--map names '{plain(old)}', which is no label of {where}", file=table.file, remedy=_SHAPE)


def _key(text: str) -> str:
    value = number_of(text)
    return text if value is None else f"{value:.10g}"


def recoded_ratings(given: Ratings, maps: Sequence[str]) -> Ratings:
    """The same of raters whose labels are read already, all of them by query. Raises InputError as `recoded` does."""
    if not maps:
        return given
    cells = zip(given.clusters, *given.labels, strict=True)
    rows = tuple(
        (line, dict(zip((_BY, *given.raters), (by, *map(_spelt, labels)), strict=True)))
        for line, (by, *labels) in enumerate(cells, 1)
    )
    table = LabelTable(given.file, (_BY, *given.raters), rows)
    return replace(ratings(recoded(table, given.raters, maps), given.raters, _BY), by=given.by)


def _spelt(label: Label | None) -> str:
    return "" if label is None else spelt(label)
