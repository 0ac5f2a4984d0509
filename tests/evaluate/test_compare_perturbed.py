"""`compare` with queries asked again in changed words: flips counted by hand, all else as though there were none."""

from __future__ import annotations

import json

import pytest
from support.perturbed_folder import KINDS, ORIGINALS, folder

from ragassay.evaluate.compare import compare
from ragassay.evaluate.inputs.clusters import source_clusters
from ragassay.evaluate.report.page import report
from ragassay.records import Query


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


def test_a_case_that_flips_is_a_problem(both) -> None:
    _, (_, results) = both
    (problem,) = [one for one in results["problems"] if one["kind"] == "flips"]
    assert (problem["agent"], problem["criterion"]) == ("bm25-rag", "accuracy")
    assert problem["sentence"] == (
        "bm25-rag: 5 of 11 answers cross the threshold of accuracy, 1.5, when their question is asked in changed "
        "words, 3 of them for the worse (q0.typos, q1.case, q1.typos, …); 1 pair lacks a label."
    )
    cases = results["perturbed"]["flipped"]["bm25-rag"]["accuracy"]
    assert sorted(cases) == ["q0.typos", "q1.case", "q1.typos", "q5.case", "q5.typos"]


def test_all_other_figures_are_of_the_originals_alone(both) -> None:
    _, (without, results) = both
    assert "perturbed" not in without
    del results["perturbed"]
    assert {one["kind"] for one in results.pop("problems")} == {"flips"}
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
