"""BM25 on BEIR SciFact beside the figures of Anserini's regression, part by part: analyzer, lengths, k1 and b.

    python -m benchmarks.retrieval.lucene_bm25 PATH [URL]

PATH is BEIR's folder (corpus.jsonl, queries.jsonl, qrels/test.tsv). Published for Lucene's BM25 over title and text in
one field (pyserini's two-click reproductions, beir-v1.0.0-scifact.flat, k1 0.9, b 0.4): nDCG@10 0.6789, R@100 0.9253.
URL is an OpenSearch server, whose analyzer `english` is asked for the terms of every passage, to be compared with ours.
Exit status 1 where the row made up of Lucene's parts has other figures.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import httpx

from benchmarks.machine import machine
from ragassay.evaluate.from_files.rate import score_files
from ragassay.files import read_records
from ragassay.records import Passage
from ragassay.retrieval.rankers.analysis import make_lucene_english
from ragassay.retrieval.rankers.bm25 import AnalyzerName, Lexical
from ragassay.retrieval.search import search_files

MEASURES = ("nDCG@10", "R@100", "AP")
PUBLISHED = ("0.6789", "0.9253")
ROWS: tuple[tuple[str, AnalyzerName, float, float], ...] = (
    ("bm25s", "by-language", 1.2, 0.75),
    ("bm25s", "lucene-english", 1.2, 0.75),
    ("bm25s", "lucene-english", 0.9, 0.4),
    ("lucene", "by-language", 0.9, 0.4),
    ("lucene", "lucene-english", 0.9, 0.4),
)
"""--bm25, --analyzer, --k1, --b; the last is Anserini's."""


def measured(folder: Path, out: Path, row: tuple[str, AnalyzerName, float, float]) -> list[str]:
    """Each of MEASURES to four digits."""
    bm25, analyzer, k1, b = row
    lexical = Lexical(analyzer, k1=k1, b=b)
    corpus, queries = folder / "corpus.jsonl", folder / "queries.jsonl"
    search_files(corpus, queries, "bm25", embedding="none", k=1000, out=out, bm25=bm25, lexical=lexical)
    figures = score_files(folder / "qrels" / "test.tsv", out, MEASURES)
    return [f"{figures[name].value:.4f}" for name in MEASURES]


def terms_beside(folder: Path, url: str) -> str:
    """How many terms there are, and in how many passages ours are not the server's."""
    texts = [f"{passage.title} {passage.text}" for passage in read_records(folder / "corpus.jsonl", Passage)]
    n_terms, others = 0, 0
    for text, ours in zip(texts, make_lucene_english()(texts), strict=True):
        reply = httpx.post(f"{url.rstrip('/')}/_analyze", json={"analyzer": "english", "text": text}, timeout=30)
        theirs = [token["token"] for token in reply.raise_for_status().json()["tokens"]]
        n_terms += len(theirs)
        others += ours != theirs
    return (
        f"{n_terms:,} terms of {len(texts):,} passages from OpenSearch's `english`; ours differ in {others} passages."
    )


def main(folder: Path, url: str = "") -> int:
    """Print the table; 1 where the last row is not the published one."""
    print(f"| --bm25 | --analyzer | --k1 | --b | {' | '.join(MEASURES)} |\n|---|---|--:|--:|--:|--:|--:|")
    found: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        for row in ROWS:
            found = measured(folder, Path(scratch) / "run.trec", row)
            print(f"| {' | '.join([*map(str, row), *found])} |", flush=True)
    print(f"| Anserini | | 0.9 | 0.4 | {' | '.join(PUBLISHED)} | |\n\n{machine()}")
    if url:
        print(f"\n{terms_beside(folder, url)}")
    return 0 if tuple(found[: len(PUBLISHED)]) == PUBLISHED else 1


if __name__ == "__main__":
    if len(sys.argv) not in {2, 3}:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
