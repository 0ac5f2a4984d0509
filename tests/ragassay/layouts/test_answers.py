"""Answers of other tools: each layout's documented example, what is not used, and files that are none of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import write_lines
from support.plugin import plugin as plugin

from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.layouts.answers import Column, layouts, read_given
from ragassay.layouts.cells import text

AGENT_EVALUATION = {
    "request_id": "r1",
    "request": {"messages": [{"role": "user", "content": "What is Spark?"}]},
    "response": {"choices": [{"message": {"role": "assistant", "content": "An engine."}}]},
    "retrieved_context": [{"doc_uri": "doc1.txt", "content": "Spark is an engine."}],
    "expected_facts": ["It is an engine.", "It is by Apache."],
    "guidelines": ["in English"],
}
MLFLOW = {
    "info": {"trace_id": "tr-1", "state": "OK"},
    "data": {
        "spans": [
            {
                "span_id": "a",
                "parent_span_id": None,
                "start_time_unix_nano": 1_000_000_000,
                "end_time_unix_nano": 1_500_000_000,
                "status": {"code": "STATUS_CODE_OK", "message": ""},
                "attributes": {
                    "mlflow.spanType": '"UNKNOWN"',
                    "mlflow.spanInputs": '{"question": "How?"}',
                    "mlflow.spanOutputs": '"By sei()."',
                },
            },
            {
                "span_id": "b",
                "parent_span_id": "a",
                "attributes": {
                    "mlflow.spanType": '"RETRIEVER"',
                    "mlflow.spanOutputs": json.dumps(
                        [{"page_content": "Call sei().", "metadata": {"doc_uri": "a.pdf"}, "id": "p1"}]
                    ),
                },
            },
            {
                "span_id": "c",
                "parent_span_id": "a",
                "attributes": {
                    "mlflow.spanType": '"CHAT_MODEL"',
                    "mlflow.chat.tokenUsage": '{"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}',
                },
            },
        ]
    },
}
"""As `Trace.to_json` of mlflow 3.17 writes it, shortened."""


def phoenix(kind: str, id: str, parent: str | None, **attributes: Any) -> dict[str, Any]:
    return {
        "name": kind.lower(),
        "span_kind": kind,
        "parent_id": parent,
        "context": {"trace_id": "t1", "span_id": id},
        "start_time": "2026-01-01T00:00:00+00:00",
        "end_time": "2026-01-01T00:00:02+00:00",
        "status_code": "OK",
        "attributes": attributes,
    }


SPANS = [
    phoenix("CHAIN", "1", None, **{"input.value": '{"query": "How?"}', "output.value": "By sei()."}),
    phoenix(
        "RETRIEVER",
        "2",
        "1",
        **{
            "retrieval.documents.0.document.content": "Call sei().",
            "retrieval.documents.0.document.id": "p1",
            "retrieval.documents.1.document.content": "Call cli().",
        },
    ),
    phoenix("LLM", "3", "1", llm={"token_count": {"prompt": 7, "completion": 3}}),
]
RUNS = [
    {
        "id": "1",
        "trace_id": "1",
        "run_type": "chain",
        "inputs": {"question": "How?"},
        "outputs": {"output": "By sei()."},
    },
    {
        "id": "2",
        "trace_id": "1",
        "parent_run_id": "1",
        "run_type": "retriever",
        "inputs": {"query": "How?"},
        "outputs": {"documents": [{"page_content": "Call sei().", "metadata": {"source": "a.pdf"}}]},
    },
]
RAG24 = {
    "run_id": "ours",
    "topic_id": "2024-1",
    "topic": "How?",
    "references": ["d1", "d2"],
    "response_length": 4,
    "answer": [{"text": "By sei().", "citations": [1, 0]}, {"text": "Or not", "citations": []}],
}
RAGAS = {"user_input": "How?", "response": "By sei().", "retrieved_contexts": ["Call sei()."], "reference": "sei()"}
DEEPEVAL = {
    "input": "How?",
    "actual_output": "So.",
    "retrieval_context": ["x"],
    "expected_output": "y",
    "context": ["z"],
}


@pytest.mark.parametrize(
    ("rows", "layout", "fields"),
    [
        (
            [AGENT_EVALUATION],
            "agent-evaluation",
            {
                "query_id": "r1",
                "query": "What is Spark?",
                "answer": "An engine.",
                "contexts": [{"text": "Spark is an engine.", "doc": "doc1.txt"}],
                "expected_facts": ["It is an engine.", "It is by Apache."],
            },
        ),
        (
            [RAGAS],
            "ragas",
            {
                "query": "How?",
                "answer": "By sei().",
                "contexts": [{"text": "Call sei()."}],
                "expected_response": "sei()",
            },
        ),
        (
            [DEEPEVAL],
            "deepeval",
            {
                "query": "How?",
                "answer": "So.",
                "contexts": [{"text": "x"}],
                "expected_response": "y",
                "reference_contexts": [{"text": "z"}],
            },
        ),
        (
            [RAG24],
            "trec-rag",
            {
                "query_id": "2024-1",
                "query": "How?",
                "agent": "ours",
                "passages": ["d1", "d2"],
                "answer": "By sei() [2][1]. Or not",
            },
        ),
        (
            [MLFLOW],
            "mlflow",
            {
                "query": "How?",
                "answer": "By sei().",
                "contexts": [{"text": "Call sei().", "id": "p1", "doc": "a.pdf"}],
                "latency_s": 0.5,
                "usage": {"input_tokens": 7, "output_tokens": 3},
            },
        ),
        (
            SPANS,
            "openinference",
            {
                "query": "How?",
                "answer": "By sei().",
                "contexts": [{"text": "Call sei().", "id": "p1"}, {"text": "Call cli()."}],
                "latency_s": 2.0,
                "usage": {"input_tokens": 7, "output_tokens": 3},
            },
        ),
        (
            RUNS,
            "langsmith",
            {"query": "How?", "answer": "By sei().", "contexts": [{"text": "Call sei().", "doc": "a.pdf"}]},
        ),
        ([{"qid": "1", "agent": "a", "answer": "So."}], "ragelo", {"query_id": "1", "agent": "a", "answer": "So."}),
        (
            [{"query": "How?", "answer": "So.", "contexts": ["x", {"id": "p", "text": "y"}]}],
            "ragassay",
            {"query": "How?", "answer": "So.", "contexts": [{"text": "x"}, {"id": "p", "text": "y"}]},
        ),
    ],
)
@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_each_layout_is_told_by_its_columns(tmp_path: Path, rows, layout, fields, name):
    path = write_lines(tmp_path / name, rows) if name == "a.jsonl" else tmp_path / name
    if name == "a.json":
        path.write_text(json.dumps(rows))
    found = read_given(path)
    assert (found.layout, [dict(one.fields) for one in found.answers]) == (layout, [fields])
    assert layout in layouts() and read_given(path, layout).answers == found.answers


def test_a_row_with_a_trace_needs_no_response_and_its_own_columns_go_before(tmp_path: Path):
    """Agent Evaluation's input schema: `trace`, from which response and retrieved context are taken."""
    asked = {"request": "How, then?", "expected_response": "By sei()."}
    rows = [asked | {"trace": json.dumps(MLFLOW)}, asked | {"trace": MLFLOW, "response": "By cli()."}]
    found = read_given(write_lines(tmp_path / "a.jsonl", rows))
    one, other = (dict(given.fields) for given in found.answers)
    assert found.layout == "agent-evaluation" and found.unused() == []
    assert (one["query"], one["answer"], one["contexts"][0]["text"]) == ("How, then?", "By sei().", "Call sei().")
    assert (one["latency_s"], one["usage"]["output_tokens"], one["expected_response"]) == (0.5, 3, "By sei().")
    assert other == one | {"answer": "By cli()."}
    down = json.loads(json.dumps(MLFLOW).replace("STATUS_CODE_OK", "STATUS_CODE_ERROR"))
    (failed,) = read_given(write_lines(tmp_path / "a.jsonl", [{"request": "How?", "trace": down}])).answers
    assert failed.fields["error"] == "the trace failed" and "answer" not in failed.fields
    with pytest.raises(InputError, match=r":1: 'trace' is no MLflow trace; give it as `Trace.to_json` writes it"):
        read_given(write_lines(tmp_path / "a.jsonl", [{"request": "How?", "trace": "tr-1"}]))


