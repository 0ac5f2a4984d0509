"""Labels and games from token probabilities. Expected values: G-Eval's equation 1, sum of p(label) x label."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scripted_judge import records_of, request_of

from ragassay.evaluate.judging.engine.cases import AnswerCase, Evidence, GameCase, PassageCase, Setup
from ragassay.evaluate.judging.judges import PROMPTS, pairwise, pointwise, relevance
from ragassay.evaluate.ratings.verdicts import verdicts
from ragassay.models.requests import Reply
from ragassay.prompts import Prompt
from ragassay.records import Answer, Passage, Query

SETUP = Setup("local:m", "probability")
QUERY = Query(id="q1", text="Which header declares delay_ms?")
CASE = PassageCase(QUERY, Passage(id="p1", text="util/delay.h declares it."))
TOKEN_JUDGE = relevance.RelevanceByToken(SETUP, Prompt.load(PROMPTS / "relevance_token.md"))


def yes_no_judge(threshold):
    return relevance.RelevanceByYes(SETUP, Prompt.load(PROMPTS / "relevance_yes_no.md"), threshold)


def pairing(first):
    a, b = (Answer(query_id="q1", agent=agent, answer=f"of {agent}") for agent in ("x", "y"))
    return GameCase(QUERY, a, b, first, ())


def game(first, p_of_place_a):
    judge = pairwise.PairwiseByToken(SETUP, Prompt.load(PROMPTS / "pairwise_token.md"), ("depth",), first)
    [row] = records_of(judge, pairing(first), Reply(probabilities={"A": p_of_place_a, "B": 1 - p_of_place_a}))
    return row


def test_the_label_is_the_likeliest_and_the_expected_value_stands_beside_it():
    [row] = records_of(TOKEN_JUDGE, CASE, Reply(probabilities={"0": 0.2, "1": 0.3, "2": 0.5}))
    assert (row.label, row.probability) == (2, 0.5)
    assert row.expected == pytest.approx(1.3)
    assert row.reason is None


def test_of_equally_likely_labels_the_lowest():
    [row] = records_of(TOKEN_JUDGE, CASE, Reply(probabilities={"2": 0.4, "1": 0.4 + 1e-12, "0": 0.2 - 1e-12}))
    assert row.label == 1


@given(st.lists(st.floats(0.001, 1), min_size=3, max_size=3))
def test_any_distribution_gives_a_label_on_the_scale(weights):
    p = {token: w / math.fsum(weights) for token, w in zip("012", weights, strict=True)}
    [row] = records_of(TOKEN_JUDGE, CASE, Reply(probabilities=p))
    assert row.label in {0, 1, 2} and 1 / 3 - 1e-9 <= row.probability <= 1
    assert 0 <= row.expected <= 2 + 1e-9 and row.expected == pytest.approx(p["1"] + 2 * p["2"])


@pytest.mark.parametrize(
    "probabilities",
    [
        {},
        {"2": 1.0},
        {"0": 0.5, "1": 0.5, "2": 0.5},
        {"0": math.nan, "1": 0.5, "2": 0.5},
        {"0": -0.5, "1": 1.0, "2": 0.5},
        {"0": 0.0, "1": 0.0, "2": 0.0},
        {"Yes": 0.5, "No": 0.5},
    ],
    ids=str,
)
def test_what_is_no_distribution_over_the_labels_is_an_error(probabilities):
    [row] = records_of(TOKEN_JUDGE, CASE, Reply(probabilities=probabilities))
    assert row.label is None and row.error


@pytest.mark.parametrize(
    ("p_yes", "threshold", "label", "probability"),
    [(0.7, 0.5, 2, 0.7), (0.5, 0.5, 2, 0.5), (0.3, 0.5, 0, 0.7), (0.7, 0.8, 0, 0.3), (0.9, 0.8, 2, 0.9)],
)
def test_yes_or_no_by_the_threshold_of_the_settings(p_yes, threshold, label, probability):
    [row] = records_of(yes_no_judge(threshold), CASE, Reply(probabilities={"Yes": p_yes, "No": 1 - p_yes}))
    assert row.label == label
    assert row.probability == pytest.approx(probability) and row.expected == pytest.approx(2 * p_yes)


def test_criteria_are_asked_one_by_one_with_the_criterion_last():
    prompt = Prompt.load(PROMPTS / "pointwise_token.md")
    evidence = (Evidence(CASE.passage, None),)
    case = AnswerCase(QUERY, Answer(query_id="q1", agent="x", answer="util/delay.h"), (), evidence)
    texts = []
    for criterion in ("accuracy", "precision"):
        judge = pointwise.PointwiseByToken(SETUP, prompt, criterion)
        request = request_of(judge, case)
        assert request.tokens == ("0", "1", "2") and request.schema is None
        texts.append(request.messages)
        [row] = records_of(judge, case, Reply(probabilities={"0": 0.1, "1": 0.8, "2": 0.1}))
        assert (row.criterion, row.label, row.subject) == (criterion, 1, "x")
    assert texts[0][0] == texts[1][0]  # what the requests share stands first
    shared = texts[0][1].content.index("Grade the accuracy")
    assert texts[0][1].content[:shared] == texts[1][1].content[:shared]


def test_whether_it_is_a_refusal_is_asked_by_yes_or_no_behind_what_both_share():
    prompt = Prompt.load(PROMPTS / "answer_correctness_token.md")
    answered = Answer(query_id="q1", agent="x", answer="I could not find it.")
    case = AnswerCase(QUERY, answered, (), (Evidence(CASE.passage, None),))
    label, refusal = (
        pointwise.CorrectnessByToken(SETUP, prompt),
        pointwise.RefusalByToken(SETUP, prompt),
    )
    first, second = (request_of(judge, case) for judge in (label, refusal))
    assert first.tokens == ("0", "1", "2") and second.tokens == ("Yes", "No")
    shared = first.messages[1].content.index("Does the user get")
    assert first.messages[0] == second.messages[0]
    assert first.messages[1].content[:shared] == second.messages[1].content[:shared]
    [row] = records_of(refusal, case, Reply(probabilities={"Yes": 0.8, "No": 0.2}))
    assert (row.criterion, row.label, row.probability, row.expected) == ("refusal", 1, 0.8, 0.8)
    [row] = records_of(refusal, case, Reply(probabilities={"Yes": 0.4, "No": 0.6}))
    assert (row.label, row.probability, row.expected) == (0, 0.6, 0.4)
    [row] = records_of(refusal, case, Reply(error="timed out"))
    assert row.label is None and row.error == "timed out"


def test_a_game_keeps_the_probability_of_agent_a_in_both_orders():
    assert (game("a", 0.8).winner, game("a", 0.8).probability) == ("a", 0.8)
    assert game("b", 0.8).winner == "b" and game("b", 0.8).probability == pytest.approx(0.2)
    assert game("a", 0.5).winner == "tie"


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_judge_that_only_sees_places_is_averaged_away(p_first, p_other):
    [fair] = verdicts([game("a", p_first), game("b", p_first)])
    assert fair.winner == "tie"
    [verdict] = verdicts([game("a", p_first), game("b", p_other)])
    assert verdict.probability == pytest.approx((p_first + 1 - p_other) / 2)
