"""Which agents meet: all pairs, or the balanced part of a cyclic design."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from evaluate.pairs import pairs_of

SIX = ("bm25-rag", "knn-rag", "hybrid-rag", "bm25-rag-fusion", "knn-rag-fusion", "hybrid-rag-fusion")


def test_all_is_every_pair():
    assert len(pairs_of(SIX, "all", 7, "q1")) == 15


def test_one_agent_has_nobody_to_meet():
    assert pairs_of(("alone",), "all", 7, "q1") == pairs_of(("alone",), "adaptive", 7, "q1") == []


@given(st.integers(2, 12), st.integers(0, 99), st.text(min_size=1, max_size=5))
def test_adaptive_gives_each_agent_the_same_number_of_games_and_links_all(n_agents, seed, query_id):
    agents = [f"agent{i}" for i in range(n_agents)]
    pairs = pairs_of(agents, "adaptive", seed, query_id)
    assert set(pairs) <= set(combinations(agents, 2)) and len(set(pairs)) == len(pairs)
    assert len(set(Counter(agent for pair in pairs for agent in pair).values())) == 1
    reached, frontier = {agents[0]}, [agents[0]]
    while frontier:
        here = frontier.pop()
        for pair in pairs:
            if here in pair:
                new = set(pair) - reached
                reached |= new
                frontier += new
    assert reached == set(agents)


def test_adaptive_of_six_agents_is_six_games_a_query_and_over_queries_every_pair_alike():
    games = [pairs_of(SIX, "adaptive", 7, f"q{i}") for i in range(3000)]
    assert {len(pairs) for pairs in games} == {6}
    met = Counter(pair for pairs in games for pair in pairs)
    # Each of 15 pairs is in 6/15 of the queries: 1200, with a binomial standard deviation of 27.
    assert len(met) == 15 and all(abs(count - 1200) < 4 * 27 for count in met.values())


def test_adaptive_depends_on_seed_and_query_alone():
    assert pairs_of(SIX, "adaptive", 7, "q1") == pairs_of(list(SIX), "adaptive", 7, "q1")
    drawn = {tuple(pairs_of(SIX, "adaptive", seed, query)) for seed in range(5) for query in ("q1", "q2")}
    assert len(drawn) > 5
