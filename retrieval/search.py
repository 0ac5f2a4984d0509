"""Searching passages by one of two engines: rankers in memory, or over an index on an OpenSearch server.

And the search of files (a corpus and queries in BEIR's layout or TREC's in, a TREC run out), and how long one takes.
This is the only module that imports `retrieval/opensearch`; who needs a server asks here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pydantic

from ragassay.errors import InputError
from ragassay.experiment.settings import Backend
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, stream_run
from ragassay.layouts.questions import Field, TrecCollection, is_trec_collection, read_queries_file
from ragassay.models.servers import why_unreachable
from ragassay.records import Id, Passage, Record

from .dependencies import sections_returned
from .opensearch.client import Server as Server
from .opensearch.client import check_plugins as check_plugins
from .opensearch.client import connect as connect
from .opensearch.client import unreachable
from .opensearch.engine import RETRIEVERS as RETRIEVERS
from .opensearch.engine import Engine as Engine
from .opensearch.engine import Homes, ServerVariants
from .opensearch.engine import open_rankers as open_rankers
from .opensearch.index import kept_indexes as kept_indexes
from .opensearch.index import remove_indexes as remove_indexes
from .rankers.bm25 import Lexical
from .rankers.embedding import Embedder, Progress, model_identity
from .rankers.embedding_cache import EmbeddingCache
from .rankers.ranker import CorpusFile, Material, Ranker, Ranking, check_ids, indexed_texts, kind_of_ranker

PLAIN = Lexical()


def make_rankers(
    names: Collection[str],
    passages: Iterable[Passage],
    embedder: Embedder,
    *,
    language: str,
    bm25: str,
    rrf_k: int,
    lexical: Lexical = PLAIN,
    kept: Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Ranker]:
    """The rankers of the kinds named, in memory, over title and text; the hybrid shares the other two's indexes.

    `passages` are gone through several times, also at the first search: a list, or a file that is read anew, and then
    only ids stay in memory. kept: the folder for what models make of texts besides embeddings. Nothing is embedded
    yet. Raises InputError for another name or an unknown language.
    """
    for name in names:
        kind_of_ranker(name)
    ids = [passage.id for passage in passages]
    settings = {"engine": bm25, "lexical": lexical, "rrf_k": rrf_k}
    texts = indexed_texts(passages, len(ids))
    material = Material(ids, texts, settings, language, embedder.model, lambda: embedder, kept, progress)
    return {name: material.ranker(name) for name in names}


def engine_of(workspace: Workspace) -> Engine:
    """The server that an experiment searches."""
    settings = workspace.experiment.opensearch
    return Engine(workspace.experiment.retrieval.url, settings, workspace.corpus.name, workspace.opensearch_rejected)


def check_server(workspace: Workspace) -> None:
    """Raises InputError where no node of the experiment's server answers."""
    nodes = connect(workspace.experiment.retrieval.url, workspace.experiment.opensearch).url.split(",")
    if all(reasons := [why_unreachable(node) for node in nodes]):
        raise unreachable(str(reasons[0]), url=",".join(nodes))


def server_variants(
    workspace: Workspace, passages_of: Callable[[str], Sequence[Passage]], embedder_of: Callable[[str], Embedder]
) -> ServerVariants | None:
    """What the server searches in place of memory: every bm25 and knn; None where the engine is the embedded one."""
    experiment, retrieval = workspace.experiment, workspace.experiment.retrieval
    if retrieval.engine != "opensearch":
        return None
    sections = sections_returned(experiment)
    homes = Homes(experiment.variants.all, experiment.opensearch, retrieval.embedding, sections)
    language, rrf_k = experiment.corpus.language, retrieval.rrf_k
    return ServerVariants(homes, engine_of(workspace), passages_of, embedder_of, language=language, rrf_k=rrf_k)


_BATCH = 512  # queries searched at a time


