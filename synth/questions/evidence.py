"""The last step of a question, apart from its writing: the words of the text that answer it, and how fully they do."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from ragassay.evidence.quotes import find_quote
from ragassay.models.requests import Reply, Request
from ragassay.records import Section

from .drafts import Asked, Draft
from .setup import Setup
from .slots import LINKED, UNANSWERABLE

NOT_ANSWERED = "its text does not answer it"
NO_QUOTE = "no quote was found again in its text"
ONE_TEXT = "its evidence stands in one of its texts alone"
ANSWERED = "it is answered after all"
UNCHECKED = "its evidence was not given"
"""How the reasons begin for which a question is rejected in this step."""


class QuestionEvidence(BaseModel):
    """What answers the question of that number."""

    model_config = ConfigDict(extra="forbid")

    number: int = Field(description="The number of the question.")
    quotes: list[str] = Field(description="The words of the text that answer it, copied character for character.")
    holds: Literal["fully", "mainly", "not"] = Field(description="Whether the text holds the answer.")


class AnsweredEvidence(QuestionEvidence):
    """The same with a golden answer."""

    answer: str = Field(description="The full answer, from the text alone, in at most 80 words.")


class Evidence(BaseModel):
    """The evidence for each question."""

    model_config = ConfigDict(extra="forbid")

    evidence: list[QuestionEvidence]


@dataclass(frozen=True)
class Check:
    """Questions held against one section, or against linked ones. drafts: numbers of drafts, in order, from 0."""

    model: str
    sections: tuple[Section, ...]
    drafts: tuple[int, ...]


@functools.cache
def evidence_schema(n: int, golden_answers: bool = False) -> type[Evidence]:
    """The schema of a reply about `n` questions, with golden answers or without."""
    item: Any = list[AnsweredEvidence] if golden_answers else list[QuestionEvidence]
    fields: Any = (item, Field(json_schema_extra={"maxItems": n}))
    return create_model("Evidence", __base__=Evidence, __doc__=Evidence.__doc__, evidence=fields)


def checks(drafts: Sequence[Draft], near: Mapping[int, tuple[Section, ...]]) -> list[Check]:
    """What is to be checked: each draft without a fault against its sections, and against those `near` it as well."""
    groups: dict[tuple[str, tuple[str, ...]], tuple[tuple[Section, ...], list[int]]] = {}
    for index, draft in enumerate(drafts):
        texts = [draft.sections, *((section,) for section in near.get(index, ()))] if draft.fault is None else []
        for sections in texts:
            key = (draft.model, tuple(section.id for section in sections))
            groups.setdefault(key, (sections, []))[1].append(index)
    return [Check(model, sections, tuple(numbers)) for (model, _), (sections, numbers) in groups.items()]


def request_evidence(setup: Setup, check: Check, drafts: Sequence[Draft]) -> Asked:
    """The request that a check is; which kind a question is of is not told."""
    golden = setup.experiment.questions.golden_answers
    items = [{"number": number, "question": drafts[at].question} for number, at in enumerate(check.drafts, 1)]
    values = {"sections": check.sections, "items": items, "golden_answers": golden}
    messages = setup.prompts["evidence"].render(values | {"language": setup.experiment.corpus.language})
    return Asked("evidence", check.model, Request(messages, evidence_schema(len(items), golden)))


def read_evidence(drafts: Sequence[Draft], given: Sequence[Check], replies: Sequence[Reply]) -> list[Draft]:
    """The drafts with their evidence, or with the fault that they have none."""
    found = list(drafts)
    for check, reply in zip(given, replies, strict=True):
        items = reply.value.evidence if isinstance(reply.value, Evidence) else []
        by_number = {item.number: item for item in reversed(items)}
        for number, at in enumerate(check.drafts, 1):
            if found[at].fault is None:
                found[at] = _with(found[at], check, by_number.get(number), reply.error)
    return found


def _with(draft: Draft, check: Check, item: QuestionEvidence | None, error: str | None) -> Draft:
    if item is None:
        return replace(draft, fault=f"{UNCHECKED}: {error}" if error else UNCHECKED)
    if draft.kind == UNANSWERABLE:
        answered = f"{ANSWERED}: by section {check.sections[0].id}"
        return replace(draft, holds="not", fault=None if item.holds == "not" else answered)
    if item.holds == "not":
        return replace(draft, holds="not", fault=NOT_ANSWERED)
    spans = [span for quote in item.quotes if (span := _span(quote, check.sections))]
    evidence = tuple({"doc": section.doc, "start": start, "end": end} for section, start, end in spans)
    evidence = tuple(span for number, span in enumerate(evidence) if span not in evidence[:number])
    fault = None if spans else NO_QUOTE
    if draft.kind == LINKED and len({section.id for section, _, _ in spans}) == 1:
        fault = ONE_TEXT
    answer = item.answer.strip() if isinstance(item, AnsweredEvidence) else ""
    return replace(draft, holds=item.holds, evidence=evidence, answer=answer, fault=fault)


def _span(quote: str, sections: Sequence[Section]) -> tuple[Section, int, int] | None:
    """Where a quote stands in the document's text, in the first of the sections that has it."""
    for section in sections:
        if at := find_quote(quote, section.text):
            return section, section.start + at[0], section.start + at[1]
    return None
