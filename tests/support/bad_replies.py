"""A server script that spoils a quarter of the replies: which ones, and how, follows from the request alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from typing import Any

from support.loopback.behaviours import Behaviour, prose, refusal, reply, truncated
from support.schema_replies import reply_to

JUDGES = ("RelevanceReply", "PointwiseReply", "CorrectnessReply", "PairwiseReply")

GRADE = {"reason": "It names the register.", "label": 1}
INTENT = {"intent": "To know the register."}
CRITERIA = ("relevance", "accuracy", "completeness", "precision")
"""Replies that look like the schema's, and are not on its scale or say more or less than was asked."""
OUT_OF_SCALE: dict[str, list[dict[str, Any]]] = {
    "RelevanceReply": [
        GRADE | {"label": 7},
        GRADE | {"label": "2"},
        GRADE | {"label": True},
        GRADE | {"label": None},
        GRADE | {"reason": " "},
        {"label": 2},
        GRADE | {"confidence": 0.4},
    ],
    "PointwiseReply": [INTENT | dict.fromkeys(CRITERIA, GRADE | {"label": label}) for label in (-1, 1.5, "very")]
    + [INTENT | dict.fromkeys(CRITERIA[:3], GRADE), INTENT | dict.fromkeys(CRITERIA, GRADE) | {"overall": GRADE}]
    + [dict.fromkeys(CRITERIA, GRADE), {"intent": " "} | dict.fromkeys(CRITERIA, GRADE)],
    "CorrectnessReply": [GRADE | {"refusal": said} for said in ("Yes", "maybe", True, None)]
    + [GRADE, GRADE | {"refusal": "no", "label": 3}, {"refusal": "yes", "label": 0}],
    "PairwiseReply": [{"reason": "A is better.", "verdict": verdict} for verdict in ("tie", "a", "A or B", "", None)]
    + [{"verdict": "A"}],
}


def schema_name(body: dict[str, Any]) -> str:
    """The name of the structured reply that a request asks for; "" for free text."""
    wanted = body.get("response_format")
    return wanted["json_schema"]["name"] if wanted else ""


def asked(body: dict[str, Any]) -> dict[str, Any]:
    """What a request asks, the same in its second try and whatever passages answers and games are held against."""
    system, user = (message["content"] for message in body["messages"][:2])
    if schema_name(body) == "PairwiseReply":
        head, evidence = user.split("</question>", 1)
        user = head + evidence[evidence.index('<answer name="A">') :]
    elif schema_name(body) in ("PointwiseReply", "CorrectnessReply"):
        user = user[user.index("<question>") :]
    return {"messages": [system, user], "response_format": body.get("response_format")}


def number_of(body: dict[str, Any]) -> int:
    """A number that follows from what is asked."""
    return int(hashlib.sha256(json.dumps(asked(body), sort_keys=True).encode()).hexdigest(), 16)


def is_bad(body: dict[str, Any], schemas: Collection[str] | None) -> bool:
    """One in four of the requests for `schemas` (None: of all), in both tries."""
    return (schemas is None or schema_name(body) in schemas) and number_of(body) % 4 == 0


def bad(body: dict[str, Any]) -> Behaviour:
    """One of the ways a model fails to give what was asked for."""
    number = number_of(body) // 4
    ways = [refusal(), reply(""), reply(" \n")]
    if name := schema_name(body):
        ways += [prose(), truncated(), reply("[]"), reply("2"), reply("null")]
        ways += [reply(json.dumps(value)) for value in OUT_OF_SCALE.get(name, [])] * 2
    return ways[number % len(ways)]


def spoil(schemas: Collection[str] | None) -> Callable[[int, dict[str, Any]], Behaviour]:
    """A script for a ScriptedServer: good replies, the same for what is asked, but for a quarter of `schemas`."""

    def script(number: int, body: dict[str, Any]) -> Behaviour:
        del number
        return bad(body) if is_bad(body, schemas) else reply(reply_to(asked(body)))

    return script