def search_files(
    corpus: Path,
    queries: Path,
    retriever: str,
    *,
    embedding: str,
    k: int,
    out: Path,
    backend: Backend = "auto",
    language: str = "en",
    bm25: str = "bm25s",
    rrf_k: int = 60,
    lexical: Lexical = PLAIN,
    topic_fields: Sequence[Field] = ("title",),
    cache: Path | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> int:
    """Rank the passages of `corpus` for every query and write the TREC run `out`, whose tag is the retriever.

    `k` is the depth: a smaller corpus is ranked whole. `embedding` and `backend` (what runs it) matter to knn and
    hybrid, whose embeddings are kept in the folder `cache` if one is given, `lexical` to bm25 and hybrid.
    `topic_fields` are what a TREC topic's text is made of. `engine` is an OpenSearch server, which holds passages in
    place of memory; `progress` is then told of passages indexed, and else of texts embedded. Returns the number of
    queries. Raises InputError, with nothing written.
    """
    for name, value in {"k": k, "rrf_k": rrf_k}.items():
        if value < 1:
            raise InputError(f"{name} is {value}", remedy="give 1 or more")
    for given in (corpus, queries):
        if out.exists() and out.resolve() == given.resolve():
            raise InputError("would be written over", file=given, remedy="give the run another name")
    kind_of_ranker(retriever)
    asked = list(check_ids(read_queries_file(queries, topic_fields), "queries", queries))
    vectors = EmbeddingCache(model_identity(embedding, backend), cache)
    embedder = Embedder(embedding, vectors, progress=progress if engine is None else None, backend=backend)
    how: dict[str, Any] = {"language": language, "rrf_k": rrf_k, "progress": progress}
    if engine is not None:
        rankers = open_rankers([retriever], _lines(corpus), embedder, engine, file=corpus, **how)
    else:
        passages: Iterable[Passage] = _Checked(corpus)
        if not corpus.is_file():  # a pipe is read once: those that came
            passages = list(check_ids(read_records(corpus, Passage), "passages", corpus))
        rankers = make_rankers([retriever], passages, embedder, bm25=bm25, lexical=lexical, kept=cache, **how)

    def rankings() -> Iterator[tuple[str, Ranking]]:
        for start in range(0, len(asked), _BATCH):
            batch = asked[start : start + _BATCH]
            found = rankers[retriever].search([query.text for query in batch], k)
            yield from zip((query.id for query in batch), found, strict=True)

    stream_run(out, rankings(), retriever)
    return len(asked)


class _Checked:
    """The passages of a file, read whenever they are gone through. Iterating raises InputError."""

    def __init__(self, path: Path) -> None:
        self._lines = _lines(path)

    def __iter__(self) -> Iterator[Passage]:
        return check_ids(self._lines, "passages", self._lines.path)


def _lines(path: Path) -> CorpusFile | TrecCollection:
    return TrecCollection(path) if is_trec_collection(path) else CorpusFile(path)


SAMPLE = 20
"""So many queries are searched for alone, spread evenly over the test set, after one whose time does not count."""


class SearchTime(Record):
    """`search-times.jsonl`: mean seconds that an agent's search took for one query, over `n` queries.

    Embedding the query is part of it, and for RAG-Fusion the search of all versions of the query, in one batch. key:
    the digest of the passages and the settings it was measured with; measured once, as replies are, it is kept.
    """

    agent: Id
    key: str
    n: int = pydantic.Field(ge=1)
    latency_s: float = pydantic.Field(ge=0)


def measure(
    agent: str, key: str, search: Callable[[Sequence[str]], object], texts: Sequence[Sequence[str]]
) -> list[SearchTime]:
    """Time `search` for some of `texts`, one query after another (a query's texts together); empty where it cannot be.

    It cannot be where the embedding model is not at hand, all vectors having been found in the cache.
    """
    sample = [texts[place * len(texts) // SAMPLE] for place in range(SAMPLE)] if len(texts) > SAMPLE else list(texts)
    if not sample:
        return []
    try:
        search(sample[0])
        started = time.perf_counter()
        for one in sample:
            search(one)
    except InputError:
        return []
    mean_s = (time.perf_counter() - started) / len(sample)
    return [SearchTime(agent=agent, key=key, n=len(sample), latency_s=round(mean_s, 6))]


def read_search_times(path: Path) -> dict[str, SearchTime]:
    """By agent; empty where nothing was measured. Raises InputError."""
    return {row.agent: row for row in read_records(path, SearchTime)} if path.exists() else {}
