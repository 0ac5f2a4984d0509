"""What a stage runs again for, settings and passages; how much is handed over; what people decided."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.experiment.settings import EvaluateSettings
from ragassay.experiment.tables import IngestSettings, ModelSettings
from ragassay.experiment.workspace import Edit, add_edit, digest_passages, handed_over, read_edits


@pytest.mark.parametrize(
    ("table", "changed"),
    [
        (IngestSettings, {"loader": "mine:documents"}),
        (IngestSettings, {"kinds": ("pdf", "text")}),
        (IngestSettings, {"ocr": True}),
        (IngestSettings, {"passage_words": 100}),
        (EvaluateSettings, {"thresholds": {"relevance": 2.0}}),
        (EvaluateSettings, {"max_rows": 3}),
        (EvaluateSettings, {"keep_replies": True}),
        (EvaluateSettings, {"mode": "label"}),
    ],
)
def test_every_setting_counts_where_it_is_set(table: Any, changed: dict[str, Any]):
    assert table(**changed).shaping() != table().shaping()


def test_settings_that_came_later_are_not_told_where_they_are_left_alone():
    """What finished before they were there is not run again for them."""
    assert not {"loader", "kinds", "ocr"} & IngestSettings().shaping().keys()
    assert not {"thresholds", "max_rows", "keep_replies", "likelihood_model"} & EvaluateSettings().shaping().keys()


def test_each_repeat_has_a_seed_of_its_own_where_one_is_set():
    assert [ModelSettings(seed=7).sampling(sample)["seed"] for sample in range(3)] == [7, 8, 9]
    assert ModelSettings(top_p=0.5).sampling(1) == {"top_p": 0.5}


def test_changed_passages_have_another_digest_each_chunking_its_own(tmp_path: Path):
    path = tmp_path / "passages.jsonl"

    def write(ours: str, fixed: str) -> list[str]:
        rows = [{"_id": "a", "text": ours}, {"_id": "b", "text": fixed, "metadata": {"chunking": "fixed"}}]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        os.utime(path, ns=(0, next(times)))
        return [digest_passages(path, {"ingest"}), digest_passages(path, {"fixed"})]

    times = iter(range(1, 9))
    first, second, third = write("one", "two"), write("1", "two"), write("1", "2")
    assert first[0] != second[0] == third[0] and first[1] == second[1] != third[1]


@given(st.lists(st.integers(0, 50), max_size=10), st.integers(0, 120), st.integers(1, 12))
def test_as_many_as_fit_is_the_longest_beginning(lengths: list[int], tokens: int, k: int):
    ranking = [f"p{i}" for i in range(len(lengths))]
    n = handed_over(ranking, None, tokens, lambda passage: lengths[int(passage[1:])])
    assert sum(lengths[:n]) <= tokens
    assert n == len(lengths) or sum(lengths[: n + 1]) > tokens
    assert handed_over(ranking, k, None, len) == min(k, len(lengths))


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
