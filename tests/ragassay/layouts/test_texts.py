"""An import never changes a text in silence: what another tool writes comes as it was, or what changed is said."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.layouts.answers import read_given

PIECES = ["|", '"', "'", "\n", "\r\n", ",", ";", "\t", "[", "]", "['a']", "{", "}", "=1", "@", "a", "é", " ", "\\", "#"]
TEXT = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map(lambda parts: f"x{''.join(parts)}x") | st.lists(
    st.sampled_from(PIECES), min_size=1, max_size=6
).map("".join).filter(str.strip)
Case = tuple[str, str, list[str]]


def table(columns: list[str], row: list[str]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([columns, row])
    return out.getvalue()


def as_csv(case: Case, joined: str) -> str:
    return table(["input", "actual_output", "retrieval_context"], [case[0], case[1], joined])


def as_json(question: str, answer: str, contexts: str, **more: Any):
    return lambda case: json.dumps({question: case[0], answer: case[1], contexts: case[2], **more})


WAYS = {
    "ragas.jsonl": as_json("user_input", "response", "retrieved_contexts"),
    "ragas.csv": lambda case: table(["user_input", "response", "retrieved_contexts"], [*case[:2], repr(case[2])]),
    "deepeval.json": lambda case: json.dumps(
        [{"input": case[0], "actual_output": case[1], "retrieval_context": case[2]}]
    ),
    "deepeval.csv": lambda case: as_csv(case, "|".join(case[2])),
    "deepeval.jsonl": lambda case: json.dumps(
        {"input": case[0], "actual_output": case[1], "retrieval_context": "|".join(case[2])}
    ),
    "ours.jsonl": as_json("query", "answer", "contexts"),
    "ours.csv": lambda case: table(["query", "answer", "contexts"], [*case[:2], json.dumps(case[2])]),
}
"""As `EvaluationDataset.to_csv` of ragas 0.4.3 (pandas writes Python's list) and `save_as` of deepeval 4.3.1 write."""


@pytest.mark.parametrize("name", WAYS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=st.tuples(TEXT, TEXT, st.lists(TEXT, min_size=1, max_size=3)))
def test_each_text_comes_as_it_was_written_or_something_is_said(tmp_path: Path, name: str, case: Case):
    path = tmp_path / name
    path.write_bytes(WAYS[name](case).encode())
    try:
        found = read_given(path)
    except InputError:
        return
    (one,) = found.answers
    came = (one.fields["query"], one.fields.get("answer"), [each["text"] for each in one.fields["contexts"]])
    assert came == case or found.unused(), "a text was changed and nothing said"
