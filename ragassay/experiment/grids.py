"""Tables in which a list where one value stands is a grid: each combination of the values is a table of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, product
from math import prod
from typing import Any, get_args

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

MOST = 5_000
"""Combinations that a grid may have, and variants that there may be in all."""

LISTS = frozenset({"of", "weights"})
"""Keys whose one value is a list: a grid of it is a list of lists."""

SINGLE = frozenset({"name"})
"""Keys that have one value."""


class Grids:
    """`Annotated[tuple[T, ...], Grids()]`: the tables of a file, with every combination of each grid in its place.

    What is wrong is located by the table's number, the combination's, and the key. Two tables with one name, and a
    grid of more than `MOST` combinations, are errors.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        table = core_schema.tuple_variable_schema(handler.generate_schema(get_args(source)[0]))
        one = core_schema.no_info_before_validator_function(combinations, table)
        return core_schema.no_info_after_validator_function(_joined, core_schema.tuple_variable_schema(one))


def combinations(table: Any) -> Any:
    """Every combination of a table's grids, the last key changing fastest. What is no table is left as it is."""
    if not isinstance(table, Mapping):
        return (table,)
    values = {key: _choices(key, value) for key, value in table.items()}
    if empty := [key for key, choices in values.items() if not choices]:
        raise ValueError(f"{empty[0]} is an empty list, of which there is no combination")
    if (n := prod(map(len, values.values()))) > MOST:
        raise ValueError(f"its lists make {n:,} combinations, and at most {MOST:,} can be run; shorten one")
    return tuple(dict(zip(values, row, strict=True)) for row in product(*values.values()))


def _choices(key: str, value: Any) -> Sequence[Any]:
    if key in SINGLE or not isinstance(value, (list, tuple)):
        return (value,)
    if key in LISTS:
        return value if any(isinstance(part, (list, tuple)) for part in value) else (value,)
    try:
        return list(dict.fromkeys(value))
    except TypeError:  # a table or a list in it, which is refused where the value is
        return value


def _joined(tables: tuple[tuple[Any, ...], ...]) -> tuple[Any, ...]:
    names = [table[0].name for table in tables]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two tables are named '{twice}'")
    return tuple(chain.from_iterable(tables))