OPEN_RAG_EVAL = """query_id,query,query_run,passage_id,passage,generated_answer
q1,What is it?,1,[1],Big.,"Dense [1] and big [2][3]. So [1, 2]."
q1,What is it?,1,[2],Dense.,
q1,What is it?,1,[3],Round.,
q3,How many?,1,[2],Seven have.,"Seven [2], and one [3, 1]."
q3,How many?,1,[3],One has.,
q4,And why?,1,[1],Because.,NO_ANSWER
q6,How many?,1,[1],Seven have.,Seven [1]
q6,How many?,2,[1],Seven have.,There are seven [1]
"""
"""As tests/test_data/csv_results.csv of vectara/open-rag-eval, shortened."""


def test_open_rag_eval_s_answers_are_put_together_from_a_row_a_passage(tmp_path: Path):
    path = tmp_path / "answers.csv"
    path.write_text(OPEN_RAG_EVAL)
    found = read_given(path)
    assert (found.layout, found.unused(), found.answered) == ("open-rag-eval", [], True)
    rows = [dict(one.fields) for one in found.answers]
    assert [row["query_id"] for row in rows] == ["q1", "q3", "q4", "q6", "q6"]
    assert rows[0]["answer"] == "Dense [1] and big [2][3]. So [1, 2]."
    assert rows[0]["contexts"] == [{"text": "Big."}, {"text": "Dense."}, {"text": "Round."}]
    assert rows[1]["answer"] == "Seven [1], and one [2][3].", "ids [2] and [3] are the places 1 and 2; there is no [1]"
    assert "answer" not in rows[2] and rows[2]["error"] == "no answer is given (NO_ANSWER)"
    assert [row.get("agent") for row in rows[3:]] == [None, "run-2"]
    path.write_text("query_id,query,generated_answer\nq1,,So.\n")
    with pytest.raises(InputError, match=r"answers\.csv:2: has no query"):
        read_given(path)


