"""What `benchmarks.question_worth.certificate` counts, on values whose differences are known."""

from __future__ import annotations

import numpy as np

from benchmarks.question_worth.certificate import matched, row
from benchmarks.question_worth.collection import Asked
from ragassay.evaluate.inputs.clusters import ALONE
from ragassay.evaluate.validity.scores import Scores

STEPS = np.array([0.2, 0.35, 0.5, 0.65])


def scores(n: int, seed: int, steps: np.ndarray = STEPS) -> Scores:
    values = steps[:, None] + np.random.default_rng(seed).normal(0, 0.15, (4, n))
    return Scores(values, ALONE.of([f"{seed}-{at}" for at in range(n)]))


def test_questions_like_peoples_decide_all_that_people_do_and_turned_ones_contradict_little():
    people = scores(200, 1)
    decided, contradicted, wrong, stated, worth, alone, _ = row(people, scores(80, 2), 10, redraws=5)
    assert (decided, contradicted, wrong) == (1.0, 0.0, 0.0)
    assert 0 <= stated < 0.05 and alone < 1.0
    turned = row(people, scores(80, 3, STEPS[::-1]), 30, redraws=5)
    assert turned[1] == 0.0 and turned[4] < worth


def test_a_question_that_scores_as_the_real_one_on_its_passage_is_matched_in_full():
    people, ids = scores(40, 4), [f"4-{at}" for at in range(40)]
    asked = Asked(dict.fromkeys(ids, "?"), {one: {f"p{one}": 1} for one in ids})
    alike, n = matched(asked, people, asked, people)
    assert n == 40 and np.isclose(alike, 1.0)
    unlike, _ = matched(asked, people, asked, scores(40, 5))
    assert unlike < 0.2
    assert matched(asked, people, Asked({"w": "?"}, {"w": {"none": 1}}), scores(2, 6))[1] == 0
