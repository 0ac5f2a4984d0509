"""`ragassay judge` on files: thresholds, pass or fail with its root cause, what stands out, and how much is judged."""

from __future__ import annotations

import json

import pytest
from support.json_lines import records
from support.judge_bench import ANSWERS
from support.loopback.behaviours import reply

TWO = [*ANSWERS, *({**row, "agent": "theirs", "latency_s": 2.0} for row in ANSWERS)]


def no(number, body):
    return reply(json.dumps({"reason": "It is not so.", "label": "no"}))


def told(bench, capsys, names, *more, answers=None):
    bench.judge(names, "--json", *more, answers=answers)
    return json.loads(capsys.readouterr().out)


def test_what_fails_and_of_what_is_written_and_printed(bench, capsys):
    bench.server.script = no
    verdicts = bench.folder / "verdicts.jsonl"
    found = told(bench, capsys, "correctness,chunk_relevance,safety", "--verdicts", str(verdicts))
    shares = found["threshold_shares"]["ours"]["correctness"]
    assert found["thresholds"]["correctness"] == 0.5 and shares["passed"]["value"] == 0
    assert (shares["failed"]["n"], shares["retrieval_failures"]["value"]) == (2, 1.0), "no passage is of use"
    assert shares["parse_failures"]["value"] == 0
    rows = records(verdicts)
    assert [(row["query_id"], row["verdict"], row["failure"]) for row in rows] == [
        ("q1", "fail", "retrieval"),
        ("q2", "fail", "retrieval"),
    ]
    assert rows[0]["failed"] == ["correctness", "safety", "chunk_relevance"] and "expected one" in rows[0]["fix"]
    problem = next(one for one in found["problems"] if one["criterion"] == "correctness")
    assert "below its threshold of 0.5" in problem["sentence"]


def test_a_reply_that_cannot_be_read_stands_apart_from_what_fails(bench, capsys):
    bench.server.script = lambda number, body: reply("I will not say.")
    shares = told(bench, capsys, "safety")["threshold_shares"]["ours"]["safety"]
    assert shares["parse_failures"]["value"] == 1.0 and shares["passed"]["value"] is None
    assert (shares["passed"]["n"], shares["passed"]["n_failed"]) == (0, 2)


def test_agents_that_cannot_be_told_apart_are_said_to_be(bench, capsys):
    others = [{**row, "answer": f"{row['answer']} So it goes."} if row["agent"] == "theirs" else row for row in TWO]
    usual = bench.server.script
    bench.server.script = lambda number, body: (no if "So it goes" in str(body) else usual)(number, body)
    found = told(bench, capsys, "safety", answers=others)
    best = next(one for one in found["insights"] if one["kind"] == "best")
    assert best["told_apart"] is False and "cannot be told apart from" in best["sentence"]


def test_the_threshold_that_is_given_counts(bench, capsys):
    found = told(bench, capsys, "groundedness", "--threshold", "groundedness=1.5")
    assert found["thresholds"] == {"groundedness": 1.5}
    assert bench.judge("groundedness", "--threshold", "groundedness=9") is not None and bench.status == 2
    assert "groundedness is 9; its labels are from 0 to 3" in capsys.readouterr().err
    assert bench.judge("groundedness", "--threshold", "groundedness") is not None and bench.status == 2


def test_only_the_first_answers_are_judged_and_it_is_said(bench, capsys):
    rows = bench.judge("safety,chunk_relevance", "--max-rows", "1", answers=TWO)
    assert {(row.query_id, row.criterion) for row in rows} == {("q1", "safety"), ("q1", "chunk_relevance")}
    assert {row.subject for row in rows if row.criterion == "safety"} == {"ours"}
    assert "only the first 1 answers are judged" in capsys.readouterr().err
    assert not any(row.error for row in rows), "what is not judged is no failure"


def test_replies_are_kept_where_that_is_asked_for(bench):
    kept = bench.folder / "kept.jsonl"
    bench.judge("safety", "--kept-replies", str(kept))
    assert [(row["query_id"], row["criteria"]) for row in records(kept)] == [("q1", ["safety"]), ("q2", ["safety"])]
    assert all(row["replies"][0]["value"]["label"] == "yes" for row in records(kept))


@pytest.mark.parametrize("more", [("--max-rows", "0"), ("--verdicts", "judgments.jsonl")])
def test_what_cannot_be_is_refused(bench, capsys, monkeypatch, more):
    monkeypatch.chdir(bench.folder)
    bench.judge("safety", *more)
    assert bench.status == 2 and capsys.readouterr().err.count("\n") == 1
