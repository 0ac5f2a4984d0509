"""A variant from query to passages: rewriting, search, fusion, reranking, diversity, and what is cut off."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ragassay.arrays import Floats
from ragassay.experiment.variant_settings import RetrieverSettings
from ragassay.records import Passage

from ..rankers.embedding import Embedder
from ..rankers.embedding_cache import Text
from ..rankers.failures import Failed, all_found, search_each
from ..rankers.ranker import Ranker, Ranking, indexed_text
from ..rankers.rrf import rrf
from ..rerankers.cross_encoder import CrossEncoderReranker
from ..rerankers.reranker import Reranker, reranked
from ..rerankers.selection import above, mmr

Rewritten = Callable[[str], Sequence[str] | Failed]
"""The texts that are searched for a query's text, or why there are none."""

Seconds = Callable[[Sequence[str]], Floats]
"""How long each of these queries takes alone, in seconds (queries,); NaN where that is not known."""


@dataclass(frozen=True)
class Searching:
    """What finds passages for texts: `ranker`, and how long it takes."""

    ranker: Ranker
    seconds: Seconds


class Pipeline:
    """A variant as a ranker over query texts: what is found by `first`, then what `settings` say.

    rewritten: what is searched in place of a query, None where that is the query. Rankings of several texts are fused
    by reciprocal rank. reranker, embedder: needed where settings name one. passages: by id, those that can be found.
    """

    def __init__(
        self,
        settings: RetrieverSettings,
        first: Searching,
        passages: Mapping[str, Passage],
        *,
        rewritten: Rewritten | None = None,
        reranker: Reranker | None = None,
        embedder: Embedder | None = None,
        rrf_k: int = 60,
    ) -> None:
        self._settings, self._first, self._passages, self._rrf_k = settings, first, passages, rrf_k
        self._rewritten, self._reranker, self._embedder = rewritten, reranker, embedder

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` best passages for each query, best first. Raises QueriesFailed, and what its parts raise."""
        depth = max(k, self._settings.depth) if self._reorders else k
        found = self._found(queries, depth)
        if self._reranker is not None:
            found = self._reranked(queries, found)
        if self._settings.mmr is not None:
            found = self._diverse(queries, found, self._settings.mmr)
        if self._settings.threshold is not None:
            lowest = self._settings.threshold
            found = [row if isinstance(row, Failed) else above(row, lowest) for row in found]
        return all_found([row if isinstance(row, Failed) else row[:k] for row in found])

    def seconds(self, queries: Sequence[str]) -> Floats:
        """Of each query alone, (queries,): the search and what comes after; NaN where a part cannot be timed.

        A rewriting model and a reranker over a network cannot be: they answered once, in their own time.
        """
        networked = self._reranker is not None and not isinstance(self._reranker, CrossEncoderReranker)
        if self._rewritten is not None or networked:
            return np.full(len(queries), np.nan)
        found = search_each(self._first.ranker, queries, self._settings.depth) if self._reorders else []
        after = [self._seconds_after(query, row) for query, row in zip(queries, found, strict=False)]
        return np.asarray(self._first.seconds(queries) + (np.array(after) if after else 0.0), np.float64)

    def _seconds_after(self, query: str, row: Ranking | Failed) -> float:
        """Of reranking and diversifying what was found for a query."""
        took = 0.0
        if isinstance(self._reranker, CrossEncoderReranker) and not isinstance(row, Failed):
            took += self._reranker.seconds(query, [self._passages[identifier] for identifier, _ in row])
        if self._settings.mmr is not None:
            started = time.perf_counter()
            self._diverse([query], [row], self._settings.mmr)
            took += time.perf_counter() - started
        return took

    @property
    def _reorders(self) -> bool:
        return self._reranker is not None or self._settings.mmr is not None

    def _found(self, queries: Sequence[str], depth: int) -> list[Ranking | Failed]:
        """The `depth` best for each query, searched by what stands for it."""
        if self._rewritten is None:
            return search_each(self._first.ranker, queries, depth)
        texts = [self._rewritten(query) for query in queries]
        every = list(dict.fromkeys(text for row in texts if not isinstance(row, Failed) for text in row))
        deep = max(depth, self._settings.depth)
        known = dict(zip(every, search_each(self._first.ranker, every, deep), strict=True)) if every else {}
        return [row if isinstance(row, Failed) else self._fused([known[text] for text in row], depth) for row in texts]

    def _fused(self, rows: Sequence[Ranking | Failed], depth: int) -> Ranking | Failed:
        if failed := next((row for row in rows if isinstance(row, Failed)), None):
            return failed
        rankings = [row for row in rows if not isinstance(row, Failed)]
        if len(rankings) == 1:
            return rankings[0][:depth]
        return rrf([[identifier for identifier, _ in ranking] for ranking in rankings], self._rrf_k)[:depth]

    def _reranked(self, queries: Sequence[str], found: Sequence[Ranking | Failed]) -> list[Ranking | Failed]:
        assert self._reranker is not None
        rows = {
            at: [self._passages[identifier] for identifier, _ in row[: self._settings.depth]]
            for at, row in enumerate(found)
            if not isinstance(row, Failed)
        }
        scored = dict(zip(rows, self._reranker.rerank([(queries[at], row) for at, row in rows.items()]), strict=True))
        done: list[Ranking | Failed] = list(found)
        for at, scores in scored.items():
            done[at] = reranked(rows[at], scores) if isinstance(scores, list) else Failed(scores.error)
        return done

    def _diverse(self, queries: Sequence[str], found: Sequence[Ranking | Failed], lam: float) -> list[Ranking | Failed]:
        assert self._embedder is not None
        asked = self._embedder.vectors([Text("query", query) for query in queries]).astype(np.float64)
        done: list[Ranking | Failed] = []
        for vector, row in zip(asked, found, strict=True):
            if isinstance(row, Failed):
                done.append(row)
                continue
            texts = [Text("passage", indexed_text(self._passages[identifier])) for identifier, _ in row]
            vectors = self._embedder.vectors(texts).astype(np.float64)
            done.append(mmr(row, vector, {pair[0]: v for pair, v in zip(row, vectors, strict=True)}, lam))
        return done
