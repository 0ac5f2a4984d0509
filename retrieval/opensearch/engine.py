"""The engine `opensearch`: from settings and passages to rankers over a complete index on the server."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from ragassay.errors import InputError
from ragassay.experiment.settings import OpenSearchSettings
from ragassay.experiment.variant_settings import OURS, RetrieverSettings
from ragassay.experiment.variants import Variant
from ragassay.records import Passage
from ragassay.text import plain

from ..rankers.analysis import language_code, make_analyzer
from ..rankers.bm25 import Lexical
from ..rankers.combined import HYBRID_DEPTH, Hybrid
from ..rankers.embedding import Embedder, Progress
from ..rankers.embedding_cache import Text
from ..rankers.ranker import Ranker, Ranking, fingerprint, indexed_text
from .about import TERMS, TERMS_OF, About, Weighing, variants_alias, wanted
from .client import NotAllowed, Server, connect
from .index import Sources, ensure_index, existing_index, read_about
from .rankers import (
    Body,
    ServerBm25,
    ServerKnn,
    Target,
    answered,
    check_depth,
    hybrid_search,
    min_max_processor,
    rounded,
    rrf_processor,
)

RETRIEVERS = ("bm25", "knn", "hybrid")


@dataclass(frozen=True)
class Engine:
    """Where to search and how. `corpus_name` names the alias; refused passages go to the file `rejected`."""

    url: str | None
    settings: OpenSearchSettings
    corpus_name: str
    rejected: Path


def open_rankers(
    names: Collection[str],
    passages: Iterable[Passage],
    embedder: Embedder,
    engine: Engine,
    *,
    language: str,
    rrf_k: int,
    file: Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Ranker]:
    """The rankers named (of RETRIEVERS) over `passages`, which are indexed first if they are not yet.

    `passages` may be a file that is read each time it is gone through, and `file` its name. `progress` is told
    (passages indexed or found there, passages). Raises InputError where the server or the passages cannot be used.
    """
    if unknown := sorted(set(names) - set(RETRIEVERS)):
        remedy = f"use one of {', '.join(RETRIEVERS)}"
        raise InputError(f"OpenSearch has no retriever '{plain(unknown[0])}'", remedy=remedy)
    settings, server, analyze = engine.settings, connect(engine.url, engine.settings), make_analyzer(language)
    embeds = embedder if {"knn", "hybrid"} & set(names) else None
    model = embeds.identity if embeds else None
    about = wanted(fingerprint(passages, file), language_code(language), model, settings, engine.corpus_name)
    if settings.index is None:
        sources = Sources(passages, {TERMS: analyze}, embeds, settings.replicas)
        known = ensure_index(server, about, sources, engine.rejected, progress)
    else:
        known = existing_index(server, settings.index, about)
    target = target_of(known, settings)
    bm25, knn = ServerBm25(server, target, analyze), ServerKnn(server, target, embedder)
    hybrid: Ranker = Hybrid([bm25, knn], rrf_k)
    if fuses(settings, target.shards):
        hybrid = ServerFused(server, target, [bm25, knn], "rrf", weights=[1, 1], rrf_k=rrf_k)
    every: dict[str, Ranker] = {"bm25": bm25, "knn": knn, "hybrid": hybrid}
    return {name: every[name] for name in names}


def fuses(settings: OpenSearchSettings, shards: int) -> bool:
    """Whether the server is to fuse a hybrid, and can.

    Over several shards OpenSearch 2.19 ranks and normalises each shard's by itself, and not at all where terms are
    counted over all of them (its marks between rankings come back as hits), so it cannot.
    """
    return settings.hybrid == "server" and shards == 1


def target_of(about: About, settings: OpenSearchSettings, terms: str = TERMS) -> Target:
    """How the index of that description, or that which is named, is searched, BM25 by the field `terms`."""
    return Target(
        settings.index or about.index,
        terms=terms,
        engine=about.knn_engine or settings.knn_engine,
        ef_search=settings.ef_search,
        shards=about.shards,
        dimension=about.dimension,
        filter=settings.filter,
    )


RRF_DIGITS, MIN_MAX_DIGITS = 8, 6
"""The server's scores are in single precision; beyond these, equal sums of reciprocal ranks differ."""


class Clauses(Protocol):
    """A ranker of the server that can say what it asks."""

    def clauses(self, queries: Sequence[str], depth: int) -> list[Body | None]:
        """The query on the server for each of `queries`; None where it would find nothing."""
        ...


