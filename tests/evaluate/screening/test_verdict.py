"""What is chosen on one half and reported on the other: closed forms, and variants of equal worth drawn anew."""

from __future__ import annotations

import numpy as np
import pytest
from support.screenings import screening

from ragassay.evaluate.inputs.clusters import clusters_of_rows
from ragassay.evaluate.screening.screen import screen_results
from ragassay.evaluate.screening.verdict import Choices, halves_of


def choices(screened):
    return Choices.of(screened.field, screened.by_cost, screened.clusters, 7)


def test_halves_are_of_whole_sections_and_of_one_size():
    halves = halves_of(clusters_of_rows(list("aabbccddee")), 7)
    assert set(halves.sum(axis=1).tolist()) == {2}
    assert halves.mean(axis=0) == pytest.approx(0.4, abs=0.1)


def test_a_variant_that_is_good_on_one_question_alone_is_worth_nothing_on_others():
    found = screen_results(screening(np.eye(12)))
    assert found.chosen.mean.before.value == pytest.approx(1 / 12)
    assert (found.chosen.mean.after.value, found.chosen.mean.after.n) == (0.0, 12)
    assert found.chosen.lead.after.value == 0.0


def test_the_questions_of_a_section_choose_together():
    values = np.repeat(np.eye(6), 3, axis=1)
    assert screen_results(screening(values, sections=np.arange(18) // 3)).chosen.mean.after.value == 0.0
    assert screen_results(screening(values)).chosen.mean.after.value > 0.0


def test_a_variant_that_is_better_everywhere_loses_nothing():
    low = np.random.default_rng(1).uniform(0, 0.5, (5, 20))
    values = np.vstack([low, low.max(axis=0) + 0.3])
    found = screen_results(screening(values), baseline="v00")
    assert found.chosen.name == "v05" and found.chosen.sure
    assert found.chosen.mean.after.value == pytest.approx(values[5].mean(), abs=1e-8)
    assert found.chosen.lead_over_baseline.after.value == pytest.approx((values[5] - values[0]).mean(), abs=1e-8)
    before, after = found.chosen.lead_over_baseline.before, found.chosen.lead_over_baseline.after
    assert (after.ci_low, after.ci_high) == pytest.approx((before.ci_low, before.ci_high), abs=1e-6)


def test_what_failed_where_it_is_reported_is_missing_and_no_zero():
    values = np.full((2, 10), 0.2)
    values[0] = 0.9
    values[0, 3] = np.nan
    after = choices(screening(values)).mean(values)
    assert (after.value, after.n, after.n_failed) == (pytest.approx(0.9), 9, 1)


def test_an_interval_ends_where_its_scale_does():
    """Student's of the lead by itself: 11/12 and 0.21 to either side."""
    lead = screen_results(screening([[1, 1, 1, 1, 1, 0.5], [0] * 6])).chosen.lead
    for figure in (lead.before, lead.after):
        assert figure.value == pytest.approx(11 / 12) and figure.ci_low < 11 / 12 and figure.ci_high == 1.0


def test_of_one_section_nothing_can_be_reported_on_another():
    chosen = screen_results(screening([[1, 0.5], [0, 0.5]], sections=[0, 0])).chosen
    assert (chosen.mean.after.ci_low, chosen.sure) == (None, False)


def test_what_ties_on_a_half_is_not_chosen_by_the_other():
    rng, off = np.random.default_rng(12), []
    for _ in range(60):
        values = rng.integers(0, 2, (60, 8)).astype(float)
        off.append(choices(screening(values)).mean(values).value - 0.5)
    assert abs(np.mean(off)) < 2.5 * np.std(off) / np.sqrt(60)


def test_of_equal_variants_the_figure_after_is_unbiased_and_none_is_called_the_best():
    rng, off, before, held, sure = np.random.default_rng(11), [], [], [], []
    for _ in range(20):
        shared, own = rng.normal(size=40), rng.normal(size=(50, 40))
        values = np.clip(0.5 + 0.5 * shared + 0.5 * own, 0, 1)
        chosen = screen_results(screening(values, sections=np.arange(40) * 2 // 5)).chosen
        before.append(chosen.mean.before.value - 0.5)
        off.append(chosen.mean.after.value - 0.5)
        held.append(chosen.mean.after.ci_low < 0.5 < chosen.mean.after.ci_high)
        sure.append(chosen.sure)
    assert np.mean(before) > 0.08
    assert abs(np.mean(off)) < 2.5 * np.std(off) / np.sqrt(20)
    assert np.mean(held) > 0.9 and np.mean(sure) <= 0.05
