"""Cells of a table, and spans flattened into one."""

from __future__ import annotations

from pathlib import Path

from ragassay.layouts.cells import table_rows
from ragassay.layouts.traces import nested


def test_the_apostrophe_before_what_a_spreadsheet_might_run_is_taken_away(tmp_path: Path):
    path = tmp_path / "answers.csv"
    path.write_text("query,answer\n'=1+1?,'-2\n'quoted',two\n")
    assert [list(row.fields.values()) for row in table_rows(path, ",")] == [["=1+1?", "-2"], ["'quoted'", "two"]]


def test_lists_are_in_the_order_of_their_numbers():
    flat = {f"documents.{number}.id": f"p{number}" for number in (10, 2, 0, 1, *range(3, 10))}
    assert nested(flat) == {"documents": [{"id": f"p{number}"} for number in range(11)]}
