"""Queries a second of BM25 through bm25s and through rank-bm25, over the same passages and terms.

    python -m benchmarks.speed.bm25 PATH [N_QUERIES]

PATH is a folder in BEIR's layout (corpus.jsonl, queries.jsonl); the first N_QUERIES (100) are searched, to depth 10,
after one that is not counted. Splitting the queries into terms, which both do alike, is part of the time.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.machine import machine
from benchmarks.speed.aims import note
from ragassay.files import read_records
from ragassay.records import Passage, Query
from ragassay.retrieval.rankers.analysis import make_analyzer
from ragassay.retrieval.rankers.bm25 import Bm25, RankBm25
from ragassay.retrieval.rankers.ranker import indexed_text

TIMES_FASTER = 20


def main(folder: Path, n_queries: int) -> int:
    """Print a line an engine, and how many times faster the first is."""
    passages, queries = read_records(folder / "corpus.jsonl", Passage), read_records(folder / "queries.jsonl", Query)
    ids, texts = [passage.id for passage in passages], [indexed_text(passage) for passage in passages]
    asked, rates = [query.text for query in queries[:n_queries]], []
    print(machine())
    print(f"{len(passages)} passages, {len(asked)} queries")
    for name, engine in (("bm25s", Bm25), ("rank-bm25", RankBm25)):
        start = time.perf_counter()
        index = engine(ids, texts, make_analyzer("en"))
        indexed = time.perf_counter()
        index.search(asked[:1], 10)
        searched = time.perf_counter()
        index.search(asked, 10)
        rates.append(len(asked) / (time.perf_counter() - searched))
        print(f"{name:10} indexed in {indexed - start:5.1f} s, {rates[-1]:8.0f} queries/s", flush=True)
    times = rates[0] / rates[1]
    print(f"bm25s searches {times:.0f} times as fast")
    note(
        f"BM25 over SciFact's {len(passages):,} passages",
        f"at least {TIMES_FASTER} times rank-bm25",
        f"{rates[0]:,.0f} queries/s",
        peer=f"{rates[1]:,.0f} queries/s (rank-bm25)",
        ratio=f"{times:.0f} times as fast",
        missed=None if times >= TIMES_FASTER else "searching was not fast enough",
        packages=("bm25s", "rank-bm25", "numpy"),
    )
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in {2, 3}:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 100))
