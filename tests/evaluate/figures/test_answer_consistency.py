"""Consistency: spreads by hand, and the verb on files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support import tiny_models
from support.json_lines import write_lines

from ragassay.cli import main
from ragassay.evaluate.figures.answer_consistency import Runs, measure_consistency, spread

pytestmark = pytest.mark.xdist_group("models")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return tiny_models.sentence_model(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize(
    ("values", "mean", "variance", "cv"),
    [
        ((0.2, 0.4, None), 0.3, 0.02, 0.02**0.5 / 0.3),
        ((1.0, 1.0, 1.0), 1.0, 0.0, 0.0),
        ((-0.2, -0.4), -0.3, 0.02, 0.02**0.5 / 0.3),
        ((0.0, 0.0), 0.0, 0.0, None),
        ((-1.0, 1.0), 0.0, 2.0, None),
        ((0.5, None), 0.5, None, None),
        ((None, None), None, None, None),
    ],
)
def test_a_spread_by_hand(values, mean, variance, cv) -> None:
    found = spread(Runs("q", "a", ()), "m", "runs", values)
    assert (found.mean, found.variance, found.cv) == pytest.approx((mean, variance, cv))
    assert (found.n, found.n_failed) == (len(values) - values.count(None), values.count(None))


def test_an_agents_spread_is_over_its_queries() -> None:
    pairs = [(("x y", "x y"), (3.0, 1.0)), (("x y", None), (2.0, None))]
    groups = [Runs(f"q{at}", "a", texts, {"umbrela": grades}) for at, (texts, grades) in enumerate(pairs)]
    vector = np.array([[1.0, 0.0]], np.float32)
    found = measure_consistency(groups, lambda texts: dict.fromkeys(texts, vector), "m", {"umbrela": (0.0, 3.0)})
    rouge1, grade = found.agents["a"]["rouge1"], found.agents["a"]["umbrela"]
    assert (rouge1.mean.value, rouge1.mean.n, rouge1.mean.n_failed) == (1.0, 1, 1)
    assert (rouge1.n_values, rouge1.n_values_failed) == (1, 1)
    assert (grade.mean.value, grade.variance.value, grade.variance.n_failed) == (2.0, 2.0, 1)
    assert grade.cv.value == pytest.approx(2**0.5 / 2)


def write(path: Path, *rows: dict[str, object]) -> str:
    return str(write_lines(path, rows))


def test_the_verb_on_three_runs(tmp_path: Path, model: str, capsys) -> None:
    runs = [
        write(tmp_path / "1.jsonl", {"query": "q?", "answer": "the busy header"}, {"query": "r?", "answer": "sei"}),
        write(tmp_path / "2.jsonl", {"query": "q?", "answer": "the busy wait"}, {"query": "r?", "answer": " "}),
        write(tmp_path / "3.jsonl", {"query": "q?", "answer": "the busy header"}),
    ]
    options = ["consistency", "--embedding", model, *(part for run in runs for part in ("--answers", run))]
    assert main([*options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {(row["query_id"], row["measure"]): row for row in found["queries"]}
    first, second, bert = rows["q?", "rouge1"], rows["r?", "rouge1"], rows["q?", "bert_score"]
    assert first["values"] == pytest.approx([2 / 3, 1.0, 2 / 3]) and first["over"] == "pairs"
    assert first["variance"] == pytest.approx(np.var([2 / 3, 1.0, 2 / 3], ddof=1))
    assert (second["n"], second["n_failed"], second["mean"]) == (0, 3, None)
    rouge1 = found["agents"]["answers"]["rouge1"]
    assert (rouge1["mean"]["n"], rouge1["mean"]["n_failed"]) == (1, 1)
    assert bert["values"][1] == pytest.approx(1.0, abs=1e-6) and bert["values"][0] == bert["values"][2] < 1
    assert main(options) == 0
    out = capsys.readouterr().out
    assert "bert_score" in out and "rougeL" in out and "undefined" in out and "3 runs" in out and "…" not in out


def test_lines_with_a_run_are_of_that_run(tmp_path: Path, model: str, capsys) -> None:
    rows = [{"query_id": "q", "agent": "a", "answer": "sei", "run": run} for run in (2, 3)]
    path = write(tmp_path / "runs.jsonl", *rows)
    assert main(["consistency", "--embedding", model, "--answers", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_runs"] == 2


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"query_id": "q", "answer": "x"}], "there is one run, consistency needs two or more"),
        ([{"query_id": "q", "answer": "x"}, {"query_id": "q", "answer": "y"}], "1.jsonl:2: a second answer of answers"),
        ([], "1.jsonl: holds no answer"),
        ([{"query_id": "q", "answer": 7}], "1.jsonl:1: answer: "),
        ([{"query_id": "q", "answer": "x", "run": "two"}], "1.jsonl:1: run is not a whole number"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(tmp_path: Path, capsys, rows, said: str) -> None:
    assert main(["consistency", "--answers", write(tmp_path / "1.jsonl", *rows)]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ({"agent": "theirs"}, "the runs have no agent in common: run 1 has ours; run 2 has theirs; give the system"),
        ({"query_id": "r"}, "no query is answered in two runs; give the same queries the same query_id"),
    ],
)
def test_runs_that_share_nothing_are_one_sentence(tmp_path: Path, capsys, second: dict[str, str], said: str) -> None:
    row = {"query_id": "q", "agent": "ours", "answer": "x"}
    paths = [write(tmp_path / "1.jsonl", row), write(tmp_path / "2.jsonl", row | second)]
    assert main(["consistency", "--answers", paths[0], "--answers", paths[1]]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1


def test_neither_or_both_is_one_sentence(capsys) -> None:
    assert main(["consistency"]) == 2
    assert "needs CORPUS, or --answers once for each run" in capsys.readouterr().err
