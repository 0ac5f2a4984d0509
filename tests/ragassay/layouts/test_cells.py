"""Cells of a table, and spans flattened into one."""

from __future__ import annotations

import json
from pathlib import Path

from ragassay.layouts.cells import read_rows
from ragassay.layouts.traces import nested


def test_the_apostrophe_before_what_a_spreadsheet_might_run_is_taken_away(tmp_path: Path):
    path = tmp_path / "answers.csv"
    path.write_text("query,answer\n'=1+1?,'-2\n'quoted',two\n")
    assert [list(row.fields.values()) for row in read_rows(path)] == [["=1+1?", "-2"], ["'quoted'", "two"]]


def test_rows_are_in_the_only_list_of_an_object_whatever_its_name(tmp_path: Path):
    path = tmp_path / "answers.json"
    for value, rows in (
        ({"results": [{"query": "Which?"}, {"query": "How?"}]}, [{"query": "Which?"}, {"query": "How?"}]),
        ({"version": 1, "data": [{"query": "How?"}]}, [{"query": "How?"}]),
        ({"query": "How?", "contexts": [{"text": "So."}]}, [{"query": "How?", "contexts": [{"text": "So."}]}]),
    ):
        path.write_text(json.dumps(value, indent=1))
        assert [row.fields for row in read_rows(path)] == rows


def test_lists_are_in_the_order_of_their_numbers():
    flat = {f"documents.{number}.id": f"p{number}" for number in (10, 2, 0, 1, *range(3, 10))}
    assert nested(flat) == {"documents": [{"id": f"p{number}"} for number in range(11)]}
