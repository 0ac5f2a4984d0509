"""Adaptive play of simulated tournaments: equal agents, and a judge that mostly picks the answer shown first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.coverage.ratings import World, blind_share, played, simulate
from ragassay.evaluate.judging.games.adaptive import Design, play_out

EQUAL = World((0.0,) * 4, n_queries=60)
EXPERIMENTS = 300


@pytest.mark.parametrize("by_section", [0.0, 0.5])
def test_the_simulated_judge_picks_the_first_answer_85_percent_of_the_time(by_section: float):
    """One order of many games, verdict by verdict, by Davidson's shares (1970, eq. 2.1) unless the judge is blind."""
    world, n = replace(EQUAL, by_section=by_section), 400_000
    generator = np.random.default_rng(3)
    luck = np.hypot(world.by_query, by_section) * generator.standard_normal((2, n))
    strength = np.exp(luck)
    tie = world.tie * np.sqrt(strength.prod(axis=0))
    blind = generator.random(n) < blind_share(world, 0.85)
    first = blind | (generator.random(n) < strength[0] / (strength.sum(axis=0) + tie))
    assert first.mean() == pytest.approx(0.85, abs=3 * np.sqrt(0.85 * 0.15 / n))


def test_such_a_judge_decides_on_no_best_of_equal_agents_and_moves_none_of_them():
    generator = np.random.default_rng(4)
    world = replace(EQUAL, first=blind_share(EQUAL, 0.85))
    done = played(world, simulate(world, EXPERIMENTS, generator), generator, max_share=1.0)
    assert (done.best >= 0).mean() <= 0.05
    first_listed = np.nanmean(done.scores[:, :, :3], axis=1).mean(axis=1)  # against each of the others
    assert abs(first_listed.mean() - 0.5) < 3 * first_listed.std() / np.sqrt(EXPERIMENTS)


@pytest.mark.parametrize(("n_queries", "each", "decided"), [(30, 1, 1), (30, 30, 0), (30, 6, 0), (5, 1, 0), (6, 1, 1)])
def test_fewer_than_six_sections_decide_nothing(n_queries: int, each: int, decided: int):
    """A win in each of five is no significant order (two-sided sign test: 2 / 2^5 = 6%); in each of six it is."""
    place = np.arange(n_queries)[None, :, None]
    done = play_out(
        Design(2, n_queries, max_share=1.0), np.arange(n_queries) // each, place, lambda new: np.where(new, 1.0, np.nan)
    )
    assert done.best.tolist() == [decided - 1]


def test_the_best_of_distant_agents_is_decided_rightly_on_a_part_of_the_games():
    generator = np.random.default_rng(5)
    world = replace(EQUAL, strengths=(4.5, 3.0, 1.5, 0.0))
    done = played(world, simulate(world, EXPERIMENTS, generator), generator, max_share=1.0)
    assert not (done.best > 0).any()
    assert (done.best == 0).mean() > 0.8
    assert done.met.sum(axis=1).mean() < 0.5 * 6 * world.n_queries
