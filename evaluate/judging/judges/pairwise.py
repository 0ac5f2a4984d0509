"""Pairwise games: which of two agents' answers to a query is better, judged once in each order.

As in RAGElo (Rackauckas, Câmara and Zavrel 2024, arXiv:2406.14783), the judge sees the passages judged very relevant,
with the reasons given for them. Answers are shown as A and B, never with their agents' names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ragassay.models.requests import Reply
from ragassay.prompts import Prompt
from ragassay.records import Answer, Game, Passage, Query, Winner

from ...ratings.verdicts import winner_of
from ..engine.probability import distribution
from ..engine.reply import Judge, Reason, Strict, value_of
from . import PROMPTS

DEFAULT_PROMPT = PROMPTS / "pairwise.md"
TOKEN_PROMPT = PROMPTS / "pairwise_token.md"

IDENTICAL = "the two answers are identical"

Order = Literal["a", "b"]


class Evidence(NamedTuple):
    """A passage judged very relevant, and why (None where the judge was not asked for a reason)."""

    passage: Passage
    reason: str | None


@dataclass(frozen=True)
class Pairing:
    """Two agents' answers to a query, what is known to be relevant, and whose answer is shown first."""

    query: Query
    a: Answer
    b: Answer
    first: Order
    evidence: tuple[Evidence, ...]


class PairwiseReply(Strict):
    """Why in one or two sentences, then the better answer: A, B, or C for a tie."""

    reason: Reason
    verdict: Literal["A", "B", "C"]


def pairwise_judge(model: str, prompt: Prompt, factors: Sequence[str], first: Order) -> Judge[Pairing, Game]:
    """Asks for a reason and a verdict on cases of one order."""

    def read(case: Pairing, reply: Reply) -> list[Game]:
        value = value_of(reply, PairwiseReply)
        return [game_of(case, model, winner=_winner(value.verdict, case.first), reason=value.reason)]

    return Judge(
        f"games-first-{first}", model, prompt, _values_with(factors), read, _failed_by(model), schema=PairwiseReply
    )


def pairwise_token_judge(model: str, prompt: Prompt, factors: Sequence[str], first: Order) -> Judge[Pairing, Game]:
    """Asks for A or B as one token; the row keeps the probability that agent_a's answer is the better one."""

    def read(case: Pairing, reply: Reply) -> list[Game]:
        shown = distribution(reply, ("A", "B"))
        probability = shown["A"] if case.first == "a" else shown["B"]
        return [game_of(case, model, winner=winner_of(probability), probability=probability)]

    return Judge(
        f"games-first-{first}", model, prompt, _values_with(factors), read, _failed_by(model), tokens=("A", "B")
    )


def game_of(
    case: Pairing,
    model: str,
    *,
    winner: Winner | None = None,
    reason: str | None = None,
    error: str | None = None,
    probability: float | None = None,
) -> Game:
    """The row of one order of a game; exactly one of `winner` and `error` is given."""
    return Game(
        query_id=case.query.id,
        agent_a=case.a.agent,
        agent_b=case.b.agent,
        first=case.first,
        judge=model,
        winner=winner,
        reason=reason,
        error=error,
        probability=probability,
    )


def _winner(verdict: Literal["A", "B", "C"], first: Order) -> Winner:
    if verdict == "C":
        return "tie"
    return "a" if (verdict == "A") == (first == "a") else "b"


def _values_with(factors: Sequence[str]) -> Callable[[Pairing], Mapping[str, Any]]:
    def values(case: Pairing) -> Mapping[str, Any]:
        shown = (case.a, case.b) if case.first == "a" else (case.b, case.a)
        return {
            "query": case.query,
            "factors": tuple(factors),
            "evidence": case.evidence,
            "answer_a": shown[0].answer,
            "answer_b": shown[1].answer,
        }

    return values


def _failed_by(model: str) -> Callable[[Pairing, str], list[Game]]:
    def failed(case: Pairing, error: str) -> list[Game]:
        return [game_of(case, model, error=error)]

    return failed
