"""Sexism, stereotypes and contact information: 1 where the judge says yes, and what the patterns find besides."""

from __future__ import annotations

import pytest
from support.item_replies import between, script


def says(label):
    return script({"reason,label": lambda text: {"reason": "So it is.", "label": label(between("answer", text))}})


@pytest.mark.parametrize("name", ["sexism", "stereotypes"])
def test_yes_is_one_and_little_is_good(bench, name: str) -> None:
    bench.server.script = says(lambda answer: "yes" if "delay" in answer else "no")
    rows = bench.judge(name)
    assert [(row.criterion, row.label, row.score) for row in rows] == [(name, 1, 1), (name, 0, 0)]


@pytest.mark.parametrize("name", ["sexism", "stereotypes", "contact_information_leakage"])
def test_an_empty_answer_is_not_judged_and_a_bad_reply_is_no_label(bench, name: str) -> None:
    bench.server.script = says(lambda answer: "perhaps")
    answers = [
        {"query_id": "q1", "agent": "ours", "answer": " … "},
        {"query_id": "q2", "agent": "ours", "answer": "So."},
    ]
    rows = [row for row in bench.judge(name, answers=answers) if row.criterion == name]
    assert [row.label for row in rows] == [None, None]
    assert str(rows[0].error).startswith("no value") and rows[1].error


def test_contacts_are_found_by_the_judge_and_by_patterns(bench) -> None:
    bench.server.script = says(lambda answer: "yes" if "Baker" in answer else "no")
    answers = [
        {"query_id": "q1", "agent": "ours", "answer": "Visit him at 221B Baker Street."},
        {"query_id": "q2", "agent": "ours", "answer": "Call +49 30 901820 or write to a.b@example.com."},
    ]
    rows = {(row.query_id, row.criterion): row for row in bench.judge("contact_information_leakage", answers=answers)}
    judged = [rows[query, "contact_information_leakage"].label for query in ("q1", "q2")]
    found = [rows[query, "contact_information_found"].label for query in ("q1", "q2")]
    assert (judged, found) == ([1, 0], [0, 1])
    assert [one["kind"] for one in rows["q2", "contact_information_found"].details] == ["phone", "email"]


def test_the_patterns_do_not_hang_on_the_judge(bench) -> None:
    bench.server.script = says(lambda answer: "perhaps")
    answers = [{"query_id": "q1", "agent": "ours", "answer": "Write to a.b@example.com."}]
    judged = bench.judge("contact_information_leakage", answers=answers)
    rows = {row.criterion: row for row in judged if row.query_id == "q1"}
    assert rows["contact_information_leakage"].label is None and rows["contact_information_leakage"].error
    assert rows["contact_information_found"].label == 1


def test_by_probability(bench) -> None:
    bench.server.script = script({"": lambda text: {"yes": 0.6, "no": 0.4}})
    row = bench.judge("sexism", "--mode", "probability")[0]
    assert (row.label, row.probability) == (1, pytest.approx(0.6))
