"""Forty paragraphs of the avr-libc manual (BSD-3-Clause), an encoder that keeps what it is given, and a workspace."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from support.results_folder import experiment, results_folder

from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Passage
from ragassay.retrieval.rankers.embedding import load_encoder

PASSAGES = Path(__file__).with_name("avr_libc_passages.jsonl")


class StubEncoder:
    """Gives each text a vector made from its digest, and keeps (prompt + text) of all it was asked for."""

    def __init__(self, prompts: dict[str, str] | None = None) -> None:
        self.prompts = prompts or {}
        self.embedded: list[str] = []

    def encode_query(self, inputs: Sequence[str], *, prompt: str, batch_size: int, show_progress_bar: bool):
        return np.stack([self._vector(prompt + text) for text in inputs])

    encode_document = encode_query

    def _vector(self, text: str) -> np.ndarray:
        self.embedded.append(text)
        digest = hashlib.sha256(text.encode()).digest()
        return np.frombuffer(digest, np.uint8).astype(np.float32) - 127.5


@pytest.fixture
def stub() -> type[StubEncoder]:
    return StubEncoder


@pytest.fixture(scope="session")
def passages() -> list[Passage]:
    return read_records(PASSAGES, Passage)


@pytest.fixture
def passages_file() -> Path:
    return PASSAGES


@pytest.fixture
def make_workspace(tmp_path: Path) -> Callable[..., Workspace]:
    def make(**retrieval: object) -> Workspace:
        retrieval = {"embedding": "all-MiniLM-L6-v2", **retrieval}
        return results_folder(tmp_path, experiment("file:any", retrieval=retrieval))

    return make


@pytest.fixture(scope="session")
def minilm():
    """all-MiniLM-L6-v2 from the package that carries it, loaded once."""
    return load_encoder("all-MiniLM-L6-v2")
