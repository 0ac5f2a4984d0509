"""The RAG triad: passages and answers graded on the scale that is set, and answers split into claims."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from support.judge_bench import ANSWERS
from support.loopback.behaviours import prose, reply, token_probabilities
from support.triad_bench import graded, schema, settings, system, user


def test_each_passage_is_graded_alone_and_relevant_from_2(bench):
    grades = {"util/delay.h declares": 3, "keeps the processor": 1, "enabled by sei()": 2}
    bench.server.script = lambda number, body: graded(next(grades[key] for key in grades if key in user(body)))
    rows = bench.judge("context_relevance")
    assert [(row.query_id, row.subject, row.label) for row in rows] == [
        ("q1", "p1", 3),
        ("q1", "p2", 1),
        ("q2", "p3", 2),
    ]
    assert [row.score for row in rows] == pytest.approx([1, 1 / 3, 2 / 3])
    assert [row.details for row in rows] == [({"relevant": True},), ({"relevant": False},), ({"relevant": True},)]
    assert rows[0].reason == "So it is."
    assert all(user(request.body).count("<passage>") == 1 for request in bench.server.requests)


@pytest.mark.parametrize(
    ("scale", "label", "score", "relevant"),
    [
        ([0, 1], 1, 1.0, True),
        ([0, 1], 0, 0.0, False),
        ([0, 10], 7, 0.7, True),
        ([0, 10], 6, 0.6, False),
        ([1, 5], 4, 0.75, True),
        ([1, 5], 3, 0.5, False),
    ],
)
def test_another_scale_gives_the_same_on_0_to_1(bench, scale, label, score, relevant):
    bench.server.script = lambda number, body: graded(label)
    row = bench.judge("context_relevance", *settings(bench, "context_relevance", f"scale = {scale}"))[0]
    assert (row.label, row.score, row.details) == (label, pytest.approx(score), ({"relevant": relevant},))
    asked = bench.server.requests[0].body
    assert schema(asked)["properties"]["label"]["enum"] == list(range(scale[0], scale[1] + 1))
    assert f"Grade with a whole number from {scale[0]} to {scale[1]}" in system(asked)


def shown(bench, *lines: str, evaluate: str = "") -> str:
    """The instructions under these settings, with a line of `[evaluate]` before them."""
    bench.server.script = lambda number, body: graded(0)
    config = bench.config("[evaluate]", evaluate, "[evaluate.settings.context_relevance]", *lines)
    bench.judge("context_relevance", *config)
    return system(bench.server.requests[-1].body)


def test_seven_examples_are_shown_unless_others_or_none_are_wanted(bench):
    assert shown(bench).count("<example>") == 7
    assert shown(bench, "examples = []").count("<example>") == 0
    own = 'examples = [{query = "Baud rate?", passage = "It is 9600.", label = 3}]'
    said = shown(bench, own, 'criteria = "Tables count as text."')
    assert said.count("<example>\nquery: Baud rate?\npassage: It is 9600.\nlabel: 3\n</example>") == 1
    assert said.count("<example>") == 1 and "Heed this besides: Tables count as text." in said
    assert shown(bench, "scale = [0, 1]").count("<example>") == 0, "their grades are of 0 to 3"
    (bench.folder / "own.md").write_text(
        "Grade.{% for e in examples %}{{ e }}{% endfor %}\n## User\n{{ query.text }}\n"
    )
    assert shown(bench, 'prompt = "own.md"').count("<example>") == 0


def test_the_examples_have_every_grade_and_every_kind_of_query():
    """TruLens's seven: 3, 3, 2, 1, 1, 1, 0; two questions, four search phrases, one statement."""
    from ragassay.evaluate.judging.judges.triad import EXAMPLES

    rows = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]
    assert [row["label"] for row in rows] == [3, 3, 2, 1, 1, 1, 0]
    assert [list(row) for row in rows] == [["query", "passage", "reason", "label"]] * 7
    kinds = Counter(
        "question" if r["query"].endswith("?") else "statement" if r["query"].endswith(".") else "phrase" for r in rows
    )
    assert kinds == {"question": 2, "phrase": 4, "statement": 1}


def test_a_statement_is_judged_by_its_topic_and_with_our_prompt_by_evidence(bench):
    theirs, ours = shown(bench), shown(bench, evaluate='prompts = "ragassay"')
    assert "or is on the same topic" in theirs and "search phrase" in theirs and "a statement asks for" not in theirs
    assert "a statement asks for what shows whether it is true" in ours and ours.count("<example>") == 0


