"""Groundedness by embeddings: the least grounded sentence, worked by hand."""

from __future__ import annotations

import pytest


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
