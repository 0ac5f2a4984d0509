"""The records that the stages exchange: one frozen model for a line of each file in `results/NAME/`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+$")]


class Record(BaseModel):
    """A line of a file. Unknown fields are errors; `dump` gives the fields under the names the files use."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)
    seldom: ClassVar[tuple[str, ...]] = ()
    """Fields that a line has only where they are not their default."""

    def dump(self) -> dict[str, Any]:
        """The record as plain data, keyed as in the files (`_id`, not `id`)."""
        fields = type(self).model_fields
        absent = {name for name in self.seldom if getattr(self, name) == fields[name].default}
        return self.model_dump(mode="json", by_alias=True, exclude=absent)


class Outcome(Record):
    """What has come of something: exactly one of the two fields that `one_of` names is set."""

    one_of: ClassVar[tuple[str, str]]

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        one, other = self.one_of
        if (getattr(self, one) is None) == (getattr(self, other) is None):
            raise ValueError(f"exactly one of {one} and {other} must be set")
        return self


class Page(Record):
    """`pages.jsonl`: the text of one page. `page` counts from 1."""

    doc: str
    page: int = Field(ge=1)
    text: str


class Section(Record):
    """`sections.jsonl`: a long passage that questions are made from; `start` and `end` are character offsets."""

    id: Id = Field(alias="_id")
    doc: str
    first_page: int
    last_page: int
    start: int
    end: int
    text: str


