"""Choosing a test set: quotas, spread, any order of the pool, and what is looked up."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from support.question_pool import KINDS, A, B, query, settings

from ragassay.errors import InputError
from ragassay.records import Query
from ragassay.synth.questions.choose import choose, choose_looking
from ragassay.synth.questions.own import read_keep
from ragassay.synth.questions.slots import shares

traits = st.tuples(st.sampled_from([A, B, "x:c"]), st.sampled_from(list(KINDS)), st.integers(0, 5), st.booleans())
pools = st.lists(traits, min_size=1, max_size=40)
quotas = st.dictionaries(st.sampled_from([A, B, "x:d"]), st.integers(1, 8), min_size=1)
ONE = {"kinds": {"fact": 1.0}, "blind": 0.0}


def of_kind(queries: Sequence[Query]) -> Counter[str]:
    return Counter(str(one.metadata["kind"]) for one in queries)


def facts(n: int, sections: int = 1) -> list[Query]:
    return [query(number, (A, "fact", number % sections, False)) for number in range(n)]


@given(pools, quotas, st.randoms(use_true_random=False), st.floats(0, 1))
def test_quotas_hold_and_the_order_of_the_pool_does_not_matter(
    rows: list[tuple[str, str, int, bool]], quota: dict[str, int], rng: random.Random, blind: float
) -> None:
    pool = [query(number, row) for number, row in enumerate(rows)]
    chosen = choose(pool, settings(quota, blind=blind))
    have = Counter(row[0] for row in rows)
    n_of = {model: min(n, have[model]) for model, n in quota.items() if have[model]}
    assert Counter(one.metadata["model"] for one in chosen.queries) == n_of
    assert len({one.id for one in chosen.queries}) == len(chosen.queries)
    if chosen.queries:
        wanted = dict(zip(KINDS, shares(list(KINDS.values()), len(chosen.queries)), strict=True))
        found = of_kind(chosen.queries)
        assert sum(min(found[kind], n) for kind, n in wanted.items()) == _most(pool, n_of, wanted)
        assert bool(chosen.notices) == any(found[kind] < n for kind, n in wanted.items())
    rng.shuffle(pool)
    assert choose(pool, settings(quota, blind=blind)) == chosen


def _most(pool: list[Query], n_of: dict[str, int], wanted: dict[str, int]) -> int:
    """The most of the wanted kinds that the quotas can give: a flow, as a linear programme."""
    have = Counter((one.metadata["model"], one.metadata["kind"]) for one in pool)
    cells = [(model, kind) for model in n_of for kind in wanted]
    rows = [[float(model == cell[0]) for cell in cells] for model in n_of]
    rows += [[float(kind == cell[1]) for cell in cells] for kind in wanted]
    ends = [(0, have[cell]) for cell in cells]
    found = linprog([-1.0] * len(cells), A_ub=rows, b_ub=[*n_of.values(), *wanted.values()], bounds=ends)
    return round(-found.fun)


def test_it_is_a_draw_by_the_seed() -> None:
    pool = facts(40, sections=8)
    chosen = [choose(pool, settings({A: 16}, seed=seed, **ONE)) for seed in range(4)]
    assert chosen[0].notices == ()
    sets = [{one.id for one in some.queries} for some in chosen]
    assert len(set(map(frozenset, sets))) == 4
    assert {one.id for one in choose(pool, settings({A: 16}, seed=9, **ONE), held=sets[0]).queries} == sets[0]
    for some in chosen:
        assert Counter(one.metadata["section"] for one in some.queries) == {f"s{n}": 2 for n in range(8)}


def test_kinds_blindness_and_spread_are_as_asked_where_the_pool_has_all_of_them() -> None:
    rows = [(m, k, s, b) for m in (A, B) for k in KINDS for s in range(9) for b in (True, False) for _ in range(2)]
    pool = [query(number, row) for number, row in enumerate(rows)]
    chosen = choose(pool, settings({A: 24, B: 12}, blind=0.25))
    assert of_kind(chosen.queries) == {"fact": 18, "several": 9, "keyword": 9} and not chosen.notices
    assert Counter(one.metadata["section"] for one in chosen.queries) == {f"s{n}": 4 for n in range(9)}
    assert sum(bool(one.metadata["blind"]) for one in chosen.queries) == 9
    first = chosen.queries[:9]
    assert len({one.metadata["section"] for one in first}) == 9
    assert len({one.metadata["doc"] for one in first[:3]}) == 3
    assert set(of_kind(first)) == set(KINDS) and {one.metadata["model"] for one in first} == {A, B}


def test_on_an_uneven_pool_about_as_many_are_blind_as_asked_and_sections_stand_even() -> None:
    """Of 100 questions on twenty sections a sixth is gone; of 40 drawn a quarter is to be blind, in twenty draws."""
    off = []
    for seed in range(20):
        rng = random.Random(seed)
        rows = [(A, rng.choice(list(KINDS)), number % 20, rng.random() < 0.5) for number in range(100)]
        pool = [query(number, row) for number, row in enumerate(rows) if rng.random() > 1 / 6]
        chosen = choose(pool, settings({A: 40}, seed=seed, blind=0.25)).queries
        off.append(abs(sum(bool(one.metadata["blind"]) for one in chosen) - 10))
        have = Counter(one.metadata["section"] for one in pool)
        found = Counter(one.metadata["section"] for one in chosen)
        assert all(found[section] >= min(n, 1) for section, n in have.items())
    assert sum(off) / len(off) < 2, off


def test_for_a_blind_question_no_document_is_left_out() -> None:
    rows = [(A, "fact", 0, False), (A, "fact", 3, True), (A, "several", 4, False), (A, "fact", 5, True)]
    pool = [query(number, row) for number, row in enumerate(rows)]
    chosen = choose(pool, settings({A: 3}, blind=1.0, kinds={"fact": 0.67, "several": 0.33})).queries
    assert {one.id for one in chosen} in ({"q-00000", "q-00001", "q-00002"}, {"q-00000", "q-00003", "q-00002"})


def test_a_kind_that_is_short_is_said_and_the_others_fill_up() -> None:
    rows = [(A, "fact" if number > 1 else "keyword", number % 4, False) for number in range(30)]
    pool = [query(number, row) for number, row in enumerate(rows)]
    chosen = choose(pool, settings({A: 16}))
    assert of_kind(chosen.queries) == {"fact": 14, "keyword": 2}
    assert chosen.notices == (
        "the pool has only 0 of the 4 several questions, 2 of the 4 keyword questions that their share would be; "
        "the rest went to other kinds",
    )


def test_without_a_question_nothing_is_chosen() -> None:
    assert choose([], settings({A: 5})).queries == ()


def test_a_document_only_one_model_wrote_about_is_asked_about() -> None:
    """As test_sample has it: drawn greedily, a model may spend itself on documents that others could ask about."""
    wrote = {"x:small": [0, 0, *[3] * 9], "x:big": [*[3] * 9, *[6] * 9], "x:third": [6] * 9}
    rows = [(model, "fact", section, False) for model, sections in wrote.items() for section in sections]
    pool = [query(number, row) for number, row in enumerate(rows)]
    for seed in range(5):
        table = settings(dict.fromkeys(wrote, 1), seed=seed, kinds={"fact": 1})
        chosen = choose(pool, table)
        assert {one.metadata["doc"] for one in chosen.queries} == {"d0", "d1", "d2"}


def test_what_is_kept_stands_wherever_the_quotas_allow_and_what_is_not_there_is_said() -> None:
    pool = facts(30, sections=6)
    last = [one.id for one in pool[-6:]]
    chosen = choose(pool, settings({A: 12}, **ONE), [*last, "q-gone", "q-\x1b[1m"])
    assert set(last) <= {one.id for one in chosen.queries} and len(chosen.queries) == 12
    [notice] = chosen.notices
    assert notice.startswith("questions.keep names 2 questions (q-gone, ") and "\x1b" not in notice
    assert notice.endswith(") that are not in the pool")
    full = choose(pool, settings({A: 5}, **ONE), last)
    assert {one.id for one in full.queries} == set(last[:5])
    assert full.notices == (f"questions.keep names 1 question ({last[5]}) that is beyond the quotas",)
    others = [query(number, (B, "fact", 0, False)) for number in range(30, 40)]
    two = choose([*pool, *others], settings({A: 2, B: 3}, **ONE), last[:4])
    assert Counter(one.metadata["model"] for one in two.queries) == {A: 2, B: 3}
    assert {*last[:2]} <= {one.id for one in two.queries} and last[2] in two.notices[0] and last[3] in two.notices[0]


@given(pools, quotas, st.data())
def test_a_set_that_was_chosen_is_kept_as_it_was(
    rows: list[tuple[str, str, int, bool]], quota: dict[str, int], data: st.DataObject
) -> None:
    pool = [query(number, row) for number, row in enumerate(rows)]
    wide = settings(quota, kinds={"fact": 1.0}) if data.draw(st.booleans()) else settings(quota)
    chosen = choose(pool, wide)
    if chosen.notices:
        return
    again = choose(pool, wide, sorted(one.id for one in chosen.queries))
    assert again.queries == chosen.queries


@given(pools, quotas, st.integers(0, 40), st.floats(0, 1))
def test_what_is_held_stays_while_others_leave_the_pool(
    rows: list[tuple[str, str, int, bool]], quota: dict[str, int], cut: int, blind: float
) -> None:
    pool = [query(number, row) for number, row in enumerate(rows)]
    chosen = [one.id for one in choose(pool, settings(quota, blind=blind)).queries]
    held, gone = set(chosen[cut:]), set(chosen[:cut])
    left = [one for one in pool if one.id not in gone]
    again = choose(left, settings(quota, blind=blind, seed=8), held=held)
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
    wanted = settings(quota, blind=blind)
    first = choose(list(pool.values()), wanted, named)
    looked: list[str] = []

    def look(ids: Collection[str]) -> Sequence[Query]:
        looked.extend(ids)
        for id in gone.intersection(ids):
            del pool[id]
        return list(pool.values())

    found = choose_looking(look, wanted, named)
    ids = {one.id for one in found.queries}
    assert len(looked) == len(set(looked)) and ids <= set(looked) - gone and set(looked) <= ids | gone | {*named}
    assert {one.id for one in first.queries} - gone <= ids
    have = Counter(row[0] for number, row in enumerate(rows) if number not in unanswered)
    assert Counter(one.metadata["model"] for one in found.queries) == {
        model: min(n, have[model]) for model, n in quota.items() if have[model]
    }


def test_ids_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "kept.txt"
    path.write_text("# those that stand\nq-1\n\n  q-2 \nq-1\n")
    assert read_keep(path) == ("q-1", "q-2")
    path.write_text("q-1\nq-2 q-3\n")
    with pytest.raises(InputError, match=r"kept\.txt:2: is not one"):
        read_keep(path)
    with pytest.raises(InputError, match="is not there"):
        read_keep(tmp_path / "none.txt")
