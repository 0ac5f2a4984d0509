"""The simulated tournaments come about as they say, and what is taken from the product's functions is what they say."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from benchmarks.coverage.verdict import decided, may_be_decided, selectively, standing, told, verdicts_of
from benchmarks.ratings.tournaments import (
    Tables,
    World,
    equal_best,
    of_strengths,
    one_ahead,
    points_by,
    sizes,
    table_5,
    unequal_ties,
)
from ragassay.evaluate.ratings.verdicts import points_of

NAMES = ["00", "01", "02", "03", "04", "05"]


def played(world, n, seed=1):
    scores, clusters = world.play(n, np.random.default_rng(seed))
    return scores, Tables.of(scores, world.wins.shape[-1], clusters)


@pytest.mark.parametrize(("luck", "layout", "icc"), [(0.0, "alone", 0.0), (0.8, "1 to 10", 0.5), (0.4, "Zipf", 0.8)])
def test_games_come_out_as_often_as_the_paper_prints_however_they_depend(luck, layout, icc):
    scores, _ = played(World(table_5(), 100, layout, icc, luck), 4000)
    by_run = np.stack([(scores == 1).mean(axis=2), (scores == 0).mean(axis=2)])
    error = by_run.std(axis=1) / np.sqrt(4000)
    first, second = np.array(list(combinations(range(6), 2))).T
    wins = np.stack([table_5()[first, second], table_5()[second, first]])
    assert (np.abs(by_run.mean(axis=1) - wins) < 4.5 * error).all()


def test_the_share_of_luck_is_the_correlation_of_two_games_of_one_answer():
    """Of two games that share one answer, half of the luck of each is shared: normals correlate by luck / 2, and the
    signs of such normals by 2 / pi arcsin (Sheppard 1899)."""
    scores, _ = played(World(equal_best(3, 3, 0.5), 200, luck=0.8), 500)
    seen = np.corrcoef(scores[:, 0].ravel(), scores[:, 1].ravel())[0, 1]
    assert seen == pytest.approx(2 / np.pi * np.arcsin(0.4), abs=0.01)


def test_worlds_are_as_they_are_named():
    ties = unequal_ties(6)
    assert points_by(ties)[:2] == pytest.approx([0.62, 0.62]) and (points_by(ties)[2:] < 0.5).all()
    assert (1 - ties - ties.T)[[0, 1], [2, 2]] == pytest.approx([0.4, 0.55])
    assert points_by(one_ahead(6, 0.14))[0] - points_by(one_ahead(6, 0.14))[1] == pytest.approx(0.14)
    assert of_strengths(np.zeros(2)) == pytest.approx(np.array([[0, 0.35], [0.35, 0]]))


@pytest.mark.parametrize("layout", ["alone", "by 5", "1 to 10", "Zipf", "big"])
@pytest.mark.parametrize("n", [12, 100])
def test_sections_hold_all_queries(layout, n):
    of = sizes(layout, n, np.random.default_rng(3))
    assert sum(of) == n and min(of) > 0


@pytest.mark.parametrize("fails", [0.0, 0.4])
def test_tables_are_the_points_of_the_product(fails):
    scores, clusters = World(table_5(), 40, "1 to 10", 0.5, 0.4).play(2, np.random.default_rng(4))
    lost = selectively(fails, 6)(scores, np.random.default_rng(5))
    scores = np.where(lost, np.float32(np.nan), scores)
    mine, games = Tables.of(scores, 6, clusters).points(1), scores[1].T.astype(float)
    theirs = points_of(verdicts_of(games, np.ones(games.shape, bool), NAMES), NAMES, clusters.queries)
    for one, other in ((mine.seen, theirs.seen), (mine.lost, theirs.lost), (mine.won, theirs.won)):
        np.testing.assert_allclose(one, other)
    assert mine.n_failed == theirs.n_failed == lost[1].sum()
    assert sorted(mine.failures.tolist()) == sorted(theirs.failures.tolist())


@pytest.mark.parametrize("fails", [0.0, 0.2])
@pytest.mark.parametrize(("by", "layout"), [(0.14, "alone"), (0.25, "big")])
def test_what_is_decided_is_what_the_product_says_and_none_is_lost_before(fails, by, layout):
    scores, clusters = World(one_ahead(6, by), 100, layout, 0.3, 0.4).play(24, np.random.default_rng(6))
    lost = selectively(fails, 6)(scores, np.random.default_rng(5))
    tables = Tables.of(np.where(lost, np.float32(np.nan), scores), 6, clusters)
    said = [standing(tables, at) for at in range(24)]
    called = decided(tables).tolist()
    assert called == [int(one.leader) if one.decided else -1 for one in said] and len(set(called)) > 1
    assert may_be_decided(tables)[[one.decided for one in said]].all()
    for at, one in enumerate(said):
        order, passed = told(tables, at)
        assert one.order == tuple(NAMES[agent] for agent in order)
        assert one.told == tuple(NAMES[agent] for agent in order[1:][passed])
