"""BEIR SciFact from the embedded engine and from OpenSearch: how far they agree, HNSW's recall and speed, indexing.

    python -m benchmarks.retrieval.opensearch_scifact SCIFACT URL [CACHE]

SCIFACT is BEIR's folder, URL a server (logins as in docs/opensearch.md), CACHE a folder for embeddings. The indexes it
makes are removed at its end. Exit status 1 where fewer than 9 of BM25's top 10 are shared on average, an nDCG@10 is
more than 0.005 away, or KNN's recall@10 at defaults is below 0.98.
"""

from __future__ import annotations

import math
import sys
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import ir_measures
from ir_measures import nDCG

from ragassay.experiment.settings import OpenSearchSettings
from ragassay.files import read_qrels, read_records
from ragassay.records import Passage, Query
from ragassay.retrieval.opensearch.client import connect
from ragassay.retrieval.opensearch.engine import Engine, open_rankers
from ragassay.retrieval.opensearch.index import kept_indexes, remove_indexes
from ragassay.retrieval.rankers.analysis import make_analyzer
from ragassay.retrieval.rankers.bm25 import K1, B
from ragassay.retrieval.rankers.embedding import Embedder
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache
from ragassay.retrieval.rankers.ranker import Ranker, Ranking, indexed_text
from ragassay.retrieval.search import RETRIEVERS, make_rankers

MODEL = "all-MiniLM-L6-v2"
EF_SEARCH = (10, 20, 50, 100, 200, 400)


@dataclass
class Bench:
    """What is compared: the passages, the judged queries, their labels, and where."""

    passages: list[Passage]
    queries: list[Query]
    qrels: dict[str, dict[str, int]]
    url: str
    cache: Path | None
    name: str

    def embedder(self) -> Embedder:
        return Embedder(MODEL, EmbeddingCache(MODEL, self.cache))

    def server(self, names: Sequence[str], **settings: object) -> dict[str, Ranker]:
        given = OpenSearchSettings.model_validate({"replicas": 0, **settings})
        engine = Engine(self.url, given, self.name, Path("opensearch-rejected.jsonl"))
        return open_rankers(names, self.passages, self.embedder(), engine, language="en", rrf_k=60)

    def search(self, ranker: Ranker, k: int = 10) -> list[Ranking]:
        return ranker.search([query.text for query in self.queries], k)

    def ndcg(self, rankings: Sequence[Ranking]) -> float:
        run = {query.id: dict(ranking) for query, ranking in zip(self.queries, rankings, strict=True)}
        return float(ir_measures.calc_aggregate([nDCG @ 10], self.qrels, run)[nDCG @ 10])


def shared(one: Sequence[Ranking], other: Sequence[Ranking]) -> tuple[float, int]:
    """(passages of one's top 10 that stand in the other's, mean; queries with the same ten in the same order)."""
    pairs = [([i for i, _ in a[:10]], [i for i, _ in b[:10]]) for a, b in zip(one, other, strict=True)]
    return fmean(len(set(a) & set(b)) for a, b in pairs), sum(a == b for a, b in pairs)


def byte_length(length: int) -> int:
    """What one byte keeps of a length (Lucene's SmallFloat.intToByte4)."""
    rest = length - 24
    shift = max(rest.bit_length() - 4, 0)
    return length if rest < 0 else 24 + ((rest >> shift) << shift)


def lucene(bench: Bench) -> list[Ranking]:
    """BM25 with lengths in a byte, computed here: what explains the difference between the engines, or does not."""
    analyze = make_analyzer("en")
    rows = analyze([indexed_text(passage) for passage in bench.passages])
    mean, postings = fmean(map(len, rows)), defaultdict[str, list[tuple[int, int]]](list)
    for number, row in enumerate(rows):
        for term, count in Counter(row).items():
            postings[term].append((number, count))
    norms = [K1 * (1 - B + B * byte_length(len(row)) / mean) for row in rows]
    found = []
    for terms in analyze([query.text for query in bench.queries]):
        scores: Counter[int] = Counter()
        for term in terms:
            held = len(postings.get(term, ()))
            idf = math.log(1 + (len(rows) - held + 0.5) / (held + 0.5))
            for number, count in postings.get(term, ()):
                scores[number] += idf * count / (count + norms[number])  # type: ignore[assignment]
        best = sorted(scores.items(), key=lambda pair: (-round(pair[1], 6), bench.passages[pair[0]].id))[:10]
        found.append([(bench.passages[number].id, float(score)) for number, score in best])
    return found


