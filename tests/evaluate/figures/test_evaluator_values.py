"""Values by query of what evaluators gave: every query that owes a value has one, or None where it failed."""

from __future__ import annotations

from typing import Any

import pytest
from support import results_folder
from support.results_folder import answer, assessment, scored

from ragassay.evaluate.figures.evaluator_values import evaluations_by_query, measures_of
from ragassay.evaluate.inputs.findings import Findings, Material
from ragassay.evaluate.judging.engine.cases import Setup
from ragassay.evaluate.judging.engine.evaluator import Evaluator, Options
from ragassay.evaluate.judging.judges.pointwise import NoAnswer, custom_judge
from ragassay.evaluate.judging.judges.relevance import Umbrela
from ragassay.experiment.settings import CustomJudgeSettings
from ragassay.records import Assessment, Passage, Query

SETUP = Setup("openai:j")
RETRIEVED = {"q1": ("p1", "p2", "p3"), "q2": (), "q3": ()}


def findings() -> Findings:
    """Agent a: three passages for q1, none found for q2, and for q3 a retrieval that failed."""
    queries = tuple(Query(_id=id, text=f"{id}?") for id in RETRIEVED)
    answers = {
        (id, "a"): answer(id, "a", None if id == "q3" else "So.", *passages) for id, passages in RETRIEVED.items()
    }
    known = {id: Passage(_id=id, text="…") for id in RETRIEVED["q1"]}
    rankings = {"a": {"q1": scored(RETRIEVED["q1"]), "q2": [], "q3": None}}
    return results_folder.findings(Material(queries, ("a",), known, answers), rankings=rankings)


def row(subject: str, criterion: str, label: float | None, query: str = "q1") -> Assessment:
    return assessment(query, subject, criterion, label)


def values(evaluator: Evaluator, rows: list[Assessment], k: tuple[int, ...] = (1, 3)) -> dict[str, Any]:
    return evaluations_by_query(findings(), rows, [evaluator], k).values["a"]


def test_grades_of_passages_by_hand() -> None:
    # relevant at ranks 1 and 3: P@3 2/3, AP@3 (1/1 + 2/3) / 2, of which the first rank alone has 1/2
    got = values(Umbrela(SETUP), [row(p, "umbrela", grade) for p, grade in (("p1", 3), ("p2", 1), ("p3", 2))])
    assert {name: found["q1"] for name, found in got.items()} == pytest.approx(
        {"umbrela": 2.0, "umbrela.P(rel=2)@1": 1.0, "umbrela.AP(rel=2)@1": 0.5, "umbrela.RR(rel=2)@1": 1.0}
        | {"umbrela.P(rel=2)@3": 2 / 3, "umbrela.AP(rel=2)@3": 5 / 6, "umbrela.RR(rel=2)@3": 1.0}
    )
    assert measures_of([Umbrela(SETUP), NoAnswer(SETUP)], (1, 3)) == [*got, "query_answered", "query_answered_strict"]


def test_no_query_leaves_the_denominator() -> None:
    """Nothing found is 0 by a ranking measure and no mean; a retrieval that failed is neither."""
    got = values(Umbrela(SETUP), [row(p, "umbrela", 3) for p in RETRIEVED["q1"]])
    assert got["umbrela"] == {"q1": 3.0, "q2": None, "q3": None}
    assert got["umbrela.P(rel=2)@3"] == {"q1": 1.0, "q2": 0.0, "q3": None}


def test_a_grade_that_failed_opens_what_it_might_change() -> None:
    got = values(Umbrela(SETUP), [row(p, "umbrela", grade) for p, grade in (("p1", 3), ("p2", None), ("p3", 2))])
    found = {name: measure["q1"] for name, measure in got.items()}
    assert found.pop("umbrela.P(rel=2)@1") == found.pop("umbrela.RR(rel=2)@1") == found.pop("umbrela.RR(rel=2)@3") == 1
    assert set(found.values()) == {None}


def test_what_judges_answers_is_its_label_and_none_where_it_failed() -> None:
    labels = {"q1": 1.0, "q2": 0.0, "q3": None}
    rows = [row("a", "query_answered", label, query) for query, label in labels.items()]
    assert values(NoAnswer(SETUP), rows) == {"query_answered": labels}


def test_a_query_without_the_ground_truth_owes_nothing() -> None:
    wants = CustomJudgeSettings(
        name="own", prompt="own.md", of="passage", labels=(0, 1, 2, 3), needs=("expected_response",)
    )
    got = values(custom_judge(wants, SETUP, Options()), [])
    assert got and all(found == {} for found in got.values())
