"""Questions from the need behind a text, in three steps: the need and a question, the blind question, the evidence.

Before them stands the request for roles, where they are written from the corpus. Which sections are linked is said here
too, as some questions need two or three of them.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from typing import Literal

from pydantic import Field

from ragassay.calls.caller import Caller
from ragassay.evidence import Quotable
from ragassay.models.requests import Reply, Request
from ragassay.records import Section, grouped

from .reject import FUNCTION_WORDS, asks, clean, fault_of
from .slots import (
    LINKED,
    LOOSE,
    UNANSWERABLE,
    Asked,
    Asker,
    Assignment,
    Delivered,
    Draft,
    Setup,
    Told,
    Written,
    ask_roles,
    assign,
    at_most,
    numbered,
    told_of,
)


class Need(Told):
    """A need, and behind it the question of somebody who has it."""

    number: int = Field(description="The number of the list that this is for.")
    need: str = Field(description="What somebody was trying to find out or to get done, in one general sentence.")
    question: str = Field(description="What that person asks, who has not seen the text.")


class Needs(Told):
    """The needs that a text serves."""

    needs: list[Need]


def request_needs(setup: Setup, assignment: Assignment) -> Asked:
    """The request that an assignment is; linked sections have a prompt of their own."""
    step = "linked" if assignment.linked else "need"
    place = " ".join(section.id for section in assignment.sections)
    texts = {"sections": assignment.sections} if assignment.linked else {"section": assignment.sections[0]}
    items = [{"number": n, "kind": slot.kind, "role": slot.role} for n, slot in enumerate(assignment.slots, 1)]
    values = setup.values(step, assignment.model, place, assignment.slots)
    messages = setup.prompts[step].render(values | texts | {"items": items})
    schema = at_most(len(items), Needs, Need)
    return Asked("needs" if step == "need" else step, assignment.model, Request(messages, schema))


def assignments_of(setup: Setup, sections: Sequence[Section], corpus: Sections) -> list[Assignment]:
    """What the first step asks for; the steps after it ask about as much."""
    settings = setup.experiment.questions
    links = {section.id: corpus.linked(section) for section in sections} if settings.kinds.get(LINKED) else {}
    return assign(settings, sections, links, setup.roles)


def ask_needs(setup: Setup, assignments: Sequence[Assignment], asker: Asker) -> tuple[list[Draft], list[Delivered]]:
    """The first step: a draft for each need that came, and what each reply delivered."""
    replies = asker.ask([request_needs(setup, one) for one in assignments])
    return read_needs(assignments, replies, beyond=setup.experiment.questions.per_section)


def read_needs(
    assignments: Sequence[Assignment], replies: Sequence[Reply], beyond: int, wanted: Sequence[str] = ("need",)
) -> tuple[list[Draft], list[Delivered]]:
    """A draft for each of a reply's `needs`, in their order, and what each reply delivered.

    The first need with a number takes its slot; what no slot asked for has a position from `beyond`. wanted: the fields
    that must not be blank.
    """
    drafts: list[Draft] = []
    delivered: list[Delivered] = []
    for one, reply in zip(assignments, replies, strict=True):
        items = getattr(reply.value, "needs", None)
        n = None if items is None else len(items)
        delivered.append(Delivered(one.model, one.sections[0].doc, len(one.slots), n))
        taken: set[int] = set()
        for place, item in enumerate(items or ()):
            fault = slot = None
            if not 1 <= item.number <= len(one.slots):
                asked = f"asked for questions 1 to {len(one.slots)}, the writer numbered it {item.number}"
                fault = f"{asked}; where that is frequent, take another writer"
            elif item.number in taken:
                fault = f"the writer gave number {item.number} twice in one reply; the first counts"
            else:
                slot = one.slots[item.number - 1]
            taken.add(item.number)
            need, question, answer = (getattr(item, name, "").strip() for name in ("need", "question", "answer"))
            fault = fault or next((f"no {name}" for name in wanted if not getattr(item, name).strip()), None)
            position = slot.position if slot else beyond + place
            drafts.append(Draft(one.model, one.sections, position, slot, need, question, fault, answer=answer))
    return drafts, delivered


class NeedQuestion(Told):
    """What somebody with the need of that number asks."""

    number: int = Field(description="The number of the need.")
    question: str = Field(description="What a person with that need asks.")


class NeedQuestions(Told):
    """A question for each need."""

    questions: list[NeedQuestion]


def ask_blind(setup: Setup, drafts: Sequence[Draft], asker: Asker) -> list[Draft]:
    """The second step: drafts of blind slots get the question of a writer who is told the need alone, and the kind and
    role; the first step's question is kept by none of them.
    """
    numbers = [n for n, draft in enumerate(drafts) if draft.fault is None and draft.slot and draft.slot.blind]
    groups = [list(group) for _, group in groupby(numbers, key=lambda n: (drafts[n].model, drafts[n].sections))]
    asked = []
    for group in groups:
        first, slots = drafts[group[0]], [slot for n in group if (slot := drafts[n].slot)]
        items = []
        for number, (n, slot) in enumerate(zip(group, slots, strict=True), 1):
            told = {"number": str(number), "kind": slot.kind} | ({"role": slot.role} if slot.role else {})
            items.append({"need": drafts[n].need, "told": told})
        values = setup.values("blind", first.model, " ".join(section.id for section in first.sections), slots)
        messages = setup.prompts["blind"].render(values | {"items": items})
        schema = at_most(len(items), NeedQuestions, NeedQuestion)
        asked.append(Asked("blind", first.model, Request(messages, schema)))
    found = list(drafts)
    for group, reply in zip(groups, asker.ask(asked), strict=True):
        questions = {number: item.question.strip() for number, item in numbered(reply).items()}
        without = "no question from the need alone" + (f": {reply.error}" if reply.error else "")
        for number, n in enumerate(group, 1):
            question = questions.get(number, "")
            found[n] = replace(drafts[n], question=question, fault=None if question else without)
    return found


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


class QuestionEvidence(Told):
    """What answers the question of that number."""

    number: int = Field(description="The number of the question.")
    quotes: list[str] = Field(description="The words of the text that answer it, copied character for character.")
    holds: Literal["fully", "mainly", "not"] = Field(description="Whether the text holds the answer.")


class AnsweredEvidence(QuestionEvidence):
    """The same with a golden answer."""

    answer: str = Field(description="The full answer, from the text alone, in at most 80 words.")


class Evidence(Told):
    """The evidence for each question."""

    evidence: list[QuestionEvidence]


def evidence_schema(n: int, golden_answers: bool = False) -> type[Evidence]:
    """The schema of a reply about `n` questions, with golden answers or without."""
    return at_most(n, Evidence, AnsweredEvidence if golden_answers else QuestionEvidence)


def ask_evidence(
    setup: Setup, drafts: Sequence[Draft], near: Mapping[int, Sequence[Section]], asker: Asker
) -> list[Draft]:
    """The last step: drafts without a fault get their evidence from their sections, or the fault that there is none.

    near: number of a draft to further sections to ask, one by one. Which kind a question is of is not told.
    """
    groups: defaultdict[tuple[str, tuple[Section, ...]], list[int]] = defaultdict(list)
    for at, draft in enumerate(drafts):
        if draft.fault is None:
            for sections in (draft.sections, *((section,) for section in near.get(at, ()))):
                groups[draft.model, sections].append(at)
    corpus, golden = setup.experiment.corpus, setup.experiment.questions.golden_answers
    asked = []
    for (model, sections), own in groups.items():
        items = [{"number": number, "question": drafts[at].question} for number, at in enumerate(own, 1)]
        values = {"sections": sections, "items": items, "golden_answers": golden, "language": corpus.language}
        request = Request(setup.prompts["evidence"].render(values), evidence_schema(len(items), golden))
        asked.append(Asked("evidence", model, request))
    found = list(drafts)
    for ((_, sections), own), reply in zip(groups.items(), asker.ask(asked), strict=True):
        by_number = numbered(reply)
        for number, at in enumerate(own, 1):
            if found[at].fault is None:
                found[at] = _with(found[at], sections, by_number.get(number), reply.error)
    return found


def _with(draft: Draft, sections: Sequence[Section], item: QuestionEvidence | None, error: str | None) -> Draft:
    if item is None:
        return replace(draft, fault=f"{UNCHECKED}: {error}" if error else UNCHECKED)
    if draft.kind == UNANSWERABLE:
        answered = f"{ANSWERED}: by section {sections[0].id}"
        return replace(draft, holds="not", fault=None if item.holds == "not" else answered)
    if item.holds == "not":
        return replace(draft, holds="not", fault=NOT_ANSWERED)
    spans: dict[tuple[str, int, int], str] = {}
    for quote in item.quotes:
        places = ((section, at) for section in sections if (at := Quotable(section.text).find(quote)))
        if first := next(places, None):
            section, (start, end) = first
            spans[section.doc, section.start + start, section.start + end] = section.id
    evidence = tuple({"doc": doc, "start": start, "end": end} for doc, start, end in spans)
    fault = None if spans else NO_QUOTE
    if draft.kind == LINKED and len(set(spans.values())) == 1:
        fault = ONE_TEXT
    answer = getattr(item, "answer", "").strip()
    return replace(draft, holds=item.holds, evidence=evidence, answer=answer, fault=fault)


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
    corpus, models = Sections(all_sections), list(setup.experiment.questions.quota)
    asker = Asker(caller, models)
    setup, roles = ask_roles(setup, all_sections, asker)
    assignments = assignments_of(setup, sections, corpus)
    notices = told_of(roles)
    if setup.experiment.questions.kinds.get(LINKED) and not any(one.linked for one in assignments):
        went = "their share went to the other kinds"
        notices.append(f"no {LINKED} question was asked for, {went}: no two sections are linked")
    statements = any(not asks(expert.text) for expert in setup.experts)  # then those written may be told so as well
    for part in parts:
        drafts, delivered = ask_needs(setup, [one for one in assignments if one.sections[0].id in part], asker)
        drafts = [faulted(draft, statements=statements) for draft in ask_blind(setup, drafts, asker)]
        if setup.experiment.questions.evidence == "section":
            near = {  # where the answer to an unanswerable question would be, if it were anywhere
                number: corpus.nearest(draft.question, NEAR, without=draft.sections[0])
                for number, draft in enumerate(drafts)
                if draft.kind == UNANSWERABLE and draft.fault is None
            }
            drafts = ask_evidence(setup, drafts, near, asker)
        candidates = [draft.candidate(statements=statements) for draft in drafts]
        yield Written(candidates, delivered, asker.calls(), [*notices, *_without_evidence(drafts)], roles)
        asker, notices = Asker(caller, models), []


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


SHARED = 2
"""Rare terms that two sections share at least."""
RARE = 0.1
"""A term is rare in at most this share of the sections, or in three of them, and never where all have it."""
SAME = 0.9
"""From this cosine on two sections say the same, and no question needs both."""
K1, B = 1.5, 0.75

_TERM = re.compile(r"[^\W\d]\w{2,}(?:[-.]\w+)*")


def terms(text: str) -> list[str]:
    """The words and names of a text, in lower case; numbers and words of one or two letters are left out."""
    return [term.casefold() for term in _TERM.findall(text)]


class Sections:
    """All sections of a corpus, to be asked which go together.

    Two sections are linked where they share terms that few others have, names of things above all; of several the
    nearest by the cosine of tf-idf vectors (Salton and Buckley 1988, "Term-weighting approaches in automatic text
    retrieval") is taken. Sections of other documents are linked just as those of the same one.
    """

    def __init__(self, sections: Sequence[Section]) -> None:
        self.sections = sections
        self._indexes = {section.id: index for index, section in enumerate(sections)}
        self._counts = [Counter(terms(section.text)) for section in sections]
        self._holders = grouped((term, index) for index, counts in enumerate(self._counts) for term in counts)
        self._lengths = [counts.total() for counts in self._counts]
        self._most = min(max(3, RARE * len(sections)), len(sections) - 1)
        self._vectors: dict[int, dict[str, float]] = {}

    def linked(self, section: Section) -> tuple[Section, ...]:
        """One or two sections that go with `section`, the nearest first; the second is linked to both. Else none."""
        index = self._indexes[section.id]
        first = self._nearest(index, self._sharing(index))
        if first is None:
            return ()
        both = self._sharing(index) & self._sharing(first)
        second = self._nearest(index, {one for one in both if self._cosine(one, first) < SAME})
        return tuple(self.sections[one] for one in (first, second) if one is not None)

    def nearest(self, text: str, n: int, without: Section) -> tuple[Section, ...]:
        """The first `n` sections for a text by BM25 that share a term with it; `without` is left out.

        The scores are those of rank-bm25's BM25Okapi to the last bit, as recorded requests have these sections.
        """
        scores: defaultdict[int, float] = defaultdict(float)
        mean = sum(self._lengths) / len(self._lengths)
        for term in terms(text):
            for index in self._holders.get(term, ()):
                count, length = self._counts[index][term], self._lengths[index]
                scores[index] += self._idf[term] * (count * (K1 + 1) / (count + K1 * (1 - B + B * length / mean)))
        best = sorted(scores, key=lambda index: (-scores[index], index))
        return tuple(self.sections[index] for index in best if self.sections[index] != without)[:n]

    @cached_property
    def _idf(self) -> Mapping[str, float]:
        """ln((N - n_t + 0.5) / (n_t + 0.5)); a quarter of its mean over the terms where that is below 0."""
        n = len(self.sections)
        idf = {term: math.log(n - len(by) + 0.5) - math.log(len(by) + 0.5) for term, by in self._holders.items()}
        floor = 0.25 * (sum(idf.values()) / len(idf))
        return {term: floor if value < 0 else value for term, value in idf.items()}

    def _vector(self, index: int) -> dict[str, float]:
        """Log tf times idf, of length 1."""
        if index not in self._vectors:
            n = len(self.sections)
            weights = {
                term: (1 + math.log(count)) * math.log(1 + n / len(self._holders[term]))
                for term, count in self._counts[index].items()
            }
            length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
            self._vectors[index] = {term: weight / length for term, weight in weights.items()}
        return self._vectors[index]

    def _cosine(self, one: int, other: int) -> float:
        a, b = self._vector(one), self._vector(other)
        return sum(weight * b[term] for term, weight in a.items() if term in b)

    def _sharing(self, index: int) -> set[int]:
        """The sections that share enough rare terms with this one, itself left out."""
        content = self._counts[index].keys() - FUNCTION_WORDS
        rare = (term for term in content if 1 < len(self._holders[term]) <= self._most)
        shared = Counter(other for term in rare for other in self._holders[term] if other != index)
        return {other for other, count in shared.items() if count >= SHARED}

    def _nearest(self, index: int, others: set[int]) -> int | None:
        near = [(-self._cosine(index, other), other) for other in others]
        return min(((cosine, other) for cosine, other in near if -cosine < SAME), default=(0.0, None))[1]
