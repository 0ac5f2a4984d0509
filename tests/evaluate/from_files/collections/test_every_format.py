"""Of every format: what is written and read again is the same but for the parts that it says it cannot hold."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from support.made_collections import collections
from support.often import CI
from support.pages import PAGES
from support.reduced import reduced

from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.evaluate.from_files.answers import read_cases
from ragassay.evaluate.from_files.collections.collection import Collection
from ragassay.evaluate.from_files.collections.format import formats, not_held
from ragassay.files import json_line, write_text
from ragassay.records import Answer, Game, Passage, Query, Usage


def written(name: str, made: Collection, folder: Path) -> dict[str, bytes]:
    """Every file of it, by its place."""
    formats()[name].write(made, folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def read(name: str, folder: Path) -> Collection:
    return replace(formats()[formats()[name].source or name].read([folder]), notes=())


@pytest.mark.parametrize("name", sorted(formats()))
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=100 if CI else 10)
@given(made=collections())
def test_what_is_read_again_is_the_same_but_for_what_is_named(name: str, made: Collection):
    assume(made.counts()["answers"] or name not in ("phoenix", "mlflow-traces"))
    with TemporaryDirectory() as place:
        first, second = Path(place) / "first", Path(place) / "second"
        files = written(name, made, first)
        again = read(name, first)
        if name == "trec":
            again, made = (replace(one, answers={}) for one in (again, made))
        assert reduced(again, {}) == reduced(made, formats()[name].loses)
        if name != "trec":
            assert written(name, again, second) == files


def test_the_page_says_of_every_part_which_formats_keep_it():
    page = PAGES["docs/import-export.md"].split("| part | kept by |")[1]
    rows = re.findall(r"^\| ([a-z ]+) \| (all but )?(`.*`) \|$", page, re.M)
    assert len(rows) == 11 and "`hf` keeps everything" in PAGES["docs/import-export.md"] and not formats()["hf"].loses
    within = {"tokens and costs": "answers", "latencies": "answers", "grades of labels": "labels"}
    for part, all_but, named in rows:
        lost = {name for name, one in formats().items() if {part, within.get(part)} & one.loses.keys()}
        assert lost == set(re.findall(r"`(.*?)`", named)) ^ (set() if all_but else formats().keys()), part


def test_what_is_lost_is_counted_and_what_is_not_there_is_not():
    assert not_held("X", formats()["trec"].loses, Collection()) == []
    made = Collection({"q": Query(id="q", text="How?", metadata={"expected_response": "So.", "kind": "x"})})
    assert not_held("X", formats()["trec"].loses, made) == [
        "not held by X: expected answers (1) and metadata of queries (1)"
    ]


def test_a_label_below_one_and_one_above_are_lost_where_a_format_says_relevant_or_nothing():
    passages = {id: Passage(id=id, text=id) for id in ("below", "one", "above")}
    labels = {"q": {"below": 0, "one": 1, "above": 2}}
    made = Collection({"q": Query(id="q", text="How?")}, passages, labels)
    losses = {"grades of labels": formats()["ragas"].loses["grades of labels"]}
    assert not_held("X", losses, made) == ["not held by X: grades of labels (2)"]


def test_two_queries_of_one_text_are_refused_where_there_are_no_ids(tmp_path: Path):
    made = Collection({id: Query(id=id, text="How?") for id in "ab"})
    for name in ("ragas", "ragas-csv", "deepeval"):
        with pytest.raises(InputError, match="the queries 'a' and 'b' have one text"):
            formats()[name].write(made, tmp_path / name)


ANSWERED = Collection(
    {"q": Query(id="q", text="How?", metadata={"expected_response": "So."})},
    {"p": Passage(id="p", text="So it is.", metadata={"doc": "a.pdf"})},
    answers={
        "a": {
            "q": Answer(
                **{"query_id": "q", "agent": "a", "answer": "So.", "passages": ("p",), "latency_s": 1.5},
                usage=Usage(input_tokens=7, output_tokens=2),
            )
        }
    },
)


@pytest.mark.slow
def test_mlflow_reads_the_traces(tmp_path: Path):
    from mlflow.entities import SpanType, Trace

    formats()["mlflow-traces"].write(ANSWERED, tmp_path)
    trace = Trace.from_json((tmp_path / "a.jsonl").read_text().strip())
    root, retriever, model = trace.data.spans
    assert (root.inputs, root.outputs, root.parent_id) == ({"query": "How?"}, {"answer": "So."}, None)
    assert root.end_time_ns is not None and root.end_time_ns - root.start_time_ns == 1_500_000_000
    assert retriever.span_type == SpanType.RETRIEVER and retriever.parent_id == root.span_id
    assert retriever.outputs[0]["page_content"] == "So it is."
    assert model.attributes["mlflow.chat.tokenUsage"] == {"input_tokens": 7, "output_tokens": 2}


def test_langsmith_reads_the_data_set_and_its_runs_name_it(tmp_path: Path):
    from langsmith.schemas import Example, Run

    formats()["langsmith"].write(ANSWERED, tmp_path)
    example = Example(**json.loads((tmp_path / "examples.jsonl").read_text()))
    rows = [json.loads(line) for line in (tmp_path / "runs" / "a.jsonl").read_text().splitlines()]
    root, retriever, model = (Run(**row) for row in rows)
    assert (example.inputs, example.outputs) == ({"question": "How?"}, {"answer": "So."})
    assert root.reference_example_id == example.id and retriever.parent_run_id == root.id
    assert (model.prompt_tokens, model.completion_tokens) == (7, 2)


BAD = {
    "is compressed with gzip": ("ragas", "a.jsonl", gzip.compress(b"{}")),
    "is UTF-16, not UTF-8 text": ("ragas", "a.jsonl", '{"user_input": "q"}'.encode("utf-16")),
    "a.jsonl:1: text: Input should be a valid string": ("ragas", "a.jsonl", rb'{"user_input":"\ud800","response":"a"}'),
    "a.jsonl:1: is not JSON (": ("ragas", "a.jsonl", b'{"user_input":' + b"[" * 200_000),
    "a.jsonl: holds no answer": ("ragas", "a.jsonl", b""),
    "a.jsonl: holds no question; left out: traces in whose root no question can be read": (
        *("phoenix", "a.jsonl"),
        b'{"context":{"trace_id":"t","span_id":"s"},"attributes":' + b'{"a":' * 900 + b"1" + b"}" * 901,
    ),
    "a.csv:1: has two columns 'query'": ("csv", "a.csv", b"query,query,answer\nq,r,a\n"),
    "a.csv:2: 'metadata' is not a JSON object": ("csv", "a.csv", b"query,answer,metadata\nq,a,[1]\n"),
    "a.jsonl:1: 'inputs' holds no text": ("langsmith", "a.jsonl", b'{"inputs":{},"outputs":{}}'),
    "a.json: a score in query '1' is not a number": (
        *("ragelo", "a.json"),
        b'{"queries":{"1":{"query":"q","retrieved_docs":[{"did":"d","text":"t","retrieved_by":{"a":"x"}}]}}}',
    ),
    "a.json: the winner of a game of query '1' is 'Z'; it is A, B or C (a tie)": (
        *("ragelo", "a.json"),
        b'{"queries":{"1":{"query":"q","pairwise_games":[{"agent_a_answer":{"agent":"a"},"agent_b_answer":{"agent":"b"},'
        b'"evaluation":{"answer":"Z"}}]}}}',
    ),
    "queries.jsonl:1: 'metadata' is not JSON": ("hf", "queries.jsonl", b'{"_id":"1","text":"q","metadata":"{"}'),
}


@pytest.mark.parametrize("said", BAD)
def test_bad_input_is_one_sentence_with_its_place_and_nothing_is_written(
    said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    kind, name, data = BAD[said]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_bytes(data)
    source = tmp_path / "in" / ("" if kind == "hf" else name)
    assert main(["import", "--from", kind, str(source), "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def ragelo_experiment() -> dict[str, Any]:
    """As `Experiment.save` writes it: evaluations of RAGElo's own, without anything of ours."""
    said = {"answer_a_analysis": "x", "answer_b_analysis": "y", "comparison_reasoning": "B says more.", "winner": "B"}
    bare = {"evaluation": None, "metadata": None, "conversation": None}
    answers = {name: {"qid": "q1", "agent": name, "text": f"{name} says.", **bare} for name in ("one", "two")}
    relevance = {"qid": "q1", "agent": None, "raw_answer": "{}", "answer": {"reasoning": "r", "score": 2}}
    document = {"qid": "q1", "did": "d1", "text": "T.", "metadata": {"agent": "one"}, "evaluation": relevance}
    document["retrieved_by"] = {"one": 0.5, "two": 1.0}
    verdict = {"qid": "q1", "agent": None, "raw_answer": "{}", "answer": said, "exception": None}
    game = {"qid": "q1", "metadata": None, "evaluation": verdict}
    game |= {"agent_a_answer": answers["one"], "agent_b_answer": answers["two"]}
    query = {"qid": "q1", "query": "How?", "metadata": {"kind": "x"}, "retrieved_docs": {"d1": document}}
    query |= {"answers": answers, "pairwise_games": [game]}
    return {"queries": {"q1": query}, "experiment_name": "mine", "elo_tournaments": [{"agents": ["one", "two"]}]}


