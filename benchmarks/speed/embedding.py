"""Texts a second: our embedder, its cache written, beside sentence-transformers' own encode of the same texts.

    python -m benchmarks.speed.embedding [TEXTS]

TEXTS (512) passages of 20 to 200 words, made up, by the model that needs no network. Each is timed three times, in
turn, and the best counts. sentence-transformers is given all texts in one call, which it sorts by length itself.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.servers.latency import WORDS
from benchmarks.speed.aims import note, why
from ragassay.models.encoders import OFFLINE_MODEL, load_encoder
from ragassay.retrieval.rankers.embedding import Embedder
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache, Text

BATCH, AIM = 32, 0.95


def passages(n: int) -> list[str]:
    """n texts, all different."""
    chance = random.Random(7)
    return [
        f"{number}: {' '.join(chance.choice(WORDS) for _ in range(chance.randint(20, 200)))}" for number in range(n)
    ]


def ours(texts: list[str], encoder: Any) -> float:
    """Seconds for Embedder.vectors with an empty cache, which it fills."""
    with tempfile.TemporaryDirectory() as folder:
        embedder = Embedder(OFFLINE_MODEL, EmbeddingCache(OFFLINE_MODEL, Path(folder)), lambda _: encoder)
        start = time.perf_counter()
        embedder.vectors([Text("passage", text) for text in texts])
        return time.perf_counter() - start


def theirs(texts: list[str], encoder: Any) -> float:
    """Seconds for one call of encode, with the normalisation that ours includes."""
    start = time.perf_counter()
    encoder.encode(texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)
    return time.perf_counter() - start


def main() -> None:
    """Print the rates and the row."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    texts, encoder = passages(n), load_encoder(OFFLINE_MODEL)
    theirs(texts[:BATCH], encoder)
    pairs = [(ours(texts, encoder), theirs(texts, encoder)) for _ in range(3)]
    mine, peers = (n / min(seconds) for seconds in zip(*pairs, strict=True))
    print(f"{n} texts, {OFFLINE_MODEL}: ours {mine:.1f} texts/s, sentence-transformers {peers:.1f} texts/s")
    note(
        "embedding",
        "embedding, texts/s",
        f"at least {AIM} of sentence-transformers' own encode",
        f"{mine:.1f}",
        peer=f"{peers:.1f} (encode)",
        ratio=f"{mine / peers:.2f}",
        missed=why((mine / peers < AIM, f"{mine / peers:.2f} of it")),
        packages=("sentence-transformers", "torch"),
    )


if __name__ == "__main__":
    main()
