"""Places of queries as a part of an address: written and read again, and whatever one types is no error."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragassay.workbench.asked import MOST, read, written

PLACES = st.lists(st.integers(0, 20_000), unique=True, max_size=300)


def test_runs_are_written_short():
    assert written([3, 17, 18, 19, 20, 4]) == "3,17-20,4"


@given(PLACES)
def test_what_is_written_is_read_again_in_its_order(places: list[int]):
    assert read(written(places)) == places


@given(st.text(alphabet="0123456789,-x ", max_size=60))
def test_any_text_names_at_most_so_many_places(text: str):
    assert len(read(text)) <= MOST


def test_a_run_without_end_is_cut():
    assert read("5-999999999") == list(range(5, 5 + MOST))
