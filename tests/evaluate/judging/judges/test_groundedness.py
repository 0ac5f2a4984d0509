"""Groundedness: an answer split into claims, each judged against all passages; the score is their mean."""

from __future__ import annotations

import json
import re

import pytest
from support.judge_bench import ANSWERS
from support.loopback.behaviours import prose, reply, token_probabilities
from support.triad_bench import graded, schema, settings, system, user

SOUND = "The header util/delay.h declares _delay_ms(), which waits busily."


def answer(text, passages=("p1", "p2")):
    return [{"query_id": "q1", "agent": "ours", "answer": text, "passages": list(passages)}, ANSWERS[1]]


def script(kinds, grades):
    """Marks the sentences of q1 by `kinds`; a claim gets the reply of the first of `grades` that it holds."""

    def behave(number, body):
        if "sentences" in schema(body)["properties"]:
            shown = re.findall(r'<sentence number="(\d+)">', user(body))
            given = kinds if "_delay_ms" in user(body) else ["claim"] * len(shown)
            marks = [{"number": int(n), "reason": "Read.", "kind": kind} for n, kind in zip(shown, given, strict=True)]
            return reply(json.dumps({"sentences": marks}))
        claim = user(body).split("<claim>\n")[1].split("\n</claim>")[0]
        return next((given for part, given in grades.items() if part in claim), graded(0, evidence=["NOTHING FOUND"]))

    return behave


def judged(bench, text, kinds, grades, *more, **fields):
    bench.server.script = script(kinds, grades)
    return bench.judge("groundedness", *more, answers=answer(text, **fields))[0]


def claims_asked(bench):
    return [request.body for request in bench.server.requests if "<claim>" in user(request.body)]


def test_the_score_is_the_mean_over_claims(bench):
    text = "Sure! It is declared in util/delay.h [1]. It waits for 4 ms. The passages do not say since when."
    grades = {"util/delay.h": graded(3, evidence=[SOUND]), "4 ms": graded(0, evidence=["NOTHING FOUND"])}
    row = judged(bench, text, ["nothing", "claim", "claim", "abstention"], grades)
    assert row.label == pytest.approx((3 + 0 + 3) / 3)
    assert row.score == pytest.approx(2 / 3)
    assert [detail["kind"] for detail in row.details] == ["nothing", "claim", "claim", "abstention"]
    assert [detail.get("label") for detail in row.details] == [None, 3, 0, 3]
    assert [detail.get("evidence") for detail in row.details] == [None, [SOUND], ["NOTHING FOUND"], ["ABSTENTION"]]
    assert row.details[1] == {
        "claim": "It is declared in util/delay.h [1].",
        "kind": "claim",
        "evidence": [SOUND],
        "evidence_in": ["p1"],
        "reason": "So it is.",
        "label": 3,
    }


def test_one_request_splits_and_each_claim_is_one_with_all_passages_first(bench):
    judged(bench, "It is in util/delay.h. It waits busily.", ["claim", "claim"], {})
    assert len(bench.server.requests) == 2 + 2 + 2
    q1 = [user(body) for body in claims_asked(bench) if "util/delay.h" in user(body)]
    begin = [text.split("<claim>")[0] for text in q1]
    assert len(q1) == 2 and begin[0] == begin[1]
    assert begin[0].index(SOUND) < begin[0].index("A busy wait") < begin[0].index("<question>")
    assert list(schema(claims_asked(bench)[0])["properties"]) == ["evidence", "reason", "label"]


@pytest.mark.parametrize(
    ("quotation", "where"),
    [
        ("util/delay.h   DECLARES\n_delay_ms()", "p1"),
        ("“keeps the processor occupied”", "p2"),
        ("util/delay.h defines _delay_ms()", None),
        ('""', None),
    ],
)
def test_a_quotation_is_looked_up_in_the_passages(bench, quotation, where):
    row = judged(bench, "It waits busily.", ["claim"], {"busily": graded(2, evidence=[quotation])})
    assert (row.label, row.details[0]["evidence_in"]) == (2, [where])


def test_an_admission_of_not_knowing_gets_the_highest_grade_and_asks_no_more(bench):
    text = "I could not find in the passages which header has _delay_ms()."
    row = judged(bench, text, ["abstention"], {}, passages=[])
    assert (row.label, row.score) == (3, 1)
    assert not [body for body in claims_asked(bench) if "delay" in user(body)]


@pytest.mark.parametrize("text", ["Hello! Do you mean _delay_ms()?", "…"])
def test_an_answer_that_states_nothing_has_no_value(bench, text):
    row = judged(bench, text, ["nothing", "nothing"], {})
    assert (row.label, row.error) == (None, "no value: the answer states nothing")


def test_claims_without_any_passage_have_no_value(bench):
    row = judged(bench, "It is in util/delay.h.", ["claim"], {}, passages=[])
    assert row.error == "no value: no retrieved passage to hold the claims against"
    assert [detail["claim"] for detail in row.details] == ["It is in util/delay.h."]


