"""What judges are given (a passage, an answer, everything there is on a query, two answers in one order, a list), and
what every judge is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from ragassay.errors import InputError
from ragassay.models.requests import Reply, Request
from ragassay.models.servers import LikelihoodModel
from ragassay.records import Answer, Game, Judgment, Passage, Query, RankedList
from ragassay.text import plain

from ...inputs.findings import Material
from ...texts.by_model import Embedded
from .question import Mode


@dataclass(frozen=True)
class PassageCase:
    """A passage that at least one agent retrieved for the query."""

    query: Query
    passage: Passage

    @property
    def subject(self) -> str:
        """The passage's id."""
        return self.passage.id


@dataclass(frozen=True)
class PassagesCase:
    """Passages of a query's pool that are graded in one request, in the order in which they are shown."""

    query: Query
    passages: tuple[Passage, ...]

    @property
    def single(self) -> tuple[PassageCase, ...]:
        """Each by itself."""
        return tuple(PassageCase(self.query, passage) for passage in self.passages)


@dataclass(frozen=True)
class AnswerCase:
    """An agent's answer with the passages it retrieved, best first (those that the corpus has).

    evidence: what was found to be relevant to the query, by whichever agent; None before that was judged.
    """

    query: Query
    answer: Answer
    passages: tuple[Passage, ...]
    evidence: tuple[Evidence, ...] | None = None

    @property
    def subject(self) -> str:
        """The agent's name."""
        return self.answer.agent

    @property
    def text(self) -> str:
        """What the agent answered; a case is made only of answers that there are."""
        return self.answer.answer or ""


@dataclass(frozen=True)
class QueryCase:
    """All there is on a query: the pool of passages by their ids, the answers, and those that failed."""

    query: Query
    passages: tuple[Passage, ...]
    answers: tuple[AnswerCase, ...]
    failed: tuple[Answer, ...] = ()

    @property
    def subject(self) -> str:
        """The query's id."""
        return self.query.id


Case = PassageCase | AnswerCase | QueryCase

Order = Literal["a", "b"]
"""Whose answer is shown first."""

ORDERS: tuple[Order, ...] = ("a", "b")


class Evidence(NamedTuple):
    """A passage judged relevant, and why (None where the judge was not asked for a reason)."""

    passage: Passage
    reason: str | None


@dataclass(frozen=True)
class GameCase:
    """One order of a game: two agents' answers to a query, whose is shown first, and what is known to be relevant."""

    query: Query
    a: Answer
    b: Answer
    first: Order
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class ListCase:
    """One list: agents' answers to a query that are ranked together, and what is known to be relevant.

    answers: of all agents that sit in it, in the experiment's order; one that failed is not shown. shown: by place, the
    agents whose answer stands there, several where they gave the same. presentation: which of the query's lists, from
    1. sample: tells it apart from an earlier list in the same order; 0 of the first.
    pairs: of agents whose games are taken from it; None: all in it. block: which of the query's lists in this
    presentation, from 1, where there are several.
    """

    query: Query
    answers: tuple[Answer, ...]
    shown: tuple[tuple[str, ...], ...]
    presentation: int
    evidence: tuple[Evidence, ...]
    sample: int = 0
    pairs: frozenset[frozenset[str]] | None = None
    block: int | None = None

    def takes(self, a: str, b: str) -> bool:
        """Whether the game of two agents in it is taken from it."""
        return self.pairs is None or frozenset((a, b)) in self.pairs

    @property
    def asked(self) -> bool:
        """Whether there is anything to rank: a pair to be taken from it that stands in two places."""
        if self.pairs is None:
            return len(self.shown) > 1
        place = {agent: number for number, agents in enumerate(self.shown) for agent in agents}
        return any(len({place[agent] for agent in pair if agent in place}) > 1 for pair in self.pairs)


