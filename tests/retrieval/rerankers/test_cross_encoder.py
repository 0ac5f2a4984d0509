"""A real cross-encoder of random weights, loaded as a user's is: its own logits, each pair once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.tiny_models import cross_encoder

from ragassay.errors import InputError
from ragassay.models.encoders import check_pair_scorer, load_pair_scorer
from ragassay.records import Passage
from ragassay.retrieval.rankers.embedding import model_identity
from ragassay.retrieval.rerankers.opening import check_reranker, open_reranker
from ragassay.retrieval.rerankers.rerankers import CHUNK, CrossEncoderReranker, ScoreCache


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return cross_encoder(tmp_path_factory.mktemp("models") / "tiny", ("relevant",))


def test_the_scores_are_the_models_logits(model: str, open_folder, three):
    import torch
    import transformers

    check_reranker(model, open_folder()[0])
    queries = ["a busy wait", "is it by sei"]
    got = open_reranker(model, *open_folder()).rerank([(query, three) for query in queries])
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(model)
    for query, scores in zip(queries, got, strict=True):
        batch = tokenizer([query] * 3, [p.text for p in three], return_tensors="pt", padding=True)
        with torch.no_grad():
            expected = network(**batch).logits[:, 0].numpy()
        assert scores == pytest.approx(expected, abs=1e-4)
    assert len({score for scores in got for score in scores}) == 6


def test_a_pair_is_scored_once_and_kept_by_content(model: str, three, tmp_path: Path):
    scored: list[tuple[str, str]] = []
    scorer = load_pair_scorer(model)

    class Counting:
        def scores(self, pairs):
            scored.extend(pairs)
            return scorer.scores(pairs)

    def reranker(name: str) -> CrossEncoderReranker:
        return CrossEncoderReranker(name, ScoreCache(model_identity(model), tmp_path), lambda _: Counting())

    first = reranker(model).rerank([("busy wait", three), ("busy wait", three[:2])])
    again = reranker("elsewhere").rerank([("busy wait", three), ("sei", three[:1])])
    assert len(scored) == 3 + 1 and first[0] == again[0] and first[1] == first[0][:2]
    assert [len(pair[1]) for pair in scored[:3]] == sorted((len(p.text) for p in three), reverse=True)


def test_killed_halfway_it_goes_on_from_what_was_written(tmp_path: Path):
    passages = [Passage(_id=f"p{i}", text=f"text {i}") for i in range(2 * CHUNK)]
    scored: list[int] = []

    class Dies:
        def scores(self, pairs):
            if scored:
                raise KeyboardInterrupt
            scored.append(len(pairs))
            return np.arange(len(pairs), dtype=np.float32)

    class Lives(Dies):
        def scores(self, pairs):
            scored.append(len(pairs))
            return np.arange(len(pairs), dtype=np.float32)

    with pytest.raises(KeyboardInterrupt):
        CrossEncoderReranker("m", ScoreCache("m", tmp_path), lambda _: Dies()).rerank([("q", passages)])
    CrossEncoderReranker("m", ScoreCache("m", tmp_path), lambda _: Lives()).rerank([("q", passages)])
    assert scored == [CHUNK, CHUNK]


def test_a_damaged_file_of_scores_is_scored_again(model: str, three, tmp_path: Path, caplog):
    rerank = CrossEncoderReranker(model, ScoreCache("m", tmp_path)).rerank
    before = rerank([("busy", three)])
    [path] = tmp_path.glob("*.npz")
    path.write_bytes(path.read_bytes()[:-40])
    assert CrossEncoderReranker(model, ScoreCache("m", tmp_path)).rerank([("busy", three)]) == before
    assert "is damaged" in caplog.text


def test_a_model_of_several_classes_is_no_reranker(tmp_path: Path):
    folder = cross_encoder(tmp_path / "nli", ("contradiction", "entailment", "neutral"))
    with pytest.raises(InputError, match="it gives 3 scores for a pair, and a reranker gives one"):
        load_pair_scorer(folder)


def test_a_model_that_is_not_there_is_one_sentence(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for found in (check_pair_scorer, load_pair_scorer):
        with pytest.raises(InputError, match="cross-encoder 'nobody/none' cannot be loaded: the hub cannot be reached"):
            found("nobody/none")


def test_what_a_score_is_kept_under_does_not_change(tmp_path: Path):
    key = ScoreCache("m", tmp_path).key("q", "t")
    assert key.hex() == "d04dc82bb086a506a507cc5dfbf5e19e0079ea9a0d0dd585067c47f0ac3320c4"
    others = [ScoreCache("n", tmp_path).key("q", "t"), *(ScoreCache("m", tmp_path).key(*p) for p in ("tq", "qq"))]
    assert len({key, *others}) == 4