@pytest.mark.parametrize(
    "scale", ["[3, 0]", "[0, 11]", "[2, 2]", "[-1, 3]", "[0, 1, 2]", "[0.0, 1.0]", '["0", "3"]', "3"]
)
def test_a_scale_that_is_none_is_refused(bench, capsys, scale):
    bench.judge("context_relevance", *settings(bench, "context_relevance", f"scale = {scale}"))
    assert bench.status == 2
    assert "evaluate.settings.context_relevance: " in capsys.readouterr().err
    assert not bench.server.requests


def test_two_digits_are_no_single_token(bench, capsys):
    bench.judge("context_relevance", *settings(bench, "context_relevance", "scale = [0, 10]"), "--mode", "probability")
    assert bench.status == 2
    assert "not single tokens" in capsys.readouterr().err


def test_an_answer_is_graded_against_the_question_alone(bench):
    bench.server.script = lambda number, body: graded(3 if "util/delay.h" in user(body) else 1)
    rows = bench.judge("answer_relevance")
    assert [(row.query_id, row.subject, row.label, row.score) for row in rows] == [
        ("q1", "ours", 3, 1.0),
        ("q2", "ours", 1, pytest.approx(1 / 3)),
    ]
    asked = bench.server.requests[0].body
    assert "declares _delay_ms()" not in user(asked)
    assert "refuses" in system(asked) and "do not judge whether the answer is correct" in system(asked)
    assert list(schema(asked)["properties"]) == ["reason", "label"]


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
    assert [(detail["kind"], detail.get("label"), detail.get("evidence")) for detail in row.details] == [
        ("nothing", None, None),
        ("claim", 3, [SOUND]),
        ("claim", 0, ["NOTHING FOUND"]),
        ("abstention", 3, ["ABSTENTION"]),
    ]
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


@pytest.mark.parametrize(
    ("said", "why"),
    [(prose(), "the reply does not fit the schema"), (graded(3, evidence=[]), "NOTHING FOUND")],
    ids=["prose", "without the evidence that is owed"],
)
def test_a_claim_that_cannot_be_judged_fails_the_whole(bench, said, why):
    grades = {"util": graded(3, evidence=[SOUND]), "busily": said}
    row = judged(bench, "It is in util/delay.h. It waits busily.", ["claim", "claim"], grades)
    assert row.label is None
    assert row.error.startswith("1 of 2 claims could not be judged: ") and why in row.error
    assert [("label" in detail, "error" in detail) for detail in row.details] == [(True, False), (False, True)]


@pytest.mark.parametrize("numbers", [[1], [1, 1], [2, 1], [1, 2, 3]])
def test_marks_that_skip_or_repeat_a_sentence_are_asked_again_then_an_error(bench, numbers):
    marks = [{"number": number, "reason": "Read.", "kind": "nothing"} for number in numbers]
    bench.server.script = lambda number, body: reply(json.dumps({"sentences": marks}))
    row = bench.judge("groundedness", answers=answer("It is in util/delay.h. It waits busily."))[0]
    assert row.label is None
    assert "the sentences 1 to 2 in their order" in row.error
    assert len([r for r in bench.server.requests if "util/delay.h" in user(r.body)]) == 2


def test_the_model_can_write_the_claims(bench):
    said = [("_delay_ms() is in util/delay.h.", "claim"), ("Not known.", "abstention")]
    claims = reply(json.dumps({"claims": [{"text": text, "kind": kind} for text, kind in said]}))
    grade = graded(1, evidence=["util/delay.h"])
    bench.server.script = lambda number, body: claims if "claims" in schema(body)["properties"] else grade
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
    sentences, grade = (
        reply(json.dumps({"sentences": marks})),
        token_probabilities({"0": 0.2, "1": 0.5, "2": 0.2, "3": 0.1}),
    )
    bench.server.script = lambda number, body: sentences if "response_format" in body else grade
    text = "It is in util/delay.h. Since when is not said."
    row = bench.judge("groundedness", "--mode", "probability", answers=answer(text))[0]
    assert row.label == pytest.approx((1 + 3) / 2)
    assert row.expected == pytest.approx((1.2 + 3) / 2)
    assert row.details[0]["probability"] == pytest.approx(0.5)
    assert row.details[1]["evidence"] == ["ABSTENTION"]
