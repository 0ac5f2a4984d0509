"""What a request says: places of queries in its address, written and read again, and a form, which has an end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from ragassay.workbench.asked import LARGEST_FORM, MOST, form_of, read, written

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


@pytest.mark.parametrize(("size", "status"), [(LARGEST_FORM, 200), (LARGEST_FORM + 1, 413)])
def test_a_form_that_is_too_large_is_refused(size: int, status: int):
    async def take(request: Request) -> Response:
        return PlainTextResponse(",".join(await form_of(request)))

    client = TestClient(Starlette(routes=[Route("/form", take, methods=["POST"])]))
    assert client.post("/form", content=b"a=" + b"x" * (size - 2)).status_code == status
