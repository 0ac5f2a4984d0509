"""Spans as OpenTelemetry's exporters, Phoenix' and MLflow's data frames and LangSmith write them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from support.otlp import request, span

from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.layouts.answers import read_given


def of(path: Path):
    found = read_given(path)
    return found.layout, [dict(one.fields) for one in found.answers], found.unused()


def lines(path: Path, *rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def gen_ai(trace: str, asked: str, answer: str, *searches, start: int = 1):
    """As GenAI's conventions have it: below a web server's span an agent, its searches and a model."""
    said = [{"role": "user", "parts": [{"type": "text", "content": asked}]}, {"role": "tool", "parts": []}]
    told = [{"role": "assistant", "parts": [{"type": "text", "content": answer}], "finish_reason": "stop"}]
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": json.dumps(said)}
    found = [
        span(
            trace, f"r{n}", "a", start + n, **{"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": one}
        )
        for n, one in enumerate(searches)
    ]
    usage = {"gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 3}
    return [
        *reversed(found),
        span(trace, "m", "a", start + 9, **{"gen_ai.operation.name": "chat", **usage}),
        span(trace, "a", "http", start, **agent, **{"gen_ai.output.messages": json.dumps(told)}),
        span(trace, "http", "", start, **{"http.route": "/chat"}),
    ]


def test_genai_spans_are_read_from_otlp_and_each_search_is_a_step(tmp_path: Path):
    first = gen_ai(
        "t1",
        "How?",
        "By sei().",
        [{"id": "p1", "content": "Not this."}],
        json.dumps([{"id": "p2", "content": "Call sei()."}]),
    )
    ids_alone = gen_ai("t2", "And why?", "Because.", [{"id": "p1", "score": "1"}, {"id": "p9"}], start=20)
    path = lines(tmp_path / "a.jsonl", request("shop", *first[:2]), request("shop", *first[2:], *ids_alone, *first[:1]))
    layout, answers, told = of(path)
    last = {"contexts": [{"id": "p2", "text": "Call sei()."}]}
    first_step = {"passages": [], "contexts": [{"id": "p1", "text": "Not this."}]}
    took = {"latency_s": 1.0}
    bare = {"passages": ["p1", "p9"], "contexts": []}
    shared = {"agent": "shop", "latency_s": 1.0, "usage": {"input_tokens": 7, "output_tokens": 3}}
    assert layout == "otlp" and answers == [
        shared
        | {
            "query": "How?",
            "answer": "By sei().",
            **last,
            "hops": [took | first_step, took | {"passages": [], **last}],
        },
        shared | {"query": "And why?", "answer": "Because.", **bare, "hops": [took | bare]},
    ]
    assert told == []
    (tmp_path / "a.json").write_text(json.dumps(request("shop", *first, *ids_alone), indent=1))
    assert of(tmp_path / "a.json")[:2] == (layout, answers)


def test_what_langfuse_s_sdk_sends_is_read_from_otlp(tmp_path: Path):
    """As langfuse 5.0.4 gives its exporter; the generation and the retriever end before the chain."""
    marks = {
        "retriever": {"input": "How?", "output": '[{"page_content": "Call sei(), or\\n[1]."}, {"page_content": "{}"}]'},
        "generation": {"output": "So.", "usage_details": '{"input": 7, "output": 2}', "cost_details": '{"total": 0.5}'},
        "chain": {"input": '{"question": "How?"}', "output": "So."},
    }
    spans = [
        span(
            "t",
            kind,
            "" if kind == "chain" else "chain",
            start,
            **{f"langfuse.observation.{name}": value for name, value in {"type": kind, **told}.items()},
        )
        for start, (kind, told) in enumerate(marks.items(), 1)
    ]
    (tmp_path / "a.jsonl").write_text(json.dumps(request("shop", *spans)) + "\n")
    usage = {"input_tokens": 7, "output_tokens": 2, "cost_usd": 0.5}
    answer = {"query": "How?", "answer": "So.", "agent": "shop", "latency_s": 1.0, "usage": usage}
    answer["contexts"] = [{"text": "Call sei(), or\n[1]."}, {"text": "{}"}]
    assert of(tmp_path / "a.jsonl") == ("otlp", [answer], [])


def test_what_asks_nothing_and_what_was_cut_off_is_left_out_and_counted(tmp_path: Path):
    """LlamaIndex' traces of indexing, and a trace whose root had not ended."""
    split = span(
        "t1", "s", "", 1, **{"openinference.span.kind": "CHAIN", "input.value": '{"nodes": ["<Document(id_=d1)>"]}'}
    )
    embed = span("t2", "e", "", 2, **{"openinference.span.kind": "EMBEDDING", "input.value": "Call sei()."})
    cut = [span("t3", name, "root", 3, **{"openinference.span.kind": "TOOL"}) for name in "xy"]
    asked = span("t4", "q", "", 4, **{"openinference.span.kind": "CHAIN", "input.value": "How?", "output.value": "So."})
    _, answers, told = of(lines(tmp_path / "a.jsonl", request("unknown_service:python", split, embed, *cut, asked)))
    assert answers == [{"query": "How?", "answer": "So.", "latency_s": 1.0}]
    assert (
        "no question can be read, such as of indexing (2) and traces of which the root is not in the file (1)"
        in told[0]
    )
    with pytest.raises(InputError, match=r"a\.jsonl: holds no question; left out: .*indexing \(2\)"):
        read_given(lines(tmp_path / "a.jsonl", request("x", split, embed)))
    with pytest.raises(InputError, match=r"a\.jsonl:2: has a span without traceId"):
        read_given(lines(tmp_path / "a.jsonl", request("x", asked), request("x", {"name": "n"})))


