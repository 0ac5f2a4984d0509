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
from ragassay.records import Passage, Query

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
    given += [("q1", AGENT, "answered", 1.0, None), ("q2", AGENT, "answered", 0.0, None)]
    given += [("q3", AGENT, "answered", None, failed), ("q1", AGENT, "nuggets_all", None, "the reply was cut off")]
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
    found, none, failed = (json.loads(row["run_1_retrieval_score_precision_metrics"]) for row in export(folder))
    assert found == {"precision@": {"1": 0, "2": 0.5}, "AP@": {"1": 0, "2": 0.5}, "MRR": 0.5}
    assert none == {"precision@": {"1": 0, "2": 0}, "AP@": {"1": 0, "2": 0}, "MRR": 0}
    assert failed == {"precision@": {"1": None, "2": None}, "AP@": {"1": None, "2": None}, "MRR": None}


def test_what_has_no_value_is_an_empty_cell(folder: Path) -> None:
    rows = export(folder)
    assert [row["run_1_retrieval_score_mean_umbrela_score"] for row in rows] == ["2.0", "", ""]
    assert [row["run_1_generation_score_mean_nugget_assignment_score"] for row in rows] == ["", "", ""]
    assert [row["run_1_generation_score_autonugget_scores"] for row in rows] == ["", "", ""]
    said = [row["run_1_generation_score_no_answer_score"] for row in rows]
    assert said == ['{"query_answered": "yes"}', '{"query_answered": "no"}', ""]
    assert rows[2]["run_1_generated_answer"] == ""


def test_a_sentence_names_the_passages_that_it_cites_and_that_there_are(folder: Path) -> None:
    assert json.loads(export(folder)[0]["run_1_generated_answer"]) == [
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
