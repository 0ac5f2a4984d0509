"""`ragassay judge` on files: thresholds, pass or fail with its root cause, what stands out, and how much is judged."""

from __future__ import annotations

import csv
import json

import pytest
from support.json_lines import records, write_lines
from support.judge_bench import ANSWERS
from support.loopback.behaviours import reply

from ragassay.cli import main

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


def test_agents_that_cannot_be_told_apart_are_said_to_be(bench, tmp_path, capsys):
    """By two answers, of which one differs; and of agents with the same mean none is called best."""
    right = [{**row, "agent": "theirs", "answer": CHANGED[0]["answer"]} for row in CHANGED]
    _, found = on_files(tmp_path, capsys, "rouge", answers=[*CHANGED, *right])
    best = next(one for one in found["insights"] if (one["kind"], one["measure"]) == ("best", "rouge_1"))
    assert best["subject"] == "theirs" and best["figure"]["value"] == 1.0
    assert best["told_apart"] is False and "cannot be told apart from ours" in best["sentence"]
    same = told(bench, capsys, "safety", answers=TWO)["insights"]
    assert not [one for one in same if one["measure"] == "safety"]


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


LINKS = {"perturbed_from": "a", "perturbation": "typos"}
ASKED_AGAIN = [
    {"_id": "a", "text": "Which header?", "metadata": {"expected_response": "It is in util/delay.h."}},
    {"_id": "b", "text": "Whihc header?", "metadata": {"expected_response": "It is in util/delay.h."} | LINKS},
]
CHANGED = [
    {"query_id": "a", "agent": "ours", "answer": "It is in util/delay.h."},
    {"query_id": "b", "agent": "ours", "answer": "It is in stdio.h."},
]


def on_files(tmp_path, capsys, names, *more, answers=CHANGED, queries=ASKED_AGAIN):
    """The status, and what --json says or else the sentence, of `ragassay judge` without a model."""
    given = ["--answers", str(write_lines(tmp_path / "a.jsonl", answers))]
    given += ["--queries", str(write_lines(tmp_path / "q.jsonl", queries))] if queries else []
    status = main(["judge", *given, "--with", names, "--out", str(tmp_path / "j.jsonl"), "--json", *more])
    said = capsys.readouterr()
    return status, json.loads(said.out) if status == 0 else said.err


@pytest.mark.parametrize(("threshold", "flips"), [([], 1.0), (["--threshold", "rouge_1=0.5"], 0.0)])
def test_flips_on_files_heed_the_threshold_and_are_problems(tmp_path, capsys, threshold, flips):
    """Three or four of six words are shared: 2 · 3/(4 + 6) or more, so that 0.5 is reached and 0.75 is not."""
    status, found = on_files(tmp_path, capsys, "rouge", *threshold)
    assert status == 0 and found["perturbed"]["flips"]["ours"]["rouge_1"]["all"]["value"] == flips
    problems = [one["criterion"] for one in found["problems"] if one["kind"] == "flips"]
    assert ("rouge_1" in problems) is bool(flips) and "rouge_2" in problems


def test_what_is_asked_again_is_one_cluster_in_every_interval(tmp_path, capsys):
    """Two queries of one cluster: there is no interval over one cluster."""
    _, found = on_files(tmp_path, capsys, "rouge")
    mean, passed = found["means"]["ours"]["rouge_1"], found["threshold_shares"]["ours"]["rouge_1"]["passed"]
    assert (mean["ci_low"], passed["ci_low"]) == (None, None) and (mean["n"], passed["n"]) == (2, 2)


def test_what_was_retrieved_is_not_known_of_a_file_that_names_no_passage(tmp_path, capsys):
    verdicts = tmp_path / "v.jsonl"
    _, found = on_files(tmp_path, capsys, "rouge", "--verdicts", str(verdicts))
    shares = found["threshold_shares"]["ours"]["rouge_1"]
    assert (shares["retrieval_failures"]["value"], shares["unexplained_failures"]["value"]) == (0.0, 0.5)
    assert records(verdicts)[1]["failure"] == "unexplained"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["rouge,safety"], "ragassay: --model is missing; name the judge, such as openai:gpt-4o, or give --config"),
        (["perplexity"], "ragassay: perplexity asks a model and none is named; "),
        (["rouge", "--mode", "label"], "ragassay: --mode is without --model"),
        (["rouge", "--threshold", "roug=0.2"], "ragassay: --threshold names 'roug', which no judge named gives; did"),
        (["roug"], "ragassay: there is no judge named 'roug'; did you mean 'rouge'?"),
    ],
)
def test_without_a_model_what_asks_one_is_refused(tmp_path, capsys, options, said):
    status, told = on_files(tmp_path, capsys, *options)
    assert status == 2 and told.startswith(said) and not (tmp_path / "j.jsonl").exists()


