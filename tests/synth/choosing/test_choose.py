"""Choosing a test set: quotas, spread, any order of the pool, and nearer to people's questions than drawn by chance."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from support.question_pool import KINDS, A, B, figures, looks, planted, query, settings

from ragassay.records import Query
from ragassay.synth.choosing.choose import choose_queries
from ragassay.synth.choosing.features import Sample, default_points, energy_distance, people
from ragassay.synth.choosing.told_apart import told_apart
from ragassay.synth.questions.sample import sample_queries
from ragassay.synth.questions.slots import shares

RNG = np.random.default_rng(1)
TARGET = Sample.even(np.array(looks(30, 10, RNG), float))

traits = st.tuples(st.sampled_from([A, B, "x:c"]), st.sampled_from(list(KINDS)), st.integers(0, 5), st.booleans())
pools = st.lists(traits, min_size=1, max_size=40)
quotas = st.dictionaries(st.sampled_from([A, B, "x:d"]), st.integers(1, 8), min_size=1)


def of_kind(queries: list[Query] | tuple[Query, ...]) -> Counter[str]:
    return Counter(str(one.metadata["kind"]) for one in queries)


@given(pools, quotas, st.randoms(use_true_random=False), st.floats(0, 1))
def test_quotas_hold_and_the_order_of_the_pool_does_not_matter(
    rows: list[tuple[str, str, int, bool]], quota: dict[str, int], rng: random.Random, blind: float
) -> None:
    pool = [query(number, row) for number, row in enumerate(rows)]
    features = dict(zip([one.id for one in pool], looks(len(pool), 14, np.random.default_rng(5)), strict=True))
    chosen = choose_queries(pool, features, TARGET, settings(quota, blind=blind))
    have = Counter(row[0] for row in rows)
    n_of = {model: min(n, have[model]) for model, n in quota.items() if have[model]}
    assert Counter(one.metadata["model"] for one in chosen.queries) == n_of
    assert len({one.id for one in chosen.queries}) == len(chosen.queries)
    if chosen.queries:
        wanted = dict(zip(KINDS, shares(list(KINDS.values()), len(chosen.queries)), strict=True))
        drawn = of_kind(chosen.queries)
        assert sum(min(drawn[kind], n) for kind, n in wanted.items()) == _most(pool, n_of, wanted)
        assert bool(chosen.notices) == any(drawn[kind] < n for kind, n in wanted.items())
        assert chosen.distance is not None and chosen.drawn is not None and chosen.distance <= chosen.drawn + 1e-9
    rng.shuffle(pool)
    assert choose_queries(pool, features, TARGET, settings(quota, blind=blind)) == chosen


def _most(pool: list[Query], n_of: dict[str, int], wanted: dict[str, int]) -> int:
    """The most of the wanted kinds that the quotas can give: a flow, as a linear programme."""
    have = Counter((one.metadata["model"], one.metadata["kind"]) for one in pool)
    cells = [(model, kind) for model in n_of for kind in wanted]
    rows = [[float(model == cell[0]) for cell in cells] for model in n_of]
    rows += [[float(kind == cell[1]) for cell in cells] for kind in wanted]
    ends = [(0, have[cell]) for cell in cells]
    found = linprog([-1.0] * len(cells), A_ub=rows, b_ub=[*n_of.values(), *wanted.values()], bounds=ends)
    return round(-found.fun)


def test_the_set_is_nearer_to_peoples_than_any_that_chance_draws_and_is_not_told_apart() -> None:
    pool, features, experts = planted(100)
    target = people(experts)
    chosen = choose_queries(pool, features, target, settings({A: 20, B: 20}))
    scale = figures(pool, features).std(0)

    def distance(queries: list[Query] | tuple[Query, ...]) -> float:
        points = Sample.even(figures(queries, features) / scale)
        return energy_distance(points, Sample(target.points / scale, target.weights))

    chance = [distance(sample_queries(pool, {A: 20, B: 20}, seed)) for seed in range(20)]
    assert distance(chosen.queries) < min(chance) / 3
    wanted = told_apart(experts, [features[one.id] for one in chosen.queries], seed=7)
    drawn = told_apart(experts, [features[one.id] for one in sample_queries(pool, {A: 20, B: 20}, 7)], seed=7)
    assert wanted is not None and drawn is not None and wanted.value is not None and drawn.value is not None
    assert wanted.value < 0.6 < 0.65 < drawn.value


def test_kinds_blindness_and_spread_are_as_asked_where_the_pool_has_all_of_them() -> None:
    rows = [(m, k, s, b) for m in (A, B) for k in KINDS for s in range(9) for b in (True, False) for _ in range(2)]
    pool = [query(number, row) for number, row in enumerate(rows)]
    features = dict(zip([one.id for one in pool], looks(len(pool), 20, np.random.default_rng(3)), strict=True))
    chosen = choose_queries(pool, features, TARGET, settings({A: 24, B: 12}, blind=0.25))
    assert of_kind(chosen.queries) == {"fact": 18, "several": 9, "keyword": 9} and not chosen.notices
    assert Counter(one.metadata["section"] for one in chosen.queries) == {f"s{n}": 4 for n in range(9)}
    assert sum(bool(one.metadata["blind"]) for one in chosen.queries) == 9
    for first in (chosen.queries[:9],):
        assert len({one.metadata["section"] for one in first}) == 9
        assert len({one.metadata["doc"] for one in first[:3]}) == 3
        assert set(of_kind(first)) == set(KINDS) and {one.metadata["model"] for one in first} == {A, B}


def test_a_kind_that_is_short_is_said_and_the_others_fill_up() -> None:
    rows = [(A, "fact" if number > 1 else "keyword", number % 4, False) for number in range(30)]
    pool = [query(number, row) for number, row in enumerate(rows)]
    features = dict(zip([one.id for one in pool], looks(30, 10, np.random.default_rng(3)), strict=True))
    chosen = choose_queries(pool, features, TARGET, settings({A: 16}))
    assert of_kind(chosen.queries) == {"fact": 14, "keyword": 2}
    assert chosen.notices == (
        "the pool has only 0 of the 4 several questions, 2 of the 4 keyword questions that their share would be; "
        "the rest went to other kinds",
    )


def test_kinds_are_exchanged_among_models_where_one_alone_has_them() -> None:
    """b has nothing but facts, so that a must give all others, though it would give facts as well."""
    rows = [(A, kind, n, False) for kind in KINDS for n in range(6)] + [(B, "fact", n, False) for n in range(6)]
    pool = [query(number, row) for number, row in enumerate(rows)]
    features = dict(zip([one.id for one in pool], looks(len(pool), 10, np.random.default_rng(3)), strict=True))
    chosen = choose_queries(pool, features, TARGET, settings({A: 6, B: 6}))
    assert of_kind(chosen.queries) == {"fact": 6, "several": 3, "keyword": 3}


def test_without_a_question_nothing_is_chosen() -> None:
    assert choose_queries([], {}, TARGET, settings({A: 5})).queries == ()


def test_few_experts_are_filled_up_with_other_people() -> None:
    experts = looks(5, 10, np.random.default_rng(3))
    both, alone = people(experts), people([])
    assert both.weights[:5].sum() == 5 / 25 and abs(both.weights.sum() - 1) < 1e-12
    assert np.array_equal(alone.points, default_points()) and len(alone.points) == 72
    assert np.allclose(alone.weights, 1 / 72)


def test_a_document_only_one_model_wrote_about_is_asked_about() -> None:
    """As test_sample has it: drawn greedily, a model may spend itself on documents that others could ask about."""
    wrote = {"x:small": [0, 0, *[3] * 9], "x:big": [*[3] * 9, *[6] * 9], "x:third": [6] * 9}
    rows = [(model, "fact", section, False) for model, sections in wrote.items() for section in sections]
    pool = [query(number, row) for number, row in enumerate(rows)]
    features = dict(zip([one.id for one in pool], looks(len(pool), 10, np.random.default_rng(3)), strict=True))
    for seed in range(5):
        chosen = choose_queries(pool, features, TARGET, settings(dict.fromkeys(wrote, 1), seed=seed, kinds={"fact": 1}))
        assert {one.metadata["doc"] for one in chosen.queries} == {"d0", "d1", "d2"}


def test_with_two_questions_a_section_no_exchange_within_two_sections_brings_the_set_nearer() -> None:
    """One question of each section is kept and half are blind, so that such pairs of exchanges are all there are."""
    rng = np.random.default_rng(4)
    pool = [query(n, (A, "fact", n // 2, n % 2 == 0)) for n in range(120)]
    features = {one.id: look for one, look in zip(pool, looks(120, 12, rng), strict=True)}
    target = Sample.even(np.array(looks(40, 10, rng), float))
    found = choose_queries(pool, features, target, settings({A: 60}, kinds={"fact": 1.0}))
    both = np.concatenate([figures(pool, features), target.points])
    weights = np.concatenate([np.full(120, 0.5 / 120), target.weights / 2])
    scale = np.sqrt(weights @ (both - weights @ both) ** 2)
    scale[5:] = 0.5
    points, there = figures(pool, features) / scale, Sample(target.points / scale, target.weights)

    def distance(rows: Sequence[int]) -> float:
        return energy_distance(Sample.even(points[list(rows)]), there)

    kept = {int(one.id[2:]) // 2: int(one.id[2:]) for one in found.queries}
    assert len(kept) == 60 and sum(row % 2 == 0 for row in kept.values()) == 30
    assert found.distance == pytest.approx(distance(list(kept.values())))
    opposite = [(a, b) for a, b in combinations(kept, 2) if (kept[a] + kept[b]) % 2]
    for a, b in opposite:
        others = {**kept, a: kept[a] ^ 1, b: kept[b] ^ 1}
        assert distance(list(others.values())) >= found.distance - 1e-9
