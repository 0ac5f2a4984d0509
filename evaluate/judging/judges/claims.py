"""What judges of claims share: many small texts labelled in few requests, an answer taken apart into claims, and the
quotations that a judge gives as evidence, found again in the passages."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, create_model

from ragassay.models.requests import Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import Passage

from ...texts.sentences import sentences
from ..engine.cases import AnswerCase
from ..engine.evaluator import Options, values_of
from ..engine.question import JudgeFailed, LabelQuestion, Mode, Reason, Strict, label_schema, read_value
from ..judges import PROMPTS

BATCH = 10
"""How many items a request holds (AutoNuggetizer's number)."""


Group = tuple[Mapping[str, Any], Sequence[str]]
"""What a prompt is filled with besides the items, and the items' texts."""


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
                if self.mode == "probability":
                    grade = self.asked.read(reply)
                    found.append(Verdict(self.labels[int(grade.label)], None, grade.probability))
                else:
                    value = read_value(reply, verdicts_schema(self.labels, len(batch)))
                    items = (getattr(value, f"item_{number}") for number in range(1, len(batch) + 1))
                    found += [Verdict(one.label, one.reason) for one in items]
            except JudgeFailed as error:
                errors += [str(error)] * len(batch)
            except ValueError as error:
                errors += [f"the judge's reply cannot be used ({error})"] * len(batch)
        if errors:
            raise JudgeFailed(f"{len(errors)} of {len(texts)} {self.what} could not be judged: {errors[0]}")
        return found

    def verdicts(self, groups: Sequence[Group]) -> Generator[Sequence[Request], Sequence[Reply], list[list[Verdict]]]:
        """The verdicts on the texts of each group, all asked together. Raises JudgeFailed."""
        asked = [self.requests(values, texts) for values, texts in groups]
        requests = list(chain.from_iterable(asked))
        replies = iter((yield requests) if requests else ())
        return [self.read([next(replies) for _ in some], texts) for some, (_, texts) in zip(asked, groups, strict=True)]

    def _batches(self, texts: Sequence[str]) -> list[Sequence[str]]:
        size = 1 if self.mode == "probability" else BATCH
        return [texts[start : start + size] for start in range(0, len(texts), size)]


@lru_cache(maxsize=256)
def verdicts_schema(labels: tuple[str, ...], n: int) -> type[BaseModel]:
    """The reply: a reason and a label for each of `n` items, as `item_1` to `item_n`, so that none can be left out."""
    one: Any = label_schema(labels)
    fields: Any = {f"item_{number}": (one, ...) for number in range(1, n + 1)}
    return create_model("Verdicts", __base__=Strict, __doc__="The reason, then the label, of each item.", **fields)


Split = Literal["sentence", "model", "whole"]
Kind = Literal["claim", "abstention", "nothing"]
Asking = Generator[Sequence[Request], Sequence[Reply], tuple["Claim", ...]]

DEFAULT_PROMPTS = {"sentence": PROMPTS / "groundedness_sentences.md", "model": PROMPTS / "groundedness_claims.md"}
"""The prompt of each way that asks the model."""


class Claim(NamedTuple):
    """A part of an answer, what it does, and why it was taken so, where the model said."""

    text: str
    kind: Kind
    reason: str | None = None


class SentenceKind(Strict):
    """What the model says of one sentence, numbered from 1."""

    number: int
    reason: Reason
    kind: Kind


class ModelClaim(Strict):
    """A claim or an abstention in the model's words."""

    text: Reason
    kind: Literal["claim", "abstention"]


class ModelClaims(Strict):
    """An answer taken apart; empty where it states nothing and admits nothing."""

    claims: tuple[ModelClaim, ...]


def claims_of(case: AnswerCase, split: Split, prompt: Prompt | None) -> Asking:
    """The claims of an answer, in their order, with the sentences that state nothing; one request for an answer.

    What only admits not to know is an abstention.

    split: "sentence", by our rules, and the model marks each sentence; "model", which writes claims that stand by
    themselves; "whole", the answer is one claim and nothing is asked (`prompt` is None), for sets of labelled claims.

    Raises JudgeFailed with the reply's error.
    """
    if split == "whole" or prompt is None:
        return (Claim(case.text.strip(), "claim"),)
    if split == "model":
        (reply,) = yield [Request(prompt.render(values_of(case)), schema=ModelClaims)]
        return tuple(Claim(one.text, one.kind) for one in read_value(reply, ModelClaims).claims)
    parts = sentences(case.text)
    if not parts:
        return ()
    schema = kinds_schema(len(parts))
    (reply,) = yield [Request(prompt.render(values_of(case) | {"sentences": parts}), schema=schema)]
    said = read_value(reply, schema).sentences
    return tuple(Claim(part, one.kind, one.reason) for part, one in zip(parts, said, strict=True))


@lru_cache(maxsize=256)
def kinds_schema(count: int) -> type[BaseModel]:
    """The reply on `count` sentences; what skips, repeats or adds one does not fit, so that it is asked again.

    The JSON Schema is the same for every count.
    """

    def numbered(kinds: tuple[SentenceKind, ...]) -> tuple[SentenceKind, ...]:
        if [kind.number for kind in kinds] != list(range(1, count + 1)):
            raise ValueError(f"it does not take the sentences 1 to {count} in their order, each once")
        return kinds

    kinds: Any = Annotated[tuple[SentenceKind, ...], AfterValidator(numbered)]
    return create_model(
        "SentenceKinds", __base__=Strict, __doc__="What each sentence does, in their order.", sentences=(kinds, ...)
    )


NOTHING_FOUND = "NOTHING FOUND"

_MARKS = "\"'`\u2018\u2019\u201c\u201d\u00ab\u00bb"


def _some(evidence: tuple[str, ...]) -> tuple[str, ...]:
    if not evidence:
        raise ValueError(f"there is no evidence, nor {NOTHING_FOUND}")
    return evidence


Evidence = Annotated[tuple[Reason, ...], AfterValidator(_some)]
"""Quotations, or the one entry NOTHING FOUND; neither the list nor an entry is empty."""


def quotations(evidence: Sequence[str]) -> list[str]:
    """The entries that quote something, that is, are not NOTHING FOUND."""
    return [entry for entry in evidence if entry.strip(f"{_MARKS} .").casefold() != NOTHING_FOUND.casefold()]


def passage_with(quotation: str, passages: Sequence[Passage]) -> str | None:
    """The id of the first passage whose title and text hold the quotation, up to white space, case and the quotation
    marks around it; None where no passage does."""
    wanted = _bare(quotation.strip().strip(_MARKS))
    if not wanted:
        return None
    return next((one.id for one in passages if wanted in _bare(f"{one.title}\n{one.text}")), None)


def _bare(text: str) -> str:
    return "".join(text.split()).casefold()
