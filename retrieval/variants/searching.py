"""Every variant of an experiment as a ranker, what each finds for the queries, and the rankers that variants build on,
each made once for all that share it: over one chunking, with one setting.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ragassay.arrays import Floats
from ragassay.calls.caller import Caller
from ragassay.errors import InputError
from ragassay.experiment.variant_settings import BY_MODEL, SECTIONS, RetrieverSettings
from ragassay.experiment.variants import Variant
from ragassay.experiment.workspace import Workspace, chunking_of
from ragassay.records import Passage, Query

from ..agents.python_agent import PythonRanker
from ..dependencies import sections_returned
from ..rank_queries import VariantFound, read_queries
from ..rankers.bm25 import (
    K1,
    PASSAGES,
    TERMS,
    WEIGHT,
    AnalyzedTexts,
    B,
    Bm25,
    FeedbackTerms,
    Lexical,
    Rm3,
    TermRanker,
)
from ..rankers.combined import Hybrid, Searched, SmallToBig, ids_of, rrf, sections_of
from ..rankers.embedding import Embedder, Progress
from ..rankers.embedding_cache import Text
from ..rankers.knn import Knn
from ..rankers.ranker import (
    Failed,
    Material,
    Ranker,
    Ranking,
    all_found,
    embeds,
    indexed_text,
    indexed_texts,
    search_each,
)
from ..rerankers.rerankers import CrossEncoderReranker, Reranker, above, mmr, open_reranker, reranked
from ..retrievers import check_embedding, open_embedder
from ..rewriting.rewritings import Instead, rewrite_for_variants, searched_by, searched_instead
from ..search import server_variants

Key = tuple[object, ...]

ASKED_ONCE = 200
"""Passages that a base is searched for at least, so that no variant asks it again for more; but a user's own."""

_BYTES_OF_HALF = 2


@dataclass
class Base:
    """A ranker over the passages of a chunking. `ranker` remembers what it found, `raw` searches each time.

    index_s: seconds that making its index took, None where its vectors were at hand; index_bytes: its size in memory,
    None where it is not known. index: its name on a server, where several may share it.
    """

    raw: Ranker
    index_s: float | None = None
    index_bytes: int | None = None
    index: str | None = None
    ranker: Ranker = field(init=False)

    def __post_init__(self) -> None:
        self.ranker = self.raw


