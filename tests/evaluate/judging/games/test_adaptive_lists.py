"""Adaptive play by query: lists on batches of queries until the best agent is decided, however often it is stopped."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.judged_together import answers_in, fair_together
from support.results_folder import answer
from support.scripted_judge import CRITERIA, Scripted, workspace

from benchmarks.coverage.ratings import World, blind_share, simulate
from ragassay.errors import RepliesMissing
from ragassay.evaluate.judging.games.adaptive import Design, play_together, spread
from ragassay.evaluate.make_judgments import make_judgments
from ragassay.files import read_records
from ragassay.records import Game, RankedList

EQUAL = World((0.0,) * 4, n_queries=60)
EXPERIMENTS = 300
SETTINGS = {"games": "listwise-adaptive", "criteria": CRITERIA, "adaptive_max_games": 1.0}
NAMES = tuple(f"q{n:02d}" for n in range(40))


def played(world, seed, share=1.0):
    generator = np.random.default_rng(seed)
    scores, luck = simulate(world, EXPERIMENTS, generator), random.Random(seed)
    place = np.array([spread(world.cluster, luck) for _ in range(EXPERIMENTS)])
    design = Design(len(world.strengths), world.n_queries, max_share=share)
    return play_together(design, world.cluster, place, lambda new: np.where(new, scores, np.nan))


@pytest.mark.parametrize("first", [0.0, 0.85])
def test_of_equal_agents_none_is_decided_to_be_the_best(first):
    done = played(replace(EQUAL, first=blind_share(EQUAL, first) if first else 0.0), 4)
    assert (done.best >= 0).mean() <= 0.05


def test_the_best_of_distant_agents_is_decided_rightly_on_a_part_of_the_queries():
    done = played(replace(EQUAL, strengths=(4.5, 3.0, 1.5, 0.0)), 5)
    assert not (done.best > 0).any() and (done.best == 0).mean() > 0.8
    assert done.met[:, 0].mean() < 0.6 * 60 and (done.met == done.met[:, :1]).all(), "all pairs on the same queries"


@pytest.mark.parametrize(("share", "most"), [(0.05, 6), (0.5, 30), (0.52, 31), (1.0, 60)])
def test_it_ends_at_the_share_of_the_queries_that_may_be_played(share, most):
    done = played(EQUAL, 6, share)
    assert done.met.max() == most and (~np.isnan(done.scores)).any(axis=2).sum(axis=1).max() == most


@given(sizes=st.lists(st.integers(1, 6), min_size=1, max_size=8), seed=st.integers(0, 99))
def test_an_order_spreads_each_section_evenly(sizes, seed):
    """Of the first k of n queries a section of s has k s / n, to less than two."""
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    place, n = spread(cluster, random.Random(seed)), len(cluster)
    assert sorted(place.tolist()) == list(range(n))
    for k in range(n + 1):
        begun = np.bincount(cluster[place < k], minlength=len(sizes))
        assert all(abs(begun[c] - k * size / n) < 2 for c, size in enumerate(sizes))


def answers():
    text = {"bm25-rag": "It is in util/delay.h", "ours": "I could not find it", "theirs": "It is sei()"}
    return [answer(query, agent, f"{said} ({query}).", "p1") for query in NAMES for agent, said in text.items()]


class StopsAt(Scripted):
    """Has no more replies after so many rounds."""

    def __init__(self, n):
        super().__init__(fair_together)
        self.n = n

    def ask(self, batches):
        if len(self.rounds) == self.n:
            raise RepliesMissing("no more")
        return super().ask(batches)


def asked(caller):
    return [[(b.label, r.messages, r.sample) for b in batches for r in b.requests] for batches in caller.rounds]


def test_a_clear_best_ends_it_a_batch_after_it_was_decided_and_stopped_it_goes_the_same_way(tmp_path):
    space = workspace(tmp_path / "whole", answers(), queries=NAMES, **SETTINGS)
    whole = Scripted(fair_together)
    make_judgments(space, whole)
    games, lists = read_records(space.games, Game), read_records(space.lists, RankedList)
    on = {row.query_id for row in games}
    assert len(on) % 4 == 0 and 8 <= len(on) < len(NAMES), "whole batches of a tenth"
    assert set(Counter(row.query_id for row in games).values()) == {3 * 2} and len(lists) == 2 * len(on)
    n_rounds = 1 + len(on) // 4
    assert len(whole.rounds) == n_rounds and {label for label, *_ in asked(whole)[2]} == {"listwise-1", "listwise-2"}
    assert len(whole.asked("pointwise")) == 3 * len(NAMES), "answers are judged on all"
    for n in range(1, n_rounds):
        stopped = StopsAt(n)
        with pytest.raises(RepliesMissing):
            make_judgments(workspace(tmp_path / f"{n}", answers(), queries=NAMES, **SETTINGS), stopped)
        assert asked(stopped) == asked(whole)[:n]


def test_at_its_most_it_is_half_of_the_queries_and_another_seed_begins_with_others(tmp_path):
    """A judge without a preference decides nothing."""

    def level(label, text):
        good = fair_together(label, text)
        return good | {"order": [[*answers_in(text)]]} if "order" in good else good

    first = []
    for seed in (7, 8):
        settings = {**SETTINGS, "adaptive_max_games": 0.5, "seed": seed}
        space, caller = workspace(tmp_path / f"{seed}", answers(), queries=NAMES, **settings), Scripted(level)
        make_judgments(space, caller)
        assert len({row.query_id for row in read_records(space.games, Game)}) == 20
        first.append({text for label, text, _ in asked(caller)[1] if label == "listwise-1"})
    assert first[0] != first[1]
