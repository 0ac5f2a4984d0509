"""`ragassay.judges`: one row, columns or rows in, records out; what is missing is said."""

from __future__ import annotations

import fcntl
import inspect
import subprocess
import sys
import time
from threading import Event, Thread

import pandas as pd
import pytest
from support.json_lines import records
from support.judge_bench import ANSWERS, PASSAGES, QUERIES
from support.loopback.behaviours import reply

from benchmarks.tables import judge_stubs
from ragassay import judges
from ragassay.errors import BudgetSpent, InputError
from ragassay.evaluate.judging.catalog import built_in

TEXTS = {one["_id"]: one["text"] for one in PASSAGES}
ROWS = [
    {
        "query": query["text"],
        "answer": answer["answer"],
        "contexts": [TEXTS[id] for id in answer["passages"]],
        "expected_response": query["metadata"]["expected_response"],
    }
    for query, answer in zip(QUERIES, ANSWERS, strict=True)
]
OWN = """
from ragassay.evaluate.judging.engine.evaluator import Evaluator

class Length(Evaluator):
    name = "length"
    judge = "nobody"

    def steps(self, case):
        return [self.assess(case, min(1.0, len(case.text) / 100))]
"""


@pytest.fixture
def model(bench):
    """The keywords that name the scripted server's model."""
    return {"model": "openai:judge", "base_url": bench.server.base_url}


def test_who_asks_while_another_process_does_waits_for_it(tmp_path):
    given = {"answer": ["{}"], "contexts": [["{}"]], "work": tmp_path / "work"}
    judges.json_schema(**given)
    (lock,) = (tmp_path / "work").rglob(".lock")
    held, waited = Event(), []

    def hold():
        with lock.open() as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            held.set()
            time.sleep(0.6)
            waited.append(True)

    other = Thread(target=hold)
    other.start()
    held.wait()
    assert len(judges.json_schema(**given)) == 1 and waited
    other.join()


def test_a_row_may_be_told_as_agent_evaluation_does(bench, model):
    """Their columns, one row as keywords or many as rows: the requests and records are those of ours."""
    asked = ROWS[0]
    theirs = {
        "request": {"messages": [{"role": "user", "content": asked["query"]}]},
        "response": asked["answer"],
        "retrieved_context": [{"content": text, "doc_uri": "a.pdf"} for text in asked["contexts"]],
        "expected_facts": [asked["expected_response"]],
    }
    for judge in (judges.correctness, judges.agent_groundedness, judges.chunk_relevance):
        wanted, before = judge(**asked, **model), len(bench.server.requests)
        assert judge(**theirs, **model) == wanted and judge(rows=[theirs], **model) == [wanted]
        bodies = [request.body["messages"] for request in bench.server.requests]
        assert all(body in bodies[:before] for body in bodies[before:]), "nothing else is asked"
    with pytest.raises(InputError, match="retrieved_context is not a list of passages"):
        judges.chunk_relevance(request="How?", retrieved_context=[1], **model)


def test_a_row_gives_a_record(bench, model):
    bench.server.script = lambda number, body: reply('{"reason": "it says so", "label": "yes"}')
    row = {name: ROWS[0][name] for name in ("query", "answer", "expected_response")}
    record = judges.correctness(**row, **model)
    assert (record.label, record.score, record.reason, record.error) == (1.0, 1.0, "it says so", None)
    assert ROWS[0]["query"] in bench.server.requests[0].body["messages"][1]["content"]


@pytest.mark.parametrize("name", ["correctness", "groundedness", "nuggets", "citations", "chunk_relevance"])
def test_what_is_given_is_what_the_command_line_gives_of_the_same_files(bench, model, name):
    written = bench.judge(name)
    made = getattr(judges, name)(rows=ROWS, **model)
    flat = [one for row in made for one in (row.values() if isinstance(row, dict) else _list(row))]
    assert [(one.criterion, one.label, one.reason, one.error) for one in flat] == [
        (one.criterion, one.label, one.reason, one.error) for one in sorted(written, key=lambda one: one.query_id)
    ]


def _list(row):
    return row if isinstance(row, list) else [row]


def test_rows_columns_and_data_frames_are_the_same(model):
    frame = pd.DataFrame(ROWS)
    made = judges.correctness(rows=ROWS, **model)
    columns = {name: frame[name] for name in ("query", "answer", "expected_response")}
    assert judges.correctness(rows=frame, **model) == made
    assert judges.correctness(**columns, **model) == made
    assert judges.correctness(**{name: list(column) for name, column in columns.items()}, **model) == made


