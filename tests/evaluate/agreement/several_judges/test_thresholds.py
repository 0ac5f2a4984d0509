"""A judge at each threshold of the scale, beside scikit-learn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, cohen_kappa_score, matthews_corrcoef

from ragassay.evaluate.agreement.agree import PairAgreement, agree
from ragassay.evaluate.agreement.label_tables import Label, Ratings


def told(human: list[Label], judge: list[Label], **options) -> PairAgreement:
    names = tuple(map(str, range(len(human))))
    numeric = not isinstance(human[0], str)
    ratings = Ratings("labels.csv", ("people", "judge"), (tuple(human), tuple(judge)), names, numeric, None)
    return agree(ratings, thresholds=True, bootstrap=100, **options).pairs[0]


def thresholds(pair: PairAgreement) -> list[str]:
    return [name[len("kappa(rel=") : -1] for name in pair.figures if name.startswith("kappa(rel=")]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=30))
def test_each_threshold_as_scikit_learn_has_it(pairs: list[tuple[int, int]]):
    human, judge = zip(*pairs, strict=True)
    found = told([float(x) for x in human], [float(x) for x in judge])
    for label in sorted(set(human))[1:]:
        yes = [[x >= label for x in side] for side in (human, judge)]
        expected = {"balanced_accuracy": balanced_accuracy_score(*yes), "accuracy": accuracy_score(*yes)}
        if any(yes[1]) and not all(yes[1]):
            expected |= {"kappa": cohen_kappa_score(*yes), "tau_b": matthews_corrcoef(*yes)}
        for name, value in expected.items():
            assert found.figures[f"{name}(rel={label})"].value == pytest.approx(value, abs=1e-6)


def test_thresholds_are_labels_of_people_or_those_declared_and_the_one_asked_for():
    human, judge = [0.0, 1.0, 3.0, 3.0], [0.0, 7.0, 3.0, 1.0]
    assert thresholds(told(human, judge)) == ["1", "3"]
    assert thresholds(told(human, judge, relevant="7")) == ["1", "3", "7"]
    assert thresholds(told(human, judge, scale=("0", "1", "2", "3"))) == ["1", "2", "3"]
    fine = [float(x) for x in range(20)]
    assert thresholds(told(fine, fine)) == [] and thresholds(told(fine, fine, relevant="5")) == ["5"]


def test_words_have_thresholds_in_a_declared_order_and_else_one_that_is_named():
    human, judge = ["no", "maybe", "yes", "yes"], ["no", "yes", "yes", "maybe"]
    assert thresholds(told(human, judge)) == []
    assert thresholds(told(human, judge, relevant="yes")) == ["yes"]
    assert thresholds(told(human, judge, scale=("no", "maybe", "yes"))) == ["maybe", "yes"]
