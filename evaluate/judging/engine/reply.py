"""A judge: its name, the prompt it fills, the reply it accepts, and the step from a reply to records.

`judged` is the border (as in pydantic-evals): behind it anything may fail, in front of it there are only records, each
with a label or an error, so callers need no try. `complete` puts them in the order owed and fills what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from ragassay.calls.caller import Caller
from ragassay.models.requests import Batch, Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import Assessment, Game, Judgment

Case = TypeVar("Case")
Row = TypeVar("Row", Judgment, Assessment, Game)
ReplyValue = TypeVar("ReplyValue", bound=BaseModel)

LABELS = ("0", "1", "2")
"""The scale as single tokens: 0 not, 1 somewhat, 2 very (or fully)."""


def _whole(value: object) -> object:
    """Refuse what JSON or Python would quietly take for a whole number: true, 2.0, "2"."""
    if type(value) is not int:
        raise ValueError("the label must be a whole number on the scale")
    return value


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("the reason is empty")
    return text.strip()


Label = Annotated[Literal[0, 1, 2], BeforeValidator(_whole)]
Reason = Annotated[str, AfterValidator(_said)]


class Strict(BaseModel):
    """What every reply schema inherits: no coercion, no extra fields. The reason stands before the label."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


@dataclass(frozen=True)
class Judge(Generic[Case, Row]):
    """Judges cases of one kind by one prompt.

    name: the label of its batch of requests. model: the judge's name in the records.
    schema or tokens: the reply it accepts, a structured one or one of these tokens with its probability.
    values: what the prompt is filled with for a case. read: the records a usable reply gives; it may raise anything.
    failed: the same records with an error instead, which is also the list of what a case owes.
    """

    name: str
    model: str
    prompt: Prompt
    values: Callable[[Case], Mapping[str, Any]]
    read: Callable[[Case, Reply], Sequence[Row]]
    failed: Callable[[Case, str], Sequence[Row]]
    schema: type[BaseModel] | None = None
    tokens: tuple[str, ...] = ()

    def request(self, case: Case) -> Request:
        """The case as a request. Raises InputError where the prompt names a value that is not given."""
        return Request(self.prompt.render(self.values(case)), schema=self.schema, tokens=self.tokens)


def judged(judge: Judge[Case, Row], case: Case, reply: Reply) -> tuple[Row, ...]:
    """The records that `reply` gives for `case`: as many as the case owes, each with a label or an error."""
    if reply.error is not None:
        return tuple(judge.failed(case, reply.error))
    try:
        rows = tuple(judge.read(case, reply))
    except Exception as error:  # noqa: BLE001  (the border: it becomes an error record)
        return tuple(judge.failed(case, f"the judge's reply cannot be used ({type(error).__name__}: {error})"))
    owed = tuple(judge.failed(case, "not judged"))
    if [key_of(row) for row in rows] != [key_of(row) for row in owed]:
        return tuple(judge.failed(case, "the judge's reply does not cover what was asked"))
    return rows


def value_of(reply: Reply, schema: type[ReplyValue]) -> ReplyValue:
    """The structured reply. Raises ValueError where it is of another kind."""
    if not isinstance(reply.value, schema):
        raise ValueError(f"it is not a {schema.__name__}")
    return reply.value


@dataclass(frozen=True)
class Docket(Generic[Case, Row]):
    """A judge and the cases before it. `sample` above 0 asks the same again, in batches of its own."""

    judge: Judge[Case, Row]
    cases: Sequence[Case]
    sample: int = 0

    def batch(self) -> Batch:
        """All of its requests. Raises InputError where the prompt cannot be filled."""
        label = f"{self.judge.name}-repeat-{self.sample}" if self.sample else self.judge.name
        requests = (replace(self.judge.request(case), sample=self.sample) for case in self.cases)
        return Batch(label, self.judge.model, tuple(requests))


def ask(caller: Caller, dockets: Sequence[Docket[Any, Row]]) -> list[list[Row]]:
    """Ask everything in one round and return the records of each docket. Equal requests cost one call (see Caller.ask).

    Raises what the caller raises (RepliesMissing, BudgetSpent), and InputError where a prompt cannot be filled.
    """
    answered = zip(dockets, caller.ask([docket.batch() for docket in dockets]), strict=True)
    return [
        [row for case, reply in zip(docket.cases, replies, strict=True) for row in judged(docket.judge, case, reply)]
        for docket, replies in answered
    ]


def key_of(row: Judgment | Game) -> Hashable:
    """What makes a record the one that is owed."""
    if isinstance(row, Judgment):
        return row.query_id, row.subject, row.criterion
    return row.query_id, row.agent_a, row.agent_b, row.first


def complete(owed: Sequence[Row], made: Iterable[Row]) -> list[Row]:
    """`owed` (error records, in the order of the file) with each record made in its place; none is lost or added.

    Raises RuntimeError where a record was made that nobody owed, or twice: a fault of ours.
    """
    rows = {key_of(row): row for row in owed}
    seen: set[Hashable] = set()
    for row in made:
        key = key_of(row)
        if key not in rows or key in seen:
            raise RuntimeError(f"a record that was not owed: {key}")
        seen.add(key)
        rows[key] = row
    return list(rows.values())
