"""Verdicts from both orders. Where the orders disagree it is a tie, and counts as a flip."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.results_folder import game

from ragassay.errors import InputError
from ragassay.evaluate.ratings.verdicts import Verdict, merge_verdicts, points_of, verdicts
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
        (0.9, float("nan"), "tie", True),  # what is no number makes nobody the loser
    ],
)
def test_with_probabilities_the_mean_of_both_orders_decides(p_in_order, p_in_reverse, winner, flipped):
    both = (("a", p_in_order), ("b", p_in_reverse))
    [verdict] = verdicts([row(first, "a" if p > 0.5 else "b", probability=p) for first, p in both])
    assert (verdict.winner, verdict.flipped) == (winner, flipped)
    assert verdict.probability == pytest.approx((p_in_order + p_in_reverse) / 2, nan_ok=True)


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


def verdict(query, a, b, winner):
    return Verdict(query, a, b, "j", winner, None, None if winner else "failed", 2)


def of(points, agent, what="seen"):
    return dict(zip(points.queries, getattr(points, what)[points.agents.index(agent)].tolist(), strict=True))


def test_a_win_is_one_a_tie_a_half_and_a_query_the_mean_over_opponents():
    points = points_of(
        [verdict("q1", "a", "b", "a"), verdict("q1", "a", "c", "tie"), verdict("q1", "b", "c", "b")],
        "abc",
        ["q1", "q2"],
    )
    assert of(points, "a")["q1"] == 0.75 and of(points, "b")["q1"] == 0 and of(points, "c")["q1"] == 0.75
    assert np.isnan(of(points, "a")["q2"]) and points.values()["a"]["q2"] is None
    assert points.order == ("a", "c", "b") and points.lost is points.seen is points.won


def test_the_worst_and_the_best_of_a_game_that_the_judge_failed():
    points = points_of(
        [verdict("q", "a", "b", "a"), verdict("q", "a", "c", None), verdict("q", "b", "c", "b")], "abc", ["q"]
    )
    assert [of(points, "a", what)["q"] for what in ("seen", "lost", "won")] == [1.0, 0.5, 1.0]
    assert [of(points, "c", what)["q"] for what in ("seen", "lost", "won")] == [1.0, 0.5, 1.0]
    assert [of(points, "b", what)["q"] for what in ("seen", "lost", "won")] == [0.0, 0.0, 0.0]
    assert sorted(points.failures.tolist()) == [[0, 2, 0], [2, 0, 0]] and points.n_failed == 1


def test_an_answer_that_failed_loses_and_is_no_doubt_about_the_other():
    games = [verdict("q", "a", "b", None), verdict("q", "a", "c", None), verdict("q", "b", "c", "a")]
    points = points_of(games, "abc", ["q"], unanswered={"a": {"q"}})
    assert of(points, "a", "lost")["q"] == 0 and np.isnan(of(points, "a", "won")["q"])
    assert of(points, "b", "seen")["q"] == 1 and of(points, "b", "lost")["q"] == of(points, "b", "won")["q"] == 1
    assert of(points, "c", "lost")["q"] == of(points, "c", "won")["q"] == 0.5
    assert sorted(points.failures.tolist()) == [[0, 1, 0], [0, 2, 0]]


def test_agents_without_a_verdict_are_last_and_strangers_are_named():
    games = [verdict("q1", "a", "b", "a"), verdict("q1", "c", "d", "a"), verdict("q1", "b", "c", "a")]
    points = points_of(games, "abcde", ["q1"])
    assert points.order[-1] == "e" and points.strangers == (("a", "c"), ("a", "d"), ("b", "d"))


@given(st.integers(0, 10_000))
def test_pairs_that_met_on_some_queries_count_as_the_mean_of_their_shares(seed):
    """With all verdicts there an agent's points are the mean over opponents of its mean score against each."""
    generator = np.random.default_rng(seed)
    queries = [f"q{i:02d}" for i in range(12)]
    games = [
        verdict(query, a, b, ("a", "b", "tie")[generator.integers(3)])
        for a, b in combinations("abcd", 2)
        for query in generator.permutation(queries)[: 3 + int(generator.integers(9))]
    ]
    points = points_of(games, "abcd", queries)
    for agent, mean in zip(points.agents, points.means, strict=True):
        shares = []
        for other in set("abcd") - {agent}:
            own = [one for one in games if {one.agent_a, one.agent_b} == {agent, other}]
            shares.append(np.mean([one.score_of({agent}) for one in own]))
        assert mean == pytest.approx(np.mean(shares))
    turned = points_of(list(reversed(games)), "dcba", queries)
    assert turned.agents == points.agents and turned.seen == pytest.approx(points.seen, nan_ok=True)


def test_games_that_count_alike_are_the_share_of_all():
    games = [verdict(f"g{i}", "a", "b", "a") for i in range(3)] + [verdict("g3", "a", "c", "b")]
    points = points_of(games, "abc", [f"g{i}" for i in range(4)], weigh="games")
    assert points.means.tolist() == pytest.approx([0.75, 0.0, 1.0])
