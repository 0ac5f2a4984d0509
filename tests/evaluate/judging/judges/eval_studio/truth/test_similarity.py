"""Semantic and sentence similarity: cosines worked by hand, and a cross-encoder as sentence-transformers runs it."""

from __future__ import annotations

import pytest
from support import tiny_models


@pytest.mark.parametrize(
    ("answer", "expected", "cosine"),
    [
        ("north", "north", 1.0),
        ("steep", "north", 0.6),
        ("north east", "north", 0.5**0.5),
        ("north", "east", 0.0),
        ("south", "north", -1.0),
    ],
)
def test_the_cosine_of_both_texts_whole(embedding, answer, expected, cosine) -> None:
    (row,) = embedding.judge("semantic_similarity", answer=answer, expected=expected)
    assert row.label == pytest.approx(cosine) and row.score == pytest.approx((1 + cosine) / 2)
    assert row.judge == embedding.model and row.criterion == "semantic_similarity"
    assert not embedding.bench.server.requests


def test_an_embedding_of_its_own_by_the_settings(embedding, tmp_path) -> None:
    other = tiny_models.static_model(tmp_path, {"north": (1.0, 0.0), "steep": (0.0, 1.0)})
    (row,) = embedding.judge("semantic_similarity", answer="steep", embedding=other)
    assert row.label == pytest.approx(0.0) and row.judge == other


@pytest.mark.parametrize(
    ("answer", "expected", "error"),
    [
        ("?!", "north", "no value: the answer holds no words"),
        ("north", "...", "no value: the expected response holds no words"),
        ("nowhere", "north", "no value: {model} gives no vector for 'nowhere'"),
    ],
)
def test_what_cannot_be_embedded_has_no_value(embedding, answer, expected, error) -> None:
    (row,) = embedding.judge("semantic_similarity", answer=answer, expected=expected)
    assert row.label is None and row.score is None and row.error == error.format(model=embedding.model)


def test_a_cross_encoder_in_place_of_the_embedding(embedding, tmp_path) -> None:
    from sentence_transformers import CrossEncoder

    folder = tiny_models.cross_encoder(tmp_path / "sts", ("score",))
    (row,) = embedding.judge(
        "semantic_similarity", answer="it waits busily", expected="a busy wait", cross_encoder=folder
    )
    expected = CrossEncoder(folder, device="cpu").predict([("a busy wait", "it waits busily")])[0]
    assert 0.01 < expected < 0.99
    assert row.label == row.score == pytest.approx(float(expected), abs=1e-6) and row.judge == folder


def test_a_pair_that_a_cross_encoder_would_cut_off_has_no_value(embedding, tmp_path) -> None:
    folder = tiny_models.cross_encoder(tmp_path / "sts", ("score",))  # 64 tokens, 3 of them special
    fits, long = ("wait " * 60).strip(), ("wait " * 61).strip()
    (row,) = embedding.judge("semantic_similarity", answer=fits, expected="it", cross_encoder=folder)
    assert row.error is None
    (row,) = embedding.judge("semantic_similarity", answer=long, expected="it", cross_encoder=folder)
    assert row.error == f"no value: the two texts are longer than the 64 tokens that {folder} reads"


def test_a_cross_encoder_that_is_not_there_is_one_sentence(embedding, tmp_path, capsys) -> None:
    (tmp_path / "empty").mkdir()
    assert not embedding.judge("semantic_similarity", cross_encoder=str(tmp_path / "empty"))
    said = capsys.readouterr().err
    assert embedding.bench.status == 2 and "cannot be loaded" in said
    assert "give a folder or a hub name as cross_encoder under [evaluate.settings.semantic_similarity]" in said


EXPECTED = "North lies here. East lies here."


def test_each_sentence_against_the_nearest_expected_one(embedding) -> None:
    mean, least = embedding.judge(
        "sentence_similarity", answer="North lies there [1]. Steep lies there.", expected=EXPECTED
    )
    assert mean.criterion == "sentence_similarity_mean" and mean.label == pytest.approx((1 + 0.8) / 2)
    assert least.criterion == "sentence_similarity_min" and least.label == pytest.approx(0.8)
    (detail,) = mean.details
    assert detail["sentence"] == "Steep lies there." and detail["nearest"] == "East lies here."
    assert detail["score"] == pytest.approx(0.8)


def test_a_sentence_that_stands_twice_counts_twice(embedding) -> None:
    mean, _ = embedding.judge("sentence_similarity", answer="Steep. Steep. East.", expected=EXPECTED)
    assert mean.label == pytest.approx((0.8 + 0.8 + 1) / 3)


def test_sentences_without_words_have_no_similarity(embedding) -> None:
    rows = embedding.judge("sentence_similarity", answer="--", expected=EXPECTED)
    assert [row.error for row in rows] == [
        "no value: the answer is too short to embed: no sentence has 1 characters"
    ] * 2
    rows = embedding.judge("sentence_similarity", answer="north", expected="?")
    assert [row.error for row in rows] == ["no value: the expected response is too short to embed"] * 2
