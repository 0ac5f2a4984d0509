"""The retrievers of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ragassay.cores import Cores
from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.models.encoders import check_encoder
from ragassay.models.reachable import why_unreachable
from ragassay.records import Passage

from .agents.passage_retriever import PassageRetriever
from .opensearch.client import connect
from .opensearch.engine import Engine, open_rankers
from .opensearch.errors import unreachable
from .rankers.embedding import Embedder, Progress, model_identity
from .rankers.embedding_cache import EmbeddingCache, Text, Vectors
from .search import make_rankers

__all__ = [
    "PassageRetriever",
    "build_retrievers",
    "check_at_hand",
    "check_depth",
    "embed_queries",
    "make_embedder",
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
        check_encoder(settings.embedding, dense[0])
    if agents and settings.engine == "opensearch":
        nodes = connect(settings.url, workspace.experiment.opensearch).url.split(",")
        if all(reasons := [why_unreachable(node) for node in nodes]):
            raise unreachable(str(reasons[0]), url=",".join(nodes))


def make_embedder(workspace: Workspace, progress: Progress | None = None) -> Embedder:
    """The embeddings of the experiment's model; `progress` is told of the texts embedded by the embedded engine."""
    settings, run = workspace.experiment.retrieval, workspace.experiment.run
    cache = EmbeddingCache(
        model_identity(settings.embedding), workspace.embeddings, read=[workspace.shipped_embeddings]
    )
    told = progress if settings.engine == "embedded" else None
    return Embedder(settings.embedding, cache, progress=told, cores=Cores(run.backend, run.scheduler))


def passage_embedding(workspace: Workspace) -> Callable[[str | None, Sequence[str]], Vectors]:
    """What gives a row for each text, as passages are embedded by a model (None: the experiment's); kept as others.

    A model is loaded once. What is returned raises as `embed_queries`.
    """
    embedders: dict[str | None, Embedder] = {}

    def embed(model: str | None, texts: Sequence[str]) -> Vectors:
        if model not in embedders:
            settings = workspace.experiment.retrieval.model_copy(update={"embedding": model} if model else {})
            experiment = workspace.experiment.model_copy(update={"retrieval": settings})
            embedders[model] = make_embedder(replace(workspace, experiment=experiment))
        return embedders[model].vectors([Text("passage", text) for text in texts])

    return embed


def build_retrievers(
    workspace: Workspace,
    passages: Sequence[Passage],
    progress: Progress | None = None,
    embedder: Embedder | None = None,
) -> dict[str, PassageRetriever]:
    """The retrievers that `experiment.toml` names, by name, over `passages`.

    The embedding model is loaded when a search needs the vector of a text that neither the corpus folder's nor the
    results folder's embeddings hold. With the engine `opensearch` the passages are indexed on its server, and
    `progress` is told of those instead of the texts embedded. Raises InputError where `retrieval.k` is larger than the
    corpus, or the server cannot be used.
    """
    settings, language = workspace.experiment.retrieval, workspace.experiment.corpus.language
    check_depth(workspace, len(passages))
    embedder = make_embedder(workspace, progress) if embedder is None else embedder
    if settings.engine == "opensearch":
        engine = Engine(
            settings.url, workspace.experiment.opensearch, workspace.corpus.name, workspace.opensearch_rejected
        )
        rankers = open_rankers(
            settings.retrievers, passages, embedder, engine, language=language, rrf_k=settings.rrf_k, progress=progress
        )
    else:
        rankers = make_rankers(
            settings.retrievers, passages, embedder, language=language, bm25=settings.bm25, rrf_k=settings.rrf_k
        )
    known = {passage.id: passage for passage in passages}
    return {
        name: PassageRetriever(name=name, ranker=ranker, passages=known, k=settings.k)
        for name, ranker in rankers.items()
    }


def embed_queries(workspace: Workspace, texts: Sequence[str]) -> Vectors:
    """A row for each text, as the experiment's retrievers embed queries; kept with those of the other stages.

    Raises InputError where the model cannot be loaded, and MissingExtra where a text is not in the kept ones and what
    loads it is not installed.
    """
    return make_embedder(workspace).vectors([Text("query", text) for text in texts])
