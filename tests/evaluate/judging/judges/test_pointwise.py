"""Whether an answer answers, 1 or 0; and the yes and no of Agent Evaluation: what is asked, what has no value."""

from __future__ import annotations

import json
import re

import pytest
from support.item_replies import between, script
from support.json_lines import write_lines
from support.judge_bench import ANSWERS
from support.loopback.behaviours import reply


def test_an_answer_is_1_and_an_admission_0(bench, capsys):
    def label(text):
        found = "could not" not in between("answer", text)
        return {"reason": "So it is.", "label": "yes" if found else "no"}

    bench.server.script = script({"reason,label": label})
    answers = [
        {"query_id": "q1", "agent": "ours", "answer": "In delay.h, wrongly or not.", "passages": ["p1"]},
        {"query_id": "q2", "agent": "ours", "answer": "I could not find it.", "passages": []},
    ]
    rows = bench.judge("no_answer", answers=answers)
    assert [(row.query_id, row.criterion, row.label, row.score) for row in rows] == [
        (query, criterion, label, label)
        for query, label in (("q1", 1), ("q2", 0))
        for criterion in ("query_answered", "query_answered_strict")
    ]
    assert "0.500" in capsys.readouterr().out


def test_an_agent_that_failed_has_strictly_not_answered_and_is_else_counted_as_failed(bench, capsys):
    bench.server.script = script({"reason,label": lambda text: {"reason": "So it is.", "label": "yes"}})
    answers = [
        {"query_id": "q1", "agent": "ours", "answer": "In delay.h.", "passages": ["p1"]},
        {"query_id": "q2", "agent": "ours", "answer": None, "error": "timed out"},
    ]
    rows = {(row.query_id, row.criterion): row for row in bench.judge("no_answer", answers=answers)}
    raw, strict = rows["q2", "query_answered"], rows["q2", "query_answered_strict"]
    assert (raw.label, raw.error) == (None, "no answer to judge: timed out")
    assert (strict.label, strict.reason, strict.error) == (0, "the agent gave no answer: timed out", None)
    assert len(bench.server.requests) == 1
    means = capsys.readouterr().out.partition("threshold")[0].splitlines()
    printed = [re.split(r"\s{2,}", line.strip()) for line in means if line.startswith("query_answered")]
    shown = {cells[0]: [cells[2], *cells[-2:]] for cells in printed}
    assert shown == {"query_answered": ["1.000", "1", "1"], "query_answered_strict": ["0.500", "2", "0"]}


OF_ANSWERS = ("relevance_to_query", "agent_groundedness", "safety", "correctness", "context_sufficiency")
ALL = (*OF_ANSWERS, "chunk_relevance")


def says(label: str):
    return lambda number, body: reply(json.dumps({"reason": "So it is.", "label": label}))


def asked(bench) -> list[str]:
    """The user's part of every request."""
    return [request.body["messages"][-1]["content"] for request in bench.server.requests]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("word", "label"), [("no", 0.0), ("yes", 1.0)])
def test_yes_is_1_and_no_is_0_with_the_reason(bench, name, word, label):
    bench.server.script = says(word)
    rows = bench.judge(name)
    subjects = ["p1", "p2", "p3"] if name == "chunk_relevance" else ["ours", "ours"]
    assert [row.subject for row in rows] == subjects
    assert {(row.criterion, row.label, row.score, row.reason) for row in rows} == {(name, label, label, "So it is.")}


@pytest.mark.parametrize(
    ("name", "shown", "hidden"),
    [
        ("relevance_to_query", ["<query>", "<answer>"], ["<passage", "<expected_answer>"]),
        ("agent_groundedness", ['<passage number="1">', '<passage number="2">', "<answer>"], ["<expected_answer>"]),
        ("safety", ["<query>", "<answer>"], ["<passage", "<expected_answer>"]),
        ("correctness", ["<expected_answer>", "<answer>"], ["<passage"]),
        ("context_sufficiency", ['<passage number="1">', "<expected_answer>"], ["<answer>"]),
        ("chunk_relevance", ["<query>", "<passage>"], ["<answer>", "<expected_answer>"]),
    ],
)
def test_a_judge_sees_what_it_judges_by_and_nothing_else(bench, name, shown, hidden):
    bench.server.script = says("yes")
    bench.judge(name, answers=ANSWERS[:1])
    first = min(asked(bench), key=lambda text: "interrupts" in text)
    assert all(part in first for part in shown)
    assert not any(part in first for part in hidden)


def test_what_needs_an_expected_response_passes_over_queries_without(bench, capsys):
    bench.server.script = says("yes")
    answers = [{**answer, "query_id": f"own{i}", "query": "Which?"} for i, answer in enumerate(ANSWERS)]
    answers[0]["expected_response"] = "util/delay.h"
    queries = [{"_id": f"own{i}", "text": "Which?"} for i in range(2)]
    queries[0]["metadata"] = {"expected_response": "util/delay.h"}
    path = write_lines(bench.folder / "q.jsonl", queries)
    rows = bench.judge("correctness,safety", "--queries", str(path), answers=answers)
    found = [(row.criterion, row.query_id) for row in rows]
    assert found == [("correctness", "own0"), ("safety", "own0"), ("safety", "own1")]
    assert "correctness passed over 1 of 2 queries" in capsys.readouterr().err


def test_with_nothing_retrieved_the_judges_by_passages_have_no_value(bench):
    bench.server.script = says("yes")
    answers = [{**ANSWERS[0], "passages": []}, ANSWERS[1]]
    rows = bench.judge("agent_groundedness,context_sufficiency,chunk_relevance,safety", answers=answers)
    found = {(row.criterion, row.query_id, row.subject): row.error or row.label for row in rows}
    assert found == {
        ("agent_groundedness", "q1", "ours"): "no value: no passage was retrieved",
        ("agent_groundedness", "q2", "ours"): 1,
        ("context_sufficiency", "q1", "ours"): "no value: no passage was retrieved",
        ("context_sufficiency", "q2", "ours"): 1,
        ("chunk_relevance", "q2", "p3"): 1,
        ("safety", "q1", "ours"): 1,
        ("safety", "q2", "ours"): 1,
    }


RULES = {
    "agent_groundedness": ("support all or almost all of what the answer states", "at least one statement of fact"),
    "correctness": ("Minor omissions and inaccuracies are forgiven", "and none that the query\n  asks for is missing"),
    "context_sufficiency": ("each fact that is missing or contradicted", "`reason` in one or two sentences, then"),
}
"""What the instructions of a judge say: the documented rule, and ours where it departs from that."""


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("prompts", [None, "paper", "ragassay"])
def test_the_documented_rule_is_the_default_and_ours_is_named(bench, name, prompts):
    bench.server.script = says("yes")
    bench.judge(name, *bench.config(*(["[evaluate]", f'prompts = "{prompts}"'] if prompts else [])))
    said = bench.server.requests[0].body["messages"][0]["content"]
    theirs, ours = RULES[name]
    assert (theirs in said, ours in said) == (prompts != "ragassay", prompts == "ragassay")


def test_the_whole_family_is_named_by_one_word(bench):
    bench.server.script = says("yes")
    rows = bench.judge("agent-evaluation")
    assert {row.criterion for row in rows} == set(ALL)
