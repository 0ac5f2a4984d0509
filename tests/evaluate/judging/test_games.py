"""Who is ranked with whom (blocks, and anchors of those that join later), and who sits where in a list."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.judging.games import Plan, sittings, turns, williams

names = [f"agent-{n:02d}" for n in range(60)]


def queries(n):
    return [f"q{number}" for number in range(n)]


def every(agents):
    return [frozenset(pair) for pair in combinations(agents, 2)]


@pytest.mark.parametrize(
    ("t", "n_blocks"), [(2, 1), (8, 1), (9, 3), (12, 3), (13, 6), (16, 6), (17, 10), (20, 10), (60, 105)]
)
def test_the_number_of_blocks_is_that_of_pairs_of_groups_of_four(t, n_blocks):
    assert len(Plan([names[:t]], queries(3), 4, 7).blocks("q1")) == n_blocks


@given(t=st.integers(2, 24), seed=st.integers(0, 99))
def test_every_pair_meets_and_is_taken_from_exactly_one_block_that_both_sit_in(t, seed):
    for query in queries(3):
        blocks = Plan([names[:t]], queries(3), 4, seed).blocks(query)
        taken = Counter(pair for block in blocks for pair in block.pairs)
        assert taken == Counter(every(names[:t]))
        assert all(pair <= {*block.agents} for block in blocks for pair in block.pairs)
        sizes = [len(block.agents) for block in blocks]
        assert max(sizes) <= 8 and min(sizes) >= 2 and max(sizes) - min(sizes) <= 2
        assert all(len({*block.agents}) == len(block.agents) for block in blocks)


@pytest.mark.parametrize("t", [9, 12, 14])
def test_over_queries_every_two_agents_share_lists_of_every_size_equally_often(t):
    """The grouping is drawn anew for each query, so a pair's counts are binomial: all within five standard errors."""
    n, pairs = 1_000, every(names[:t])
    plan = Plan([names[:t]], queries(n), 4, 7)
    blocks = [block for query in queries(n) for block in plan.blocks(query)]
    taken = Counter((pair, len(block.agents)) for block in blocks for pair in block.pairs)
    for size in {size for _, size in taken}:
        share = sum(times for (_, of), times in taken.items() if of == size) / len(pairs) / n
        error = (n * share * (1 - share)) ** 0.5
        assert all(abs(taken[pair, size] - n * share) <= 5 * error + 1e-9 for pair in pairs)
    shared = Counter(pair for block in blocks for pair in every(block.agents))
    mean = sum(shared.values()) / len(pairs)
    assert all(abs(shared[pair] / mean - 1) < 0.15 for pair in pairs)


def test_a_pair_of_a_group_is_taken_from_each_of_its_blocks_as_often():
    """Of 16 agents a group is in three blocks; which of them a pair of it is taken from is drawn."""
    plan, homes = Plan([names[:16]], queries(600), 4, 7), Counter()
    for query in queries(600):
        blocks = plan.blocks(query)
        for pair in every(names[:16]):
            meet = [block for block in blocks if pair <= {*block.agents}]
            assert len(meet) in (1, 3)
            if len(meet) == 3:
                homes[next(at for at, block in enumerate(meet) if pair in block.pairs)] += 1
    total = sum(homes.values())
    assert total == 600 * 4 * 6 and all(abs(times - total / 3) < 5 * (total * 2 / 9) ** 0.5 for times in homes.values())


@given(
    before=st.integers(1, 12),
    new=st.integers(1, 10),
    anchors=st.integers(1, 7),
    n=st.integers(1, 25),
    seed=st.integers(0, 9),
)
def test_who_joins_later_meets_each_other_newcomer_and_anchors_in_turn(before, new, anchors, n, seed):
    old, late = names[:before], names[30 : 30 + new]
    plan = Plan([old, late], queries(n), anchors, seed)
    met = Counter(dict.fromkeys((frozenset(pair) for pair in product(old, late)), 0))
    for query in queries(n):
        blocks = [block for block in plan.blocks(query) if block.wave == 1]
        taken = Counter(pair for block in blocks for pair in block.pairs)
        assert all(times == 1 for times in taken.values()) and all(pair & {*late} for pair in taken)
        assert {*every(late)} <= {*taken} and all(len(block.agents) <= 8 for block in blocks)
        assert len(taken) == len(every(late)) + new * min(anchors, before)
        assert all(pair <= {*block.agents} for block in blocks for pair in block.pairs)
        met.update(pair for pair in taken if pair & {*old})
        if new <= 8 - min(anchors, before):
            assert len(blocks) == 1, "they sit together while there is room"
    assert max(met.values()) - min(met.values()) <= 1, "each newcomer meets each of the others equally often"


@given(first=st.integers(1, 12), new=st.integers(1, 6), seed=st.integers(0, 9))
def test_blocks_of_earlier_waves_stay_as_they_were(first, new, seed):
    one = Plan([names[:first]], queries(4), 4, seed)
    two = Plan([names[:first], names[20 : 20 + new]], queries(4), 4, seed)
    three = Plan([names[:first], names[20 : 20 + new], ["last"]], queries(4), 4, seed)
    for query in queries(4):
        blocks = [plan.blocks(query) for plan in (one, two, three)]
        assert blocks[1][: len(blocks[0])] == blocks[0] and blocks[2][: len(blocks[1])] == blocks[1]


def test_they_hang_on_names_and_seed_alone():
    one = Plan([names[:12], ["z", "y"]], queries(9), 4, 7)
    other = Plan([names[:12][::-1], ["y", "z"]], queries(9)[::-1], 4, 7)
    assert [one.blocks(query) for query in queries(9)] == [other.blocks(query) for query in queries(9)]
    assert one.blocks("q1") != Plan(one.waves, one.queries, 4, 8).blocks("q1")
    assert one.blocks("q1") != one.blocks("q2")


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
    later = turns(queries, "7", [["q99", "q98"], ["q97"]])
    assert later | one == later and sorted(later.values()) == list(range(15)) and later["q97"] == 14
