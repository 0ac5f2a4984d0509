"""Text fit to be shown: nothing in it is hidden, no spreadsheet runs it, and what is read back is the same."""

from __future__ import annotations

import pytest

from ragassay.text import csv_cell, csv_text, safe_cell, untrusted


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


@pytest.mark.parametrize("hidden", ["\u061c", "\u180e", "\u2060", "\u2069", "\ufffb", "\U000e0041", "\x1b", "\u202e"])
def test_what_a_reader_would_not_see_is_made_visible(hidden: str):
    assert untrusted(f"so{hidden}be it") == f"so\\x{ord(hidden):02x}be it"
    assert untrusted("\u0645\u06cc\u200c\u062e") == "\u0645\u06cc\u200c\u062e", "Persian is spelt with joiners"
