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


def by_numpy(values: list[Any]) -> str:
    return f"[{chr(10).join(map(repr, values))}]"


RUNS = (
    "run_type",
    "chain",
    "retriever",
    lambda case: ({"question": case[0]}, {"output": case[1]}),
    "inputs",
    "outputs",
)
OBSERVATIONS = ("type", "SPAN", "RETRIEVER", lambda case: case[:2], "input", "output")


def runs(case: Case, told: tuple[Any, ...], *ids: str) -> str:
    """A root and a retriever below it."""
    kind, top, search, said, asked, answered = told
    found = {"output": [{"page_content": text, "type": "Document"} for text in case[2]]}
    rows = [
        {
            **dict(zip(ids, ("1", "t", None), strict=True)),
            kind: top,
            **dict(zip((asked, answered), said(case), strict=True)),
        },
        {**dict(zip(ids, ("2", "t", "1"), strict=True)), kind: search, asked: {"query": case[0]}, answered: found},
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


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
    "datasets.csv": lambda case: table(["query", "answer", "contexts"], [*case[:2], by_numpy(case[2])]),
    "datasets-objects.csv": lambda case: table(
        ["query", "answer", "contexts"], [*case[:2], by_numpy([{"id": "p", "text": text} for text in case[2]])]
    ),
    "langsmith.jsonl": lambda case: runs(case, RUNS, "id", "trace_id", "parent_run_id"),
    "langfuse.jsonl": lambda case: runs(case, OBSERVATIONS, "id", "traceId", "parentObservationId"),
}
"""As `EvaluationDataset.to_csv` of ragas 0.4.3 (pandas writes Python's list), `save_as` of deepeval 4.3.1, `to_csv` of
datasets 5.2.0 (pandas writes NumPy's lists), LangSmith's `Run` and Langfuse's `ObservationV2` write."""


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
