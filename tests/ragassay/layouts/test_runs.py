"""Runs and data sets of promptfoo, Inspect, TruLens, Langfuse and DeepEval, as these wrote them (shortened)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.layouts.answers import read_given


def of(path: Path, value: object) -> tuple[str, list[dict[str, object]], list[str]]:
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
    found = read_given(path)
    return found.layout, [dict(one.fields) for one in found.answers], found.unused()


def result(question: str, prompt: int = 0, **more: object) -> dict[str, object]:
    told = {"output": f"So: {question}", "tokenUsage": {"prompt": 7, "completion": 3, "total": 10}, "cost": 0.5}
    return {
        **{"vars": {"question": question, "context": "one"}, "provider": {"id": "my-rag", "label": ""}},
        **{"promptIdx": prompt, "latencyMs": 38, "response": told, "success": False, "failureReason": 1},
        **{"error": "Expected output to contain sei", "testCase": {"metadata": {}}, **more},
    }


def test_promptfoo_s_results_are_answers_though_their_assertions_failed(tmp_path: Path):
    """promptfoo 0.121.20: `results.json`, two prompts, one call that failed."""
    failed = result("Why?", response={"error": "down"}, failureReason=2)
    rows = [result("How?"), result("How?", 1, metadata={"contexts": ["x", "y"]}), result("How?"), failed]
    layout, answers, _ = of(tmp_path / "results.json", {"evalId": "e", "results": {"version": 3, "results": rows}})
    usage = {"input_tokens": 7, "output_tokens": 3, "cost_usd": 0.5}
    shared = {"query": "How?", "answer": "So: How?", "usage": usage, "latency_s": 0.038}
    assert layout == "promptfoo" and answers == [
        shared | {"agent": "my-rag", "contexts": [{"text": "one"}]},
        shared | {"agent": "my-rag-prompt-2", "contexts": [{"text": "x"}, {"text": "y"}]},
        shared | {"agent": "my-rag-run-2", "contexts": [{"text": "one"}]},
        {"query": "Why?", "agent": "my-rag", "contexts": [{"text": "one"}], "error": "down", "latency_s": 0.038},
    ]
    with pytest.raises(InputError, match=r"item 1: has the variables a, b, none of which is called question"):
        of(tmp_path / "results.json", {"results": {"results": [result("x", vars={"a": "1", "b": "2"})]}})


def test_promptfoo_s_csv_has_its_columns_once_for_each_prompt(tmp_path: Path):
    more = "Status,Score,Named Scores,Grader Reason,Comment"
    text = f"question,context,[my-rag] A {{{{question}}}},{more},[my-rag] {{{{question}}}},{more}\n"
    text += '"How, then?",one,"By ""sei()"",\nso",PASS,1.00,,All passed,,Other,FAIL,0.00,,Expected,\n'
    layout, answers, _ = of(tmp_path / "out.csv", text + "Boom?,,,ERROR,0.00,,,,No,PASS,1.00,,,\n")
    asked = {"query": "How, then?", "contexts": [{"text": "one"}]}
    assert layout == "promptfoo-csv" and answers == [
        asked | {"agent": "my-rag", "answer": 'By "sei()",\nso'},
        asked | {"agent": "my-rag-prompt-2", "answer": "Other"},
        {"query": "Boom?", "agent": "my-rag", "error": "no answer is given (ERROR)"},
        {"query": "Boom?", "agent": "my-rag-prompt-2", "answer": "No"},
    ]


def sample(id: object, epoch: int = 1, **more: object) -> dict[str, object]:
    output = {"completion": "By sei().", "usage": {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}}
    told = {"id": id, "epoch": epoch, "input": "How?", "target": "sei()", "output": output, "working_time": 0.5}
    return told | {"metadata": {"topic": "irq", "retrieved_contexts": ["x"]}} | more


def test_inspect_s_log_is_read_sample_by_sample_and_epoch_by_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Inspect 0.3.285, written as JSON; .eval has the same and is read by its own library."""
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "And why?"}]
    rows = [sample(1), sample(1, 2), sample("b", input=asked, target=["x", "y"], error={"message": "down"})]
    log = {"version": 2, "status": "success", "eval": {"task": "demo", "model": "m/1"}, "plan": {}, "samples": rows}
    layout, answers, told = of(tmp_path / "log.json", log)
    shared = {"query_id": "1", "query": "How?", "expected_response": "sei()", "contexts": [{"text": "x"}]}
    shared |= {"metadata": {"topic": "irq"}, "usage": {"input_tokens": 7, "output_tokens": 3}, "latency_s": 0.5}
    assert layout == "inspect" and answers[:2] == [
        shared | {"agent": "demo-m/1", "answer": "By sei()."},
        shared | {"agent": "demo-m/1-run-2", "answer": "By sei()."},
    ]
    assert answers[2] == shared | {
        **{"query_id": "b", "query": "And why?", "expected_response": "x", "agent": "demo-m/1", "error": "down"}
    }
    assert told == [f"{tmp_path}/log.json: left out: targets of a sample besides its first (1)"]
    talk = [{"role": "user", "content": "How?"}, {"role": "assistant", "content": "So."}, *asked[1:]]
    _, (turn,), _ = of(tmp_path / "talk.json", log | {"samples": [sample("c", input=talk)]})
    assert turn["query"].whole == "How?\nSo.\nAnd why?"
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai.log", None)
    with pytest.raises(InputError, match=r'a log of Inspect \(.eval\) needs the extra .*"ragassay\[inspect\]"'):
        read_given(tmp_path / "log.eval")