def test_records_stand_in_the_order_of_the_rows_and_what_a_row_lacks_is_an_error():
    frame = pd.DataFrame({"answer": ["Write to a@example.com", None, " ", "Nothing here"]})
    made = judges.pii_leakage(rows=frame)
    assert [one.label for one in made] == [1.0, None, None, 0.0]
    assert [one.error for one in made[1:3]] == ["answer is missing", "no answer to judge: the answer is empty"]


def test_no_rows_give_no_records():
    assert judges.pii_leakage(rows=[]) == judges.pii_leakage(answer=[]) == []


def test_the_same_question_is_asked_once(bench, model):
    row = {name: ROWS[0][name] for name in ("query", "answer", "expected_response")}
    assert judges.correctness(**row, **model) == judges.correctness(**row, **model)
    assert len(bench.server.requests) == 1


def test_what_a_reply_cannot_be_read_from_is_an_error_and_no_label(bench, model):
    bench.server.script = lambda number, body: reply("I refuse, see section 3")
    record = judges.groundedness(answer="It waits.", contexts=["It waits."], **model)
    assert record.label is None and record.score is None and record.error


def test_the_cost_limit_stops(bench, tmp_path):
    config = ('[models."openai:judge"]', "prices_usd_per_million = { input = 1e6, output = 1e6 }")
    path = tmp_path / "experiment.toml"
    bench.config()
    path.write_text(path.read_text().replace(config[0], "\n".join(config)))
    with pytest.raises(BudgetSpent):
        judges.correctness(rows=ROWS * 2, config=path, max_cost=0.01)


def test_a_class_of_the_users_own(tmp_path):
    (tmp_path / "own_length.py").write_text(OWN)
    assert judges.named("own_length:Length")(query="q", answer="x" * 50).label == 0.5


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: judges.correctness(query="q", answer="a"),
            "judges.correctness: expected_response is missing; it",
        ),
        (
            lambda: judges.groundedness(answer="a", contexts=["c"]),
            "groundedness asks a model and none is named; give",
        ),
        (lambda: judges.pii_leakage(answer="a", ignor=["email"]), "judges.pii_leakage: ignor: .*did you mean 'ignore'"),
        (lambda: judges.pii_leakage(answer=3), "judges.pii_leakage: answer is int; give a list"),
        (lambda: judges.pii_leakage(answer=["a", 3]), "judges.pii_leakage:2: answer holds int"),
        (lambda: judges.groundedness(answer="a", contexts="c"), "contexts is str; give a list, for one text too"),
        (lambda: judges.correctness(query=["a"], answer=["b", "c"]), "query has 1, answer has 2"),
        (lambda: judges.pii_leakage(rows=[{"anwser": "a"}]), "answer is missing; did you mean 'anwser'"),
        (lambda: judges.pii_leakage(rows=["a"]), "a row is str"),
        (lambda: judges.pii_leakage(rows=[], answer="a"), "rows and answer are both given"),
        (lambda: judges.pii_leakage(answer="a", max_cost=0), "max_cost is 0; it must be more than 0"),
        (lambda: judges.pii_leakage(answer="a" * 1_000_001), "the answer is 1,000,001 characters long"),
        (lambda: judges.named("groundednes"), "did you mean 'groundedness'"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(call, said):
    with pytest.raises(InputError, match=said):
        call()


def test_every_judge_has_a_name_a_sentence_and_a_signature():
    assert set(built_in()) <= set(dir(judges))
    for name, kind in built_in().items():
        function = getattr(judges, name)
        taken = inspect.signature(function).parameters
        assert function.__name__ == name and kind.source in function.__doc__ and "Reads" in function.__doc__
        assert {*kind.options_type.model_fields, "query", "rows", "model", "work", "max_cost"} <= set(taken)
    with pytest.raises(AttributeError, match="did you mean 'groundedness'"):
        _ = judges.groundednes


def test_no_option_has_the_name_of_a_column():
    columns = {"query", "answer", "contexts", "expected_response", "expected_docs", "conditions", "rows"}
    assert not columns & {name for kind in built_in().values() for name in kind.options_type.model_fields}


def test_the_stub_is_made_from_the_catalog():
    stub = judge_stubs.FILE.read_text(encoding="utf-8")
    assert stub == judge_stubs.text(), "run python -m benchmarks.tables.judge_stubs"
    compile(stub, "judges.pyi", "exec")


def test_importing_loads_nothing():
    code = "import sys, ragassay, ragassay.judges, ragassay.testing, ragassay.functions.pytest_plugin; "
    code += "print([name for name in ('pydantic', 'numpy', 'langchain_core', 'pandas') if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"


def test_replies_are_kept_where_they_are_wanted(tmp_path, model):
    judges.groundedness(answer="It waits.", contexts=["It waits."], work=tmp_path / "kept", **model)
    assert [row for path in (tmp_path / "kept" / "replies").glob("*.jsonl") for row in records(path)]
    assert not (tmp_path / ".ragassay").exists()
