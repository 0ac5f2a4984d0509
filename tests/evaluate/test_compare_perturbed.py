"""`compare` with queries asked again in changed words: flips counted by hand, all else as though there were none."""

from __future__ import annotations

import json

import pytest
from support import results_folder

from ragassay.evaluate.compare import compare
from ragassay.evaluate.inputs.sections import source_clusters
from ragassay.evaluate.report.page import report
from ragassay.records import Passage, Query

AGENTS = ("bm25-rag", "knn-rag")
ORIGINALS = tuple(f"q{n}" for n in range(6))
KINDS = ("case", "typos")
LABELS = {"q0.typos": 0, "q1.typos": 1, "q1.case": 0, "q3.case": None}
"""Of bm25-rag's answers to perturbed queries, whose originals' are all 2 but q5's, 1: what is not 2."""


def folder(root, queries):
    def grade(query: str, agent: str) -> float | None:
        if agent == "knn-rag" or "." in query:
            return LABELS.get(query, 2) if agent == "bm25-rag" else 1
        return 1 if query == "q5" else 2

    settings = results_folder.experiment(
        retrieval={"retrievers": ["bm25"]},
        answer={"agents": ["rag"]},
        agent=[{"name": "knn-rag", "kind": "file", "path": "x.jsonl"}],
        judge={"criteria": ["accuracy"]},
        compare={"bootstrap": 100, "tournaments": 10},
    )
    links = {q: {"perturbed_from": q[:2], "perturbation": q[3:]} for q in queries if "." in q}
    return results_folder.results_folder(
        root,
        settings,
        queries=[Query(id=q, text=f"{q}?", metadata=links.get(q, {})) for q in queries],
        passages=[Passage(id="p0", text="…")],
        rankings={agent: {q: ["p0"] for q in queries} for agent in AGENTS},
        answers=[results_folder.answer(q, agent, "…", "p0") for agent in AGENTS for q in queries],
        relevance=[results_folder.judgment(q, "p0", "relevance", 1) for q in queries],
        pointwise=[results_folder.judgment(q, agent, "accuracy", grade(q, agent)) for q in queries for agent in AGENTS],
        games=[results_folder.game(q, *AGENTS, "a", first) for q in queries for first in ("a", "b")],
    )


@pytest.fixture
def both(tmp_path):
    """The results without perturbed queries, and with two of each."""
    everything = [*ORIGINALS, *(f"{q}.{kind}" for q in ORIGINALS for kind in KINDS)]
    made = [folder(tmp_path / name, queries) for name, queries in (("results", ORIGINALS), ("more", everything))]
    for workspace in made:
        compare(workspace)
    return made, [json.loads(workspace.figures.read_text()) for workspace in made]


def test_flips_by_agent_criterion_and_kind(both) -> None:
    _, (_, results) = both
    found = results["perturbed"]
    assert found["kinds"] == {"case": 6, "typos": 6} and found["n_originals"] == 6
    assert found["thresholds"] == {"accuracy": 1.5}
    flips, worse = found["flips"]["bm25-rag"]["accuracy"], found["worse"]["bm25-rag"]["accuracy"]
    assert (flips["all"]["n"], flips["all"]["n_failed"]) == (11, 1)
    assert flips["all"]["value"] == pytest.approx(5 / 11)  # q0.typos, q1.typos, q1.case; q5.case, q5.typos up
    assert flips["typos"]["value"] == pytest.approx(3 / 6) and flips["case"]["value"] == pytest.approx(2 / 5)
    assert worse["all"]["value"] == pytest.approx(3 / 11)
    assert flips["all"]["ci_low"] < 5 / 11 < flips["all"]["ci_high"]
    assert found["flips"]["knn-rag"]["accuracy"]["all"]["value"] == 0


def test_all_other_figures_are_of_the_originals_alone(both) -> None:
    _, (without, results) = both
    assert "perturbed" not in without
    del results["perturbed"]
    assert results | {"corpus": ""} == without | {"corpus": ""}


def test_the_report_tells_the_flips(both) -> None:
    (without, workspace), _ = both
    for one in (without, workspace):
        report(one)
    assert "worded otherwise" not in without.report.read_text()
    page = workspace.report.read_text()
    assert "Do answers hold when questions are worded otherwise?" in page and "45% (" in page


def test_a_perturbed_query_is_of_its_originals_cluster() -> None:
    queries = [
        Query(id="a", text="one", metadata={"section": "s"}),
        Query(id="b", text="two"),
        Query(id="a.case", text="ONE!", metadata={"perturbed_from": "a"}),
        Query(id="b.case", text="TWO!", metadata={"perturbed_from": "b"}),
    ]
    clusters = source_clusters(queries)
    assert clusters.number("a") == clusters.number("a.case") != clusters.number("b") == clusters.number("b.case")
