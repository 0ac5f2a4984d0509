"""Verdicts from both orders. Where the orders disagree it is a tie, and counts as a flip."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.results_folder import game

from ragassay.errors import InputError
from ragassay.evaluate.ratings.verdicts import Verdict, merge_verdicts, verdicts
from ragassay.records import IDENTICAL


def row(first, winner, *, a="bm25", b="knn", query="q1", judge="openai:j", probability=None):
    return game(query, a, b, winner, first, judge=judge, probability=probability)


def mirrored(row):
    """The same row as another tool may write it, with its agents the other way round."""
    other = {"a": "b", "b": "a", "tie": "tie", None: None}
    return row.model_copy(
        update={
            "agent_a": row.agent_b,
            "agent_b": row.agent_a,
            "first": other[row.first],
            "winner": other[row.winner],
            "probability": None if row.probability is None else 1 - row.probability,
        }
    )


@pytest.mark.parametrize(
    ("said", "winner", "flipped"),
    [
        (("a", "a"), "a", False),
        (("b", "b"), "b", False),
        (("tie", "tie"), "tie", False),
        (("a", "b"), "tie", True),
        (("b", "a"), "tie", True),
        (("a", "tie"), "tie", True),
        (("tie", "b"), "tie", True),
        ((None, "a"), None, None),
        (("b", None), None, None),
        ((None, None), None, None),
        (("a",), "a", None),
        (("b",), "b", None),
        (("tie",), "tie", None),
    ],
)
def test_two_orders_make_one_verdict_and_one_stands_as_it_is(said, winner, flipped):
    [verdict] = verdicts([row(first, one) for first, one in zip("ba", said, strict=False)])
    assert (verdict.winner, verdict.flipped, verdict.n_orders) == (winner, flipped, len(said))
    assert (verdict.error is None) == (winner is not None)


@pytest.mark.parametrize(
    ("p_in_order", "p_in_reverse", "winner", "flipped"),
    [
        (0.9, 0.3, "a", True),  # each order prefers whoever is shown first; the mean, 0.6, decides
        (0.6, 0.1, "b", True),
        (0.8, 0.7, "a", False),
        (0.7, 0.3, "tie", True),  # 0.1 + 0.2 style rounding must not decide
    ],
)
def test_with_probabilities_the_mean_of_both_orders_decides(p_in_order, p_in_reverse, winner, flipped):
    both = (("a", p_in_order), ("b", p_in_reverse))
    [verdict] = verdicts([row(first, "a" if p > 0.5 else "b", probability=p) for first, p in both])
    assert (verdict.winner, verdict.flipped) == (winner, flipped)
    assert verdict.probability == pytest.approx((p_in_order + p_in_reverse) / 2)


def test_a_margin_around_one_half_is_a_tie():
    rows = [row("a", "a", probability=0.58), row("b", "a", probability=0.56)]
    assert [v.winner for v in verdicts(rows, margin=0.1)] == ["tie"]
    assert [v.winner for v in verdicts(rows, margin=0.05)] == ["a"]


def test_a_failed_order_leaves_no_winner_even_with_the_other_order_s_probability():
    [verdict] = verdicts([row("a", "a", probability=0.99), row("b", None)])
    assert verdict.winner is None and verdict.probability is None and verdict.error == "refused"


def test_judges_and_queries_are_kept_apart():
    rows = [row("a", "a"), row("b", "b", judge="openai:other"), row("b", "b", query="q2")]
    assert [(v.query_id, v.judge, v.winner, v.n_orders) for v in verdicts(rows)] == [
        ("q1", "openai:j", "a", 1),
        ("q1", "openai:other", "b", 1),
        ("q2", "openai:j", "b", 1),
    ]


def test_a_repeated_game_is_a_verdict_of_its_own():
    rows = [row("a", "a"), row("a", "b"), row("b", "a"), row("b", "b")]
    assert [v.winner for v in verdicts(rows)] == ["a", "b"]


probabilities = st.none() | st.floats(0, 1)
game_rows = st.builds(
    row,
    st.sampled_from("ab"),
    st.sampled_from(["a", "b", "tie", None]),
    a=st.sampled_from(["x", "y"]),
    b=st.sampled_from(["z", "w"]),
    query=st.sampled_from(["q1", "q2"]),
    probability=probabilities,
)


@given(st.lists(game_rows, max_size=12), st.data())
def test_it_does_not_matter_which_agent_a_row_calls_a(rows, data):
    turned = [mirrored(one) if data.draw(st.booleans()) else one for one in rows]
    one, other = verdicts(rows), verdicts(turned)
    assert [(v.query_id, v.agent_a, v.agent_b, v.winner, v.flipped, v.error) for v in one] == [
        (v.query_id, v.agent_a, v.agent_b, v.winner, v.flipped, v.error) for v in other
    ]


@given(st.lists(game_rows, max_size=12))
def test_every_row_is_in_exactly_one_verdict(rows):
    found = verdicts(rows)
    assert sum(v.n_orders for v in found) == len(rows)
    assert all((v.winner is None) == (v.error is not None) for v in found)
    assert all(v.flipped is None or v.n_orders == 2 for v in found)


OUTCOMES = st.sampled_from(["a", "b", "tie", None])


@given(st.lists(st.tuples(OUTCOMES, OUTCOMES, st.sampled_from(["ab", "ba"])), min_size=1, max_size=6))
def test_two_presentations_of_a_list_are_two_orders_of_a_pair(played):
    """Whichever of the two presentations showed agent a first."""
    pairs, listed = [], []
    for number, (one, other, orders) in enumerate(played):
        rows = [row(first, said, query=f"q{number}") for first, said in zip(orders, (one, other), strict=True)]
        pairs += rows
        listed += [row.model_copy(update={"presentation": n}) for n, row in enumerate(rows, 1)]
    assert verdicts(pairs) == verdicts(listed)


@given(st.lists(OUTCOMES, min_size=1, max_size=8))
def test_presentations_make_one_verdict_the_winner_where_all_agree(said):
    rows = [row("ab"[n % 2], winner).model_copy(update={"presentation": n + 1}) for n, winner in enumerate(said)]
    [found] = verdicts(rows)
    assert found.n_orders == len(said) and (found.error is not None) == (found.winner is None) == (None in said)
    if None not in said:
        assert found.winner == (said[0] if len(set(said)) == 1 else "tie")
        assert found.flipped == (None if len(said) == 1 else len(set(said)) > 1)


PANEL = ("j", "k", "l")


def merged(*winners: str | None, panel: tuple[str, ...] = PANEL) -> Verdict:
    """From both orders of each judge, who are of one mind with themselves."""
    games = [game("q", "a", "b", w, f, judge=j) for j, w in zip(panel, winners, strict=False) for f in ("a", "b")]
    (one,) = merge_verdicts(verdicts(games), panel)
    return one


@pytest.mark.parametrize(
    ("winners", "expected"),
    [
        (("a", "a", "b"), "a"),
        (("b", "b", "b"), "b"),
        (("a", "b", "tie"), "tie"),
        (("a", "tie", "tie"), "tie"),
        (("a", "tie", None), "tie"),
        (("a", "a", None), "a"),
        (("a", "b", None), "tie"),
    ],
)
def test_the_winner_is_whom_more_than_half_of_the_verdicts_name(winners: tuple[str | None, ...], expected: str):
    one = merged(*winners)
    assert (one.judge, one.winner, one.error, one.flipped, one.n_orders) == ("panel", expected, None, None, 2)


def test_more_than_half_must_have_a_verdict():
    one = merged("a", None, None)
    said = "only 1 of 3 judges could say, and more than half must; k: refused; l: refused"
    assert (one.winner, one.error) == (None, said)
    two = merged("a", panel=("j", "k"))
    assert two.winner is None and "k: it was not asked" in (two.error or "")


def test_each_judges_own_orders_come_first():
    """j flips, which is its tie: the two others do not agree, and there is no majority."""
    games = [game("q", "a", "b", "a", "a", judge="j"), game("q", "a", "b", "b", "b", judge="j")]
    games += [game("q", "b", "a", w, f, judge=j) for j, w in (("k", "b"), ("l", "a")) for f in ("a", "b")]
    (one,) = merge_verdicts(verdicts(games), PANEL)
    assert (one.agent_a, one.agent_b, one.winner) == ("a", "b", "tie")


def test_games_of_a_file_that_repeats_them_meet_in_their_order():
    games = [game("q", "a", "b", w, "a", judge=j) for j in PANEL for w in ("a", "b")]
    assert [one.winner for one in merge_verdicts(verdicts(games), PANEL)] == ["a", "b"]


def test_a_stranger_is_refused():
    with pytest.raises(InputError, match="'x', who judges 'a' against 'b' for query 'q', is not of the panel"):
        merge_verdicts(verdicts([game("q", "a", "b", "a", judge="x")]), PANEL)


def test_answers_of_one_text_are_a_tie_that_was_not_asked_about_and_cannot_flip():
    rows = [row(first, "tie").model_copy(update={"reason": IDENTICAL}) for first in ("a", "b")]
    (made,) = verdicts(rows)
    assert made.winner == "tie" and made.identical
    assert made.flipped is None and made.lean is None, "it says nothing of the judge"
