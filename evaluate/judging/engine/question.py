"""One question with a label for an answer: by a schema that wants the reason first, or by the label's probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, create_model

from ragassay.errors import InputError
from ragassay.models.requests import Reply, Request
from ragassay.prompts import Message, Prompt, fence

from .probability import distribution
from .reply import Reason, Strict, value_of

Mode = Literal["label", "probability"]


_TOKENS = frozenset({"yes", "no"})
"""Words that models have as one token."""


class JudgeFailed(Exception):
    """A case cannot be judged; the message becomes the record's error."""


class Graded(NamedTuple):
    """A label as a number, with the reason, or with its probability and the mean label under the distribution."""

    label: float
    reason: str | None = None
    probability: float | None = None
    expected: float | None = None


@dataclass(frozen=True)
class LabelQuestion:
    """A prompt and the labels it asks for, lowest first.

    In mode "probability" single tokens are asked for: the labels where they are such, else their places from 0, which
    a line behind the prompt explains. The prompt is given, besides its values, `mode`, `labels`,
    `criteria` and `examples` (fenced texts).
    """

    prompt: Prompt
    labels: tuple[str, ...]
    mode: Mode = "label"
    criteria: str = ""
    examples: Sequence[Mapping[str, str | int]] = ()

    def __post_init__(self) -> None:
        if self.mode == "probability" and any(len(token) > 1 and token.isdigit() for token in self.tokens):
            raise InputError(
                f"the labels {self.labels[0]} to {self.labels[-1]} are not single tokens",
                remedy='take a scale of one digit, or mode = "label"',
            )

    @property
    def tokens(self) -> tuple[str, ...]:
        """What mode "probability" asks for, in the labels' order. A longer word's first token is not the word."""
        single = all(len(label) == 1 or label in _TOKENS for label in self.labels)
        apart = len({label.casefold() for label in self.labels}) == len(self.labels)
        if are_numbers(self.labels) or (single and apart):
            return self.labels
        return tuple(str(place) for place in range(len(self.labels)))

    def request(self, values: Mapping[str, Any], schema: type[BaseModel] | None = None) -> Request:
        """The case as a request, for a reply of `schema` where the judge has its own (mode "label" only).

        Raises InputError where the prompt names a value that is not given.
        """
        shown = {"mode": self.mode, "labels": self.labels, "criteria": self.criteria, "examples": self._examples()}
        messages = self.prompt.render(shown | dict(values))
        if self.mode == "probability":
            return Request(self._explained(messages), tokens=self.tokens)
        return Request(messages, schema=schema or label_schema(self.labels))

    def read(self, reply: Reply) -> Graded:
        """The label of a reply. Raises JudgeFailed with the reply's error, ValueError where it is of another kind."""
        if reply.error is not None:
            raise JudgeFailed(reply.error)
        if self.mode == "probability":
            return _likeliest(distribution(reply, self.tokens))
        value: Any = value_of(reply, label_schema(self.labels))
        return Graded(number_of(str(value.label), self.labels), value.reason)

    @staticmethod
    def ends(labels: Sequence[str]) -> tuple[float, float]:
        """The lowest and the highest label as numbers."""
        return number_of(labels[0], labels), number_of(labels[-1], labels)

    def _explained(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        if self.tokens == self.labels:
            return tuple(messages)
        meaning = ", ".join(f"{token} for {label}" for token, label in zip(self.tokens, self.labels, strict=True))
        *before, last = messages
        told = f"{last.content}\n\nReply with one digit and nothing else: {meaning}."
        return (*before, Message(last.role, told))

    def _examples(self) -> tuple[str, ...]:
        return tuple(fence("example", "\n".join(f"{k}: {v}" for k, v in example.items())) for example in self.examples)


def number_of(label: str, labels: Sequence[str]) -> float:
    """A whole number as it is, a word by its place from 0."""
    return float(label) if are_numbers(labels) else float(labels.index(label))


def are_numbers(labels: Sequence[str]) -> bool:
    """Whether labels are whole numbers, in plain digits (there are others, such as ²), and not words."""
    return all(label.isascii() and label.isdigit() for label in labels)


def whole(value: object) -> object:
    """Refuse what JSON or Python would quietly take for a whole number: true, 2.0, "2"."""
    if type(value) is not int:
        raise ValueError("the label must be a whole number on the scale")
    return value


@lru_cache(maxsize=64)
def label_schema(labels: tuple[str, ...]) -> type[BaseModel]:
    """The reply with a reason and one of `labels`; nothing is coerced."""
    fields: Any = {"reason": (Reason, ...), "label": (label_type(labels), ...)}
    return create_model("Labelled", __base__=Strict, __doc__="The reason, then the label.", **fields)


def label_type(labels: tuple[str, ...]) -> Any:
    """The type of a schema's field that holds one of `labels`: whole numbers, or words."""
    if are_numbers(labels):
        return Annotated[Literal[tuple(int(label) for label in labels)], BeforeValidator(whole)]
    return Literal[labels]


def _likeliest(probabilities: Mapping[str, float]) -> Graded:
    """The most likely label (of equal ones, to 9 digits, the lowest) with the mean under the distribution."""
    labels = tuple(probabilities)
    best = max(labels, key=lambda label: (round(probabilities[label], 9), -labels.index(label)))
    expected = sum(number_of(label, labels) * p for label, p in probabilities.items())
    return Graded(number_of(best, labels), None, probabilities[best], expected)


def read_value(reply: Reply, schema: type[Any]) -> Any:
    """The structured reply. Raises JudgeFailed with the reply's error, ValueError where it is of another kind."""
    if reply.error is not None:
        raise JudgeFailed(reply.error)
    return value_of(reply, schema)
