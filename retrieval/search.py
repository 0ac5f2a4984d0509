"""Search of files: a corpus and queries in BEIR's layout or TREC's in, a TREC run out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import pydantic

from ragassay.errors import InputError
from ragassay.experiment.settings import Backend
from ragassay.files import read_records, stream_run
from ragassay.layouts.questions import Field, TrecCollection, is_trec_collection, read_queries_file
from ragassay.records import Id, Passage, Query, Record
from ragassay.text import plain

from .engines import PLAIN, Engine, make_rankers, open_rankers
from .rankers.bm25 import Lexical
from .rankers.embedding import Embedder, Progress, model_identity
from .rankers.embedding_cache import EmbeddingCache
from .rankers.ranker import CorpusFile, Ranker, Ranking, kind_of_ranker

R = TypeVar("R", Passage, Query)

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
    if k < 1:
        raise InputError(f"k is {k}", remedy="give 1 or more")
    if rrf_k < 1:
        raise InputError(f"rrf_k is {rrf_k}", remedy="give 1 or more")
    for given in (corpus, queries):
        if out.exists() and out.resolve() == given.resolve():
            raise InputError("would be written over", file=given, remedy="give the run another name")
    kind_of_ranker(retriever)
    asked = list(check_ids(read_queries_file(queries, topic_fields), "queries", queries))
    vectors = EmbeddingCache(model_identity(embedding, backend), cache)
    embedder = Embedder(embedding, vectors, progress=progress if engine is None else None, backend=backend)
    if engine is not None:
        rankers = open_rankers(
            [retriever],
            _lines(corpus),
            embedder,
            engine,
            language=language,
            rrf_k=rrf_k,
            file=corpus,
            progress=progress,
        )
    else:
        rankers = make_rankers(
            [retriever],
            _passages(corpus),
            embedder,
            language=language,
            bm25=bm25,
            rrf_k=rrf_k,
            lexical=lexical,
            kept=cache,
            progress=progress,
        )
    stream_run(out, _rankings(rankers[retriever], asked, k), retriever)
    return len(asked)


def _rankings(ranker: Ranker, asked: Sequence[Query], k: int) -> Iterator[tuple[str, Ranking]]:
    for start in range(0, len(asked), _BATCH):
        batch = asked[start : start + _BATCH]
        found = ranker.search([query.text for query in batch], k)
        yield from zip((query.id for query in batch), found, strict=True)


def _passages(path: Path) -> Iterable[Passage]:
    """The passages of a file that is read whenever they are gone through; of a pipe, those that came."""
    return _Checked(path) if path.is_file() else list(check_ids(read_records(path, Passage), "passages", path))


class _Checked:
    """The passages of a file, one at a time. Iterating raises InputError."""

    def __init__(self, path: Path) -> None:
        self._lines = _lines(path)

    def __iter__(self) -> Iterator[Passage]:
        return check_ids(self._lines, "passages", self._lines.path)


def _lines(path: Path) -> CorpusFile | TrecCollection:
    return TrecCollection(path) if is_trec_collection(path) else CorpusFile(path)


def check_ids(records: Iterable[R], what: str, path: Path) -> Iterator[R]:
    """The records as they come. Raises InputError for none, two with one id, and an id that a run cannot hold."""
    seen: set[str] = set()
    for record in records:
        if record.id in seen:
            raise InputError(f"two {what} have the id '{plain(record.id)}'", file=path)
        if record.id.split() != [record.id]:
            raise InputError(f"the id '{plain(record.id)}' holds white space, which a TREC run cannot", file=path)
        seen.add(record.id)
        yield record
    if not seen:
        raise InputError(f"holds no {what}", file=path)


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


def read_search_times(path: Path) -> Mapping[str, SearchTime]:
    """By agent; empty where nothing was measured. Raises InputError."""
    return {row.agent: row for row in read_records(path, SearchTime)} if path.exists() else {}
