"""From which label on is good enough: three quarters of the scale, half of yes and no, by direction, or as set."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan
from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.evaluate.judging.catalog import built_in
from ragassay.evaluate.judging.engine.cases import PassageCase, Setup
from ragassay.evaluate.judging.engine.evaluator import (
    Criterion,
    Evaluator,
    check_thresholds,
    good_enough,
    threshold_of,
    thresholds_of,
)
from ragassay.records import Passage, Query

SETUP = Setup("openai:j")
CASE = PassageCase(Query(id="q", text="?"), Passage(id="p", text="It is."))


class Own(Evaluator):
    name = "own"
    given = Criterion("own")

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        return (self.given, Criterion("second"))

    def steps(self, case):
        return []


def own(criterion: Criterion) -> Own:
    made = Own(SETUP)
    made.given = criterion  # type: ignore[misc]
    return made


@pytest.mark.parametrize(
    ("criterion", "threshold"),
    [
        (Criterion("own"), 0.75),
        (Criterion("own", 0, 4), 3.0),
        (Criterion("own", -1, 1), 0.5),
        (Criterion("own", lower_is_better=True), 0.25),
        (Criterion("own", 0, 4, lower_is_better=True), 1.0),
        (Criterion("own", threshold=0.6), 0.6),
        (Criterion("own", 0, inf, lower_is_better=True), None),
    ],
)
def test_the_default_is_three_quarters_of_the_way_to_the_good_end(criterion, threshold):
    assert threshold_of(own(criterion), criterion) == threshold


def test_yes_and_no_is_a_half_and_every_judge_of_ours_has_one():
    assert thresholds_of([built_in()["correctness"](SETUP)]) == {"correctness": 0.5}
    assert thresholds_of([built_in()["umbrela"](SETUP)]) == {"umbrela": 2.0}
    for kind in built_in().values():
        for criterion in kind(SETUP).criteria:
            label = threshold_of(kind(SETUP), criterion)
            assert label is None or criterion.lowest <= label <= criterion.highest


def test_the_users_goes_before_and_the_evaluators_name_stands_for_all_its_criteria():
    one = own(Criterion("own", threshold=0.6))
    assert thresholds_of([one], {"own": 0.2}) == {"own": 0.2, "second": 0.2}
    assert thresholds_of([one], {"own": 0.2, "second": 0.9}) == {"own": 0.2, "second": 0.9}


def test_the_threshold_itself_is_good_enough_either_way():
    assert good_enough(0.5, 0.5, lower_is_better=False) and good_enough(0.5, 0.5, lower_is_better=True)
    assert not good_enough(0.4, 0.5, lower_is_better=False) and not good_enough(0.6, 0.5, lower_is_better=True)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"owm": 0.5}, "[evaluate.thresholds] names 'owm', which no judge in evaluate.judges gives"),
        ({"second": 1.5}, "[evaluate.thresholds] second is 1.5"),
        ({"second": float("nan")}, "[evaluate.thresholds] second is nan"),
    ],
)
def test_a_name_that_nobody_gives_and_a_label_that_is_not_on_the_scale_are_refused(given, said):
    with pytest.raises(InputError) as error:
        check_thresholds([own(Criterion("own"))], given, Path("experiment.toml"))
    assert said in str(error.value)


def test_the_score_is_the_label_on_its_scale_from_0_to_1_and_what_is_off_the_scale_is_none():
    one = own(Criterion("own", 1, 5))
    assert [one.assess(CASE, label).score for label in (1, 4, 5)] == [0, 0.75, 1]
    assert own(Criterion("own", 0, inf)).assess(CASE, 7).score is None
    for label in (0.9, 5.1, nan):
        with pytest.raises(ValueError, match="which is not from 1 to 5"):
            one.assess(CASE, label)


def test_an_embedding_model_is_shared_by_name() -> None:
    setup = Setup("openai:none")
    other = replace(setup, model="openai:other")
    assert setup.embedded("one") is other.embedded("one") and setup.embedded("one") is not setup.embedded("two")
