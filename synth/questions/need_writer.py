"""Questions from the need behind a text, in three steps: the need and a question, the blind question, the evidence.

Before them stands the request for roles, where they are written from the corpus.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from ragassay.calls.caller import Caller
from ragassay.evidence import find_quote
from ragassay.models.requests import Reply, Request
from ragassay.records import Section

from .reject import asks, clean, fault_of
from .sample import Sections
from .slots import (
    LINKED,
    LOOSE,
    UNANSWERABLE,
    Asked,
    Assignment,
    Calls,
    Delivered,
    Draft,
    Setup,
    Slot,
    Written,
    ask,
    ask_roles,
    assign,
    at_most,
    told_of,
)


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


def needs_schema(n: int) -> type[Needs]:
    """The schema of a reply with up to `n` needs."""
    return at_most(n, Needs, Need)


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
    """A draft for each item of a reply, in its order."""
    items = reply.value.needs if isinstance(reply.value, Needs) else []
    for position, slot, item, fault in numbered(assignment, items, beyond):
        need, question = item.need.strip(), item.question.strip()
        fault = fault or (None if need else "no need")
        yield Draft(assignment.model, assignment.sections, position, slot, need, question, fault=fault)


class _Numbered(Protocol):
    number: int


N = TypeVar("N", bound=_Numbered)


def numbered(
    assignment: Assignment, items: Sequence[N], beyond: int
) -> Iterator[tuple[int, Slot | None, N, str | None]]:
    """(position, slot, item, what is wrong with its number) of each item of a reply, in its order.

    The first item with a number takes its slot; what no slot asked for has a position from `beyond`.
    """
    seen = Counter[int]()
    for place, item in enumerate(items):
        seen[item.number] += 1
        fault = slot = None
        if not 1 <= item.number <= len(assignment.slots):
            asked = f"asked for questions 1 to {len(assignment.slots)}, the writer numbered it {item.number}"
            fault = f"{asked}; where that is frequent, take another writer"
        elif seen[item.number] > 1:
            fault = f"the writer gave number {item.number} twice in one reply; the first counts"
        else:
            slot = assignment.slots[item.number - 1]
        yield slot.position if slot else beyond + place, slot, item, fault


class NeedQuestion(BaseModel):
    """What somebody with the need of that number asks."""

    model_config = ConfigDict(extra="forbid")

    number: int = Field(description="The number of the need.")
    question: str = Field(description="What a person with that need asks.")


class NeedQuestions(BaseModel):
    """A question for each need."""

    model_config = ConfigDict(extra="forbid")

    questions: list[NeedQuestion]


def blind_schema(n: int) -> type[NeedQuestions]:
    """The schema of a reply to `n` needs."""
    return at_most(n, NeedQuestions, NeedQuestion)


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


_MARK = re.compile(r"[?？؟](?![\s?？؟]*[?？؟\"'’”»)\]])")
_ASKING = (
    r"(?:what|why|how|when|where|which|who|whose|whether|was|warum|wieso|wie|wann|wo|wozu|welche\w*|wer|comment|pourquoi|"
    r"quand|où|quels?|quelles?|combien|qué|cómo|cuándo|dónde|cuál(?:es)?|quién|qual|quais|quando|onde|quem)"
)
_AUX = r"(?:is|are|was|were|do|does|did|can|could|should|must|will|would|has|have|may)"
_SUBJECT = r"(?:it|they|there|i|we|you|he|she|one|this|that|these|those|the|my|our|an?)"
_SECOND = re.compile(
    rf"(\w+),? and (?:also |then )?(?:(?:what|why|how|when|where|which|who) (?:\w+ ){{0,2}}(?:{_AUX}|to|many|much)\b|"
    rf"{_AUX} {_SUBJECT}\b)|"
    r"(\w+),? und (?:warum|wieso|wie|wann|wo|wozu|was|welche\w*|wer) \w+|"
    r"(\w+),? et (?:comment|pourquoi|quand|où|quels?|quelles?|combien) \w+|"
    r"(\w+),? y (?:cómo|por qué|cuándo|dónde|cuál(?:es)?|qué|quién) \w+|"
    r"(\w+),? e (?:por que|quando|onde|qual|quais|quem) \w+",
    re.IGNORECASE,
)
_BEFORE = re.compile(rf"(?:{_ASKING}|{_AUX})", re.IGNORECASE)
"""What stands before "and" where two words ask the same thing together: "when and where is …"."""

_CHOICE = re.compile(
    r"\beither\b.+\bor\b|\bwhether\b.+\bor\b(?! not\b)|\b(in|on|at|by|with|from|for) (?:\S+ ){1,3}or \1\b|"
    rf"\bor (?:{_AUX}|rather|instead|just|only|merely|simply) {_SUBJECT}\b|"
    rf"^(?:should|shall|must) {_SUBJECT}\b.*\bor\b(?! not\b)|^{_AUX} .*,(?: \w+)? or (?!not\b)|"
    r"^(?:which|who|what)\b.*[,:] .*\bor\b|"
    r"\bentweder\b.+\boder\b|\bob\b.+\boder\b(?! nicht\b)|\boder (?:ist|sind|wird|werden|soll|muss|kann|doch|eher) |"
    r"^(?:soll|sollte|sollten|muss|müssen) (?:ich|wir|man)\b.*\boder\b(?! nicht\b)|"
    r"\bsoit\b.+\bsoit\b|\bou (?:bien|plutôt|est-ce)\b|^(?:dois-je|devrais-je|faut-il)\b.*\bou\b(?! (?:non|pas)\b)|"
    r"\bo (?:bien|más bien)\b|^¿?(?:debo|debería|hay que)\b.*\bo\b(?! no\b)|^(?:devo|deveria)\b.*\bou\b(?! não\b)",
    re.IGNORECASE,
)


def more_than_one(text: str, *, comparison: bool = False) -> str | None:
    """Why a question does not ask one thing, in words for `rejected.jsonl`; None where it does, or asks nothing.

    Nobody can say of an answer to half of two questions whether it is right, and a choice hands the answer over. The
    patterns aim at what surely asks twice or offers a choice; they let the doubtful stand.
    `text` has its white space folded to single blanks. comparison: whether a choice between two is what is wanted.
    """
    if not asks(text):
        return None
    if len(_MARK.findall(text)) > 1:
        return "two questions in one: two question marks"
    for found in _SECOND.finditer(text):
        before = next(group for group in found.groups() if group)
        if not _BEFORE.fullmatch(before):
            return f"two questions in one: “{found.group()[len(before) :].lstrip(', ')}”"
    if not comparison and (choice := _CHOICE.search(text)):
        return f"either/or: “{choice.group().strip()}”"
    return None


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


def evidence_schema(n: int, golden_answers: bool = False) -> type[Evidence]:
    """The schema of a reply about `n` questions, with golden answers or without."""
    return at_most(n, Evidence, AnsweredEvidence if golden_answers else QuestionEvidence)


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
    spans = [span for quote in item.quotes if (span := _found_again(quote, check.sections))]
    evidence = tuple({"doc": section.doc, "start": start, "end": end} for section, start, end in spans)
    evidence = tuple(span for number, span in enumerate(evidence) if span not in evidence[:number])
    fault = None if spans else NO_QUOTE
    if draft.kind == LINKED and len({section.id for section, _, _ in spans}) == 1:
        fault = ONE_TEXT
    answer = item.answer.strip() if isinstance(item, AnsweredEvidence) else ""
    return replace(draft, holds=item.holds, evidence=evidence, answer=answer, fault=fault)


def _found_again(quote: str, sections: Sequence[Section]) -> tuple[Section, int, int] | None:
    """Where a quote stands in the document's text, in the first of the sections that has it."""
    for section in sections:
        if at := find_quote(quote, section.text):
            return section, section.start + at[0], section.start + at[1]
    return None


