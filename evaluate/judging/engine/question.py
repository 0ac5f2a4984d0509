"""One question with a label for an answer: by a schema that wants the reason first, or by the label's probability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, create_model

from ragassay.errors import InputError
from ragassay.models.requests import Reply, Request
from ragassay.prompts import Message, Prompt, fence


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


def label_type(labels: tuple[str, ...]) -> Any:
    """The type of a schema's field that holds one of `labels`: whole numbers, or words."""
    if are_numbers(labels):
        return Annotated[Literal[tuple(int(label) for label in labels)], BeforeValidator(whole)]
    return Literal[labels]


LABELS = ("0", "1", "2")
"""The scale of relevance and of pointwise grades as single tokens: 0 not, 1 somewhat, 2 very (or fully)."""

Label = Annotated[Literal[0, 1, 2], BeforeValidator(whole)]
"""The same in a schema."""


class JudgeFailed(Exception):
    """A case cannot be judged; the message becomes the record's error."""


def text_or(problem: str) -> AfterValidator:
    """Of a schema's field: a text without the space around it, refused where nothing is left."""

    def stripped(text: str) -> str:
        if not text.strip():
            raise ValueError(problem)
        return text.strip()

    return AfterValidator(stripped)


Reason = Annotated[str, text_or("the reason is empty")]


class Strict(BaseModel):
    """What every reply schema inherits: no coercion, no extra fields. The reason stands before the label."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


@lru_cache(maxsize=64)
def label_schema(labels: tuple[str, ...]) -> type[BaseModel]:
    """The reply with a reason and one of `labels`; nothing is coerced."""
    fields: Any = {"reason": (Reason, ...), "label": (label_type(labels), ...)}
    return create_model("Labelled", __base__=Strict, __doc__="The reason, then the label.", **fields)


def check_each_once(given: Sequence[Hashable], wanted: Sequence[Hashable]) -> None:
    """Raises ValueError that says what of `wanted` is missing or given more than once, and what is not of it."""
    times = Counter(given)
    problems = [f"{one} is missing" for one in wanted if not times[one]]
    problems += [f"{one} stands {times[one]} times" for one in wanted if times[one] > 1]
    problems += [f"there is no {one}" for one in times if one not in wanted]
    if problems:
        raise ValueError(", ".join(problems))


def read_value(reply: Reply, schema: type[Any], told: str = "") -> Any:
    """The structured reply. Raises JudgeFailed with the reply's error, behind what is `told`; ValueError where it is of
    another kind."""
    if reply.error is not None:
        raise JudgeFailed(f"{told}: {reply.error}" if told else reply.error)
    if not isinstance(reply.value, schema):
        raise ValueError(f"it is not a {schema.__name__}")
    return reply.value


class Graded(NamedTuple):
    """A label as a number, with the reason, or with its probability and the mean label under the distribution.

    Asked for one token and read as a distribution, a small model judges far better than by the token it would write (as
    in G-Eval, Liu et al. 2023, arXiv:2303.16634, equation 1: the score is the sum of p(label) times label).
    """

    label: float
    reason: str | None = None
    probability: float | None = None
    expected: float | None = None


def distribution(reply: Reply, tokens: Sequence[str]) -> dict[str, float]:
    """The probability of each of `tokens`, in their order, summing to 1.

    Raises JudgeFailed with the reply's error, and ValueError where it has no probabilities, lacks a token, or is no
    distribution (off by more than 0.001).
    """
    if reply.error is not None:
        raise JudgeFailed(reply.error)
    given = reply.probabilities
    if given is None or set(given) != set(tokens):
        raise ValueError(f"it does not give the probabilities of {', '.join(tokens)}")
    if not all(isfinite(p) and 0 <= p <= 1 for p in given.values()) or abs(sum(given.values()) - 1) > 1e-3:
        raise ValueError("its probabilities do not sum to 1")
    return {token: given[token] / sum(given.values()) for token in tokens}


def likeliest(probabilities: Mapping[str, float]) -> Graded:
    """The most likely of the labels that are the keys, lowest first; of equal ones (to 9 digits) the lowest."""
    labels = tuple(probabilities)
    best = max(labels, key=lambda label: (round(probabilities[label], 9), -labels.index(label)))
    expected = sum(number_of(label, labels) * p for label, p in probabilities.items())
    return Graded(number_of(best, labels), None, probabilities[best], expected)


def yes_or_no(p_yes: float, threshold: float, top: int) -> Graded:
    """`top` where "yes" reaches `threshold` (0 to 1, a setting that people's labels can calibrate), else 0.

    expected is top times p_yes, so that another threshold can be tried on the records.
    """
    reached = round(p_yes - threshold, 9) >= 0
    return Graded(top if reached else 0, None, p_yes if reached else 1 - p_yes, top * p_yes)


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
            problem = f"the labels {self.labels[0]} to {self.labels[-1]} are not single tokens"
            raise InputError(problem, remedy='take a scale of one digit, or mode = "label"')

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
        examples = tuple(fence("example", "\n".join(f"{k}: {v}" for k, v in one.items())) for one in self.examples)
        shown = {"mode": self.mode, "labels": self.labels, "criteria": self.criteria, "examples": examples}
        messages = self.prompt.render(shown | dict(values))
        if self.mode == "label":
            return Request(messages, schema=schema or label_schema(self.labels))
        if self.tokens != self.labels:
            meaning = ", ".join(f"{token} for {label}" for token, label in zip(self.tokens, self.labels, strict=True))
            *before, last = messages
            told = f"{last.content}\n\nReply with one digit and nothing else: {meaning}."
            messages = (*before, Message(last.role, told))
        return Request(messages, tokens=self.tokens)

    def read(self, reply: Reply) -> Graded:
        """The label of a reply. Raises JudgeFailed with the reply's error, ValueError where it is of another kind."""
        if self.mode == "probability":
            return likeliest(distribution(reply, self.tokens))
        value: Any = read_value(reply, label_schema(self.labels))
        return Graded(number_of(str(value.label), self.labels), value.reason)
