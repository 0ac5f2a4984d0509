"""`compare` with queries of both kinds: each kind's figures are those of a run with only these queries."""

from __future__ import annotations

import json

import pytest
from support import results_folder

from ragassay.evaluate.compare import compare
from ragassay.evaluate.results import Results
from ragassay.experiment.workspace import Workspace
from ragassay.records import Passage, Query

AGENTS = ("bm25-rag", "bm25-rag-fusion", "knn-rag")
REAL, WRITTEN = tuple(f"r{n}" for n in range(7)), tuple(f"w{n}" for n in range(8))
PASSAGES = [Passage(id=f"p{n}", text="…") for n in range(4)]


def grade(query: str, agent: str) -> float | None:
    """0 to 2; one judgment of each kind failed."""
    if (query, agent) in {("r1", "knn-rag"), ("w2", "bm25-rag")}:
        return None
    return float((int(query[1:]) * (2 + AGENTS.index(agent)) + len(agent)) % 3)


def compared(root, queries, played) -> Results:
    """The run with these queries; games only of those `played`."""
    settings = results_folder.experiment(
        retrieval={"retrievers": ["bm25"]},
        answer={"agents": ["rag", "rag-fusion"]},
        agent=[{"name": "knn-rag", "kind": "file", "path": "x.jsonl"}],
        judge={"criteria": ["accuracy"]},
        compare={"bootstrap": 100, "tournaments": 10},
    )
    ranked = {
        a: {q: [f"p{(int(q[1:]) + n * (1 + i)) % 4}" for n in range(2)] for q in queries} for i, a in enumerate(AGENTS)
    }
    workspace: Workspace = results_folder.results_folder(
        root,
        settings,
        queries=[
            Query(id=q, text="?", metadata={"model": "openai:m", "section": f"s{q}"} if q in WRITTEN else {})
            for q in queries
        ],
        passages=PASSAGES,
        rankings=ranked,
        answers=[results_folder.answer(q, a, "…", *ranked[a][q]) for a in AGENTS for q in queries],
        relevance=[results_folder.judgment(q, p.id, "relevance", int(p.id[1]) % 3) for q in queries for p in PASSAGES],
        pointwise=[results_folder.judgment(q, a, "accuracy", grade(q, a)) for q in queries for a in AGENTS],
        games=[
            results_folder.game(q, AGENTS[one], AGENTS[other], "b" if int(q[1:]) % (2 + one) else "a", first)
            for q in played
            for one, other in ((0, 1), (0, 2), (1, 2))
            for first in ("a", "b")
        ],
    )
    compare(workspace)
    return Results.model_validate(json.loads(workspace.figures.read_text()))


def test_each_kind_has_the_figures_of_a_run_with_only_its_queries(tmp_path):
    queries = (*REAL, *WRITTEN)
    both = compared(tmp_path / "both", queries, queries)
    assert both.sources is not None
    alone = {"real": compared(tmp_path / "r", REAL, REAL), "written": compared(tmp_path / "w", WRITTEN, WRITTEN)}
    assert all(run.sources is None for run in alone.values())
    assert [one.measure for one in both.sources.measures] == [
        *("RR(rel=2)@5", "RR(rel=1)@5", "accuracy", "points", "nDCG@5")
    ]
    for one in both.sources.measures:
        for kind, run in alone.items():
            for agent, figure in getattr(one, kind).items():
                own = {**run.retrieval[agent], **run.pointwise[agent]}.get(one.measure)
                if own is not None:
                    assert figure == own, (one.measure, kind, agent)
                else:
                    assert figure.value == pytest.approx(run.win_rate[agent].value)
    accuracy = both.sources.measures[2]
    assert accuracy.real["knn-rag"].n_failed == accuracy.written["bm25-rag"].n_failed == 1
    assert "Of these queries 7 are real and 8 written." in both.verdict.sentence


def test_games_on_written_queries_alone_give_no_order_by_the_real_ones(tmp_path):
    both = compared(tmp_path, (*REAL, *WRITTEN), WRITTEN)
    assert both.sources is not None
    rate = both.sources.measures[3]
    assert rate.figures["tau_b"].value is None and "both kinds of queries" in rate.undefined["tau_b"]
    assert all(figure.value is None for figure in rate.real.values()) and rate.written["bm25-rag"].value is not None
    assert "Of these queries 0 are real and 8 written." in both.verdict.sentence
    assert both.sources.measures[2].figures["tau_b"].value is not None
