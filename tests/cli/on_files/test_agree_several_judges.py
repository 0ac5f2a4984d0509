"""`ragassay agree` with several judges: side by side, all columns, other scales."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score

from ragassay.cli import main

HUMAN = [0, 1, 2, 3, 0, 1, 2, 3, 0, 0, 2, 1]
GOOD = [0, 2, 2, 3, 0, 1, 1, 3, 0, 1, 2, 1]
POOR = [1, 2, 0, 3, 1, 0, 1, 1, 0, 1, 2, 0]
LETTERS = "abcd"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `agree` on a table of three judges and two columns that are none."""
    lines = ["query_id,passage_id,human,poor,good,coded,remark"]
    for i, (h, g, p) in enumerate(zip(HUMAN, GOOD, POOR, strict=True)):
        lines.append(f"q{i // 2},{i},{h},{p},{g},{LETTERS[g]},fine")
    Path("labels.csv").write_text("\n".join(lines) + "\n")

    def call(*arguments: str) -> tuple[int, str, str]:
        status = main(["agree", "--labels", "labels.csv", "--human", "human", *arguments])
        text = capsys.readouterr()
        return status, text.out, text.err

    return call


HEADS = ("off_by_one", "good ")


def test_all_judges_side_by_side_the_best_first(run: Run):
    status, out, _ = run("--judge", "all", "--map", "coded:a=0,b=1,c=2,d=3")
    assert status == 0 and "left out: remark: label 'fine' (line 2) is not a number" in out
    rows = re.findall(r"(?m)^(\w+)  +(-?\d\.\d{3})", out)
    expected = {name: f"{cohen_kappa_score(HUMAN, side):.3f}" for name, side in (("good", GOOD), ("poor", POOR))}
    assert rows[:2] == [("coded", expected["good"]), ("good", expected["good"])]
    assert ("poor", expected["poor"]) in rows[2:4]
    near = sum(abs(h - g) <= 1 for h, g in zip(HUMAN, GOOD, strict=True)) / len(HUMAN)
    heads, cells = (re.split(" {2,}", next(line for line in out.splitlines() if there in line)) for there in HEADS)
    assert cells[heads.index("off_by_one")].strip() == f"{near:.3f}"
    for label in (1, 2, 3):
        told = out.split(f"relevant from {label} on")[1]
        yes = cohen_kappa_score([h >= label for h in HUMAN], [g >= label for g in GOOD])
        assert re.search(rf"good  +{yes:.3f}", told)


def test_the_order_is_by_kappa_at_the_threshold_or_by_the_figure_asked_for(run: Run):
    both = ("--judge", "poor", "--judge", "good")
    assert "judges against human, by kappa(rel=3)" in run(*both, "--relevant", "3")[1]
    assert "judges against human, by tau_b" in run(*both, "--sort-by", "tau_b")[1]
    status, out, err = run(*both, "--sort-by", "nonsense")
    assert (status, out) == (2, "") and "no figure 'nonsense' to sort by" in err


def test_what_one_judge_says_moves_no_other(run: Run):
    alone = json.loads(run("--judge", "good", "--json")[1])["pairs"][0]
    Path("labels.csv").write_text(Path("labels.csv").read_text().replace("q0,0,0,1,", "q0,0,0,9,"))
    found = json.loads(run("--judge", "all", "--json")[1])
    beside = {pair["judge"]: pair for pair in found["pairs"]}
    assert beside["good"] == alone and beside["poor"]["figures"] != alone["figures"]
    assert "coded" in found["left_out"] and found["relevant"] == "2"


def test_a_map_exchanges_labels_at_once_and_an_empty_one_is_missing(run: Run):
    swapped = json.loads(run("--judge", "good", "--map", "good:0=3,3=0.0,1=", "--json")[1])["pairs"][0]
    side = [{0: 3, 3: 0, 1: None}.get(g, g) for g in GOOD]
    kept = [(h, g) for h, g in zip(HUMAN, side, strict=True) if g is not None]
    assert swapped["n_missing"] == len(HUMAN) - len(kept)
    expected = cohen_kappa_score(*zip(*kept, strict=True))
    assert swapped["figures"]["kappa"]["value"] == pytest.approx(expected, abs=1e-6)


def test_a_map_of_qrels(tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]):
    for name, side in (("people", HUMAN), ("judge", GOOD)):
        (tmp_path / name).write_text("".join(f"q{i // 2} 0 d{i} {label}\n" for i, label in enumerate(side)))
    assert main(["agree", "--qrels", "people", "--qrels", "judge", "--map", "1=0,2=1,3=1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = cohen_kappa_score([h > 1 for h in HUMAN], [g > 1 for g in GOOD])
    assert found["pairs"][0]["figures"]["kappa"]["value"] == pytest.approx(expected, abs=1e-6)
    assert found["labels"] == ["0", "1"] and found["by"] == "query"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--judge", "good", "--map", "3"], "--map is '3'; write OLD=NEW"),
        (["--judge", "good", "--map", "9=1"], "'9', which is no label of 'human', 'good'"),
        (["--judge", "good", "--map", "1=2,1.0=3"], "names the label '1' twice"),
        (["--judge", "good", "--map", "0=x"], "labels.csv:2: label 'x' in column 'human' is not a number"),
    ],
)
def test_a_map_that_cannot_be_is_one_sentence(run: Run, arguments: list[str], says: str):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "") and says in err and err.count("\n") == 1


def test_a_table_without_a_judge(run: Run):
    Path("labels.csv").write_text("human,remark\n1,fine\n0,poor\n")
    status, out, err = run("--judge", "all")
    assert (status, out) == (2, "") and "has no judge's column beside 'human'" in err and "remark" in err
