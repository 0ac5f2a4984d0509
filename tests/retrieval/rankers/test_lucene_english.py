"""Lucene's EnglishAnalyzer: what its own tests expect, and Porter's program beside NLTK's copy of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.retrieval.rankers.analysis import LONGEST, make_lucene_english, tokens
from ragassay.retrieval.rankers.bm25 import Lexical, read_stop_words


def terms(text: str) -> list[str]:
    return make_lucene_english()([text])[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("books", ["book"]),
        ("book", ["book"]),
        ("the", []),
        ("steven's", ["steven"]),
        ("steven\u2019s", ["steven"]),
        ("steven\uff07s", ["steven"]),
        ("The quick brown fox's JUMPED over the lazy dogs", ["quick", "brown", "fox", "jump", "over", "lazi", "dog"]),
    ],
)
def test_what_lucenes_test_of_the_english_analyzer_expects(text: str, expected: list[str]):
    """org.apache.lucene.analysis.en.TestEnglishAnalyzer, and a sentence that OpenSearch's `english` was asked."""
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("O'Reilly", ["O'Reilly"]),
        ("you're she's Jim's don't O'Reilly's", ["you're", "she's", "Jim's", "don't", "O'Reilly's"]),
        ("21.35 216.239.63.104 R2D2 C3PO B2B 1-2", ["21.35", "216.239.63.104", "R2D2", "C3PO", "B2B", "1", "2"]),
        ("some-dashed-phrase dogs,chase,cats ac/dc", ["some", "dashed", "phrase", "dogs", "chase", "cats", "ac", "dc"]),
        ("David has 5000 bones", ["David", "has", "5000", "bones"]),
        ("moa\u0300 \u6211\u662f", ["moa\u0300", "\u6211", "\u662f"]),
        ("abcd foo.bar a:b 1:2 pgm_read_byte __ _a", ["abcd", "foo.bar", "a:b", "1", "2", "pgm_read_byte", "_a"]),
        ("x\u00b2 \u00a9 4\u00bd", ["x", "\u00a9", "4"]),
    ],
)
def test_the_standard_tokenizers_tokens(text: str, expected: list[str]):
    """The first rows are of Lucene's TestStandardAnalyzer; the last two were asked of OpenSearch's `standard`."""
    assert tokens(text) == expected


def test_a_token_is_cut_after_255_characters():
    assert [len(token) for token in tokens("a" * (2 * LONGEST + 3) + " b")] == [LONGEST, LONGEST, 3, 1]


@given(
    st.text(alphabet="abceilnogrsty", min_size=1, max_size=9),
    st.sampled_from(["", "bly", "bli", "ably", "blies", "ly"]),
)
def test_stems_are_those_of_porters_program(stem: str, ending: str):
    """NLTK's copy, in the mode that follows the program but for words in -logi, which are left out."""
    nltk_stem = pytest.importorskip("nltk.stem")
    word = stem + ending
    if "log" in word or make_lucene_english(())([word]) == [[]]:
        return
    porter = nltk_stem.PorterStemmer(mode="MARTIN_EXTENSIONS")
    assert make_lucene_english(())([word])[0] == [porter.stem(word)]


def test_the_two_endings_in_which_porters_program_departs_from_his_paper():
    """By hand from PorterStemmer.java: -bli becomes -ble and -logi -log where a vowel-consonant comes before."""
    assert terms("possibly assemblies publicly ably archaeology biology") == [
        "possibl",
        "assembl",
        "publicli",
        "abli",
        "archaeolog",
        "biologi",
    ]


def test_stop_words_of_a_file_take_the_place_of_an_analyzers_own(tmp_path):
    (tmp_path / "stop").write_text("Fox\n\nover\n")
    for name in ("by-language", "lucene-english"):
        analyze = Lexical(name, tmp_path / "stop").make_analyzer("en")
        assert analyze(["The foxes fox over"]) == [["the", "fox"]]


@pytest.mark.parametrize(
    ("text", "says"), [("a b\n", "stop:1: has 2 words, stop words stand one a line"), ("\n", "holds no stop words")]
)
def test_a_file_that_holds_no_stop_words(tmp_path, text: str, says: str):
    (tmp_path / "stop").write_text(text)
    with pytest.raises(InputError, match=says):
        read_stop_words(tmp_path / "stop")


def test_lucenes_english_is_for_english_and_parameters_have_a_range():
    with pytest.raises(InputError, match="lucene-english is for English, and the language is 'de'"):
        Lexical("lucene-english").make_analyzer("de")
    for wrong in ({"k1": -0.1}, {"k1": float("nan")}, {"b": 1.1}, {"b": float("nan")}):
        with pytest.raises(InputError, match="is"):
            Lexical(**wrong)
