"""Answers side by side: equal ones together, citations as links to their passages, differences by words."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ragassay.workbench.views.query import differences, groups_of

NUMBERS = {"doc-p1": 1, "doc-p2": 2, "doc-p11": 3}


def answer(name: str, text: str | None, *passages: str) -> dict[str, Any]:
    return {"name": name, "text": text, "error": None if text is not None else "timed out", "passages": list(passages)}


def test_equal_answers_stand_together_unless_they_cite_other_passages():
    answers = [
        answer("a", "Yes [1].", "doc-p1"),
        answer("b", "No.", "doc-p1"),
        answer("c", "Yes  [1].", "doc-p1", "doc-p2"),
        answer("d", "Yes [1].", "doc-p2"),
        answer("e", None),
    ]
    assert [group.agents for group in groups_of(answers, NUMBERS)] == [["a", "c"], ["b"], ["d"], ["e"]]


def test_citations_lead_to_the_passages_of_the_answer():
    (group,) = groups_of([answer("a", "So [2, 1], and [9]; see doc-p11 or doc-p1.", "doc-p11", "doc-p2")], NUMBERS)
    assert [(piece.text, piece.to) for piece in group.pieces if piece.to] == [("2", 2), ("1", 3), ("doc-p11", 3)]
    assert "".join(piece.text for piece in group.pieces) == "So [2, 1], and [9]; see doc-p11 or doc-p1."


def test_the_others_are_compared_with_the_reference():
    answers = [answer("a", "Set bit three of the port first."), answer("b", "Set bit three of the port last.")]
    reference, other = groups_of(answers, NUMBERS, "a")
    assert reference.is_reference and not reference.compared and other.compared
    assert [(p.text, p.kind) for p in other.pieces if p.kind != "same"] == [("first.", "gone"), ("last.", "new")]
    assert not any(group.compared for group in groups_of(answers, NUMBERS, "nobody"))


@given(st.text("ab .,[1]\n", max_size=60), st.text("ab .,[1]\n", max_size=60))
def test_both_texts_can_be_read_out_of_their_differences(one: str, other: str):
    parts = differences(one, other)
    assert parts is not None
    assert "".join(text for text, kind in parts if kind != "gone") == other
    assert "".join(text for text, kind in parts if kind != "new") == one
