"""A real OpenSearch for tests, by OPENSEARCH_URL, and OPENSEARCH_SECURE_URL with OPENSEARCH_CA for one with logins.

`.ci/run` starts both; elsewhere a test that needs one is skipped, and the end of the test run names it.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ragassay.experiment.settings import OpenSearchSettings
from ragassay.records import Passage

if TYPE_CHECKING:
    from ragassay.retrieval.opensearch.client import Server
    from ragassay.retrieval.opensearch.engine import Engine
    from ragassay.retrieval.rankers.ranker import Ranker

NO_SERVER = "no OpenSearch server"

PASSWORD = "ragassay-Test-1"
"""Of `admin` and of `reader`, who may only read."""


def server_url(name: str) -> str:
    """The value of the environment variable, or the test is skipped."""
    if not os.environ.get(name):
        pytest.skip(f"{NO_SERVER}: {name} is not set")
    return os.environ[name]


@dataclass
class Bench:
    """A server and a corpus name of the test's own; every index made under that name is removed at the end."""

    url: str
    folder: Path
    name: str = field(default_factory=lambda: f"test-{uuid.uuid4().hex[:12]}")

    @property
    def server(self) -> Server:
        from ragassay.retrieval.opensearch.client import connect

        return connect(self.url, OpenSearchSettings(), {})

    def fresh(self, passages: Sequence[Passage]) -> list[Passage]:
        """The passages with a mark in their metadata, so that no earlier index is theirs."""
        return [p.model_copy(update={"metadata": {**p.metadata, "mark": self.name}}) for p in passages]

    def engine(self, **settings: Any) -> Engine:
        from ragassay.retrieval.opensearch.engine import Engine

        given = OpenSearchSettings.model_validate({"replicas": 0, **settings})
        return Engine(self.url, given, self.name, self.folder / "rejected.jsonl")

    def rankers(
        self,
        passages: Sequence[Passage],
        encoder: object = None,
        names: Sequence[str] = ("bm25",),
        language: str = "en",
        progress: Callable[[int, int], None] | None = None,
        model: str = "stub-model",
        **settings: Any,
    ) -> Mapping[str, Ranker]:
        from ragassay.retrieval.opensearch.engine import open_rankers
        from ragassay.retrieval.rankers.embedding import Embedder
        from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache

        embedder = Embedder(model, EmbeddingCache(model, None), load=lambda _: encoder)  # type: ignore[arg-type,return-value]
        engine = self.engine(**settings)
        return open_rankers(names, passages, embedder, engine, language=language, rrf_k=60, progress=progress)

    def indexes(self) -> list[str]:
        """The names of the indexes made under this bench's name."""
        from ragassay.retrieval.opensearch.index import kept_indexes

        return [
            entry.index
            for entry in kept_indexes(self.server)
            if entry.about is None or f"-{self.name}-" in entry.about.alias
        ]

    def clear(self) -> None:
        for index in self.indexes():
            self.server.call(lambda client, index=index: client.indices.delete(index=index))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(server_url("OPENSEARCH_URL"), tmp_path)
    yield bench
    bench.clear()
