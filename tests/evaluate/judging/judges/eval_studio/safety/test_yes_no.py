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
    rows = bench.judge("contact_information_leakage,contact_information_found", answers=answers)
    assert [(row.criterion, row.judge, row.label) for row in rows] == [
        ("contact_information_leakage", "openai:judge", 1),
        ("contact_information_leakage", "openai:judge", 0),
        ("contact_information_found", "patterns", 0),
        ("contact_information_found", "patterns", 1),
    ]
    assert [[one["kind"] for one in row.details] for row in rows] == [[], ["phone", "email"]] * 2


def test_by_probability(bench) -> None:
    bench.server.script = script({"": lambda text: {"yes": 0.6, "no": 0.4}})
    row = bench.judge("sexism", "--mode", "probability")[0]
    assert (row.label, row.probability) == (1, pytest.approx(0.6))
