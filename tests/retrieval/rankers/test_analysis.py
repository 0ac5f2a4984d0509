"""Terms against examples from Lucene's and Snowball's own documentation and tests."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.retrieval.rankers.analysis import language_code, make_analyzer


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
    assert terms("一二三四五六七八九十", "ja") == [
        "一二",
        "二三",
        "三四",
        "四五",
        "五六",
        "六七",
        "七八",
        "八九",
        "九十",
    ]
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