def test_trulens_table_has_answers_and_says_that_it_has_no_passages(tmp_path: Path):
    """TruLens 2.16, `get_records_and_feedback()[0].to_csv`."""
    head = "app_id,app_name,app_version,record_id,input,output,record_json,latency,total_cost,cost_currency\n"
    _, answers, told = of(
        tmp_path / "a.csv", f'{head}h,rag,v1,r1,How?,"By ""sei()"".",{{}},0.5,0.25,USD\nh,rag,v1,r2,Why?,,,,0,USD\n'
    )
    assert answers == [
        {"query": "How?", "answer": 'By "sei()".', "latency_s": 0.5, "agent": "rag-v1", "usage": {"cost_usd": 0.25}},
        {"query": "Why?", "agent": "rag-v1", "error": "no answer is given"},
    ]
    assert "TruLens's table of records has no passages" in told[0]


OBSERVATIONS = [
    {"type": "GENERATION", "id": "3", "input": "…", "output": "So.", "usage_details": {"input": 7, "output": 3}},
    {"type": "RETRIEVER", "id": "2", "input": "How?", "output": '[{"page_content": "Call sei().", "id": "p1"}]'},
    {"type": "SPAN", "id": "1", "input": '{"question": "How?"}', "output": '{"answer": "So."}', "level": "DEFAULT"},
]


@pytest.mark.parametrize("camel", [False, True])
def test_langfuse_s_observations_are_read_by_themselves_and_in_their_traces(tmp_path: Path, camel: bool):
    """By its field reference; not written by Langfuse itself, which is a server."""

    def named(row: dict[str, object]) -> dict[str, object]:
        return {
            "".join(p.title() if n and camel else p for n, p in enumerate(k.split("_"))) if camel else k: v
            for k, v in row.items()
        }

    times = {"start_time": "2026-05-29 13:46:19.500000", "end_time": "2026-05-29 13:46:20.000000"}
    above = [{"parent_observation_id": "1"}, {"parent_observation_id": "1"}, {"parent_observation_id": ""}]
    rows = [named({"trace_id": "t", **times, **one, **two}) for one, two in zip(OBSERVATIONS, above, strict=True)]
    answer = {"query": "How?", "answer": "So.", "contexts": [{"text": "Call sei().", "id": "p1"}], "latency_s": 0.5}
    answer["usage"] = {"input_tokens": 7, "output_tokens": 3}
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_given(tmp_path / "a.jsonl")
    assert (found.layout, [dict(one.fields) for one in found.answers]) == ("langfuse", [answer])
    trace = {"id": "t", "name": "n", "input": "How?", "output": "So.", "latency": 0.5, "observations": rows}
    assert of(tmp_path / "a.json", trace)[:2] == ("langfuse", [answer])
    with pytest.raises(InputError, match="its observations are not written out"):
        of(tmp_path / "a.json", trace | {"observations": ["1", "2"]})


