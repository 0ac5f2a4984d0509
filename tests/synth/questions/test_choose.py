"""Choosing a test set: quotas, spread, any order of the pool, and nearer to people's shares than chance draws."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance
from support.question_pool import KINDS, A, B, query, settings

from ragassay.errors import InputError
from ragassay.records import Query
from ragassay.synth.questions.choose import choose, choose_looking, shared_words
from ragassay.synth.questions.own import read_keep
from ragassay.synth.questions.slots import shares

TARGET = tuple(np.random.default_rng(1).beta(3, 4, 30).round(3).tolist())

traits = st.tuples(st.sampled_from([A, B, "x:c"]), st.sampled_from(list(KINDS)), st.integers(0, 5), st.booleans())
pools = st.lists(traits, min_size=1, max_size=40)
quotas = st.dictionaries(st.sampled_from([A, B, "x:d"]), st.integers(1, 8), min_size=1)
ONE = {"kinds": {"fact": 1.0}, "blind": 0.0}


def drawn_shares(pool: Sequence[Query], seed: int = 3) -> dict[str, float]:
    values = np.random.default_rng(seed).beta(4, 3, len(pool)).round(3).tolist()
    return dict(zip([one.id for one in pool], values, strict=True))


def of_kind(queries: Sequence[Query]) -> Counter[str]:
    return Counter(str(one.metadata["kind"]) for one in queries)


def facts(n: int, sections: int = 1) -> list[Query]:
    return [query(number, (A, "fact", number % sections, False)) for number in range(n)]


@given(pools, quotas, st.randoms(use_true_random=False), st.floats(0, 1), st.integers(0, 40))
def test_quotas_hold_and_the_order_of_the_pool_does_not_matter(
    rows: list[tuple[str, str, int, bool]], quota: dict[str, int], rng: random.Random, blind: float, known: int
) -> None:
    pool = [query(number, row) for number, row in enumerate(rows)]
    some = drawn_shares(pool[:known])
    chosen = choose(pool, some, TARGET, settings(quota, blind=blind))
    have = Counter(row[0] for row in rows)
    n_of = {model: min(n, have[model]) for model, n in quota.items() if have[model]}
    assert Counter(one.metadata["model"] for one in chosen.queries) == n_of
    assert len({one.id for one in chosen.queries}) == len(chosen.queries)
    if chosen.queries:
        wanted = dict(zip(KINDS, shares(list(KINDS.values()), len(chosen.queries)), strict=True))
        found = of_kind(chosen.queries)
        assert sum(min(found[kind], n) for kind, n in wanted.items()) == _most(pool, n_of, wanted)
        assert bool(chosen.notices) == any(found[kind] < n for kind, n in wanted.items())
        if known >= len(pool):
            assert chosen.distance is not None and chosen.drawn is not None and chosen.distance <= chosen.drawn + 1e-9
    rng.shuffle(pool)
    assert choose(pool, some, TARGET, settings(quota, blind=blind)) == chosen


def _most(pool: list[Query], n_of: dict[str, int], wanted: dict[str, int]) -> int:
    """The most of the wanted kinds that the quotas can give: a flow, as a linear programme."""
    have = Counter((one.metadata["model"], one.metadata["kind"]) for one in pool)
    cells = [(model, kind) for model in n_of for kind in wanted]
    rows = [[float(model == cell[0]) for cell in cells] for model in n_of]
    rows += [[float(kind == cell[1]) for cell in cells] for kind in wanted]
    ends = [(0, have[cell]) for cell in cells]
    found = linprog([-1.0] * len(cells), A_ub=rows, b_ub=[*n_of.values(), *wanted.values()], bounds=ends)
    return round(-found.fun)


def test_the_shares_come_near_to_the_target_and_no_exchange_brings_them_nearer() -> None:
    pool = facts(60)
    of = drawn_shares(pool)
    target = np.random.default_rng(2).beta(2, 5, 20).round(3).tolist()
    chosen = choose(pool, of, target, settings({A: 20}, **ONE))
    kept = {one.id for one in chosen.queries}

    def distance(ids: Sequence[str]) -> float:
        return float(wasserstein_distance([of[id] for id in ids], target))

    assert chosen.distance == pytest.approx(distance(sorted(kept)))
    chance = [distance(random.Random(seed).sample(sorted(of), 20)) for seed in range(20)]
    assert chosen.distance < min(chance) / 2 and chosen.distance < (chosen.drawn or 0) / 2
    for out in kept:
        for into in of.keys() - kept:
            assert distance([*(kept - {out}), into]) >= chosen.distance - 1e-9


def test_without_a_target_it_is_the_half_with_the_lowest_shares() -> None:
    pool = facts(20)
    of = {one.id: (number * 7 % 20) / 20 for number, one in enumerate(pool)}
    chosen = choose(pool, of, (), settings({A: 10}, **ONE))
    assert sorted(of[one.id] for one in chosen.queries) == [number / 20 for number in range(10)]


def test_without_shares_it_is_a_draw_by_the_seed() -> None:
    pool = facts(40, sections=8)
    chosen = [choose(pool, {}, (), settings({A: 16}, seed=seed, **ONE)) for seed in range(4)]
    assert chosen[0].distance is None and chosen[0].notices == ()
    assert len({tuple(sorted(one.id for one in some.queries)) for some in chosen}) == 4
    for some in chosen:
        assert Counter(one.metadata["section"] for one in some.queries) == {f"s{n}": 2 for n in range(8)}


def test_which_of_equal_questions_is_taken_in_exchange_is_a_draw_by_the_seed() -> None:
    """Ten of two hundred share what is wanted; the one that is drawn first is hardly ever among them."""
    pool = facts(200)
    of = {one.id: float(number >= 10) for number, one in enumerate(pool)}
    chosen = [choose(pool, of, (0.0,), settings({A: 1}, seed=seed, **ONE)).queries[0].id for seed in range(20)]
    assert {of[id] for id in chosen} == {0.0} and len(set(chosen)) > 5


def test_questions_without_a_share_come_last() -> None:
    pool = facts(30)
    known = {one.id: 1.0 for one in pool[:12]}
    for target in ((0.0,), ()):
        assert known.keys() <= {one.id for one in choose(pool, known, target, settings({A: 15}, **ONE)).queries}
        assert {one.id for one in choose(pool, known, target, settings({A: 8}, **ONE)).queries} <= known.keys()


def test_kinds_blindness_and_spread_are_as_asked_where_the_pool_has_all_of_them() -> None:
    rows = [(m, k, s, b) for m in (A, B) for k in KINDS for s in range(9) for b in (True, False) for _ in range(2)]
    pool = [query(number, row) for number, row in enumerate(rows)]
    chosen = choose(pool, drawn_shares(pool), TARGET, settings({A: 24, B: 12}, blind=0.25))
    assert of_kind(chosen.queries) == {"fact": 18, "several": 9, "keyword": 9} and not chosen.notices
    assert Counter(one.metadata["section"] for one in chosen.queries) == {f"s{n}": 4 for n in range(9)}
    assert sum(bool(one.metadata["blind"]) for one in chosen.queries) == 9
    first = chosen.queries[:9]
    assert len({one.metadata["section"] for one in first}) == 9
    assert len({one.metadata["doc"] for one in first[:3]}) == 3
    assert set(of_kind(first)) == set(KINDS) and {one.metadata["model"] for one in first} == {A, B}


def test_a_kind_that_is_short_is_said_and_the_others_fill_up() -> None:
    rows = [(A, "fact" if number > 1 else "keyword", number % 4, False) for number in range(30)]
    pool = [query(number, row) for number, row in enumerate(rows)]
    chosen = choose(pool, drawn_shares(pool), TARGET, settings({A: 16}))
    assert of_kind(chosen.queries) == {"fact": 14, "keyword": 2}
    assert chosen.notices == (
        "the pool has only 0 of the 4 several questions, 2 of the 4 keyword questions that their share would be; "
        "the rest went to other kinds",
    )


def test_without_a_question_nothing_is_chosen() -> None:
    assert choose([], {}, TARGET, settings({A: 5})).queries == ()


def test_a_document_only_one_model_wrote_about_is_asked_about() -> None:
    """As test_sample has it: drawn greedily, a model may spend itself on documents that others could ask about."""
    wrote = {"x:small": [0, 0, *[3] * 9], "x:big": [*[3] * 9, *[6] * 9], "x:third": [6] * 9}
    rows = [(model, "fact", section, False) for model, sections in wrote.items() for section in sections]
    pool = [query(number, row) for number, row in enumerate(rows)]
    for seed in range(5):
        table = settings(dict.fromkeys(wrote, 1), seed=seed, kinds={"fact": 1})
        chosen = choose(pool, drawn_shares(pool), TARGET, table)
        assert {one.metadata["doc"] for one in chosen.queries} == {"d0", "d1", "d2"}


def test_with_two_questions_a_section_no_exchange_within_two_sections_brings_the_set_nearer() -> None:
    """One question of each section is kept and half are blind, so that such pairs of exchanges are all there are."""
    pool = [query(n, (A, "fact", n // 2, n % 2 == 0)) for n in range(60)]
    of = drawn_shares(pool)
    found = choose(pool, of, TARGET, settings({A: 30}, kinds={"fact": 1.0}))
    kept = {int(one.id[2:]) // 2: int(one.id[2:]) for one in found.queries}
    assert len(kept) == 30 and sum(row % 2 == 0 for row in kept.values()) == 15
    values = list(of.values())

    def distance(rows: Sequence[int]) -> float:
        return float(wasserstein_distance([values[row] for row in rows], TARGET))

    assert found.distance == pytest.approx(distance(list(kept.values()))) and found.distance < (found.drawn or 0)
    for a, b in combinations(kept, 2):
        if (kept[a] + kept[b]) % 2:
            others = {**kept, a: kept[a] ^ 1, b: kept[b] ^ 1}
            assert distance(list(others.values())) >= found.distance - 1e-9


def test_what_is_kept_stands_wherever_the_quotas_allow_and_what_is_not_there_is_said() -> None:
    pool = facts(30, sections=6)
    of = {one.id: number / 30 for number, one in enumerate(pool)}
    last = [one.id for one in pool[-6:]]
    chosen = choose(pool, of, (0.0,), settings({A: 12}, **ONE), [*last, "q-gone", "q-\x1b[1m"])
    assert set(last) <= {one.id for one in chosen.queries} and len(chosen.queries) == 12
    [notice] = chosen.notices
    assert notice.startswith("questions.keep names 2 questions (q-gone, ") and "\x1b" not in notice
    assert notice.endswith(") that are not in the pool")
    full = choose(pool, of, (0.0,), settings({A: 5}, **ONE), last)
    assert {one.id for one in full.queries} == set(last[:5])
    assert full.notices == (f"questions.keep names 1 question ({last[5]}) that is beyond the quotas",)
    others = [query(number, (B, "fact", 0, False)) for number in range(30, 40)]
    two = choose([*pool, *others], of, (0.0,), settings({A: 2, B: 3}, **ONE), last[:4])
    assert Counter(one.metadata["model"] for one in two.queries) == {A: 2, B: 3}
    assert {*last[:2]} <= {one.id for one in two.queries} and last[2] in two.notices[0] and last[3] in two.notices[0]


@given(pools, quotas, st.data())
def test_a_set_that_was_chosen_is_kept_as_it_was(
    rows: list[tuple[str, str, int, bool]], quota: dict[str, int], data: st.DataObject
) -> None:
    pool = [query(number, row) for number, row in enumerate(rows)]
    wide = settings(quota, kinds={"fact": 1.0}) if data.draw(st.booleans()) else settings(quota)
    chosen = choose(pool, drawn_shares(pool), TARGET, wide)
    if chosen.notices:
        return
    again = choose(pool, drawn_shares(pool, 9), (), wide, sorted(one.id for one in chosen.queries))
    assert again.queries == chosen.queries


@given(pools, quotas, st.integers(0, 40), st.floats(0, 1))
def test_what_is_held_stays_while_others_leave_the_pool(
    rows: list[tuple[str, str, int, bool]], quota: dict[str, int], cut: int, blind: float
) -> None:
    pool = [query(number, row) for number, row in enumerate(rows)]
    chosen = [one.id for one in choose(pool, drawn_shares(pool), TARGET, settings(quota, blind=blind)).queries]
    held, gone = set(chosen[cut:]), set(chosen[:cut])
    left = [one for one in pool if one.id not in gone]
    again = choose(left, drawn_shares(pool, 9), TARGET, settings(quota, blind=blind), held=held)
    assert held <= {one.id for one in again.queries}
    have = Counter(one.metadata["model"] for one in left)
    assert Counter(one.metadata["model"] for one in again.queries) == {
        model: min(n, have[model]) for model, n in quota.items() if have[model]
    }


@given(pools, quotas, st.floats(0, 1), st.sets(st.integers(0, 39)), st.lists(st.integers(0, 39), unique=True))
def test_those_alone_are_looked_up_that_are_chosen_and_what_something_answers_stays(
    rows: list[tuple[str, str, int, bool]], quota: dict[str, int], blind: float, unanswered: set[int], keep: list[int]
) -> None:
    pool = {one.id: one for one in (query(number, row) for number, row in enumerate(rows))}
    gone = {f"q-{number:05}" for number in unanswered} & pool.keys()
    named = [id for id in (f"q-{number:05}" for number in keep) if id in pool and id not in gone]
    of, wanted = drawn_shares(list(pool.values())), settings(quota, blind=blind)
    first = choose(list(pool.values()), of, TARGET, wanted, named)
    looked: list[str] = []

    def look(ids: Collection[str]) -> tuple[Sequence[Query], dict[str, float]]:
        looked.extend(ids)
        for id in gone.intersection(ids):
            del pool[id]
        return list(pool.values()), of

    found = choose_looking(look, TARGET, wanted, named)
    ids = {one.id for one in found.queries}
    assert len(looked) == len(set(looked)) and ids <= set(looked) - gone and set(looked) <= ids | gone | {*named}
    assert {one.id for one in first.queries} - gone <= ids and found.drawn == first.drawn
    have = Counter(row[0] for number, row in enumerate(rows) if number not in unanswered)
    assert Counter(one.metadata["model"] for one in found.queries) == {
        model: min(n, have[model]) for model, n in quota.items() if have[model]
    }


def test_shared_words_are_stems_without_stop_words() -> None:
    """read, byte and flash, of which the passage has the first two, one in another form."""
    passage = "Call pgm_read_byte to read bytes from program memory."
    assert shared_words("How do I read a byte from flash?", passage, "en") == 2 / 3
    assert shared_words("How do I read a byte from flash?", "", "en") == 0
    assert shared_words("", passage, "en") == 0


def test_ids_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "kept.txt"
    path.write_text("# those that stand\nq-1\n\n  q-2 \nq-1\n")
    assert read_keep(path) == ("q-1", "q-2")
    path.write_text("q-1\nq-2 q-3\n")
    with pytest.raises(InputError, match=r"kept\.txt:2: is not one"):
        read_keep(path)
    with pytest.raises(InputError, match="is not there"):
        read_keep(tmp_path / "none.txt")
