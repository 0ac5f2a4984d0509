"""Several at once: the answers of agents to a query ranked together, best first, with ties; passages graded together.

Of lists the judge sees what it sees of a pair (`pairwise.py`), the answers under letters and never with their agents'
names, answers that are the same once. What a list says of each pair of agents in it is that pair's game in this
presentation. A list without a usable order is an error of exactly the pairs that were put to the judge. The prompt is
ours.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from math import ceil
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, create_model

from ragassay.models.requests import Reply, Request
from ragassay.prompts import Message, Prompt
from ragassay.records import IDENTICAL, Answer, Assessment, Game, RankedList, Winner

from ..engine.cases import NOT_JUDGED, Judge, ListCase, Order, PassageCase, PassagesCase, QueryCase, Setup, StepsTo
from ..engine.evaluator import Steps
from ..engine.question import JudgeFailed, Label, Reason, Strict, check_each_once, read_value
from .pairwise import Shown, why_unplayed
from .relevance import Relevance, RelevanceReply

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
        return self.template.render(
            {
                "query": case.query,
                "factors": self.factors,
                "evidence": self.shown.evidence(case.evidence),
                "answers": tuple(zip(letters, texts, strict=True)),
                "letters": tuple(letters),
                **self.shown.values(),
            }
        )

    def ranked(
        self,
        case: ListCase,
        *,
        order: tuple[tuple[str, ...], ...] | None = None,
        reason: str | None = None,
        error: str | None = None,
    ) -> RankedList:
        """The record of a list; exactly one of `order` and `error` is given."""
        return RankedList(
            query_id=case.query.id,
            presentation=case.presentation,
            block=case.block,
            judge=self.judge,
            shown=case.shown,
            order=order,
            reason=reason,
            error=error,
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
        winner, error = _winner(ranked, a.agent, b.agent), ranked.error
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


def _winner(ranked: RankedList, a: str, b: str) -> Winner | None:
    if ranked.order is None:
        return None
    ranks = {agent: rank for rank, agents in enumerate(ranked.order) for agent in agents}
    return "tie" if ranks[a] == ranks[b] else "a" if ranks[a] < ranks[b] else "b"


@lru_cache(maxsize=64)
def batch_schema(n: int) -> type[BaseModel]:
    """The reply on `n` passages: number, reason and label of each, every number from 1 to n exactly once."""
    numbers = range(1, n + 1)

    def once(grades: list[Any]) -> list[Any]:
        check_each_once([grade.number for grade in grades], numbers)
        return grades

    number = Annotated[int, Field(json_schema_extra={"enum": list(numbers)})]
    fields: Any = {"number": (number, ...), "reason": (Reason, ...), "label": (Label, ...)}
    grade = create_model("NumberedGrade", __base__=Strict, __doc__="Which, why, then the label.", **fields)
    grades: Any = (Annotated[list[grade], AfterValidator(once)], ...)
    return create_model("RelevanceBatchReply", __base__=Strict, __doc__="A grade for each number.", grades=grades)


class RelevanceBatch(Judge[Assessment]):
    """Asks for a reason and a label of each of up to `size` passages; about a single one it asks as `one` does.

    The passages stand in a seeded order, which depends on the seed, the query's id and the passages' ids alone, in
    batches of nearly the same size. Where the judge twice gives a batch no usable reply, its passages are asked about
    one by one.
    """

    def __init__(self, one: Relevance, prompt: Prompt, size: int, seed: int) -> None:
        self.setup, self.one, self.template, self.size, self.seed = one.setup, one, prompt, size, seed

    @property
    def batch_label(self) -> str:
        """`relevance-batch`."""
        return f"{self.one.batch_label}-batch"

    def label_of(self, asked: Sequence[Request]) -> str:
        """That, or of what is asked one by one `relevance`."""
        return self.one.batch_label if asked[0].schema is RelevanceReply else self.batch_label

    def batches(self, case: QueryCase) -> list[PassagesCase]:
        """The query's passages, of 12 by ten at most six and six."""
        passages = sorted(case.passages, key=lambda passage: passage.id)
        random.Random(f"{self.seed}:passages:{case.query.id}").shuffle(passages)
        n = ceil(len(passages) / self.size)
        ends = [len(passages) * part // n for part in range(n + 1)] if n else [0]
        return [PassagesCase(case.query, tuple(passages[a:b])) for a, b in pairwise(ends)]

    def owed(self, case: PassagesCase) -> list[Assessment]:
        """One for each passage."""
        return [row for each in case.single for row in self.one.owed(each)]

    def steps(self, case: PassagesCase) -> Steps:
        """One request, and where it comes to nothing one for each passage."""
        if len(case.passages) > 1:
            schema = batch_schema(len(case.passages))
            (reply,) = yield [Request(self.messages(case), schema, items=len(case.passages))]
            if reply.error is None:
                grades: Any = read_value(reply, schema)
                by_number = {grade.number: grade for grade in grades.grades}
                graded = [(each, by_number[number]) for number, each in enumerate(case.single, 1)]
                return [self.one.assess(each, grade.label, reason=grade.reason) for each, grade in graded]
        replies = yield [self.one.request(each) for each in case.single]
        return [self._read(each, reply) for each, reply in zip(case.single, replies, strict=True)]

    def messages(self, case: PassagesCase) -> tuple[Message, ...]:
        """The prompt with the query and the passages in it. Raises InputError where it names something else."""
        return self.template.render({"query": case.query, "passages": case.passages})

    def _read(self, case: PassageCase, reply: Reply) -> Assessment:
        try:
            return self.one.read(case, reply)
        except JudgeFailed as error:
            return self.one.fail(case, str(error))