def test_a_claim_that_cannot_be_judged_fails_the_whole(bench):
    grades = {"util": graded(3, evidence=[SOUND]), "busily": prose()}
    row = judged(bench, "It is in util/delay.h. It waits busily.", ["claim", "claim"], grades)
    assert row.label is None
    assert row.error.startswith("1 of 2 claims could not be judged: the reply does not fit the schema")
    assert [("label" in detail, "error" in detail) for detail in row.details] == [(True, False), (False, True)]


def test_evidence_is_owed(bench):
    row = judged(bench, "It waits busily.", ["claim"], {"busily": graded(3, evidence=[])})
    assert row.error.startswith("1 of 1 claims could not be judged: ")
    assert "NOTHING FOUND" in row.error


@pytest.mark.parametrize("numbers", [[1], [1, 1], [2, 1], [1, 2, 3]])
def test_marks_that_skip_or_repeat_a_sentence_are_asked_again_then_an_error(bench, numbers):
    marks = [{"number": number, "reason": "Read.", "kind": "nothing"} for number in numbers]
    bench.server.script = lambda number, body: reply(json.dumps({"sentences": marks}))
    row = bench.judge("groundedness", answers=answer("It is in util/delay.h. It waits busily."))[0]
    assert row.label is None
    assert "the sentences 1 to 2 in their order" in row.error
    assert len([r for r in bench.server.requests if "util/delay.h" in user(r.body)]) == 2


def test_the_model_can_write_the_claims(bench):
    claims = [
        {"text": "_delay_ms() is in util/delay.h.", "kind": "claim"},
        {"text": "Not known.", "kind": "abstention"},
    ]

    def behave(number, body):
        if "claims" in schema(body)["properties"]:
            return reply(json.dumps({"claims": claims}))
        return graded(1, evidence=["util/delay.h"])

    bench.server.script = behave
    row = bench.judge("groundedness", *settings(bench, "groundedness", 'split = "model"'))[0]
    assert [detail["claim"] for detail in row.details] == ["_delay_ms() is in util/delay.h.", "Not known."]
    assert row.label == pytest.approx((1 + 3) / 2)


def test_a_whole_answer_can_be_one_claim_for_one_request(bench):
    bench.server.script = lambda number, body: graded(2, evidence=["sei()"])
    rows = bench.judge("groundedness", *settings(bench, "groundedness", 'split = "whole"'))
    assert [row.label for row in rows] == [2, 2]
    assert [detail["claim"] for detail in rows[1].details] == ["By sei() [1]. It is a macro."]
    assert len(bench.server.requests) == 2
    assert "<answer>" not in user(bench.server.requests[0].body)


def test_the_scale_can_be_set_and_an_abstention_is_at_its_top(bench):
    grades = {"util": graded(4, evidence=[SOUND])}
    text = "It is in util/delay.h. Since when is not said."
    row = judged(bench, text, ["claim", "abstention"], grades, *settings(bench, "groundedness", "scale = [0, 10]"))
    assert (row.label, row.score) == (7, pytest.approx(0.7))
    assert "Grade with a whole number from 0 to 10" in system(claims_asked(bench)[0])


def test_prompts_of_the_users_own(bench):
    (bench.folder / "sort.md").write_text(
        'Sort.\n## User\n{% for s in sentences %}<sentence number="{{ loop.index }}">{{ s }}{% endfor %} _delay_ms'
    )
    (bench.folder / "grade.md").write_text("Grade.\n## User\n<claim>\n{{ claim }}\n</claim>")
    more = settings(bench, "groundedness", 'split_prompt = "sort.md"', 'prompt = "grade.md"')
    bench.server.script = script(["claim"], {"": graded(1, evidence=["NOTHING FOUND"])})
    bench.judge("groundedness", *more, answers=answer("It waits busily.")[:1])
    assert {system(request.body) for request in bench.server.requests} == {"Sort.", "Grade."}


def test_probabilities_give_the_mean_of_the_likeliest_and_of_the_expected_grades(bench):
    marks = [{"number": n, "reason": "Read.", "kind": kind} for n, kind in ((1, "claim"), (2, "abstention"))]

    def behave(number, body):
        if "response_format" in body:
            return reply(json.dumps({"sentences": marks}))
        return token_probabilities({"0": 0.2, "1": 0.5, "2": 0.2, "3": 0.1})

    bench.server.script = behave
    text = "It is in util/delay.h. Since when is not said."
    row = bench.judge("groundedness", "--mode", "probability", answers=answer(text))[0]
    assert row.label == pytest.approx((1 + 3) / 2)
    assert row.expected == pytest.approx((1.2 + 3) / 2)
    assert row.details[0]["probability"] == pytest.approx(0.5)
    assert row.details[1]["evidence"] == ["ABSTENTION"]
