"""Terms against examples from Lucene's and Snowball's own documentation and tests, and Porter's program."""

from __future__ import annotations

from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.retrieval.rankers.analysis import (
    LONGEST,
    language_code,
    make_analyzer,
    make_lucene_english,
    rounded_lengths,
    tokens,
)
from ragassay.retrieval.rankers.bm25 import Bm25, Lexical, LuceneBm25, read_stop_words


def terms(text: str, language: str = "en") -> list[str]:
    return make_analyzer(language)([text])[0]


@pytest.mark.parametrize(
    ("word", "stem"),  # the examples of Porter's paper (1980), by rule
    [("caresses", "caress"), ("ponies", "poni"), ("plastered", "plaster"), ("hopping", "hop"), ("relational", "relat"),
     ("generalizations", "gener"), ("oscillators", "oscil"), ("triplicate", "triplic"), ("controll", "control")],
)  # fmt: skip
def test_english_is_stemmed_by_porters_algorithm(word: str, stem: str) -> None:
    assert terms(word) == [stem]


def test_english_as_in_lucenes_tests_of_its_english_analyzer() -> None:
    # TestEnglishAnalyzer: possessive removal and stop words
    assert terms("books book the steven's steven\u2019s") == ["book", "book", "steven", "steven"]


def test_without_stems_words_stay_and_stop_words_go() -> None:
    assert make_analyzer("en", stem=False)(["books of the steven's relational"])[0] == ["books", "steven", "relational"]


def test_identifiers_numbers_and_abbreviations_stay_whole() -> None:
    # Unicode Annex 29: ExtendNumLet joins, MidNumLet and MidNum do not break within letters or digits
    assert terms("Call pgm_read_byte() from <avr/io.h>, at 3.3V or 1,000.5 Hz.") == [
        "call", "pgm_read_byt", "from", "avr", "io.h", "3.3v", "1,000.5", "hz",
    ]  # fmt: skip


def test_text_from_pdfs_is_folded() -> None:
    assert terms("ﬁrm\u00adware ＡＶＲ") == ["firmwar", "avr"]


def test_chinese_and_japanese_become_bigrams_as_in_lucenes_cjk_analyzer() -> None:
    # TestCJKAnalyzer.testJa1, testJa2, and its mixed text
    assert terms("一二三四五六七八九十", "ja") == [a + b for a, b in pairwise("一二三四五六七八九十")]
    assert terms("一 二三四 五六七八九 十", "ja") == ["一", "二三", "三四", "五六", "六七", "七八", "八九", "十"]
    assert terms("あいうえおabcかきくけこ", "ja") == [
        "あい", "いう", "うえ", "えお", "abc", "かき", "きく", "くけ", "けこ",
    ]  # fmt: skip


def test_elided_articles_do_not_hide_a_word() -> None:
    # TestElision: "Plop, juste pour voir l'embrouille avec O'brian. M'enfin."
    assert terms("l'embrouille", "fr") == terms("embrouille", "fr")
    assert terms("dell'acqua", "it") == terms("acqua", "it")
    assert terms("aujourd'hui", "fr") != terms("hui", "fr")


def test_combining_marks_belong_to_their_word() -> None:
    assert terms("हिन्दी भाषा", "hi") == make_analyzer("hi")(["हिन्दी", "भाषा"])[0] + make_analyzer("hi")(["भाषा"])[0]
    assert len(terms("ไทย", "th")) == 2
    assert terms("e\u0301te\u0301", "fr") == terms("été", "fr")


def test_turkish_capital_i_is_the_dotless_one() -> None:
    assert terms("ISI", "tr") == terms("ısı", "tr")


@pytest.mark.parametrize(("given", "code"), [("en-US", "en"), ("pt_BR", "pt"), ("German", "de"), ("english", "en")])
def test_languages_by_code_region_or_name(given: str, code: str) -> None:
    assert language_code(given) == code


def test_an_unknown_language_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"corpus\.language: 'klingon' is not a language code; use a two-letter one"):
        make_analyzer("klingon")


@example("S", "en")
@given(st.text(), st.sampled_from(["en", "fr", "tr", "ja", "hi", "uk", "th"]))
def test_any_text_has_terms_without_white_space(text: str, language: str) -> None:
    for term in terms(text, language):
        assert term and term == "".join(term.split())


@given(st.lists(st.text(max_size=20), max_size=4))
def test_a_text_has_the_same_terms_alone_and_among_others(texts: list[str]) -> None:
    analyze = make_analyzer("en")
    assert analyze(texts) == [analyze([text])[0] for text in texts]


def lucene_terms(text: str) -> list[str]:
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
    assert lucene_terms(text) == expected


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
    assert lucene_terms("possibly assemblies publicly ably archaeology biology") == [
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


def rounded(*lengths: int) -> list[int]:
    return rounded_lengths(np.array(lengths, np.int64)).tolist()


def test_the_lengths_that_lucene_explains_as_approximate():
    """What `explain` prints as dl: every length to 40, then steps of 2, 4, 8, …"""
    kept = [*range(41), 42, 44, 46, 48, 50, 52, 54, 56, 60, 64, 68, 72, 76, 80, 84, 88, 96, 104, 112, 120, 128]
    kept += [136, 144, 152, 168, 184, 200, 216, 232, 248, 264, 280, 312]
    assert rounded(*kept) == kept
    assert sorted(set(rounded(*range(313)))) == kept
    assert rounded(2**31 - 1)[0] <= 2**31 - 1


@given(st.integers(0, 2**31 - 1))
def test_a_length_is_rounded_down_by_less_than_an_eighth_and_only_once(length: int):
    (kept,) = rounded(length)
    assert kept <= length and length - kept < max(1, length / 8)
    assert rounded(kept) == [kept]


def test_scores_are_bm25s_of_the_rounded_length_over_the_exact_mean():
    """By the formula: a term of one passage of 41 terms (kept as 40) and none of the other's 43 (mean 42)."""
    texts = ["x " + "y " * 40, "z " * 43]
    idf = log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    for engine, length in ((LuceneBm25, 40), (Bm25, 41)):
        ((found,),) = engine(["a", "b"], texts, lambda rows: [row.split() for row in rows], k1=0.9, b=0.4).search(
            ["x"], 5
        )
        assert found[1] == pytest.approx(idf / (1 + 0.9 * (1 - 0.4 + 0.4 * length / 42)), abs=1e-6)
