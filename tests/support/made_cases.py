"""Cases made by hand, and one evaluator over them by the engine; nothing is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from support.judge_bench import ANSWERS, PASSAGES, QUERIES
from support.loopback.behaviours import Behaviour
from support.loopback.openai_server import completion

from ragassay.evaluate.judging.catalog import built_in, evaluators_of
from ragassay.evaluate.judging.engine.cases import AnswerCase, QueryCase, Setup
from ragassay.evaluate.judging.engine.evaluator import Evaluator
from ragassay.evaluate.judging.engine.rounds import assess
from ragassay.experiment.settings import EvaluateSettings
from ragassay.models.requests import Batch, Reply, Request, read_reply, response_format
from ragassay.records import Answer, Assessment, Passage, Query

HOSTILE = {
    "blank": " \n\t",
    "long": "word " * 4_000,
    "one word": "a" * 20_000,
    "emoji": "😀👩‍👩‍👧‍👦🇩🇪" * 3,
    "right to left": "\u202eمرحبا بالعالم. שלום עולם.\u202c",
    "deep": "[" * 20_000,
    "deep and closed": "[" * 10_000 + "]" * 10_000,
    "objects": '{"a":' * 4_000,
    "huge number": "9" * 10_000,
    "huge exponent": "1e999999999",
    "many items": f"[{','.join(['1', 'true', 'null', '[]'] * 1600)}]",
    "brackets": "((({{{<<<" * 2_000,
    "lines": "a\n" * 10_000,
    "half a pair": "\ud800 and more",
    "backticks": "`" * 20_000,
}
"""Answers that somebody may write to break what reads them."""


def evaluator_of(name: str, corpus: Path = Path(), **options: Any) -> Evaluator:
    """The built-in evaluator of this name."""
    kind = built_in()[name]
    return kind(Setup("openai:none", folder=corpus), kind.options_type(**options))


def case_of(
    answer: str, metadata: dict[str, Any] | None = None, passages: Sequence[str] = (), id: str = "q1"
) -> QueryCase:
    """A query with one answer, of the agent "ours", and these passages."""
    query = Query(id=id, text="Which?", metadata=metadata or {})
    texts = tuple(Passage(id=f"p{number}", text=text) for number, text in enumerate(passages))
    given = Answer(query_id=id, agent="ours", answer=answer, passages=tuple(one.id for one in texts))
    return QueryCase(query, texts, (AnswerCase(query, given, texts),))


class _Nobody:
    """A caller that is asked nothing."""

    def ask(self, batches: Sequence[Any]) -> list[Any]:
        """Nobody may call it."""
        raise AssertionError("a model was asked")


def judged(evaluator: Evaluator, *cases: QueryCase) -> list[Assessment]:
    """Their records."""
    return assess([evaluator], cases, _Nobody())  # type: ignore[arg-type]


def labels(evaluator: Evaluator, *cases: QueryCase) -> dict[str, float | None]:
    """Criterion to label, of one case."""
    return {row.criterion: row.label for row in judged(evaluator, *cases)}


class Direct:
    """A caller that asks `script` as a server would be asked, without one: what comes is read as any reply is."""

    def __init__(self, script: Callable[[dict[str, Any]], Behaviour]) -> None:
        self.script = script
        self.bodies: list[dict[str, Any]] = []

    def ask(self, batches: Sequence[Batch]) -> list[list[Reply]]:
        """A reply to each request."""
        return [[self._reply(request) for request in batch.requests] for batch in batches]

    def _reply(self, request: Request) -> Reply:
        body: dict[str, Any] = {"messages": [{"role": one.role, "content": one.content} for one in request.messages]}
        body |= {"logprobs": True, "top_logprobs": 20} if request.tokens else {}
        body |= {"response_format": response_format(request)} if request.schema else {}
        self.bodies.append(body)
        return read_reply(request, completion(self.script(body), body))


def asked_directly(
    name: str, script: Callable[[dict[str, Any]], Behaviour], mode: Literal["label", "probability"] = "label"
) -> tuple[list[Assessment], list[dict[str, Any]]]:
    """What a judge says of the first answer of the bench, and the bodies of what it asked."""
    query, answer = Query.model_validate(QUERIES[0]), Answer.model_validate(ANSWERS[0])
    passages = tuple(one for one in map(Passage.model_validate, PASSAGES) if one.id in answer.passages)
    case = QueryCase(query, passages, (AnswerCase(query, answer, passages),))
    settings = EvaluateSettings.model_validate({"judges": [name]})
    evaluators = evaluators_of(settings, Setup("openai:judge", mode), Path("experiment.toml"))
    caller = Direct(script)
    return assess(evaluators, [case], caller), caller.bodies  # type: ignore[arg-type]
