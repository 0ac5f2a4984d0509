"""The order in which a plan is asked, and how many queries a run is likely to take."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.looks import likely, ordered
from ragassay.experiment.settings import RunSettings
from ragassay.records import Query


def asked(sections: list[tuple[str, int]]) -> list[Query]:
    """So many queries of each (model, number) section."""
    return [
        Query(id=f"{at}-{n}", text=f"What is {at} {n}?", metadata={"model": model, "doc": "d", "section": f"s{at}"})
        for at, (model, size) in enumerate(sections)
        for n in range(size)
    ]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 5)), min_size=1, max_size=30), st.integers(0, 9))
def test_sections_stay_whole_and_the_order_hangs_on_the_seed_alone(sections: list[tuple[str, int]], seed: int) -> None:
    queries = asked(sections)
    found = ordered(queries, seed)
    assert sorted(q.id for one in found for q in one) == sorted(q.id for q in queries)
    assert all(len({q.metadata["section"] for q in one}) == 1 for one in found) and len(found) == len(sections)
    mixed = random.Random(seed).sample(queries, len(queries))
    assert [[q.id for q in one] for one in ordered(mixed, seed)] == [[q.id for q in one] for one in found]


def test_beginnings_have_writers_in_the_shares_of_all() -> None:
    found = ordered(asked([("a", 1)] * 60 + [("b", 1)] * 20), 7)
    first = Counter(one[0].metadata["model"] for one in found[:12])
    assert first == {"a": 9, "b": 3}


@pytest.mark.parametrize(("lead", "mean", "most"), [(0.10, 220, 320), (0.14, 139, 200)])
def test_a_plan_foresees_what_the_design_was_simulated_to_take(lead: float, mean: float, most: float) -> None:
    """Six agents, ten looks at 400 queries, luck .4: the design's table, by games and the whole procedure."""
    told = likely(400, RunSettings(until="best", looks=10), [lead] * 5, 0.39)
    assert (told.mean, told.most) == (pytest.approx(mean, rel=0.1), pytest.approx(most, abs=40))


def test_equal_agents_are_seldom_called_and_equals_are_good_enough_later() -> None:
    best = likely(400, RunSettings(until="best"), [0.0], 0.39)
    safe = likely(2000, RunSettings(until="good-enough"), [0.0], 0.39)
    assert best.ends_early < 0.03 and safe.ends_early > 0.95
