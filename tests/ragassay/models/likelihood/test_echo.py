"""Where a text begins among the tokens that a server echoes."""

from __future__ import annotations

import pytest

from ragassay.models.likelihood import of_text


def test_where_the_text_begins_among_tokens_that_are_not_spelt_as_they_stand() -> None:
    logprobs = [None, -1.0, -2.0, -3.0]
    assert of_text(["a", " b", " c", "d"], logprobs, "a b ", "cd") == [-2.0, -3.0]
    assert of_text(["<s>", "a ", "b", "c"], logprobs, "a ", "bc") == [-2.0, -3.0]
    assert of_text(["\ufffd", "\ufffd", " b", "c"], logprobs, "😀 ", "bc") == [-2.0, -3.0]
    with pytest.raises(ValueError, match="do not spell"):
        of_text(["\ufffd", "\ufffd", " b", "\ufffd"], logprobs, "😀 ", "b😀")


@pytest.mark.parametrize("one", [float("-inf"), float("nan"), None, True, "-1"])
def test_a_token_of_the_text_without_a_number_is_an_error(one: object) -> None:
    with pytest.raises(ValueError, match="a log-probability that is no number"):
        of_text(["a", " b", " c"], [None, -1.0, one], "a ", "b c")
