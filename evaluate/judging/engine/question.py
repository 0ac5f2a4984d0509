"""One question with a label for an answer: by a schema that wants the reason first, or by the label's probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from ragassay.errors import InputError
from ragassay.models.requests import Reply, Request
from ragassay.prompts import Message, Prompt, fence

from .labels import are_numbers, number_of
from .probability import Graded, distribution, likeliest
from .reply import label_schema, read_value

Mode = Literal["label", "probability"]

_TOKENS = frozenset({"yes", "no"})
"""Words that models have as one token."""


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
        if self.mode == "probability":
            return likeliest(distribution(reply, self.tokens))
        value: Any = read_value(reply, label_schema(self.labels))
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
