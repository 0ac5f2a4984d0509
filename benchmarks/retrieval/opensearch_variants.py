"""A grid of variants on BEIR SciFact from memory and from OpenSearch: how far they agree, and what an index takes.

    python -m benchmarks.retrieval.opensearch_variants SCIFACT URL [CACHE]

SCIFACT is BEIR's folder, URL a server (logins as in docs/opensearch.md), CACHE a folder in which `embeddings` are kept;
without it nothing is embedded, and BM25 is compared alone. The indexes it makes are removed at its end. Exit status 1
where an nDCG@10 is more than 0.005 away from the embedded engine's.
"""

from __future__ import annotations

import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.retrieval.opensearch_scifact import MODEL, Bench, shared
from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.experiment.settings import Experiment, OpenSearchSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_qrels, read_records
from ragassay.records import Passage, Query
from ragassay.retrieval.opensearch.client import connect
from ragassay.retrieval.opensearch.index import kept_indexes, remove_indexes
from ragassay.retrieval.rankers.ranker import Ranking
from ragassay.retrieval.variants.searching import VariantRankers

Table = Mapping[str, Any]

BM25: Table = {"name": "bm25", "kind": "bm25", "k1": [0.9, 1.2, 2.0], "b": [0.4, 0.75]}
FUSED: Table = {"kind": "hybrid", "of": ["bm25-k1_1.2-b_0.75", "knn"]}
TABLES: tuple[Table, ...] = (
    BM25,
    {"name": "rm3", "kind": "bm25", "k1": 0.9, "b": 0.4, "rewrite": "rm3"},
    {"name": "knn", "kind": "knn"},
    {**FUSED, "name": "rrf", "rrf_k": [10, 60]},
    {**FUSED, "name": "min-max", "weights": [[0.3, 0.7], [0.5, 0.5], [0.7, 0.3]]},
    {**FUSED, "name": "z-score", "fusion": "z-score"},
)

BY = {"ours": "us", "server": "the server"}


@dataclass
class Grid:
    """SciFact, a corpus folder by whose name indexes are found again, and a results folder."""

    bench: Bench
    corpus: Path
    results: Path

    def rankers(self, tables: Sequence[Table], **opensearch: Any) -> VariantRankers:
        """Of the variants of `tables`: on the server with these settings, or in memory without any."""
        workspace = Workspace(self.corpus, self.results, self.experiment(tables, **opensearch))
        return VariantRankers(workspace, self.bench.passages, Caller(workspace, "screen", ReplyCache(self.results)))

    def experiment(self, tables: Sequence[Table], **opensearch: Any) -> Experiment:
        """What makes those variants."""
        server = {"engine": "opensearch", "url": self.bench.url} if opensearch else {}
        nobody = {"model": "file:nobody"}
        given = {
            "questions": {"source": "own"},
            "answer": nobody,
            "judge": nobody,
            "retrieval": {"embedding": MODEL, **server},
            "opensearch": opensearch,
            "retriever": list(tables),
        }
        return Experiment.model_validate(given)

    def search(self, tables: Sequence[Table], **opensearch: Any) -> dict[str, list[Ranking]]:
        """The ten best of each variant for every query."""
        names = [variant.name for variant in self.experiment(tables).variants.all]
        with self.rankers(tables, **opensearch) as rankers:
            return {name: self.bench.search(rankers.pipeline(name)) for name in names}


def sizes(grid: Grid) -> None:
    """Print what six settings of BM25 take as fields of one index, and as an index each."""
    print("| six settings of BM25 | indexes | time | MB |\n|---|--:|--:|--:|")
    apart = [[{**BM25, "k1": k1, "b": b}] for k1 in BM25["k1"] for b in BM25["b"]]
    for name, some in (("fields of one index", [[BM25]]), ("an index each", apart)):
        start, n_bytes = time.perf_counter(), dict[str | None, int | None]()
        for tables in some:
            with grid.rankers(tables, replicas=0) as rankers:
                bases = [rankers.bases.of(variant) for variant in grid.experiment(tables).variants.all]
                n_bytes |= {base.index: base.index_bytes for base in bases}
        megabytes = sum(size or 0 for size in n_bytes.values()) / 1e6
        print(f"| {name} | {len(n_bytes)} | {time.perf_counter() - start:.1f} s | {megabytes:.1f} |", flush=True)
    print()


def compare(grid: Grid, tables: Sequence[Table]) -> bool:
    """Print a row a variant, fused by us and by the server; whether every figure is near the embedded one."""
    embedded, near = grid.search(tables), True
    print("| variant | fused by | nDCG@10 in memory | on OpenSearch | shared of the top 10 | same ten, same order |")
    print("|---|---|--:|--:|--:|--:|")
    for hybrid in ("ours", "server") if len(tables) > 2 else ("ours",):
        for name, found in grid.search(tables, replicas=0, hybrid=hybrid).items():
            if hybrid == "server" and not name.startswith(("rrf", "min-max")):
                continue  # nothing that the server fuses
            by = BY[hybrid] if name.startswith(("rrf", "min-max", "z-score")) else ""
            one, two = grid.bench.ndcg(embedded[name]), grid.bench.ndcg(found)
            mean, same = shared(embedded[name], found)
            print(f"| {name} | {by} | {one:.4f} | {two:.4f} | {mean:.2f} | {same} of {len(found)} |", flush=True)
            near = near and abs(one - two) <= 0.005
    return near


def main(folder: Path, url: str, cache: Path | None) -> int:
    """Print the tables; 1 where the engines agree less than they must."""
    name = f"benchmark-{uuid.uuid4().hex[:8]}"
    qrels = read_qrels(folder / "qrels" / "test.tsv")
    queries = [query for query in read_records(folder / "queries.jsonl", Query) if query.id in qrels]
    passages = [
        p.model_copy(update={"metadata": {"run": name}}) for p in read_records(folder / "corpus.jsonl", Passage)
    ]
    server = connect(url, OpenSearchSettings())
    with tempfile.TemporaryDirectory() as place:
        grid = Grid(Bench(passages, queries, qrels, url, None, name), Path(place) / name, cache or Path(place))
        grid.corpus.mkdir()
        try:
            sizes(grid)
            good = compare(grid, TABLES if cache else TABLES[:2])
        finally:
            made = [entry.index for entry in kept_indexes(server) if entry.about and name in entry.about.alias]
            remove_indexes(server, made, old=False)
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) not in {3, 4}:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]) if len(sys.argv) == 4 else None))
