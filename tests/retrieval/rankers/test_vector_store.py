"""Vectors on disk by key."""

from __future__ import annotations

import numpy as np
import pytest

from ragassay.retrieval.rankers.embedding_cache import VectorStore, on_disk


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