def test_a_question_that_comes_again_is_a_further_run_s(tmp_path: Path):
    spans = [one for n in range(3) for one in gen_ai(f"t{n}", "How?", f"So {n}.", start=10 * n + 1)]
    path = lines(tmp_path / "a.jsonl", request("shop", *spans))
    assert [(row["agent"], row["answer"]) for row in of(path)[1]] == [
        ("shop", "So 0."),
        ("shop-run-2", "So 1."),
        ("shop-run-3", "So 2."),
    ]
    assert main(["import", "--from", "otlp", str(path), "--out", str(tmp_path / "made")]) == 0
    assert len(list((tmp_path / "made/answers").iterdir())) == 3


DOCUMENTS = [
    {"document.content": 'Call "sei()".', "document.id": "p1", "document.score": 1.0},
    {"document.content": "It's so, [x]."},
]


def frame_row(kind: str, id: str, parent: str | None, at: int, **more):
    row = {"name": kind, "span_kind": kind, "parent_id": parent, "start_time": at, "end_time": at + 500}
    row |= {"status_code": "OK", "status_message": "", "events": [], "context.span_id": id, "context.trace_id": "t1"}
    names = (
        "attributes.input.value",
        "attributes.output.value",
        "attributes.retrieval.documents",
        "attributes.llm.token_count.prompt",
    )
    return row | {name: more.get(name.split(".")[1]) for name in names}


FRAME = [
    frame_row("RETRIEVER", "2", "1", 1795726459193, retrieval=DOCUMENTS),
    frame_row("RETRIEVER", "3", "2", 1795726459194, retrieval=[{"document.content": "Inner."}]),
    frame_row("RETRIEVER", "0", "1", 1795726458600, retrieval=[{"document.content": "Earlier."}]),
    frame_row("LLM", "4", "1", 1795726459300, llm=7.0),
    frame_row("CHAIN", "1", None, 1795726459090, input="How?", output="By sei()."),
]
"""As `Client.spans.get_spans_dataframe` of Phoenix 20.26 gives it, shortened: the newest first."""


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_phoenix_data_frame_is_read_as_pandas_writes_it(tmp_path: Path, name: str):
    """As JSON Lines, times in milliseconds, and as CSV, lists as Python writes them and the index twice."""
    path = tmp_path / name
    if name == "a.jsonl":
        lines(path, *FRAME)
    else:
        rows = [
            {
                "": row["context.span_id"],
                **row,
                "start_time": "2026-11-26 20:54:19.2+00:00",
                "end_time": "2026-11-26 20:54:19.7+00:00",
            }
            for row in FRAME
        ]
        with path.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["context.span_id", *FRAME[0]])
            writer.writerows(
                ["" if cell is None else cell for cell in row.values()] for row in (rows if name == "a.csv" else ())
            )
    _, (answer,), told = of(path)
    found = [{"text": 'Call "sei()".', "id": "p1"}, {"text": "It's so, [x]."}]
    assert len(answer.pop("hops", [])) == (2 if name == "a.jsonl" else 0)
    if name == "a.csv":  # there all begin at once, and are one step
        found.append({"text": "Earlier."})
    assert answer == {
        "query": "How?",
        "answer": "By sei().",
        "contexts": found,
        "latency_s": 0.5,
        "usage": {"input_tokens": 7},
    }
    assert told == []


