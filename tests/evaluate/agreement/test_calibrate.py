"""Calibration: chosen on one half, told on the other; which numbers a threshold is put on, and where it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, precision_score, recall_score
from support.results_folder import assessment, judgment

from ragassay.errors import InputError
from ragassay.evaluate.agreement.calibrate import (
    Present,
    Scored,
    advice,
    best_threshold,
    calibrate,
    choosing_half,
    cuts,
    paired_difference,
    reaches,
    scored_records,
)
from ragassay.evaluate.inputs.clusters import ALONE
from ragassay.evaluate.inputs.labels import Label
from ragassay.files import write_records
from ragassay.records import Figure, Record

SHARE, AWAY = 0.3, 1.5
"""Of people's yes; by how many standard deviations the judge's number is higher for a yes."""


def drawn(generator: np.random.Generator, n: int, present: float = 2.0, per_query: int = 2) -> Scored:
    """Normal scores, 0 on average for people's no and AWAY for their yes; the present threshold is too high."""
    yes = generator.random(n) < SHARE
    score = np.where(yes, AWAY, 0.0) + generator.normal(size=n)
    return Scored(
        file="relevance.jsonl",
        criterion="relevance",
        judge="m",
        on="probability of yes",
        relevant="from 2",
        people=tuple(yes.tolist()),
        now=tuple((score >= present).tolist()),
        score=tuple(score.tolist()),
        clusters=tuple(f"q{row // per_query}" for row in range(n)),
        whole=False,
        present=present,
        setting="yes_threshold",
    )


def kappa_at(threshold: float) -> float:
    """Of endlessly many labels."""
    hit, extra = SHARE * norm.sf(threshold - AWAY), (1 - SHARE) * norm.sf(threshold)
    agree, said = hit + 1 - SHARE - extra, hit + extra
    chance = SHARE * said + (1 - SHARE) * (1 - said)
    return float((agree - chance) / (1 - chance))


def test_the_figures_are_scikit_learns_on_the_half_that_nothing_was_chosen_on():
    scored = drawn(np.random.default_rng(1), 600, present=2.5)
    found = calibrate(scored, bootstrap=200)
    rest = ~choosing_half(scored.clusters, 7)
    people, score = np.array(scored.people)[rest], np.array(scored.score)[rest]
    assert found.threshold is not None and found.threshold < 2.5
    for figures, threshold in ((found.before, 2.5), (found.after, found.threshold)):
        theirs = [
            metric(people, score >= threshold)
            for metric in (cohen_kappa_score, balanced_accuracy_score, precision_score, recall_score)
        ]
        names = ("kappa", "balanced_accuracy", "precision", "recall")
        assert [figures[name].value for name in names] == pytest.approx(theirs)
        for figure in figures.values():
            assert figure.n == len(people) and figure.ci_low is not None and figure.ci_high is not None
            assert 0 <= figure.ci_low < (figure.value or 0) <= figure.ci_high <= 1
    gap = found.difference["kappa"]
    assert gap.value == pytest.approx((found.after["kappa"].value or 0) - (found.before["kappa"].value or 0))
    assert gap.ci_low is not None and 0 < gap.ci_low < (gap.value or 0) < (gap.ci_high or 0)
    assert found.gain and found.setting == f"yes_threshold = {found.threshold:g}"
    assert f"write `[judge] yes_threshold = {found.threshold:g}`" in advice(found)


def test_the_other_half_is_unbiased_where_the_half_that_chose_flatters():
    generator = np.random.default_rng(3)
    other, same = [], []
    for seed in range(60):
        scored = drawn(generator, 120)
        found = calibrate(scored, bootstrap=10, seed=seed)
        if found.threshold is None:
            continue
        on = choosing_half(scored.clusters, seed)
        people, score = np.array(scored.people)[on], np.array(scored.score)[on]
        truth = kappa_at(found.threshold)
        other.append((found.after["kappa"].value or 0.0) - truth)
        same.append(cohen_kappa_score(people, score >= found.threshold) - truth)
    errors = [np.std(each) / np.sqrt(len(each)) for each in (other, same)]
    assert len(other) > 48 and abs(np.mean(other)) < 2.5 * errors[0]
    assert np.mean(same) > 4 * errors[1]


