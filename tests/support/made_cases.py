"""Cases made by hand, and one evaluator over them by the engine; nothing is asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragassay.evaluate.judging.catalog import built_in
from ragassay.evaluate.judging.engine.cases import AnswerCase, QueryCase, Setup
from ragassay.evaluate.judging.engine.evaluator import Evaluator
from ragassay.evaluate.judging.engine.rounds import assess
from ragassay.records import Answer, Assessment, Passage, Query

HOSTILE = {
    "blank": " \n\t",
    "long": "word " * 20_000,
    "one word": "a" * 100_000,
    "emoji": "😀👩‍👩‍👧‍👦🇩🇪" * 3,
    "right to left": "\u202eمرحبا بالعالم. שלום עולם.\u202c",
    "deep": "[" * 100_000,
    "deep and closed": "[" * 50_000 + "]" * 50_000,
    "objects": '{"a":' * 20_000,
    "huge number": "9" * 50_000,
    "huge exponent": "1e999999999",
    "many items": f"[{','.join(['1', 'true', 'null', '[]'] * 8000)}]",
    "brackets": "((({{{<<<" * 10_000,
    "lines": "a\n" * 50_000,
    "half a pair": "\ud800 and more",
    "backticks": "`" * 100_000,
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
