"""What speaks of a test set says the same with perturbed queries in it as without, and how many it left out."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from support.json_lines import records, write_lines
from support.perturbed_folder import AGENTS, KINDS, ORIGINALS, ask_again, folder
from support.results_folder import answer, assessment, results_folder
from support.validity_corpus import make_validity_corpus

from ragassay.cli import main
from ragassay.evaluate.compare import compare, corrected_so_far
from ragassay.evaluate.from_files.gate import gate, markdown
from ragassay.evaluate.human_labels.sheet import draw_into
from ragassay.evaluate.inputs.labels import Label, write_labels
from ragassay.evaluate.report.page import by_question
from ragassay.evaluate.report.queries import read_evidence
from ragassay.evaluate.screening.screen import screen
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Passage, Query
from ragassay.workbench.index.build import build
from ragassay.workbench.index.read import Index

LEFT_OUT = "perturbed questions are left out: the same question in changed words is no further question"
EVERYTHING = [*ORIGINALS, *(f"{q}.{kind}" for q in ORIGINALS for kind in KINDS)]


@pytest.fixture
def two(tmp_path: Path) -> tuple[Workspace, Workspace]:
    """Results without perturbed queries, and with two of each of the six."""
    made = folder(tmp_path / "without", ORIGINALS), folder(tmp_path / "with", EVERYTHING)
    for workspace in made:
        compare(workspace)
    return made


def test_validity(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, results = make_validity_corpus(tmp_path)
    said, n = [], 0
    for _ in range(2):
        assert main(["check", "validity", str(corpus), "--results", str(results), "--json", "--no-embeddings"]) == 0
        said.append(json.loads(capsys.readouterr().out))
        if not n:
            n = ask_again(results / "queries.jsonl")
            rows = [row | {"n": 2 * row["n"]} for row in records(results / "screening.jsonl")]
            write_lines(results / "screening.jsonl", rows)
    without, found = said
    assert found["coverage"]["said"] == [*without["coverage"]["said"], f"{n} {LEFT_OUT}"]
    for one in (without, found):
        del one["coverage"]["said"], one["queries"]
    assert found == without and found["n_real"] == 30


def test_the_screening_and_who_goes_on(tmp_path: Path) -> None:
    corpus, results = make_validity_corpus(tmp_path)
    workspace = Workspace(corpus, results, load_experiment(corpus / "experiment.toml"))
    screen(workspace)
    without, n = json.loads(workspace.screen.read_text()), ask_again(workspace.queries)
    outcome = screen(workspace)
    assert json.loads(workspace.screen.read_text()) == without
    assert outcome.notices[-1] == f"{n} {LEFT_OUT}" and "have no evidence" not in " ".join(outcome.notices)


def test_the_gate(two: tuple[Workspace, Workspace]) -> None:
    without, found = (gate(one.results, one.results) for one in two)
    assert (found.rows, found.n_queries) == (without.rows, 6)
    assert markdown(found) == f"{markdown(without)}\n12 {LEFT_OUT}.\n"


def test_what_people_label_and_what_their_labels_correct(two: tuple[Workspace, Workspace], tmp_path: Path) -> None:
    sheets = [draw_into(one, n=40, seed=7, out=tmp_path / f"{n}.csv") for n, one in enumerate(two)]
    assert sheets[0][0].read_text() == sheets[1][0].read_text() and sheets[0][1] == sheets[1][1]
    corrected = []
    for one in two:
        said = [_label(q) for q in ORIGINALS]
        write_labels(one.own_labels, said)
        corrected.append(corrected_so_far(one))
    assert corrected[0] == corrected[1] is not None


def _label(query: str) -> Label:
    return Label(query=query, subject=AGENTS[0], criterion="accuracy", label=2, who="ann", when="2026-01-01")


def test_the_reports_heat_map_and_the_workbenchs_figures(two: tuple[Workspace, Workspace]) -> None:
    maps = [by_question(read_evidence(one, AGENTS), AGENTS) for one in two]
    assert maps[0] == maps[1] is not None
    indexes = []
    for one in two:
        build(one, one.workbench / "index.sqlite")
        indexes.append(Index(one.workbench / "index.sqlite"))
    for name in [measure.name for measure in indexes[0].measures]:
        (without, owed), (found, owed_too) = [(one.column(name), one.owed(name)) for one in indexes]
        assert without.keys() == found.keys()
        for agent in without:  # the originals come first, and of the others nothing is owed
            assert found[agent][:6].tolist() == pytest.approx(without[agent].tolist(), nan_ok=True)
            assert owed_too[agent].tolist() == [*owed[agent].tolist(), *[False] * 12]


EXPORTED = """\
[questions]
source = "own"
[retrieval]
retrievers = ["bm25"]
[answer]
model = "openai:m"
agents = ["rag"]
[judge]
model = "openai:m"
[evaluate]
judges = ["relevance_to_query", "no_answer"]
"""
LINK = {"perturbed_from": "q1", "perturbation": "case"}


@pytest.fixture
def exported(tmp_path: Path) -> Workspace:
    """q1 with a good answer, q1 asked again in capitals with a bad one."""
    queries = [Query(_id="q1", text="How?"), Query(_id="q1.case", text="HOW?", metadata=LINK)]
    return results_folder(
        tmp_path,
        EXPORTED,
        queries=queries,
        passages=[Passage(_id="p1", text="So.")],
        answers=[answer(query.id, "bm25-rag", "So.", "p1") for query in queries],
        judgments=[
            assessment(id, "bm25-rag", name, label, score=label, reason="So.")
            for id, label in (("q1", 1.0), ("q1.case", 0.0))
            for name in ("relevance_to_query", "query_answered")
        ],
    )


@pytest.mark.parametrize("layout", ["agent-evaluation", "open-rag-eval"])
def test_tables_keep_perturbed_rows_with_their_link(exported: Workspace, tmp_path: Path, layout: str) -> None:
    out, figures = tmp_path / "out.csv", tmp_path / "figures.json"
    options = ["--results", str(exported.results), "--format", layout, "--out", str(out)]
    metrics = ["--metrics", str(figures)] if layout == "agent-evaluation" else []
    assert main(["export", str(exported.corpus), *options, *metrics]) == 0
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert [{name: row[name] for name in LINK} for row in rows] == [dict.fromkeys(LINK, ""), LINK]
    if metrics:
        found = json.loads(figures.read_text())
        share = found["agents"]["bm25-rag"]["metrics"]["response/llm_judged/relevance_to_query/rating/percentage"]
        assert (share["value"], share["n"]) == (1, 1), "of the original alone"
        assert (found["queries"], found["perturbed_left_out"]) == (1, 1)


@pytest.mark.parametrize(("to", "file"), [("beir", "queries.jsonl"), ("ragas", "bm25-rag.jsonl")])
def test_collections_keep_the_link(exported: Workspace, tmp_path: Path, to: str, file: str) -> None:
    assert main(["export", str(exported.results), "--to", to, "--out", str(tmp_path / "out")]) == 0
    first, second = records(tmp_path / "out" / file)
    found = second["metadata"] if to == "beir" else {name: second[name] for name in LINK}
    assert found == (LINK if to == "beir" else LINK | {"perturbed_from": "How?"}), "samples have no ids"
    assert not set(LINK) & set(first)


def test_a_run_of_some_rows_alone_owes_nothing_of_the_others(tmp_path: Path) -> None:
    """Of the first two answers one is an original's: the second original was not judged, and none is missing."""
    text = EXPORTED.replace('"relevance_to_query", "no_answer"]', '"no_answer"]\nmax_rows = 2')
    ids = ["q1", "q1.case", "q2", "q2.case"]
    links = {id: {"perturbed_from": id[:2], "perturbation": "case"} for id in ids if "." in id}
    workspace = results_folder(
        tmp_path,
        text,
        queries=[Query(_id=id, text=f"{id}?", metadata=links.get(id, {})) for id in ids],
        passages=[Passage(_id="p1", text="So.")],
        answers=[answer(id, "bm25-rag", "So.", "p1") for id in ids],
        judgments=[assessment(id, "bm25-rag", "query_answered", 1.0) for id in ids[:2]],
        relevance=[],
        pointwise=[],
        games=[],
    )
    compare(workspace)
    figure = json.loads(workspace.figures.read_text())["evaluations"]["bm25-rag"]["query_answered"]
    assert (figure["n"], figure["n_failed"]) == (1, 0)
    assert len(read_records(workspace.queries, Query)) == 4
