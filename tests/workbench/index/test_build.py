"""The index holds what the files hold, is made again when they change, and finds by words."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Literal

import pytest
from support.made_up_results.workspace import make_workspace
from support.results_folder import judgment

from ragassay.errors import InputError
from ragassay.evaluate.figures.query_values import retrieval_by_query
from ragassay.evaluate.inputs.findings import read_findings
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, write_records
from ragassay.records import NO_ANSWER, Game, Judgment, Query
from ragassay.workbench.index.build import LAYOUT, Kept, build, stamp_of
from ragassay.workbench.index.read import Asked, Index


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path)


@pytest.fixture
def index(workspace: Workspace) -> Index:
    build(workspace, workspace.workbench / "index.sqlite")
    return Index(workspace.workbench / "index.sqlite")


def test_every_record_is_there(workspace: Workspace, index: Index):
    queries = read_records(workspace.queries, Query)
    places = index.places(Asked())
    assert [row["id"] for row in index.queries(places)] == [query.id for query in queries]
    assert sum(len(index.games(place)) for place in places) == len(read_records(workspace.games, Game))
    labels = len(read_records(workspace.relevance, Judgment)) + len(read_records(workspace.pointwise, Judgment))
    assert sum(len(index.labels(place)) for place in places) == labels
    assert all(len(index.answers(place)) == len(index.agents) for place in places)


def test_values_are_those_of_compare(workspace: Workspace, index: Index):
    k = workspace.experiment.retrieval.k
    findings = read_findings(workspace)
    for agent, measures in retrieval_by_query(findings, k).items():
        for name, values in measures.items():
            column = index.column(name)[agent]
            for query, value in zip(findings.queries, column, strict=True):
                expected = values[query]
                assert math.isnan(value) if expected is None else value == expected


def test_words_are_found_in_questions_and_answers_and_are_no_operators(index: Index):
    everything = index.places(Asked())
    first = index.queries(everything[:1])[0]
    word = first["text"].split()[0]
    assert first["place"] in index.places(Asked(words=word))
    assert first["place"] in index.places(Asked(words=word[:3]))
    for hostile in ('"', "NOT", "a OR b", "query:", "*", "x'; DROP TABLE queries; --", "\0", "(" * 500):
        assert set(index.places(Asked(words=hostile))) <= set(everything)


@pytest.mark.parametrize("order", ["flips", "failed", "words"])
def test_most_comes_first_and_of_as_many_the_earlier_of_the_test_set(
    order: Literal["flips", "failed", "words"], index: Index
):
    rows = index.queries(index.places(Asked(sort=order)))
    assert len(rows) == index.n_queries and max(row[order] for row in rows) > 0
    assert rows == sorted(rows, key=lambda row: (-row[order], row["place"]))


def test_another_file_is_another_stamp(workspace: Workspace, index: Index):
    assert index.stamp == stamp_of(workspace)
    with workspace.games.open("a") as stream:
        stream.write("\n")
    assert index.stamp != stamp_of(workspace)


def test_an_index_of_another_layout_has_another_stamp(
    workspace: Workspace, index: Index, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ragassay.workbench.index.build.LAYOUT", LAYOUT + 1)
    assert index.stamp != stamp_of(workspace)


def test_what_cannot_be_made_whole_leaves_the_index_of_before(workspace: Workspace, index: Index):
    out = workspace.workbench / "index.sqlite"
    before, there = out.read_bytes(), sorted(out.parent.iterdir())
    with workspace.games.open("a") as stream:
        stream.write("{\n")
    with pytest.raises(InputError, match=r"games\.jsonl"):
        build(workspace, out)
    assert out.read_bytes() == before and sorted(out.parent.iterdir()) == there


@pytest.mark.parametrize(("error", "more"), [(NO_ANSWER, 0), ("no reply", 1)])
def test_a_judgment_for_want_of_an_answer_is_no_failure_of_its_own(
    workspace: Workspace, index: Index, error: str, more: int
):
    (before,) = index.queries([0])
    failed = judgment(before["id"], "another", "accuracy", None, error=error)
    write_records(workspace.pointwise, [*read_records(workspace.pointwise, Judgment), failed])
    build(workspace, workspace.workbench / "again.sqlite")
    (after,) = Index(workspace.workbench / "again.sqlite").queries([0])
    assert after["failed"] == before["failed"] + more


def test_a_run_that_has_only_begun_can_be_read(workspace: Workspace):
    for path in (workspace.figures, workspace.games, workspace.relevance, workspace.pointwise, workspace.passages):
        path.unlink()
    build(workspace, workspace.workbench / "index.sqlite")
    index = Index(workspace.workbench / "index.sqlite")
    assert index.n_queries == 12 and index.measures == () and len(index.answers(0)) == 6


def test_where_nothing_can_be_kept_that_is_said_each_time(workspace: Workspace, monkeypatch: pytest.MonkeyPatch):
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    kept = Kept()
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "TemporaryFile", full)
        patch.setattr(tempfile, "TemporaryDirectory", full)
        for _ in range(2):
            with pytest.raises(OSError, match="No space left"):
                kept.folder(workspace)
    assert kept.folder(workspace) == workspace.workbench