def test_deepeval_s_test_run_is_read_and_each_turn_of_a_conversation_in_it(tmp_path: Path):
    """DeepEval 4.3.1, `.deepeval`'s and DEEPEVAL_RESULTS_FOLDER's files."""
    case = {"name": "c", "input": "How?", "actualOutput": "So.", "retrievalContext": ["one | two"], "metricsData": []}
    run = {"testCases": [case], "conversationalTestCases": [], "metricsScores": [], "prompts": []}
    layout, answers, _ = of(tmp_path / "run.json", run)
    alone = {"query": "How?", "answer": "So.", "contexts": [{"text": "one | two"}]}
    assert (layout, answers) == ("deepeval", [alone])
    turns = [
        {"role": "user", "content": "US?", "tools_called": None},
        {"role": "assistant", "content": "2000", "retrieval_context": ["a|b"]},
        {"role": "user", "content": "And in Canada?"},
    ]
    both = run | {"conversationalTestCases": [{"turns": turns, "scenario": "s", "metricsData": []}]}
    _, (case_again, first, second), _ = of(tmp_path / "run.json", both)
    assert case_again == alone
    assert first == {
        **{"query": "US?", "answer": "2000", "contexts": [{"text": "a|b"}]},
        "metadata": {"conversation": "run-2", "turn": 1},
    }
    assert second["query"].whole == "US?\n2000\nAnd in Canada?" and "answer" not in second
    with pytest.raises(InputError, match=r"goldens\.csv:2: 'turns' has no turn of a person's"):
        of(tmp_path / "goldens.csv", "scenario,turns\ns,[]x\n".replace("[]x", '"[{""role"": ""assistant""}]"'))


def test_ragas_conversations_keep_every_turn_and_the_calls(tmp_path: Path):
    """MultiTurnSample of ragas 0.4.3, as `EvaluationDataset.to_jsonl` writes it."""
    call = {"name": "book", "args": {"row": 1}}
    messages = [
        {"content": "US?", "type": "human"},
        {"content": "", "type": "ai", "tool_calls": [call]},
        {"content": "done", "type": "tool"},
        {"content": "2000", "type": "ai"},
        {"content": "And in Canada?", "type": "human"},
        {"content": "7000", "type": "ai"},
    ]
    row = {"user_input": messages, "reference": "About 7000.", "reference_tool_calls": [call]}
    path = tmp_path / "a.jsonl"
    _, (first, second), _ = of(path, json.dumps(row))
    made = {"name": "book", "arguments": {"row": 1}}
    assert (first["query"], first["answer"], first["calls"]) == ("US?", "2000", [made])
    assert [turn.text for turn in second["query"].history] == ["US?", "2000"] and second["answer"] == "7000"
    assert second["expected_response"] == "About 7000." and second["metadata"]["expected_calls"] == [made]
    assert second["metadata"]["turn"] == 2


@pytest.mark.parametrize("name", ["goldens.json", "goldens.csv"])
def test_goldens_without_answers_are_a_test_set(tmp_path: Path, name: str):
    row = {"input": "How?", "actual_output": None, "expected_output": "sei()", "source_file": None}
    text = "input,actual_output,expected_output,source_file\nHow?,,sei(),\n"
    (tmp_path / name).write_text(json.dumps([row]) if name.endswith("json") else text)
    assert main(["import", "--from", "deepeval", str(tmp_path / name), "--out", str(tmp_path / "made")]) == 0
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["queries.jsonl"]


