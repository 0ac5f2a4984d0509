"""The engine `opensearch`: from settings and passages to rankers over a complete index on the server."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from ragassay.experiment.settings import OpenSearchSettings
from ragassay.records import Passage

from ..rankers.analysis import language_code, make_analyzer
from ..rankers.corpus_file import fingerprint
from ..rankers.embedding import Embedder, Progress
from ..rankers.ranker import Ranker
from .about import TERMS, About, wanted
from .client import connect
from .index import Sources, ensure_index, existing_index
from .rankers import ServerBm25, ServerHybrid, ServerKnn
from .search import Target


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
    """The rankers named ("bm25", "knn", "hybrid") over `passages`, which are indexed first if they are not yet.

    `passages` may be a file that is read each time it is gone through, and `file` its name. `progress` is told
    (passages indexed or found there, passages). Raises InputError where the server or the passages cannot be used.
    """
    server = connect(engine.url, engine.settings)
    analyze, vectors = make_analyzer(language), bool({"knn", "hybrid"} & set(names))
    model = embedder.identity if vectors else None
    about = wanted(fingerprint(passages, file), language_code(language), model, engine.settings, engine.corpus_name)
    if engine.settings.index is None:
        sources = Sources(passages, {TERMS: analyze}, embedder if vectors else None, engine.settings.replicas)
        known = ensure_index(server, about, sources, engine.rejected, progress)
        target = target_of(known.index, known, engine.settings)
    else:
        known = existing_index(server, engine.settings.index, about)
        target = target_of(engine.settings.index, known, engine.settings)
    by_server = fuses(engine.settings, target.shards)
    every: dict[str, Ranker] = {
        "bm25": ServerBm25(server, target, analyze),
        "knn": ServerKnn(server, target, embedder),
        "hybrid": ServerHybrid(server, target, analyze, embedder, rrf_k, by_server=by_server),
    }
    return {name: ranker for name, ranker in every.items() if name in names}


def fuses(settings: OpenSearchSettings, shards: int) -> bool:
    """Whether the server is to fuse a hybrid, and can.

    Over several shards OpenSearch 2.19 ranks and normalises each shard's by itself, and not at all where terms are
    counted over all of them (its marks between rankings come back as hits), so it cannot.
    """
    return settings.hybrid == "server" and shards == 1


def target_of(index: str, about: About, settings: OpenSearchSettings, terms: str = TERMS) -> Target:
    """How the index of that name and description is searched, BM25 by the field `terms`."""
    return Target(
        index,
        terms=terms,
        engine=about.knn_engine or settings.knn_engine,
        ef_search=settings.ef_search,
        shards=about.shards,
        dimension=about.dimension,
        filter=settings.filter,
    )
