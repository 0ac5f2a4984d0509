"""A look on all queries is the report's own; a slice is a look at its queries alone and says no more than they do."""

from __future__ import annotations

import math
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from support.made_up_results.workspace import make_workspace
from support.results_folder import answer, assessment, experiment, results_folder

from ragassay.evaluate.figures.query_values import retrieval_by_query
from ragassay.evaluate.inputs.clusters import source_clusters
from ragassay.evaluate.inputs.findings import read_findings
from ragassay.evaluate.statistics.paired_comparison import compare_pairs
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.experiment.workspace import Workspace
from ragassay.records import Passage, Query
from ragassay.workbench.index.build import build
from ragassay.workbench.index.read import Index
from ragassay.workbench.look import Slice, Wanted, choices, look
from ragassay.workbench.look import test_set as columns_of
from ragassay.workbench.views.decision import BINS, ONE_BY_ONE, heat_columns


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path, 40)


@pytest.fixture
def index(workspace: Workspace) -> Index:
    build(workspace, workspace.workbench / "index.sqlite")
    return Index(workspace.workbench / "index.sqlite")


def test_on_all_queries_means_and_differences_are_those_of_compare(workspace: Workspace, index: Index):
    findings = read_findings(workspace)
    measured = retrieval_by_query(findings, workspace.experiment.retrieval.k)
    measure = next(one.name for one in index.measures if one.name.startswith("RR"))
    values = {agent: row[measure] for agent, row in measured.items()}
    clusters = source_clusters(findings.material.queries)
    pairs = {(row.agent_a, row.agent_b): row for row in compare_pairs(measure, values, clusters)}
    means = resamples(findings.queries, 2, 7, clusters)
    for baseline in values:
        found = look(index, Wanted(measure, baseline, Slice(), tuple(values), 7))
        assert found.means == {agent: means.figure(row, (0.0, 1.0)) for agent, row in values.items()}
        for row in found.against:
            turned = (baseline, row.agent) not in pairs
            pair = pairs[(row.agent, baseline) if turned else (baseline, row.agent)]
            assert pair.difference.value is not None
            assert row.difference.value == (-pair.difference.value if turned else pair.difference.value)
            assert row.difference.n_failed == pair.difference.n_failed
            told = {"better": "worse", "worse": "better"}.get(pair.verdict, pair.verdict) if turned else pair.verdict
            assert row.verdict == told
            assert row.won + row.level + row.lost == row.difference.n


def test_a_slice_is_its_queries_alone(index: Index):
    measure, agents, queries = index.measures[0].name, index.agents, columns_of(index)
    for third in ("short", "middle", "long"):
        found = look(index, Wanted(measure, agents[0], Slice(third=third), agents, 7))
        assert found.places == tuple(np.flatnonzero(Slice(third=third).mask(index, queries)))
        column = index.column(measure)[agents[0]][list(found.places)]
        known = column[~np.isnan(column)]
        assert found.means[agents[0]].value == pytest.approx(known.mean()) and found.means[agents[0]].n == len(known)
        for row in found.against:
            gaps = index.column(measure)[agents[0]] - index.column(measure)[row.agent]
            assert all(gaps[place] < 0 for place in row.lost_at) and all(gaps[place] > 0 for place in row.won_at)


def test_thirds_are_every_query_once_and_the_words_of_the_form_are_true(index: Index):
    queries = columns_of(index)
    masks = [Slice(third=third).mask(index, queries) for third in ("short", "middle", "long")]
    assert (np.sum(masks, axis=0) == 1).all()
    entries = dict(next(one for one in choices(index, queries) if one.name == "length").entries)
    assert entries["short"] == f"short: to {queries.words[masks[0]].max():g} words"


def test_few_queries_have_figures_but_no_verdict(tmp_path: Path):
    workspace = make_workspace(tmp_path, 5)
    build(workspace, workspace.workbench / "index.sqlite")
    index = Index(workspace.workbench / "index.sqlite")
    found = look(index, Wanted(index.measures[0].name, index.agents[0], Slice(), index.agents, 7))
    assert found.few and {row.verdict for row in found.against} == {""}
    assert all(row.sentence == "" and row.difference.n for row in found.against)


def test_the_heat_map_has_every_query_once_the_worst_first():
    rng = np.random.default_rng(3)
    for n in (1, 7, ONE_BY_ONE, ONE_BY_ONE + 1, 1000):
        values = rng.random((4, n))
        values[rng.random((4, n)) < 0.1] = np.nan
        columns = heat_columns(values, list(range(n)))
        assert sorted(place for one in columns for place in one.places) == list(range(n))
        assert len(columns) == (n if n <= ONE_BY_ONE else BINS)
        means = [np.nanmean(values[:, list(one.places)]) for one in columns if np.isfinite(one.values).any()]
        assert n > ONE_BY_ONE or means == sorted(means)
        for one in columns:
            part = values[:, list(one.places)]
            for agent, value in enumerate(one.values):
                known = part[agent][~np.isnan(part[agent])]
                assert math.isclose(value, known.mean()) if len(known) else math.isnan(value)


JUDGED = ("relevance_to_query", "agent_groundedness", "safety")


def test_root_causes_are_those_of_agent_evaluation(tmp_path: Path):
    one = {"retrieval": {"retrievers": ["bm25"]}, "answer": {"agents": ["rag"]}}
    settings = experiment(**one, evaluate={"judges": ["agent-evaluation"]})
    queries = [Query(_id=id, text=f"Which is {id}?") for id in ("q1", "q2", "q3")]
    given = [
        assessment(id, "bm25-rag", name, label=yes, score=yes, judge="openai:m")
        for id in ("q1", "q2", "q3")
        for name in JUDGED
        for yes in (0 if (id, name) == ("q2", "agent_groundedness") else 1,)
    ]
    given += [assessment(id, "p1", "chunk_relevance", label=1, score=1, judge="openai:m") for id in ("q1", "q2", "q3")]
    workspace = results_folder(
        tmp_path,
        settings,
        queries=queries,
        passages=[Passage(_id="p1", text="text")],
        answers=[answer(id, "bm25-rag", "so", "p1") for id in ("q1", "q2", "q3")],
        judgments=given,
    )
    workspace.figures.write_text("{}")
    build(workspace, workspace.workbench / "index.sqlite")
    index = Index(workspace.workbench / "index.sqlite")
    assert index.causes == {"groundedness": [1]}
    assert Slice(cause="groundedness").mask(index, columns_of(index)).tolist() == [False, True, False]


def test_queries_picked_by_how_agents_did_on_them_have_no_verdict(workspace: Workspace, index: Index):
    with sqlite3.connect(index.path) as connection:
        connection.executemany("INSERT INTO causes VALUES (?, 0, 'safety')", [(place,) for place in range(30)])
    index = Index(index.path)
    found = look(index, Wanted(index.measures[0].name, index.agents[0], Slice(cause="safety"), index.agents, 7))
    assert found.n == 30 and not found.few and {row.verdict for row in found.against} == {""}