def test_an_experiment_of_ragelo_s_own_is_read(tmp_path: Path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(ragelo_experiment()))
    found = formats()["ragelo"].read([path])
    assert found.queries == {"q1": Query(id="q1", text="How?", metadata={"kind": "x"})}
    assert found.qrels == {"q1": {"d1": 2}} and found.rankings["two"] == {"q1": [("d1", 1.0)]}
    assert found.answers["one"]["q1"] == Answer(query_id="q1", agent="one", answer="one says.", passages=("d1",))
    assert found.games == (
        Game(query_id="q1", agent_a="one", agent_b="two", first="a", winner="b", reason="B says more."),
    )
    assert found.notes == ("mine.json: not used: elo_tournaments of experiment (1)",)


def test_a_verdict_that_ragelo_gave_anew_is_not_taken_for_ours(tmp_path: Path):
    game = Game(query_id="q", agent_a="a", agent_b="b", first="b", judge="ours", winner="a", reason="old")
    formats()["ragelo-experiment"].write(replace(ANSWERED, games=(game,)), tmp_path)
    path = tmp_path / "experiment.json"
    saved = json.loads(path.read_text())
    said = saved["queries"]["q"]["pairwise_games"]["a-b"]["evaluation"]
    said |= {"raw_answer": "new", "answer": {"winner": "A", "comparison_reasoning": "new"}}
    path.write_text(json.dumps(saved))
    assert formats()["ragelo"].read([path]).games == (
        Game(query_id="q", agent_a="a", agent_b="b", first="b", winner="b", reason="new"),
    )