NEAR = 3
"""Sections that an unanswerable question is held against, beside its own: those that BM25 finds first."""


def write_from_needs(
    setup: Setup,
    sections: Sequence[Section],
    all_sections: Sequence[Section],
    caller: Caller,
    parts: Sequence[Collection[str]],
) -> Iterator[Written]:
    """Every question that the models of the quota write about the sections, with its evidence or its fault.

    sections: those sampled, which questions are about; all_sections: the corpus, where links are looked for. parts: ids
    of sections; what each is asked is the same however the sections are divided, and one part is asked after the other,
    when it is wanted.
    """
    corpus = Sections(all_sections)
    calls: list[tuple[Asked, Reply]] = []
    setup, roles = ask_roles(setup, all_sections, caller, calls)
    assignments = assignments_of(setup, sections, corpus)
    notices = told_of(roles)
    if setup.experiment.questions.kinds.get(LINKED) and not any(one.linked for one in assignments):
        went = "their share went to the other kinds"
        notices.append(f"no {LINKED} question was asked for, {went}: no two sections are linked")
    for part in parts:
        mine = [one for one in assignments if one.sections[0].id in part]
        written = _written(setup, mine, corpus, caller, calls)
        yield replace(written, notices=[*notices, *written.notices], roles=roles)
        calls, notices = [], []


def _written(
    setup: Setup, assignments: Sequence[Assignment], corpus: Sections, caller: Caller, calls: list[tuple[Asked, Reply]]
) -> Written:
    """What comes of some of the assignments; calls: those made before."""
    drafts, delivered = ask_needs(setup, assignments, caller, calls)
    drafts = ask_blind(setup, drafts, caller, calls)
    statements = any(not asks(expert.text) for expert in setup.experts)  # then those written may be told so as well
    drafts = [faulted(draft, statements=statements) for draft in drafts]
    if setup.experiment.questions.evidence == "section":
        drafts = _ask_own_section(setup, drafts, corpus, caller, calls)
    models = setup.experiment.questions.quota
    return Written(
        [draft.candidate(statements=statements) for draft in drafts],
        delivered,
        [Calls.of(model, [reply for asked, reply in calls if asked.model == model]) for model in models],
        _without_evidence(drafts),
    )


