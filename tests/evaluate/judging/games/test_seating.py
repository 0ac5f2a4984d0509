"""Who sits where in a list: Williams's squares over queries, and presentations in reverse."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.judging.games.played import sittings, turns, williams

AGENTS = ("bm25-rag", "knn-rag", "hybrid-rag", "bm25-rag-fusion", "knn-rag-fusion", "hybrid", "ours", "theirs")


def seated(agents, queries, presentations, seed):
    """By query, the lists of all agents in each presentation."""
    turn = turns(queries, f"{seed}")
    return {query: sittings(agents, turn[query], presentations) for query in queries}


def test_the_square_of_four_is_the_one_in_print():
    """ABDC, BCAD, CDBA, DACB: as in Jones and Kenward, Design and Analysis of Cross-Over Trials, of four treatments."""
    assert ["".join("ABCD"[i] for i in row) for row in williams(4)] == ["ABDC", "BCAD", "CDBA", "DACB"]


@pytest.mark.parametrize("n", range(2, 9))
def test_each_stands_equally_often_in_each_place_and_behind_each_other(n):
    rows = williams(n)
    assert len(rows) == (n if n % 2 == 0 else 2 * n)
    places = Counter((number, place) for row in rows for place, number in enumerate(row))
    behind = Counter(pair for row in rows for pair in pairwise(row))
    assert set(places.values()) == {len(rows) // n} and len(places) == n * n
    assert set(behind) == set(permutations(range(n), 2)) and len(set(behind.values())) == 1
    assert all(row[::-1] == rows[(at + len(rows) // 2) % len(rows)] for at, row in enumerate(rows))


@given(n=st.integers(2, 8), squares=st.integers(1, 3), presentations=st.integers(1, 8), seed=st.integers(0, 99))
def test_over_whole_squares_of_queries_places_and_orders_are_exactly_balanced(n, squares, presentations, seed):
    agents, queries = AGENTS[:n], [f"q{i}" for i in range(squares * len(williams(n)))]
    found = seated(agents, queries, presentations, seed)
    for number in range(presentations):
        lists = [found[query][number].agents for query in queries]
        places = Counter((agent, place) for row in lists for place, agent in enumerate(row))
        assert set(places.values()) == {len(queries) // n} and len(places) == n * n
        for one, other in combinations(agents, 2):
            assert 2 * sum(row.index(one) < row.index(other) for row in lists) == len(queries)


@given(n=st.integers(2, 8), n_queries=st.integers(1, 40), seed=st.integers(0, 99))
def test_over_any_number_of_queries_places_are_balanced_within_one(n, n_queries, seed):
    queries = [f"q{i}" for i in range(n_queries)]
    found = seated(AGENTS[:n], queries, 2, seed)
    places = Counter({(agent, place): 0 for agent in AGENTS[:n] for place in range(n)})
    places.update((agent, place) for rows in found.values() for place, agent in enumerate(rows[0].agents))
    assert max(places.values()) - min(places.values()) <= 1


def test_even_presentations_are_read_backwards_and_odd_ones_are_other_rows():
    for rows in seated(AGENTS[:6], [f"q{i}" for i in range(12)], 6, 7).values():
        assert [row.turned for row in rows] == [False, True] * 3
        assert all(one.agents == other.agents for one, other in zip(rows[::2], rows[1::2], strict=True))
        orders = {row.agents[::-1] if row.turned else row.agents for row in rows}
        assert len(orders) == 6, "six presentations of six answers are six orders"


def test_an_order_of_queries_hangs_on_their_names_and_the_seed_alone():
    queries = [f"q{i}" for i in range(12)]
    one = turns(queries, "7")
    assert sorted(one.values()) == list(range(12)) and turns(queries[::-1], "7") == one != turns(queries, "8")
