"""The rankers of concrete variants on the server: bm25, knn, and the hybrids that it fuses itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragassay.errors import InputError
from ragassay.experiment.variant_settings import OURS
from ragassay.experiment.variants import Variant
from ragassay.records import Passage

from ..rankers.analysis import language_code
from ..rankers.corpus_file import fingerprint
from ..rankers.embedding import Embedder
from ..rankers.embedding_cache import Text
from ..rankers.lexical import Lexical
from ..rankers.ranker import indexed_text
from .about import TERMS_OF, About, variants_alias, wanted
from .client import connect
from .engine import Engine, target_of
from .errors import NotAllowed
from .fused import ServerFused
from .homes import Home, Homes, weighing_of
from .index import Sources, ensure_index, read_about
from .rankers import ServerBm25, ServerKnn


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

    def bm25(self, variant: Variant) -> ServerBm25:
        """By the variant's analyzer, k1 and b."""
        return self._bm25(variant, self._homes.of(variant))

    def knn(self, variant: Variant) -> ServerKnn:
        """By the variant's embedding."""
        return self._knn(self._homes.of(variant))

    def hybrid(self, variant: Variant) -> ServerFused | None:
        """Fused by the server; None where it cannot fuse what the variant is of, or is not to (`Homes`)."""
        if (home := self._homes.of_fused(variant)) is None:
            return None
        members, settings = self._homes.members(variant), variant.settings
        assert settings.fused_by != "z-score"
        return ServerFused(
            self._server,
            target_of(self.indexed(home).about.index, self.indexed(home).about, self._engine.settings),
            [self._bm25(one, home) if one.settings.kind == "bm25" else self._knn(home) for one, _ in members],
            settings.fused_by,
            weights=[weight for _, weight in members],
            rrf_k=settings.rrf_k or self._rrf_k,
            depth=settings.depth,
        )

    def index_of(self, variant: Variant) -> Indexed:
        """The index that a variant of kind bm25 or knn searches."""
        return self.indexed(self._homes.of(variant))

    def indexed(self, home: Home) -> Indexed:
        """The index, complete."""
        if home not in self._indexed:
            self._indexed[home] = self._make(home)
        return self._indexed[home]

    def _bm25(self, variant: Variant, home: Home) -> ServerBm25:
        weighing, about = weighing_of(variant.settings), self.indexed(home).about
        target = target_of(about.index, about, self._engine.settings, about.field_of(weighing))
        return ServerBm25(self._server, target, Lexical(analyzer=weighing.analyzer).make_analyzer(self._language))

    def _knn(self, home: Home) -> ServerKnn:
        about = self.indexed(home).about
        target = target_of(about.index, about, self._engine.settings)
        return ServerKnn(self._server, target, self._embedder_of(str(home.embedding)))

    def _make(self, home: Home) -> Indexed:
        passages = self._passages_of(home.chunking)
        embedder = None if home.embedding is None else self._embedder_of(home.embedding)
        about = self._wanted(home, passages, embedder)
        at_hand = read_about(self._server, about.index) is not None or _embedded(embedder, passages)
        analyzers = {TERMS_OF[name]: Lexical(analyzer=name).make_analyzer(self._language) for name in about.analyzers}
        started = time.perf_counter()
        sources = Sources(passages, analyzers, embedder, self._engine.settings.replicas)
        known = ensure_index(self._server, about, sources, self._engine.rejected)
        return Indexed(known, None if at_hand else time.perf_counter() - started, self._n_bytes(known.index))

    def _wanted(self, home: Home, passages: Sequence[Passage], embedder: Embedder | None) -> About:
        code, model = language_code(self._language), embedder.identity if embedder else None
        weighings = self._homes.weighings(home)
        settings, chunking = self._engine.settings, None if home.chunking == OURS else home.chunking
        name = self._engine.corpus_name
        alias = variants_alias(settings, name, chunking, code, model, grid=weighings is not None)
        return wanted(fingerprint(passages), code, model, settings, name, weighings=weighings, alias=alias)

    def _n_bytes(self, index: str) -> int | None:
        try:
            stats = self._server.call(lambda client: client.indices.stats(index=index, metric="store"))
        except NotAllowed:
            return None
        return int(stats["_all"]["primaries"]["store"]["size_in_bytes"])


def _embedded(embedder: Embedder | None, passages: Sequence[Passage]) -> bool:
    """Whether any vector is at hand, so that making the index would take less than it does."""
    if embedder is None:
        return False
    texts = [Text("passage", indexed_text(passage)) for passage in passages]
    return embedder.n_missing(texts) < len(texts)
