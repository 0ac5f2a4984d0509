"""What a judge may say instead of a label: there is an error record then, never a label.

That it is asked again once is the caller's: `tests/ragassay/calls`."""

from __future__ import annotations

import json

import pytest
from support.judge_bench import kind_reply
from support.loopback.behaviours import Behaviour, refusal, reply, truncated
from support.made_cases import asked_directly

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


def kind(body):
    return reply(kind_reply(body))


def schema_name(body):
    return body["response_format"]["json_schema"]["name"]


def with_one_phase(name, phase, hostile):
    """The records when every reply of one phase is hostile, and whether the phase was reached."""
    rows, asked = asked_directly(name, lambda body: hostile(body) if schema_name(body) == phase else kind(body))
    return rows, any(schema_name(body) == phase for body in asked)


@pytest.mark.parametrize("name", ASKING)
def test_a_reply_that_does_not_parse_or_is_off_the_scale_is_an_error(name):
    rows, asked = asked_directly(name, kind)
    assert rows and all(row.error is None for row in rows), "kind replies give labels"
    for phase in dict.fromkeys(map(schema_name, asked)):
        for said, behaviour in HOSTILE.items():
            rows, reached = with_one_phase(name, phase, lambda body, behaviour=behaviour: behaviour)
            assert reached and rows and all(row.label is None and row.error for row in rows), (phase, said)
        for said, new in OFF_THE_SCALE.items():
            spoilt = []

            def respond(body, new=new, spoilt=spoilt):
                whole = json.loads(kind_reply(body))
                changed = _each_label(whole, new)
                spoilt.append(changed != whole)
                return reply(json.dumps(changed))

            rows, _ = with_one_phase(name, phase, respond)
            assert not any(spoilt) or all(row.label is None for row in rows), (phase, said)
