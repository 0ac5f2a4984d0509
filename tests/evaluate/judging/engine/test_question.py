"""Every judge that asks a model can be asked for probabilities: labels as single tokens, texts as before."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.judge_bench import kind_reply
from support.loopback.behaviours import reply, token_probabilities
from support.made_cases import asked_directly

from ragassay.errors import InputError
from ragassay.evaluate.judging.catalog import built_in
from ragassay.evaluate.judging.engine.question import LabelQuestion
from ragassay.models.requests import Reply, Request
from ragassay.prompts import Prompt

BY_SCHEMA = {"step_alignment_and_completeness", "fact_check"}
"""Whose replies hold more than a label: they are asked the same in either mode."""

EMBEDS = {"answer_correctness_claims", "answer_relevancy", "ragas_score"}
"""Those that want an embedding model besides, which their own tests give them."""

JUDGED = {name for name, kind in built_in().items() if kind.calls and kind.asks == "judge"}
ASKING = [name for name in built_in() if name in JUDGED - BY_SCHEMA - EMBEDS]
SHARES = {"0": 0.1, "1": 0.1, "2": 0.3, "3": 0.1, "no": 0.1, "yes": 0.3}


def in_tokens(said):
    """Texts as ever, and these words as the single tokens."""
    return lambda body: said if "logprobs" in body else reply(kind_reply(body))


@pytest.mark.parametrize("name", ASKING)
def test_labels_come_from_the_probabilities_of_single_tokens(name):
    rows, asked = asked_directly(name, in_tokens(token_probabilities(SHARES)), "probability")
    assert rows and all(row.error is None for row in rows) and any("logprobs" in body for body in asked)
    rows, _ = asked_directly(name, in_tokens(reply("2")), "probability")
    assert rows and all(row.label is None and row.error for row in rows), "without log-probabilities an error"


@pytest.mark.parametrize(
    ("name", "label", "probability", "expected"),
    [
        # Of 0 to 3 the mass is .1, .1, .3, .1 of .6 together: the likeliest is 2, the mean (.1 + .6 + .3) / .6.
        *((name, 2, 0.5, 1 / 0.6) for name in ("context_relevance", "answer_relevance", "umbrela")),
        *((name, 1, 0.75, 0.75) for name in ("safety", "correctness", "no_answer")),
    ],
)
def test_a_label_has_its_probability_and_the_mean_stands_beside_it(name, label, probability, expected):
    row = asked_directly(name, in_tokens(token_probabilities(SHARES)), "probability")[0][0]
    assert (row.label, row.probability, row.expected) == (label, pytest.approx(probability), pytest.approx(expected))


def own(*labels):
    """A judge with these labels, in this mode."""
    prompt = Prompt(Path("own.md"), "Judge it.", "Which?", "")
    return LabelQuestion(prompt, labels, "probability")


def test_words_are_asked_for_by_their_place():
    """The first token of "very bad" is "very": no reply would ever name it."""
    question = own("very bad", "good")
    request = question.request({})
    assert request.tokens == ("0", "1")
    assert request.messages[-1].content.endswith("Reply with one digit and nothing else: 0 for very bad, 1 for good.")
    grade = question.read(Reply(probabilities={"0": 0.75, "1": 0.25}))
    assert (grade.label, grade.probability, grade.expected) == (0, 0.75, 0.25)


@pytest.mark.parametrize("labels", [("no", "yes"), ("0", "1", "2"), ("A", "B")])
def test_single_tokens_are_asked_for_as_they_are(labels):
    assert own(*labels).request({}) == Request(own(*labels).prompt.render({}), tokens=labels)


def test_letters_that_differ_in_case_alone_would_be_taken_for_each_other():
    assert own("a", "A").tokens == ("0", "1")


def test_more_labels_than_digits_cannot_be_asked_for():
    with pytest.raises(InputError, match="are not single tokens"):
        own(*(f"label {n}" for n in range(11)))
