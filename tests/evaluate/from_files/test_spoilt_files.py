"""`ragassay score`, `rate` and `search` on spoilt files from elsewhere: one sentence, status 2, nothing written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.json_lines import write_lines

from ragassay.cli import main

RUN = "q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 2.0 t\n"
QRELS = "q1 0 d1 1\n"
GAME = {"query_id": "q", "agent_a": "A", "agent_b": "B", "first": "a", "judge": "j", "winner": "a"}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str]) -> str:
    text = capsys.readouterr().err.strip()
    assert text.startswith("ragassay: ") and "\n" not in text
    return text


@pytest.mark.parametrize(
    ("qrels", "run", "measure", "says"),
    [
        ("q1 0 d1 1\nq1 0 d1 2\n", RUN, "AP", "qrels:2: gives 'd1' another label"),
        ("q1 0 d1 1e30\n", RUN, "AP", "qrels:1: label 1e30"),
        ("q1 0 d1 99999999999\n", RUN, "AP", "qrels:1: label"),
        ("q1 0 d1 1_0\n", RUN, "AP", "qrels:1: '1_0' is not a number"),
        ("q1 0 d1 nan\n", RUN, "AP", "qrels:1: 'nan' is not a finite number"),
        ("q9 0 d1 1\n", RUN, "AP", "shares no query"),
        ("", RUN, "AP", "qrels: has no query"),
        (QRELS, "q1 Q0 d1 1 inf t\n", "AP", "run:1: 'inf'"),
        (QRELS, RUN + "x" * 100_000 + "\n", "AP", "run:3: has 1 columns"),
        (QRELS, RUN, "alpha_nDCG@5", "is not a measure"),
        (QRELS, RUN, 'nDCG(dcg="exp-log2")@5', "is not a measure"),
        (QRELS, RUN, "R@99999999999999999999", "is not a measure"),
    ],
)
def test_score(qrels: str, run: str, measure: str, says: str, capsys: pytest.CaptureFixture[str]):
    Path("qrels").write_text(qrels)
    Path("run").write_text(run)
    assert main(["score", "--qrels", "qrels", "--run", "run", "--measure", measure]) == 2
    assert says in said(capsys)


def test_a_label_given_twice_alike_is_one_label(capsys: pytest.CaptureFixture[str]):
    Path("qrels").write_text(QRELS * 2)
    Path("run").write_text(RUN)
    assert main(["score", "--qrels", "qrels", "--run", "run", "--measure", "AP", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["AP"]["value"] == 1.0


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (json.dumps(GAME | {"agent_b": "A"}), "games:1: agent 'A' plays itself"),
        (json.dumps(GAME | {"agent_a": ""}), "games:1: agent_a"),
        (json.dumps(GAME | {"probability": float("nan")}), "games:1: probability"),
        (json.dumps(GAME | {"probability": 5}), "games:1: probability"),
        (json.dumps(GAME | {"winner": None}), "games:1: exactly one of winner and error must be set"),
        ("[" * 100_000, "games:1: is not JSON"),
        ('{"query_id": ' + "9" * 5000 + "}", "games:1: is not JSON"),
        ("", "has no game"),
    ],
)
@pytest.mark.parametrize("method", ["elo", "bradley-terry"])
def test_rate(line: str, says: str, method: str, capsys: pytest.CaptureFixture[str]):
    Path("games").write_text(line + "\n")
    assert main(["rate", "--games", "games", "--method", method]) == 2
    assert says in said(capsys)


def test_rate_says_how_sure_the_order_is(capsys: pytest.CaptureFixture[str]):
    pairs = (("A", "B"), ("B", "C"), ("C", "A"))
    games = [GAME | {"query_id": f"q{n}", "agent_a": a, "agent_b": b} for n in range(9) for a, b in pairs]
    write_lines(Path("games"), games)
    assert main(["rate", "--games", "games", "--bootstrap", "100"]) == 0
    shown = capsys.readouterr().out
    assert "P(best)" in shown and "1 to 3" in shown
    assert "1 of 1 triples of agents run in a circle" in shown


def test_score_says_which_queries_are_scored_0_for_want_of_a_ranking(capsys: pytest.CaptureFixture[str]):
    Path("qrels").write_text(QRELS + "q2 0 d1 1\n")
    Path("run").write_text(RUN)
    assert main(["score", "--qrels", "qrels", "--run", "run", "--measure", "AP"]) == 0
    assert "queries of the qrels that the run lacks, each scored 0: 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    "option",
    [
        ["--seed", "-1"],
        ["--k-factor", "1e308"],
        ["--k-factor", "nan"],
        ["--initial", "1e308"],
        ["--tournaments", "1000000000000"],
        ["--bootstrap", "1000000000000"],
    ],
)
@pytest.mark.parametrize("method", ["elo", "bradley-terry"])
def test_rate_with_numbers_out_of_range(option: list[str], method: str, capsys: pytest.CaptureFixture[str]):
    Path("games").write_text(json.dumps(GAME) + "\n")
    assert main(["rate", "--games", "games", "--method", method, *option]) == 2
    assert "it must be" in said(capsys)


def search(*options: str) -> int:
    Path("corpus.jsonl").write_text('{"_id": "d1", "text": "watchdog timer"}\n')
    Path("queries.jsonl").write_text('{"_id": "q1", "text": "watchdog"}\n')
    return main(["search", "--corpus", "corpus.jsonl", "--queries", "queries.jsonl", *options])


@pytest.mark.parametrize("out", ["corpus.jsonl", "./queries.jsonl"])
def test_search_does_not_write_over_what_it_reads(out: str, capsys: pytest.CaptureFixture[str]):
    assert search("--out", out) == 2
    assert "would be written over" in said(capsys)
    assert Path("queries.jsonl").read_text().startswith('{"_id": "q1"')


@pytest.mark.parametrize("k", ["0", "-1"])
def test_search_with_a_fusion_constant_out_of_range(k: str, capsys: pytest.CaptureFixture[str]):
    assert search("--out", "run.trec", "--retriever", "hybrid", "--rrf-k", k) == 2
    assert "rrf_k is" in said(capsys) and not Path("run.trec").exists()


def test_search_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "folder").mkdir()
    assert search("--out", "folder") == 2
    assert "folder: cannot be used" in said(capsys)
