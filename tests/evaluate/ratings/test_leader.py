"""Who leads, who is told from whom, and what is said: one answer, whatever the tournament."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp
from support.often import often

from ragassay.evaluate.inputs.clusters import ALONE, Clusters
from ragassay.evaluate.judging.adaptive import adaptive_meetings
from ragassay.evaluate.ratings.leader import choose, rank_intervals, stand
from ragassay.evaluate.ratings.verdicts import SCORES, Points, Verdict, points_of
from ragassay.evaluate.results import POINTS
from ragassay.evaluate.statistics.paired_comparison import FromLeader, ValueTable, compare_pairs


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
    assert "equal for practice, within 10 points" in choice.sentence
    assert choice.claims.keys() == {"equal", "safe"} and all("by 10 points" in one for one in choice.claims.values())


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


SEEDS, EACH = range(often(10)), 25
MARGIN = 0.05


@dataclass(frozen=True)
class Tournament:
    """Points by the verdicts, and the sections of the queries."""

    points: Points
    clusters: Clusters


def any_tournament(rng):
    """Of 2 to 6 agents on 4 to 60 queries: far apart or level, with ties, failures, sections, all games or some."""
    agents = [f"agent-{place}" for place in rng.permutation(int(rng.integers(2, 7)))]
    queries = [f"q{place:03d}" for place in range(int(rng.integers(4, 61)))]
    sections = rng.integers(0, rng.choice([3, 10, 200]), len(queries))
    clusters = Clusters.named(queries, [f"s{one}" for one in sections])
    level = rng.choice([0.0, 0.3, 1.2]) * rng.standard_normal(len(agents))
    luck = dict(zip(agents, level[:, None] + 0.6 * rng.standard_normal((len(agents), len(queries))), strict=True))
    tie, fails = rng.choice([0.0, 0.3, 0.8, 9.0], p=[0.3, 0.3, 0.3, 0.1]), rng.choice([0.0, 0.0, 0.01, 0.2])
    silent = {agents[0]: set(rng.choice(queries, 2))} if rng.random() < 0.2 else {}

    def play(query, pair):
        if rng.random() < fails or any(query in silent.get(agent, ()) for agent in pair):
            return None
        at = queries.index(query)
        gap = luck[pair[0]][at] - luck[pair[1]][at] + rng.standard_normal()
        return "tie" if abs(gap) <= tie else "a" if gap > 0 else "b"

    met = {}

    def reveal(meetings):
        met.update({(query, pair): play(query, pair) for query, pair in meetings})
        return [None if met[one] is None else SCORES[met[one]] for one in meetings]

    how, pairs = rng.choice(["all", "some", "adaptive"], p=[0.5, 0.2, 0.3]), list(combinations(agents, 2))
    if how == "adaptive":
        adaptive_meetings(agents, queries, clusters, reveal, int(rng.integers(99)), 0.95, 0.5)
    else:
        share = 1.0 if how == "all" else rng.choice([0.02, 0.5])
        reveal([(query, pair) for query in queries for pair in pairs if rng.random() < share])
    found = [Verdict(query, *pair, "j", winner, None, None, 2) for (query, pair), winner in met.items()]
    return Tournament(points_of(found, agents, queries, unanswered=silent), clusters)


def rows_of(found, points, clusters):
    """The pairs on points as `compare` makes them."""
    values = points.values()
    table = ValueTable.of({agent: values[agent] for agent in found.order})
    leader = FromLeader(found.leader, found.differences, found.adjusted)
    return compare_pairs(POINTS, table, clusters, 1.0, 7, MARGIN, beside=False, leader=leader)


@pytest.mark.parametrize("seed", SEEDS)
def test_decided_told_possible_chances_pairs_and_ranks_say_the_same(seed):
    rng, seen = np.random.default_rng([52, seed]), set()
    for _ in range(EACH):
        one = any_tournament(rng)
        found = stand(one.points, one.clusters, 7, MARGIN)
        if found is None:
            continue
        means = dict(zip(one.points.agents, one.points.means.tolist(), strict=True))
        assert all(means[a] >= means[b] - 1e-9 for a, b in pairwise(found.order))
        assert found.possible_best == (found.leader, *found.untold) == found.order[: len(found.possible_best)]
        assert (*found.possible_best, *found.told) == found.order
        assert found.decided == (len(found.possible_best) == 1) == (not found.untold)
        chances = list(found.p_best.values())
        assert chances == sorted(chances, reverse=True) and tuple(found.p_best) in (found.order, ())
        rows = rows_of(found, one.points, one.clusters)
        of_leader = {
            ({row.agent_a, row.agent_b} - {found.leader}).pop(): row
            for row in rows
            if found.leader in (row.agent_a, row.agent_b)
        }
        for agent, row in of_leader.items():
            assert row.agent_a == found.leader and (row.verdict == "better") == (agent in found.told), row
            assert row.verdict != "worse" and row.difference == found.differences[agent]
        ranks = rank_intervals(found, rows)
        assert ranks[found.leader] == (1, len(found.possible_best))
        assert [agent for agent in found.order if ranks[agent][0] == 1] == list(found.possible_best)
        said = choose(found, one.points, MARGIN)
        assert (said.leader, said.decided, said.possible_best) == (found.leader, found.decided, found.possible_best)
        assert ("decided" in said.claims) == found.decided and ("more than chance" in said.sentence) == found.decided
        seen.add(min(2, len(found.possible_best)) if found.told else 3)
    assert seen == {1, 2, 3}, "decided, some told, none told"
