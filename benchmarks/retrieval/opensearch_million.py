"""Indexing N passages of 100 words on OpenSearch: passages/s and the peak memory of this process.

    python -m benchmarks.retrieval.opensearch_million URL [N] [vectors]

N: default 1,000,000. `vectors` adds vectors of 384 dimensions, drawn at random: no model's speed is in the figure.
Words are drawn from 200,000 by Zipf's law. The index is removed at the end; the corpus file takes 650 MB for a million.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragassay.experiment.settings import OpenSearchSettings
from ragassay.retrieval.opensearch.client import connect
from ragassay.retrieval.opensearch.engine import Engine, open_rankers
from ragassay.retrieval.opensearch.index import kept_indexes, remove_indexes
from ragassay.retrieval.rankers.embedding import Embedder
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache
from ragassay.retrieval.rankers.ranker import CorpusFile

WORDS, DIMENSIONS, AT_A_TIME = 200_000, 384, 10_000


class RandomVectors:
    """An encoder that draws its vectors."""

    prompts: dict[str, str] = {}  # noqa: RUF012 - the seam's attribute

    def __init__(self) -> None:
        self._draw = np.random.default_rng(7)

    def encode_document(
        self, inputs: Sequence[str], *, prompt: str, batch_size: int, show_progress_bar: bool
    ) -> npt.NDArray[np.float32]:
        """One row a text."""
        del prompt, batch_size, show_progress_bar
        return self._draw.standard_normal((len(inputs), DIMENSIONS), dtype=np.float32)

    encode_query = encode_document


def write_corpus(path: Path, n_passages: int, mark: str) -> None:
    """Passages of 100 words by Zipf's law (exponent 1.1), the same for the same `n_passages` but for their mark."""
    draw = np.random.default_rng(7)
    with path.open("w", encoding="utf-8") as stream:
        for start in range(0, n_passages, AT_A_TIME):
            words = draw.zipf(1.1, (min(AT_A_TIME, n_passages - start), 100)) % WORDS
            for number, row in enumerate(words.tolist(), start):
                text = " ".join(f"w{word}" for word in row)
                stream.write(json.dumps({"_id": f"p{number}", "text": text, "metadata": {"mark": mark}}) + "\n")


def main(url: str, n_passages: int, vectors: bool) -> int:
    """Print the row of one index."""
    name = f"benchmark-{uuid.uuid4().hex[:8]}"
    server = connect(url, OpenSearchSettings())
    with tempfile.TemporaryDirectory() as scratch:
        corpus = Path(scratch) / "corpus.jsonl"
        write_corpus(corpus, n_passages, name)
        engine = Engine(url, OpenSearchSettings(replicas=0, timeout_s=120), name, Path(scratch) / "rejected.jsonl")
        embedder = Embedder("random", EmbeddingCache(name, None), load=lambda _: RandomVectors())
        retrievers = ["bm25", "knn"] if vectors else ["bm25"]
        start = time.perf_counter()
        rankers = open_rankers(retrievers, CorpusFile(corpus), embedder, engine, language="en", rrf_k=60)
        seconds = time.perf_counter() - start
        queries = [f"w{n} w{n + 1000} w{n + 20_000}" for n in range(1, 641)]
        start = time.perf_counter()
        rankers["bm25"].search(queries, 10)
        per_query = 1000 * (time.perf_counter() - start) / len(queries)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    (kept,) = [entry for entry in kept_indexes(server) if any(name in alias for alias in entry.aliases)]
    remove_indexes(server, [kept.index], old=False)
    print("| passages | index | passages/s | peak memory of ragassay | size on the server | BM25, ms a query |")
    print("|--:|---|--:|--:|--:|--:|")
    what = "BM25 and vectors" if vectors else "BM25"
    size = (kept.size_bytes or 0) / 1e6
    print(
        f"| {n_passages:,} | {what} | {n_passages / seconds:.0f} | {peak:.0f} MiB | {size:.0f} MB | {per_query:.1f} |"
    )
    return 0


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000, "vectors" in sys.argv[3:]))