def test_a_judge_at_its_best_threshold_is_seldom_told_to_change():
    best = best_of_many()
    found = [calibrate(drawn(np.random.default_rng(s), 160, best), bootstrap=50, seed=s) for s in range(30)]
    assert sum(bool(each.gain) for each in found) <= 2  # 2.5% of 30, and what chance adds to that
    kept = next(each for each in found if each.gain is False)
    assert "not a gain beyond noise: keep" in advice(kept)


def best_of_many() -> float:
    at = np.linspace(0, 2, 201)
    return float(at[np.argmax([kappa_at(threshold) for threshold in at])])


def test_with_few_labels_nothing_is_chosen_and_the_judge_as_it_is_stands():
    found = calibrate(drawn(np.random.default_rng(1), 40))
    assert found.threshold is None and found.gain is None and found.setting is None and not found.after
    assert found.note is not None and "too few labels" in found.note and "10 of each on 5 are needed" in found.note
    assert found.before["kappa"].n == found.reported_on.n == 20
    one_query = replace(drawn(np.random.default_rng(1), 400), clusters=("q",) * 400)
    assert calibrate(one_query).reported_on.n == 0 and "too few labels" in (calibrate(one_query).note or "")


def test_what_the_judge_failed_on_is_counted_and_not_compared():
    whole = drawn(np.random.default_rng(5), 200, per_query=1)
    lost = replace(whole, now=(None, *whole.now[1:]), score=(None, *whole.score[1:]))
    halves = [(half.n, half.n_failed) for half in (calibrate(lost).chosen_on, calibrate(lost).reported_on)]
    assert sorted(halves) == [(99, 1), (100, 0)]


def test_people_who_only_say_yes_leave_kappa_undefined():
    all_yes = replace(drawn(np.random.default_rng(5), 60), people=(True,) * 60, now=(True,) * 60)
    found = calibrate(all_yes)
    assert found.before["kappa"].value is None and "all yes or all no" in found.undefined["before kappa"]
    assert found.before["precision"].value == 1.0


def label(query: str, subject: str, criterion: str, value: float) -> Label:
    return Label(who="ann", when="", query=query, subject=subject, criterion=criterion, label=value)


def files(tmp_path: Path, name: str, rows: Sequence[Record]) -> list[Path]:
    write_records(tmp_path / name, rows)
    return [tmp_path / name]


def scored(paths: Sequence[Path], labels: Sequence[Label], **more: Any) -> list[Scored]:
    return scored_records(labels, paths, ALONE, present=more.pop("present", Present()), **more)


def test_yes_or_no_is_known_by_its_probabilities(tmp_path: Path):
    given = [("d1", 0.9), ("d2", 0.2), ("d3", 0.55), ("d4", 0.0)]
    rows = [
        judgment("q1", d, "relevance", 2.0 if p >= 0.5 else 0.0, probability=max(p, 1 - p), expected=2 * p)
        for d, p in given
    ]
    rows.append(judgment("q1", "d5", "relevance", None))
    labels = [label("q1", d, "relevance", 2.0) for d in ("d1", "d2", "d5")]
    (found,) = scored(files(tmp_path, "relevance.jsonl", rows), labels)
    assert (found.on, found.setting, found.present) == ("probability of yes", "yes_threshold", 0.5)
    assert found.score == (pytest.approx(0.9), pytest.approx(0.2), None) and found.now == (True, False, None)
    (elsewhere,) = scored(files(tmp_path, "judgments.jsonl", rows), labels)
    assert (elsewhere.on, elsewhere.setting) == ("probability of yes", None)


def test_of_three_labels_both_the_cut_and_the_mean_label_are_tried(tmp_path: Path):
    rows = [
        judgment("q1", f"d{at}", "relevance", at, probability=0.6, expected=0.2 + 0.8 * at) for at in (0.0, 1.0, 2.0)
    ]
    labels = [label("q1", f"d{at}", "relevance", at) for at in (0.0, 1.0, 2.0)]
    by_label, by_mean = scored(files(tmp_path, "relevance.jsonl", rows), labels)
    assert (by_label.on, by_label.setting, by_label.present, by_label.whole) == ("label", "relevant_from", 2.0, True)
    assert (by_mean.on, by_mean.setting, by_mean.present, by_mean.whole) == ("expected label", None, None, False)
    assert by_mean.score == (0.2, 1.0, 1.8) and by_mean.now == by_label.now == (False, False, True)
    wide = scored(files(tmp_path, "relevance.jsonl", rows), labels, relevant=1.0, present=Present(relevant_from=1))
    assert wide[0].people == wide[0].now == (False, True, True)


