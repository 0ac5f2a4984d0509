"""Sentences, windows, ROUGE and repetitions: what the rules promise, on examples, by hand, and on any text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import tiny_models

from ragassay.errors import InputError
from ragassay.evaluate.texts.sentences import (
    cited,
    longest_loop,
    longest_repeat,
    n_tokens,
    rouge,
    sentences,
    windows,
    without_citations,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is so. It is not.", ["It is so.", "It is not."]),
        ("Is it? Yes! sei() does it.", ["Is it?", "Yes!", "sei() does it."]),
        ("It takes 2.5 ms at 16.0 MHz. Use delay.h 2.0.", ["It takes 2.5 ms at 16.0 MHz.", "Use delay.h 2.0."]),
        (
            "Some, e.g. Timer 0, wake it. See Fig. 3 and No. 5.",
            ["Some, e.g. Timer 0, wake it.", "See Fig. 3 and No. 5."],
        ),
        ("By Dr. J. Smith et al. in the U.S. Army.", ["By Dr. J. Smith et al. in the U.S. Army."]),
        ("It is on port B. The pin is low.", ["It is on port B.", "The pin is low."]),
        ("It does A, B, etc. The rest is idle.", ["It does A, B, etc.", "The rest is idle."]),
        (
            "In Roe v. Wade, yes. In art and art. 5, no. Then 7 do.",
            ["In Roe v. Wade, yes.", "In art and art. 5, no.", "Then 7 do."],
        ),
        ("It is art. The end. Steps: 1. Go. 2. Stop.", ["It is art.", "The end.", "Steps: 1. Go.", "2. Stop."]),
        ("It rose by 3. The end.", ["It rose by 3.", "The end."]),
        ("I looked... maybe not. No.", ["I looked... maybe not.", "No."]),
        ("it waits. then it goes on. and so on.", ["it waits.", "then it goes on.", "and so on."]),
        ("Is it so? yes! it is.", ["Is it so?", "yes!", "it is."]),
        ("Some, e.g. timers (approx. three, cf. fig. two, esp. timer 0), do.", None),
        ("He said “no.” and left (or stayed?) at 5 p.m. or so, in the U.S. army, i. e. there.", None),
        ("Wait 10 min. or so, no. three of ca. ten, in the 2. part, for 5 ms. at most etc. and so on… and on.", None),
        ("In C. elegans and E. coli, St. Louis Blvd. near the Univ. of it, by a Ph.D. student.", None),
        ("It is in delay.h. then it waits.", ["It is in delay.h.", "then it waits."]),
        ("Das gilt usw. auch, d. h. immer, bzw. dort.", None),
        ("Das gilt z.B. hier. Dort nicht.", ["Das gilt z.B. hier.", "Dort nicht."]),
        ("これは文です。次の文[1]。終わり", ["これは文です。", "次の文[1]。", "終わり"]),
    ],
)
def test_stops(text, expected):
    assert list(sentences(text)) == (expected or [text])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is so. [1][2] It is not [3].", ["It is so. [1][2]", "It is not [3]."]),
        ("It is so.[1] the rest follows.", ["It is so.[1]", "the rest follows."]),
        ("It is so.\n\n[1]", ["It is so. [1]"]),
        ("[1] says so.", ["[1] says so."]),
        ("[1]", []),
    ],
)
def test_citations_behind_the_stop_belong_to_the_sentence_before(text, expected):
    assert list(sentences(text)) == expected


def test_items_headings_rows_and_code_are_kept_apart():
    text = (
        "# Delays\nUse one\nof these:\n- `_delay_ms(1). Not` here. It waits.\n- a timer\n  that counts [2]\n"
        "1. Set it.\n2. Read it.\n\n| a. B | c |\n\n```c\nx = 1; // No. Stop.\n\ny();\n```\n[3]\nDone."
    )
    assert list(sentences(text)) == [
        "# Delays",
        "Use one of these:",
        "- `_delay_ms(1). Not` here.",
        "It waits.",
        "- a timer that counts [2]",
        "1. Set it.",
        "2. Read it.",
        "| a. B | c |",
        "```c\nx = 1; // No. Stop.\ny();\n``` [3]",
        "Done.",
    ]


@pytest.mark.parametrize("text", ["", " \n\t", "---", "…", "* * *", "```\n```"])
def test_a_text_without_words_has_none(text):
    assert sentences(text) == ()


@given(st.text(st.sampled_from('aB é1.!?。[]()`-*#|>~"\n\t ,;:_文'), max_size=200))
def test_every_letter_is_in_exactly_one_sentence(text):
    found = sentences(text)
    assert [c for part in found for c in part if c.isalpha()] == [c for c in text if c.isalpha()]
    assert all(part == part.strip() and any(c.isalnum() for c in part) for part in found)


@pytest.mark.parametrize(
    ("sentence", "numbers", "bare"),
    [
        ("It is in delay.h [1].", (1,), "It is in delay.h."),
        ("So it is. [2][4]", (2, 4), "So it is."),
        ("So [1, 3; 2] and [2-5] say [1].", (1, 3, 2, 4, 5), "So and say."),
        ("Of [0] and [99].", (0, 99), "Of and."),
        ("Since [1999] `a[1]` is 1.", (), "Since [1999] `a[1]` is 1."),
        ("```c\nx[1] = 2;\n``` [3]", (3,), "```c\nx[1] = 2;\n```"),
        ("Of [1-900].", (1, 900), "Of."),
    ],
)
def test_what_a_sentence_cites(sentence, numbers, bare):
    assert (cited(sentence), without_citations(sentence)) == (numbers, bare)


def test_a_long_run_of_ticks_or_spaces_takes_no_long_time():
    """Both took more than half a minute."""
    assert cited("`" * 100_000) == () and without_citations("`" * 100_000) == "`" * 100_000
    assert without_citations("a" + " " * 200_000 + "b [1]") == "a" + " " * 200_000 + "b"


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


def test_rouge_by_hand() -> None:
    # two of three words, one of two pairs, the longest common subsequence "the cat"
    assert rouge("The cat sat.", "the cat ran") == pytest.approx({"rouge1": 2 / 3, "rouge2": 1 / 2, "rougeL": 2 / 3})
    assert rouge("a b c d", "d c b a")["rougeL"] == pytest.approx(1 / 4)
    assert rouge("größe ändern", "Größe ändern")["rouge2"] == 1.0
    assert rouge("yes", "yes") == {"rouge1": 1.0, "rouge2": None, "rougeL": 1.0}
    assert rouge("?", "!") == {"rouge1": None, "rouge2": None, "rougeL": None}


@given(st.text("ab cd_.1", max_size=20), st.text("ab cd_.1", max_size=20))
def test_on_plain_english_rouge_is_google_s_own(one: str, other: str) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    theirs = RougeScorer(["rouge1", "rouge2", "rougeL"]).score(one, other)
    for name, value in rouge(one, other).items():
        assert value is None or value == theirs[name].fmeasure


SHORT = st.text(alphabet="ab\u4e2d\U0001f600", max_size=24)


def _by_hand(text: str) -> str:
    for length in range(len(text) // 2, 0, -1):
        for start in range(len(text) - 2 * length + 1):
            part = text[start : start + length]
            if part in text[start + length :]:
                return part
    return ""


@given(SHORT)
def test_the_longest_repeat_is_the_first_of_the_longest_parts_that_come_again(text: str) -> None:
    part = _by_hand(text)
    assert longest_repeat(text) == (part, text.count(part) if part else 0)


@given(
    st.text(alphabet="abc\u05d0\u0643", min_size=24, max_size=40),
    st.integers(3, 6),
    st.text(alphabet="xyz", max_size=9),
)
def test_what_is_said_in_a_row_is_a_loop_over_all_of_it(unit: str, times: int, around: str) -> None:
    found = longest_loop(f"{around}{unit * times}{around}")
    assert found.times >= times
    assert found.length >= len(unit) * times
