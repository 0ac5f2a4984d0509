"""How figures and untrusted text are worded, and what the plots draw."""

from __future__ import annotations

import unicodedata
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.report import plots
from ragassay.evaluate.report.wording import Kind, beside_the_verdict, dollars, measure_name, number, only_alone, shown
from ragassay.evaluate.results import Choice
from ragassay.records import Figure
from ragassay.text import one_line, untrusted


@given(st.text())
def test_untrusted_text_keeps_what_is_harmless_and_nothing_that_steers(text: str) -> None:
    out = untrusted(text)
    assert all(c == "\n" or c == "\t" or unicodedata.category(c) != "Cc" for c in out)
    assert not any(unicodedata.bidirectional(c) in {"LRE", "RLE", "LRO", "RLO", "PDF"} for c in out)
    assert not any(unicodedata.bidirectional(c) in {"LRI", "RLI", "FSI", "PDI"} for c in out)
    assert untrusted(out) == out
    out.encode("utf-8")


@pytest.mark.parametrize("text", ["plain", "naïve café", "می\u200cخواهم", "👩\u200d💻", "two\nlines", "שלום"])
def test_ordinary_text_of_any_script_is_left_alone(text: str) -> None:
    assert untrusted(text) == text


@pytest.mark.parametrize(("decided", "anyway"), [(False, " anyway"), (True, "")])
def test_what_choosing_the_leader_may_lose(decided: bool, anyway: str) -> None:
    choice = Choice(sentence="", leader="a", untold=("b",), decided=decided, expected_loss=0.02)
    assert beside_the_verdict(choice) == f"Choosing a{anyway} is expected to lose 2 points against the best."
    assert beside_the_verdict(Choice(sentence="", leader=None)) == ""


def test_line_ends_become_newlines_and_one_line_has_none() -> None:
    assert untrusted("a\r\nb\rc\u2028d\x0ce") == "a\nb\nc\nd\ne"
    assert one_line(" a\r\n\tb ") == "a b"


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (0.625, "share", "62.5%"),
        (0.41249, "measure", "0.412"),
        (-0.0001, "measure", "0.000"),
        (-0.5, "mean", "−0.50"),
        (1042.4, "rating", "1,042"),
        (0.0123, "usd", "$0.0123"),
        (12.3, "usd", "$12.30"),
        (2.44, "seconds", "2.4 s"),
        (160.0, "number", "160"),
    ],
)
def test_numbers(value: float, kind: Kind, text: str) -> None:
    assert number(value, kind) == text


@pytest.mark.parametrize(
    ("usd", "text"), [(0.0, "$0.00"), (0.0004, "$0.0004"), (0.01, "$0.01"), (0.38, "$0.38"), (1204.5, "$1,204.50")]
)
def test_sums_of_money(usd: float, text: str) -> None:
    assert dollars(usd) == text


@pytest.mark.parametrize(
    ("low", "high", "told", "joined"),
    [
        (0.01, 0.2, False, True),
        (-0.2, -0.01, False, True),
        (0.01, 0.2, True, False),
        (-0.1, 0.2, False, False),
        (0.0, 0.2, False, False),
        (None, None, False, False),
    ],
)
def test_an_interval_beyond_0_that_is_not_told_apart_says_how(
    low: float | None, high: float | None, told: bool, joined: bool
) -> None:
    figure = Figure(value=0.1, n=9, ci_low=low, ci_high=high)
    assert only_alone(figure, told, 15) == ("beyond 0 by itself, not with all 15 pairs" if joined else "")


@pytest.mark.parametrize(
    ("figure", "why"),
    [
        (None, "not computed for this agent"),
        (Figure(value=None, n=0, n_failed=3), "no value: all 3 failed"),
        (Figure(value=None, n=0), "no value: nothing to compute it from"),
        (Figure(value=None, n=4), "no value: not defined for these data"),
    ],
)
def test_a_figure_without_a_value_says_why(figure: Figure | None, why: str) -> None:
    words = shown(figure, "measure")
    assert (words.value, words.interval, words.why) == ("–", "", why)


def test_a_zero_is_a_zero() -> None:
    assert shown(Figure(value=0.0, n=4, ci_low=0.0, ci_high=0.0), "measure").value == "0.000"


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("RR(rel=2)@5", "MRR@5 very"),
        ("RR@5", "MRR@5 somewhat"),
        ("RR(rel=1)@10", "MRR@10 somewhat"),
        ("nDCG@5", "nDCG@5"),
        ("R(section)@5", "section recall@5"),
        ("latency_s", "latency"),
        ("<b>odd</b> key", "<b>odd</b> key"),
    ],
)
def test_measures_are_named_as_the_paper_does(key: str, name: str) -> None:
    assert measure_name(key) == name


values = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 6))


@given(st.lists(st.tuples(values, values, values), min_size=1, max_size=5))
def test_a_scale_holds_every_value_and_interval(rows: list[tuple[float, float, float]]) -> None:
    figures = [Figure(value=sorted(row)[1], n=3, ci_low=min(row), ci_high=max(row)) for row in rows]
    axis = plots.scale(figures)
    ends = [end for row in rows for end in row]
    slack = 1e-9 * (axis.high - axis.low)
    assert axis.low - slack <= min(ends) and max(ends) <= axis.high + slack
    assert 2 <= len(axis.ticks) <= 9 and list(axis.ticks) == sorted(set(axis.ticks))


def test_a_whisker_stands_where_the_axis_says() -> None:
    axis = plots.Scale(400, 600, (400, 500, 600))
    figure = Figure(value=550, n=4, ci_low=500, ci_high=590)
    drawn = ElementTree.fromstring(plots.whisker(figure, axis, 0, "a<b", "rating"))
    dot = next(part for part in drawn if part.tag == "circle")
    line = next(part for part in drawn if part.get("class") == "wh")
    assert (dot.get("cx"), line.get("x1"), line.get("x2")) == ("75%", "50%", "95%")
    assert drawn.get("aria-label") == "a<b: 550, interval 500 to 590"


def test_a_value_that_is_missing_draws_no_dot() -> None:
    axis = plots.scale([])
    drawn = ElementTree.fromstring(plots.whisker(Figure(value=None, n=0), axis, 0, "a", "rating"))
    assert not [part for part in drawn if part.tag == "circle"]


def test_stacked_parts_fill_the_bar_in_proportion() -> None:
    drawn = ElementTree.fromstring(
        plots.stacked([("0", "l0", 1), ("1", "l1", 0), ("2", "l2", 2), ("failed", "lf", 1)], "a")
    )
    assert [(part.get("x"), part.get("width")) for part in drawn] == [("0%", "25%"), ("25%", "50%"), ("75%", "25%")]
    assert len(ElementTree.fromstring(plots.stacked([("0", "l0", 0)], "a"))) == 0
