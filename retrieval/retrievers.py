"""The retrievers of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragassay.calls.caller import Caller
from ragassay.cores import Cores
from ragassay.errors import InputError
from ragassay.experiment.plugins import check_own_object, is_own
from ragassay.experiment.settings import is_served
from ragassay.experiment.workspace import Workspace
from ragassay.models.endpoint import check_model
from ragassay.models.servers import EmbeddingServer, check_reachable, served_identity
from ragassay.records import Passage
from ragassay.text import plain

from .agents.python_agent import PassageRetriever
from .engines import check_server, engine_of, make_rankers, open_rankers
from .rankers.embedding import Embedder, OwnEncoder, Progress, ServedEmbedder, check_local, model_identity
from .rankers.embedding_cache import EmbeddingCache, Text, Vectors

__all__ = [
    "PassageRetriever",
    "build_retrievers",
    "check_at_hand",
    "check_depth",
    "check_embedding",
    "embed_queries",
    "make_embedder",
    "open_embedder",
    "passage_embedding",
]


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
    dense = [retriever for _, retriever, _ in agents if retriever != "bm25"]
    if dense:
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
    run, shipped = workspace.experiment.run, [workspace.shipped_embeddings]
    if is_served(embedding):
        if caller is None:
            raise InputError(f"{plain(embedding)} is asked by the stages of an experiment alone")
        server = EmbeddingServer(embedding, workspace.experiment.settings_of(embedding))
        identity = served_identity(embedding, server.base_url)
        return ServedEmbedder(server, EmbeddingCache(identity, workspace.embeddings, read=shipped), caller)
    if is_own(embedding):
        own = OwnEncoder(embedding, workspace.corpus)
        return Embedder(embedding, EmbeddingCache(own.identity, workspace.embeddings, read=shipped), lambda _: own)
    backend = workspace.experiment.retrieval.embedding_backend
    cache = EmbeddingCache(model_identity(embedding, backend), workspace.embeddings, read=shipped)
    cores = Cores(run.backend, run.scheduler)
    return Embedder(embedding, cache, progress=progress, cores=cores, backend=backend)


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


def passage_embedding(
    workspace: Workspace, caller: Caller | None = None
) -> Callable[[str | None, Sequence[str]], Vectors]:
    """What gives a row for each text, as passages are embedded by a model (None: the experiment's); kept as others.

    A model is loaded once. What is returned raises as `embed_queries`.
    """
    embedders: dict[str | None, Embedder] = {}

    def embed(model: str | None, texts: Sequence[str]) -> Vectors:
        if model not in embedders:
            embedders[model] = open_embedder(model or workspace.experiment.retrieval.embedding, workspace, None, caller)
        return embedders[model].vectors([Text("passage", text) for text in texts])

    return embed


def build_retrievers(
    workspace: Workspace,
    passages: Sequence[Passage],
    progress: Progress | None = None,
    embedder: Embedder | None = None,
    names: Sequence[str] = (),
) -> dict[str, PassageRetriever]:
    """The retrievers that `experiment.toml` names, or of these `names`, by name, over `passages`.

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
        rankers = open_rankers(
            names,
            passages,
            embedder,
            engine_of(workspace),
            language=language,
            rrf_k=rrf_k,
            progress=progress,
        )
    else:
        rankers = make_rankers(names, passages, embedder, language=language, bm25=settings.bm25, rrf_k=rrf_k)
    known = {passage.id: passage for passage in passages}
    return {
        name: PassageRetriever(name=name, ranker=ranker, passages=known, k=settings.k)
        for name, ranker in rankers.items()
    }


def embed_queries(workspace: Workspace, texts: Sequence[str], caller: Caller | None = None) -> Vectors:
    """A row for each text, as the experiment's retrievers embed queries; kept with those of the other stages.

    Raises InputError where the model cannot be loaded, and MissingExtra where a text is not in the kept ones and what
    loads it is not installed.
    """
    return make_embedder(workspace, caller=caller).vectors([Text("query", text) for text in texts])
