"""Decisions about questions: the last one about each counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.queries import Edit, add_edit, read_edits


def test_the_last_decision_about_a_question_counts(tmp_path: Path):
    path = tmp_path / "edits.jsonl"
    assert read_edits(path) == {}
    decisions = [Edit(id="q1", action="reject"), Edit(id="q2", action="accept")]
    decisions += [Edit(id="q1", action="edit", text="Which?")]
    for one in decisions:
        add_edit(path, one)
    assert read_edits(path) == {"q1": decisions[2], "q2": decisions[1]}
    add_edit(path, Edit(id="q2", action="edit", text=" "))
    with pytest.raises(InputError, match="has no text") as raised:
        read_edits(path)
    assert raised.value.line == 4
