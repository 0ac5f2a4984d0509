"""Shares by threshold, worked by hand: what passes, what failed of retrieval or generation, what was not read."""

from __future__ import annotations

import pytest
from support.results_folder import answer, assessment

from ragassay.evaluate.figures.good_enough import by_threshold, evidence_found, relevant_by_judges, shares_by_agent
from ragassay.evaluate.judging.engine.cases import Setup
from ragassay.evaluate.judging.engine.evaluator import Criterion, Evaluator
from ragassay.evaluate.judging.judges.pointwise import Correctness
from ragassay.evaluate.judging.judges.relevance import Umbrela
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.records import Assessment, Passage, Query

SETUP = Setup("openai:j")
QUERIES = ("q1", "q2", "q3", "q4", "q5", "q6")


class Toxicity(Evaluator):
    name = "toxicity"
    asks = "nothing"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        return (Criterion(self.name, lower_is_better=True, threshold=0.25),)

    def steps(self, case):
        return []


def failed(query: str, criterion: str, error: str) -> Assessment:
    return assessment(query, "a", criterion, None).model_copy(update={"error": error})


def shares(evaluator: Evaluator, rows: list[Assessment], found: dict[str, bool | None], threshold: float):
    answers = {(query, "a"): answer(query, "a", "So.", "p1", "p2") for query in QUERIES}
    made = shares_by_agent([evaluator], rows, answers, {evaluator.name: threshold}, lambda q, _: found.get(q))
    return by_threshold(made, resamples(QUERIES, 10, 7))["a"][evaluator.name]


def test_yes_and_no_by_hand():
    # of six: two yes, two no (one without evidence, one with), one reply that did not fit, one answer that failed
    labels = {"q1": 1.0, "q2": 1.0, "q3": 0.0, "q4": 0.0}
    rows = [assessment(query, "a", "correctness", label) for query, label in labels.items()]
    rows += [
        failed("q5", "correctness", "the reply does not fit the schema: x"),
        failed("q6", "correctness", "no answer to judge: it timed out"),
    ]
    got = shares(Correctness(SETUP), rows, {"q3": False, "q4": True}, 0.5)
    assert (got.passed.value, got.passed.n, got.passed.n_failed) == (0.5, 4, 2)
    assert (got.failed.value, got.failed.n, got.failed.n_failed) == (0.5, 4, 2)
    parts = (got.retrieval_failures, got.generation_failures, got.unexplained_failures, got.parse_failures)
    assert [part and part.value for part in parts] == [0.25, 0.25, 0.0, 0.2]
    assert got.parse_failures and got.parse_failures.n == 5, "an answer that is not there was not put to the judge"
    assert got.passed.ci_low is not None and got.passed.ci_low < 0.5


def test_little_is_good_where_lower_is_better_and_who_asks_nobody_has_no_reply_to_read():
    rows = [assessment(q, "a", "toxicity", label) for q, label in (("q1", 0.0), ("q2", 0.25), ("q3", 0.26))]
    got = shares(Toxicity(SETUP), rows, {}, 0.25)
    assert got.passed.value == pytest.approx(2 / 3) and got.parse_failures is None
    assert got.unexplained_failures and got.unexplained_failures.value == pytest.approx(1 / 3)


def test_a_judge_of_passages_has_the_mean_of_an_answers_own_and_no_cause():
    rows = [assessment("q1", "p1", "umbrela", 3), assessment("q1", "p2", "umbrela", 1)]
    rows += [assessment("q2", "p1", "umbrela", 3), failed("q2", "umbrela", "x").model_copy(update={"subject": "p2"})]
    got = shares(Umbrela(SETUP), rows, {}, 2.0)
    assert (got.passed.value, got.passed.n, got.passed.n_failed) == (1.0, 1, 1)
    assert got.retrieval_failures is None and got.parse_failures is None


@pytest.mark.parametrize(
    ("passages", "relevant", "expected", "found"),
    [
        (("p1", "p2"), {"p1": False, "p2": True}, None, True),
        (("p1", "p2"), {"p1": False, "p2": False}, None, False),
        (("p1", "p2"), {"p1": False}, None, None),
        ((), {}, None, False),
        (("p1", "p2"), {}, ["d1"], True),
        (("p1", "p2"), {}, ["d2"], False),
        (("p1", "p9"), {}, ["d2"], None),
        (("p1", "p2"), {"p1": False}, ["d1"], None),
    ],
)
def test_whether_evidence_was_found(passages, relevant, expected, found):
    query = Query(_id="q", text="?", metadata={} if expected is None else {"expected_docs": expected})
    known = {id: Passage(_id=id, text="…", metadata={"doc": "d1"}) for id in ("p1", "p2")}
    told = {("q", id): label for id, label in relevant.items()}
    assert evidence_found(query, answer("q", "a", "So.", *passages), told, known) is found


def test_a_passage_is_relevant_by_the_judge_that_says_so():
    rows = [assessment("q", "p1", "umbrela", 2), assessment("q", "p2", "umbrela", 1), assessment("q", "a", "x", 1)]
    assert relevant_by_judges([Umbrela(SETUP)], rows, {"umbrela": 2.0}) == {("q", "p1"): True, ("q", "p2"): False}
