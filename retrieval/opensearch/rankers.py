"""Searching an index: many queries in one `_msearch`, none answered in part; BM25 and KNN over it as rankers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ragassay.errors import InputError

from ..rankers.analysis import Analyzer
from ..rankers.bm25 import DIGITS as BM25_DIGITS
from ..rankers.bm25 import TermRanker
from ..rankers.embedding import Embedder
from ..rankers.embedding_cache import Text
from ..rankers.knn import DIGITS as KNN_DIGITS
from ..rankers.ranker import Ranker, Ranking, in_order
from .about import TERMS
from .client import Server, is_passing, reason_of
from .index import filter_value, term_string

MAX_K = 10_000
"""Passages a query that OpenSearch gives at most (index.max_result_window)."""

_AT_A_TIME = 64  # searches in one request

_SERVERS_RRF_K = 60

Body = dict[str, Any]


@dataclass(frozen=True)
class Target:
    """The index that is searched, and what shapes every search of it.

    ef_search: candidates that HNSW keeps at the least. filter: metadata that passages must have, by key. dimension: of
    the index's vectors, None where it has none. terms: the field that BM25 searches.
    """

    index: str
    terms: str = TERMS
    engine: str = "lucene"
    ef_search: int = 100
    shards: int = 1
    dimension: int | None = None
    filter: Mapping[str, str] = field(default_factory=dict)


def bm25_query(target: Target, terms: Sequence[str]) -> Body:
    """Passages that hold any of `terms`, each term as often as it stands there; 1 or more terms."""
    return _filtered({"match": {target.terms: {"query": term_string(terms), "operator": "or"}}}, target)


def weighted_query(target: Target, weights: Mapping[str, float]) -> Body:
    """The same where what a term gives is multiplied by its weight (above 0)."""
    terms = [
        {"term": {target.terms: {"value": term_string([term]), "boost": weight}}} for term, weight in weights.items()
    ]
    return _filtered({"bool": {"should": terms, "minimum_should_match": 1}}, target)


def _filtered(match: Body, target: Target) -> Body:
    return {"bool": {"must": [match], "filter": _filters(target)}} if target.filter else match


def knn_query(target: Target, vector: npt.NDArray[Any], k: int) -> Body:
    """The `k` or more nearest passages. Raises InputError where the vector has another length than the index's."""
    if target.dimension is not None and len(vector) != target.dimension:
        problem = f"index '{target.index}' has {target.dimension} dimensions and the embedding model {len(vector)}"
        raise InputError(problem, remedy="name the embedding model that the index was made with")
    asked: Body = {"vector": vector.astype(np.float64).tolist(), "k": k}
    if target.engine == "lucene":  # its candidates are its k
        asked["k"] = min(max(k, target.ef_search), MAX_K)
    else:
        asked["method_parameters"] = {"ef_search": max(k, target.ef_search)}
    if target.filter:
        asked["filter"] = {"bool": {"filter": _filters(target)}}
    return {"knn": {"vector": asked}}


def sorted_search(query: Body, k: int) -> Body:
    """Whatever `query` finds, equal scores by id."""
    return {**_plain(k), "query": query, "sort": ["_score", {"id": "asc"}]}


def hybrid_search(queries: Sequence[Body], depth: int, processor: Body) -> Body:
    """The top `depth` of each of 1 to 5 `queries` fused by the server, as the processor says."""
    return {
        **_plain(depth),
        "query": {"hybrid": {"queries": list(queries)}},
        "search_pipeline": {"phase_results_processors": [processor]},
    }


def rrf_processor(rrf_k: int) -> Body:
    """Reciprocal rank fusion, from OpenSearch 2.19 on, for an `rrf_k` from 1 to 10,000.

    2.19 reads its constant from the parameters alone, whatever its documentation says, and takes 60 without them.
    """
    combination: Body = {"technique": "rrf", "rank_constant": rrf_k}
    if rrf_k != _SERVERS_RRF_K:
        combination["parameters"] = {"rank_constant": rrf_k}
    return {"score-ranker-processor": {"combination": combination}}


def min_max_processor(weights: Sequence[float]) -> Body:
    """The weighted mean of scores from 0 to 1, from OpenSearch 2.10 on; `weights` sum to 1.

    What a query does not find gets 0 from it, and what it finds last 0.001.
    """
    combination = {"technique": "arithmetic_mean", "parameters": {"weights": list(weights)}}
    return {"normalization-processor": {"normalization": {"technique": "min_max"}, "combination": combination}}


def run_searches(server: Server, target: Target, bodies: Sequence[Body]) -> Iterator[Ranking]:
    """(passage id, the server's score) for each search, best first.

    Raises InputError where a search is refused, or a shard or the time did not suffice for all of it.
    """
    for start in range(0, len(bodies), _AT_A_TIME):
        owed, found = dict(enumerate(bodies[start : start + _AT_A_TIME])), dict[int, Ranking]()
        for attempt in range(server.retries + 1):
            left = {number: body for number, body in owed.items() if number not in found}
            found |= _ask(server, target, left, last=attempt == server.retries)
            if len(found) == len(owed):
                break
            server.pause(attempt)
        yield from (found[number] for number in owed)


