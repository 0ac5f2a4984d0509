"""Who is ranked with whom: blocks of more than eight agents, and anchors of those that join later."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.judging.games.played import Plan

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


@pytest.mark.parametrize("t", [9, 10, 12, 14])
def test_over_queries_every_two_agents_share_lists_of_every_size_equally_often(t):
    """The grouping is drawn anew for each query, so a pair's counts are binomial: all within five standard errors."""
    n, pairs = 2_000, every(names[:t])
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
