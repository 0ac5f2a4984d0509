"""What is kept by content: vectors on disk by key, damaged files, and what a key depends on."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache, Text, VectorStore, on_disk


def filled(folder: Path, model: str = "m", start: int = 0, n: int = 3) -> list[bytes]:
    cache = EmbeddingCache(model, folder)
    keys = [cache.key(Text("passage", str(i))) for i in range(start, start + n)]
    cache.add(keys, np.arange(start, start + n).repeat(4).reshape(n, 4).astype(np.float16))
    return keys


def test_the_key_is_pinned() -> None:
    # a new key would throw every shipped embedding away
    key = EmbeddingCache("all-MiniLM-L6-v2", None).key(Text("query", "What is malloc?"))
    assert key.hex() == "d1203becc9e724d35e608f0a5507ed3d9dfa6ee4a6751f3acf228f745779b2a0"


def test_the_key_holds_model_kind_and_text() -> None:
    texts = [Text("query", "a"), Text("passage", "a"), Text("query", "b"), Text("query", "\ud800"), Text("query", "")]
    keys = {EmbeddingCache(model, None).key(text) for model in ("m", "n") for text in texts}
    assert len(keys) == 10


def test_several_folders_are_read_and_one_is_written(tmp_path: Path) -> None:
    shipped, own = filled(tmp_path / "shipped"), filled(tmp_path / "own", start=3)
    before = sorted((tmp_path / "shipped").iterdir())
    cache = EmbeddingCache("m", tmp_path / "own", read=[tmp_path / "shipped", tmp_path / "missing"])
    assert set(cache.known()) == {*shipped, *own}
    cache.add([b"k" * 32], np.ones((1, 4), np.float16))
    assert sorted((tmp_path / "shipped").iterdir()) == before
    assert len(list((tmp_path / "own").iterdir())) == 2


def test_another_models_vectors_are_not_taken(tmp_path: Path) -> None:
    filled(tmp_path, "one")
    assert EmbeddingCache("other", tmp_path).known() == {}


@pytest.mark.parametrize("damage", ["cut", "prose", "pickle", "short", "nan", "single"])
def test_a_damaged_file_is_warned_of_and_left_out(tmp_path: Path, damage: str, caplog) -> None:
    good = filled(tmp_path)
    bad, keys = tmp_path / "bad.npz", np.zeros((2, 32), np.uint8)
    vectors = np.ones((2, 4), np.float16)
    if damage == "cut":
        bad.write_bytes(next(tmp_path.glob("m-*")).read_bytes()[:150])
    elif damage == "prose":
        bad.write_text("not an archive")
    elif damage == "pickle":
        np.savez(bad, model=np.array("m"), keys=keys, vectors=np.array([{}, {}], dtype=object))
    elif damage == "short":
        np.savez(bad, model=np.array("m"), keys=keys, vectors=vectors[:1])
    elif damage == "nan":
        np.savez(bad, model=np.array("m"), keys=keys, vectors=vectors * np.float16("nan"))
    else:
        np.savez(bad, model=np.array("m"), keys=keys, vectors=vectors.astype(np.float32))
    with caplog.at_level(logging.WARNING):
        assert set(EmbeddingCache("m", tmp_path).known()) == set(good)
    assert "bad.npz is damaged" in caplog.text


def test_what_was_added_is_found_in_any_order_also_after_more_was_added() -> None:
    store, vectors = VectorStore(), np.arange(24).reshape(6, 4).astype(np.float16)
    store.add([b"a", b"b"], vectors[:2])
    early = store.take(store.places([b"b"]))
    store.add([b"c", b"d", b"e", b"f"], vectors[2:])
    assert store.take(store.places([b"f", b"a", b"f"])).tolist() == vectors[[5, 0, 5]].tolist()
    assert early.tolist() == vectors[1:2].tolist() and store[b"c"].tolist() == vectors[2].tolist()
    assert (len(store), list(store), store.dimensions, b"a" in store, b"z" in store) == (6, list(store), 4, True, False)
    assert list(store) == [b"a", b"b", b"c", b"d", b"e", b"f"]


def test_the_vector_given_last_counts() -> None:
    store = VectorStore()
    store.add([b"a"], np.zeros((1, 2), np.float16))
    store.add([b"a"], np.ones((1, 2), np.float16))
    assert len(store) == 1 and store[b"a"].tolist() == [1, 1]


def test_vectors_of_another_length_and_keys_that_are_not_there() -> None:
    store = VectorStore()
    store.add([], np.zeros((0, 0), np.float16))
    assert store == {} and store.dimensions is None
    store.add([b"a"], np.zeros((1, 2), np.float16))
    with pytest.raises(ValueError, match="different shapes"):
        store.add([b"b"], np.zeros((1, 3), np.float16))
    with pytest.raises(KeyError):
        store.places([b"b"])


def test_an_array_on_disk_can_be_written_and_read() -> None:
    array = on_disk((3, 2))
    assert isinstance(array, np.memmap) and array.dtype == np.float32 and not array.any()
    array[1] = 5
    assert array.sum() == 10 and on_disk((0, 2)).shape == (0, 2)
