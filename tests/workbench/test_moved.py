"""Two runs held against each other: what moved by the paired statistics, what flipped, what was handed over."""

from __future__ import annotations

import json
import random
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.made_up_results.workspace import make_workspace, write_values_again

from ragassay.evaluate.statistics.paired_comparison import compare_pairs
from ragassay.evidence import Span, merged
from ragassay.experiment.workspace import Workspace
from ragassay.files import write_json
from ragassay.workbench.index.build import build
from ragassay.workbench.index.read import Index
from ragassay.workbench.moved import by_table, changed, changes_of, judged_otherwise, moved, same_queries
from ragassay.workbench.views.compare import SameTexts, handed_over, overlap

SPANS = st.lists(
    st.builds(
        lambda doc, at, size: Span(doc, at, at + size), st.sampled_from("ab"), st.integers(0, 40), st.integers(1, 9)
    ),
    min_size=1,
    max_size=6,
)


def index_of(workspace: Workspace) -> Index:
    path = workspace.workbench / "index.sqlite"
    build(workspace, path)
    return Index(path)


def rewrite(path: Path, change: Any) -> None:
    rows = [change(json.loads(line)) for line in path.read_text("utf-8").splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows if row is not None), "utf-8")


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Workspace, Workspace]:
    return make_workspace(tmp_path / "1", 30, hostile=False), make_workspace(tmp_path / "2", 30, hostile=False)


def test_a_run_against_itself_moved_nowhere(runs: tuple[Workspace, Workspace]):
    before, after = map(index_of, runs)
    rows = moved(before, after)
    assert len(rows) > 30 and {row.said for row in rows} == {"not told apart"}
    assert {row.difference.value for row in rows} == {0.0}
    same = same_queries(before, after)
    assert same.paired and len(same.before) == 30
    assert changes_of(before, after, same, rows[0].measure, rows[0].agent).rows == ()


def test_one_agent_that_got_better_is_told_from_chance_and_the_others_are_not(runs: tuple[Workspace, Workspace]):
    rng = random.Random(1)

    def raised(row: dict[str, Any]) -> dict[str, Any]:
        if row["subject"] == "knn-rag" and row["criterion"] == "accuracy" and row["label"] is not None:
            row["label"] = 2 if rng.random() < 0.9 else row["label"]
        return row

    rewrite(runs[1].pointwise, raised)
    write_values_again(runs[1].results)
    before, after = map(index_of, runs)
    rows = {(row.measure.name, row.agent): row for row in moved(before, after)}
    assert [key for key, row in rows.items() if row.said == "better"] == [("accuracy", "knn-rag")]
    row, same = rows["accuracy", "knn-rag"], same_queries(before, after)
    ids = [before.queries([int(place)])[0]["id"] for place in same.before]
    sides = [index.column("accuracy")["knn-rag"] for index in (after, before)]
    values = {
        side: {id: None if np.isnan(column[at]) else float(column[at]) for id, at in zip(ids, same.before, strict=True)}
        for side, column in zip("ab", sides, strict=True)
    }
    (pair,) = compare_pairs("accuracy", values, same.clusters, width=2.0)
    assert row.difference.value == pair.difference.value and row.p == pytest.approx(pair.p_t, rel=1e-5)
    assert row.difference.ci_low == pair.difference.ci_low and row.difference.ci_high >= pair.difference.ci_high
    found = changes_of(before, after, same, row.measure, "knn-rag")
    assert found.up == len(found.rows) > found.down == 0
    assert [one.by for one in found.rows] == sorted((one.by for one in found.rows), reverse=True)
    assert found.flipped_up == sum(one.flipped for one in found.rows)
    assert found.up + found.level + found.missing == 30


def test_queries_of_another_text_are_not_paired(runs: tuple[Workspace, Workspace]):
    rewrite(runs[1].queries, lambda row: row | {"text": row["text"] + " Really?"})
    before, after = map(index_of, runs)
    same = same_queries(before, after)
    assert not same.paired and same.reworded == 30 and len(same.before) == 0
    rows = moved(before, after)
    assert rows and all(row.difference.value == 0 and row.said == "not told apart" for row in rows)
    assert all(row.difference.n == row.before.n + row.after.n for row in rows)


