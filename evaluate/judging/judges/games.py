"""Games: which of two agents' answers to a query is better, judged once in each order; or the answers of several agents
ranked together, best first, with ties.

As in RAGElo (Rackauckas, Câmara and Zavrel 2024, arXiv:2406.14783, appendix A.2), the judge sees the passages judged
very relevant, with the reasons given for them; `Shown` has the switches. Answers are shown as A and B and so on, never
with their agents' names. Two answers that are the same are a tie (in a list they are shown once), and an answer that is
not there is an error, without a call.

What a list says of each pair of agents in it is that pair's game in this presentation. A list without a usable order is
an error of exactly the pairs that were put to the judge. Its prompt is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, create_model

from ragassay.models.requests import Request
from ragassay.prompts import Message, Prompt
from ragassay.records import IDENTICAL, NO_ANSWER, Answer, Game, Query, RankedList, Winner

from ...ratings.verdicts import winner_of
from ...texts.sentences import without_citations
from ..engine.cases import NOT_JUDGED, Evidence, GameCase, Judge, ListCase, Order, Setup, StepsTo
from ..engine.question import Reason, Strict, check_each_once, distribution, read_value


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

    def values(self, query: Query, factors: Sequence[str], known: Sequence[Evidence]) -> dict[str, Any]:
        """What a prompt is told besides the answers; of what is known passages and notes, None for what is not shown or
        not there, and nothing where there is neither."""
        shown = ((one.passage if self.passages else None, one.reason if self.notes else None) for one in known)
        return {
            "query": query,
            "factors": factors,
            "evidence": tuple(pair for pair in shown if pair != (None, None)),
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
        self, setup: Setup, prompt: Prompt, factors: Sequence[str], first: Order, shown: Shown = Shown()
    ) -> None:
        self.setup, self.template, self.factors, self.first, self.shown = setup, prompt, tuple(factors), first, shown

    @property
    def batch_label(self) -> str:
        """`games-first-a` or `games-first-b`: no file of requests shows a judge both orders of a game."""
        return f"games-first-{self.first}"

    def owed(self, case: GameCase) -> list[Game]:
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
        (reply,) = yield [Request(self.messages(case), schema=PairwiseReply)]
        value: PairwiseReply = read_value(reply, PairwiseReply)
        of_first: dict[str, Winner] = {"A": "a", "B": "b"} if case.first == "a" else {"A": "b", "B": "a"}
        return [self.game(case, winner=of_first.get(value.verdict, "tie"), reason=value.reason)]

    def messages(self, case: GameCase) -> tuple[Message, ...]:
        """The prompt with the game in it. Raises InputError where it names something else."""
        answer_a, answer_b = (case.a, case.b) if case.first == "a" else (case.b, case.a)
        return self.template.render(
            self.shown.values(case.query, self.factors, case.evidence)
            | {"answer_a": self.shown.answer(answer_a), "answer_b": self.shown.answer(answer_b)}
        )

    def game(self, case: GameCase, winner: Winner | None = None, **said: Any) -> Game:
        """The record of one order of a game; exactly one of `winner` and `error` is given."""
        return Game(
            query_id=case.query.id,
            agent_a=case.a.agent,
            agent_b=case.b.agent,
            first=case.first,
            judge=self.judge,
            winner=winner,
            **said,
        )


class PairwiseByToken(Pairwise):
    """Asks for A or B as one token; the record keeps the probability that agent_a's answer is the better one."""

    def played(self, case: GameCase) -> StepsTo[Game]:
        (reply,) = yield [Request(self.messages(case), tokens=("A", "B"))]
        shown = distribution(reply, ("A", "B"))
        probability = shown["A"] if case.first == "a" else shown["B"]
        return [self.game(case, winner=winner_of(probability), probability=probability)]


def why_unplayed(*answers: Answer) -> str | None:
    """The error of a game of which an answer is not there, or None."""
    errors = [f"{answer.agent}: {answer.error}" for answer in answers if answer.error is not None]
    return NO_ANSWER + "; ".join(errors) if errors else None


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@lru_cache(maxsize=32)
def list_schema(n: int) -> type[BaseModel]:
    """The reply on `n` answers (2 to 26): why, then groups of letters from best to worst, each letter exactly once."""
    letters = tuple(LETTERS[:n])

    def once(order: list[list[str]]) -> list[list[str]]:
        check_each_once([letter for group in order for letter in group], letters)
        if not all(order):
            raise ValueError("a group is empty")
        return order

    order: Any = (Annotated[list[list[Literal[letters]]], AfterValidator(once)], ...)  # type: ignore[valid-type]
    fields: Any = {"reason": (Reason, ...), "order": order}
    return create_model("ListwiseReply", __base__=Strict, __doc__="Why, then the groups, best first.", **fields)


