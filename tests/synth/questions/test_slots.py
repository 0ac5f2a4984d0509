"""Kinds, roles and blindness as drawn: the shares come out, the linked kind stands where sections are linked."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.experiment.tables import KINDS, QuestionsSettings
from ragassay.records import Section
from ragassay.synth.questions.slots import Assignment, Slot, assign, shares

SECTIONS = [Section(id=f"s{n}", doc="a.pdf", first_page=1, last_page=1, start=0, end=1, text="t") for n in range(24)]
LINKS = {section.id: (SECTIONS[0],) for section in SECTIONS[1:]} | {"s0": (SECTIONS[1], SECTIONS[2])}


def settings(**table: object) -> QuestionsSettings:
    return QuestionsSettings.model_validate({"quota": {"file:a": 1, "file:b": 1}} | table)


def slots_of(assignments: list[Assignment]) -> list[Slot]:
    return [slot for one in assignments for slot in one.slots]


def test_hamilton_by_hand():
    """The textbook's 53, 27 and 20 percent of 10 seats: quotas 5.3, 2.7, 2.0, and the last seat to the second."""
    assert shares([53, 27, 20], 10) == [5, 3, 2]


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=8), st.integers(0, 500))
def test_shares_are_the_nearest_whole_numbers_that_add_up(weights: list[float], n: int):
    found = shares(weights, n)
    assert sum(found) == n
    assert all(abs(count - n * weight / sum(weights)) < 1 for count, weight in zip(found, weights, strict=True))


def test_every_share_comes_out_for_each_model():
    given = assign(settings(blind=0.25), SECTIONS, LINKS, ("nurse", "pilot"))
    for model in ("file:a", "file:b"):
        slots = slots_of([one for one in given if one.model == model])
        kinds = Counter(slot.kind for slot in slots)
        assert kinds == {kind: round(share * 240) for kind, share in KINDS.items() if share}
        assert sum(slot.blind for slot in slots) == 60
        assert Counter(slot.role for slot in slots) == {"nurse": 120, "pilot": 120}
    assert {len(one.sections) for one in given if one.linked} == {2, 3}
    assert all((slot.kind == "multi-hop") == one.linked for one in given for slot in one.slots)
    per_section = Counter((one.model, one.sections[0].id) for one in given for _ in one.slots)
    assert set(per_section.values()) == {10} and len(per_section) == 48
    assert given == assign(settings(blind=0.25), SECTIONS, LINKS, ("nurse", "pilot")), "the seed decides"
    assert given != assign(settings(blind=0.25, seed=8), SECTIONS, LINKS, ("nurse", "pilot"))


def test_without_links_the_share_goes_to_the_other_kinds():
    given = assign(settings(kinds={"multi-hop": 0.5, "fact": 0.3, "keyword": 0.2}), SECTIONS, {}, ())
    assert Counter(slot.kind for slot in slots_of(given)) == {"fact": 2 * 144, "keyword": 2 * 96}
    assert not any(one.linked for one in given)


def test_nothing_but_linked_questions_without_links_is_one_sentence():
    with pytest.raises(InputError, match="multi-hop alone, and not every section has another"):
        assign(settings(kinds={"multi-hop": 1.0}), SECTIONS, {}, ())
