"""Windows: nothing is lost, nothing is too long."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import tiny_models

from ragassay.errors import InputError
from ragassay.evaluate.texts.sentences import n_tokens, windows


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return tiny_models.word_tokenizer(tmp_path_factory.mktemp("words"))


def test_windows_of_ten_words_by_hand(tokenizer) -> None:
    assert windows("a b c d e f g h i j", tokenizer, 4, 1) == ["a b c d", "d e f g", "g h i j"]
    assert windows("a b c", tokenizer, 4) == ["a b c"]
    assert windows(" \n", tokenizer, 4) == []
    assert windows("aa.bb cc.dd ee", tokenizer, 4) == ["aa.bb", "cc.dd ee"]


@given(st.lists(st.sampled_from(["a", "b.", "c-d", "(e)", "\n\n"]), max_size=40), st.integers(1, 9), st.integers(0, 8))
def test_every_character_is_in_a_window_and_none_is_longer_than_asked(tokenizer, words, size, overlap) -> None:
    text = " ".join(words)
    parts = windows(text, tokenizer, size, min(overlap, size - 1))
    assert all(n_tokens(part, tokenizer) <= size for part in parts)
    assert all(part in text and part == part.strip() for part in parts)
    if overlap == 0:
        assert re.sub(r"\s", "", "".join(parts)) == re.sub(r"\s", "", text)


def test_a_tokenizer_that_does_not_say_where_its_tokens_stand() -> None:
    with pytest.raises(InputError, match="where tokens stand"):
        windows("a", object(), 4)
