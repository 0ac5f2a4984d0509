"""Variants on a real OpenSearch rank as they do in memory; what the server is asked, on a scripted one."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence

import pytest
from support.loopback.opensearch_server import Received, ScriptedOpenSearch
from support.results_folder import experiment

from ragassay.errors import InputError
from ragassay.experiment.settings import OpenSearchSettings
from ragassay.experiment.workspace import VariantRun, Workspace
from ragassay.files import read_records, write_records
from ragassay.records import Passage, Query
from ragassay.retrieval.opensearch.client import connect
from ragassay.retrieval.opensearch.engine import ServerFused
from ragassay.retrieval.opensearch.rankers import Target
from ragassay.retrieval.rankers.ranker import Ranking
from ragassay.retrieval.variants.screen_variants import screen_variants
from ragassay.retrieval.variants.searching import VariantFound, VariantRankers

QUERIES = ["How is memory freed?", "program space strings", "interrupt handler memory memory", "zyzzyva", "the AVR"]

OWN = """
import hashlib

class One:
    salt = b"one"

    def embed_query(self, text):
        return [byte - 127.5 for byte in hashlib.sha256(self.salt + text.encode()).digest()]

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

class Two(One):
    salt = b"two"
"""

BM25 = {"name": "bm25", "kind": "bm25", "k1": [0.0, 0.5, 1.2], "b": [0.0, 0.75, 1.0]}
KNN = {"name": "knn", "kind": "knn", "embedding": ["python:own_vectors:One", "python:own_vectors:Two"]}
TABLES = [
    BM25,
    {"name": "english", "kind": "bm25", "analyzer": "lucene-english", "k1": 0.9},
    {"name": "expanded", "kind": "bm25", "rewrite": "rm3", "b": 0.4},
    KNN,
    {"name": "rrf", "kind": "hybrid", "of": ["english", "knn"], "rrf_k": [10, 60]},
    {"name": "weighted", "kind": "hybrid", "of": ["english", "knn"], "weights": [[0.3, 0.7], [2.0, 1.0]]},
    {"name": "z", "kind": "hybrid", "of": ["expanded", "knn"], "fusion": "z-score"},
    {"name": "three", "kind": "hybrid", "of": ["english", "expanded", "knn"], "weights": [1.0, 0.0, 3.0]},
    {"name": "lexical", "kind": "hybrid", "of": ["english", "bm25-k1_0-b_0"], "fusion": "min-max"},
]

Make = Callable[..., Workspace]


@pytest.fixture
def make(bench, passages, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A workspace of the bench's name over short passages (whose lengths Lucene keeps exactly) and shorter ones."""
    monkeypatch.delitem(sys.modules, "own_vectors", raising=False)

    def workspace(tables: Sequence[dict], engine: str = "opensearch", **opensearch: object) -> Workspace:
        corpus = bench.folder / bench.name
        corpus.mkdir(exist_ok=True)
        (corpus / "own_vectors.py").write_text(OWN)
        url = {"url": bench.url} if engine == "opensearch" else {}
        settings = experiment(
            retrieval={"engine": engine, "embedding": "python:own_vectors:One"} | url,
            opensearch={"replicas": 0, **opensearch},
            chunking=[{"name": "small", "size": 12}],
            retriever=list(tables),
        )
        made = Workspace(corpus, bench.folder / f"results-{engine}", settings)
        fresh = bench.fresh([*cut(passages, 30), *cut(passages, 12, "small")])
        write_records(made.passages, fresh)
        write_records(made.queries, [Query(id=f"q{n}", text=text) for n, text in enumerate(QUERIES)])
        return made

    return workspace


def cut(passages: Sequence[Passage], n_words: int, chunking: str | None = None) -> list[Passage]:
    made = []
    for passage in passages:
        text = " ".join(passage.text.split()[:n_words])
        name = f"{chunking}.{passage.id}" if chunking else passage.id
        metadata = {"chunking": chunking} if chunking else {}
        made.append(passage.model_copy(update={"id": name, "title": "", "text": text, "metadata": metadata}))
    return made


def everything(workspace: Workspace, k: int = 12) -> dict[str, VariantFound]:
    queries = read_records(workspace.queries, Query)
    with VariantRankers(workspace, read_records(workspace.passages, Passage), None) as rankers:  # type: ignore[arg-type]
        return {one.name: rankers.search(one.name, queries, k) for one in workspace.experiment.variants.all}


def same(one: Ranking, other: Ranking, within: float) -> None:
    """The same passages with the same scores, in the same order but for scores that are `within` of each other."""
    assert [score for _, score in one] == pytest.approx([score for _, score in other], abs=within, rel=1e-5)
    scores = dict(one)
    last = min(scores.values(), default=0.0)
    for identifier, score in other:
        assert scores.get(identifier, last) == pytest.approx(score, abs=within, rel=1e-5)


@pytest.mark.parametrize("hybrid", ["ours", "server"])
def test_every_variant_ranks_as_in_memory(make: Make, hybrid: str):
    ours, theirs = everything(make(TABLES, "embedded")), everything(make(TABLES, hybrid=hybrid))
    assert set(ours) == set(theirs) and len(ours) == 9 + 1 + 1 + 2 + 4 + 4 + 2 + 2 + 1
    variants = make(TABLES).experiment.variants.by_name
    for name, found in theirs.items():
        settings = variants[name].settings
        assert not found.errors and len(found.rankings) == len(QUERIES)
        by_server = hybrid == "server" and variants[name].table in ("weighted", "three", "lexical")
        for query, ranking in found.rankings.items():
            expected = ours[name].rankings[query]
            if settings.kind == "bm25":
                factor = ranking[0][1] / expected[0][1] if ranking else 1.0
                expected = [(identifier, factor * score) for identifier, score in expected]
            same(expected, ranking, 4e-3 if by_server else 1e-6 if variants[name].table == "rrf" else 3e-4)


