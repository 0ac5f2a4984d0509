"""`compare` of systems that say their searches and calls: figures, comparisons, the page; nothing of them without."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.results_folder import answer, experiment, judgment, results_folder, two_systems

from ragassay.errors import InputError
from ragassay.evaluate.compare import compare
from ragassay.evaluate.figures.turns_and_steps import conversations_of
from ragassay.evaluate.figures.values import read_values
from ragassay.evaluate.report.page import report
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.files import read_json, write_records
from ragassay.records import AnswerRun, Hop, Judgment, Passage, Query, ToolCall, Turn, Usage

MORE = """
criteria = ["accuracy"]
[compare]
writes = ["book*"]
"""
BOOK = {"name": "book_seat", "arguments": {"row": 1}}
QUERIES = [Query(_id=f"q{i}", text=f"What is {i}?", metadata={"expected_calls": [BOOK]}) for i in range(8)]
USED = Usage(input_tokens=300, output_tokens=200)


def compared(
    tmp_path: Path, hops: tuple[Hop, ...], queries: list[Query] = QUERIES, pointwise: Sequence[Judgment] = ()
) -> tuple[Any, str, Any]:
    rows = [
        answer(q.id, "agentic", "So.", "a", "y").model_copy(update={"hops": hops, "calls": (ToolCall(**BOOK),)})
        for q in queries
    ] + [answer(q.id, "single", "So.", "x") for q in queries]
    workspace = two_systems(
        tmp_path,
        "agentic",
        "single",
        MORE,
        queries=queries,
        passages=[Passage(_id=name, text="…") for name in "abxy"],
        answers=rows if hops else [row.model_copy(update={"calls": None}) for row in rows],
        relevance=[judgment(q.id, name, "passage_relevance", 2 * (name in "ab")) for q in queries for name in "abxy"],
        pointwise=pointwise,
    )
    compare(workspace)
    report(workspace)
    return read_json(workspace.figures), workspace.report.read_text("utf-8"), workspace


HOPS = (
    Hop(query="one", passages=("x", "a"), usage=USED),
    Hop(query="two", passages=("a", "y"), usage=USED),
    Hop(query="two", passages=("b",), usage=USED),
    Hop(query="three", error="timed out", usage=USED),
)


def test_the_steps_of_the_example(tmp_path: Path):
    found, page, workspace = compared(tmp_path, HOPS)
    one = found["stepwise"]["agentic"]
    assert "single" not in found["stepwise"]
    assert [figure["value"] for figure in one["recall"]] == [0.5, 0.5, 1.0, 1.0]
    assert [figure["value"] for figure in one["complete"]] == [0.0, 0.0, 1.0, 1.0]
    means = {name: (figure["value"], figure["n"]) for name, figure in one["means"].items()}
    assert means["step_recall"] == (1.0, 8) and means["evidence_lost"] == (0.5, 8)
    assert means["wasted_steps"] == means["surplus_steps"] == means["repeated_steps"] == (0.25, 8)
    assert means["n_steps"] == (4.0, 8) and means["failed_steps"] == (0.25, 32)
    assert means["step_tokens"] == (500.0, 32) and means["new_per_1000_tokens"] == (1.0, 8)
    assert means["call_recall"] == means["writes_as_asked"] == (1.0, 8)
    assert {"evidence_lost", "wasted_steps"} <= set(found["lower_is_better"])
    assert read_values(workspace.values).measures["evidence_lost"]["agentic"]["q3"] == 0.5
    assert "Searches and calls" in page and "Recall after step" in page


def test_an_answer_that_failed_has_no_value_and_is_counted(tmp_path: Path):
    _, _, workspace = compared(tmp_path, HOPS)
    path = workspace.answers("agentic")
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(['{"query_id": "q0", "agent": "agentic", "answer": null, "error": "fell"}', *lines[1:]]))
    compare(workspace)
    one = read_json(workspace.figures)["stepwise"]["agentic"]
    means = [one["means"][name] for name in ("step_recall", "call_recall")]
    assert [(mean["n"], mean["n_failed"]) for mean in means] == [(7, 1)] * 2
    assert one["recall"][0]["n_failed"] == 1


def test_runs_that_all_write_as_asked(tmp_path: Path):
    other = (ToolCall(name="book_seat", arguments={"row": 2}),)
    again = [
        AnswerRun(**answer(q.id, "agentic", "So.").model_dump(exclude={"calls"}), calls=other, run=2) for q in QUERIES
    ]
    _, _, workspace = compared(tmp_path, HOPS)
    write_records(workspace.answer_runs("agentic"), again)
    compare(workspace)
    passed = read_json(workspace.figures)["stepwise"]["agentic"]["pass_hat"]
    assert [figure["value"] for figure in passed] == [0.5, 0.0]


def test_without_steps_nothing_is_said_of_them(tmp_path: Path):
    found, page, _ = compared(tmp_path, ())
    assert "stepwise" not in found and "Searches and calls" not in page
    assert "step_recall" not in {row["measure"] for row in found["comparisons"]}


def test_conversations_by_turn_by_move_and_whole(tmp_path: Path):
    """Four conversations of two turns; one has a turn that is not right, one a turn whose label is missing."""
    moves = ("stands-alone", "follow-up")
    turns = [{"conversation": i // 2, "turn": 1 + i % 2, "move": moves[i % 2]} for i in range(8)]
    queries = [Query(_id=f"q{i}", text=f"What is {i}?", metadata=turn) for i, turn in enumerate(turns)]
    labels = {0: 1, 3: None}
    rows = [judgment(q.id, "agentic", "accuracy", labels.get(i, 2)) for i, q in enumerate(queries)]
    found, page, _ = compared(tmp_path, HOPS, queries, rows)
    talks = found["conversations"]
    assert (talks["n_conversations"], talks["n_turns"]) == (4, 8)
    whole = talks["all_right"]["agentic"]
    assert (round(whole["value"], 6), whole["n"], whole["n_failed"]) == (round(2 / 3, 6), 3, 1)
    first, second = (talks["by_turn"][turn]["agentic"]["accuracy"] for turn in ("1", "2"))
    assert (first["value"], first["n"], second["value"], second["n"], second["n_failed"]) == (1.75, 4, 2.0, 3, 1)
    assert talks["by_move"]["follow-up"]["agentic"]["accuracy"] == second
    lost = talks["by_turn"]["1"]["agentic"]["evidence_lost"]
    assert lost["value"] == 0.5 and lost["ci_low"] < 0, "its scale goes from -1 to 1"
    assert "8 queries are turns of 4 conversations" in page and "All turns right" in page


def test_an_agent_is_priced_by_the_one_of_its_own_model(tmp_path: Path):
    """Two agents, each with two searches; that of the stronger model gains nothing, that of the other loses."""
    turns = [{"conversation": i // 2, "turn": 1 + i % 2, "stand_alone": f"What is {i}, asked alone?"} for i in range(8)]
    said = (Turn(role="user", text="So?"), Turn(role="assistant", text="So."))
    queries = [
        Query(_id=f"q{i}", text=f"And {i}?", metadata=turn, history=said if i % 2 else ())
        for i, turn in enumerate(turns)
    ]
    worth = {"a-none": 2, "a-given-stand-alone": 2, "b-none": 0, "b-given-stand-alone": 1}
    tables = {
        "retriever": [{"name": "r", "kind": "bm25", "rewrite": ["none", "given-stand-alone"]}],
        "agent": [{"name": name, "retriever": "r", "model": f"openai:{name}"} for name in "ab"],
    }
    settings = experiment(answer={"agents": []}, judge={"criteria": ["accuracy"]}, **tables)
    agents = [one.name for one in settings.table_agents()]
    given = dict(zip(agents, worth.values(), strict=True))
    workspace = results_folder(
        tmp_path,
        settings,
        queries=queries,
        passages=[Passage(_id="a", text="…")],
        relevance=(),
        games=(),
        rankings={name: {q.id: ["a"] for q in queries} for name in agents},
        answers=[answer(q.id, name, "So.", "a") for q in queries for name in agents],
        pointwise=[judgment(q.id, name, "accuracy", label) for q in queries for name, label in given.items()],
    )
    compare(workspace)
    price = read_json(workspace.figures)["conversations"]["price"]
    assert {name: row["accuracy"]["value"] for name, row in price.items()} == {agents[0]: 0.0, agents[2]: -1.0}


def test_a_conversation_that_an_agent_was_not_asked_is_not_its_failure():
    queries = [Query(_id=f"q{i}", text="Why?", metadata={"conversation": i // 2}) for i in range(4)]
    labels = {"a": {"q0": 2.0, "q1": 2.0}, "b": {"q0": 2.0, "q1": None, "q2": 1.0, "q3": 2.0}}
    found = conversations_of(queries, {}, labels, resamples([query.id for query in queries], 100, 1), {})
    assert found and {a: (one.value, one.n, one.n_failed) for a, one in found.all_right.items()} == {
        "a": (1.0, 1, 0),
        "b": (0.0, 1, 1),
    }


def test_calls_that_are_none_are_refused(tmp_path: Path):
    wrong = [QUERIES[0].model_copy(update={"metadata": {"expected_calls": [{"tool": "book"}]}})]
    with pytest.raises(InputError, match=r"query 'q0': metadata.expected_calls: .*write a list of"):
        compared(tmp_path, HOPS, wrong)