def _ask_own_section(
    setup: Setup, drafts: Sequence[Draft], corpus: Sections, caller: Caller, calls: list[tuple[Asked, Reply]]
) -> list[Draft]:
    """The drafts with evidence from their sections; an unanswerable one is held against the sections near it, too."""
    near = {  # where the answer to an unanswerable question would be, if it were anywhere
        number: corpus.nearest(draft.question, NEAR, without=draft.sections[0])
        for number, draft in enumerate(drafts)
        if draft.kind == UNANSWERABLE and draft.fault is None
    }
    return ask_evidence(setup, drafts, near, caller, calls)


def assignments_of(setup: Setup, sections: Sequence[Section], corpus: Sections) -> list[Assignment]:
    """What the first step asks for; the steps after it ask about as much."""
    settings = setup.experiment.questions
    links = {section.id: corpus.linked(section) for section in sections} if settings.kinds.get(LINKED) else {}
    return assign(settings, sections, links, setup.roles)


def ask_needs(
    setup: Setup, assignments: Sequence[Assignment], caller: Caller, calls: list[tuple[Asked, Reply]]
) -> tuple[list[Draft], list[Delivered]]:
    """The first step: a draft for each need that came, and what each reply delivered. `calls` gets what was asked."""
    asked = [request_needs(setup, assignment) for assignment in assignments]
    replies = ask(caller, asked, list(setup.experiment.questions.quota))
    calls += zip(asked, replies, strict=True)
    drafts: list[Draft] = []
    delivered: list[Delivered] = []
    for assignment, reply in zip(assignments, replies, strict=True):
        drafts += read_needs(assignment, reply, beyond=setup.experiment.questions.per_section)
        written = len(reply.value.needs) if isinstance(reply.value, Needs) else None
        delivered.append(Delivered(assignment.model, assignment.sections[0].doc, len(assignment.slots), written))
    return drafts, delivered


def ask_blind(setup: Setup, drafts: Sequence[Draft], caller: Caller, calls: list[tuple[Asked, Reply]]) -> list[Draft]:
    """The second step: drafts of blind slots get the question of a writer who is told the need alone."""
    numbers = [n for n, draft in enumerate(drafts) if draft.fault is None and draft.slot and draft.slot.blind]
    groups = [list(group) for _, group in groupby(numbers, key=lambda n: (drafts[n].model, drafts[n].sections))]
    asked = [request_blind(setup, [drafts[n] for n in group]) for group in groups]
    replies = ask(caller, asked, list(setup.experiment.questions.quota))
    calls += zip(asked, replies, strict=True)
    found = list(drafts)
    for group, reply in zip(groups, replies, strict=True):
        for n, draft in zip(group, read_blind([drafts[n] for n in group], reply), strict=True):
            found[n] = draft
    return found


def ask_evidence(
    setup: Setup,
    drafts: Sequence[Draft],
    near: dict[int, tuple[Section, ...]],
    caller: Caller,
    calls: list[tuple[Asked, Reply]],
) -> list[Draft]:
    """The last step: drafts without a fault get their evidence. near: number of a draft to further sections to ask."""
    given = checks(drafts, near)
    asked = [request_evidence(setup, check, drafts) for check in given]
    replies = ask(caller, asked, list(setup.experiment.questions.quota))
    calls += zip(asked, replies, strict=True)
    return read_evidence(drafts, given, replies)


def faulted(draft: Draft, *, statements: bool) -> Draft:
    """The draft with what is wrong with its question, looked at alone, so that no evidence is asked for in vain."""
    if draft.fault is not None:
        return draft
    text = clean(draft.question)
    free = statements or draft.kind in LOOSE
    fault = fault_of(text, statement=free) if text else "no question"
    return replace(draft, fault=fault or more_than_one(text, comparison=draft.kind == "comparison"))


def _without_evidence(drafts: Sequence[Draft]) -> list[str]:
    """The sentence for the questions that were rejected for their evidence."""
    reasons = (NOT_ANSWERED, NO_QUOTE, ONE_TEXT, UNCHECKED, ANSWERED)
    counts = Counter(next((r for r in reasons if draft.fault and draft.fault.startswith(r)), "") for draft in drafts)
    n = sum(counts[reason] for reason in reasons)
    told = ", ".join(f"{counts[reason]}: {reason}" for reason in reasons if counts[reason])
    return [f"{n} of {len(drafts)} questions were rejected for their evidence ({told})"] if n else []