def expected_response(query: Query) -> str | None:
    """The golden answer, `metadata.expected_response` of queries.jsonl, where there is one.

    Raises InputError where it is there and no text.
    """
    value = query.metadata.get("expected_response")
    if value is not None and not isinstance(value, str):
        raise _unfit(query, "expected_response is not a text", "write alternatives in one text, a line each")
    return value if value and value.strip() else None


class ExpectedDocs(NamedTuple):
    """The ids of the documents that hold the answer, and the field of the query's metadata that says so."""

    docs: tuple[str, ...]
    source: Literal["expected_docs", "doc"]


def expected_docs(query: Query) -> ExpectedDocs | None:
    """`metadata.expected_docs` where it is given, which may name none; else the document that the question was made
    from, `metadata.doc`, as synthetic questions have it.

    Raises InputError where expected_docs is no list of texts.
    """
    value, made_from = query.metadata.get("expected_docs"), query.metadata.get("doc")
    if value is None:
        return ExpectedDocs((made_from,), "doc") if isinstance(made_from, str) and made_from.strip() else None
    if not isinstance(value, list | tuple) or not all(isinstance(id, str) for id in value):
        raise _unfit(query, "expected_docs is not a list of ids", 'write it as ["manual.pdf"]')
    return ExpectedDocs(tuple(dict.fromkeys(value)), "expected_docs") if value else None


def _unfit(query: Query, problem: str, remedy: str) -> InputError:
    return InputError(f"query '{plain(query.id)}': metadata.{problem}", remedy=remedy)


def cases_of(material: Material) -> list[QueryCase]:
    """A case for each query, in their order."""
    cases = []
    for query in material.queries:
        answers = [material.answers[query.id, agent] for agent in material.asked(query.id)]
        given = tuple(AnswerCase(query, a, material.known(a.passages)) for a in answers if a.error is None)
        failed = tuple(answer for answer in answers if answer.error is not None)
        cases.append(QueryCase(query, material.known(tuple(material.pool(query.id))), given, failed))
    return cases


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
    embeddings: dict[str, Embedded] = field(default_factory=dict, compare=False, repr=False)

    def embedded(self, model: str) -> Embedded:
        """The vectors of an embedding model, shared by all that embed by it."""
        return self.embeddings.setdefault(model, Embedded(model))


class Judge(ABC, Generic[Row]):
    """Gives records of one kind. setup: the model that it asks.

    `steps` is a generator: it yields lists of requests and is sent the list of their replies, as often as it needs, and
    returns the records. So `rounds.py` can put the requests of all judges and cases together; an empty list waits for
    the others, so that what comes next can be worked out for many cases at once. What needs no model is a plain method
    that returns the records.
    """

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


def key_of(row: Judgment | Game | RankedList) -> tuple[str, ...]:
    """What makes a record the one that is owed."""
    if isinstance(row, Judgment):
        return row.query_id, row.subject, row.criterion
    if isinstance(row, RankedList):
        names = (agent for place in row.shown for agent in place)
        return row.query_id, row.judge, str(row.presentation), str(row.block), *names
    return row.query_id, row.agent_a, row.agent_b, row.judge, row.first


KnownRelevant = Mapping[str, tuple[Evidence, ...]]
"""Query to its relevant passages, in the order of their ids; a query without any may be absent."""


def known_relevant(material: Material, relevance: Sequence[Judgment], least: int) -> KnownRelevant:
    """The passages labelled `least` (0 to 2) or higher; one that could not be judged is none of them."""
    found: dict[str, list[Evidence]] = defaultdict(list)
    for judgment in relevance:
        if judgment.label is not None and judgment.label >= least:
            found[judgment.query_id].append(Evidence(material.passages[judgment.subject], judgment.reason))
    return {query: tuple(rows) for query, rows in found.items()}


def with_evidence(cases: Sequence[QueryCase], relevant: KnownRelevant) -> list[QueryCase]:
    """The cases, each of their answers with what is relevant to the query."""
    return [
        replace(case, answers=tuple(replace(one, evidence=relevant.get(case.query.id, ())) for one in case.answers))
        for case in cases
    ]