def test_k1_and_b_are_the_ones_asked_for(bench, make: Make):
    """BM25 by its formula for one term: OpenSearch 2 multiplies by k1 + 1, OpenSearch 3 does not."""
    texts = ["memory memory", "memory register device pointer", "clock", "timer counter"]
    workspace = make([{**BM25, "chunking": "small"}])
    some = [Passage(id=f"small.{n}", text=text, metadata={"chunking": "small"}) for n, text in enumerate(texts)]
    write_records(workspace.passages, bench.fresh(some))
    write_records(workspace.queries, [Query(id="q", text="memory")])
    lengths = (2, 4, 1, 2)
    idf, mean = math.log(1 + (4 - 2 + 0.5) / (2 + 0.5)), sum(lengths) / 4
    for name, found in everything(workspace).items():
        settings = workspace.experiment.variants.by_name[name].settings
        k1, b = settings.k1, settings.b
        expected = {}
        for place, f in ((0, 2), (1, 1)):
            expected[f"small.{place}"] = idf * f / (f + k1 * (1 - b + b * lengths[place] / mean))
        ranking = dict(found.rankings["q"])
        factor = ranking["small.0"] / expected["small.0"]
        assert factor == pytest.approx(1.0, rel=1e-4) or factor == pytest.approx(k1 + 1, rel=1e-4)
        assert ranking == pytest.approx({name: factor * score for name, score in expected.items()}, rel=1e-4)


def test_an_index_a_chunking_and_embedding_found_again(bench, make: Make):
    tables = [{**table, "chunking": ["ingest", "small"]} if "of" not in table else table for table in (BM25, KNN)]
    everything(make(tables))
    made = bench.indexes()
    assert len(made) == 2 * (1 + 2)
    everything(make(tables))
    assert bench.indexes() == made
    more = {**tables[0], "k1": [0.0, 0.5, 1.2, 2.0]}
    everything(make([more, tables[1]]))
    assert len(bench.indexes()) == len(made) + 2, "another k1 makes an index of terms a chunking, and no vectors"


def test_the_index_of_the_three_retrievers_is_found_by_tables_that_say_no_more(bench, make: Make, stub):
    workspace = make([{"name": "bm25", "kind": "bm25", "chunking": "ingest"}])
    some = [p for p in read_records(workspace.passages, Passage) if "chunking" not in p.metadata]
    bench.rankers(some)
    made = bench.indexes()
    everything(workspace)
    assert bench.indexes() == made


def test_the_screening_says_what_an_index_took_and_counts_a_shared_one_once(make: Make):
    hybrid = {"name": "both", "kind": "hybrid", "of": ["bm25", "knn"], "weights": [0.5, 0.5]}
    workspace = make([BM25, {"name": "knn", "kind": "knn"}, hybrid], hybrid="server")
    screen_variants(workspace, None)  # type: ignore[arg-type]
    runs = {run.variant: run for run in read_records(workspace.screening_runs, VariantRun)}
    assert len(runs) == 9 + 1 + 9
    sizes = {run.index_bytes for run in runs.values()}
    assert len(sizes) == 1 and (sizes.pop() or 0) > 1000
    assert all(run.n_failed == 0 and run.n_timed == len(QUERIES) and run.index_s for run in runs.values())


def test_one_index_for_all_tables_is_refused(make: Make):
    workspace = make([BM25], index="mine")
    with pytest.raises(InputError, match=r"opensearch\.index names one index.*; take it out"):
        everything(workspace)


class Asks:
    """A ranker of the server that asks `clause`, or nothing for the query "none"."""

    def __init__(self, clause: str) -> None:
        self.clause = clause

    def clauses(self, queries: Sequence[str], depth: int) -> list[dict | None]:
        return [{self.clause: {"depth": depth}} if query != "none" or self.clause == "c" else None for query in queries]


def answer(received: Received) -> tuple[int, object]:
    """Two passages with the scores 1 and 0.5 for every search."""
    hits = [{"_id": "p1", "_score": 1.0}, {"_id": "p2", "_score": 0.5}]
    response = {"timed_out": False, "_shards": {"failed": 0}, "hits": {"hits": hits}, "status": 200}
    return 200, {"responses": [response] * (len(received.lines) // 2)}


def test_weights_are_shares_of_those_that_ask_and_scores_their_sum():
    with ScriptedOpenSearch(answer) as script:
        server = connect(script.url, OpenSearchSettings(), {})
        members = [Asks("a"), Asks("b"), Asks("c")]
        fused = ServerFused(server, Target("i"), members, "min-max", weights=[1, 2, 1], rrf_k=60, depth=7)
        assert fused.search(["all", "none"], 3) == [[("p1", 4.0), ("p2", 2.0)], [("p1", 1.0), ("p2", 0.5)]]
        _, first, _, second = script.requests[0].lines
    assert [list(query) for query in first["query"]["hybrid"]["queries"]] == [["a"], ["b"], ["c"]]
    assert [list(query) for query in second["query"]["hybrid"]["queries"]] == [["c"]]
    shares = [
        body["search_pipeline"]["phase_results_processors"][0]["normalization-processor"]["combination"]["parameters"]
        for body in (first, second)
    ]
    assert shares == [{"weights": [0.25, 0.5, 0.25]}, {"weights": [1.0]}]
    assert first["size"] == 7 and first["query"]["hybrid"]["queries"][0] == {"a": {"depth": 7}}
