"""`ragassay export --format open-rag-eval`: what failed is an empty cell; statistics of other answers are refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from support.results_folder import answer, assessment, results_folder

from ragassay.cli import main
from ragassay.evaluate.figures.answer_consistency import Consistency
from ragassay.files import write_json, write_records
from ragassay.records import AnswerRun, Assessment, Passage, Query

AGENT = "bm25-rag"
EXPERIMENT = """\
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
judges = ["umbrela", "no_answer", "nuggets"]
k = [1, 2]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three queries: two passages found, none found, and an agent that failed before it found any."""
    failed, nothing = "no answer to judge: timed out", "no value: no passage of grade 1 or more was retrieved"
    given = [("q1", "p1", "umbrela", 1.0, None), ("q1", "p2", "umbrela", 3.0, None)]
    given += [("q1", AGENT, "query_answered", 1.0, None), ("q2", AGENT, "query_answered", 0.0, None)]
    given += [
        ("q3", AGENT, "query_answered", None, failed),
        ("q1", AGENT, "nuggets_all", None, "the reply was cut off"),
    ]
    given += [("q2", AGENT, "nuggets_all", None, nothing), ("q3", AGENT, "nuggets_all", None, failed)]
    results_folder(
        tmp_path,
        EXPERIMENT,
        queries=[Query(_id=id, text=f"{id}?") for id in ("q1", "q2", "q3")],
        passages=[Passage(_id=id, text=f"<b>{id}</b>") for id in ("p1", "p2")],
        answers=[
            answer("q1", AGENT, "=1+1 [2]. So [7].", "p1", "p2"),
            answer("q2", AGENT, "I do not know."),
            answer("q3", AGENT, None, error="timed out"),
        ],
        judgments=[assessment(*row, error=error) for *row, error in given],
    )
    return tmp_path


def export(folder: Path) -> list[dict[str, str]]:
    out = folder / "out.csv"
    where = [str(folder / "corpus"), "--results", str(folder / "results"), "--out", str(out)]
    assert main(["export", *where, "--format", "open-rag-eval"]) == 0
    with out.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_ranking_measures_by_hand_nothing_found_and_a_failure(folder: Path) -> None:
    found, none, failed = (json.loads(row["retrieval_score_precision_metrics"]) for row in export(folder))
    assert found == {"precision@": {"1": 0, "2": 0.5}, "AP@": {"1": 0, "2": 0.5}, "MRR": 0.5}
    assert none == {"precision@": {"1": 0, "2": 0}, "AP@": {"1": 0, "2": 0}, "MRR": 0}
    assert failed == {"precision@": {"1": None, "2": None}, "AP@": {"1": None, "2": None}, "MRR": None}


def test_what_has_no_value_is_an_empty_cell(folder: Path) -> None:
    rows = export(folder)
    assert [row["retrieval_score_mean_umbrela_score"] for row in rows] == ["2.0", "", ""]
    assert [row["generation_score_mean_nugget_assignment_score"] for row in rows] == ["", "", ""]
    assert [row["generation_score_autonugget_scores"] for row in rows] == ["", "", ""]
    said = [row["generation_score_no_answer_score"] for row in rows]
    assert said == ['{"query_answered": "yes"}', '{"query_answered": "no"}', ""]
    assert rows[2]["generated_answer"] == ""


def test_citations_have_their_figures_under_their_names_and_ours_under_ours(folder: Path) -> None:
    text = EXPERIMENT.replace('"nuggets"', '"citations"')
    (folder / "corpus" / "experiment.toml").write_text(text)
    given = {"citation_precision": 0.75, "citation_recall": 0.5, "citation_f1": 0.6}
    given |= {"weighted_precision": 1.0, "weighted_recall": 0.25, "weighted_f1": 0.4, "query_answered_strict": 1.0}
    rows = [
        Assessment(query_id="q1", subject=AGENT, judge="m", criterion=criterion, label=label, error=None)
        for criterion, label in given.items()
    ]
    write_records(folder / "results" / "judgments.jsonl", rows)
    row = export(folder)[0]
    theirs = json.loads(row["generation_score_citation_scores"])
    assert theirs == {"weighted_precision": 1.0, "weighted_recall": 0.25, "f1": 0.4}
    assert (row["generation_score_citation_f1_score"], row["generation_score_citation_f1"]) == ("0.4", "0.6")
    assert row["generation_score_query_answered_strict"] == "1.0"


def test_a_single_run_has_no_number_and_several_have(folder: Path) -> None:
    assert not [name for name in export(folder)[0] if name.startswith("run_")]
    text = EXPERIMENT.replace('agents = ["rag"]', 'agents = ["rag"]\nrepeats = 2')
    (folder / "corpus" / "experiment.toml").write_text(text)
    again = {"query_id": "q1", "agent": AGENT, "answer": "So.", "passages": ["p1"], "run": 2}
    runs = [AnswerRun.model_validate({**again, "query_id": id}) for id in ("q1", "q2", "q3")]
    write_records(folder / "results" / "answer-runs" / f"{AGENT}.jsonl", runs)
    row = export(folder)[0]
    assert json.loads(row["run_1_generation_score_no_answer_score"]) == {"query_answered": "yes"}
    assert json.loads(row["run_2_generated_answer"]) == [{"text": "So.", "citations": []}]
    assert "generated_answer" not in row


def test_a_sentence_names_the_passages_that_it_cites_and_that_there_are(folder: Path) -> None:
    assert json.loads(export(folder)[0]["generated_answer"]) == [
        {"text": "=1+1 [2].", "citations": ["p2"]},
        {"text": "So [7].", "citations": []},
    ]


def test_consistency_of_other_answers_is_refused(folder: Path, capsys) -> None:
    text = EXPERIMENT.replace('agents = ["rag"]', 'agents = ["rag"]\nrepeats = 2')
    workspace = results_folder(folder, text)
    write_records(workspace.answer_runs(AGENT), [])
    made = Consistency(embedding="e", n_runs=2, agents={}, queries=(), inputs={"judgments.jsonl": "0" * 64})
    write_json(workspace.consistency, made.dump())
    where = [str(workspace.corpus), "--results", str(workspace.results), "--out", str(folder / "out.csv")]
    assert main(["export", *where, "--format", "open-rag-eval"]) == 2
    assert "consistency.json: is of other answers; run `ragassay consistency` again" in capsys.readouterr().err