def _ask(server: Server, target: Target, bodies: Mapping[int, Body], *, last: bool) -> dict[int, Ranking]:
    """The rankings of the searches that were answered. Raises where one never will be, or was not at the `last` try."""
    head: Body = {"index": target.index, "allow_partial_search_results": False}
    if target.shards > 1:
        head["search_type"] = "dfs_query_then_fetch"  # statistics of terms over all shards, as in one
    text = "".join(f"{json.dumps(head)}\n{json.dumps(body)}\n" for body in bodies.values())
    responses = server.call(lambda client: client.msearch(body=text))["responses"]
    if len(responses) != len(bodies):
        raise server.refusal(502, f"{len(responses)} answers to {len(bodies)} searches")
    found: dict[int, Ranking] = {}
    for number, response in zip(bodies, responses, strict=True):
        if "error" in response:
            status, reason = int(response["status"]), reason_of(response)
            if last or not is_passing(status, reason):
                raise server.refusal(status, reason)
        elif response["timed_out"] or response["_shards"]["failed"]:
            raise server.refusal(503, "a search was answered in part")
        else:
            found[number] = [(hit["_id"], float(hit["_score"])) for hit in response["hits"]["hits"]]
    return found


def _filters(target: Target) -> list[Body]:
    return [{"term": {"metadata": filter_value(key, value)}} for key, value in sorted(target.filter.items())]


def _plain(size: int) -> Body:
    return {"size": size, "_source": False, "track_total_hits": False}


class ServerBm25(TermRanker):
    """Lucene's BM25. Scores are in single precision, rounded to 6 decimals; equal ones are in the order of ids.

    OpenSearch 2 multiplies every score by k1 + 1, which changes no order; they are left as the server gives them.
    """

    def __init__(self, server: Server, target: Target, analyze: Analyzer) -> None:
        self._server, self._target, self._analyze = server, target, analyze

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` (1 to 10,000) best passages for each query; none where no term is left of it."""
        check_depth(k)
        return self._ranked([sorted_search(clause, k) if clause else None for clause in self.clauses(queries, k)])

    def search_weighted(self, queries: Sequence[Mapping[str, float]], k: int) -> list[Ranking]:
        """The same for queries whose terms, as analysed, have weights (0 or more): what a term gives is multiplied."""
        check_depth(k)
        known = [{term: weight for term, weight in weights.items() if weight > 0} for weights in queries]
        return self._ranked([sorted_search(weighted_query(self._target, one), k) if one else None for one in known])

    def clauses(self, queries: Sequence[str], depth: int) -> list[Body | None]:
        """The query on the server for each of `queries`; None where no term is left of it."""
        return [bm25_query(self._target, terms) if terms else None for terms in self._analyze(queries)]

    def _ranked(self, bodies: Sequence[Body | None]) -> list[Ranking]:
        return [rounded(ranking, BM25_DIGITS) for ranking in answered(self._server, self._target, bodies)]


class ServerKnn(Ranker):
    """HNSW by cosine: approximate, unlike the embedded engine's. Scores are cosines, rounded to 5 decimals."""

    def __init__(self, server: Server, target: Target, embedder: Embedder) -> None:
        self._server, self._target, self._embedder = server, target, embedder
        self._lock = threading.Lock()  # LangChain may search from several threads

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The min(k, number of passages) nearest passages for each query, as far as HNSW finds them; k to 10,000."""
        check_depth(k)
        bodies = [{**_plain(k), "query": clause} for clause in self.clauses(queries, k)]
        found = run_searches(self._server, self._target, bodies)
        # OpenSearch scores a cosine c as (1 + c) / 2
        return [rounded([(identifier, 2 * score - 1) for identifier, score in row], KNN_DIGITS)[:k] for row in found]

    def clauses(self, queries: Sequence[str], depth: int) -> list[Body | None]:
        """The query on the server for each of `queries`, for its `depth` nearest passages."""
        with self._lock:
            vectors = self._embedder.vectors([Text("query", query) for query in queries])
        return [knn_query(self._target, vector, depth) for vector in vectors]


def answered(server: Server, target: Target, bodies: Sequence[Body | None]) -> list[Ranking]:
    """A ranking for each search, empty for one that is None."""
    found = run_searches(server, target, [body for body in bodies if body is not None])
    return [[] if body is None else next(found) for body in bodies]


def rounded(ranking: Ranking, digits: int) -> Ranking:
    """The ranking by scores of so many decimals."""
    return in_order((identifier, round(score, digits)) for identifier, score in ranking)


def check_depth(k: int) -> None:
    if k > MAX_K:
        raise InputError(f"k is {k}, and OpenSearch gives at most {MAX_K} passages a query", remedy="lower it")
