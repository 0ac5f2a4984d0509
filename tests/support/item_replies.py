"""Replies of a scripted judge to requests that show numbered items, and to others by the fields of their schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from support.loopback.behaviours import Behaviour, reply, token_probabilities

Answer = Callable[[str], Any]


def script(by_fields: Mapping[str, Answer]) -> Callable[[int, dict[str, Any]], Behaviour]:
    """A script for ScriptedServer: the key is the schema's fields in their order, "items" for items, "" for tokens;
    the function is given the user's first message and returns the reply's data, the probabilities, or a Behaviour."""

    def answer(number: int, body: dict[str, Any]) -> Behaviour:
        del number
        text = body["messages"][1]["content"]
        wanted = body.get("response_format")
        said = by_fields[fields_of(body)](text)
        if isinstance(said, Behaviour):
            return said
        return reply(json.dumps(said)) if wanted else token_probabilities(said)

    return answer


def fields_of(body: dict[str, Any]) -> str:
    """The fields that a request asks for, "items" where they are numbered items."""
    wanted = body.get("response_format")
    fields = list(wanted["json_schema"]["schema"]["properties"]) if wanted else []
    return "items" if fields[:1] == ["item_1"] else ",".join(fields)


def items(tag: str, text: str) -> list[str]:
    """The texts of the numbered items in a message, by their numbers, which must be 1, 2, …"""
    found = re.findall(rf'<{tag} number="(\d+)">\n(.*?)\n</{tag}>', text, re.DOTALL)
    assert [int(number) for number, _ in found] == list(range(1, len(found) + 1))
    return [item for _, item in found]


def verdicts(labels: list[str]) -> dict[str, Any]:
    """A reply that gives the items these labels."""
    return {f"item_{i}": {"reason": f"Because {i}.", "label": label} for i, label in enumerate(labels, 1)}


def between(tag: str, text: str) -> str:
    """What stands in the only fence of this tag."""
    (found,) = re.findall(rf"<{tag}>\n(.*?)\n</{tag}>", text, re.DOTALL)
    return str(found)
