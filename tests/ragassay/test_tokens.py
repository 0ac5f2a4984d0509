"""How many of the first passages fit: the first that crosses the limit ends the row."""

from __future__ import annotations

import pytest

from ragassay.prompts import count_tokens, how_many_fit, passage_tokens
from ragassay.records import Passage


@pytest.mark.parametrize(
    ("tokens", "limit", "n"),
    [([3, 4, 5], 12, 3), ([3, 4, 5], 11, 2), ([3, 9, 1], 5, 1), ([9, 1], 5, 0), ([], 5, 0), ([5], 5, 1)],
)
def test_the_passages_up_to_the_one_that_crosses_the_limit_fit(tokens: list[int], limit: int, n: int) -> None:
    assert how_many_fit(tokens, limit) == n


def test_a_passage_takes_its_title_and_its_text() -> None:
    assert passage_tokens(Passage(id="p", title="Idle mode", text="It sleeps.")) == count_tokens("Idle mode It sleeps.")
