"""Difficulty and discrimination, the smallest set, and whom authors favour."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student
from support.validity_corpus import measured, question

from ragassay.evaluate.validity.difficulty import FAILED, PASSED, authors, difficulty, smallest_subset
from ragassay.evaluate.validity.questions import group_difference


def test_discrimination_is_the_item_rest_correlation_and_difficulty_the_mean():
    values = np.random.default_rng(5).random((12, 10))
    values[:, 3], values[:, 4] = 1.0, 0.0
    questions = [question(at) for at in range(10)]
    found = difficulty(questions, measured(values), seed=7)
    for at, row in enumerate(found.questions):
        assert row.difficulty.value == pytest.approx(values[:, at].mean())
        if at not in (3, 4):
            rest = np.delete(values, at, axis=1).mean(axis=1)
            assert row.discrimination.value == pytest.approx(np.corrcoef(values[:, at], rest)[0, 1])
    assert found.questions[3].discrimination.value is None
    assert (found.figures["all_pass"].value, found.figures["all_fail"].value) == (0.1, 0.1)
    assert found.figures["alike"].value == 0.2


def test_only_a_question_that_surely_goes_against_the_others_is_said_to():
    """One falls where others rise; one is noise, whose interval has both signs; two stand at the bars."""
    rise = np.linspace(PASSED, FAILED, 12)[::-1, None]
    values = np.repeat(rise, 10, axis=1) + np.random.default_rng(3).normal(0, 1e-3, (12, 10))
    values[:, 4], values[:, 5] = 1 - values[:, 4], np.tile([0.2, 0.8], 6)
    values[:, 6], values[:, 7] = PASSED, FAILED
    found = difficulty([question(at) for at in range(10)], measured(values), seed=7)
    noise = found.questions[5].discrimination
    assert noise.ci_low < 0 < noise.ci_high and found.questions[4].discrimination.ci_high < 0
    assert found.figures["against"].value == 0.1
    assert (found.figures["all_pass"].value, found.figures["all_fail"].value) == (0.1, 0.1)


def test_where_questions_say_the_same_one_is_enough_and_where_they_say_nothing_few_are_not():
    same = np.repeat(np.random.default_rng(6).random((16, 1)), 20, axis=1)
    assert len(smallest_subset(measured(same), 7).questions) == 1
    noise = np.random.default_rng(6).random((40, 20))
    found = smallest_subset(measured(noise), 7)
    assert len(found.questions) > 10 and found.tau_b_chosen.value >= found.tau_b.value
    assert smallest_subset(measured(np.ones((16, 20))), 7) is None


def test_of_questions_that_differ_by_luck_alone_a_choice_is_worth_no_more_than_chance_to_other_variants():
    rng = np.random.default_rng(6)
    found = smallest_subset(measured(rng.normal(size=(24, 1)) + 0.5 * rng.normal(size=(24, 16))), 7)
    assert abs(found.tau_b.value - found.tau_b_random.value) < 0.05 and found.tau_b.value < found.tau_b_chosen.value


def test_a_favour_is_told_at_the_level_of_all_groups_and_families_together():
    """Bonferroni, by scipy's t: two families by three authors are six tests."""
    seen = set()
    for seed in (1, 10):
        values = np.random.default_rng(seed).random((6, 36))
        values[::2, :12] += 0.15
        asked = [question(at, f"{'xyz'[at // 12]}:m") for at in range(36)]
        part = measured(values)
        found = authors(asked, part, [None], [], 7).favours
        lead = part.by_family - part.by_family.mean(axis=0)
        for number, name in enumerate("xyz"):
            of = group_difference(lead, np.arange(36) // 12 == number, part.clusters)
            p = 2 * student.sf(np.abs(of.value / of.error), of.df)
            rows = [one for one in found if one.group == f"{name}:m"]
            assert [one.told for one in rows] == (p < 0.05 / 6).tolist()
            seen |= {(one < 0.05 / 2, one < 0.05 / 3, one < 0.05 / 6) for one in p}
    assert {(True, True, False), (True, True, True), (False, False, False)} <= seen
