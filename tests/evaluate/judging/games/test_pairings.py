"""Which agents meet on which queries: all, or what adaptive play chooses."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from ragassay.evaluate.inputs.clusters import ALONE
from ragassay.evaluate.judging.games.adaptive import Design, choose, decide
from ragassay.evaluate.judging.games.pairings import adaptive_meetings, all_pairs

SIX = ("bm25-rag", "knn-rag", "hybrid-rag", "bm25-rag-fusion", "knn-rag-fusion", "hybrid-rag-fusion")
QUERIES = [f"q{n:02d}" for n in range(60)]


def judge(strength, seed=1, asked=None):
    """Plays by strengths; each game has its own chance, whenever it is played."""

    def play(meetings):
        if asked is not None:
            asked.append(list(meetings))
        scores = []
        for query, (a, b) in meetings:
            chance = 1 / (1 + np.exp(strength[b] - strength[a]))
            scores.append(float(random.Random(f"{seed}:{query}:{a}:{b}").random() < chance))
        return scores

    return play


def meet(play, agents=SIX, queries=QUERIES, seed=7, max_share=0.5):
    return adaptive_meetings(agents, queries, ALONE, play, seed, 0.95, max_share)


def test_all_is_every_pair():
    assert len(all_pairs(SIX)) == 15 and all_pairs(("alone",)) == []


def test_one_agent_or_no_query_has_nothing_to_play():
    assert meet(judge({}), agents=("alone",)) == set() == meet(judge({}), queries=[])


def test_equal_agents_play_the_whole_budget_and_every_pair_its_share():
    met = meet(judge(dict.fromkeys(SIX, 0.0)))
    assert len(met) == 450
    played = Counter(pair for _, pair in met)
    assert set(played) == set(combinations(SIX, 2)) and set(played.values()) == {30}


def test_clear_agents_stop_early():
    asked = []
    met = meet(judge({agent: 4.0 * n for n, agent in enumerate(SIX)}, asked=asked))
    assert len(met) == sum(map(len, asked)) < 0.25 * 15 * len(QUERIES)


def test_open_pairs_play_more_than_decided_ones():
    strength = dict.fromkeys(SIX, 0.0) | {"bm25-rag": 6.0}
    played = Counter(pair for _, pair in meet(judge(strength)))
    decided = [count for pair, count in played.items() if "bm25-rag" in pair]
    still_open = [count for pair, count in played.items() if "bm25-rag" not in pair]
    assert max(decided) < min(still_open)


def test_no_game_is_played_twice_and_the_path_hangs_on_seed_and_scores_alone():
    one, two, other = [], [], []
    met = meet(judge(dict.fromkeys(SIX, 0.0), asked=one))
    assert meet(judge(dict.fromkeys(SIX, 0.0), asked=two), queries=QUERIES[::-1]) == met
    meet(judge(dict.fromkeys(SIX, 0.0), asked=other), seed=8)
    assert one == two and one[0] != other[0]
    flat = [meeting for part in one for meeting in part]
    assert len(flat) == len(set(flat)) == len(met)


@pytest.mark.parametrize("max_share", [0.05, 0.3, 1.0])
def test_the_budget_holds_once_every_pair_has_met(max_share):
    met = meet(judge(dict.fromkeys(SIX, 0.0)), max_share=max_share)
    budget = max(15 * 6, int(max_share * 15 * 60))
    assert budget - 15 < len(met) <= budget


def test_games_without_a_verdict_end_too():
    assert len(meet(lambda meetings: [None] * len(meetings))) == 450


def test_what_follows_from_decided_pairs_is_decided():
    z = np.array([[9.0, 0.1, 9.0]])  # a-b, a-c, b-c
    decided = decide(z, np.zeros((1, 3), dtype=np.intp), Design(3, 50))
    assert decided.tolist() == [[1, 1, 1]]


def test_a_round_decides_nothing_that_chance_alone_would_show():
    """The limit of Bonferroni over 10 looks and 15 pairs at 5% is 3.59 standard errors."""
    design, still_open = Design(6, 100), np.zeros((1, 15), dtype=np.intp)
    assert design.looks == 10
    assert not decide(np.full((1, 15), 3.58), still_open, design).any()
    assert decide(np.full((1, 15), 3.60), still_open, design).all()


def test_looking_often_does_not_part_equal_agents():
    """Without a limit shared out over the looks, every sixth run would stop with an order of two equal agents."""
    runs, stopped = 120, 0
    for seed in range(runs):
        met = meet(judge(dict.fromkeys("ab", 0.0), seed), ("a", "b"), QUERIES[:40], seed, max_share=1.0)
        stopped += len(met) < 40
    assert stopped <= 0.05 * runs


def test_an_open_pair_plays_a_batch_and_a_decided_one_a_quarter():
    decided, left = np.array([[1, 0, 0]]), np.array([[50, 50, 4]])
    assert choose(decided, left, np.array([100]), Design(3, 100)).tolist() == [[3, 10, 4]]
    assert choose(decided, left, np.array([8]), Design(3, 100)).tolist() == [[1, 4, 1]], "the same part of each"
    assert not choose(decided, np.array([[50, 0, 0]]), np.array([100]), Design(3, 100)).any(), "none open has any left"


def test_with_the_whole_budget_open_pairs_meet_on_all_queries_and_decided_ones_do_not():
    met = meet(judge(dict.fromkeys(SIX, 0.0) | {"bm25-rag": 6.0}), max_share=1.0)
    played = Counter(pair for _, pair in met)
    assert {count for pair, count in played.items() if "bm25-rag" not in pair} == {len(QUERIES)}
    assert max(count for pair, count in played.items() if "bm25-rag" in pair) < len(QUERIES) / 2
