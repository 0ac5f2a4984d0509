"""Pairwise games: which of two agents' answers to a query is better, judged once in each order.

As in RAGElo (Rackauckas, Câmara and Zavrel 2024, arXiv:2406.14783, appendix A.2), the judge sees the passages judged
very relevant, with the reasons given for them; `Shown` has the switches. Answers are shown as A and B, never with their
agents' names. Two answers that are the same are a tie, and an answer that is not there is an error, without a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragassay.models.requests import Request
from ragassay.prompts import Message, Prompt
from ragassay.records import IDENTICAL, NO_ANSWER, Answer, Game, Passage, Winner

from ...ratings.verdicts import winner_of
from ...texts.sentences import without_citations
from ..engine.cases import NOT_JUDGED, Evidence, GameCase, Judge, Order, Setup, StepsTo
from ..engine.question import Reason, Strict, distribution, read_value


@dataclass(frozen=True)
class Shown:
    """What the judge of a game is shown: the passages' text, the notes on them, the citations in the answers.

    relevant_from: the lowest label of the passages, 1 or 2.
    """

    passages: bool = True
    notes: bool = True
    citations: bool = True
    relevant_from: int = 2

    def answer(self, answer: Answer) -> str:
        """The answer's text, without its citations where they are not shown."""
        text = answer.answer or ""
        return text if self.citations else without_citations(text)

    def evidence(self, known: Sequence[Evidence]) -> tuple[tuple[Passage | None, str | None], ...]:
        """Passages and notes, None for what is not shown or not there; where there is neither, nothing."""
        shown = ((one.passage if self.passages else None, one.reason if self.notes else None) for one in known)
        return tuple(pair for pair in shown if pair != (None, None))

    def values(self) -> dict[str, Any]:
        """What a prompt is told of it."""
        return {
            "passages_shown": self.passages,
            "notes_shown": self.notes,
            "citations_shown": self.citations,
            "relevant_from": self.relevant_from,
        }


class PairwiseReply(Strict):
    """Why in one or two sentences, then the better answer: A, B, or C for a tie."""

    reason: Reason
    verdict: Literal["A", "B", "C"]


class Pairwise(Judge[Game]):
    """Asks for a reason and a verdict on games of one order; `factors` are what it is told to weigh."""

    def __init__(
        self,
        setup: Setup,
        prompt: Prompt,
        factors: Sequence[str],
        first: Order,
        shown: Shown = Shown(),
    ) -> None:
        self.setup, self.template, self.factors, self.first, self.shown = setup, prompt, tuple(factors), first, shown

    @property
    def batch_label(self) -> str:
        """`games-first-a` or `games-first-b`: no file of requests shows a judge both orders of a game."""
        return f"games-first-{self.first}"

    def owed(self, case: GameCase) -> list[Game]:
        """One game."""
        return [self.game(case, error=NOT_JUDGED)]

    def settled(self, case: GameCase) -> Game | None:
        """The game that needs no judge, or None."""
        if error := why_unplayed(case.a, case.b):
            return self.game(case, error=error)
        if self.shown.answer(case.a) == self.shown.answer(case.b):
            return self.game(case, winner="tie", reason=IDENTICAL)
        return None

    def steps(self, case: GameCase) -> StepsTo[Game]:
        """One request, or none where the game is settled without."""
        if game := self.settled(case):
            return [game]
        return (yield from self.played(case))

    def played(self, case: GameCase) -> StepsTo[Game]:
        """One request."""
        (reply,) = yield [Request(self.messages(case), schema=PairwiseReply)]
        value: PairwiseReply = read_value(reply, PairwiseReply)
        of_first: dict[str, Winner] = {"A": "a", "B": "b"} if case.first == "a" else {"A": "b", "B": "a"}
        return [self.game(case, winner=of_first.get(value.verdict, "tie"), reason=value.reason)]

    def messages(self, case: GameCase) -> tuple[Message, ...]:
        """The prompt with the game in it. Raises InputError where it names something else."""
        answer_a, answer_b = (case.a, case.b) if case.first == "a" else (case.b, case.a)
        return self.template.render(
            {
                "query": case.query,
                "factors": self.factors,
                "evidence": self.shown.evidence(case.evidence),
                "answer_a": self.shown.answer(answer_a),
                "answer_b": self.shown.answer(answer_b),
                **self.shown.values(),
            }
        )

    def game(
        self,
        case: GameCase,
        *,
        winner: Winner | None = None,
        reason: str | None = None,
        error: str | None = None,
        probability: float | None = None,
    ) -> Game:
        """The record of one order of a game; exactly one of `winner` and `error` is given."""
        return Game(
            query_id=case.query.id,
            agent_a=case.a.agent,
            agent_b=case.b.agent,
            first=case.first,
            judge=self.judge,
            winner=winner,
            reason=reason,
            error=error,
            probability=probability,
        )


class PairwiseByToken(Pairwise):
    """Asks for A or B as one token; the record keeps the probability that agent_a's answer is the better one."""

    def played(self, case: GameCase) -> StepsTo[Game]:
        """One request."""
        (reply,) = yield [Request(self.messages(case), tokens=("A", "B"))]
        shown = distribution(reply, ("A", "B"))
        probability = shown["A"] if case.first == "a" else shown["B"]
        return [self.game(case, winner=winner_of(probability), probability=probability)]


def why_unplayed(*answers: Answer) -> str | None:
    """The error of a game of which an answer is not there, or None."""
    errors = [f"{answer.agent}: {answer.error}" for answer in answers if answer.error is not None]
    return NO_ANSWER + "; ".join(errors) if errors else None
