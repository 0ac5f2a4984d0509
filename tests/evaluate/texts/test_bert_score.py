"""BERTScore by its equations, and token vectors as transformers alone gives them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import tiny_models

from ragassay.errors import InputError
from ragassay.evaluate.texts.by_model import TokenEncoder, bert_score

EAST, NORTH = [1.0, 0.0], [0.0, 1.0]


def vectors(*rows: list[float]) -> np.ndarray:
    return np.array(rows, np.float32).reshape(len(rows), 2)


def test_bert_score_by_hand() -> None:
    # equations 1 to 3 of Zhang et al.: recall (1 + 0) / 2, precision 1, F1 2 * 0.5 / 1.5
    found = bert_score(vectors(EAST, NORTH), vectors(EAST))
    assert found == pytest.approx((1.0, 0.5, 2 / 3))
    assert bert_score(vectors(EAST), vectors(EAST, NORTH)) == pytest.approx((0.5, 1.0, 2 / 3))
    assert bert_score(vectors(), vectors(EAST)) is None
    assert bert_score(vectors(EAST), vectors(NORTH)).f1 is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_swapping_the_texts_swaps_precision_and_recall(one: list[float], other: list[float]) -> None:
    a, b = (vectors(*([np.cos(x), np.sin(x)] for x in angles)) for angles in (one, other))
    there, back = bert_score(a, b), bert_score(b, a)
    assert (there.precision, there.recall, there.f1) == pytest.approx((back.recall, back.precision, back.f1))
    assert bert_score(a, a).f1 == pytest.approx(1.0, abs=1e-6)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return tiny_models.sentence_model(tmp_path_factory.mktemp("models"))


def test_token_vectors_are_the_last_layer_without_the_tokens_around(model: str) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    texts = ["the header waits busily", "sei"]
    found = TokenEncoder(model).vectors([*texts, texts[0]])
    for text in texts:
        inputs = AutoTokenizer.from_pretrained(model)(text, return_tensors="pt")
        with torch.no_grad():
            states = AutoModel.from_pretrained(model).eval()(**inputs).last_hidden_state[0, 1:-1].numpy()
        expected = states / np.linalg.norm(states, axis=1, keepdims=True)
        assert found[text] == pytest.approx(expected, abs=1e-5)


def test_every_token_of_a_long_text_has_a_vector(model: str) -> None:
    assert len(TokenEncoder(model).vectors(["busy " * 200])["busy " * 200]) == 200


def test_a_model_without_token_vectors_is_refused(tmp_path: Path) -> None:
    import tokenizers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, "[UNK]"))
    module = StaticEmbedding(tokenizer, embedding_weights=np.ones((1, 4), np.float32))
    SentenceTransformer(modules=[module], device="cpu").save(str(tmp_path))
    with pytest.raises(InputError, match="has no vectors for tokens"):
        TokenEncoder(str(tmp_path)).vectors(["a"])
