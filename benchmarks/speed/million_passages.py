"""A million passages of a hundred words, ingested, indexed and searched by the embedded engine.

    python -m benchmarks.speed.million_passages [N] [FOLDER]

N (1,000,000) made-up passages of 100 words drawn by Zipf's law, and as many random unit vectors of 384 dimensions in
place of a model's, seeded. They are written below FOLDER (default: a new one where temporary files go), which needs
4 GB for a million, and removed. Each part runs in a process of its own, whose peak memory is the system's figure
(ru_maxrss), memory-mapped pages that happened to be in memory included. `command line` is `ragassay search` itself.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.speed.aims import note, why
from ragassay.files import read_records
from ragassay.records import Query
from ragassay.retrieval.rankers.analysis import make_analyzer
from ragassay.retrieval.rankers.bm25 import Bm25, RankBm25
from ragassay.retrieval.rankers.embedding import Embedder
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache
from ragassay.retrieval.rankers.knn import Knn
from ragassay.retrieval.rankers.ranker import Anew, CorpusFile, indexed_texts

WORDS, QUERY_WORDS, VOCABULARY, DIMENSIONS = 100, 5, 200_000, 384
QUERIES, K, BATCH, SAMPLE, SEED = 640, 10, 64, 20_000, 7
SLOW_QUERIES = 20
MODEL = "random-384"


class RandomEncoder:
    """A random unit vector for each text, the same for the same text."""

    prompts: dict[str, str | None] = {}  # noqa: RUF012

    def encode_query(self, inputs: list[str], *, prompt: str, batch_size: int, show_progress_bar: bool) -> Any:
        """(texts, 384), single precision."""
        del batch_size, show_progress_bar
        seeds = [hashlib.blake2b((prompt + text).encode(), digest_size=8).digest() for text in inputs]
        generators = (np.random.Generator(np.random.SFC64(int.from_bytes(seed))) for seed in seeds)
        return np.stack([generator.standard_normal(DIMENSIONS, np.float32) for generator in generators])

    encode_document = encode_query


def made_up_words(rng: np.random.Generator) -> list[str]:
    """VOCABULARY different words of two to five syllables."""
    syllables = np.array([first + second for first in "bcdfghklmnprstvz" for second in "aeiou"])
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        words["".join(rng.choice(syllables, rng.integers(2, 6)))] = None
    return list(words)


def write_corpus(folder: Path, n: int) -> None:
    """corpus.jsonl and queries.jsonl (BEIR): the r-th most frequent word is drawn with a probability as 1/r."""
    rng = np.random.default_rng(SEED)
    words = made_up_words(rng)
    chances = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    chances /= chances[-1]

    def texts(count: int, length: int) -> Iterator[str]:
        for row in np.searchsorted(chances, rng.random((count, length))).tolist():
            yield " ".join([words[number] for number in row])

    with (folder / "corpus.jsonl").open("w") as lines:
        for start in range(0, n, 10_000):
            for number, text in enumerate(texts(min(10_000, n - start), WORDS), start):
                lines.write(f'{{"_id": "p{number:07d}", "title": "", "text": "{text}"}}\n')
    with (folder / "queries.jsonl").open("w") as lines:
        for number, text in enumerate(texts(QUERIES, QUERY_WORDS)):
            lines.write(f'{{"_id": "q{number:04d}", "text": "{text}"}}\n')


def corpus_of(folder: Path) -> tuple[list[str], Anew[str]]:
    """Ids, and texts that are read from the file whenever they are gone through."""
    lines = CorpusFile(folder / "corpus.jsonl")
    ids = [passage.id for passage in lines]
    return ids, indexed_texts(lines, len(ids))


def bm25_part(folder: Path) -> None:
    """Index and search by BM25, beside bm25s' own retrieve over the same index."""
    asked = [query.text for query in read_records(folder / "queries.jsonl", Query)]
    start = time.perf_counter()
    ids, texts = corpus_of(folder)
    index = Bm25(ids, texts, make_analyzer("en"))
    seconds = time.perf_counter() - start
    say("BM25: reading and indexing", f"{len(ids) / seconds:,.0f} passages/s ({seconds:.0f} s)")
    ours = rate(index.search, asked)
    say("BM25: searching, top 10", f"{ours:,.1f} queries/s")
    bm25s, analyze = index._index, make_analyzer("en")

    def alone(queries: Sequence[str], k: int) -> None:
        known = [[index._vocabulary[t] for t in terms if t in index._vocabulary] for terms in analyze(queries)]
        bm25s.retrieve(known, k=k, show_progress=False, n_threads=0)

    theirs = rate(alone, asked)
    say("bm25s alone, the same index", f"{theirs:,.1f} queries/s; ours is {ours / theirs:.2f} times as fast")
    note(
        f"BM25 over {len(ids):,} passages",
        "beside bm25s alone",
        f"{ours:,.0f} queries/s",
        peer=f"{theirs:,.0f} queries/s",
        ratio=f"{ours / theirs:.2f}",
        packages=["bm25s", "numpy"],
    )


