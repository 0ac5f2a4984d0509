"""Rows kept by content: what is damaged or another model's is not used, and what a key depends on."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from ragassay.retrieval.rankers.embedding_cache import Text
from ragassay.retrieval.rankers.encoded import RowCache

ROWS = [np.array([[1, 2], [3, 4]], np.float16), np.zeros((0, 2), np.float16), np.array([[5, 6]], np.float16)]
TEXTS = [Text("passage", "a"), Text("query", "a"), Text("passage", "b")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    cache = RowCache("m", "tokens", tmp_path)
    cache.add([cache.key(text) for text in TEXTS[:2]], ROWS[:2])
    cache.add([cache.key(TEXTS[2])], ROWS[2:])
    return tmp_path


def test_what_was_added_is_there_in_this_run_and_the_next(folder: Path) -> None:
    cache = RowCache("m", "tokens", None, [folder])
    cache.add([cache.key(Text("query", "c"))], [np.array([[7, 8]], np.float16)])
    for text, row in zip([*TEXTS, Text("query", "c")], [*ROWS, [[7, 8]]], strict=True):
        assert np.array_equal(cache.known()[cache.key(text)], row)
    assert len(list(folder.glob("*.npz"))) == 2


def test_a_key_depends_on_model_layout_kind_and_text() -> None:
    keys = {
        RowCache(m, layout, None).key(Text(kind, text))
        for m in "mn"
        for layout in ("terms", "tokens")
        for kind in ("query", "passage")
        for text in "ab"
    }
    assert len(keys) == 16
    assert RowCache("m", "terms", None).key(Text("query", "a")).hex() == PINNED


PINNED = "58be66761c9e4e051914310c685679b44663f5244cca2e4b7dcf2b5b44580778"
"""A new key throws away what took hours to encode."""


@pytest.mark.parametrize("what", ["cut off", "pickled", "not finite", "starts beyond", "of vectors"])
def test_a_damaged_file_is_warned_of_and_left_out(folder: Path, what: str, caplog) -> None:
    path = sorted(folder.glob("*.npz"))[0]
    with np.load(path) as archive:
        content = dict(archive)
    if what == "cut off":
        path.write_bytes(path.read_bytes()[:-100])
    elif what == "of vectors":
        np.savez(path, model="m", keys=content["keys"], vectors=np.zeros((len(content["keys"]), 2), np.float16))
    else:
        change = {
            "pickled": {"rows": np.array([object()], object)},
            "not finite": {"rows": np.full_like(content["rows"], np.nan)},
            "starts beyond": {"starts": content["starts"] + 1},
        }
        np.savez(path, **{**content, **change[what]})
    cache = RowCache("m", "tokens", None, [folder])
    with caplog.at_level(logging.WARNING):
        kept = [cache.key(text) in cache.known() for text in TEXTS]
    assert sorted(kept) in ([False, False, True], [False, True, True])
    assert [record.getMessage() for record in caplog.records] == [
        f"{path} is damaged or no file of encodings; its texts are encoded again"
    ]


def test_another_models_file_and_one_of_another_length_are_not_used(folder: Path, caplog) -> None:
    other = RowCache("n", "tokens", folder)
    assert other.key(TEXTS[0]) not in other.known()
    longer = RowCache("m", "tokens", None)
    longer.add([longer.key(Text("query", "z"))], [np.zeros((1, 3), np.float16)])
    with pytest.raises(ValueError):
        longer.add([longer.key(TEXTS[0])], ROWS[:1])
    odd = RowCache("m", "tokens", folder / "odd")
    odd.add([odd.key(Text("query", "z"))], [np.zeros((1, 3), np.float16)])
    both = RowCache("m", "tokens", None, [folder, folder / "odd"])
    assert both.key(Text("query", "z")) not in both.known()
    assert "has vectors of another length" in caplog.text
