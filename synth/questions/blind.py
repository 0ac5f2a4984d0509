"""The second step of some questions: asked by a writer who is told the need and never sees the text."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field, create_model

from ragassay.models.requests import Reply, Request

from .drafts import Asked, Draft
from .setup import Setup


class NeedQuestion(BaseModel):
    """What somebody with the need of that number asks."""

    model_config = ConfigDict(extra="forbid")

    number: int = Field(description="The number of the need.")
    question: str = Field(description="What a person with that need asks.")


class NeedQuestions(BaseModel):
    """A question for each need."""

    model_config = ConfigDict(extra="forbid")

    questions: list[NeedQuestion]


@functools.cache
def blind_schema(n: int) -> type[NeedQuestions]:
    """The schema of a reply to `n` needs."""
    fields = (list[NeedQuestion], Field(json_schema_extra={"maxItems": n}))
    return create_model("NeedQuestions", __base__=NeedQuestions, __doc__=NeedQuestions.__doc__, questions=fields)


def request_blind(setup: Setup, drafts: Sequence[Draft]) -> Asked:
    """The request for drafts of one model and place: their needs, kinds and roles, and nothing of the text."""
    model, place = drafts[0].model, " ".join(section.id for section in drafts[0].sections)
    slots = [draft.slot for draft in drafts if draft.slot]
    items = [
        {
            "need": draft.need,
            "told": {"number": str(number), "kind": slot.kind} | ({"role": slot.role} if slot.role else {}),
        }
        for number, (draft, slot) in enumerate(zip(drafts, slots, strict=True), 1)
    ]
    values = setup.values("blind", model, place, slots)
    messages = setup.prompts["blind"].render(values | {"items": items})
    return Asked("blind", model, Request(messages, blind_schema(len(items))))


def read_blind(drafts: Sequence[Draft], reply: Reply) -> list[Draft]:
    """The drafts with the questions of the reply, the first of each number; none is kept from the first step."""
    items = reply.value.questions if isinstance(reply.value, NeedQuestions) else []
    found = {item.number: item.question.strip() for item in reversed(items)}
    without = f"no question from the need alone: {reply.error}" if reply.error else "no question from the need alone"
    return [
        replace(draft, question=found.get(number, ""), fault=None if found.get(number) else without)
        for number, draft in enumerate(drafts, 1)
    ]
