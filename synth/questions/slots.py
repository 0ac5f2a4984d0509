"""What is asked of the models that write from the need: a slot for each question, with its kind, role and writer."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ragassay.errors import InputError
from ragassay.experiment.question_settings import QuestionsSettings
from ragassay.records import Section

LINKED = "multi-hop"
"""The kind that is asked about two or three linked sections."""
UNANSWERABLE = "unanswerable"
"""The kind that the documents must not answer."""
LOOSE = frozenset({"keyword", "conversational"})
"""The kinds that need not have the form of a question."""

T = TypeVar("T")

Links = Mapping[str, tuple[Section, ...]]
"""Section id to the sections that go with it."""


@dataclass(frozen=True)
class Slot:
    """A question to be written. position: from 0, within its model and section. role: "" for none.

    blind: whether it is asked from the need alone.
    """

    position: int
    kind: str
    role: str
    blind: bool


@dataclass(frozen=True)
class Assignment:
    """What one request asks for: slots, numbered from 1 in it, about one section, or about several linked ones."""

    model: str
    sections: tuple[Section, ...]
    slots: tuple[Slot, ...]

    @property
    def linked(self) -> bool:
        """Whether each question needs more than one of the sections."""
        return len(self.sections) > 1


def assign(
    settings: QuestionsSettings, sections: Sequence[Section], links: Links, roles: Sequence[str]
) -> list[Assignment]:
    """`per_section` slots for each model and section; a section's linked ones are an assignment of their own.

    Kinds, roles and blindness are drawn by the seed, and their shares come out over all slots of a model, to the
    nearest slot. Where too few sections have `links`, what is left of the linked kind's share goes to the others;
    raises InputError where there is no other.
    """
    return [one for model in settings.quota for one in _of_model(settings, model, sections, links, roles)]


def shares(weights: Sequence[float], n: int) -> list[int]:
    """`n` divided in proportion to `weights` by largest remainders (Hamilton's method), the first of equals first."""
    exact = [n * weight / sum(weights) for weight in weights]
    whole = [int(share + 1e-9) for share in exact]
    for index in sorted(range(len(weights)), key=lambda index: (whole[index] - exact[index], index))[: n - sum(whole)]:
        whole[index] += 1
    return whole


def _of_model(
    settings: QuestionsSettings, model: str, sections: Sequence[Section], links: Links, roles: Sequence[str]
) -> list[Assignment]:
    rng = random.Random(f"{settings.seed}:slots:{model}")
    places = [(section.id, position) for section in sections for position in range(settings.per_section)]
    kinds = _kinds(settings.kinds, places, links, rng)
    blind = _dealt([True, False], [settings.blind, 1 - settings.blind], len(places), rng)
    cast = _dealt(roles, [1.0] * len(roles), len(places), rng) if roles else [""] * len(places)
    drawn = zip(places, kinds, cast, blind, strict=True)
    slots = {place: Slot(place[1], kind, role, is_blind) for place, kind, role, is_blind in drawn}
    found = []
    for section in sections:
        own = [slots[section.id, position] for position in range(settings.per_section)]
        plain = tuple(slot for slot in own if slot.kind != LINKED)
        hops = tuple(slot for slot in own if slot.kind == LINKED)
        found += [Assignment(model, (section,), plain)] if plain else []
        found += [Assignment(model, (section, *links[section.id]), hops)] if hops else []
    return found


def _kinds(
    wanted: Mapping[str, float], places: Sequence[tuple[str, int]], links: Links, rng: random.Random
) -> list[str]:
    """A kind for each place: the linked kind where sections have links, the others anywhere."""
    others = {kind: share for kind, share in wanted.items() if kind != LINKED and share > 0}
    n_linked = shares([wanted.get(LINKED, 0.0), sum(others.values())], len(places))[0]
    able = [number for number, (section, _) in enumerate(places) if links.get(section)]
    if not others and len(able) < len(places):
        problem = f"questions.kinds has {LINKED} alone, and not every section has another one that it is linked with"
        raise InputError(problem, remedy="add documents, or give shares to other kinds")
    linked = set(rng.sample(able, min(n_linked, len(able))))
    rest = _dealt(list(others), list(others.values()), len(places) - len(linked), rng) if others else []
    return [LINKED if number in linked else rest.pop() for number in range(len(places))]


def _dealt(values: Sequence[T], weights: Sequence[float], n: int, rng: random.Random) -> list[T]:
    """`n` of the values by their weights, in an order drawn."""
    hand = [value for value, count in zip(values, shares(weights, n), strict=True) for _ in range(count)]
    rng.shuffle(hand)
    return hand