def test_what_promptfoo_would_run_is_not_exported_to_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for text in ("{{ env.KEY }}", "file:///etc/passwd", "a {% raw"):
        (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": text}) + "\n")
        assert main(["export", str(tmp_path), "--to", "promptfoo", "--out", str(tmp_path / "made")]) == 2
        assert "question of the query 'q' would be run by promptfoo" in capsys.readouterr().err
        assert not (tmp_path / "made").exists()


def a_task(id: str, said: list[str], **more: object) -> dict[str, object]:
    """As IBM/mt-rag-benchmark has it at scripts/evaluation/responses-10.jsonl."""
    turns = [{"speaker": ("user", "agent")[n % 2], "text": text, "metadata": {}} for n, text in enumerate(said)]
    told = {
        "conversation_id": id,
        "task_id": f"{id}<::>{len(said) // 2 + 1}",
        "turn": len(said) // 2 + 1,
        "input": turns,
    }
    kinds = {"Question Type": ["Factoid"], "answerability": ["ANSWERABLE"], "Multi-Turn": ["Follow-up"]}
    return {**told, "contexts": [], "targets": [{"speaker": "agent", "text": "So."}], **kinds, **more}


def test_mtrag_s_tasks_are_queries_with_their_history(tmp_path: Path):
    def shown(id: str, *said: str) -> dict[str, object]:
        people = {f"p{n}": {"value": one} for n, one in enumerate(said)}
        return {"document_id": id, "text": f"{id}.", "title": "T", "score": 1.5, "feedback": {"relevant": people}}

    contexts = [shown("d1", "yes"), shown("d2"), shown("d3", "yes", "no")]
    rows = [
        a_task("c", ["US?"], **{"Multi-Turn": float("nan"), "answerability": ["UNDERSPECIFIED"]}),
        a_task("c", ["US?", "2000", "And in Canada?"], contexts=contexts),
        a_task("d", ["Why?"], **{"Multi-Turn": ["N/A"], "targets": [{"text": "A."}, {"text": "B."}]}),
    ]
    path = tmp_path / "reference.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_given(path)
    first, second, third = (dict(one.fields) for one in found.answers)
    assert found.layout == "mtrag" and not found.answered
    assert [one.dump() for one in second["query"].history] == [
        {"role": "user", "text": "US?", "by": "person"},
        {"role": "assistant", "text": "2000", "by": "reference"},
    ]
    told = {"answerability": "ANSWERABLE", "question_type": "Factoid"}
    assert second["metadata"] == {"conversation": "c", "turn": 2, "move": "follow-up", **told}
    assert second["reference_contexts"] == [{"text": "d1.", "id": "d1"}] and second["expected_response"] == "So."
    assert first["metadata"]["move"] == "underspecified" and "move" not in third["metadata"]
    assert found.left_out == {
        "contexts that nobody called relevant": 2,
        "references and predictions of a task besides its first": 1,
    }
    rows[1]["predictions"] = [{"text": "7000."}]
    rows[0]["predictions"] = []
    path.write_text("".join(json.dumps(row) + "\n" for row in rows[:2]))
    failed, answered = (one.fields for one in read_given(path).answers)
    assert failed["error"] == "no answer is given" and answered["answer"] == "7000."
    assert [one["id"] for one in answered["contexts"]] == ["d1", "d2", "d3"]
    for said in (["US?", "2000"], ["US?", "2000", " "]):
        path.write_text(json.dumps(a_task("c", said)))
        with pytest.raises(
            InputError, match=r"reference\.jsonl:1: its conversation does not end with a turn of a person's"
        ):
            read_given(path)


def test_mtrag_in_few_words_is_read_with_its_corpus_and_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """The layout of `../shared/data/mtrag_un_govt`."""
    messages = [("user", "US?"), ("assistant", "2000"), ("user", "And in Canada?")]
    task = {"_id": "c", "query_id": "c<::>2", "messages": [{"role": role, "content": text} for role, text in messages]}
    task |= {"reference": ["7000"], "answerability": ["UNANSWERABLE"], "multi_turn": ["Follow-up"], "relevant": ["d1"]}
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "conversations.jsonl").write_text(json.dumps(task))
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "So."}\n{"_id": "d2", "text": "Not so."}\n')
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nc<::>2\td2\t0\n")
    assert main(["import", "--from", "mtrag", str(folder), "--out", str(tmp_path / "made")]) == 0
    assert "1 queries, 2 passages, 2 labels" in capsys.readouterr().out
    (row,) = map(json.loads, (tmp_path / "made" / "queries.jsonl").read_text().splitlines())
    assert row["metadata"]["move"] == "unanswerable" and len(row["history"]) == 2
    assert row["metadata"]["expected_response"] == "7000"
