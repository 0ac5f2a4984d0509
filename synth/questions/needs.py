"""The first step of a question: the need behind a text, and what somebody with that need would ask."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field, create_model

from ragassay.models.requests import Reply, Request

from .drafts import Asked, Draft
from .setup import Setup
from .slots import Assignment


class Need(BaseModel):
    """A need, and behind it the question of somebody who has it."""

    model_config = ConfigDict(extra="forbid")

    number: int = Field(description="The number of the list that this is for.")
    need: str = Field(description="What somebody was trying to find out or to get done, in one general sentence.")
    question: str = Field(description="What that person asks, who has not seen the text.")


class Needs(BaseModel):
    """The needs that a text serves."""

    model_config = ConfigDict(extra="forbid")

    needs: list[Need]


@functools.cache
def needs_schema(n: int) -> type[Needs]:
    """The schema of a reply with up to `n` needs; a longer one still validates, and what is too much is rejected."""
    bounded = Field(json_schema_extra={"maxItems": n})
    return create_model(Needs.__name__, __base__=Needs, __doc__=Needs.__doc__, needs=(list[Need], bounded))


def request_needs(setup: Setup, assignment: Assignment) -> Asked:
    """The request that an assignment is; linked sections have a prompt of their own."""
    step = "linked" if assignment.linked else "need"
    place = " ".join(section.id for section in assignment.sections)
    texts = {"sections": assignment.sections} if assignment.linked else {"section": assignment.sections[0]}
    items = [{"number": n, "kind": slot.kind, "role": slot.role} for n, slot in enumerate(assignment.slots, 1)]
    values = setup.values(step, assignment.model, place, assignment.slots)
    messages = setup.prompts[step].render(values | texts | {"items": items})
    return Asked(f"{step}s" if step == "need" else step, assignment.model, Request(messages, needs_schema(len(items))))


def read_needs(assignment: Assignment, reply: Reply, beyond: int) -> Iterator[Draft]:
    """A draft for each item of a reply, in its order; what no slot asked for has a fault and a position from `beyond`.

    The first item with a number takes its slot.
    """
    items = reply.value.needs if isinstance(reply.value, Needs) else []
    seen = Counter[int]()
    for place, item in enumerate(items):
        seen[item.number] += 1
        known = 1 <= item.number <= len(assignment.slots) and seen[item.number] == 1
        slot = assignment.slots[item.number - 1] if known else None
        yield Draft(
            assignment.model,
            assignment.sections,
            slot.position if slot else beyond + place,
            slot,
            item.need.strip(),
            item.question.strip(),
            fault=_fault(item, len(assignment.slots), seen[item.number]),
        )


def _fault(item: Need, n_slots: int, times: int) -> str | None:
    if not 1 <= item.number <= n_slots:
        return f"a number that was not asked for: {item.number} of {n_slots}"
    if times > 1:
        return f"a number that came before in the reply: {item.number}"
    return None if item.need.strip() else "no need"
