"""The rankers that variants build on, each made once for all that share it: over one chunking, with one setting."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from ragassay.experiment.variant_settings import OURS
from ragassay.experiment.variants import Variant
from ragassay.experiment.workspace import Workspace
from ragassay.records import Passage

from ..agents.python_agent import PythonRanker
from ..engines import server_variants
from ..rankers.bm25 import (
    K1,
    PASSAGES,
    TERMS,
    WEIGHT,
    AnalyzedTexts,
    AnalyzerName,
    B,
    Bm25,
    FeedbackTerms,
    Lexical,
    Rm3,
    TermRanker,
)
from ..rankers.combined import Searched, SmallToBig, sections_of
from ..rankers.embedding import Embedder, Progress
from ..rankers.embedding_cache import Text
from ..rankers.knn import Knn
from ..rankers.ranker import IndexedTexts, Material, Ranker

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
    ranker: Ranker
    index_s: float | None
    index_bytes: int | None
    index: str | None = None


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
        self._by_chunking: dict[str, list[Passage]] = {}
        for passage in passages:
            self._by_chunking.setdefault(passage.metadata.get("chunking") or OURS, []).append(passage)
        self._analyzed: dict[Key, tuple[AnalyzedTexts, float]] = {}
        self._feedback: dict[Key, FeedbackTerms] = {}
        self._made: dict[Key, Base] = {}
        self._open: list[PythonRanker] = []
        self._server = server_variants(workspace, self.passages, embedder, self.returns_sections)

    def passages(self, chunking: str) -> list[Passage]:
        """Those of a chunking, in the order of the file."""
        return self._by_chunking.get(chunking, [])

    def of(self, variant: Variant) -> Base:
        """The base of a variant that is no hybrid; what is searched may be handed over as sections."""
        key = _key(variant)
        if key not in self._made:
            raw, index_s, index_bytes = self._make(variant)
            depth = ASKED_ONCE if variant.settings.kind != "python" else 1
            searched: Ranker = Searched(raw, depth=depth)
            if self.returns_sections(variant.chunking):
                sections = sections_of(self.passages(variant.chunking))
                raw, searched = SmallToBig(raw, sections), SmallToBig(searched, sections)
            self._made[key] = Base(raw, searched, index_s, index_bytes, self._index(variant))
        return self._made[key]

    def fused(self, variant: Variant) -> Base | None:
        """A hybrid that the server fuses itself; None where there is no server, or it cannot."""
        if self._server is None or (fused := self._server.hybrid(variant)) is None:
            return None
        return Base(fused, fused, None, None)

    def returns_sections(self, chunking: str) -> bool:
        """Whether what is found in a chunking is handed over as the section that it lies in."""
        tables = {one.name: one for one in self._workspace.experiment.chunkings}
        return chunking in tables and tables[chunking].returns == "section"

    def _make(self, variant: Variant) -> tuple[Ranker, float | None, int | None]:
        settings = variant.settings
        if settings.kind == "bm25":
            return self._bm25(variant)
        passages = self.passages(variant.chunking)
        ids, texts = [passage.id for passage in passages], IndexedTexts(passages, len(passages))
        if settings.kind == "knn" and self._server is not None:
            indexed = self._server.index_of(variant)
            return self._server.knn(variant), indexed.made_s, indexed.n_bytes
        model = settings.embedding or self._workspace.experiment.retrieval.embedding
        if settings.kind == "knn":
            return self._knn(ids, texts, model)
        if settings.kind == "python":
            return self._python(variant, ids), None, None
        said, language = dict(settings.settings), self._workspace.experiment.corpus.language
        kept, embedder = self._workspace.embeddings, partial(self._embedder, model)
        material = Material(ids, texts, said, language, model, embedder, kept, self._progress)
        return material.ranker(settings.kind), None, None

    def _python(self, variant: Variant, ids: Sequence[str]) -> PythonRanker:
        at_once, name = self._workspace.experiment.run.max_concurrency, str(variant.settings.callable)
        ranker = PythonRanker(variant.table, name, self._workspace.corpus, frozenset(ids), at_once=at_once)
        self._open.append(ranker)
        return ranker

    def close(self) -> None:
        """End the processes of the user's own retrievers."""
        while self._open:
            self._open.pop().close()

    def _index(self, variant: Variant) -> str | None:
        if self._server is None or variant.settings.kind not in ("bm25", "knn"):
            return None
        return self._server.index_of(variant).about.index

    def _bm25(self, variant: Variant) -> tuple[Ranker, float | None, int | None]:
        settings, analyzer = variant.settings, variant.settings.analyzer or "by-language"
        bm25, index_s, n_bytes = self._weighed(variant, analyzer)
        if settings.rewrite != "rm3":
            return bm25, index_s, n_bytes
        key = (variant.chunking, analyzer)
        if key not in self._feedback:
            self._feedback[key] = FeedbackTerms(self._terms(variant.chunking, analyzer)[0])
        expanded = Rm3(
            bm25,
            self._feedback[key],
            passages=settings.rm3_passages or PASSAGES,
            terms=settings.rm3_terms or TERMS,
            weight=WEIGHT if settings.rm3_weight is None else settings.rm3_weight,
        )
        return expanded, index_s, n_bytes

    def _weighed(self, variant: Variant, analyzer: AnalyzerName) -> tuple[TermRanker, float | None, int | None]:
        if self._server is not None:
            indexed = self._server.index_of(variant)
            return self._server.bm25(variant), indexed.made_s, indexed.n_bytes
        settings, (analyzed, analyzing_s) = variant.settings, self._terms(variant.chunking, analyzer)
        started = time.perf_counter()
        k1, b = K1 if settings.k1 is None else settings.k1, B if settings.b is None else settings.b
        bm25 = Bm25.of_analyzed(analyzed, k1=k1, b=b)
        index_s = analyzing_s + time.perf_counter() - started
        return bm25, index_s, analyzed.counted.passages.nbytes * 3 + analyzed.counted.starts.nbytes

    def _terms(self, chunking: str, analyzer: AnalyzerName) -> tuple[AnalyzedTexts, float]:
        """The texts of a chunking analysed, and the seconds that it took."""
        key = (chunking, analyzer)
        if key not in self._analyzed:
            started, passages = time.perf_counter(), self.passages(chunking)
            analyze = Lexical(analyzer=analyzer).make_analyzer(self._workspace.experiment.corpus.language)
            texts = AnalyzedTexts([passage.id for passage in passages], IndexedTexts(passages, len(passages)), analyze)
            self._analyzed[key] = (texts, time.perf_counter() - started)
        return self._analyzed[key]

    def _knn(self, ids: Sequence[str], texts: IndexedTexts, model: str) -> tuple[Ranker, float | None, int]:
        embedder = self._embedder(model)
        started = time.perf_counter()
        wanted = [Text("passage", text) for text in texts]
        n_missing = embedder.n_missing(wanted)
        places = embedder.places(wanted)
        took = time.perf_counter() - started if n_missing == len(wanted) else None
        width = embedder.take(places[:1]).shape[1] if len(places) else 0
        return Knn(ids, texts, embedder), took, len(places) * width * _BYTES_OF_HALF


def _key(variant: Variant) -> Key:
    """What two variants share whose first search is the same."""
    settings = variant.settings
    rm3 = (settings.rm3_passages, settings.rm3_terms, settings.rm3_weight) if settings.rewrite == "rm3" else None
    weighing = (settings.k1, settings.b, settings.analyzer, rm3)
    model = None if settings.kind in ("bm25", "python") else settings.embedding
    return (settings.kind, variant.chunking, model, settings.callable, settings.settings, *weighing)