def test_an_evaluators_yes_begins_where_meta_eval_has_it(tmp_path: Path):
    rows = [assessment("q1", f"d{at}", "umbrela", at, score=at / 3) for at in (0.0, 1.0, 2.0, 3.0)]
    rows += [assessment("q1", f"a{at}", "groundedness", at / 2, score=at / 2) for at in (0, 1, 2)]
    labels = [label("q1", row.subject, row.criterion, 1.0) for row in rows]
    claims, grades = scored(files(tmp_path, "judgments.jsonl", rows), labels)
    assert (grades.criterion, grades.now, grades.setting) == ("umbrela", (False, False, True, True), None)
    assert (claims.criterion, claims.now, claims.whole) == ("groundedness", (False, True, True), False)
    assert grades.relevant == "from 1" and all(grades.people)  # nobody gave more than 1


def test_judges_and_files_are_told_apart(tmp_path: Path):
    one = [judgment("q1", "d1", "relevance", 2.0), judgment("q1", "d1", "relevance", 0.0, judge="openai:k")]
    answers = [judgment("q1", "bm25-rag", "relevance", 1.0)]
    paths = [*files(tmp_path, "relevance.jsonl", one), *files(tmp_path, "pointwise.jsonl", answers)]
    labels = [label("q1", "d1", "relevance", 2.0), label("q1", "bm25-rag", "relevance", 2.0)]
    labels.append(label("q1", "a:b", "game", 1.0))
    found = [(each.file, each.judge, each.setting) for each in scored(paths, labels)]
    assert found == [
        ("relevance.jsonl", "openai:j", "relevant_from"),
        ("relevance.jsonl", "openai:k", "relevant_from"),
        ("pointwise.jsonl", "openai:j", None),
    ]
    with pytest.raises(InputError, match="judges 'd1' for query 'q1', relevance, twice by openai:j"):
        scored(files(tmp_path, "relevance.jsonl", [one[0], one[0]]), labels)


def test_a_threshold_that_changes_nothing_on_the_other_half_may_do_so_elsewhere():
    scored = drawn(np.random.default_rng(8), 120, per_query=1)
    threshold = calibrate(scored, bootstrap=100).threshold or 0.0
    rows = zip(scored.now, scored.score, choosing_half(scored.clusters, 7), strict=True)
    now = tuple(before if on else (score or 0.0) >= threshold for before, score, on in rows)
    found = calibrate(replace(scored, now=now), bootstrap=100)
    gap = found.difference["kappa"]
    assert (found.threshold, gap.value, found.gain) == (threshold, 0.0, False)
    n, n_yes = found.reported_on.n, found.reported_on.n_yes
    said_yes = int(np.array(now)[~choosing_half(scored.clusters, 7)].sum())
    chance = (n_yes * said_yes + (n - n_yes) * (n - said_yes)) / n**2
    reach = (1 - 0.025 ** (1 / n)) / (1 - chance)  # Clopper and Pearson 1934, for no row of n
    assert (gap.ci_low, gap.ci_high) == (pytest.approx(-reach), pytest.approx(reach))


THEIRS = {"kappa": cohen_kappa_score, "balanced_accuracy": balanced_accuracy_score}
drawn_rows = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.sampled_from([0.02, 0.1, 0.31, 0.34, 0.5, 0.77, 0.9])),
    min_size=4,
    max_size=40,
).filter(lambda drawn: len({yes for yes, _, _ in drawn}) == 2)


