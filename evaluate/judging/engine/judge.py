"""A judge, as the engine knows it: what a case owes, and the steps from a case to its records.

`steps` is a generator: it yields lists of requests and is sent the list of their replies, as often as it needs, and
returns the records. So `rounds.py` can put the requests of all judges and cases together; an empty list waits for the
others, so that what comes next can be worked out for many cases at once. What needs no model is a plain method that
returns the records.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from ragassay.models.likelihood.model import LikelihoodModel
from ragassay.models.requests import Reply, Request
from ragassay.records import NO_ANSWER, Answer, Game, Judgment, RankedList

from ...texts.embedded import Embeddings
from .question import Mode

Row = TypeVar("Row", bound=Judgment | Game | RankedList)
StepsTo = Generator[Sequence[Request], Sequence[Reply], Sequence[Row]]

Prompts = Literal["paper", "ragassay"]
"""Whose wording a judge asks with: its source's scale and rules in our words, or ours where it departs from them."""

NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Setup:
    """What evaluators share: the model that judges, how and in whose wording it is asked, the folder of the user's
    files, the embedding, the model that says how likely a text is, and the texts embedded so far, by whichever model.
    """

    model: str
    mode: Mode = "label"
    folder: Path = Path()
    embedding: str = "all-MiniLM-L6-v2"
    prompts: Prompts = "paper"
    likelihood: LikelihoodModel | None = None
    embeddings: Embeddings = field(default_factory=Embeddings, compare=False, repr=False)


class Judge(ABC, Generic[Row]):
    """Gives records of one kind. setup: the model that it asks."""

    setup: Setup

    @property
    @abstractmethod
    def batch_label(self) -> str:
        """What its requests are called, which names their files and the estimate of their replies' length."""

    def label_of(self, asked: Sequence[Request]) -> str:
        """What the requests of one step are called; `batch_label` of a judge that asks but one kind."""
        del asked
        return self.batch_label

    @property
    def judge(self) -> str:
        """Who judges, as the records name it: the model; a judge that asks none names its method instead."""
        return self.setup.model

    def prepare(self, cases: Sequence[Any]) -> None:
        """Called once with every case that is owed, before the first `steps`: for models that work in batches."""

    @abstractmethod
    def owed(self, case: Any) -> Sequence[Row]:
        """The records that it must give of a case, each as an error."""

    def owed_keys(self, case: Any) -> list[tuple[str, ...]]:
        """`key_of` each of them."""
        return [key_of(row) for row in self.owed(case)]

    @abstractmethod
    def steps(self, case: Any) -> StepsTo[Row] | Sequence[Row]:
        """The records of one case. Raises JudgeFailed, or anything, where it cannot be judged."""


def why_unjudged(answer: Answer) -> str:
    """The error that an answer's records begin with: that there is none, or else that it is not judged yet."""
    return NOT_JUDGED if answer.error is None else f"{NO_ANSWER}{answer.error}"


def key_of(row: Judgment | Game | RankedList) -> tuple[str, ...]:
    """What makes a record the one that is owed."""
    if isinstance(row, Judgment):
        return row.query_id, row.subject, row.criterion
    if isinstance(row, RankedList):
        names = (agent for place in row.shown for agent in place)
        return row.query_id, row.judge, str(row.presentation), str(row.block), *names
    return row.query_id, row.agent_a, row.agent_b, row.judge, row.first