class Listwise(Judge[RankedList]):
    """Asks for a reason and an order on the lists of one presentation; `factors` are what it is told to weigh."""

    def __init__(self, setup: Setup, prompt: Prompt, factors: Sequence[str], presentation: int, shown: Shown) -> None:
        self.setup, self.template, self.factors = setup, prompt, tuple(factors)
        self.presentation, self.shown = presentation, shown

    @property
    def batch_label(self) -> str:
        """`listwise-1`, …: no file of requests shows a judge two presentations of a query."""
        return f"listwise-{self.presentation}"

    def owed(self, case: ListCase) -> list[RankedList]:
        """One, where there is anything to rank."""
        return [self.ranked(case, error=NOT_JUDGED)] if case.asked else []

    def steps(self, case: ListCase) -> StepsTo[RankedList]:
        """One request, or none where there is nothing to rank."""
        if not case.asked:
            return []
        n = len(case.shown)
        (reply,) = yield [Request(self.messages(case), list_schema(n), sample=case.sample, items=n)]
        value: Any = read_value(reply, list_schema(n))
        places = [sorted(LETTERS.index(letter) for letter in group) for group in value.order]
        order = tuple(tuple(agent for place in group for agent in case.shown[place]) for group in places)
        return [self.ranked(case, order=order, reason=value.reason)]

    def messages(self, case: ListCase) -> tuple[Message, ...]:
        """The prompt with the list in it. Raises InputError where it names something else."""
        letters, answers = LETTERS[: len(case.shown)], {answer.agent: answer for answer in case.answers}
        texts = [self.shown.answer(answers[agents[0]]) for agents in case.shown]
        values = self.shown.values(case.query, self.factors, case.evidence)
        answered = {"answers": tuple(zip(letters, texts, strict=True)), "letters": tuple(letters)}
        return self.template.render(values | answered)

    def ranked(self, case: ListCase, order: tuple[tuple[str, ...], ...] | None = None, **said: Any) -> RankedList:
        """The record of a list; exactly one of `order` and `error` is given."""
        return RankedList(
            query_id=case.query.id,
            presentation=case.presentation,
            block=case.block,
            judge=self.judge,
            shown=case.shown,
            order=order,
            **said,
        )


def games_of(case: ListCase, ranked: RankedList | None, judge: str) -> list[Game]:
    """What a list says of each pair whose game is taken from it, in the order of `case.answers`.

    Its reason stands in the list alone. ranked: None where it was not asked.
    """
    return [_game(case, ranked, judge, a, b) for a, b in combinations(case.answers, 2) if case.takes(a.agent, b.agent)]


def asked_games(case: ListCase, ranked: RankedList) -> list[Game]:
    """Those of the pairs that were put to the judge: of two answers, in two places."""
    games = games_of(case, ranked, ranked.judge)
    return [game for game in games if game.place_a and game.place_b and game.place_a != game.place_b]


def _game(case: ListCase, ranked: RankedList | None, judge: str, a: Answer, b: Answer) -> Game:
    places = {agent: place for place, agents in enumerate(case.shown, 1) for agent in agents}
    at_a, at_b = places.get(a.agent), places.get(b.agent)
    first: Order = "a" if case.presentation % 2 else "b"
    if at_a and at_b and at_a != at_b:
        first = "a" if at_a < at_b else "b"
    winner: Winner | None = None
    reason, error = None, why_unplayed(a, b)
    if error is None and at_a == at_b:
        winner, reason = "tie", IDENTICAL
    elif error is None and ranked is not None:
        error = ranked.error
        if ranked.order is not None:
            ranks = {agent: rank for rank, agents in enumerate(ranked.order) for agent in agents}
            rank_a, rank_b = ranks[a.agent], ranks[b.agent]
            winner = "tie" if rank_a == rank_b else "a" if rank_a < rank_b else "b"
    return Game(
        query_id=case.query.id,
        agent_a=a.agent,
        agent_b=b.agent,
        first=first,
        judge=judge,
        winner=winner,
        reason=reason,
        error=error,
        presentation=case.presentation,
        place_a=at_a if case.asked else None,
        place_b=at_b if case.asked else None,
    )
