"""Texts as vectors: what holds of any cosine, on a model with known vectors and on a transformer with a limit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import tiny_models

from ragassay.evaluate.texts import by_model as module
from ragassay.evaluate.texts.by_model import Embedded, Embeddings

WORDS = {"north": (1.0, 0.0), "east": (0.0, 1.0), "steep": (3.0, 4.0)}


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
    texts = Embeddings().of(tiny_models.sentence_model(tmp_path))
    batches: list[list[str]] = []
    encode = texts.model.encode
    monkeypatch.setattr(texts.model, "encode", lambda parts, **kw: batches.append(parts) or encode(parts, **kw))
    texts.add(["a busy wait", "the header"])
    texts.add(["the header", "sei"])
    assert [len(texts.vector(text)) for text in ("sei", "the header")] == [16, 16]
    assert batches == [["a busy wait", "sei", "the header"]]


def test_a_model_is_shared_by_name() -> None:
    models = Embeddings()
    assert models.of("one") is models.of("one") and models.of("one") is not models.of("two")
