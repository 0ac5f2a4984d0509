"""Text for spreadsheets: no cell is run, and what goes out to be read back comes back the same."""

from __future__ import annotations

import pytest

from ragassay.text import csv_cell, csv_text, safe_cell


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "＝1", "  =1+1", "\u00a0-1"])
def test_what_begins_a_formula_gets_an_apostrophe(text: str):
    assert csv_cell(text) == f"'{text}" and csv_text(csv_cell(text)) == text
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "1 - 1", "'=1", "''=1", "'quoted'", "a\n=1", "\t1"])
def test_every_cell_comes_back_as_it_was(text: str):
    assert csv_text(csv_cell(text)) == text


@pytest.mark.parametrize("text", ["a - b", "", "what = is", "'s"])
def test_what_a_spreadsheet_shows_as_it_is_stays(text: str):
    assert csv_cell(text) == safe_cell(text) == text
