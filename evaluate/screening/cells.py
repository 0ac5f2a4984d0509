"""Which variants differ in one setting and in nothing else: the balanced cells over which a setting's effect is meant.

A setting's levels are compared only over combinations of the other settings (cells) that exist with each of them. Not
held equal is what goes along with it: the name of a chunking with its parts (`chunking` and `chunking.size`), and what
some level does not have (without a rewriting there is no number of rewritten queries). Where no combination has all
levels, as with sizes in words and in sentences, those are taken that make the most variants, then the others likewise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Level = str | int | float | bool | None


@dataclass(frozen=True)
class Cells:
    """variants: of each cell, of each level, the indices of its variants; several differ in what goes along."""

    setting: str
    levels: tuple[Level, ...]
    variants: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def n_variants(self) -> int:
        """How many there are in all."""
        return sum(len(each) for cell in self.variants for each in cell)


def cells_of(rows: Mapping[int, Mapping[str, Any]], setting: str, others: Sequence[str]) -> Iterator[Cells]:
    """The balanced cells of `setting`, for each set of its levels that meet. rows: index of a variant to its settings.

    others: the settings that are to be held equal.
    """
    held = [other for other in others if other != setting and not _goes_along(rows, setting, other)]
    table: dict[tuple[str, ...], dict[Level, list[int]]] = {}
    for at, row in rows.items():
        cell = table.setdefault(tuple(_key(row.get(other)) for other in held), {})
        cell.setdefault(row.get(setting), []).append(at)
    left = {level for cell in table.values() for level in cell}
    while levels := _most(table, left):
        full = [cell for _, cell in sorted(table.items()) if all(level in cell for level in levels)]
        yield Cells(setting, levels, tuple(tuple(tuple(cell[level]) for level in levels) for cell in full))
        left -= set(levels)


def _most(table: Mapping[tuple[str, ...], Mapping[Level, list[int]]], left: set[Level]) -> tuple[Level, ...]:
    """The levels, of some cell's that are `left`, with the most variants in cells that have them; none below two."""
    sets = {frozenset(cell) & left for cell in table.values()}
    wanted = [tuple(sorted(each, key=_order)) for each in sets if len(each) > 1]

    def size(levels: tuple[Level, ...]) -> int:
        return sum(len(cell[x]) for cell in table.values() if set(levels) <= cell.keys() for x in levels)

    return min(wanted, key=lambda levels: (-size(levels), -len(levels), [_order(x) for x in levels]), default=())


def _goes_along(rows: Mapping[int, Mapping[str, Any]], setting: str, other: str) -> bool:
    """Whether `other` is a name or a part of what `setting` says, or is what some level of it does not have."""
    if setting.startswith(f"{other}.") or other.startswith(f"{setting}."):
        return True
    having = {row.get(setting) for row in rows.values() if row.get(other) is not None}
    return bool(having) and having != {row.get(setting) for row in rows.values()}


def _key(level: Any) -> str:
    return f"{type(level).__name__} {level!r}"


def _order(level: Level) -> tuple[bool, float, str]:
    """Numbers by size, then words."""
    number = isinstance(level, int | float) and not isinstance(level, bool)
    return (not number, float(level) if isinstance(level, int | float) else 0.0, str(level))
