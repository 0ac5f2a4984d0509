"""An answer taken apart into claims: by our sentence rules and the model's word on each, or by the model alone.

One request for an answer either way. What only admits not to know is an abstention; what states nothing is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, create_model

from ragassay.models.requests import Reply, Request
from ragassay.prompts import Prompt

from ...texts.sentences import sentences
from ..engine.cases import AnswerCase
from ..engine.evaluator import values_of
from ..engine.reply import Reason, Strict, read_value
from . import PROMPTS

Split = Literal["sentence", "model", "whole"]
Kind = Literal["claim", "abstention", "nothing"]
Asking = Generator[Sequence[Request], Sequence[Reply], tuple["Claim", ...]]

DEFAULT_PROMPTS = {
    "sentence": PROMPTS / "groundedness_sentences.md",
    "model": PROMPTS / "groundedness_claims.md",
}
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
    """The claims of an answer, in their order, with the sentences that state nothing.

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
    kinds: Any = Annotated[tuple[SentenceKind, ...], AfterValidator(_numbered(count))]
    return create_model(
        "SentenceKinds", __base__=Strict, __doc__="What each sentence does, in their order.", sentences=(kinds, ...)
    )


def _numbered(count: int) -> Callable[[tuple[SentenceKind, ...]], tuple[SentenceKind, ...]]:
    def check(kinds: tuple[SentenceKind, ...]) -> tuple[SentenceKind, ...]:
        if [kind.number for kind in kinds] != list(range(1, count + 1)):
            raise ValueError(f"it does not take the sentences 1 to {count} in their order, each once")
        return kinds

    return check