class Bases:
    """The base rankers of an experiment's variants: of every kind but hybrid.

    embedder: of a model by its name. Passages are those of `corpus.jsonl`.
    """

    def __init__(
        self,
        workspace: Workspace,
        passages: Sequence[Passage],
        embedder: Callable[[str], Embedder],
        progress: Progress | None = None,
    ) -> None:
        self._workspace, self._embedder, self._progress = workspace, embedder, progress
        self._by_chunking: dict[str, list[Passage]] = defaultdict(list)
        for passage in passages:
            self._by_chunking[chunking_of(passage)].append(passage)
        self._analyzed: dict[Key, tuple[AnalyzedTexts, float]] = {}
        self._feedback: dict[Key, FeedbackTerms] = {}
        self._made: dict[Key, Base] = {}
        self._open: list[PythonRanker] = []
        self.sections = sections_returned(workspace.experiment)
        self._server = server_variants(workspace, self.passages, embedder)

    def passages(self, chunking: str) -> list[Passage]:
        """Those of a chunking, in the order of the file."""
        return self._by_chunking[chunking]

    def of(self, variant: Variant) -> Base:
        """The base of a variant that is no hybrid; what is searched may be handed over as sections."""
        key = _key(variant)
        if key not in self._made:
            base = self._make(variant)
            base.ranker = Searched(base.raw, depth=ASKED_ONCE if variant.settings.kind != "python" else 1)
            if variant.chunking in self.sections:
                sections = sections_of(self.passages(variant.chunking))
                base.raw, base.ranker = SmallToBig(base.raw, sections), SmallToBig(base.ranker, sections)
            self._made[key] = base
        return self._made[key]

    def fused(self, variant: Variant) -> Base | None:
        """A hybrid that the server fuses itself; None where there is no server, or it cannot."""
        fused = self._server.hybrid(variant) if self._server else None
        return Base(fused) if fused else None

    def close(self) -> None:
        """End the processes of the user's own retrievers."""
        while self._open:
            self._open.pop().close()

    def _make(self, variant: Variant) -> Base:
        settings, experiment = variant.settings, self._workspace.experiment
        if self._server and settings.kind in ("bm25", "knn"):
            first, indexed = self._server.first(variant)
            return self._expanded(Base(first, indexed.made_s, indexed.n_bytes, indexed.about.index), variant)
        if settings.kind == "bm25":
            return self._expanded(self._bm25(variant), variant)
        passages = self.passages(variant.chunking)
        ids, texts = [passage.id for passage in passages], indexed_texts(passages, len(passages))
        model = settings.embedding or experiment.retrieval.embedding
        if settings.kind == "knn":
            return self._knn(ids, texts, model)
        if settings.kind == "python":
            at_once, name = experiment.run.max_concurrency, str(settings.callable)
            own = PythonRanker(variant.table, name, self._workspace.corpus, frozenset(ids), at_once=at_once)
            self._open.append(own)
            return Base(own)
        said, language = dict(settings.settings), experiment.corpus.language
        kept, embedder = self._workspace.embeddings, partial(self._embedder, model)
        material = Material(ids, texts, said, language, model, embedder, kept, self._progress)
        return Base(material.ranker(settings.kind))

    def _bm25(self, variant: Variant) -> Base:
        analyzed, analyzing_s = self._terms(variant)
        started, settings = time.perf_counter(), variant.settings
        k1, b = K1 if settings.k1 is None else settings.k1, B if settings.b is None else settings.b
        weighed = Bm25.of_analyzed(analyzed, k1=k1, b=b)
        index_s = analyzing_s + time.perf_counter() - started
        n_bytes = analyzed.counted.passages.nbytes * 3 + analyzed.counted.starts.nbytes
        return Base(weighed, index_s, n_bytes)

    def _expanded(self, base: Base, variant: Variant) -> Base:
        """With RM3 before it, where the variant, which is then one of BM25, says so."""
        settings = variant.settings
        if settings.rewrite == "rm3":
            assert isinstance(base.raw, TermRanker)
            key = (variant.chunking, settings.analyzer or "by-language")
            if key not in self._feedback:
                self._feedback[key] = FeedbackTerms(self._terms(variant)[0])
            base.raw = base.ranker = Rm3(
                base.raw,
                self._feedback[key],
                passages=settings.rm3_passages or PASSAGES,
                terms=settings.rm3_terms or TERMS,
                weight=WEIGHT if settings.rm3_weight is None else settings.rm3_weight,
            )
        return base

    def _terms(self, variant: Variant) -> tuple[AnalyzedTexts, float]:
        """The texts of its chunking analysed, and the seconds that it took."""
        analyzer = variant.settings.analyzer or "by-language"
        key = (variant.chunking, analyzer)
        if key not in self._analyzed:
            started, passages = time.perf_counter(), self.passages(variant.chunking)
            analyze = Lexical(analyzer=analyzer).make_analyzer(self._workspace.experiment.corpus.language)
            texts = AnalyzedTexts([passage.id for passage in passages], indexed_texts(passages, len(passages)), analyze)
            self._analyzed[key] = (texts, time.perf_counter() - started)
        return self._analyzed[key]

    def _knn(self, ids: Sequence[str], texts: Collection[str], model: str) -> Base:
        embedder = self._embedder(model)
        started = time.perf_counter()
        wanted = [Text("passage", text) for text in texts]
        n_missing = embedder.n_missing(wanted)
        places = embedder.places(wanted)
        took = time.perf_counter() - started if n_missing == len(wanted) else None
        width = embedder.take(places[:1]).shape[1] if len(places) else 0
        return Base(Knn(ids, texts, embedder), took, len(places) * width * _BYTES_OF_HALF)


