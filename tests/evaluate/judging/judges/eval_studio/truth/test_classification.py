"""Classification: each answer, and accuracy, precision, recall and F1 of a run as scikit-learn computes them."""

from __future__ import annotations

import json
import random

import pytest
from sklearn.metrics import accuracy_score, precision_recall_fscore_support
from support.json_lines import write_lines
from support.made_cases import case_of, evaluator_of, judged, labels

from ragassay.cli import main
from ragassay.evaluate.figures.evaluator_values import classification_figures
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.statistics.resamples import resamples

CLASSES = ["negative", "neutral", "positive"]


@pytest.mark.parametrize(
    ("answer", "expected", "label"),
    [
        ("positive", "positive", 1),
        (' **"Positive".**\n', "positive", 1),
        ("The class is positive.", "positive", 0),
        ("negative", "positive", 0),
        ("gut", "positive\ngut", 1),
        ("正面。", "正面", 1),
    ],
)
def test_an_answer_names_the_class_or_does_not(answer, expected, label):
    assert labels(evaluator_of("classification"), case_of(answer, {"expected_response": expected})) == {
        "classification": label
    }


def test_an_expected_class_that_is_not_set_has_no_value():
    (row,) = judged(evaluator_of("classification", classes=("yes", "no")), case_of("yes", {"expected_response": "si"}))
    assert row.error == "no value: the expected response is none of the classes that are set"


def run(seed: int, n: int, classes=()):
    """Rows, expected and given classes of a made-up run, in which some answers name no class."""
    generator = random.Random(seed)
    expected = [generator.choice(CLASSES) for _ in range(n)]
    given = [one if generator.random() < 0.6 else generator.choice([*CLASSES, "I cannot say"]) for one in expected]
    cases = [
        case_of(g, {"expected_response": e}, id=f"q{i}") for i, (g, e) in enumerate(zip(given, expected, strict=True))
    ]
    return judged(evaluator_of("classification", classes=classes), *cases), expected, given


@pytest.mark.parametrize("seed", range(5))
def test_the_figures_of_a_run_are_scikit_learn_s(seed):
    rows, expected, given = run(seed, 40)
    found = classification_figures(rows, resamples([row.query_id for row in rows], 1, 0))["ours"]
    assert found["accuracy"].value == pytest.approx(accuracy_score(expected, given))
    options = {"labels": CLASSES, "zero_division": float("nan")}
    names = ("precision", "recall", "f1")
    macro = precision_recall_fscore_support(expected, given, average="macro", **options)[:3]
    each = precision_recall_fscore_support(expected, given, **options)[:3]
    for name, mean, values in zip(names, macro, each, strict=True):
        assert found[name].value == pytest.approx(mean) and found[name].n == 40
        assert [found[f"{name}({one})"].value for one in CLASSES] == pytest.approx(list(values))
        assert found[name].ci_low < found[name].value < found[name].ci_high


def test_a_class_that_nobody_named_has_no_precision_and_failed_answers_are_counted():
    cases = [case_of("a", {"expected_response": "a"}), case_of("a", {"expected_response": "b"}, id="q2")]
    cases.append(case_of("a", {"expected_response": "c"}, id="q3"))
    rows = judged(evaluator_of("classification", classes=("a", "b")), *cases)
    found = classification_figures(rows, resamples(["q1", "q2", "q3"], 1, 0))["ours"]
    assert (found["precision(b)"].value, found["recall(b)"].value, found["precision(a)"].value) == (None, 0, 0.5)
    assert found["precision"].value == 0.5  # of the one class that has one, as with zero_division=nan
    assert {figure.n_failed for figure in found.values()} == {1} and found["accuracy"].n == 2


def test_the_interval_of_the_macro_means_covers_the_truth_and_widens_with_clusters():
    # the truth by 8,000 answers of the same kind; of 60 runs some 57 hold it, and 51 or fewer in less than 1 of 100
    _, expected, given = run(99, 8_000)
    truth = precision_recall_fscore_support(expected, given, labels=CLASSES, average="macro")[2]
    hits = 0
    for seed in range(60):
        some, *_ = run(1000 + seed, 60)
        f1 = classification_figures(some, resamples([row.query_id for row in some], 1, 0))["ours"]["f1"]
        hits += f1.ci_low <= truth <= f1.ci_high
    assert hits >= 52
    twice = [row.model_copy(update={"query_id": f"{row.query_id}-{copy}"}) for row in some for copy in (1, 2)]
    ids = [row.query_id for row in twice]
    together = Clusters.named(ids, [id.rsplit("-")[0] for id in ids])
    alone, kept = (classification_figures(twice, resamples(ids, 1, 0, c))["ours"]["f1"] for c in (Clusters(), together))
    assert kept.value == alone.value == f1.value
    assert kept.ci_high - kept.ci_low > 1.3 * (alone.ci_high - alone.ci_low)


def test_the_command_prints_the_figures_of_the_run(tmp_path, capsys):
    answers = [
        {"query_id": f"q{i}", "query": "?", "agent": "ours", "answer": answer, "expected_response": "yes"}
        for i, answer in enumerate(["yes", "Yes.", "no", "maybe"])
    ]
    write_lines(tmp_path / "a.jsonl", answers)
    out = tmp_path / "out.jsonl"
    files = ["--answers", str(tmp_path / "a.jsonl"), "--out", str(out), "--model", "openai:none"]
    assert main(["judge", *files, "--with", "classification"]) == 0
    printed = capsys.readouterr().out
    assert "recall(yes)" in printed and "0.500" in printed
    assert [json.loads(line)["label"] for line in out.read_text().splitlines()] == [1, 1, 0, 0]
