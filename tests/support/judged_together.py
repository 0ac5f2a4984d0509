"""A scripted judge of passages graded together and of answers ranked together, and the same over HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import contextmanager

from support.loopback.behaviours import Behaviour, reply
from support.loopback.server import ScriptedServer
from support.scripted_judge import CORRECTNESS, PASSAGES, fair, workspace

from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.evaluate.make_judgments import make_judgments

LABELS = {
    "RelevanceReply": "relevance",
    "RelevanceBatchReply": "relevance-batch",
    "PointwiseReply": "pointwise",
    "CorrectnessReply": CORRECTNESS,
    "PairwiseReply": "games",
    "ListwiseReply": "listwise",
}


def passages_in(text):
    """Number to text, as a request shows passages."""
    return {int(n): shown for n, shown in re.findall(r'<passage number="(\d+)">\n(.*?)\n</passage>', text, re.DOTALL)}


def answers_in(text):
    """Letter to text, as a request shows answers."""
    return dict(re.findall(r'<answer name="(\w)">\n(.*?)\n</answer>', text, re.DOTALL))


def graded(text):
    """What `fair` says of each passage."""
    shown, why = passages_in(text), "Because of what it says."
    labels = {number: 2 if PASSAGES["p1"] in one else int("busy" in one) for number, one in shown.items()}
    return {"grades": [{"number": number, "reason": why, "label": label} for number, label in labels.items()]}


def ranked(text):
    """The answers that name the header before those that do not."""
    shown = answers_in(text)
    right = [letter for letter, answer in shown.items() if "delay.h" in answer]
    groups = [right, [letter for letter in shown if letter not in right]]
    return {"reason": "It names the header.", "order": [group for group in groups if group]}


def fair_together(label, text):
    """A sober judge, however it is asked."""
    label = label.split("-repeat-")[0]
    if label == "relevance-batch":
        return graded(text)
    return ranked(text) if label.startswith("listwise") else fair(label, text)


@contextmanager
def judging(tmp_path, monkeypatch, answers, say: Callable[[str, str, int], object], **settings):
    """The judge stage by the real caller against a server; `say` is given label, text and which try it is, from 1."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")

    def script(number, body):
        del number
        label = LABELS[body["response_format"]["json_schema"]["name"]]
        said = say(label, body["messages"][1]["content"], len(body["messages"]) // 2)
        return said if isinstance(said, Behaviour) else reply(said if isinstance(said, str) else json.dumps(said))

    with ScriptedServer("openai", script) as server:
        space = workspace(tmp_path, answers, base_url=server.base_url, **settings)
        caller = Caller(space, "judge", ReplyCache(space.replies))
        yield space, make_judgments(space, caller), server
