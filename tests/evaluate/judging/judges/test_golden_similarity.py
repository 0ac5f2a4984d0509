"""Golden similarity: the cosine that sentence-transformers itself gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import cos_sim
from support import tiny_models
from support.judge_bench import Bench


def settings(bench: Bench, embedding: str) -> tuple[str, str]:
    return bench.config("[retrieval]", f"embedding = {json.dumps(embedding)}")


@pytest.mark.parametrize(("name", "prompt"), [("tiny", ""), ("tiny-e5", "query: ")])
def test_the_cosine_of_answer_and_expected_response(bench, tmp_path, name: str, prompt: str) -> None:
    folder = Path(tiny_models.sentence_model(tmp_path / "made")).rename(tmp_path / name)
    rows = bench.judge("golden_similarity", *settings(bench, str(folder)))
    model = SentenceTransformer(str(folder), device="cpu")
    texts = ["It is in util/delay.h [1].", "util/delay.h", "By sei() [1]. It is a macro.", "By calling sei()."]
    one, two, three, four = model.encode(texts, prompt=prompt)
    expected = [float(cos_sim(one, two)), float(cos_sim(three, four))]
    assert [row.label for row in rows] == pytest.approx(expected, abs=1e-5)
    assert [row.score for row in rows] == pytest.approx([(1 + value) / 2 for value in expected], abs=1e-5)
    assert {row.judge for row in rows} == {str(folder)} and not bench.server.requests


def test_a_golden_answer_has_cosine_1_however_long_it_is(bench, tmp_path) -> None:
    folder = tiny_models.sentence_model(tmp_path)
    text = "the header waits busily " * 100
    answer = {"query_id": "mine", "query": "?", "expected_response": text, "agent": "ours", "answer": text}
    from support import judge_bench

    queries = [{"_id": "mine", "text": "?", "metadata": {"expected_response": text}}]
    judge_bench.QUERIES, kept = queries, judge_bench.QUERIES
    try:
        rows = bench.judge("golden_similarity", *settings(bench, folder), answers=[answer])
    finally:
        judge_bench.QUERIES = kept
    assert [row.label for row in rows] == pytest.approx([1.0])


def test_the_end_of_a_long_answer_counts(bench, tmp_path) -> None:
    folder = tiny_models.sentence_model(tmp_path)
    long = " ".join(["busy"] * 70)
    answers = [
        {"query_id": "q1", "agent": "one", "answer": f"{long} sei"},
        {"query_id": "q1", "agent": "two", "answer": f"{long} processor"},
    ]
    one, two = bench.judge("golden_similarity", *settings(bench, folder), answers=answers)[:2]
    assert one.label != two.label


def test_a_query_without_a_golden_answer_is_passed_over(bench, tmp_path, monkeypatch, capsys) -> None:
    from support import judge_bench

    monkeypatch.setattr(judge_bench, "QUERIES", [{"_id": "q1", "text": "?"}, {"_id": "q2", "text": "?"}])
    assert bench.judge("golden_similarity", *settings(bench, "no such model")) == []
    assert "golden_similarity passed over every query: it needs metadata.expected_response" in capsys.readouterr().err


def test_an_embedding_that_cannot_be_loaded_is_one_sentence(bench, tmp_path, capsys) -> None:
    bench.judge("golden_similarity", *settings(bench, str(tmp_path)))
    assert bench.status == 2 and "cannot be loaded" in capsys.readouterr().err


def test_static_embeddings_have_no_limit(bench, tmp_path) -> None:
    import numpy as np
    import tokenizers
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0, "sei": 1}, "[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    weights = np.array([[1, 0], [0, 1]], np.float32)
    SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=weights)]).save(str(tmp_path / "static"))
    answers = [{"query_id": "q1", "agent": "ours", "answer": "sei"}]
    row = bench.judge("golden_similarity", *settings(bench, str(tmp_path / "static")), answers=answers)[0]
    assert row.label == pytest.approx(0.0) and row.score == pytest.approx(0.5)  # no word in common: a right angle
