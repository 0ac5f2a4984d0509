"""Points by query: hand cases, failures, and the linearised mean of adaptive play."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.ratings.points import points_of
from ragassay.evaluate.ratings.verdicts import Verdict


def verdict(query, a, b, winner):
    return Verdict(query, a, b, "j", winner, None, None if winner else "failed", 2)


def row(points, agent, what="seen"):
    return dict(zip(points.queries, getattr(points, what)[points.agents.index(agent)].tolist(), strict=True))


def test_a_win_is_one_a_tie_a_half_and_a_query_the_mean_over_opponents():
    points = points_of(
        [verdict("q1", "a", "b", "a"), verdict("q1", "a", "c", "tie"), verdict("q1", "b", "c", "b")],
        "abc",
        ["q1", "q2"],
    )
    assert row(points, "a")["q1"] == 0.75 and row(points, "b")["q1"] == 0 and row(points, "c")["q1"] == 0.75
    assert np.isnan(row(points, "a")["q2"]) and points.values()["a"]["q2"] is None
    assert points.order == ("a", "c", "b") and points.lost is points.seen is points.won


def test_the_worst_and_the_best_of_a_game_that_the_judge_failed():
    points = points_of(
        [verdict("q", "a", "b", "a"), verdict("q", "a", "c", None), verdict("q", "b", "c", "b")], "abc", ["q"]
    )
    assert [row(points, "a", what)["q"] for what in ("seen", "lost", "won")] == [1.0, 0.5, 1.0]
    assert [row(points, "c", what)["q"] for what in ("seen", "lost", "won")] == [1.0, 0.5, 1.0]
    assert [row(points, "b", what)["q"] for what in ("seen", "lost", "won")] == [0.0, 0.0, 0.0]
    assert sorted(points.failures.tolist()) == [[0, 2, 0], [2, 0, 0]] and points.n_failed == 1


def test_an_answer_that_failed_loses_and_is_no_doubt_about_the_other():
    games = [verdict("q", "a", "b", None), verdict("q", "a", "c", None), verdict("q", "b", "c", "a")]
    points = points_of(games, "abc", ["q"], unanswered={"a": {"q"}})
    assert row(points, "a", "lost")["q"] == 0 and np.isnan(row(points, "a", "won")["q"])
    assert row(points, "b", "seen")["q"] == 1 and row(points, "b", "lost")["q"] == row(points, "b", "won")["q"] == 1
    assert row(points, "c", "lost")["q"] == row(points, "c", "won")["q"] == 0.5
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