@pytest.mark.parametrize(("share", "said"), [(0.3, "not told apart"), (0.6, "better")])
def test_runs_without_a_query_in_common_are_corrected_for_all_that_is_tested(
    runs: tuple[Workspace, Workspace], share: float, said: str
):
    rng = random.Random(1)

    def raised(row: dict[str, Any]) -> dict[str, Any]:
        asked = row["subject"] == "knn-rag" and row["criterion"] == "accuracy" and row["label"] is not None
        return row | {"label": 2} if asked and rng.random() < share else row

    rewrite(runs[1].pointwise, raised)
    rewrite(runs[1].queries, lambda row: row | {"text": row["text"] + " Really?"})
    write_values_again(runs[1].results)
    rows = moved(*map(index_of, runs))
    (row,) = [row for row in rows if row.p is not None and row.p < 0.05]
    assert (row.measure.name, row.agent, row.said) == ("accuracy", "knn-rag", said)
    assert (row.p * len(rows) < 0.05) == (said == "better")


def test_another_set_of_agents_makes_the_share_of_games_incomparable(runs: tuple[Workspace, Workspace]):
    before = index_of(runs[0])
    after = index_of(runs[1])
    after.agents = after.agents[:-1]  # type: ignore[misc]
    assert "points" in {row.measure.name for row in moved(before, before)}
    assert "points" not in {row.measure.name for row in moved(before, after)}


@given(SPANS, SPANS)
def test_overlap_is_jaccard_of_the_characters(one: list[Span], other: list[Span]):
    sides = [{(span.doc, at) for span in spans for at in range(span.start, span.end)} for spans in (one, other)]
    assert overlap(disjoint(one), disjoint(other)) == pytest.approx(len(sides[0] & sides[1]) / len(sides[0] | sides[1]))


def disjoint(spans: list[Span]) -> tuple[Span, ...]:
    found = merged(spans)
    assert all(a.doc != b.doc or a.end <= b.start for a, b in combinations(found, 2))
    return found


def test_passages_cut_elsewhere_are_matched_by_their_characters(runs: tuple[Workspace, Workspace]):
    for number, workspace in enumerate(runs):

        def placed(row: dict[str, Any], shift: int = number * 25) -> dict[str, Any]:
            at = int("".join(filter(str.isdigit, row["_id"]))) * 1000
            return row | {"metadata": {"doc": "a.pdf", "start": at + shift, "end": at + shift + 100}}

        rewrite(workspace.passages, placed)
        workspace.pages.write_text(json.dumps({"doc": "a.pdf", "page": 1, "text": "text"}) + "\n", "utf-8")
    before, after = map(index_of, runs)
    found = handed_over(before, after, "knn-rag", SameTexts.of(*runs))
    assert found.figure.value == pytest.approx(75 / 125) and found.figure.n + found.figure.n_failed == 30
    runs[1].pages.write_text(json.dumps({"doc": "a.pdf", "page": 1, "text": "read otherwise"}) + "\n", "utf-8")
    read = handed_over(before, after, "knn-rag", SameTexts.of(*runs))
    assert read.figure.value is None and read.figure.n_failed == 30 and read.read_otherwise == ("a.pdf",)


def test_settings_documents_and_prompts_that_differ_are_said_in_words(runs: tuple[Workspace, Workspace]):
    tables = ([{"name": "a", "k": 5}, {"name": "b"}], [{"name": "a", "k": 9}, {"name": "c"}, {"name": "d"}])
    for number, workspace in enumerate(runs):
        settings = {"ingest.passage_words": 200 + number, "seed": 7, "retrieval.retrievers": tables[number]}
        settings |= {"retrieval.rerank": None if number else "bge", "compare.matters": {"RR@5": 0.1, "P@5": number}}
        settings |= {} if number else {"models.file:old": {}}
        documents = {"a.pdf": f"{number}abc", "same.pdf": "1"} | ({"b.pdf": "1"} if number else {"c.pdf": "1"})
        write_json(workspace.results / "manifests" / "ingest.json", {"settings": settings, "inputs": documents})
        judge = {"settings": {}, "inputs": {"pointwise.md": f"{number}def", "queries.jsonl": f"{number}"}}
        write_json(workspace.results / "manifests" / "judge.json", judge)
    rows = changed(*runs)
    assert dict(by_table(rows)) == {
        "compare": ["matters P@5: 1, was 0"],
        "documents": ["a.pdf has changed, b.pdf is new, c.pdf is gone"],
        "ingest": ["passage words: 201, was 200"],
        "prompts": ["judge/pointwise.md has changed"],
        "retrieval": ["rerank: not set, was bge", "retrievers: 2 more (c, d), 1 fewer (b)", "retrievers a k: 9, was 5"],
    }
    assert judged_otherwise(rows) and not judged_otherwise([row for row in rows if not row.name.startswith("prompts")])
