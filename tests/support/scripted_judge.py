"""A judge stage on files, and a caller whose replies a test writes."""

from __future__ import annotations

import json
import re

from support.results_folder import answer, experiment, results_folder

from ragassay.evaluate.judging.engine.rounds import judged
from ragassay.models.requests import Reply, read_reply
from ragassay.records import Passage, Query

AGENTS = ("bm25-rag", "ours", "theirs")
CRITERIA = ("relevance", "accuracy", "completeness", "precision")
"""What is graded together."""

CORRECTNESS = "pointwise-answer_correctness"
RECORDED = (*CRITERIA, "answer_correctness", "refusal")
"""The criteria in pointwise.jsonl."""

PASSAGES = {
    "p1": "The header util/delay.h declares _delay_ms().",
    "p2": "A busy wait keeps the processor occupied.",
    "p3": "Interrupts are enabled by sei().",
}


class Scripted:
    """Answers as a provider would: `say` gives the text of each reply, which is read as any provider's reply is."""

    def __init__(self, say):
        self.say, self.rounds = say, []

    def ask(self, batches):
        self.rounds.append(batches)
        return [[self._reply(batch, request) for request in batch.requests] for batch in batches]

    def _reply(self, batch, request):
        said = self.say(batch.label, request.messages[-1].content)
        if isinstance(said, Reply):
            return said
        body = {"choices": [{"message": {"content": json.dumps(said)}, "finish_reason": "stop"}]}
        return read_reply(request, body)

    def asked(self, label):
        return [r for batches in self.rounds for batch in batches if batch.label == label for r in batch.requests]


def request_of(judge, case):
    """The one request that a judge makes of a case."""
    [request] = next(judge.steps(case))
    return request


def records_of(judge, case, reply):
    """The records that a judge gives of a case for `reply`, through the engine that all judges run in."""
    [rows] = judged([(judge, [case])], Scripted(lambda label, text: reply))
    return rows


def fair(label, text):
    """A sober judge: p1 is very relevant, p2 somewhat; the answer that names the header is better."""
    if label == "relevance":
        return {"reason": "Because of what it says.", "label": 2 if PASSAGES["p1"] in text else int("busy" in text)}
    right = "util/delay.h" in answered(text)
    if label == "pointwise":
        intent = {"intent": "To know the header."} if "the intent of the user" in text else {}
        return intent | {name: {"reason": "So it is.", "label": 2 if right else 0} for name in CRITERIA}
    if label == CORRECTNESS:
        refused = "could not find" in answered(text)
        return {"reason": "So it is.", "refusal": "yes" if refused else "no", "label": 2 if right else 0}
    a, b = (re.search(rf'<answer name="{name}">\n(.*?)\n</answer>', text, re.S)[1] for name in "AB")
    better = "A" if "delay.h" in a else "B" if "delay.h" in b else "C"
    return {"reason": "It names the header.", "verdict": better}


def answered(text):
    """The answer (of a game the second one) that a request shows."""
    return text.rpartition("<answer")[2]


def workspace(tmp_path, answers, *, queries=("q1", "q2"), base_url=None, **judge):
    settings = experiment(
        models={"openai:j": {"base_url": base_url}} if base_url else {},
        retrieval={"retrievers": ["bm25"]},
        answer={"agents": ["rag"]},
        agent=[{"name": n, "kind": "file", "path": f"{n}.jsonl"} for n in AGENTS[1:]],
        judge={"model": "openai:j", **judge},
        compare={"bootstrap": 200, "tournaments": 40},
    )
    return results_folder(
        tmp_path,
        settings,
        queries=[Query(id=q, text=f"Which header has _delay_ms ({q})?") for q in queries],
        passages=[Passage(id=id, text=text) for id, text in PASSAGES.items()],
        answers=answers,
    )


def all_answers(queries=("q1", "q2")):
    return [
        answer(query, agent, f"{text} ({query})", *passages)
        for query in queries
        for agent, text, passages in (
            ("bm25-rag", "It is in util/delay.h.", ("p1", "p2")),
            ("ours", "I could not find it.", ("p3", "p2")),
            ("theirs", "It is sei().", ("p3",)),
        )
    ]