class Passage(Record):
    """`corpus.jsonl` (BEIR): a short passage for retrieval.

    Ours carry `metadata` {doc, first_page, last_page, start, end}; a BEIR collection from elsewhere may carry anything.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    id: str = Field(alias="_id", min_length=1)
    title: str = ""
    text: str
    metadata: dict[str, Any] = Field(default_factory=dict)


class Turn(Record):
    """What was said before a query. by: who wrote it; `reference` is an answer that counts as right."""

    seldom = ("by",)

    role: Literal["user", "assistant"]
    text: str = Field(min_length=1)
    by: Literal["person", "model", "reference"] | None = None


class Asked(str):
    """The text of a query that is a turn of a conversation: the same text after another history is another one.

    history: what was said before. stand_alone: the same question as one asks it without; None where nobody wrote it.
    """

    history: tuple[Turn, ...]
    stand_alone: str | None

    def __new__(cls, text: str, history: tuple[Turn, ...] = (), stand_alone: str | None = None) -> Self:
        made = super().__new__(cls, text)
        made.history, made.stand_alone = history, stand_alone
        return made

    @property
    def whole(self) -> str:
        """The conversation as one text, a line a turn."""
        return "\n".join((*(turn.text for turn in self.history), self))

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True and self.history == getattr(other, "history", ())

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((str(self), self.history))

    def __getnewargs__(self) -> tuple[str, tuple[Turn, ...], str | None]:  # type: ignore[override]
        return str(self), self.history, self.stand_alone


_LIKE_HISTORY = ("messages", "turns", "conversation", "chat_history", "conversation_history", "dialogue", "dialog")


class Query(Record):
    """`pool.jsonl`, `queries.jsonl` (BEIR): what systems are asked.

    A synthetic one carries `metadata` {model, section, doc, first_page, last_page}; a user's own may carry anything.
    history: what was said before, the same for every system; its turns' queries have `metadata.conversation`, the id of
    the conversation, and perhaps `turn` (from 1), `move`, and `stand_alone`, the question as one asks it alone.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)
    seldom = ("history",)

    id: str = Field(alias="_id", min_length=1)
    text: str = Field(min_length=1)
    metadata: dict[str, Any] = Field(default_factory=dict)
    history: tuple[Turn, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _history(cls, value: Any) -> Any:
        """What `Asked` carries; a field that looks like a history and is read by nobody is an error."""
        if not isinstance(value, dict):
            return value
        if (told := [name for name in _LIKE_HISTORY if name in value]) and "history" not in value:
            raise ValueError(f'{told[0]} is not read; write "history": [{{"role": "user", "text": …}}, …]')
        if isinstance(asked := value.get("text"), Asked) and "history" not in value:
            return {**value, "history": asked.history}
        return value

    @model_validator(mode="after")
    def _asked(self) -> Self:
        if self.history:
            stand_alone = self.metadata.get("stand_alone")
            asked = Asked(self.text, self.history, stand_alone if isinstance(stand_alone, str) else None)
            object.__setattr__(self, "text", asked)
        return self

    def dump(self) -> dict[str, Any]:
        """As of every record, and so of the turns in it."""
        return _with_turns(super().dump(), self.history)


def _with_turns(made: dict[str, Any], history: tuple[Turn, ...]) -> dict[str, Any]:
    return made | {"history": [turn.dump() for turn in history]} if history else made


def whole_text(query: Query) -> str:
    """What somebody must read to know what is asked: of a turn, all that was said."""
    return query.text.whole if isinstance(query.text, Asked) else query.text


PERTURBED_FROM, PERTURBATION = "perturbed_from", "perturbation"
"""Fields of a query's `metadata`: the id of the query that it was made of, and what was done to it."""


def original_of(metadata: Mapping[str, Any]) -> str | None:
    """The id of the query that one with this metadata was made of; None of an original."""
    original = metadata.get(PERTURBED_FROM)
    return original if isinstance(original, str) and original else None


def perturbed_from(query: Query) -> str | None:
    """The id of the query that it was made of; None of an original."""
    return original_of(query.metadata)


def kind_of(query: Query) -> str:
    """What was done to it."""
    return str(query.metadata.get(PERTURBATION) or "perturbed")


def link_of(query: Query) -> dict[str, str]:
    """Its link as two columns of a table, `perturbed_from` and `perturbation`; nothing of an original."""
    original = perturbed_from(query)
    return {} if original is None else {PERTURBED_FROM: original, PERTURBATION: kind_of(query)}


def originals(queries: Sequence[Query]) -> list[Query]:
    """Those that were not made of others, which are what a test set asks."""
    return [query for query in queries if perturbed_from(query) is None]


def left_out(n_perturbed: int) -> list[str]:
    """The sentence for what speaks of originals alone; nothing where there are no others."""
    if not n_perturbed:
        return []
    some = "1 perturbed question is" if n_perturbed == 1 else f"{n_perturbed:,} perturbed questions are"
    return [f"{some} left out: the same question in changed words is no further question"]


class Rejected(Record):
    """`rejected.jsonl`: a question that did not enter the pool, and why. history: of a turn, what was said before."""

    seldom = ("history",)

    text: str
    metadata: dict[str, Any]
    reason: str
    history: tuple[Turn, ...] = ()

    def dump(self) -> dict[str, Any]:
        """As of every record, and so of the turns in it."""
        return _with_turns(super().dump(), self.history)


class WrittenRole(Record):
    """`roles.jsonl`: somebody who asks, as `model` wrote it from the corpus; one line with `error` where it did not."""

    model: str
    role: str | None = None
    error: str | None = None


class Usage(Record):
    """What one or more calls used; None where it was not measured or has no known price."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


class Hop(Record):
    """A step of a system that searches more than once: what it asked, and the ids of what it found, best first.

    tool: what it searched with. An `error` says why the step failed; it then found nothing.
    """

    query: str | None = None
    passages: tuple[str, ...] = ()
    tool: str | None = None
    usage: Usage | None = None
    latency_s: float | None = None
    error: str | None = None


class ToolCall(Record):
    """A call of a tool that a system made, or should have made (`metadata.expected_calls` of a query)."""

    name: str = Field(min_length=1)
    arguments: dict[str, Any] = Field(default_factory=dict)


class Answer(Outcome):
    """`answers/AGENT.jsonl`: exactly one of `answer` and `error` is set. `passages` are ids, best first.

    `model`, `prompt`: what a system of the user's own says it answered with. hops: its searches, in their order.
    calls: the tools it called; None where it does not say. What a system does not say is absent.
    """

    one_of = ("answer", "error")
    seldom = ("model", "prompt", "calls", "hops")

    query_id: str
    agent: Id
    answer: str | None
    passages: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    usage: Usage = Usage()
    latency_s: float | None = None
    error: str | None = None
    model: str | None = None
    prompt: str | None = None
    hops: tuple[Hop, ...] = ()
    calls: tuple[ToolCall, ...] | None = None

    def dump(self) -> dict[str, Any]:
        """As of every record; of each hop what its system says."""
        hops = [hop.model_dump(mode="json", exclude_defaults=True) for hop in self.hops]
        return super().dump() | ({"hops": hops} if hops else {})


NO_ANSWER = "no answer to judge: "
"""What the error of a judgment or a game begins with that failed because an answer had."""


def for_want_of_an_answer(error: str | None) -> bool:
    """Whether a record failed because an answer did, which is then counted there alone."""
    return error is not None and error.startswith(NO_ANSWER)


class AnswerRun(Answer):
    """`answer-runs/AGENT.jsonl`: the query asked again; `run` counts from 2, the answer itself being run 1."""

    run: int = Field(ge=2)


class Judgment(Outcome):
    """`relevance.jsonl`, `pointwise.jsonl`: exactly one of `label` and `error` is set.

    `probability` (0 to 1) is what the model gave the label, `expected` the mean label under its distribution; both
    only where the judge was asked for probabilities.
    """

    one_of = ("label", "error")

    query_id: str
    subject: str
    judge: str
    criterion: str
    label: float | None
    reason: str | None = None
    error: str | None = None
    probability: float | None = None
    expected: float | None = None


class Found(Outcome):
    """`found.jsonl`: a passage of a question's pool, with the judge's grade of it; one of `label` and `error` is set.

    `found-deeper.jsonl`: the same of what a finalist of the screening hands over. found_by: the ranker that found it,
    `section`, or the finalist. doc, start, end: where it stands, None where it does not say.
    asked: digest of prompts, question and passage, by which the stage `judge` knows the label for its own.
    """

    one_of = ("label", "error")

    query_id: str
    passage: str
    doc: str | None = None
    start: int | None = None
    end: int | None = None
    found_by: str
    judge: str
    asked: str
    label: int | None = None
    reason: str | None = None
    error: str | None = None


class Repeat(Judgment):
    """`repeats.jsonl`: a judgment asked again word for word; `sample` counts from 1, the judgment itself being 0.

    A game's order is one judgment: subject `AGENT_A:AGENT_B`, criterion `game-first-a` or `-b`, or of a list
    `game-presentation-N`, label agent_a's score (1 won, 0.5 tied, 0 lost).
    """

    sample: int = Field(ge=1)


class Assessment(Judgment):
    """`judgments.jsonl`: what an evaluator gives a passage or an answer.

    `score` is the label on 0 to 1; `details` are the parts it is made of (claims, nuggets, citations), if any.
    """

    score: float | None = None
    details: tuple[dict[str, Any], ...] = ()

    def judgment(self) -> Judgment:
        """The same without score and details."""
        return Judgment(**self.model_dump(include=set(Judgment.model_fields)))


class AssessmentRun(Assessment):
    """`judgment-runs.jsonl`: what an evaluator gives the answer of a further run, from 2."""

    run: int = Field(ge=2)


class KeptReplies(Record):
    """`judgment-replies.jsonl`: what a model replied for one case, in the order asked; kept where that is wanted.

    criteria: those of the case's judgments. replies: each `value` (as the schema read it), `text`, `probabilities` or
    `error`; word for word they stand in the reply cache.
    """

    query_id: str
    subject: str
    judge: str
    criteria: tuple[str, ...]
    replies: tuple[dict[str, Any], ...]


Winner = Literal["a", "b", "tie"]

IDENTICAL = "the two answers are identical"
"""The reason of a game that is a tie without a judge: both answers are the same text."""


class Game(Outcome):
    """`games.jsonl`: one order of a game; `first` says whose answer was shown first. One of `winner`, `error` is set.

    `probability` is that of agent_a's answer being the better one, where the judge was asked for probabilities.

    Where all answers were ranked together it is what a list says of a pair: `presentation` counts a query's lists from
    1, `place_a` and `place_b` are where the two answers stood, from 1 (equal answers share a place; None where nothing
    was shown), and `first` says who stood earlier. A pair's game has none of the three fields.
    """

    one_of = ("winner", "error")

    query_id: str
    agent_a: str
    agent_b: str
    first: Literal["a", "b"]
    judge: str = ""
    winner: Winner | None
    reason: str | None = None
    error: str | None = None
    probability: float | None = None
    presentation: int | None = Field(None, ge=1)
    place_a: int | None = Field(None, ge=1)
    place_b: int | None = Field(None, ge=1)

    def dump(self) -> dict[str, Any]:
        """As of every record; of a pair's game without what only lists have."""
        of_a_list = set() if self.presentation is not None else {"presentation", "place_a", "place_b"}
        return self.model_dump(mode="json", by_alias=True, exclude=of_a_list)


class RankedList(Outcome):
    """`lists.jsonl`: answers to a query ranked together. Exactly one of `order` and `error` is set.

    shown: by place, the agents of the answer that stood there (several where they gave the same). order: the agents by
    rank, best first; those of one rank are equally good. block: which of the query's lists of this presentation, from
    1; absent where there is one.
    """

    one_of = ("order", "error")
    seldom = ("block",)

    query_id: str
    presentation: int = Field(ge=1)
    judge: str
    shown: tuple[tuple[str, ...], ...]
    order: tuple[tuple[str, ...], ...] | None
    reason: str | None = None
    error: str | None = None
    block: int | None = Field(None, ge=1)


K = TypeVar("K")
V = TypeVar("V")


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """The values by their key, both in the order in which they come."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


Failing = TypeVar("Failing", bound=Answer | Judgment | Game)


def own_failures(rows: Iterable[Failing]) -> list[Failing]:
    """The records that failed by themselves."""
    return [row for row in rows if row.error is not None and not for_want_of_an_answer(row.error)]


class Figure(Record):
    """A figure of the report: its value, over how many, how many failed, and its interval (95% unless said)."""

    value: float | None
    n: int
    n_failed: int = 0
    ci_low: float | None = None
    ci_high: float | None = None

    def turned(self) -> Figure:
        """A difference the other way round."""
        value, low, high = (None if end is None else -end for end in (self.value, self.ci_high, self.ci_low))
        return self.model_copy(update={"value": value, "ci_low": low, "ci_high": high})


OWN_SYSTEM = "agent:"
"""What the name of a user's own system begins with where the names of models stand."""


class StageUsage(Record):
    """What one stage used of one model, or a user's own system (`agent:NAME`) says that it used.

    n_unmeasured: calls that came with no usage or a price that is not known.
    n_failed: requests without a reply that can be used; n_refused: those of them where the model refused, None in the
    manifest of a version that did not count them. cached_tokens, cache_write_tokens: of the input tokens, those read
    from and written to the provider's prompt cache.
    """

    stage: str
    model: str
    calls: int
    n_failed: int
    n_unmeasured: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    n_refused: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class ServerCallRow(Record):
    """`server-calls.jsonl`: a call of a server that embeds (label `embed`) or reranks (`rerank`), as it was paid for.

    searches: what a rerank server charges by, None of an embedding.
    """

    stage: str
    model: str
    label: str
    texts: int
    input_tokens: int | None
    searches: int | None
    latency_s: float


class LedgerRow(Record):
    """`ledger.jsonl`: asked + extra = written + unwritten + failed, and written = kept + rejected.

    `unwritten` is by how much replies were shorter than asked, `extra` by how much longer; `failed` is what the calls
    without a reply were to write; `sampled` is what of `kept` is in the test set.
    """

    model: str
    doc: str
    asked: int
    written: int
    kept: int
    rejected: int
    failed: int
    sampled: int
    unwritten: int = 0
    extra: int = 0


class LookDifference(Record):
    """How experts' and written questions differ in one feature: the means of both.

    difference: of the means, in standard deviations; None where neither side varies and the means differ.
    """

    feature: str
    experts: float
    written: float
    difference: float | None


class QuestionsCheck(Record):
    """`questions-check.json`: whether the written questions that were kept look like the experts'.

    auc: how well a classifier tells the two apart by their features, 0.5 where it cannot, n of both; None where either
    side has too few. features: the furthest apart first. n_failed: questions of either side without figures. said: the
    check in a sentence. Older files have other fields besides.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    n_experts: int
    n_written: int
    n_failed: int = 0
    auc: Figure | None
    features: tuple[LookDifference, ...] = ()
    said: str | None = None


class Taken(Record):
    """A line of `looks.jsonl`, a look at what is in of a run that may end early.

    plan: of which plan; look: from 1; queries: that were in, of the `planned` ones. told, untold: as in the verdict,
    those told at an earlier look among them; lead: the leader's points less those of the nearest that is not told, or
    of the nearest, with the interval of this look. bound: the one-sided p to which the first step of the ladder was
    held. goes_on: whether another look follows. not_asked: the agents told before that were not asked what came in
    since the look before.
    """

    plan: str
    look: int
    looks: int
    queries: int
    planned: int
    leader: str | None
    told: tuple[str, ...]
    untold: tuple[str, ...]
    lead: Figure | None
    bound: float
    decided: bool
    safe: bool
    goes_on: bool
    not_asked: tuple[str, ...] = ()

    @model_serializer(mode="wrap")
    def _without_nobody(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found: dict[str, Any] = whole(self)
        return {name: value for name, value in found.items() if value or name != "not_asked"}

    @property
    def stopped_early(self) -> bool:
        """Whether the run ended here with queries of its plan not asked."""
        return not self.goes_on and self.queries < self.planned
