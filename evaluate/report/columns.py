"""Columns of a table in the terminal: which give way where there is no room."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len

_GAP = 3


@dataclass(frozen=True)
class Column:
    """A heading and one text a row; `keep` orders what gives way first where there is no room (0 stays)."""

    name: str
    cells: list[str]
    keep: int

    @property
    def width(self) -> int:
        """In cells of the terminal, with the gap to the next."""
        return max(cell_len(text) for text in (self.name, *self.cells)) + _GAP


def fitting(columns: list[Column], room: int) -> list[Column]:
    """The columns that fit into `room` cells, in their order; the highest `keep` goes first."""
    kept = list(columns)
    while kept and sum(column.width for column in kept) > room and max(column.keep for column in kept) > 0:
        kept.remove(max(kept, key=lambda column: column.keep))
    return kept