def test_passages_beside_their_ids_keep_them(tmp_path: Path):
    row = {"user_input": "q?", "response": "a", "retrieved_contexts": ["T."], "retrieved_context_ids": ["d7"]}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    found = formats()["ragas"].read([tmp_path / "a.jsonl"])
    assert found.answers["a"]["q1"].passages == ("d7",) and found.passages["d7"].text == "T."
    cases = read_cases([tmp_path / "a.jsonl"], None, None).cases
    assert [(one.id, one.text) for one in cases[0].passages] == [("d7", "T.")]


def test_what_is_told_of_a_query_once_contradicts_nothing(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text('{"query":"q?","answer":"a","metadata":{"year":NaN}}\n')
    assert list(formats()["csv"].read([tmp_path / "a.jsonl"]).queries) == ["q1"]


def test_topics_and_sheets_without_answers_are_queries(tmp_path: Path):
    topics, asked = tmp_path / "topics.txt", tmp_path / "asked.jsonl"
    topics.write_text("<top>\n<num> Number: 301\n<title> Crime\n</top>\n")
    asked.write_text(json.dumps({"user_input": "q?", "reference": "r"}))
    assert formats()["trec"].read([topics]).queries == {"301": Query(id="301", text="Crime")}
    found = formats()["ragas"].read([asked])
    assert found.queries["q1"].metadata == {"expected_response": "r"} and not found.answers
    with pytest.raises(InputError, match="holds no answer"):
        read_cases([asked], None, None)


def test_what_was_said_before_is_kept_or_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    turn = {"_id": "t", "text": "And why?", "history": [{"role": "user", "text": "How?"}]}
    folder = tmp_path / "results"
    write_text(folder / "queries.jsonl", json_line(turn))
    write_text(folder / "corpus.jsonl", json_line({"_id": "p", "text": "So."}))
    for name in ("hf", "beir", "csv"):
        assert main(["export", str(folder), "--to", name, "--out", str(tmp_path / name)]) == 0
        said = "".join(capsys.readouterr())
        assert ("what was said before queries (1)" in said) is (name == "csv"), said
    for name in ("hf", "beir"):
        assert read(name, tmp_path / name).queries["t"] == Query.model_validate(turn)
