"""Soft recall and precision, and the reciprocal rank of the first near passage, worked by hand."""

from __future__ import annotations

import pytest

PASSAGES = ("East lies here. Steep lies here.", "North lies here.", "East lies here.")  # 0.6, 1 and 0 to "north"


def test_recall_is_the_highest_and_precision_the_mean_relevancy(embedding) -> None:
    recall, precision = embedding.judge("context_relevancy_soft", passages=PASSAGES)
    assert recall.criterion == "soft_recall" and recall.label == pytest.approx(1.0)
    assert precision.criterion == "soft_precision" and precision.label == pytest.approx((0.6 + 1 + 0) / 3)
    assert [(d["passage"], pytest.approx(d["score"])) for d in recall.details] == [("p1", 0.6), ("p2", 1), ("p3", 0)]


def test_a_passage_of_short_sentences_is_taken_with_them(embedding) -> None:
    recall, _ = embedding.judge("context_relevancy_soft", passages=("North.",))
    assert recall.label == pytest.approx(1.0)


@pytest.mark.parametrize(("settings", "label"), [({}, 1 / 2), ({"relevant_from": 0.55}, 1.0), ({"depth": 1}, 0.0)])
def test_the_first_passage_with_a_near_sentence(embedding, settings, label) -> None:
    (row,) = embedding.judge("context_mrr", passages=PASSAGES, **settings)
    assert row.label == row.score == pytest.approx(label)


def test_the_eleventh_passage_comes_too_late(embedding) -> None:
    passages = (*(f"East lies {number}." for number in range(10)), "North lies here.")
    (row,) = embedding.judge("context_mrr", passages=passages)
    assert row.label == 0.0 and row.error is None and row.details == ()
    (row,) = embedding.judge("context_mrr", passages=passages, depth=11)
    assert row.label == pytest.approx(1 / 11)
    assert row.details == ({"passage": "p11", "rank": 11, "score": pytest.approx(1.0)},)


@pytest.mark.parametrize("name", ["context_relevancy_soft", "context_mrr"])
@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ({"passages": ()}, "the agent retrieved no passage"),
        ({"passages": ("North lies here.", "--")}, "passage 'p2' holds no words"),
        ({"question": "?"}, "the question holds no words"),
        ({"question": "why"}, "gives no vector for 'why'"),
    ],
)
def test_what_cannot_be_compared_has_no_value(embedding, name, parts, error) -> None:
    for row in embedding.judge(name, **parts):
        assert row.label is None and row.error.startswith("no value: ") and row.error.endswith(error)