def test_open_rag_eval_s_queries_bring_their_golden_answers(tmp_path: Path, capsys):
    """By import, which makes the queries.jsonl that answers.csv is judged against."""
    (tmp_path / "queries.csv").write_text("query_id,query,expected_answer\nq1,What is it?,A star.\nq2,Why?,\n")
    out = tmp_path / "made"
    assert main(["import", "--from", "csv", str(tmp_path / "queries.csv"), "--out", str(out)]) == 0
    rows = [json.loads(line) for line in (out / "queries.jsonl").read_text().split("\n") if line]
    assert [(row["_id"], row["text"], row["metadata"].get("expected_response")) for row in rows] == [
        ("q1", "What is it?", "A star."),
        ("q2", "Why?", None),
    ]


def test_what_is_not_used_is_named(tmp_path: Path):
    path = write_lines(tmp_path / "a.jsonl", [AGENT_EVALUATION, {"request": "x", "response": "y", "\x1b[2J": 1}])
    assert read_given(path).unused() == [f"{path}: read as agent-evaluation; not used: guidelines and \\x1b[2J"]
    assert read_given(write_lines(path, [RAGAS])).unused() == []


def test_lists_in_a_cell_are_read_as_json_or_as_python_writes_them(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text('user_input,response,retrieved_contexts\nq,a,"[""x"", ""y""]"\nr,b,"[\'x\', \'y\']"\n')
    assert [one.fields["contexts"] for one in read_given(path).answers] == [[{"text": "x"}, {"text": "y"}]] * 2


def test_a_trace_that_failed_and_a_row_without_an_answer_are_failures(tmp_path: Path):
    failed = phoenix("CHAIN", "1", None, **{"input.value": "How?"}) | {"status_code": "ERROR", "status_message": "down"}
    assert read_given(write_lines(tmp_path / "a.jsonl", [failed])).answers[0].fields["error"] == "down"
    row = {"user_input": "How?", "response": None}
    assert read_given(write_lines(tmp_path / "a.jsonl", [row])).answers[0].fields["error"] == "no answer is given"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"a": 1}], r"a\.jsonl:1: has the columns a; it needs answer and qid \(or query\), or .*user_input, response"),
        ([RAGAS, RAGAS | {"response": 3.5}], r"a\.jsonl:2: 'response' is not a text"),
        ([RAGAS | {"retrieved_contexts": [1]}], r":1: 'retrieved_contexts' is not a list of passages"),
        ([RAG24 | {"answer": [{"text": "x", "citations": [-1]}]}], r":1: 'answer' has citations that are no places"),
        ([AGENT_EVALUATION | {"request": {"a": 1, "b": 2}}], r":1: 'request' holds no text, no messages"),
        (
            [SPANS[0], SPANS[0] | {"context": {"trace_id": "t1", "span_id": "9"}}],
            r":1: the trace has 2 spans without a",
        ),
        ([MLFLOW | {"data": {}}], r":1: the trace has no spans"),
        ([{"run_type": "chain", "inputs": {}}], r":1: the run has no id"),
        ([], r"a\.jsonl: holds no answer"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_line_and_column(tmp_path: Path, rows, said):
    with pytest.raises(InputError, match=said):
        read_given(write_lines(tmp_path / "a.jsonl", rows))


def test_a_layout_that_is_named_must_be_there_and_fit(tmp_path: Path):
    path = write_lines(tmp_path / "a.jsonl", [RAGAS])
    with pytest.raises(InputError, match="'raggas' is no layout; did you mean 'ragas'"):
        read_given(path, "raggas")
    with pytest.raises(InputError, match=r"as deepeval it needs DeepEval's"):
        read_given(path, "deepeval")


def test_another_packages_layout_is_read_by_its_columns_and_by_its_name(plugin, tmp_path: Path):
    path = write_lines(tmp_path / "a.jsonl", [{"ticket": "t1", "asked": "How?", "replied": "So."}])
    plugin.install()
    for found in (read_given(path), read_given(path, "helpdesk")):
        assert found.layout == "helpdesk" and found.unused() == []
        assert found.answers[0].fields == {"query_id": "t1", "query": "How?", "answer": "So."}


def test_a_column_becomes_a_field_that_there_is():
    with pytest.raises(ValueError, match="a column cannot become 'anser'; did you mean 'answer'"):
        Column("anser", text)


def test_a_layout_that_nobody_brings_is_said_with_those_that_are_there(plugin, tmp_path: Path):
    path = write_lines(tmp_path / "a.jsonl", [{"asked": "How?", "replied": "So."}])
    plugin.install()
    with pytest.raises(InputError, match="did you mean 'helpdesk'"):
        read_given(path, "helpdeks")
    plugin.install("another", layouts={"helpdesk": "ragassay_example:Helpdesk"})
    with pytest.raises(
        InputError, match=r"another 1\.0 and ragassay-example 1\.0 each bring a layout named 'helpdesk'"
    ):
        read_given(path, "helpdesk")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_deepeval_s_passages_are_divided_as_it_joins_them(tmp_path: Path, suffix: str):
    """The files are those that EvaluationDataset.save_as of deepeval 4.3.1 writes."""
    row = {"input": "How?", "actual_output": "So.", "retrieval_context": "first, one|second\nlines|third"}
    path = tmp_path / f"cases{suffix}"
    if suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, row)
            writer.writeheader()
            writer.writerow(row)
    else:
        path.write_text(json.dumps(row) + "\n")
    found = read_given(path)
    (given,) = found.answers
    assert [one["text"] for one in given.fields["contexts"]] == ["first, one", "second\nlines", "third"]
    assert "1 cells were divided by" in found.unused()[0]


@pytest.mark.parametrize("cell", ["| a | b |", "either this | or that", "a||b"])
def test_a_mark_in_a_passage_of_deepeval_s_is_refused_with_the_line(tmp_path: Path, cell: str):
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps({"input": "How?", "actual_output": "So.", "retrieval_context": cell}) + "\n")
    with pytest.raises(InputError, match=r"cases.jsonl:1: 'retrieval_context' has a passage with “\|” in it"):
        read_given(path)
