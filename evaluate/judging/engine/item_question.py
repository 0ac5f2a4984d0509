"""A label for each of several items (nuggets, claims, sentences): in batches, or one by one by its probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import BaseModel, create_model

from ragassay.models.requests import Reply, Request
from ragassay.prompts import Prompt

from .evaluator import Options
from .question import LabelQuestion, Mode
from .reply import JudgeFailed, Strict, label_schema, read_value

BATCH = 10
"""How many items a request holds (AutoNuggetizer's number)."""


class Item(NamedTuple):
    """What the prompt shows: the item's text and its number in the request, from 1."""

    number: int
    text: str


class Verdict(NamedTuple):
    """The label of an item as a word, with the reason, or with its probability."""

    label: str
    reason: str | None = None
    probability: float | None = None

    def detail(self) -> dict[str, Any]:
        """What the records keep of it."""
        more = {"reason": self.reason, "probability": self.probability}
        return {"label": self.label} | {name: value for name, value in more.items() if value is not None}


@dataclass(frozen=True)
class ItemQuestion:
    """A prompt that shows `items` and asks a label for each.

    labels: the words, lowest first. tokens: the single tokens that stand for them in mode "probability", where each
    item is asked by itself. what: the items' name in errors.
    """

    prompt: Prompt
    labels: tuple[str, ...]
    tokens: tuple[str, ...]
    mode: Mode
    what: str
    options: Options = Options()

    @property
    def asked(self) -> LabelQuestion:
        """The question behind it."""
        labels = self.tokens if self.mode == "probability" else self.labels
        return LabelQuestion(self.prompt, labels, self.mode, self.options.criteria, self.options.examples)

    def requests(self, values: Mapping[str, Any], texts: Sequence[str]) -> list[Request]:
        """A request for each batch of texts. Raises InputError where the prompt cannot be filled."""
        return [
            self.asked.request(
                {**values, "items": tuple(Item(number, text) for number, text in enumerate(batch, 1))},
                schema=verdicts_schema(self.labels, len(batch)),
            )
            for batch in self._batches(texts)
        ]

    def read(self, replies: Sequence[Reply], texts: Sequence[str]) -> list[Verdict]:
        """A verdict for each text. Raises JudgeFailed, with how many there are without, where one has none."""
        found: list[Verdict] = []
        errors: list[str] = []
        for batch, reply in zip(self._batches(texts), replies, strict=True):
            try:
                found += self._read(reply, len(batch))
            except JudgeFailed as error:
                errors += [str(error)] * len(batch)
            except ValueError as error:
                errors += [f"the judge's reply cannot be used ({error})"] * len(batch)
        if errors:
            raise JudgeFailed(f"{len(errors)} of {len(texts)} {self.what} could not be judged: {errors[0]}")
        return found

    def _batches(self, texts: Sequence[str]) -> list[Sequence[str]]:
        size = 1 if self.mode == "probability" else BATCH
        return [texts[start : start + size] for start in range(0, len(texts), size)]

    def _read(self, reply: Reply, n: int) -> list[Verdict]:
        if self.mode == "probability":
            grade = self.asked.read(reply)
            return [Verdict(self.labels[int(grade.label)], None, grade.probability)]
        value = read_value(reply, verdicts_schema(self.labels, n))
        given = [getattr(value, f"item_{number}") for number in range(1, n + 1)]
        return [Verdict(one.label, one.reason) for one in given]


@lru_cache(maxsize=256)
def verdicts_schema(labels: tuple[str, ...], n: int) -> type[BaseModel]:
    """The reply: a reason and a label for each of `n` items, as `item_1` to `item_n`, so that none can be left out."""
    one: Any = label_schema(labels)
    fields: Any = {f"item_{number}": (one, ...) for number in range(1, n + 1)}
    return create_model("Verdicts", __base__=Strict, __doc__="The reason, then the label, of each item.", **fields)
