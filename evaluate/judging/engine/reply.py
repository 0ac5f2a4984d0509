"""What a structured reply is made of, and how it is read: the reason first, nothing coerced, nothing besides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, create_model

from ragassay.models.requests import Reply

from .labels import label_type


class JudgeFailed(Exception):
    """A case cannot be judged; the message becomes the record's error."""


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("the reason is empty")
    return text.strip()


Reason = Annotated[str, AfterValidator(_said)]


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


def read_value(reply: Reply, schema: type[Any]) -> Any:
    """The structured reply. Raises JudgeFailed with the reply's error, ValueError where it is of another kind."""
    if reply.error is not None:
        raise JudgeFailed(reply.error)
    if not isinstance(reply.value, schema):
        raise ValueError(f"it is not a {schema.__name__}")
    return reply.value
