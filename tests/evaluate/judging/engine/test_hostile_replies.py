"""What a judge may say instead of a label: it is asked again once, and then there is an error record, never a label."""

from __future__ import annotations

import json

import pytest
from support.judge_bench import ANSWERS, kind_reply
from support.loopback.behaviours import Behaviour, refusal, reply, truncated

from ragassay.evaluate.judging.catalog import built_in

EMBEDS = {"answer_correctness_claims", "answer_relevancy", "ragas_score"}
"""Those that want an embedding model besides, which their own tests give them."""

ASKING = [name for name, kind in built_in().items() if kind.calls and kind.asks == "judge" and name not in EMBEDS]

HOSTILE = {
    "prose": reply("The passage is clearly very relevant, so I would grade it 3 out of 3."),
    "a refusal with a number": reply("I refuse. See section 3."),
    "empty": reply(""),
    "white space": reply(" \n "),
    "a bare number": reply("3"),
    "a list": reply("[3]"),
    "two objects": reply('{"reason": "x", "label": 3} {"reason": "x", "label": 0}'),
    "cut off": truncated(),
    "whole but cut": Behaviour('{"reason": "x", "label": 3}', ending="length"),
    "refused": refusal(),
    "another schema": reply('{"score": 3}'),
}


def _each_label(value, new):
    """The value with every label, kind and grade in it replaced."""
    if isinstance(value, dict):
        return {
            key: new(part) if key in {"label", "final", "match", "kind", "importance"} else _each_label(part, new)
            for key, part in value.items()
        }
    return [_each_label(part, new) for part in value] if isinstance(value, list) else value


OFF_THE_SCALE = {
    "out of range": lambda label: 7 if isinstance(label, int) else "maybe",
    "two labels": lambda label: [label, label],
    "a label as text": lambda label: str(label) if isinstance(label, int) else f" {label}",
    "a half": lambda label: label + 0.5 if isinstance(label, int) else 1,
    "true": lambda label: True,
    "none": lambda label: None,
}


def _schema_name(body):
    return body["response_format"]["json_schema"]["name"]


@pytest.fixture
def phases(bench):
    """The names of the schemas that a judge asks for, when all replies fit."""

    def find(name):
        bench.judge(name, answers=ANSWERS[:1])
        return list(dict.fromkeys(_schema_name(request.body) for request in bench.server.requests))

    return find


def _judge_with(bench, name, phase, hostile):
    """The judgments when every reply of one phase is hostile, and how often each distinct case of it was asked."""
    asked = []

    def script(number, body):
        if _schema_name(body) != phase:
            return reply(kind_reply(body))
        asked.append(body["messages"])
        return hostile(body)

    bench.server.script = script
    (bench.folder / "again").mkdir(exist_ok=True)
    work = bench.folder / "again" / f"{name}-{len(list((bench.folder / 'again').iterdir()))}"
    return bench.judge(name, "--work", str(work), answers=ANSWERS[:1]), asked


@pytest.mark.parametrize("name", ASKING)
def test_with_kind_replies_every_record_has_a_label(bench, name):
    assert all(row.error is None for row in bench.judge(name) if row.query_id == "q1")


@pytest.mark.parametrize("name", ASKING)
def test_what_does_not_parse_is_asked_again_once_and_is_then_an_error(bench, phases, name):
    for phase in phases(name):
        for kind, behaviour in HOSTILE.items():
            rows, asked = _judge_with(bench, name, phase, lambda body, behaviour=behaviour: behaviour)
            about_q1 = [row for row in rows if row.query_id == "q1"]
            if not asked:
                continue
            assert about_q1 and all(row.label is None and row.error for row in about_q1), (phase, kind)
            first = [messages for messages in asked if len(messages) == 2]
            assert len(asked) == 2 * len(first), (phase, kind)


@pytest.mark.parametrize("name", ASKING)
def test_a_label_off_the_scale_is_an_error(bench, phases, name):
    for phase in phases(name):
        for kind, new in OFF_THE_SCALE.items():
            spoilt = []

            def respond(body, new=new, spoilt=spoilt):
                whole = json.loads(kind_reply(body))
                changed = _each_label(whole, new)
                spoilt.append(changed != whole)
                return reply(json.dumps(changed))

            rows, _ = _judge_with(bench, name, phase, respond)
            if any(spoilt):
                assert all(row.label is None for row in rows if row.query_id == "q1"), (phase, kind)