def _key(variant: Variant) -> Key:
    """What two variants share whose first search is the same."""
    settings = variant.settings
    rm3 = (settings.rm3_passages, settings.rm3_terms, settings.rm3_weight) if settings.rewrite == "rm3" else None
    weighing = (settings.k1, settings.b, settings.analyzer, rm3)
    model = None if settings.kind in ("bm25", "python") else settings.embedding
    return (settings.kind, variant.chunking, model, settings.callable, settings.settings, *weighing)


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
        if (lowest := self._settings.threshold) is not None:
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
        return rrf(list(map(ids_of, rankings)), self._rrf_k)[:depth]

    def _reranked(self, queries: Sequence[str], found: Sequence[Ranking | Failed]) -> list[Ranking | Failed]:
        assert self._reranker is not None
        rows = {
            at: [self._passages[identifier] for identifier, _ in row[: self._settings.depth]]
            for at, row in enumerate(found)
            if not isinstance(row, Failed)
        }
        scored = self._reranker.rerank([(queries[at], row) for at, row in rows.items()])
        done: list[Ranking | Failed] = list(found)
        for (at, row), scores in zip(rows.items(), scored, strict=True):
            done[at] = reranked(row, scores) if isinstance(scores, list) else scores
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
            done.append(mmr(row, vector, dict(zip(ids_of(row), vectors, strict=True)), lam))
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
        for variant in self._workspace.experiment.variants.all:
            by_vectors, model = embeds(variant.settings.kind), variant.settings.embedding or default
            if by_vectors or variant.settings.mmr is not None:
                wanted.setdefault(model, {}).update({variant.chunking: None} if by_vectors else {})
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
        return self.bases.passages(SECTIONS if chunking in self.bases.sections else chunking)

    def bases_of(self, variant: Variant) -> Iterator[Base]:
        """The bases that a variant is made of, each once."""
        needed = self._workspace.experiment.variants.needed([variant.name])
        return (self.bases.of(one) for one in needed if one.settings.kind != "hybrid")

    def _make(self, variant: Variant) -> Pipeline:
        settings, default = variant.settings, self._workspace.experiment.retrieval
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
        with ExitStack() as anew:
            for embedder in self._embedders.values():
                anew.enter_context(embedder.anew())
            try:
                search_each(base.raw, queries[:1], 1)
                return _seconds_each(base.raw, queries, self._workspace.experiment.retrieval.k)
            except InputError:
                return [float("nan")] * len(queries)

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
            return np.asarray(parts + np.array(_seconds_each(hybrid, queries, settings.depth)), np.float64)

        return Searching(hybrid, seconds)

    def _embedder(self, model: str) -> Embedder:
        if model not in self._embedders:
            self._embedders[model] = open_embedder(model, self._workspace, self._progress, self._caller)
        return self._embedders[model]

    def _reranker(self, name: str) -> Reranker:
        if name not in self._rerankers:
            self._rerankers[name] = open_reranker(name, self._workspace, self._caller, self._progress)
        return self._rerankers[name]


def _seconds_each(ranker: Ranker, queries: Sequence[str], k: int) -> list[float]:
    """Of searching for each query alone."""
    took = []
    for query in queries:
        started = time.perf_counter()
        search_each(ranker, [query], k)
        took.append(time.perf_counter() - started)
    return took


def rewritten_by_models(workspace: Workspace, caller: Caller) -> RewrittenBy:
    """For a variant, what it searches for each query; `rewrites/WAY….jsonl` is written.

    Nothing is asked where no variant wants it. Raises what the caller does.
    """
    queries = read_queries(workspace)
    return searched_by(rewrite_for_variants(workspace, queries, caller), queries, workspace.experiment)
