"""Boxes of values by query, and the means of models by prompts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.made_up_results.page import Page
from support.results_folder import answer, experiment, game, judgment, results_folder
from support.workbench import browsing

from ragassay.evaluate.compare import compare
from ragassay.evaluate.figures.query_values import box
from ragassay.evaluate.report.page import report
from ragassay.evaluate.stages import compare_settings
from ragassay.experiment.variants import cross
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_json, read_records
from ragassay.records import Answer, Figure, Passage, Query
from ragassay.retrieval.agents.own_agents import read_answers

MEAN = Figure(value=0.5, n=3)


def by_query(*values: float | None) -> dict[str, float | None]:
    return {f"q{i}": value for i, value in enumerate(values)}


def test_ten_values_by_hand() -> None:
    # numpy's default: the quartiles of n sorted values stand at (n - 1) / 4, here between the 3rd and the 4th
    found = box(by_query(9, 8, 7, 6, 5, 4, 3, 2, 1, 16), MEAN, (0, 100))
    assert (found.q1, found.median, found.q3) == (3.25, 5.5, 7.75)
    assert (found.low_whisker, found.high_whisker, found.outliers) == (1, 9, (16,))  # fences at -3.5 and 14.5
    assert (found.minimum, found.maximum, found.lowest, found.highest, found.n) == (1, 16, 0, 100, 10)
    assert found.mean == MEAN


def test_failures_are_counted_and_no_values_is_no_box() -> None:
    assert (box(by_query(0.5, None, None), MEAN).n, box(by_query(0.5, None, None), MEAN).n_failed) == (1, 2)
    empty = box(by_query(None), Figure(value=None, n=0, n_failed=1))
    assert (empty.n, empty.n_failed, empty.median, empty.outliers) == (0, 1, None, ())


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30))
def test_a_quarter_lies_on_each_side_of_the_box_and_none_is_lost(values: list[float]) -> None:
    found = box(by_query(*values), MEAN)
    ends = [found.minimum, found.low_whisker, found.q1, found.median, found.q3, found.high_whisker, found.maximum]
    assert ends[0] <= ends[1] and ends[2] <= ends[3] <= ends[4] and ends[5] <= ends[6]
    inside = [v for v in values if found.low_whisker - 1e-9 <= v <= found.high_whisker + 1e-9]
    assert len(inside) + len(found.outliers) == len(values)
    quarter = (len(values) - 1) // 4 + 1
    assert sum(v < found.q1 - 1e-8 for v in values) <= quarter and sum(v > found.q3 + 1e-8 for v in values) <= quarter


QUERIES = [Query(_id=f"q{i}", text=f"What is {i}?") for i in range(6)]
BY = {
    "one": ("openai:a", "plain.md"),
    "two": ("openai:a", "plain.md"),
    "three": ("openai:a", "strict.md"),
    "four": ("openai:b", "plain.md"),
    "unsaid": (None, None),
}
LABELS = {name: [(n + at) % 3 for n in range(6)] for at, name in enumerate(BY)}


def made(root: Path, by: dict[str, tuple[str | None, str | None]]) -> Workspace:
    agents = [{"name": name, "kind": "file", "path": f"{name}.jsonl"} for name in by]
    settings = experiment(answer={"agents": ()}, judge={"criteria": ["accuracy"]}, agent=agents)
    labels = {(q.id, name): LABELS[name][n] for name in by for n, q in enumerate(QUERIES)} | {("q5", "two"): None}
    workspace = results_folder(
        root,
        settings,
        queries=QUERIES,
        passages=[Passage(_id="p1", text="…")],
        answers=[answer(q.id, a, "So.", "p1", model=m, prompt=p) for a, (m, p) in by.items() for q in QUERIES],
        relevance=[],
        pointwise=[judgment(query, agent, "accuracy", label) for (query, agent), label in labels.items()],
        games=[game(q.id, "four", "one", "a", first) for q in QUERIES for first in "ab"],
    )
    compare(workspace)
    report(workspace)
    return workspace


def test_a_cell_is_the_mean_over_all_answers_of_its_agents_and_one_agents_own_figure(tmp_path):
    found = read_json(made(tmp_path, BY).figures)
    cells = {(one["model"], one["prompt"]): one for one in found["models_by_prompts"]}
    assert {pair: one["agents"] for pair, one in cells.items()} == {
        ("openai:a", "plain.md"): ["one", "two"],
        ("openai:a", "strict.md"): ["three"],
        ("openai:b", "plain.md"): ["four"],
    }
    both = cells["openai:a", "plain.md"]["means"]["accuracy"]
    assert both["value"] == pytest.approx(mean(LABELS["one"] + LABELS["two"][:5]))
    assert (both["n"], both["n_failed"]) == (11, 1)
    assert both["ci_low"] < both["value"] < both["ci_high"]
    assert cells["openai:b", "plain.md"]["means"]["accuracy"] == found["pointwise"]["four"]["accuracy"]
    assert cells["openai:a", "strict.md"]["means"]["accuracy"] == found["pointwise"]["three"]["accuracy"]
    assert cells["openai:b", "plain.md"]["means"]["points"]["value"] == 1.0


def test_the_page_has_a_row_a_model_a_column_a_prompt_and_a_hatched_cell_where_nobody_answers(tmp_path):
    workspace = made(tmp_path, BY)
    html = workspace.report.read_text(encoding="utf-8")
    table = html[html.index('id="crossed"') :].split("</table>")[0]
    assert Page(html).text.count("Models by prompts") == 1 and table.count('class="fig self"') == 1
    assert re.findall(r'<th scope="row">([^<]+)', table) == ["openai:a", "openai:b"]
    heads = re.findall(r'<th scope="col"[^>]*>([^<]+)', table)
    assert [head.strip() for head in heads] == ["accuracy", "plain.md", "strict.md"]
    assert re.search(r"n 11 <em>1 failed</em>", table)
    with browsing(workspace) as client:
        shown = client.get("/results/decision?measure=accuracy").text
    assert table.split("<tbody>")[1] in shown, "of all queries the workbench has the report's own figures"


@pytest.mark.parametrize(
    "by",
    [
        {name: pair for name, pair in BY.items() if pair[1] != "strict.md"},
        {name: ("openai:a", prompt) for name, (_, prompt) in BY.items()},
        {name: (model, None) for name, (model, _) in BY.items()},
    ],
)
def test_without_two_models_and_two_prompts_there_is_none(tmp_path, by):
    workspace = made(tmp_path, by)
    assert "models_by_prompts" not in read_json(workspace.figures)
    assert "Models by prompts" not in workspace.report.read_text(encoding="utf-8")


def test_tables_of_agents_say_it_themselves_and_another_prompt_is_another_figure():
    def settings(prompts):
        retriever = [{"name": "words", "kind": "bm25"}]
        grid = {"name": "ours", "retriever": "words", "model": ["openai:a", "openai:b"], "prompt": prompts}
        return experiment(answer={"agents": (), "model": "openai:a"}, retriever=retriever, agent=[grid])

    crossed = cross(settings(["plain.md", "strict.md"]).answered_by())
    assert set(crossed) == {(m, p) for m in ("openai:a", "openai:b") for p in ("plain.md", "strict.md")}
    assert not cross(settings("plain.md").answered_by())
    kept, changed = (compare_settings(settings(["plain.md", other])) for other in ("strict.md", "short.md"))
    assert kept != changed and "models_by_prompts" not in compare_settings(settings("plain.md"))


def test_files_of_answers_carry_model_and_prompt_and_what_is_no_text_says_nothing(tmp_path):
    given = [
        {"query_id": "q0", "answer": "So.", "model": "openai:a", "prompt": "Answer briefly."},
        {"query_id": "q1", "answer": "So.", "model": {"name": "a"}, "prompt": " "},
        {"query_id": "q2", "answer": "So."},
    ]
    settings = experiment(agent=[{"name": "theirs", "kind": "file", "path": "theirs.jsonl"}])
    workspace = results_folder(tmp_path, settings)
    (workspace.corpus / "theirs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))
    (rows, notices) = read_answers(settings.own_agents()[0], workspace, QUERIES[:3], {})
    assert [(row.model, row.prompt) for row in rows] == [("openai:a", "Answer briefly."), (None, None), (None, None)]
    assert not notices and {"model", "prompt"} <= rows[0].dump().keys()
    assert not {"model", "prompt"} & (rows[1].dump().keys() | rows[2].dump().keys())
    path = tmp_path / "again.jsonl"
    path.write_text(json.dumps(rows[0].dump()) + "\n")
    assert read_records(path, Answer) == [rows[0]]