def test_mlflow_s_data_frame_is_read_by_its_column_trace(tmp_path: Path):
    """`mlflow.search_traces()` of MLflow 3.17."""
    spans = [
        {"span_id": "a", "attributes": {"mlflow.spanInputs": '{"question": "How?"}', "mlflow.spanOutputs": '"So."'}}
    ]
    row = {"trace_id": "tr-1", "trace": json.dumps({"info": {}, "data": {"spans": spans}}), "state": "OK"}
    row |= {"request": {"question": "How?"}, "response": "So.", "spans": spans}
    layout, answers, told = of(lines(tmp_path / "a.jsonl", row))
    assert (layout, answers, told) == ("mlflow", [{"query": "How?", "answer": "So."}], [])


@pytest.mark.parametrize(
    "more",
    [
        {"outputs": {"usage_metadata": {"input_tokens": 7, "output_tokens": 3, "total_cost": 0.5}}},
        {"extra": {"metadata": {"usage_metadata": {"input_tokens": 7, "output_tokens": 3, "total_cost": 0.5}}}},
        {"prompt_tokens": 7, "completion_tokens": 3, "total_cost": 0.5},
        {
            "outputs": {
                "generations": [[{"message": {"kwargs": {"usage_metadata": {"input_tokens": 7, "output_tokens": 3}}}}]]
            },
            "total_cost": 0.5,
        },
    ],
)
def test_langsmith_s_usage_is_kept_wherever_it_stands(tmp_path: Path, more):
    root = {"id": "1", "run_type": "chain", "inputs": {"question": "How?"}, "outputs": {"answer": "So."}}
    model = {"id": "2", "trace_id": "1", "parent_run_id": "1", "run_type": "llm", "inputs": {}, **more}
    _, (answer,), _ = of(lines(tmp_path / "a.jsonl", root, model))
    assert answer["usage"] == {"input_tokens": 7, "output_tokens": 3, "cost_usd": 0.5}


def test_traces_of_a_session_are_turns_of_a_conversation(tmp_path: Path):
    """Two traces by session.id (OpenInference), the later first in the file; a third brings its own messages."""
    own = [
        *({"role": "user", "parts": [{"type": "text", "content": text}]} for text in ("Tax in Peru?", "And rent?")),
    ]
    first, second = (
        [span(trace, "c", "", start, **{"session.id": "s1", "input.value": asked, "output.value": said})]
        for trace, start, asked, said in (
            ("t1", 1, "US child tax credit?", "Up to $2,000."),
            ("t2", 9, "And in Canada?", "About $7,000."),
        )
    )
    third = span("t3", "c", "", 3, **{"gen_ai.conversation.id": "s2", "gen_ai.input.messages": json.dumps(own)})
    path = lines(tmp_path / "a.jsonl", request("shop", *second, *first, third))
    _, answers, _ = of(path)
    (brought,) = (one for one in answers if str(one["query"]) == "And rent?")
    earlier, later = sorted((one for one in answers if one is not brought), key=lambda one: one["metadata"]["turn"])
    assert earlier["query"] == "US child tax credit?" and later["query"].whole.split("\n") == [
        *("US child tax credit?", "Up to $2,000.", "And in Canada?"),
    ]
    assert (earlier["metadata"], later["metadata"]) == tuple({"conversation": "s1", "turn": n} for n in (1, 2))
    assert [turn.text for turn in brought["query"].history] == ["Tax in Peru?"]
    assert main(["import", str(path), "--from", "otlp", "--out", str(tmp_path / "made")]) == 0
    rows = [json.loads(line) for line in (tmp_path / "made" / "queries.jsonl").read_text().splitlines()]
    assert [turn["text"] for row in rows for turn in row.get("history", ())].count("Up to $2,000.") == 1


def test_a_search_that_failed_is_a_step_without_passages(tmp_path: Path):
    failed = {"openinference.span.kind": "RETRIEVER", "input.value": "tax"}
    found = {**failed, "input.value": "tax credit", "retrieval.documents.0.document.content": "Up to $2,000."}
    spans = [
        span("t", "c", "", 1, **{"input.value": "How much?", "output.value": "So."}),
        {**span("t", "r1", "c", 2, **failed), "status": {"code": 2, "message": "timed out"}},
        span("t", "r2", "c", 4, **found),
    ]
    _, (answer,), _ = of(lines(tmp_path / "a.jsonl", request("shop", *spans)))
    assert answer["hops"] == [
        {"query": "tax", "error": "timed out", "latency_s": 1.0, "passages": [], "contexts": []},
        {"query": "tax credit", "latency_s": 1.0, "passages": [], "contexts": [{"text": "Up to $2,000."}]},
    ]
    assert answer["contexts"] == [{"text": "Up to $2,000."}]