def test_a_json_bomb_is_a_failure_to_judge_and_leaves_the_verdict_open(tmp_path, capsys):
    bomb = {"query": "Which?", "agent": "ours", "answer": "[" * 100_000, "contexts": ["{}"]}
    verdicts = tmp_path / "v.jsonl"
    _, found = on_files(tmp_path, capsys, "json_schema", "--verdicts", str(verdicts), answers=[bomb], queries=None)
    (row,) = records(verdicts)
    assert row["verdict"] == "undecided" and row["errors"]["json_answer_parses"].startswith("the JSON is nested too")
    assert found["means"]["ours"]["json_answer_parses"]["n_failed"] == 1
    assert found["means"]["ours"]["json_context_parses"]["value"] == 1.0


def test_one_relevant_chunk_is_enough_and_recall_is_no_judge(bench, capsys):
    """By Agent Evaluation's method, as the export has it; a threshold that is given counts for the mean after all."""

    def one_of_three(number, body):
        text = body["messages"][-1]["content"]
        label = "yes" if "waits busily" in text or "Interrupts are enabled" not in text else "no"
        return reply(json.dumps({"reason": "So it is.", "label": label}))

    bench.server.script = one_of_three
    asked = {"query": "Which header has _delay_ms()?", "expected_docs": ["another", "third"]}
    write_lines(bench.folder / "rows.jsonl", [{"answer": "util/delay.h", **asked, "contexts": CHUNKS}])
    out, verdicts = bench.folder / "out.jsonl", bench.folder / "verdicts.jsonl"

    def judged(*more):
        files = ("--answers", str(bench.folder / "rows.jsonl"), "--out", str(out), "--verdicts", str(verdicts))
        model = ("--model", "openai:judge", "--base-url", bench.server.base_url)
        assert main(["judge", *files, *model, "--with", "chunk_relevance,document_recall", "--json", *more]) == 0
        shares = json.loads(capsys.readouterr().out)["threshold_shares"]["rows"]
        [row] = records(verdicts)
        return {name: one["passed"]["value"] for name, one in shares.items()}, row["verdict"], row["failed"]

    below = {"chunk_relevance": 0, "document_recall": 0}
    assert judged() == (below, "pass", []), "the mean of three is a third"
    assert judged("--threshold", "chunk_relevance=0.5") == (below, "fail", ["chunk_relevance"])


def test_the_table_has_the_columns_of_agent_evaluation(bench, capsys):
    """As `export --format agent-evaluation` of an experiment: our names are theirs, the verdict with them."""
    bench.server.script = no
    table = bench.folder / "table.csv"
    told(bench, capsys, "agent-evaluation", "--export", str(table))
    with table.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["request_id"], row["agent"], row["request"]) for row in rows] == [
        ("q1", "ours", "Which header has _delay_ms()?"),
        ("q2", "ours", "How are interrupts enabled?"),
    ]
    assert json.loads(rows[0]["retrieval/llm_judged/chunk_relevance/ratings"]) == ["no", "no"]
    assert (rows[0]["response/llm_judged/groundedness/rating"], rows[0]["expected_response"]) == ("no", "util/delay.h")
    assert rows[0]["response/overall_assessment/rating"] == "no"
    assert rows[0]["response/overall_assessment/rationale"].startswith("Root cause: context_sufficiency.")
    bench.judge("umbrela", "--export", str(table))
    assert bench.status == 2 and "no judge of Agent Evaluation takes part" in capsys.readouterr().err


CHUNKS = [
    {"text": "The header util/delay.h declares _delay_ms(), which waits busily."},
    {"text": "Interrupts are enabled by sei()."},
    {"text": "Interrupts are enabled by sei(), or by the instruction of this name."},
]
