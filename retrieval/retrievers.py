"""The retrievers of an experiment, and the pool of a query: what several rankers find first in the whole corpus, which
is what a judge then grades.

Pooling is TREC's (Spärck Jones and van Rijsbergen 1975, "Report on the need for and provision of an 'ideal' information
retrieval test collection"): what no ranker of the pool finds stays unjudged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from ragassay.calls.caller import Caller
from ragassay.cores import Cores
from ragassay.errors import InputError
from ragassay.experiment.plugins import check_own_object, is_own
from ragassay.experiment.settings import is_served
from ragassay.experiment.tables import OF_ITS_SECTION
from ragassay.experiment.workspace import Workspace
from ragassay.models.endpoint import check_model
from ragassay.models.servers import EmbeddingServer, check_reachable, served_identity
from ragassay.records import Passage
from ragassay.text import plain

from .rankers.embedding import Embedder, OwnEncoder, Progress, ServedEmbedder, check_local, model_identity
from .rankers.embedding_cache import EmbeddingCache, Text, Vectors
from .rankers.ranker import Ranker
from .search import check_server, engine_of, make_rankers, open_rankers


def check_depth(workspace: Workspace, n_passages: int) -> None:
    """Raises InputError where `retrieval.k` is larger than the corpus, for which no reply has to be paid first."""
    k = workspace.experiment.retrieval.k
    if k > n_passages and workspace.experiment.built_in_agents():
        problem = f"retrieval.k is {k} and the corpus has {n_passages} passages"
        file = workspace.corpus / "experiment.toml"
        raise InputError(problem, file=file, remedy="lower it there or add documents")


def check_at_hand(workspace: Workspace) -> None:
    """Raises InputError where the retrievers need an extra, an embedding model or a server that is not there."""
    settings, agents = workspace.experiment.retrieval, workspace.experiment.built_in_agents()
    if dense := [retriever for _, retriever, _ in agents if retriever != "bm25"]:
        check_embedding(settings.embedding, workspace, dense[0])
    if (agents or workspace.experiment.retriever) and settings.engine == "opensearch":
        check_server(workspace)


def make_embedder(workspace: Workspace, progress: Progress | None = None, caller: Caller | None = None) -> Embedder:
    """The embeddings of the experiment's model; `progress` is told of the texts embedded by the embedded engine.

    `caller` asks the model that is on a server. Raises as `open_embedder`.
    """
    settings = workspace.experiment.retrieval
    told = progress if settings.engine == "embedded" else None
    return open_embedder(settings.embedding, workspace, told, caller)


def open_embedder(
    embedding: str, workspace: Workspace, progress: Progress | None = None, caller: Caller | None = None
) -> Embedder:
    """The embeddings of any model: of sentence-transformers, on a server (`openai:NAME`), or the user's own
    (`python:module:name`).

    Raises InputError where the user's code cannot be used, or a server's model is named and nobody asks (no `caller`).
    """

    def cache(identity: str) -> EmbeddingCache:
        return EmbeddingCache(identity, workspace.embeddings, read=[workspace.shipped_embeddings])

    if is_served(embedding):
        if caller is None:
            raise InputError(f"{plain(embedding)} is asked by the stages of an experiment alone")
        server = EmbeddingServer(embedding, workspace.experiment.settings_of(embedding))
        return ServedEmbedder(server, cache(served_identity(embedding, server.base_url)), caller)
    if is_own(embedding):
        own = OwnEncoder(embedding, workspace.corpus)
        return Embedder(embedding, cache(own.identity), lambda _: own)
    run, backend = workspace.experiment.run, workspace.experiment.retrieval.embedding_backend
    kept, cores = cache(model_identity(embedding, backend)), Cores(run.backend, run.scheduler)
    return Embedder(embedding, kept, progress=progress, cores=cores, backend=backend)


def check_embedding(embedding: str, workspace: Workspace, what: str) -> None:
    """Raises InputError where `what` could not embed: no model, no key, no server, no module. Nothing is loaded."""
    if is_served(embedding):
        settings = workspace.experiment.settings_of(embedding)
        check_model(embedding, settings)
        check_reachable(embedding, settings)
    elif is_own(embedding):
        check_own_object(embedding, workspace.corpus)
    else:
        check_local(embedding, workspace.experiment.retrieval.embedding_backend, what)


def passage_embedding(workspace: Workspace) -> Callable[[str | None, Sequence[str]], Vectors]:
    """What gives a row for each text, as passages are embedded by a model (None: the experiment's); kept as others.

    A model is loaded once. What is returned raises as `embed_queries`.
    """
    embedders: dict[str | None, Embedder] = {}

    def embed(model: str | None, texts: Sequence[str]) -> Vectors:
        if model not in embedders:
            embedders[model] = open_embedder(model or workspace.experiment.retrieval.embedding, workspace)
        return embedders[model].vectors([Text("passage", text) for text in texts])

    return embed


def build_retrievers(
    workspace: Workspace,
    passages: Sequence[Passage],
    progress: Progress | None = None,
    embedder: Embedder | None = None,
    names: Sequence[str] = (),
) -> dict[str, Ranker]:
    """The rankers of the retrievers that `experiment.toml` names, or of these `names`, by name, over `passages`.

    The embedding model is loaded when a search needs the vector of a text that neither the corpus folder's nor the
    results folder's embeddings hold. With the engine `opensearch` the passages are indexed on its server, and
    `progress` is told of those instead of the texts embedded. Raises InputError where `retrieval.k` is larger than the
    corpus, or the server cannot be used.
    """
    settings, language = workspace.experiment.retrieval, workspace.experiment.corpus.language
    check_depth(workspace, len(passages))
    embedder = make_embedder(workspace, progress) if embedder is None else embedder
    rrf_k, names = settings.rrf_k, names or settings.retrievers
    if settings.engine == "opensearch":
        engine = engine_of(workspace)
        return open_rankers(names, passages, embedder, engine, language=language, rrf_k=rrf_k, progress=progress)
    return make_rankers(names, passages, embedder, language=language, bm25=settings.bm25, rrf_k=rrf_k)


def embed_queries(workspace: Workspace, texts: Sequence[str], caller: Caller | None = None) -> Vectors:
    """A row for each text, as the experiment's retrievers embed queries; kept with those of the other stages.

    Raises InputError where the model cannot be loaded, and MissingExtra where a text is not in the kept ones and what
    loads it is not installed.
    """
    return make_embedder(workspace, caller=caller).vectors([Text("query", text) for text in texts])


SECTION = "section"


class Pooled(NamedTuple):
    """A passage of a pool, and which ranker found it, the first of `questions.pool_by`; or `section`."""

    passage: str
    found_by: str


class Pools:
    """Pools over the passages of one corpus, whose rankers are made once.

    They are those of `questions.pool_by`; BM25 where no agent or variant searches vectors. Raises InputError where the
    embedding or the server cannot be used, and MissingExtra.
    """

    def __init__(
        self,
        workspace: Workspace,
        passages: Sequence[Passage],
        caller: Caller | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        vectors = workspace.experiment.searches_vectors
        self._by = workspace.experiment.questions.pool_by if vectors else ("bm25",)
        self.passages, self._workspace = passages, workspace
        self._embedder = make_embedder(workspace, progress, caller)
        names = ["bm25", *(("knn", "hybrid") if vectors else ())]  # with an agent's index on a server
        self._retrievers = build_retrievers(workspace, passages, progress, self._embedder, names)

    def of(self, texts: Sequence[str], own: Sequence[Collection[str]]) -> list[list[Pooled]]:
        """The pool of each text: the first `questions.pool_depth` of each of `questions.pool_by`, and the best
        `OF_ITS_SECTION` of `own`.

        own: for each text the ids of the passages of the sections that it was made from, none where it was made from
        none. Raises what the class does.
        """
        depth = min(self._workspace.experiment.questions.pool_depth, len(self.passages))
        found = {name: self._retrievers[name].search(texts, depth) for name in self._by}
        bm25 = self._to_the_end() if any(own) else None
        pools = []
        for at, (text, names) in enumerate(zip(texts, own, strict=True)):
            pool: dict[str, str] = {}
            for name, rankings in found.items():
                for passage, _ in rankings[at]:
                    pool.setdefault(passage, name)
            for passage in self._nearest(bm25, text, names) if bm25 and names else ():
                pool.setdefault(passage, SECTION)
            pools.append([Pooled(passage, name) for passage, name in pool.items()])
        return pools

    def _to_the_end(self) -> Ranker:
        """BM25 that ranks a corpus to its end, which no server does."""
        retrieval, language = self._workspace.experiment.retrieval, self._workspace.experiment.corpus.language
        if retrieval.engine != "opensearch":
            return self._retrievers["bm25"]
        return make_rankers(
            ["bm25"], self.passages, self._embedder, language=language, bm25=retrieval.bm25, rrf_k=retrieval.rrf_k
        )["bm25"]

    def _nearest(self, bm25: Ranker, text: str, names: Collection[str]) -> list[str]:
        """The best of a text's own passages over the whole corpus; those it shares no term with come last."""
        ranking = [name for name, _ in bm25.search([text], len(self.passages))[0] if name in names]
        rest = [passage.id for passage in self.passages if passage.id in names and passage.id not in ranking]
        return [*ranking, *rest][:OF_ITS_SECTION]
