"""A user's own systems (`[[agent]]`): what they gave back, checked and made into answer records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from pydantic import ValidationError

from ragassay.files import first_problem
from ragassay.keys import without_keys
from ragassay.records import OWN_SYSTEM, Answer, StageUsage, Usage
from ragassay.text import plain
from ragassay.trec import Rankings

_FIELDS = ("answer", "passages", "queries", "usage", "latency_s", "error")
_SAID = ("model", "prompt")
"""What it may say of how it answered; what is no text says nothing."""


def own_answer(given: Mapping[str, Any], query_id: str, agent: str, passage_ids: AbstractSet[str] | None) -> Answer:
    """The record made from a user's fields (those of Answer; others are ignored).

    passage_ids: the corpus's; None where that is looked at elsewhere. A blank answer is a record with an error. Raises
    ValueError, with a phrase for the user, where a field has a wrong type, neither or both of answer and error are
    given, or a passage is not in the corpus.
    """
    fields = {name: _writable(given[name]) for name in _FIELDS if given.get(name) is not None}
    fields |= {name: said for name in _SAID if isinstance(said := _writable(given.get(name)), str) and said.strip()}
    if isinstance(fields.get("error"), str):
        fields["error"] = without_keys(fields["error"])
    if isinstance(fields.get("usage"), Mapping):
        fields["usage"] = {name: fields["usage"][name] for name in Usage.model_fields if name in fields["usage"]}
    if isinstance(text := fields.get("answer"), str) and not text.strip():
        fields = {"error": "the answer is empty", **fields, "answer": None}
    try:
        answer = Answer.model_validate({"answer": None, **fields, "query_id": query_id, "agent": agent})
    except ValidationError as error:
        raise ValueError(first_problem(error).removeprefix("Value error, ")) from None
    _check(answer, passage_ids)
    return answer


def _writable(value: Any) -> Any:
    """Strings without the lone surrogates that no UTF-8 file can hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return [_writable(part) for part in value] if isinstance(value, list | tuple) else value


def _check(answer: Answer, passage_ids: AbstractSet[str] | None) -> None:
    for name, number in (("latency_s", answer.latency_s), ("cost_usd", answer.usage.cost_usd)):
        if number is not None and not (math.isfinite(number) and number >= 0):
            raise ValueError(f"{name} is {number}, which is not a finite number from 0")
    unknown = [passage for passage in answer.passages if passage_ids is not None and passage not in passage_ids]
    if unknown:
        advice = "name passages by their _id there, or leave them out"
        raise ValueError(f"passage '{plain(unknown[0])}' is not in corpus.jsonl; {advice}")


def own_rankings(answers: Sequence[Answer]) -> Rankings:
    """The rankings behind a system's answers, the score of a passage being 1/rank; empty where it names no passage."""
    return {
        answer.query_id: [(passage, 1 / rank) for rank, passage in enumerate(dict.fromkeys(answer.passages), 1)]
        for answer in answers
        if answer.passages
    }


def metered_usage(agent: str, answers: Sequence[Answer]) -> StageUsage | None:
    """What a system says that its answers took, failed ones included; None where it says nothing."""
    used = [answer.usage for answer in answers]
    if not any(value is not None for usage in used for value in usage.model_dump().values()):
        return None
    costs = [usage.cost_usd for usage in used if usage.cost_usd is not None]
    return StageUsage(
        stage="answer",
        model=f"{OWN_SYSTEM}{agent}",
        calls=len(answers),
        n_failed=sum(answer.error is not None for answer in answers),
        n_unmeasured=len(used) - len(costs),
        input_tokens=_known_sum([usage.input_tokens for usage in used]),
        output_tokens=_known_sum([usage.output_tokens for usage in used]),
        cost_usd=round(sum(costs), 6) if costs else None,
    )


def _known_sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
