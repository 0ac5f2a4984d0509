"""Test sets in the layouts of other tools, and what is refused in one sentence."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from ragassay.errors import InputError
from ragassay.synth.checking.test_set import read_test_set, with_labels

LINE = {
    "beir": {
        "_id": "q1",
        "text": "What ends sleep?",
        "metadata": {"evidence": [{"doc": "a.pdf", "quote": "Only a reset."}]},
    },
    "ragas": {
        "user_input": "What ends sleep?",
        "reference": "A reset.",
        "reference_contexts": ["<1-hop>\n\nOnly a reset.", "<2-hop>\n\nOr a pin."],
        "synthesizer_name": "multi_hop",
    },
    "old ragas": {
        "question": "What ends sleep?",
        "ground_truth": "A reset.",
        "contexts": ["Only a reset.", "Or a pin."],
    },
    "golden": {
        "input": "What ends sleep?",
        "expected_output": "A reset.",
        "context": ["Only a reset.", "Or a pin."],
        "actual_output": None,
        "source_file": "a.txt",
    },
}


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("layout", ["ragas", "old ragas", "golden"])
@pytest.mark.parametrize("form", ["jsonl", "json", "goldens", "csv"])
def test_layouts_with_texts_as_evidence(tmp_path: Path, layout: str, form: str):
    row: dict[str, Any] = LINE[layout]
    if form == "csv":
        path = tmp_path / "set.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, row)
            writer.writeheader()
            writer.writerow(row)  # a list is written as Python shows it, as pandas does
    else:
        value = {"goldens": [row]} if form == "goldens" else [row]
        text = json.dumps(row) + "\n" if form == "jsonl" else json.dumps(value, indent=1)
        path = written(tmp_path, f"set.{form}".replace("goldens", "json"), text)
    (item,) = read_test_set(path)
    assert (item.id, item.row, item.line is None) == ("row-1", 1, form in {"json", "goldens"})
    assert (item.text, item.answer) == ("What ends sleep?", "A reset.")
    assert item.evidence == ("Only a reset.", "Or a pin.")


def test_beir_with_evidence_and_labels(tmp_path: Path):
    path = written(tmp_path, "queries.jsonl", json.dumps(LINE["beir"]) + '\n{"_id": "q2", "text": "And then?"}\n')
    qrels = written(tmp_path, "test.tsv", "query-id\tcorpus-id\tscore\nq1\tp1\t1\nq2\tp2\t1\nq2\tp3\t0\n")
    first, second = with_labels(read_test_set(path), qrels)
    assert first.evidence == ({"doc": "a.pdf", "quote": "Only a reset."},)
    assert second.evidence == ({"passage": "p2"},)


def test_ragelo_queries(tmp_path: Path):
    path = written(tmp_path, "queries.csv", 'qid,query\nq_1,"What is ‘always_ram’, and why?"\nq_2,How?\n')
    assert [(one.id, one.line, one.text) for one in read_test_set(path)] == [
        ("q_1", 2, "What is ‘always_ram’, and why?"),
        ("q_2", 3, "How?"),
    ]


@pytest.mark.parametrize("heading", ["question", "Frage", "Question text"])
def test_a_table_with_semicolons_and_a_blank_question(tmp_path: Path, heading: str):
    path = written(tmp_path, "set.csv", f"{heading};answer\nWhat?;That.\n;None.\n")
    assert [(one.text, one.answer) for one in read_test_set(path)] == [("What?", "That."), ("", "None.")]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonl", "", "has no question"),
        ("a.csv", "question,answer\n", "has no question"),
        ("a.json", "[]", "has no question"),
        ("a.csv", "topic,reply\na,b\n", "has no field that can be the question, it has topic, reply"),
        (
            "a.jsonl",
            '{"_id": "a", "text": "A?"}\n{"_id": "a", "text": "B?"}\n',
            ":2: the id 'a' is also that of line 1",
        ),
        ("a.json", '[{"id": 1, "input": "A?"}, {"id": 1, "input": "B?"}]', "item 2: the id '1' is also that of item 1"),
        ("a.jsonl", '{"user_input": [{"content": "hi", "type": "human"}]}\n', ":1: 'user_input' is not a text"),
        ("a.csv", "question,answer\na,b,c\n", ":2: has 3 cells, the header has 2"),
        ("a.json", "[1]", "item 1 is not a JSON object"),
        ("a.json", "[{", "is not JSON"),
        ("a.jsonl", '{"text": "A?", "evidence": [{"doc": "a.pdf"}]}\n', "evidence 1: has 'doc'"),
        ("a.jsonl", '{"text": "A?", "evidence": [3]}\n', "the evidence is no text"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(tmp_path: Path, name: str, text: str, said: str):
    with pytest.raises(InputError) as error:
        read_test_set(written(tmp_path, name, text))
    assert said in str(error.value) and str(tmp_path / name) in str(error.value)