def sample_part(folder: Path) -> None:
    """BM25 beside rank-bm25 over the first SAMPLE passages."""
    asked = [query.text for query in read_records(folder / "queries.jsonl", Query)]
    ids, texts = [], []
    for passage in CorpusFile(folder / "corpus.jsonl"):
        ids.append(passage.id)
        texts.append(passage.text)
        if len(ids) == SAMPLE:
            break
    ours = rate(Bm25(ids, texts, make_analyzer("en")).search, asked)
    theirs = rate(RankBm25(ids, texts, make_analyzer("en")).search, asked[:SLOW_QUERIES])
    name = f"BM25 over the first {len(ids):,} passages"
    say(name, f"{ours:,.0f} queries/s; rank-bm25 {theirs:,.1f}; {ours / theirs:.0f} times as fast")
    note(
        name,
        "20 times rank-bm25",
        f"{ours:,.0f} queries/s",
        peer=f"{theirs:,.1f} queries/s",
        ratio=f"{ours / theirs:.0f}",
        missed=why((ours < 20 * theirs, "it is not that much faster")),
        packages=["bm25s", "rank-bm25", "numpy"],
    )


def knn_part(folder: Path) -> None:
    """Embed (random vectors, kept in the cache), map and search by KNN, beside the machine's matrix product."""
    asked = [query.text for query in read_records(folder / "queries.jsonl", Query)]
    start = time.perf_counter()
    ids, texts = corpus_of(folder)
    cache = EmbeddingCache(MODEL, folder / "cache")
    index = Knn(ids, texts, Embedder(MODEL, cache, lambda _: RandomEncoder()))
    index.search(asked, K)
    seconds = time.perf_counter() - start
    say("vectors: made, kept and mapped", f"{len(ids) / seconds:,.0f} passages/s ({seconds:.0f} s)")
    assert index._single is not None
    queries = np.array(index._single[:BATCH])
    product = min(timed(lambda: multiply(queries, index._single)) for _ in range(3))
    searched = min(timed(lambda: index.search(asked[:BATCH], K)) for _ in range(3))
    say("KNN: exact, top 10, 64 queries at once", f"{BATCH / searched:,.0f} queries/s ({searched:.3f} s a batch)")
    share = product / searched
    say("the machine's matrix product alone", f"{BATCH / product:,.0f} queries/s ({product:.3f} s a batch)")
    say("KNN's share of what the product allows", f"{share:.2f}")
    note(
        f"exact KNN over {len(ids):,} × {DIMENSIONS}, 64 queries at once",
        "half of what the matrix product allows",
        f"{BATCH / searched:,.0f} queries/s",
        peer=f"{BATCH / product:,.0f} queries/s",
        ratio=f"{share:.2f}",
        missed=why((share < 0.5, "what is done beside the product takes longer than it")),
        packages=["numpy"],
    )


def multiply(queries: npt.NDArray[np.float32], passages: Any, rows: int = 32_768) -> None:
    """The product with all passages, in blocks that stay in the processor's cache, nothing kept."""
    out = np.empty((len(queries), rows), np.float32)
    for start in range(0, len(passages), rows):
        block = passages[start : start + rows]
        np.matmul(queries, block.T, out=out[:, : len(block)])


def rate(search: Callable[[Sequence[str], int], object], asked: Sequence[str]) -> float:
    """Queries a second, after one that is not counted."""
    search(asked[:1], K)
    return len(asked) / timed(lambda: search(asked, K))


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def say(what: str, figure: str) -> None:
    """One line of what is printed."""
    print(f"{what:56} {figure}", flush=True)


def child(name: str, command: Sequence[str], folder: Path) -> float:
    """Run one part in its own process, temporary files below `folder`; its peak memory in GiB."""
    start = time.perf_counter()
    process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(folder)})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{name} ended with status {process.returncode}")
    seconds = time.perf_counter() - start
    gib = usage.ru_maxrss / 2**20
    say(f"{name}: peak memory", f"{gib:.2f} GiB ({seconds:.0f} s in all)")
    return gib


def search_command(folder: Path, retriever: str) -> list[str]:
    """`ragassay search` as one would type it."""
    files = ["--corpus", str(folder / "corpus.jsonl"), "--queries", str(folder / "queries.jsonl")]
    options = ["--retriever", retriever, "--embedding", MODEL, "--cache", str(folder / "cache"), "--k", "10"]
    return [sys.executable, "-m", "ragassay", "search", *files, *options, "--out", str(folder / f"{retriever}.trec")]


def main(n: int, folder: Path) -> None:
    """Every part; the files are removed at the end."""
    try:
        seconds = timed(lambda: write_corpus(folder, n))
        size = (folder / "corpus.jsonl").stat().st_size / 2**30
        say(
            f"{n:,} passages of {WORDS} words",
            f"{size:.2f} GiB, made in {seconds:.0f} s; load {os.getloadavg()[0]:.1f}",
        )
        for part in PARTS:
            child(part, [sys.executable, "-m", "benchmarks.speed.million_passages", part, str(folder)], folder)
        gib = child("ragassay search --retriever hybrid", search_command(folder, "hybrid"), folder)
        note(
            f"peak memory of a hybrid search of {n:,} passages, indexing included",
            "under 8 GB",
            f"{gib * 1.073741824:.1f} GB",
            missed=why((gib * 1.073741824 >= 8, "it is not")),
            packages=["numpy"],
        )
    finally:
        shutil.rmtree(folder)


PARTS: dict[str, Callable[[Path], None]] = {"bm25": bm25_part, "sample": sample_part, "knn": knn_part}

if __name__ == "__main__":
    given = sys.argv[1:]
    if given and given[0] in PARTS:
        PARTS[given[0]](Path(given[1]))
    elif {"-h", "--help"} & set(given):
        sys.exit(__doc__)
    else:
        parent = given[1] if len(given) > 1 else None
        main(int(given[0]) if given else 1_000_000, Path(tempfile.mkdtemp(prefix="million-", dir=parent)))
