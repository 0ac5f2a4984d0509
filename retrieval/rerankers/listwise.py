"""Reranking by a chat model that orders lists: RankGPT (Sun et al. 2023, arXiv:2304.09542), a sliding window.

Windows of 20 passages are ordered from the last of the ranking to its first, each ten further up, so that what is put
first in one is seen in the next. What differs from the paper: one prompt (ours) in place of a conversation that has the
model acknowledge each passage; passages whole and fenced, not cut after 300 words; and a schema, so that an order that
misses a passage or names one twice is asked for again and then fails its query, where the paper mends it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, create_model

from ragassay.calls.caller import Caller
from ragassay.models.requests import Batch, Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import Passage

from ..rankers.ranker import indexed_text
from .reranker import Asked, Failed, Scores

LABEL = "rerank"
PROMPT = Path(__file__).with_name("prompts") / "rerank.md"
WINDOW, STEP = 20, 10


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def windows(n: int) -> list[tuple[int, int]]:
    """(start, stop) of the windows over `n` passages, the last passages first; none where there is nothing to order."""
    if n < 2:
        return []
    stops = range(n, WINDOW, -STEP)
    found = [(max(0, stop - WINDOW), stop) for stop in stops]
    return found if found and found[-1][0] == 0 else [*found, (0, min(n, WINDOW))]


@lru_cache(maxsize=WINDOW)
def order_schema(n: int) -> type[BaseModel]:
    """The reply on `n` passages: their numbers from 1, the most relevant first, each exactly once."""
    numbers = tuple(range(1, n + 1))

    def once(order: list[int]) -> list[int]:
        if missing := sorted(set(numbers) - set(order)):
            raise ValueError(f"{missing[0]} is missing")
        if len(order) > n:
            raise ValueError(f"{len(order)} numbers for {n} passages")
        return order

    order: Any = (Annotated[list[Literal[numbers]], AfterValidator(once)], ...)  # type: ignore[valid-type]
    return create_model("Ranking", __base__=_Strict, __doc__="The passages, most relevant first.", order=order)


class ListwiseReranker:
    """Orders of `model`, any that chats; the score of a passage is how many stand behind it."""

    def __init__(self, model: str, caller: Caller, prompt: Path = PROMPT) -> None:
        self._model, self._caller, self._prompt = model, caller, Prompt.load(prompt)

    def rerank(self, asked: Asked) -> list[Scores | Failed]:
        """As `Reranker`. The windows of all queries are asked together, one after the other of each."""
        orders = [list(range(len(passages))) for _, passages in asked]
        failed: dict[int, Failed] = {}
        due = {at: windows(len(passages)) for at, (_, passages) in enumerate(asked)}
        while due := {at: steps for at, steps in due.items() if steps and at not in failed}:
            requests = tuple(self._request(asked[at], orders[at], steps[0]) for at, steps in due.items())
            replies = self._caller.ask([Batch(LABEL, self._model, requests)])[0]
            for (at, steps), reply in zip(due.items(), replies, strict=True):
                if reply.error is not None:
                    failed[at] = Failed(reply.error)
                else:
                    orders[at] = _ordered(orders[at], steps[0], reply)
            due = {at: steps[1:] for at, steps in due.items()}
        return [failed.get(at) or _scores(order) for at, order in enumerate(orders)]

    def _request(self, one: tuple[str, Sequence[Passage]], order: Sequence[int], window: tuple[int, int]) -> Request:
        query, passages = one
        shown = [indexed_text(passages[at]) for at in order[slice(*window)]]
        values = {"query": query, "passages": tuple(enumerate(shown, 1)), "n": len(shown)}
        return Request(self._prompt.render(values), order_schema(len(shown)), items=len(shown))


def _ordered(order: Sequence[int], window: tuple[int, int], reply: Reply) -> list[int]:
    """`order` with its window as the reply has it."""
    value: Any = reply.value
    start, stop = window
    return [*order[:start], *(order[start + number - 1] for number in value.order), *order[stop:]]


def _scores(order: Sequence[int]) -> Scores:
    places = {at: place for place, at in enumerate(order, 1)}
    return [float(len(order) - places[at]) for at in range(len(order))]
