"""Sober replies to the steps of questions from the need: every question differs, every quote is in its text."""

from __future__ import annotations

import re
from typing import Any

from ragassay.files import digest_bytes
from ragassay.synth.questions.need_writer import Evidence, NeedQuestions, Needs
from ragassay.synth.questions.slots import Roles

THINGS = ("fuse", "clock", "timer", "stack", "heap", "linker", "startup", "interrupt", "register", "eeprom")


def asked(text: str) -> list[int]:
    """The numbers that a request asks for, whichever step it is."""
    listed = re.findall(r"^(\d+)\. |<(?:need|question) number=\"(\d+)\"", text, re.MULTILINE)
    return [int(one or other) for one, other in listed]


def question(text: str, number: int, who: str = "seen") -> str:
    """A question that no other request has."""
    digest = digest_bytes(f"{text}{number}".encode())
    return f"How do I mend the {THINGS[number % 10]} of the {who} unit Z{digest[:6]}?"


def sections(text: str) -> list[str]:
    """The texts that a request shows."""
    return re.findall(r"<section[^>]*>\n(.*?)\n</section>", text, re.DOTALL)


ROLES = (
    "an apprentice who solders her first board",
    "a buyer who compares two controllers",
    "a support engineer who is called at night",
    "a teacher who prepares a lab course",
)


def sober(label: str, text: str) -> dict[str, Any]:
    """The reply to the user message `text` of a request with this label."""
    step = label.split("-")[0]
    if step == "roles":
        return {"roles": [{"role": role} for role in ROLES]}
    if step in {"needs", "linked"}:
        rows = [(n, question(text, n)) for n in asked(text)]
        return {"needs": [{"number": n, "need": f"to mend it: {asks[-8:-1]}", "question": asks} for n, asks in rows]}
    if step == "blind":
        return {"questions": [{"number": n, "question": question(text, n, "blind")} for n in asked(text)]}
    quotes = [" ".join(one.split()[:6]) for one in sections(text)]
    return {"evidence": [{"number": n, "quotes": quotes, "holds": "fully"} for n in asked(text)]}


def labelled(body: dict[str, Any]) -> dict[str, Any] | None:
    """The same for the body of a chat completion; None for a request of another stage."""
    name = (body.get("response_format") or {}).get("json_schema", {}).get("name")
    labels = {
        Roles.__name__: "roles",
        Needs.__name__: "needs",
        NeedQuestions.__name__: "blind",
        Evidence.__name__: "evidence",
    }
    return sober(labels[name], body["messages"][-1]["content"]) if name in labels else None