def compare(bench: Bench) -> bool:
    """Print the table of agreement; whether it is what it must be."""
    ours = make_rankers(RETRIEVERS, bench.passages, bench.embedder(), language="en", bm25="bm25s", rrf_k=60)
    theirs = bench.server(RETRIEVERS)
    by_server = bench.server(["hybrid"], hybrid="server")["hybrid"]
    one = {name: bench.search(ours[name]) for name in RETRIEVERS}
    two = {name: bench.search(theirs[name]) for name in RETRIEVERS}
    fused = bench.search(by_server)
    rows = [(f"{name}, embedded and OpenSearch", one[name], two[name]) for name in RETRIEVERS]
    rows.append(("bm25, lengths in a byte computed here, and OpenSearch", lucene(bench), two["bm25"]))
    rows.append(("hybrid on OpenSearch, fused by us and by the server", two["hybrid"], fused))
    print("| rankings compared | nDCG@10 | nDCG@10 | shared of the top 10 | same ten, same order |")
    print("|---|--:|--:|--:|--:|")
    for name, first, second in rows:
        mean, same = shared(first, second)
        figures = f"{bench.ndcg(first):.4f} | {bench.ndcg(second):.4f} | {mean:.2f}"
        print(f"| {name} | {figures} | {same} of {len(bench.queries)} |", flush=True)
    near = all(abs(bench.ndcg(one[name]) - bench.ndcg(two[name])) <= 0.005 for name in RETRIEVERS)
    recalls = recall_table(bench, one["knn"])
    return near and shared(one["bm25"], two["bm25"])[0] >= 9 and recalls[100] >= 0.98


def recall_table(bench: Bench, exact: Sequence[Ranking]) -> dict[int, float]:
    """Print recall@10 against exact search and the time a query by ef_search, and return the recalls."""
    print("\n| ef_search | recall@10 | ms a query, 64 at a time | ms a query, one at a time |\n|--:|--:|--:|--:|")
    recalls = {}
    for ef_search in EF_SEARCH:
        ranker = bench.server(["knn"], ef_search=ef_search)["knn"]
        found = bench.search(ranker)
        together, alone = time_of(bench, ranker, 64), time_of(bench, ranker, 1)
        recalls[ef_search] = shared(exact, found)[0] / 10
        print(f"| {ef_search} | {recalls[ef_search]:.4f} | {together:.1f} | {alone:.1f} |", flush=True)
    return recalls


def time_of(bench: Bench, ranker: Ranker, at_a_time: int) -> float:
    """Milliseconds a query, wall clock, the fastest of three rounds over all queries; embeddings are cached."""
    texts, best = [query.text for query in bench.queries], math.inf
    for _ in range(3):
        start = time.perf_counter()
        for first in range(0, len(texts), at_a_time):
            ranker.search(texts[first : first + at_a_time], 10)
        best = min(best, time.perf_counter() - start)
    return 1000 * best / len(texts)


def index(bench: Bench) -> None:
    """Make both indexes and print how long that took; the vectors are embedded before."""
    bench.search(make_rankers(["knn"], bench.passages, bench.embedder(), language="en", bm25="bm25s", rrf_k=60)["knn"])
    print("| index | seconds | passages/s |\n|---|--:|--:|")
    for name, retriever in (("BM25", "bm25"), ("BM25 and vectors of 384 dimensions", "hybrid")):
        start = time.perf_counter()
        bench.server([retriever])
        seconds = time.perf_counter() - start
        print(f"| {name} | {seconds:.1f} | {len(bench.passages) / seconds:.0f} |", flush=True)
    print()


def main(folder: Path, url: str, cache: Path | None) -> int:
    """Print the tables; 1 where the engines agree less than they must."""
    name = f"benchmark-{uuid.uuid4().hex[:8]}"
    passages = [
        p.model_copy(update={"metadata": {"run": name}}) for p in read_records(folder / "corpus.jsonl", Passage)
    ]
    qrels = read_qrels(folder / "qrels" / "test.tsv")
    queries = [query for query in read_records(folder / "queries.jsonl", Query) if query.id in qrels]
    bench = Bench(passages, queries, qrels, url, cache, name)
    server = connect(url, OpenSearchSettings())
    try:
        index(bench)
        good = compare(bench)
    finally:
        made = [entry.index for entry in kept_indexes(server) if any(name in alias for alias in entry.aliases)]
        remove_indexes(server, made, old=False)
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) not in {3, 4}:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]) if len(sys.argv) == 4 else None))