class ServerFused(Ranker):
    """The top max(k, `depth`) of each of 1 to 5 `members` over one index of one shard, fused by the server.

    Scores are those of the embedded engine's hybrid, but that the server gives 0.001 by min-max where a ranking's last
    passage has 0, and ranks passages that BM25 scores alike in an order of its own. weights: one a member, above 0.
    """

    def __init__(
        self,
        server: Server,
        target: Target,
        members: Sequence[Clauses],
        fusion: Literal["rrf", "min-max"],
        *,
        weights: Sequence[float],
        rrf_k: int,
        depth: int = HYBRID_DEPTH,
    ) -> None:
        self._server, self._target, self._members = server, target, list(members)
        self._fusion, self._weights, self._rrf_k, self._depth = fusion, list(weights), rrf_k, depth

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` (1 to 10,000) best passages for each query, with fused scores."""
        depth = max(k, self._depth)
        check_depth(depth)
        rows = list(zip(*(member.clauses(queries, depth) for member in self._members), strict=True))
        found = answered(self._server, self._target, [self._body(row, depth) for row in rows])
        return [self._scaled(ranking, row)[:k] for ranking, row in zip(found, rows, strict=True)]

    def _body(self, row: Sequence[Body | None], depth: int) -> Body | None:
        clauses = [clause for clause in row if clause is not None]
        if not clauses:
            return None
        if self._fusion == "rrf":
            return hybrid_search(clauses, depth, rrf_processor(self._rrf_k))
        weights = self._of(row)
        total = sum(weights)
        return hybrid_search(clauses, depth, min_max_processor([weight / total for weight in weights]))

    def _scaled(self, ranking: Ranking, row: Sequence[Body | None]) -> Ranking:
        """The server's mean by weights as the sum that it is ours to give."""
        if self._fusion == "rrf":
            return rounded(ranking, RRF_DIGITS)
        total = sum(self._of(row))
        return rounded([(identifier, total * score) for identifier, score in ranking], MIN_MAX_DIGITS)

    def _of(self, row: Sequence[Body | None]) -> list[float]:
        """The weights of the members that have anything to ask."""
        return [weight for weight, clause in zip(self._weights, row, strict=True) if clause is not None]


MOST_FUSED = 5
"""Queries that a hybrid query of the server takes at most."""


@dataclass(frozen=True)
class Home:
    """An index: what it holds of which chunking. embedding: None where it holds no vectors."""

    chunking: str
    embedding: str | None = None


class Homes:
    """The indexes of `variants`, which are all of an experiment's, so that every stage finds the same ones.

    BM25 has an index a chunking, without vectors, so that another k1 costs no vectors. Where the server fuses, the BM25
    that is fused stands in the index of the vectors.

    embedding: the model where a variant names none. sections: the chunkings whose passages are handed over as sections,
    which the server knows nothing of.
    """

    def __init__(
        self,
        variants: Iterable[Variant],
        settings: OpenSearchSettings,
        embedding: str,
        sections: Collection[str],
    ) -> None:
        self._embedding, self._sections = embedding, sections
        self._by_name = {variant.name: variant for variant in variants}
        self._weighings: dict[Home, set[Weighing]] = {}
        self._fused: dict[str, Home] = {}
        for variant in self._by_name.values() if fuses(settings, settings.shards) else ():
            if self._can_fuse(variant):
                members = [member for member, _ in self.members(variant)]
                models = [self.of(member) for member in members if member.settings.kind == "knn"]
                home = self._fused[variant.name] = models[0] if models else Home(variant.chunking)
                known = self._weighings.setdefault(home, set())
                known.update(weighing_of(member.settings) for member in members if member.settings.kind == "bm25")
        for variant in self._by_name.values():
            if variant.settings.kind == "bm25":
                self._weighings.setdefault(self.of(variant), set()).add(weighing_of(variant.settings))

    def of(self, variant: Variant) -> Home:
        """The index that a variant of kind bm25 or knn searches."""
        if variant.settings.kind == "knn":
            return Home(variant.chunking, variant.settings.embedding or self._embedding)
        weighing = weighing_of(variant.settings)
        able = [home for home, known in self._weighings.items() if home.chunking == variant.chunking]
        return next((home for home in able if weighing in self._weighings[home]), Home(variant.chunking))

    def of_fused(self, variant: Variant) -> Home | None:
        """The index on which the server fuses a hybrid; None where it cannot, or is not to."""
        return self._fused.get(variant.name)

    def weighings(self, home: Home) -> tuple[Weighing, ...] | None:
        """BM25's settings in an index, in order; None where it needs no other than an index without variants has."""
        known = self._weighings.get(home, set())
        if known <= {Weighing()}:
            return None
        return tuple(sorted(known, key=lambda one: (one.analyzer, one.k1, one.b)))

    def members(self, variant: Variant) -> list[tuple[Variant, float]]:
        """What a hybrid is made of, each with its weight, without those of weight 0."""
        weights = variant.settings.weights or (1.0,) * len(variant.of)
        return [(self._by_name[name], weight) for name, weight in zip(variant.of, weights, strict=True) if weight > 0]

    def _can_fuse(self, variant: Variant) -> bool:
        """OpenSearch 2.19 has RRF without weights, min-max with them, and no z-score."""
        settings = variant.settings
        if settings.kind != "hybrid" or variant.chunking in self._sections:
            return False
        if settings.fused_by == "z-score" or (settings.fused_by == "rrf" and settings.weights):
            return False
        members = [member for member, _ in self.members(variant)]
        models = {member.settings.embedding or self._embedding for member in members if member.settings.kind == "knn"}
        return len(members) <= MOST_FUSED and len(models) <= 1 and all(_is_plain(one.settings) for one in members)


def weighing_of(settings: RetrieverSettings) -> Weighing:
    """How a retriever of kind bm25 reads and weighs, the defaults in place of None."""
    said = {"analyzer": settings.analyzer, "k1": settings.k1, "b": settings.b}
    return Weighing.model_validate({key: value for key, value in said.items() if value is not None})


def _is_plain(settings: RetrieverSettings) -> bool:
    """Whether what it finds is what the server finds for the query as it stands."""
    after = (settings.rerank, settings.mmr, settings.threshold)
    return settings.kind in ("bm25", "knn") and settings.rewrite == "none" and after == (None, None, None)


@dataclass(frozen=True)
class Indexed:
    """An index that is complete. made_s: seconds that making it took, None where any of it was at hand.

    n_bytes: of one copy, with all that shares the index; None where the login may not ask.
    """

    about: About
    made_s: float | None
    n_bytes: int | None


class ServerVariants:
    """What variants of kind bm25, knn and hybrid search on the server; each index is made when it is first needed.

    passages_of: of a chunking by its name. embedder_of: of a model by its name. Raises InputError where the settings
    name one index for all, and its methods where the server or the passages cannot be used.
    """

    def __init__(
        self,
        homes: Homes,
        engine: Engine,
        passages_of: Callable[[str], Sequence[Passage]],
        embedder_of: Callable[[str], Embedder],
        *,
        language: str,
        rrf_k: int,
    ) -> None:
        if engine.settings.index is not None:
            problem = "opensearch.index names one index, and the tables [[retriever]] need one of their own each"
            raise InputError(problem, remedy="take it out; an index that is there already is found")
        self._homes, self._engine, self._language, self._rrf_k = homes, engine, language, rrf_k
        self._passages_of, self._embedder_of = passages_of, embedder_of
        self._server = connect(engine.url, engine.settings)
        self._indexed: dict[Home, Indexed] = {}

    def first(self, variant: Variant) -> tuple[ServerBm25 | ServerKnn, Indexed]:
        """What a variant of kind bm25 (by its analyzer, k1 and b) or knn (by its embedding) searches, and the index."""
        home = self._homes.of(variant)
        return self._ranker(variant, home), self._index(home)

    def hybrid(self, variant: Variant) -> ServerFused | None:
        """Fused by the server; None where it cannot fuse what the variant is of, or is not to (`Homes`)."""
        if (home := self._homes.of_fused(variant)) is None:
            return None
        members, settings = self._homes.members(variant), variant.settings
        assert settings.fused_by != "z-score"
        return ServerFused(
            self._server,
            target_of(self._index(home).about, self._engine.settings),
            [self._ranker(one, home) for one, _ in members],
            settings.fused_by,
            weights=[weight for _, weight in members],
            rrf_k=settings.rrf_k or self._rrf_k,
            depth=settings.depth,
        )

    def _index(self, home: Home) -> Indexed:
        """The index, complete."""
        if home not in self._indexed:
            self._indexed[home] = self._make(home)
        return self._indexed[home]

    def _ranker(self, variant: Variant, home: Home) -> ServerBm25 | ServerKnn:
        about, settings = self._index(home).about, self._engine.settings
        if variant.settings.kind == "knn":
            return ServerKnn(self._server, target_of(about, settings), self._embedder_of(str(home.embedding)))
        weighing = weighing_of(variant.settings)
        target = target_of(about, settings, about.field_of(weighing))
        return ServerBm25(self._server, target, Lexical(analyzer=weighing.analyzer).make_analyzer(self._language))

    def _make(self, home: Home) -> Indexed:
        passages = self._passages_of(home.chunking)
        embedder = None if home.embedding is None else self._embedder_of(home.embedding)
        about = self._wanted(home, passages, embedder)
        at_hand = read_about(self._server, about.index) is not None
        if embedder and not at_hand:  # with a vector at hand, making the index takes less than it does
            texts = [Text("passage", indexed_text(passage)) for passage in passages]
            at_hand = embedder.n_missing(texts) < len(texts)
        analyzers = {TERMS_OF[name]: Lexical(analyzer=name).make_analyzer(self._language) for name in about.analyzers}
        started = time.perf_counter()
        sources = Sources(passages, analyzers, embedder, self._engine.settings.replicas)
        known = ensure_index(self._server, about, sources, self._engine.rejected)
        made_s = None if at_hand else time.perf_counter() - started
        n_bytes: int | None = None
        with suppress(NotAllowed):
            stats = self._server.call(lambda client: client.indices.stats(index=known.index, metric="store"))
            n_bytes = int(stats["_all"]["primaries"]["store"]["size_in_bytes"])
        return Indexed(known, made_s, n_bytes)

    def _wanted(self, home: Home, passages: Sequence[Passage], embedder: Embedder | None) -> About:
        code, model = language_code(self._language), embedder.identity if embedder else None
        weighings = self._homes.weighings(home)
        settings, chunking = self._engine.settings, None if home.chunking == OURS else home.chunking
        name = self._engine.corpus_name
        alias = variants_alias(settings, name, chunking, code, model, grid=weighings is not None)
        return wanted(fingerprint(passages), code, model, settings, name, weighings=weighings, alias=alias)
