"""Corpora and sets of a check, written as a user has them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.sound_sets import write_corpus

from ragassay.synth.checking.check_set import check_set
from ragassay.synth.checking.corpus_text import read_corpus
from ragassay.synth.checking.test_set import Checked, read_test_set

Check = Callable[..., Checked]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Checks rows (Ragas's layout) against the passages of a language."""

    def run(rows: Sequence[Mapping[str, Any]], language: str = "en", experts: Sequence[str] = ()) -> Checked:
        path = tmp_path / "set.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        corpus, _ = read_corpus(write_corpus(tmp_path, language), language)
        return check_set(path, read_test_set(path), corpus, experts)

    return run
