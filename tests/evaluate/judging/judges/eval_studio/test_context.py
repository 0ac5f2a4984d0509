"""Faithfulness, groundedness by embeddings and steps: documented examples, by hand, and against nltk."""

from __future__ import annotations

from itertools import combinations, groupby

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.item_replies import items
from support.loopback.behaviours import refusal
from support.verdict_bench import asked, judge_one, yes_where

from ragassay.evaluate.judging.judges.eval_studio.context import edits, in_order

pytestmark = pytest.mark.xdist_group("models")

BORN = ["Einstein was born in Germany.", "Einstein was born on 20th March 1879."]
FAITH = {"claims": lambda text: {"claims": BORN}, "items": yes_where("claim", BORN[0])}


def test_the_documented_example(bench, monkeypatch):
    """docs.ragas.io, "Faithfulness": of the two statements one can be inferred, 1 / 2."""
    row = judge_one(bench, monkeypatch, "faithfulness", FAITH, passages=["He was born in Ulm, Germany.", "14 March."])
    assert row["faithfulness"].label == 0.5
    assert [(d["claim"], d["label"]) for d in row["faithfulness"].details] == [(BORN[0], "yes"), (BORN[1], "no")]
    assert '<passage number="1">\nHe was born in Ulm' in asked(bench)[-1] and "Nobody found it" not in asked(bench)[-1]


@pytest.mark.parametrize(
    ("case", "error"),
    [
        ({"passages": [" ", "…"]}, "no value: the context holds no words"),
        ({"replies": {"claims": lambda text: {"claims": []}}}, "no value: the answer makes no claim"),
        ({"replies": {"items": lambda text: refusal()}}, "2 of 2 claims could not be judged: the model refused"),
    ],
)
def test_what_cannot_be_computed_is_an_error(bench, monkeypatch, case, error):
    replies = FAITH | case.pop("replies", {})
    row = judge_one(bench, monkeypatch, "faithfulness", replies, **case)["faithfulness"]
    assert row.label is None and row.error.startswith(error)


def test_the_least_grounded_sentence_decides(embedding) -> None:
    answer, passages = "Yes. North lies here [1]. Steep lies there.", ("East lies.", "North lies around.")
    (row,) = embedding.judge("groundedness_embeddings", answer=answer, passages=passages)
    (detail,) = row.details
    assert row.label == pytest.approx(0.8) and row.score == pytest.approx(0.9)
    assert detail == {"sentence": "Steep lies there.", "score": row.label, "nearest": "East lies."}


def test_an_answer_of_the_passages_own_sentences_is_wholly_grounded(embedding) -> None:
    passages = ("East lies around.", "North lies around.")
    (row,) = embedding.judge("groundedness_embeddings", answer=" ".join(passages[::-1]), passages=passages)
    assert row.label == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ({"passages": ()}, "the agent retrieved no passage"),
        ({"passages": ("--", "?")}, "the passages hold no words"),
        ({"answer": "Yes. No."}, "the answer is too short to embed: no sentence has 11 characters"),
        ({"answer": "Nothing is known here."}, "gives no vector for 'Nothing is known here.'"),
    ],
)
def test_what_cannot_be_compared_has_no_value(embedding, parts, error) -> None:
    (row,) = embedding.judge("groundedness_embeddings", **parts)
    assert row.label is None and row.error.startswith("no value: ") and row.error.endswith(error)


NAME = "step_alignment_and_completeness"
PROCEDURE = ["Switch it off.", "Open the lid.", "Take out the card.", "Close the lid."]


def replies(given, wanted=PROCEDURE):
    """The answer's steps are `given`, the passages' `wanted`; a step is the one of the same words."""

    def pairs(text):
        numbers = [wanted.index(step) + 1 if step in wanted else 0 for step in items("sentence", text)]
        return {f"item_{i}": {"reason": "So.", "label": number} for i, number in enumerate(numbers, 1)}

    return {"steps": lambda text: {"steps": wanted if "<passage" in text else given}, "items": pairs}


def values(rows):
    return tuple(rows[name].label for name in ("step_alignment", "step_completeness", "step_edits"))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (PROCEDURE, (1, 1, 0)),
        ([*PROCEDURE[:1], "Ring us.", *PROCEDURE[1:3]], (3 / 4, 3 / 4, 2)),
        ([PROCEDURE[1], PROCEDURE[0], *PROCEDURE[2:]], (3 / 4, 1, 2)),
        ([PROCEDURE[0], PROCEDURE[0], PROCEDURE[1]], (1, 2 / 4, 2)),
        (["Ring us."], (0, 0, 4)),
        ([], (None, 0, 4)),
    ],
)
def test_by_hand(bench, monkeypatch, steps, expected):
    """One step added and one left out; two exchanged; one said twice; none of them; no steps at all."""
    rows = judge_one(bench, monkeypatch, NAME, replies(steps), answer="Do this.")
    assert values(rows) == expected and rows["step_edits"].score is None
    assert [d["is"] for d in rows["step_alignment"].details if "is" in d] == [
        PROCEDURE.index(step) + 1 if step in PROCEDURE else None for step in steps
    ]


def test_against_the_expected_response(bench, monkeypatch):
    lines = (f"[evaluate.settings.{NAME}]", 'against = "expected_response"')
    rows = judge_one(bench, monkeypatch, NAME, replies(PROCEDURE), *lines, expected="Do that.", passages=[])
    assert values(rows) == (1, 1, 0) and not any("<passage" in text for text in asked(bench))


def test_passages_without_a_procedure_give_no_value(bench, monkeypatch):
    rows = judge_one(bench, monkeypatch, NAME, replies(PROCEDURE, wanted=[]))
    assert {row.error for row in rows.values()} == {"no value: no procedure is described"}


numbers = st.lists(st.integers(0, 5), max_size=8)


@given(numbers, st.integers(1, 5))
def test_edits_are_the_edit_distance_of_the_two_lists(pairs, n):
    merged = [one for number, some in groupby(pairs) for one in (list(some) if number == 0 else [number])]
    assert edits(pairs, n) == nltk.edit_distance(merged, list(range(1, n + 1)))


@given(numbers)
def test_no_choice_of_steps_in_order_is_longer(pairs):
    known = [pair for pair in pairs if pair]
    chosen = (some for size in range(len(known) + 1) for some in combinations(known, size))
    assert in_order(pairs) == max(len(some) for some in chosen if list(some) == sorted(some))