@given(drawn_rows, st.sampled_from(["kappa", "balanced_accuracy"]))
def test_no_threshold_does_better_than_the_best(drawn: list[tuple[bool, bool, float]], aim: str):
    people, now, scores = (np.array(column) for column in zip(*drawn, strict=True))
    parting = [t for t in (0.05, 0.2, 0.32, 0.4, 0.6, 0.8) if 0 < (scores >= t).sum() < len(scores)]
    worth = max((THEIRS[aim](people, scores >= t) for t in parting), default=-1.0)
    found = best_threshold(people, scores, now, False, aim)  # type: ignore[arg-type]
    before = THEIRS[aim](people, now)
    if found is None:
        assert worth <= before + 1e-9
    else:
        assert THEIRS[aim](people, scores >= found) == pytest.approx(worth)
        assert worth > before


def test_a_threshold_has_as_few_digits_as_lie_between_two_scores():
    assert cuts(np.array([0.1, 0.9, 0.62, 0.6, 0.6199]), False) == [0.3, 0.61, 0.61995, 0.8]
    assert cuts(np.array([2.0, 0.0, 1.0, 1.0]), True) == [1.0, 2.0]
    assert cuts(np.array([0.4, 0.4]), False) == []


def test_a_score_at_the_threshold_is_a_yes_also_where_the_last_digit_is_lost():
    assert reaches(np.array([0.1 + 0.2, 0.3, 0.29999]), 0.3).tolist() == [True, True, False]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(0, 99))
def test_halves_keep_clusters_whole_and_are_as_equal_as_these_let_them(numbers: list[int], seed: int):
    clusters = [f"q{number}" for number in numbers]
    chosen = choosing_half(clusters, seed)
    sides = ({name for name, on in zip(clusters, chosen, strict=True) if on == side} for side in (True, False))
    assert not set.intersection(*sides)
    largest = max(clusters.count(name) for name in clusters)
    assert abs(2 * int(chosen.sum()) - len(clusters)) <= largest
    assert (choosing_half(list(reversed(clusters)), seed) == chosen[::-1]).all()
    many = [f"q{number}" for number in range(40)]
    assert (choosing_half(many, seed) != choosing_half(many, seed + 1)).any()


def figure(value: float | None, reach: float | None = None) -> Figure:
    ends = {} if value is None or reach is None else {"ci_low": value - reach, "ci_high": value + reach}
    return Figure(value=value, n=50, n_failed=3, **ends)


def replicates(r: float) -> tuple[np.ndarray, np.ndarray]:
    """Two columns whose correlation is exactly r."""
    x, z = np.array([1.0, -1, 1, -1]), np.array([1.0, 1, -1, -1])
    return x, r * x + np.sqrt(1 - r**2) * z


@pytest.mark.parametrize("r", [0.0, 0.5, 0.9])
def test_of_symmetric_intervals_it_is_the_variance_of_a_difference(r: float):
    found = paired_difference(figure(0.7, 0.1), figure(0.4, 0.2), replicates(r))
    reach = np.sqrt(0.1**2 + 0.2**2 - 2 * r * 0.1 * 0.2)
    assert (found.value, found.n, found.n_failed) == (pytest.approx(0.3), 50, 3)
    assert (found.ci_low, found.ci_high) == (pytest.approx(0.3 - reach), pytest.approx(0.3 + reach))


def test_of_skewed_intervals_each_end_is_of_the_reaches_that_face_each_other():
    a = Figure(value=0.8, n=9, ci_low=0.5, ci_high=0.9)
    b = Figure(value=0.2, n=9, ci_low=0.1, ci_high=0.6)
    found = paired_difference(a, b, replicates(0.0))
    assert (found.ci_low, found.ci_high) == (pytest.approx(0.6 - 0.5), pytest.approx(0.6 + 0.1 * 2**0.5))


def test_what_has_no_value_or_no_interval_has_none():
    assert paired_difference(figure(None), figure(0.4, 0.2), replicates(0.5)).value is None
    bare = paired_difference(figure(0.7), figure(0.4, 0.2), replicates(0.5))
    assert (bare.value, bare.ci_low, bare.ci_high) == (pytest.approx(0.3), None, None)
    flat = (np.ones(4), replicates(0.0)[1])
    assert paired_difference(figure(0.7, 0.3), figure(0.4, 0.4), flat).ci_low == pytest.approx(0.3 - 0.5)
