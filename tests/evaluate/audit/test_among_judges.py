"""How far judges disagree, by the worked example of Krippendorff and by counting."""

from __future__ import annotations

import pytest
from support.results_folder import game, judgment
from support.textbooks import KRIPPENDORFF

from ragassay.evaluate.audit.judge_audit import among_labels, among_verdicts
from ragassay.evaluate.inputs.clusters import ALONE, Clusters
from ragassay.evaluate.ratings.verdicts import verdicts


def rows(criterion: str = "relevance"):
    return [
        judgment(f"q{unit:02}", "d", criterion, label, judge=f"j{observer}")
        for observer, labels in enumerate(KRIPPENDORFF)
        for unit, label in enumerate(labels)
    ]


def test_the_textbook_example():
    (found,) = among_labels(rows(), ALONE, bootstrap=200)
    alpha, split = found.figures["krippendorff_alpha(ordinal)"], found.figures["not_unanimous"]
    assert found.judges == ("j0", "j1", "j2", "j3")
    assert alpha.value == pytest.approx(0.815, abs=5e-4) and (alpha.n, alpha.n_failed) == (11, 1)
    assert alpha.ci_low is not None and alpha.ci_low < 0.815 < (alpha.ci_high or 0)
    assert split.value == pytest.approx(3 / 11) and (split.n, split.n_failed) == (11, 1)
    assert split.ci_low is not None and split.ci_low < 3 / 11 < (split.ci_high or 0)


def test_clusters_widen_the_interval():
    queries = [f"q{unit:02}" for unit in range(12)]
    (together,) = among_labels(rows(), Clusters.named(queries, [f"s{i // 4}" for i in range(12)]), bootstrap=200)
    (alone,) = among_labels(rows(), ALONE, bootstrap=200)
    widths = [(f.ci_high or 0) - (f.ci_low or 0) for f in (each.figures["not_unanimous"] for each in (together, alone))]
    assert widths[0] > widths[1]


def test_criteria_are_told_apart_and_judges_of_one_mind_leave_alpha_undefined():
    same = [judgment(f"q{i}", "d", "accuracy", 2.0, judge=j) for i in range(9) for j in "jk"]
    accuracy, relevance = among_labels([*rows(), *same], ALONE, bootstrap=100)
    assert (accuracy.criterion, relevance.criterion) == ("accuracy", "relevance")
    assert accuracy.figures["not_unanimous"].value == 0.0 and (accuracy.figures["not_unanimous"].ci_high or 0) > 0.1
    assert accuracy.figures["krippendorff_alpha(ordinal)"].value is None
    assert "all labels are equal (2)" in accuracy.undefined["krippendorff_alpha(ordinal)"]


def test_verdicts_on_games_and_a_judge_alone():
    games = [
        game(f"q{i}", "a", "b", winner, first, judge=judge)
        for judge, winners in (("j", "aabt"), ("k", "abbt"))
        for i, winner in enumerate({"t": "tie"}.get(w, w) for w in winners)
        for first in ("a", "b")
    ]
    found = among_verdicts(verdicts(games), ALONE, bootstrap=100)
    assert (found.criterion, found.figures["not_unanimous"].value) == ("game", 0.25)
    alone = among_verdicts(verdicts(games[:8]), ALONE, bootstrap=100)
    figure = alone.figures["not_unanimous"]
    assert (figure.value, figure.n, figure.n_failed) == (None, 0, 4)
    assert alone.undefined["not_unanimous"] == "nothing was labelled by two judges"
