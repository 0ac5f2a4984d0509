"""`ragassay agree calibrate` on a table, on labels.csv with files of judgments, and on an experiment."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from support.results_folder import judgment, results_folder

from ragassay.cli import main
from ragassay.files import write_records
from ragassay.records import Judgment, Query

TOML = """
[questions]
source = "own"
[answer]
model = "openai:m"
[judge]
model = "openai:j"
yes_threshold = 0.7
"""
N = 400


def labelled() -> tuple[list[bool], list[float]]:
    """People's yes, and a probability of yes that is too low for them throughout."""
    generator = np.random.default_rng(4)
    yes = generator.random(N) < 0.4
    score = np.round(1 / (1 + np.exp(2.5 - 3 * yes - generator.normal(size=N))), 4)
    return yes.tolist(), score.tolist()


def judged(threshold: float, failed: int = 0) -> list[Judgment]:
    rows = []
    for i, p in enumerate(labelled()[1]):
        yes = p >= threshold
        more = {"probability": p if yes else 1 - p, "expected": 2 * p} if i >= failed else {}
        rows.append(judgment(f"q{i // 4}", f"d{i}", "relevance", (2.0 if yes else 0.0) if more else None, **more))
    return rows


def labels_csv(path: Path) -> Path:
    rows = [f"ann,,q{i // 4},d{i},relevance,{2 * yes:g}\n" for i, yes in enumerate(labelled()[0])]
    path.write_text("who,when,query,subject,criterion,label\n" + "".join(rows))
    return path


def test_a_table_with_a_column_of_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    people, scores = labelled()
    rows = [f"q{i // 4},{'yes' if a else 'no'},{b}\n" for i, (a, b) in enumerate(zip(people, scores, strict=True))]
    table = tmp_path / "labels.csv"
    table.write_text("query_id,human,p\n" + "".join(rows) + "q999,yes,\nq999,,0.5\n")
    arguments = ["agree", "calibrate", "--labels", str(table), "--human", "human", "--judge", "p", "--relevant", "yes"]
    assert main([*arguments, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    halves = found["chosen_on"], found["reported_on"]
    assert [sum(half[name] for half in halves) for name in ("n", "n_failed", "n_clusters")] == [N, 1, N / 4]
    assert (found["present"], found["relevant"], found["gain"], found["setting"]) == (0.5, "yes", True, None)
    assert 0 < found["threshold"] < 0.5 and found["difference"]["kappa"]["ci_low"] > 0
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert f"from {found['threshold']:g} on raises kappa" in out and "no setting holds it" in out
    assert main([*arguments, "--threshold", str(found["threshold"])]) == 0
    assert f"keep {found['threshold']:g}" in capsys.readouterr().out


def test_labels_csv_with_the_judges_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    write_records(tmp_path / "relevance.jsonl", judged(0.5, failed=3))
    arguments = ["agree", "calibrate", "--labels", str(labels_csv(tmp_path / "labels.csv"))]
    arguments += ["--judgments", str(tmp_path / "relevance.jsonl"), "--choose-by", "balanced_accuracy"]
    assert main(arguments) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "relevance (relevance.jsonl) by openai:j, probability of yes: people's yes from 2" in out
    assert "beyond noise: write `[judge] yes_threshold = 0." in out
    assert main([*arguments, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (
        found["aim"] == "balanced_accuracy" and found["chosen_on"]["n_failed"] + found["reported_on"]["n_failed"] == 3
    )
    sections = tmp_path / "queries.jsonl"
    rows = [Query(_id=f"q{i}", text="?", metadata={"section": f"s{i // 5}"}) for i in range(N // 4)]
    write_records(sections, rows)
    assert main([*arguments, "--json", "--sections", str(sections)]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["chosen_on"]["n_clusters"] + found["reported_on"]["n_clusters"] == N / 20


def test_an_experiment_by_its_own_threshold_and_sections(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    queries = [Query(_id=f"q{i}", text="?", metadata={"section": f"s{i // 2}"}) for i in range(N // 4)]
    workspace = results_folder(tmp_path, TOML, queries=queries, relevance=judged(0.7))
    labels_csv(workspace.own_labels)
    before = {path.name: path.read_bytes() for path in workspace.corpus.iterdir()}
    assert main(["agree", "calibrate", str(workspace.corpus), "--results", str(workspace.results), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    people, scores = labelled()
    assert (found["present"], found["file"]) == (0.7, "relevance.jsonl")
    assert found["chosen_on"]["n_clusters"] + found["reported_on"]["n_clusters"] == N / 8
    assert found["setting"] == f"yes_threshold = {found['threshold']:g}"
    whole = cohen_kappa_score(people, np.array(scores) >= found["threshold"])
    assert found["after"]["kappa"]["ci_low"] < whole < found["after"]["kappa"]["ci_high"]
    assert {path.name: path.read_bytes() for path in workspace.corpus.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "needs CORPUS, or --labels FILE with --judgments FILE"),
        (["--labels", "l.csv"], "needs CORPUS, or --labels FILE with --judgments FILE"),
        (["--labels", "l.csv", "--human", "h"], "--human COL and --judge COL"),
        (["--judgments", "r.jsonl"], "needs CORPUS, or --labels FILE"),
        (["--labels", "l.csv", "--judgments", "r.jsonl", "--relevant", "very"], "--relevant is 'very'"),
        (["--labels", "l.csv", "--judgments", "r.jsonl"], "labels nothing that is judged in r.jsonl"),
        (["--labels", "t.csv", "--human", "h", "--judge", "h"], "is named twice"),
        (["--labels", "t.csv", "--human", "h", "--judge", "word"], "column 'word' holds words"),
        (["--labels", "t.csv", "--human", "wide", "--judge", "h"], "give --relevant"),
        (["--labels", "t.csv", "--human", "h", "--judge", "wide"], "give --threshold"),
        (["--labels", "t.csv", "--human", "h", "--judge", "wide", "--sections", "q.jsonl"], "--sections goes with"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str):
    Path("l.csv").write_text("who,when,query,subject,criterion,label\nann,,q,d,relevance,2\n")
    Path("t.csv").write_text("h,word,wide\n0,a,1\n1,b,7\n1,c,9\n")
    write_records(Path("r.jsonl"), [judgment("q", "other", "relevance", 1.0)])
    assert main(["agree", "calibrate", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
