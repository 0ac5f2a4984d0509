"""Texts by a model: BERTScore by its equations, token vectors as transformers gives them, and any cosine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import tiny_models

from ragassay.errors import InputError
from ragassay.evaluate.texts import by_model as module
from ragassay.evaluate.texts.by_model import Embedded, TokenEncoder, bert_score

pytestmark = pytest.mark.xdist_group("models")

EAST, NORTH = [1.0, 0.0], [0.0, 1.0]
WORDS = {"north": (1.0, 0.0), "east": (0.0, 1.0), "steep": (3.0, 4.0)}


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

    texts, long = ["the header waits busily", "sei"], "busy " * 200
    found = TokenEncoder(model).vectors([*texts, texts[0], long])
    assert len(found[long]) == 200
    for text in texts:
        inputs = AutoTokenizer.from_pretrained(model)(text, return_tensors="pt")
        with torch.no_grad():
            states = AutoModel.from_pretrained(model).eval()(**inputs).last_hidden_state[0, 1:-1].numpy()
        expected = states / np.linalg.norm(states, axis=1, keepdims=True)
        assert found[text] == pytest.approx(expected, abs=1e-5)


def test_a_model_without_token_vectors_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no vectors for tokens"):
        TokenEncoder(tiny_models.static_model(tmp_path, WORDS)).vectors(["north"])


@pytest.fixture(scope="module")
def known(tmp_path_factory) -> Embedded:
    return Embedded(tiny_models.static_model(tmp_path_factory.mktemp("known"), WORDS))


TEXTS = st.lists(st.sampled_from([*WORDS, "?", "and"]), max_size=6).map(lambda words: " ".join(["north", *words]))


@given(one=TEXTS, other=TEXTS)
def test_a_text_is_1_to_itself_and_two_are_as_near_either_way(known, one, other) -> None:
    assert known.cosine(one, one) == pytest.approx(1.0)
    assert known.cosine(one, other) == pytest.approx(known.cosine(other, one))
    assert known.cosine(one, " ".join([other] * 3)) == pytest.approx(known.cosine(one, other))


@given(texts=st.lists(TEXTS, min_size=1), others=st.lists(TEXTS, min_size=1))
def test_the_nearest_is_the_highest_cosine_of_all_pairs(known, texts, others) -> None:
    values, found = known.nearest(texts, others)
    highest = [max(known.cosine(text, other) for other in others) for text in texts]
    assert values == pytest.approx(highest)
    assert [known.cosine(text, other) for text, other in zip(texts, found, strict=True)] == pytest.approx(highest)


def test_blocks_give_what_one_block_gives(known, monkeypatch) -> None:
    texts = [f"north {number} {'east ' * (number % 7)}" for number in range(50)]
    whole, _ = known.nearest(texts, ["steep", "east"])
    monkeypatch.setattr(module, "BLOCK", 3)
    assert np.array_equal(known.nearest(texts, ["steep", "east"])[0], whole)


def test_a_text_without_a_vector_is_no_zero(known) -> None:
    for compare in (lambda: known.cosine("north", "and"), lambda: known.nearest(["north", "and"], ["north"])):
        with pytest.raises(ValueError, match="gives no vector"):
            compare()


def test_what_is_added_is_embedded_at_once(tmp_path, monkeypatch) -> None:
    texts = Embedded(tiny_models.sentence_model(tmp_path))
    batches: list[list[str]] = []
    encode = texts.model.encode
    monkeypatch.setattr(texts.model, "encode", lambda parts, **kw: batches.append(parts) or encode(parts, **kw))
    texts.add(["a busy wait", "the header"])
    texts.add(["the header", "sei"])
    assert [len(texts.vector(text)) for text in ("sei", "the header")] == [16, 16]
    assert batches == [["a busy wait", "sei", "the header"]]


def test_the_stretches_of_a_long_text_weigh_as_their_tokens(tmp_path) -> None:
    texts = Embedded(tiny_models.sentence_model(tmp_path))  # it reads 64 tokens, 60 of them the text's
    first, second = " ".join(["busy"] * 60), " ".join(["sei"] * 12)
    one, two = (row / np.linalg.norm(row) for row in texts.model.encode([first, second]))
    assert texts.vector(f"{first} {second}") / 72 == pytest.approx((60 * one + 12 * two) / 72, abs=1e-5)
