"""Every variant of an experiment as a ranker, and what each finds for the queries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from ragassay.arrays import Floats
from ragassay.calls.caller import Caller
from ragassay.errors import InputError
from ragassay.experiment.variant_settings import BY_MODEL, SECTIONS, RetrieverSettings
from ragassay.experiment.variants import Variant
from ragassay.experiment.workspace import Workspace
from ragassay.records import Passage, Query

from ..rank_queries import VariantFound, read_queries
from ..rankers.combined import Hybrid, rrf
from ..rankers.embedding import Embedder, Progress
from ..rankers.embedding_cache import Text
from ..rankers.ranker import Failed, Ranker, Ranking, all_found, embeds, indexed_text, search_each
from ..rerankers.opening import above, mmr, open_reranker
from ..rerankers.rerankers import CrossEncoderReranker, Reranker, reranked
from ..retrievers import check_embedding, open_embedder
from ..rewriting.rewritings import Instead, rewrite_for_variants, searched_by, searched_instead
from .bases import Base, Bases

Seconds = Callable[[Sequence[str]], Floats]
"""How long each of these queries takes alone, in seconds (queries,); NaN where that is not known."""


@dataclass(frozen=True)
class Searching:
    """What finds passages for texts: `ranker`, and how long it takes."""

    ranker: Ranker
    seconds: Seconds


class Pipeline(Ranker):
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
        rewritten: Instead | None = None,
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


RewrittenBy = Callable[[Variant], Instead]
"""What a variant whose queries a model rewrites searches for each of them."""


class VariantRankers:
    """The rankers of an experiment's variants, each made once, when it is first asked for. To be closed.

    Raises InputError where a model, a server or the user's code cannot be had, when it is first needed.
    """

    def __init__(
        self,
        workspace: Workspace,
        passages: Sequence[Passage],
        caller: Caller,
        progress: Progress | None = None,
        rewritten: RewrittenBy | None = None,
    ) -> None:
        self._workspace, self._caller, self._progress, self._rewritten = workspace, caller, progress, rewritten
        self._passages = {passage.id: passage for passage in passages}
        self.bases = Bases(workspace, passages, self._embedder, progress)
        self._embedders: dict[str, Embedder] = {}
        self._rerankers: dict[str, Reranker] = {}
        self._made: dict[str, Pipeline] = {}
        self._times: dict[int, dict[str, float]] = {}

    def __enter__(self) -> VariantRankers:
        return self

    def __exit__(self, *_: object) -> None:
        self.bases.close()

    def pipeline(self, name: str) -> Pipeline:
        """The ranker of a variant."""
        if name not in self._made:
            self._made[name] = self._make(self._workspace.experiment.variants.by_name[name])
        return self._made[name]

    def check_embeddings(self, queries: Sequence[Query]) -> None:
        """Raises InputError, before anything is embedded, where a text is not kept and its model cannot be had."""
        default = self._workspace.experiment.retrieval.embedding
        wanted: dict[str, dict[str, None]] = {}
        by_vectors = {kind for kind in {one.kind for one in self._workspace.experiment.retriever} if embeds(kind)}
        for variant in self._workspace.experiment.variants.all:
            if variant.settings.kind in by_vectors or variant.settings.mmr is not None:
                searched = [variant.chunking] if variant.settings.kind in by_vectors else []
                wanted.setdefault(variant.settings.embedding or default, {}).update(dict.fromkeys(searched))
        for model, chunkings in wanted.items():
            texts = [Text("query", query.text) for query in queries]
            texts += [Text("passage", indexed_text(one)) for name in chunkings for one in self.bases.passages(name)]
            if self._embedder(model).n_missing(texts):
                check_embedding(model, self._workspace, "the screening")

    def search(self, name: str, queries: Sequence[Query], k: int) -> VariantFound:
        """The `k` best passages of a variant for each query."""
        found = search_each(self.pipeline(name), [query.text for query in queries], k)
        rows = list(zip([query.id for query in queries], found, strict=True))
        return VariantFound(
            {query: row for query, row in rows if not isinstance(row, Failed)},
            {query: row.error for query, row in rows if isinstance(row, Failed)},
        )

    def handed_over(self, chunking: str) -> Sequence[Passage]:
        """What can be handed over where this chunking is searched: its passages, or the sections."""
        return self.bases.passages(SECTIONS if self.bases.returns_sections(chunking) else chunking)

    def bases_of(self, variant: Variant) -> Iterator[Base]:
        """The bases that a variant is made of, each once."""
        needed = self._workspace.experiment.variants.needed([variant.name])
        return (self.bases.of(one) for one in needed if one.settings.kind != "hybrid")

    def _make(self, variant: Variant) -> Pipeline:
        settings = variant.settings
        default = self._workspace.experiment.retrieval
        first = self._hybrid(variant) if settings.kind == "hybrid" else self._base(self.bases.of(variant))
        by_model = settings.rewrite in BY_MODEL
        if by_model and self._rewritten is None:
            raise InputError(f"'{variant.name}' has its queries rewritten, and nothing here can ask a model")
        return Pipeline(
            settings,
            first,
            self._passages,
            rewritten=self._rewritten(variant) if by_model and self._rewritten else searched_instead(settings.rewrite),
            reranker=self._reranker(settings.rerank) if settings.rerank else None,
            embedder=None if settings.mmr is None else self._embedder(settings.embedding or default.embedding),
            rrf_k=default.rrf_k,
        )

    def _base(self, base: Base) -> Searching:
        def seconds(queries: Sequence[str]) -> Floats:
            known = self._times.setdefault(id(base), {})
            if missing := [query for query in queries if query not in known]:
                known.update(zip(missing, self._timed(base, missing), strict=True))
            return np.array([known[query] for query in queries])

        return Searching(base.ranker, seconds)

    def _timed(self, base: Base, queries: Sequence[str]) -> list[float]:
        """Seconds of each search alone, after one that does not count; NaN where the embedding model is not at hand."""
        took = list[float]()
        with ExitStack() as anew:
            for embedder in self._embedders.values():
                anew.enter_context(embedder.anew())
            try:
                search_each(base.raw, queries[:1], 1)
                for query in queries:
                    started = time.perf_counter()
                    search_each(base.raw, [query], self._workspace.experiment.retrieval.k)
                    took.append(time.perf_counter() - started)
            except InputError:
                return [float("nan")] * len(queries)
        return took

    def _hybrid(self, variant: Variant) -> Searching:
        if (fused := self.bases.fused(variant)) is not None:
            return self._base(fused)
        settings, members = variant.settings, [self.pipeline(name) for name in variant.of]
        hybrid = Hybrid(
            members,
            settings.rrf_k or self._workspace.experiment.retrieval.rrf_k,
            fusion=settings.fused_by,
            weights=settings.weights or None,
            depth=settings.depth,
        )

        def seconds(queries: Sequence[str]) -> Floats:
            parts = np.sum([member.seconds(queries) for member in members], axis=0)
            search_each(hybrid, queries, settings.depth)  # so that members remember, and fusing alone is timed
            took = []
            for query in queries:
                started = time.perf_counter()
                search_each(hybrid, [query], settings.depth)
                took.append(time.perf_counter() - started)
            return np.asarray(parts + np.array(took), np.float64)

        return Searching(hybrid, seconds)

    def _embedder(self, model: str) -> Embedder:
        if model not in self._embedders:
            self._embedders[model] = open_embedder(model, self._workspace, self._progress, self._caller)
        return self._embedders[model]

    def _reranker(self, name: str) -> Reranker:
        if name not in self._rerankers:
            self._rerankers[name] = open_reranker(name, self._workspace, self._caller, self._progress)
        return self._rerankers[name]


def rewritten_by_models(workspace: Workspace, caller: Caller) -> RewrittenBy:
    """For a variant, what it searches for each query; `rewrites/WAY….jsonl` is written.

    Nothing is asked where no variant wants it. Raises what the caller does.
    """
    queries = read_queries(workspace)
    return searched_by(rewrite_for_variants(workspace, queries, caller), queries, workspace.experiment)
