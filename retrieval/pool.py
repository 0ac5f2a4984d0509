"""The pool of a query: what several rankers find first in the whole corpus, which is what a judge then grades.

Pooling is TREC's (Spärck Jones and van Rijsbergen 1975, "Report on the need for and provision of an 'ideal' information
retrieval test collection"): what no ranker of the pool finds stays unjudged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from ragassay.calls.caller import Caller
from ragassay.experiment.workspace import Workspace
from ragassay.records import Passage

from .engines import make_rankers
from .rankers.ranker import Ranker
from .retrievers import build_retrievers, make_embedder

OF_ITS_SECTION = 2
"""Passages of a question's own sections that join its pool: those that BM25 ranks first among them."""
SECTION = "section"


class Pooled(NamedTuple):
    """A passage of a pool, and which ranker found it: the first of bm25, knn, hybrid; or `section`."""

    passage: str
    found_by: str


def pooled(
    workspace: Workspace,
    passages: Sequence[Passage],
    texts: Sequence[str],
    own: Sequence[Collection[str]],
    caller: Caller | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[list[Pooled]]:
    """The pool of each text: the first `questions.pool_depth` of each ranker, and the best `OF_ITS_SECTION` of `own`.

    The rankers are BM25 and, where an agent or a variant searches vectors, KNN and the hybrid of both. own: for each
    text the ids of the passages of the sections that it was made from, none where it was made from none. Raises
    InputError where the embedding or the server cannot be used, and MissingExtra.
    """
    names = ["bm25"]
    if workspace.experiment.searches_vectors:
        names += ["knn", "hybrid"]
    embedder = make_embedder(workspace, progress, caller)
    retrievers = build_retrievers(workspace, passages, progress, embedder, names)
    depth = min(workspace.experiment.questions.pool_depth, len(passages))
    found = {name: retriever.search(texts, depth) for name, retriever in retrievers.items()}
    retrieval, language = workspace.experiment.retrieval, workspace.experiment.corpus.language
    bm25: Ranker = retrievers["bm25"].ranker
    if retrieval.engine == "opensearch" and any(own):  # no server ranks a corpus to its end
        bm25 = make_rankers(["bm25"], passages, embedder, language=language, bm25=retrieval.bm25, rrf_k=1)["bm25"]
    nearest = _of_own(bm25, [passage.id for passage in passages], texts, own)
    pools = []
    for at in range(len(texts)):
        pool: dict[str, str] = {}
        for name in names:
            for passage, _ in found[name][at]:
                pool.setdefault(passage, name)
        for passage in nearest[at]:
            pool.setdefault(passage, SECTION)
        pools.append([Pooled(passage, name) for passage, name in pool.items()])
    return pools


def _of_own(bm25: Ranker, ids: Sequence[str], texts: Sequence[str], own: Sequence[Collection[str]]) -> list[list[str]]:
    """The best of each text's own passages by BM25 over the whole corpus; those it shares no term with come last."""
    found = []
    for text, names in zip(texts, own, strict=True):  # one at a time: each ranking is as long as the corpus
        ranking = [name for name, _ in bm25.search([text], len(ids))[0] if name in names] if names else []
        rest = [name for name in ids if name in names and name not in ranking] if len(ranking) < len(names) else []
        found.append([*ranking, *rest][:OF_ITS_SECTION])
    return found
