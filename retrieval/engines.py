"""The two engines: rankers over passages in memory, and over an index on an OpenSearch server.

This is the only module that imports `retrieval/opensearch`; who needs a server asks here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from ragassay.experiment.workspace import Workspace
from ragassay.models.servers import why_unreachable
from ragassay.records import Passage

from .opensearch.client import Server, check_plugins, connect, unreachable
from .opensearch.engine import RETRIEVERS, Engine, Homes, ServerVariants, open_rankers
from .opensearch.index import kept_indexes, remove_indexes
from .rankers.bm25 import Lexical
from .rankers.embedding import Embedder, Progress
from .rankers.ranker import IndexedTexts, Material, Ranker, kind_of_ranker

__all__ = [
    "RETRIEVERS",
    "Engine",
    "Server",
    "ServerVariants",
    "check_plugins",
    "check_server",
    "connect",
    "engine_of",
    "kept_indexes",
    "make_rankers",
    "open_rankers",
    "remove_indexes",
    "server_variants",
]

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
    texts = IndexedTexts(passages, len(ids))
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
    workspace: Workspace,
    passages_of: Callable[[str], Sequence[Passage]],
    embedder_of: Callable[[str], Embedder],
    returns_sections: Callable[[str], bool],
) -> ServerVariants | None:
    """What the server searches in place of memory: every bm25 and knn; None where the engine is the embedded one."""
    experiment, retrieval = workspace.experiment, workspace.experiment.retrieval
    if retrieval.engine != "opensearch":
        return None
    homes = Homes(experiment.variants.all, experiment.opensearch, retrieval.embedding, returns_sections)
    language, rrf_k = experiment.corpus.language, retrieval.rrf_k
    return ServerVariants(homes, engine_of(workspace), passages_of, embedder_of, language=language, rrf_k=rrf_k)
