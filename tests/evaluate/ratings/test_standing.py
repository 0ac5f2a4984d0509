"""How the leader stands by points: hand cases and properties; the ladder itself is in statistics/test_ladder."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from ragassay.evaluate.inputs.clusters import ALONE, Clusters
from ragassay.evaluate.ratings.leader import choose, stand
from ragassay.evaluate.ratings.points import points_of
from ragassay.evaluate.ratings.verdicts import Verdict


def verdict(query, a, b, winner):
    return Verdict(query, a, b, "j", winner, None, None if winner else "failed", 2)


def duel(won, lost, tied=0, failed=0):
    """Two agents that meet once a query."""
    winners = ["a"] * won + ["b"] * lost + ["tie"] * tied + [None] * failed
    return [verdict(f"q{i:03d}", "a", "b", winner) for i, winner in enumerate(winners)]


def tournament(n_agents, n, gap, seed, fails=0.0):
    """Agent k beats agent l with chance .5 + gap (l - k) / 2, a fifth tied."""
    rng, names = random.Random(seed), "abcdefgh"[:n_agents]
    games = []
    for i in range(n):
        for (k, a), (m, b) in combinations(enumerate(names), 2):
            luck = rng.random()
            winner = None if rng.random() < fails else "tie" if luck < 0.2 else "a"
            if winner == "a" and rng.random() > 0.5 + gap * (m - k) / 2:
                winner = "b"
            games.append(verdict(f"q{i:03d}", a, b, winner))
    return games


def standing(games, clusters=ALONE, margin=0.05):
    agents = {name for one in games for name in (one.agent_a, one.agent_b)}
    return stand(points_of(games, agents, {one.query_id for one in games}), clusters, 7, margin)


def test_ties_are_half_for_ranking_and_testing_alike():
    """b ties twice as often and has as many points: neither is the best, however often the bolder wins."""
    bold = [("a", "b", None)[i % 2] for i in range(120)]
    games = []
    for i, winner in enumerate(bold):
        games += [verdict(f"q{i:03d}", "a", "b", "tie"), verdict(f"q{i:03d}", "a", "c", winner)]
        games += [verdict(f"q{i:03d}", "b", "c", "tie")]
    found = standing(games)
    assert found.untold == ("b", "c") and not found.decided
    assert found.differences["b"].value == found.differences["c"].value == 0


@pytest.mark.parametrize("failed", [0, 4, 8, 12])
def test_failed_games_count_against_the_leader_and_how_many_undo_it_is_said(failed):
    found = standing(duel(30, 12, failed=failed))
    alone, undone = standing(duel(30, 12)), found.overturned_by
    assert alone.decided and alone.overturned_by is None

    def holds(lost):
        return ttest_1samp([1.0] * 30 + [-1.0] * (12 + lost), 0, alternative="greater").pvalue <= 0.0225

    assert found.decided == holds(failed) and (undone is None) == holds(failed)
    assert undone is None or (holds(undone - 1) and not holds(undone))


def test_safe_and_equal_hang_on_the_margin():
    games = duel(102, 98, tied=200)
    tight, wide = standing(games, margin=0.02), standing(games, margin=0.1)
    assert not tight.safe and not tight.equal and wide.safe and wide.equal and not wide.decided
    points = points_of(games, "ab", {one.query_id for one in games})
    choice = choose(wide, points, 0.1)
    assert choice.sentence == "a and b are equal for practice, within 10 points: take the cheaper."
    assert choice.claims == {
        "equal": "a is not ahead of b by 10 points or more.",
        "safe": "No other agent is ahead of a by 10 points or more.",
    }


def test_who_has_not_met_is_not_told():
    games = [verdict(f"q{i:03d}", a, b, "a") for i in range(40) for a, b in (("a", "b"), ("b", "c"))]
    found = standing(games)
    assert found.strangers == (("a", "c"),) and not found.told and not found.safe
    points = points_of(games, "abc", {one.query_id for one in games})
    assert "a and c have no verdict on each other" in choose(found, points).sentence


def test_a_judge_that_guesses_gives_no_leader():
    games = duel(40, 2)
    choice = choose(standing(games), points_of(games, "ab", [one.query_id for one in games]), guesses="It guesses.")
    assert choice.leader is None and not choice.decided and choice.sentence.endswith("It guesses.")


@pytest.mark.parametrize("n", [2, 5])
def test_below_six_queries_or_sections_nothing_is_decided(n):
    assert not standing(duel(n, 0)).decided
    many = duel(30, 0)
    sections = Clusters.named([one.query_id for one in many], [f"s{i % n}" for i in range(30)])
    found = standing(many, sections)
    assert (found.decided, found.safe, found.equal) == (False, False, False)
    assert (found.n_queries, found.n_sections) == (30, n) and found.possible_best == ("a", "b")


def test_one_agent_or_none_has_no_standing():
    assert stand(points_of([], ["a"], []), ALONE, 7) is None
    assert standing([verdict("q", "a", "b", None)]) is None


@given(
    st.integers(2, 6),
    st.integers(2, 40),
    st.sampled_from([0.0, 0.1, 0.3]),
    st.sampled_from([0.0, 0.1]),
    st.integers(0, 9999),
)
def test_the_order_of_games_and_names_changes_nothing(n_agents, n, gap, fails, seed):
    games = tournament(n_agents, n, gap, seed, fails)
    queries = sorted({one.query_id for one in games})
    sections = Clusters.named(queries, [f"s{i // 2}" for i in range(len(queries))])
    found = standing(games, sections)
    if found is None:
        return
    assert standing(list(reversed(games)), sections) == found
    assert found.possible_best == found.order[: len(found.possible_best)]
    assert list(found.p_best.values()) == sorted(found.p_best.values(), reverse=True)
    assert found.told == found.order[len(found.possible_best) :]


def test_loss_falls_with_queries_and_with_the_lead_and_is_never_quite_nothing():
    loss = [standing(games).expected_loss for games in (duel(11, 9), duel(110, 90), duel(15, 5))]
    assert loss[0] > loss[1] and loss[0] > loss[2]
    same = [standing(duel(n, 0)).expected_loss for n in (2, 8)]
    assert same[0] > same[1] > 0 and standing(duel(1, 0)).expected_loss is None
