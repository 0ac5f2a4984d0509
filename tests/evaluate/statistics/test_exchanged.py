"""Runs exchanged section by section: against every choice of signs, and what most of them pass."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ragassay.evaluate.inputs.clusters import ALONE, Clusters
from ragassay.evaluate.statistics.exchanged import exchanges, passable, passed_by_most, upper_ends
from ragassay.evaluate.statistics.paired_comparison import pair_by_query

NAMES = [f"q{n}" for n in range(8)]
GAPS = (0.5, 0.25, 0.0, -0.5, 1.0, 0.0, 0.0, -0.25)


def paired(gaps, clusters):
    return pair_by_query(dict(zip(NAMES, gaps, strict=False)), dict.fromkeys(NAMES[: len(gaps)], 0.0), clusters)


@pytest.mark.parametrize("each", [1, 2])
def test_each_end_is_that_of_a_run_with_whole_sections_exchanged(each):
    clusters = Clusters.named(NAMES, [f"s{n // each}" for n in range(8)])
    signs = np.array(list(product((1.0, -1.0), repeat=8 // each)))
    ends = upper_ends(paired(GAPS, clusters), 1.0, clusters, signs)
    for choice, end in zip(signs, ends, strict=True):
        run = paired(np.repeat(choice, each) * GAPS, clusters)
        assert end == pytest.approx(run.difference(1.0).ci_high, abs=1e-9)


def test_the_first_is_the_run_itself_and_the_signs_of_the_others_are_fair():
    signs = exchanges(Clusters.named(NAMES, NAMES), 2000)
    assert (signs[0] == 1).all() and set(np.unique(signs)) == {-1.0, 1.0}
    assert np.abs(signs[1:].mean(axis=0)).max() < 4 / np.sqrt(2000)


def test_where_no_value_differs_nothing_need_be_tolerated_and_without_values_nothing_is_known():
    clusters = Clusters.named(NAMES, NAMES)
    signs = exchanges(clusters, 20)
    assert not upper_ends(paired([0.0] * 8, clusters), 1.0, clusters, signs).any()
    nothing = upper_ends(pair_by_query({}, {}, clusters), 1.0, clusters, signs)
    assert np.isnan(nothing).all()
    assert passable([nothing], ["m"], [1.0]) == {}


def test_four_of_five_pass_all_limits_at_once_and_no_limit_is_lower_than_need_be():
    ends = np.random.default_rng(3).normal(size=(400, 6))
    limits = passed_by_most(ends)
    assert (ends <= limits).all(axis=1).mean() == pytest.approx(0.8, abs=0.02)
    alone = (ends <= limits).mean(axis=0)
    assert alone.max() - alone.min() < 1e-9, "each is passed by as many"
    assert (ends < limits).all(axis=1).mean() < 0.8, "no lower ones would do"
    assert passed_by_most(ends[:, :1])[0] == np.sort(ends[:, 0])[319]


def test_a_measure_is_held_to_its_worst_agent_as_a_share_of_its_range():
    one, other = np.linspace(0.1, 1.0, 10), np.linspace(0.2, 2.0, 10)
    assert passable([one, 0.5 * one, other], ["a", "a", "b"], [1.0, 1.0, 2.0]) == pytest.approx({"a": 0.8, "b": 0.8})


def test_an_unchanged_run_passes_in_four_cases_of_five():
    """Differences with a sign of their own: the run that was seen is one of the exchanged ones like any other."""
    generator, passed, runs = np.random.default_rng(5), 0, 300
    names = [f"q{n:02d}" for n in range(30)]
    clusters = Clusters.named(names, names)
    signs = exchanges(clusters, 200)
    for _ in range(runs):
        gaps = generator.choice([-1.0, -0.5, 0.0, 0.5, 1.0], 30, p=[0.1, 0.1, 0.6, 0.1, 0.1])
        pair = pair_by_query(dict(zip(names, gaps, strict=True)), dict.fromkeys(names, 0.0), ALONE)
        passed += pair.difference(1.0).ci_high <= passable([upper_ends(pair, 1.0, clusters, signs)], ["m"], [1.0])["m"]
    assert abs(passed / runs - 0.8) < 3 * np.sqrt(0.8 * 0.2 / runs)
