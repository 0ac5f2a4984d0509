"""Pass or fail of one answer from what the yes/no judges gave, and the root cause of a failure. No model is asked.

After "How quality, cost, and latency are assessed by Agent Evaluation" (https://docs.databricks.com, MLflow 2): an
answer fails if any judge fails, and the cause is the first that does, in an order that begins with retrieval. Ours
besides: a judge that gave an error leaves the verdict undecided unless another fails, and so does an agent that gave no
answer; a judge that has no value for the answer (nothing was retrieved) does not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ragassay.records import Assessment

from ..judging.engine.evaluator import NO_VALUE

OverallVerdict = Literal["pass", "fail", "undecided"]

WITH_GROUND_TRUTH = ("context_sufficiency", "groundedness", "correctness", "safety")
"""Where there is an expected response: the order of causes, before custom judges."""

WITHOUT_GROUND_TRUTH = ("chunk_relevance", "groundedness", "relevance_to_query", "safety")
"""Where there is none."""

BUILT_IN = tuple(dict.fromkeys(WITH_GROUND_TRUTH + WITHOUT_GROUND_TRUTH))
"""All of them; those that only one order has stand in that order."""

THEIR_NAMES = {"agent_groundedness": "groundedness"}
"""Ours to theirs, where they differ."""

ANSWERED = "answer"
"""The outcome that an agent without an answer has, beside those of the judges."""

_FIXES = {
    "context_sufficiency": (
        "The retrieved passages do not hold what the expected answer needs: improve retrieval (another retriever, more "
        "or longer passages, the query rewritten), or add the missing documents."
    ),
    "chunk_relevance": (
        "None of the retrieved passages helps: improve retrieval (another retriever, more or longer passages, the "
        "query rewritten), or see whether the documents cover the question at all."
    ),
    "groundedness": (
        "The answer states what the passages do not: have the prompt keep the model to the passages and cite them, or "
        "take a model that does."
    ),
    "correctness": (
        "The answer differs from the expected one: compare the two; improve the answer's prompt or its model, and see "
        "whether the expected answer is right and complete."
    ),
    "relevance_to_query": (
        "The answer does not address the query: have the prompt answer the question itself, or take a model that does."
    ),
    "safety": (
        "The answer holds harmful content: add guardrails to the prompt or behind the model, and look at the sources."
    ),
}


@dataclass(frozen=True)
class Outcome:
    """What one judge found of one answer. passed: None where it gave an error, which `error` then tells."""

    name: str
    passed: bool | None
    error: str | None = None


@dataclass(frozen=True)
class Overall:
    """The verdict on one answer.

    root_cause: the first judge that failed, None unless the verdict is "fail"; fix: a sentence on what to do about it.
    failed, errors: all that failed, and name and error of those that could not judge, in the order of causes.
    """

    verdict: OverallVerdict
    root_cause: str | None = None
    fix: str | None = None
    failed: tuple[str, ...] = ()
    errors: tuple[tuple[str, str], ...] = ()


def overall(outcomes: Sequence[Outcome], *, ground_truth: bool) -> Overall:
    """The verdict that `outcomes` make, each judge once; undecided where there are none.

    ground_truth: whether the query has an expected response, which decides on the order of causes: the four of that
    order, then custom judges as they come, then those of the other order, in its own.
    """
    ordered = _in_order(outcomes, WITH_GROUND_TRUTH if ground_truth else WITHOUT_GROUND_TRUTH)
    failed = tuple(one.name for one in ordered if one.passed is False)
    errors = tuple((one.name, one.error or "no error is told") for one in ordered if one.passed is None)
    if failed:
        return Overall("fail", failed[0], fix_of(failed[0]), failed, errors)
    return Overall("undecided" if errors or not ordered else "pass", errors=errors)


def fix_of(cause: str) -> str:
    """What to do about a root cause, in a sentence or two."""
    own = f"The answer fails your judge {cause}: see its reason, and change what it is about."
    return _FIXES.get(_theirs(cause), own)


def rationale(found: Overall) -> str:
    """The verdict in words: the root cause with its fix, what failed besides, and what could not be judged."""
    parts = []
    if found.root_cause is not None:
        parts.append(f"Root cause: {found.root_cause}. {found.fix}")
    if len(found.failed) > 1:
        parts.append(f"Also failed: {', '.join(found.failed[1:])}.")
    if found.errors:
        parts.append("Not judged: " + "; ".join(f"{name} ({error})" for name, error in found.errors) + ".")
    if found.verdict == "undecided":
        parts.insert(0, "Undecided." if found.errors else "Undecided: no judge of this method has judged the answer.")
    return " ".join(parts)


def answer_outcome(name: str, row: Assessment | None) -> Outcome | None:
    """What a judge of answers found; a score above a half passes. None where it was not owed or has no value."""
    if row is None or (row.error or "").startswith(NO_VALUE):
        return None
    return Outcome(name, passes(row), row.error)


def passages_outcome(name: str, rows: Mapping[str, Assessment | None]) -> Outcome | None:
    """What a judge of passages found of an agent's own, by their ids: it passes with at least one relevant passage.

    It fails where all are judged and none is relevant; with an error and nothing relevant it is open. None where no
    passage was retrieved, or none was to be judged.
    """
    if not any(rows.values()):
        return None
    found = [None if row is None else passes(row) for row in rows.values()]
    if True in found:
        return Outcome(name, True)
    missing = [row.error if row is not None else "not judged" for row in rows.values() if row is None or row.error]
    if missing:
        return Outcome(name, None, f"{len(missing)} of {len(rows)} passages could not be judged: {missing[0]}")
    return Outcome(name, False)


def passes(row: Assessment) -> bool | None:
    """Whether the score, on 0 to 1, is above a half (of yes and no: yes); None for an error."""
    return None if row.score is None else row.score > 0.5


def precision(rows: Mapping[str, Assessment | None]) -> float | None:
    """The share of an agent's passages that pass; None without passages, and where one of them has no label."""
    found = [None if row is None else passes(row) for row in rows.values()]
    if not found or None in found:
        return None
    return sum(one is True for one in found) / len(found)


def _in_order(outcomes: Sequence[Outcome], order: Sequence[str]) -> list[Outcome]:
    left_out = [name for name in (*BUILT_IN, ANSWERED) if name not in order]
    custom = [one.name for one in outcomes if _theirs(one.name) not in (*order, *left_out)]
    places = {name: place for place, name in enumerate([*order, *custom, *left_out])}
    return sorted(outcomes, key=lambda one: places[_theirs(one.name)])


def _theirs(name: str) -> str:
    return THEIR_NAMES.get(name, name)
