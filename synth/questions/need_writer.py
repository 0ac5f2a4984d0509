"""Questions from the need behind a text, in three steps: the need and a question, the blind question, the evidence.

Before them stands the request for roles, where they are written from the corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from ragassay.calls.caller import Caller
from ragassay.models.requests import Reply
from ragassay.records import Section

from .blind import read_blind, request_blind
from .delivered import Calls, Delivered, Written
from .drafts import Asked, Draft, ask
from .evidence import ANSWERED, NO_QUOTE, NOT_ANSWERED, ONE_TEXT, UNCHECKED, checks, read_evidence, request_evidence
from .linked import Sections
from .needs import Needs, read_needs, request_needs
from .one_question import more_than_one
from .reject import asks, clean, fault_of
from .roles import ask_roles, told_of
from .setup import Setup
from .slots import LINKED, LOOSE, UNANSWERABLE, Assignment, assign

NEAR = 3
"""Sections that an unanswerable question is held against, beside its own: those that BM25 finds first."""


def write_from_needs(
    setup: Setup, sections: Sequence[Section], all_sections: Sequence[Section], caller: Caller
) -> Written:
    """Every question that the models of the quota write about the sections, with its evidence or its fault.

    sections: those sampled, which questions are about; all_sections: the corpus, where links are looked for.
    """
    corpus, models = Sections(all_sections), list(setup.experiment.questions.quota)
    calls: list[tuple[Asked, Reply]] = []
    setup, roles = ask_roles(setup, all_sections, caller, calls)
    assignments = assignments_of(setup, sections, corpus)
    drafts, delivered = ask_needs(setup, assignments, caller, calls)
    drafts = ask_blind(setup, drafts, caller, calls)
    drafts = [faulted(draft, statements=_state(setup)) for draft in drafts]
    near = _near(drafts, corpus)
    drafts = ask_evidence(setup, drafts, near, caller, calls)
    return Written(
        [draft.candidate(statements=_state(setup)) for draft in drafts],
        delivered,
        [_calls_to(model, calls) for model in models],
        [*told_of(roles), *_unlinked(setup, assignments), *_without_evidence(drafts)],
        roles,
    )


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


def _state(setup: Setup) -> bool:
    """Whether some of the experts tell their questions as statements, so that those written may be as well."""
    return any(not asks(expert.text) for expert in setup.experts)


def _near(drafts: Sequence[Draft], corpus: Sections) -> dict[int, tuple[Section, ...]]:
    """Where the answer to an unanswerable question would be, if it were anywhere."""
    return {
        number: corpus.nearest(draft.question, NEAR, without=draft.sections[0])
        for number, draft in enumerate(drafts)
        if draft.kind == UNANSWERABLE and draft.fault is None
    }


def _calls_to(model: str, calls: Sequence[tuple[Asked, Reply]]) -> Calls:
    replies = [reply for asked, reply in calls if asked.model == model]
    return Calls(model, len(replies), tuple(reply.error for reply in replies if reply.error is not None))


def _unlinked(setup: Setup, assignments: Sequence[Assignment]) -> list[str]:
    """The sentence for a corpus that is too small for questions over several sections."""
    if not setup.experiment.questions.kinds.get(LINKED) or any(one.linked for one in assignments):
        return []
    return [f"no {LINKED} question was asked for, their share went to the other kinds: no two sections are linked"]


def _without_evidence(drafts: Sequence[Draft]) -> list[str]:
    """The sentence for the questions that were rejected for their evidence."""
    reasons = (NOT_ANSWERED, NO_QUOTE, ONE_TEXT, UNCHECKED, ANSWERED)
    counts = Counter(next((r for r in reasons if draft.fault and draft.fault.startswith(r)), "") for draft in drafts)
    n = sum(counts[reason] for reason in reasons)
    told = ", ".join(f"{counts[reason]}: {reason}" for reason in reasons if counts[reason])
    return [f"{n} of {len(drafts)} questions were rejected for their evidence ({told})"] if n else []
