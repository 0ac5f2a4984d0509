"""The order by written questions beside that by people's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau
from support.validity_corpus import measured, question

from ragassay.evaluate.validity.people import people


def test_orders_beside_people_s_are_scipy_s_and_reversed_ones_contradict():
    rng = np.random.default_rng(8)
    means = np.linspace(0.2, 0.8, 10)[:, None]
    values = np.clip(means + rng.normal(0, 0.15, (10, 60)), 0, 1)
    questions = [question(at, None if at < 30 else "x:m") for at in range(60)]
    (found,) = people(questions, {"evidence": measured(values)}, 7).beside
    tau = kendalltau(values[:, :30].mean(axis=1), values[:, 30:].mean(axis=1)).statistic
    assert found.figures["tau_b"].value == pytest.approx(tau)
    assert found.figures["tau_b"].ci_low > 0 and found.figures["contradicted"].value == 0.0
    reverse = values.copy()
    reverse[:, 30:] = 1 - reverse[:, 30:]
    told = people(questions, {"evidence": measured(reverse)}, 7)
    assert told.beside[0].figures["contradicted"].value == 1.0 and told.beside[0].worth.bound == "fewer than"
    assert "contradict people's" in told.warnings[0]


def test_what_may_be_chance_is_no_contradiction():
    """Of four variants that differ little, written questions see two the other way round, which may be luck."""
    questions = [question(at, None if at < 30 else "x:m") for at in range(60)]
    seen = set()
    for seed in (1, 4, 7):
        means = np.array([0.3, 0.4, 0.5, 0.6])[:, None]
        values = np.clip(means + np.random.default_rng(seed).normal(0, 0.5, (4, 60)), 0, 1)
        values[:2, 30:] = values[1::-1, 30:]
        values[0, 30:] += 0.2
        told = people(questions, {"evidence": measured(values)}, 7)
        wrong = told.beside[0].figures["contradicted"]
        if wrong.value is not None:
            surely = wrong.value > 0.05 and wrong.ci_low is not None and wrong.ci_low > 0
            assert bool(told.warnings) == surely
            seen.add((wrong.value > 0.05, surely))
    assert seen >= {(True, False), (True, True), (False, False)}


def test_few_real_questions_are_not_compared():
    questions = [question(at, None if at < 9 else "x:m") for at in range(30)]
    found = people(questions, {"evidence": measured(np.random.default_rng(9).random((4, 30)))}, 7)
    assert found.beside == () and "9 of people's questions have a value of every variant" in found.abstained
