"""nDCG@10 and R@100 of the three retrievers on BEIR SciFact (5,183 passages, the 300 queries of qrels/test.tsv).

    python -m benchmarks.retrieval.scifact PATH [EMBEDDING [BACKEND]]

PATH is BEIR's folder (corpus.jsonl, queries.jsonl, qrels/test.tsv), BACKEND what runs the embedding model ("onnx-int8"
shows what 8-bit weights lose). Exit status 1 where a figure is below what it must
reach: BM25 0.665, all-MiniLM-L6-v2 0.640.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import cast

import ir_measures
from ir_measures import R, nDCG

from benchmarks.machine import machine
from ragassay.experiment.settings import Backend
from ragassay.files import Qrels, read_qrels, read_records, read_run, write_records
from ragassay.records import Query
from ragassay.retrieval.search import RETRIEVERS, search_files

REQUIRED = {"bm25": 0.665, "knn": 0.640}
PUBLISHED = "Published nDCG@10: BM25 0.665 (BEIR) and 0.679 (Lucene, flat index), all-MiniLM-L6-v2 0.645."


def test_queries(source: Path, qrels: Qrels, target: Path) -> Path:
    """The judged queries alone, as a file of their own."""
    write_records(target, [query for query in read_records(source, Query) if query.id in qrels])
    return target


def measure(
    folder: Path, qrels: Qrels, retriever: str, embedding: str, backend: Backend, scratch: Path
) -> tuple[float, float, float]:
    """(nDCG@10, R@100, seconds) of one retriever; the hybrid finds in `scratch` what knn embedded before it."""
    queries, out = test_queries(folder / "queries.jsonl", qrels, scratch / "queries.jsonl"), scratch / "run.trec"
    cache, start = scratch / "embeddings", time.perf_counter()
    corpus = folder / "corpus.jsonl"
    search_files(corpus, queries, retriever, embedding=embedding, backend=backend, k=100, out=out, cache=cache)
    seconds = time.perf_counter() - start
    run = {query_id: dict(ranking) for query_id, ranking in read_run(out).items()}
    values = ir_measures.calc_aggregate([nDCG @ 10, R @ 100], qrels, run)
    return values[nDCG @ 10], values[R @ 100], seconds


def main(folder: Path, embedding: str = "all-MiniLM-L6-v2", backend: str = "auto") -> int:
    """Print the table; 1 where a figure is too low."""
    qrels, low = read_qrels(folder / "qrels" / "test.tsv"), 0
    print(f"{machine()}; {embedding} by {backend}")
    print(f"{'retriever':10} {'nDCG@10':>8} {'R@100':>8} {'seconds':>8}")
    with tempfile.TemporaryDirectory() as scratch:
        for retriever in RETRIEVERS:
            ndcg, recall, seconds = measure(folder, qrels, retriever, embedding, cast(Backend, backend), Path(scratch))
            print(f"{retriever:10} {ndcg:8.4f} {recall:8.4f} {seconds:8.1f}", flush=True)
            low += ndcg < REQUIRED.get(retriever, 0.0)
    print(f"{len(qrels)} queries. {PUBLISHED}")
    return 1 if low else 0


if __name__ == "__main__":
    if len(sys.argv) not in {2, 3, 4}:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
