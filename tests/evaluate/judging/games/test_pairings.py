"""Which agents meet on which queries: all, or what adaptive play chooses."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from ragassay.evaluate.inputs.clusters import ALONE, Clusters
from ragassay.evaluate.judging.games.adaptive import (
    Design,
    Standing,
    adaptive_meetings,
    all_pairs,
    choose,
    decide,
    places,
    running,
    standing,
)

SIX = ("bm25-rag", "knn-rag", "hybrid-rag", "bm25-rag-fusion", "knn-rag-fusion", "hybrid-rag-fusion")
QUERIES = [f"q{n:02d}" for n in range(60)]
CLEAR = dict.fromkeys(SIX, 0.0) | {"knn-rag": 4.0, "bm25-rag": 3.7}
"""Two good agents, hard to tell apart, and four that are far behind."""


def judge(strength, seed=1, asked=None):
    """Plays by strengths; each game has its own chance, whenever it is played and whoever is named first."""

    def play(meetings):
        if asked is not None:
            asked.append(list(meetings))
        scores = []
        for query, (a, b) in meetings:
            one, other = sorted((a, b))
            chance = 1 / (1 + np.exp(strength[other] - strength[one]))
            won = random.Random(f"{seed}:{query}:{one}:{other}").random() < chance
            scores.append(float(won if a == one else not won))
        return scores

    return play


def meet(play, agents=SIX, queries=QUERIES, seed=7, max_share=0.5):
    return adaptive_meetings(agents, queries, ALONE, play, seed, 0.95, max_share)


def test_all_is_every_pair():
    assert len(all_pairs(SIX)) == 15 and all_pairs(("alone",)) == []


def test_one_agent_or_no_query_has_nothing_to_play():
    assert meet(judge({}), agents=("alone",)) == set() == meet(judge({}), queries=[])


def test_equal_agents_play_the_whole_budget():
    met = meet(judge(dict.fromkeys(SIX, 0.0)))
    played = Counter(pair for _, pair in met)
    assert 450 - 15 < len(met) <= 450
    assert set(played) == set(combinations(SIX, 2)) and min(played.values()) >= 6


def test_a_clear_best_agent_stops_play_early():
    asked = []
    met = meet(judge({agent: 4.0 * n for n, agent in enumerate(SIX)}, asked=asked))
    assert len(met) == sum(map(len, asked)) < 0.25 * 15 * len(QUERIES)


def test_who_may_be_the_best_plays_more_against_its_like_than_against_the_rest_and_the_rest_no_more_at_all():
    played = Counter(pair for _, pair in meet(judge(CLEAR)))
    best = {"knn-rag", "bm25-rag"}
    by_best = [{count for pair, count in played.items() if len(best & set(pair)) == n} for n in range(3)]
    assert max(by_best[0]) < min(by_best[1]) <= max(by_best[1]) < min(by_best[2]) == len(QUERIES)
    assert min(by_best[0]) == 6, "the first round alone"


def test_no_game_is_played_twice_and_the_path_hangs_on_seed_and_scores_alone():
    one, two, other, turned = [], [], [], []
    met = meet(judge(CLEAR, asked=one))
    assert meet(judge(CLEAR, asked=two), queries=QUERIES[::-1]) == met
    meet(judge(CLEAR, asked=other), seed=8)
    meet(judge(CLEAR, asked=turned), agents=SIX[::-1])
    assert one == two and one[0] != other[0]
    assert one == [[(query, pair[::-1]) for query, pair in part] for part in turned], "nor on the order of the agents"
    flat = [meeting for part in one for meeting in part]
    assert len(flat) == len(set(flat)) == len(met)


@pytest.mark.parametrize("max_share", [0.05, 0.3, 1.0])
def test_the_budget_holds_once_every_pair_has_met(max_share):
    met = meet(judge(dict.fromkeys(SIX, 0.0)), max_share=max_share)
    assert 90 <= len(met) <= max(90, int(max_share * 15 * 60))


def test_games_without_a_verdict_end_too():
    assert len(meet(lambda meetings: [None] * len(meetings))) == 450


@pytest.mark.parametrize("n_agents", [2, 3, 5, 6, 9])
def test_each_pair_has_an_order_of_the_queries_and_each_agent_s_games_are_spread_over_them(n_agents):
    place = places(np.arange(40), n_agents, random.Random("1"))
    assert (np.sort(place, axis=0) == np.arange(40)[:, None]).all()
    size, pairs = n_agents - 1 + n_agents % 2, np.array(list(combinations(range(n_agents), 2)))
    for agent in range(n_agents):
        own = place[:, (pairs == agent).any(axis=1)]
        games = (own < 40 // size).sum(axis=1)
        assert games.max() <= 2, "a window of 1 / size of the queries a pair, all begun evenly apart"
        assert size == 1 or len(np.unique(own[0])) == n_agents - 1, "no two of an agent's pairs begin together"


def test_the_first_queries_of_a_pair_come_from_all_sections_evenly():
    section = np.repeat(np.arange(10), [2, 2, 2, 2, 2, 6, 6, 6, 6, 6])
    place = places(section, 4, random.Random("2"))
    half = np.array([np.bincount(section[place[:, pair] < 20], minlength=10) for pair in range(6)])
    assert (np.abs(half - np.array([1] * 5 + [3] * 5)) <= 1).all()


def test_every_query_is_as_likely_to_be_among_the_first_of_a_pair():
    section = np.repeat(np.arange(3), [1, 3, 8])
    first = np.mean([places(section, 4, random.Random(f"{n}")) < 3 for n in range(4000)], axis=0)
    assert first == pytest.approx(np.full((12, 6), 0.25), abs=0.035)


def test_standing_by_hand():
    """Of three agents the first won all of 40 games, and the others half of theirs against each other."""
    scores = np.ones((1, 40, 3))
    scores[0, ::2, 2] = 0.0
    found = standing(scores, np.arange(40), 3)
    assert found.leader.tolist() == [0] and found.clusters.tolist() == [40] and np.isinf(found.ahead[0, 0])
    share = 40.25 / 40.5
    gap = 2 * share - (1 - share) - 0.5
    # Each pair's variance: its games' scatter, mixed 2 to 1 with that of games of equal agents.
    pair = (2 * 40 / 39 * 40 * np.array([(1 - share) ** 2, 0.25]) / 40.5**2 + 0.25 / 40.5) / 3
    both_shares = 4 * pair[0] + pair[0] + pair[1]
    # On the same queries the first's games scatter together; with the others', which alternate, they do not.
    same = 2 * 2 * (2 / 3) * 40 / 39 * 40 * (1 - share) ** 2 / 40.5**2
    assert found.ahead[0, 1] == pytest.approx(gap / np.sqrt(both_shares + same), rel=1e-9)


def test_the_leader_the_nearest_rival_and_who_is_within_a_standard_error_are_in_the_running():
    ahead = np.array([[np.inf, 2.0, 1.2], [0.9, np.inf, 3.0], [0.0, 0.5, np.inf]])
    found = Standing(np.array([0, 1, 2]), ahead, np.full(3, 50))
    assert running(found).tolist() == [[True, False, True], [True, True, False], [True, True, True]]


def test_a_round_decides_nothing_that_chance_alone_would_show():
    """The limit of Bonferroni over 10 looks at 5% is 2.81 standard errors, against each other agent."""
    design, leader = Design(3, 100), np.array([0])
    assert design.looks == 10
    for ahead, clusters, best in ((2.80, 50, -1), (2.81, 50, 0), (9.0, 5, -1)):
        found = Standing(leader, np.array([[np.inf, ahead, 9.0]]), np.array([clusters]))
        assert decide(found, design).tolist() == [best]


def test_two_in_the_running_play_two_batches_and_one_a_batch_against_each_other_agent():
    candidates, left, still_open = np.array([[True, True, False, False]]), np.full((1, 6), 50), np.array([False])
    design = Design(4, 100)
    assert choose(candidates, still_open, left, np.array([100]), design).tolist() == [[20, 10, 10, 10, 10, 0]]
    assert choose(candidates, still_open, left, np.array([30]), design).tolist() == [[10, 5, 5, 5, 5, 0]]
    assert choose(candidates, still_open, left - 45, np.array([100]), design).tolist() == [[5, 5, 5, 5, 5, 0]]
    assert not choose(candidates, np.array([True]), left, np.array([100]), design).any(), "the best is known"


def test_looking_often_does_not_part_equal_agents():
    """Without a limit shared out over the looks, every sixth run would stop with an order of two equal agents."""
    runs, stopped = 120, 0
    for seed in range(runs):
        met = meet(judge(dict.fromkeys("ab", 0.0), seed), ("a", "b"), QUERIES[:40], seed, max_share=1.0)
        stopped += len(met) < 40
    assert stopped <= 0.05 * runs


def test_sections_are_those_of_the_queries():
    """Sixty queries of one section stand for one: nothing is decided, though one agent wins each game."""
    one = Clusters.named(QUERIES, ["s"] * 60)
    win = judge({"a": 99.0, "b": 0.0})
    assert len(adaptive_meetings(("a", "b"), QUERIES, one, win, 7, 0.95, 1.0)) == 60
    assert len(adaptive_meetings(("a", "b"), QUERIES, ALONE, win, 7, 0.95, 1.0)) < 40
