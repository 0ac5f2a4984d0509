"""Texts a second: our embedder by each backend, its cache written, beside sentence-transformers' own encode.

    python -m benchmarks.speed.embedding [SCIFACT [TEXTS]]

The same texts by the model that needs no network: 512 passages of 20 to 200 words, made up, or those of BEIR's folder
SCIFACT (TEXTS of them, all by default). Each is timed ROUNDS times, in turn, and the best counts.
sentence-transformers is given all texts in one call with its defaults, and sorts them by length itself.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.servers.latency import WORDS
from benchmarks.speed.aims import note, why
from ragassay.experiment.settings import Backend
from ragassay.files import read_records
from ragassay.models.encoders import OFFLINE_MODEL, load_encoder
from ragassay.models.onnx import compiled
from ragassay.records import Passage
from ragassay.retrieval.rankers.embedding import Embedder
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache, Text
from ragassay.retrieval.rankers.ranker import indexed_text

BATCH, AIM, ROUNDS = 32, 2.0, 3
BACKENDS: tuple[Backend, ...] = ("torch", "onnx", "onnx-int8")


def made_up(n: int) -> list[str]:
    """n texts, all different."""
    chance = random.Random(7)
    return [
        f"{number}: {' '.join(chance.choice(WORDS) for _ in range(chance.randint(20, 200)))}" for number in range(n)
    ]


def of_scifact(folder: Path, n: int | None) -> list[str]:
    """The texts of n passages, or of all."""
    texts = [indexed_text(passage) for passage in read_records(folder / "corpus.jsonl", Passage)]
    random.Random(7).shuffle(texts)
    return texts[:n]


def ours(encoder: Any, texts: list[str]) -> Any:
    """Embedder.vectors with an empty cache, which it fills."""
    with tempfile.TemporaryDirectory() as folder:
        embedder = Embedder(OFFLINE_MODEL, EmbeddingCache(OFFLINE_MODEL, Path(folder)), lambda _: encoder)
        return embedder.vectors([Text("passage", text) for text in texts]).astype(np.float32)


def theirs(encoder: Any, texts: list[str]) -> Any:
    """One call of encode, with the normalisation that ours includes."""
    return encoder.encode(texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)


def timed(ways: dict[str, Callable[[list[str]], Any]], texts: list[str]) -> tuple[dict[str, float], dict[str, Any]]:
    """(the least seconds of each way, its vectors); the ways take turns."""
    seconds: dict[str, float] = {}
    vectors = {name: way(texts[:BATCH]) for name, way in ways.items()}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            start = time.perf_counter()
            vectors[name] = way(texts)
            seconds[name] = min(seconds.get(name, float("inf")), time.perf_counter() - start)
    return seconds, vectors


def main() -> None:
    """Print the rates, how near the vectors are, and the rows."""
    arguments = sys.argv[1:]
    n = int(arguments[1]) if len(arguments) > 1 else None
    texts = of_scifact(Path(arguments[0]), n) if arguments else made_up(512)
    ways: dict[str, Callable[[list[str]], Any]] = {"encode": partial(theirs, load_encoder(OFFLINE_MODEL))}
    for backend in BACKENDS:
        ways[backend] = partial(ours, compiled(load_encoder(OFFLINE_MODEL), OFFLINE_MODEL, backend))
    seconds, vectors = timed(ways, texts)
    rates = {name: len(texts) / spent for name, spent in seconds.items()}
    print(f"{len(texts)} {'passages of SciFact' if arguments else 'made-up texts'}, {OFFLINE_MODEL}\n")
    print("| | texts/s | to encode | largest difference | least cosine |\n|---|---|---|---|---|")
    for name, rate in rates.items():
        apart = np.abs(vectors[name] - vectors["encode"]).max()
        cosine = (vectors[name] * vectors["encode"]).sum(axis=1).min()
        print(f"| {name} | {rate:.1f} | {rate / rates['encode']:.2f} | {apart:.1e} | {cosine:.6f} |")
    print()
    for name in BACKENDS[1:]:
        ratio = rates[name] / rates["encode"]
        note(
            f"embedding by {name}, texts/s",
            f"at least {AIM} of sentence-transformers' own encode",
            f"{rates[name]:.1f}",
            peer=f"{rates['encode']:.1f} (encode)",
            ratio=f"{ratio:.2f}",
            missed=why((ratio < AIM, f"{ratio:.2f} of it")),
            packages=("sentence-transformers", "torch", "onnxruntime"),
        )


if __name__ == "__main__":
    main()
