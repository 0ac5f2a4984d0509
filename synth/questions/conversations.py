"""Conversations: what one person wants to know in turn, the words of each turn, and whether a reader restores the need.

The needs come in a chain from one section, each by a move from the one before. A need's question that stands alone is
written blind; the turn is written by somebody who sees the conversation. A turn is kept where another reader restores
its need from history and turn, and, for a move that leans on what was said, does not from the turn alone. History is
fixed: turns as written, answers of the needs' writer.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeVar

from pydantic import Field

from ragassay.calls.caller import Caller
from ragassay.experiment.tables import OPENING, UNDERSPECIFIED, QuestionsSettings
from ragassay.files import digest_bytes
from ragassay.models.requests import Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import Asked as Question
from ragassay.records import Query, Section, Turn, grouped

from . import CONVERSATION_PROMPTS
from .need_writer import ask_blind, faulted, read_needs
from .quotas import sample_queries
from .reject import Candidate, asks, clean
from .slots import (
    UNANSWERABLE,
    Asked,
    Asker,
    Assignment,
    Delivered,
    Draft,
    Setup,
    Slot,
    Told,
    Written,
    ask_roles,
    at_most,
    dealt,
    numbered,
    told_of,
)

T = TypeVar("T")

LEANS = frozenset({"pronoun", "ellipsis", "clarification", "correction"})
"""The moves by which a turn leans on what was said, so that it must not be understood alone."""
TOGETHER = 10
"""Turns of so many conversations are read in one request, never two of the same."""

NO_BEGINNING = "its conversation has no beginning"
NOT_WRITTEN = "no turn was written for its need"
UNREAD = "nobody read it again"
NOT_RESTORED = "a reader of the conversation does not restore its need"
ALONE = "its need is restored without the conversation"
SPECIFIED = "a reader of the conversation restores what it leaves open"
"""How the reasons begin for which a turn is rejected in these steps."""


@dataclass(frozen=True)
class TurnSlot(Slot):
    """A turn to be written. position: from 0, within its conversation."""

    move: str = OPENING


class ChainNeed(Told):
    """What a person wants to know at one point of a conversation, and what they are told."""

    number: int = Field(description="The number of the list that this is for.")
    need: str = Field(description="What the person wants to know or to get done, in one sentence that stands alone.")
    answer: str = Field(description="What a careful colleague replies from the text alone, in at most 60 words.")


class Chain(Told):
    """The needs of one conversation, in their order."""

    needs: list[ChainNeed]


class TurnText(Told):
    """What the person says for the need of that number."""

    number: int = Field(description="The number of the need.")
    text: str = Field(description="What the person says.")


class TurnTexts(Told):
    """The turns of one conversation."""

    turns: list[TurnText]


class Restored(Told):
    """What the person of that number wants to know."""

    number: int = Field(description="The number of what was said.")
    question: str = Field(description="One question that stands alone; empty where it cannot be told.")


class AllRestored(Told):
    """What each person wants to know."""

    questions: list[Restored]


class Same(Told):
    """Whether question and need of that number are the same."""

    number: int = Field(description="The number of the need and its question.")
    same: bool = Field(description="Whether the question asks for what the need is.")


class AllSame(Told):
    """The same of each."""

    pairs: list[Same]


@dataclass(frozen=True)
class Said:
    """A turn of a conversation. number: from 1, of those that were said; 0 where it was not."""

    draft: Draft
    text: str = ""
    number: int = 0
    history: tuple[Turn, ...] = ()

    @property
    def move(self) -> str:
        """By which it follows on what was said; "" where nobody asked for it."""
        return self.draft.slot.move if isinstance(self.draft.slot, TurnSlot) else ""

    @property
    def question(self) -> Question:
        """Its text with what was said before."""
        return Question(clean(self.text), self.history)

    def fails(self, fault: str) -> Said:
        """The same with why it goes no further."""
        return replace(self, draft=replace(self.draft, fault=fault))

    def candidate(self, *, statements: bool) -> Candidate:
        """What is sifted."""
        draft = self.draft
        made = draft.candidate(statements=statements)
        details = dict(made.details)
        if isinstance(draft.slot, TurnSlot):
            id = digest_bytes(f"{draft.model}:{draft.sections[0].id}".encode())[:10]  # a model has one about a section
            said = {"turn": self.number} if self.number else {}
            details |= {"conversation": f"c-{id}", **said, "move": draft.slot.move}
            details |= {"stand_alone": clean(draft.question)} if draft.question else {}
        details.pop("blind", None)
        answer = "" if draft.kind == UNANSWERABLE else draft.answer
        return replace(made, text=self.text or made.text, answer=answer, history=self.history, details=details)


def write_conversations(
    setup: Setup, sections: Sequence[Section], all_sections: Sequence[Section], caller: Caller
) -> Written:
    """Every turn that the models of the quota write about the sections, or why it is none; the judge reads them again.

    Evidence is found for them as for every question.
    """
    reader = setup.experiment.judge.models[0]
    asker = Asker(caller, list(dict.fromkeys([*setup.experiment.questions.quota, reader])))
    setup, roles = ask_roles(setup, all_sections, asker)
    steps = _Steps(setup, {name: Prompt.load(path) for name, path in CONVERSATION_PROMPTS.items()}, asker, reader)
    drafts, delivered = steps.needs(conversations(setup.experiment.questions, sections, setup.roles))
    drafts = ask_blind(setup, drafts, asker)
    statements = any(not asks(expert.text) for expert in setup.experts)
    drafts = [faulted(one, statements=statements) if one.slot and one.slot.blind else one for one in drafts]
    said = steps.read_again(steps.turns(drafts))
    candidates = [one.candidate(statements=statements) for one in said]
    return Written(candidates, delivered, asker.calls(), told_of(roles), roles)


def conversations(settings: QuestionsSettings, sections: Sequence[Section], roles: Sequence[str]) -> list[Assignment]:
    """One for each model and section: of how many turns, by which moves, and who asks.

    Lengths are drawn evenly from `turns`; moves and roles have their shares over all turns and conversations of a
    model, to the nearest. The first turn, and no other, is an opening.
    """
    found = []
    for model in settings.quota:
        rng = random.Random(f"{settings.seed}:conversations:{model}")
        low, high = settings.turns
        lengths = dealt(range(low, high + 1), [1.0] * (high - low + 1), len(sections), rng)
        moves = dealt(list(settings.moves), list(settings.moves.values()), sum(lengths) - len(sections), rng)
        cast = dealt(roles, [1.0] * len(roles), len(sections), rng) if roles else [""] * len(sections)
        for section, n, role in zip(sections, lengths, cast, strict=True):
            slots = []
            for position, move in enumerate([OPENING, *(moves.pop() for _ in range(n - 1))]):
                kind = UNANSWERABLE if move in (UNANSWERABLE, UNDERSPECIFIED) else "fact"
                blind = move != UNDERSPECIFIED  # what it leaves open nobody can ask in full
                slots.append(TurnSlot(position, kind, role, blind, move))
            found.append(Assignment(model, (section,), tuple(slots)))
    return found


Readings = Mapping[bool, dict[int, T]]
"""With what was said before (True) and without: the place of a turn to what a reader makes of it."""


@dataclass(frozen=True)
class _Steps:
    """What is asked, step by step. reader: the judge's model, be it a writer's as well or not."""

    setup: Setup
    prompts: Mapping[str, Prompt]
    asker: Asker
    reader: str

    def needs(self, given: Sequence[Assignment]) -> tuple[list[Draft], list[Delivered]]:
        """A draft for each need that came, and what each reply delivered."""
        asked = []
        for one in given:
            slots = [slot for slot in one.slots if isinstance(slot, TurnSlot)]
            items = [{"number": number, "move": slot.move} for number, slot in enumerate(slots, 1)]
            values = {"section": one.sections[0], "items": items, "moves": _moves(slots), "role": slots[0].role}
            messages = self.prompts["chain"].render(values | {"language": self.setup.experiment.corpus.language})
            schema = at_most(len(items), Chain, ChainNeed)
            asked.append(Asked("chain", one.model, Request(messages, schema, items=len(items))))
        most = self.setup.experiment.questions.turns[1]
        return read_needs(given, self.asker.ask(asked), beyond=most, wanted=("need", "answer"))

    def turns(self, drafts: Sequence[Draft]) -> list[Said]:
        """What is said for each draft, in the order of the conversations."""
        talks = [list(own) for _, own in groupby(drafts, key=lambda draft: (draft.model, draft.sections))]
        sound = [sorted((one for one in talk if one.fault is None), key=lambda one: one.position) for talk in talks]
        goes_on = [own if own and own[0].position == 0 else [] for own in sound]
        replies = iter(self.asker.ask([self._turns(own) for own in goes_on if own[1:]]))
        found: list[Said] = []
        for talk, own in zip(talks, goes_on, strict=True):
            found += _said(talk, own, next(replies) if own[1:] else Reply())
        return found

    def _turns(self, own: Sequence[Draft]) -> Asked:
        first, rest = own[0], own[1:]
        slots = [draft.slot for draft in rest if isinstance(draft.slot, TurnSlot)]
        items = [
            {"need": draft.need, "answer": draft.answer, "told": {"number": str(number), "move": slot.move}}
            for number, (draft, slot) in enumerate(zip(rest, slots, strict=True), 2)
        ]
        values = self.setup.values("turns", first.model, first.sections[0].id, slots)
        values |= {"items": items, "opening": first, "moves": _moves(slots), "role": slots[0].role}
        schema = at_most(len(items), TurnTexts, TurnText)
        return Asked("turns", first.model, Request(self.prompts["turns"].render(values), schema, items=len(items)))

    def read_again(self, said: Sequence[Said]) -> list[Said]:
        """Each turn but the first as it is if a reader restores what it is to, with the fault if not."""
        later = [at for at, one in enumerate(said) if one.number > 1]
        asked = {True: later, False: [at for at in later if said[at].move in LEANS]}
        same = self._same(said, self._restored(said, asked))
        found = list(said)
        for at in later:
            alone = same[False].get(at) if said[at].move in LEANS else False
            if fault := _fault(said[at].move, same[True].get(at), alone):
                found[at] = said[at].fails(fault)
        return found

    def _restored(self, said: Sequence[Said], asked: Mapping[bool, Sequence[int]]) -> Readings[str]:
        """The question that a reader makes of each turn.

        Read in one request are turns of as many conversations, all at the same place of theirs: what is said at one
        place tells what was asked at the place before, so places are never in one request, nor, since each has a label
        of its own, in one request file.
        """
        asking: list[tuple[bool, list[int], Asked]] = []
        language = self.setup.experiment.corpus.language
        for history, places in asked.items():
            for place, own in groupby(sorted(places, key=lambda at: said[at].number), key=lambda at: said[at].number):
                for group in _together(list(own)):
                    texts = [said[at].question if history else str(said[at].question) for at in group]
                    items = [{"number": number, "text": text} for number, text in enumerate(texts, 1)]
                    messages = self.prompts["restore"].render(
                        {"items": items, "with_history": history, "language": language}
                    )
                    request = Request(messages, at_most(len(items), AllRestored, Restored), items=len(items))
                    step = f"{'restore' if history else 'alone'}-{place}"
                    asking.append((history, group, Asked(step, self.reader, request)))
        found: Readings[str] = {True: {}, False: {}}
        for history, at, item in self._read(asking):
            found[history][at] = item.question.strip()
        return found

    def _same(self, said: Sequence[Said], texts: Readings[str]) -> Readings[bool]:
        """Whether the need of each turn is what such a question asks for; where a reader cannot tell, it is not.

        Of one that leaves something open, whether a reader can tell what it asks for.
        """
        found: dict[bool, dict[int, bool]] = {}
        asking: list[tuple[bool, list[int], Asked]] = []
        for history, own in texts.items():
            found[history] = {at: bool(t) for at, t in own.items() if not t or said[at].move == UNDERSPECIFIED}
            for group in _together([at for at in own if at not in found[history]]):
                pairs = [{"need": said[at].draft.need, "question": own[at]} for at in group]
                items = [{"number": number, **pair} for number, pair in enumerate(pairs, 1)]
                messages, schema = self.prompts["same"].render({"items": items}), at_most(len(items), AllSame, Same)
                request = Request(messages, schema, items=len(items))
                asking.append((history, group, Asked("same" if history else "same-alone", self.reader, request)))
        for history, at, item in self._read(asking):
            found[history][at] = item.same
        return found

    def _read(self, asking: Sequence[tuple[bool, list[int], Asked]]) -> Iterator[tuple[bool, int, Any]]:
        """What each reply says of the turns of its group: the first item of each number that was asked for."""
        replies = self.asker.ask([asked for *_, asked in asking])
        for (history, group, _), reply in zip(asking, replies, strict=True):
            for number, item in numbered(reply).items():
                if 1 <= number <= len(group):
                    yield history, group[number - 1], item


def _moves(slots: Iterable[TurnSlot]) -> list[str]:
    return list(dict.fromkeys(slot.move for slot in slots))


def _together(places: list[int]) -> list[list[int]]:
    return [places[start : start + TOGETHER] for start in range(0, len(places), TOGETHER)]


def _said(talk: Sequence[Draft], own: Sequence[Draft], reply: Reply) -> list[Said]:
    """The drafts of one conversation as turns. own: those that go on, in their order; none without a beginning."""
    written = {number: item.text.strip() for number, item in numbered(reply).items()}
    found: dict[int, Said] = {}
    history: tuple[Turn, ...] = ()
    for number, draft in enumerate(own, 1):
        text = draft.question if number == 1 else written.get(number, "")
        if not clean(text):
            found[id(draft)] = Said(draft).fails(f"{NOT_WRITTEN}: {reply.error}" if reply.error else NOT_WRITTEN)
            continue
        found[id(draft)] = Said(draft, text, 1 + len(history) // 2, history)
        question = Turn(role="user", text=clean(text), by="model")
        history = (*history, question, Turn(role="assistant", text=draft.answer, by="reference"))
    return [found.get(id(draft)) or Said(draft).fails(draft.fault or NO_BEGINNING) for draft in talk]


def _fault(move: str, whole: bool | None, alone: bool | None) -> str | None:
    """Why a turn of that move is not kept. whole, alone: whether the need was restored; None where nobody told."""
    if whole is None or alone is None:
        return UNREAD
    if move == UNDERSPECIFIED:
        return SPECIFIED if whole else None
    if not whole:
        return NOT_RESTORED
    return ALONE if move in LEANS and alone else None


def sample_turns(pool: Sequence[Query], quota: Mapping[str, int], seed: int) -> list[Query]:
    """`quota[model]` turns of each model, or as many as the pool has: whole conversations, the last without its end.

    Conversations come in the order in which `sample_queries` draws their first turns.
    """
    talks = grouped((str(query.metadata["conversation"]), query) for query in pool)
    own = {id: sorted(talk, key=lambda query: int(query.metadata["turn"])) for id, talk in talks.items()}
    left, found = dict(quota), []
    bare = [{key: value for key, value in talk[0].metadata.items() if key != "kind"} for talk in own.values()]
    firsts = [talk[0].model_copy(update={"metadata": told}) for talk, told in zip(own.values(), bare, strict=True)]
    for first in sample_queries(firsts, quota, seed):
        model = first.metadata["model"]
        taken = own[str(first.metadata["conversation"])][: left[model]]
        left[model] -= len(taken)
        found += taken
    return found
