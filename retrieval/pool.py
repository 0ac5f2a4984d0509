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


class Pools:
    """Pools over the passages of one corpus, whose rankers are made once.

    They are BM25 and, where an agent or a variant searches vectors, KNN and the hybrid of both. Raises InputError where
    the embedding or the server cannot be used, and MissingExtra.
    """

    def __init__(
        self,
        workspace: Workspace,
        passages: Sequence[Passage],
        caller: Caller | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        names = ["bm25"]
        if workspace.experiment.searches_vectors:
            names += ["knn", "hybrid"]
        self.passages, self._workspace, self._names = passages, workspace, names
        self._embedder = make_embedder(workspace, progress, caller)
        self._retrievers = build_retrievers(workspace, passages, progress, self._embedder, names)

    def of(self, texts: Sequence[str], own: Sequence[Collection[str]]) -> list[list[Pooled]]:
        """The pool of each text: the first `questions.pool_depth` of each ranker, and the best `OF_ITS_SECTION` of
        `own`.

        own: for each text the ids of the passages of the sections that it was made from, none where it was made from
        none. Raises what the class does.
        """
        depth = min(self._workspace.experiment.questions.pool_depth, len(self.passages))
        found = {name: retriever.search(texts, depth) for name, retriever in self._retrievers.items()}
        nearest = _of_own(self._bm25(any(own)), [passage.id for passage in self.passages], texts, own)
        pools = []
        for at in range(len(texts)):
            pool: dict[str, str] = {}
            for name in self._names:
                for passage, _ in found[name][at]:
                    pool.setdefault(passage, name)
            for passage in nearest[at]:
                pool.setdefault(passage, SECTION)
            pools.append([Pooled(passage, name) for passage, name in pool.items()])
        return pools

    def _bm25(self, to_the_end: bool) -> Ranker:
        """That ranks a corpus to its end, which no server does."""
        experiment = self._workspace.experiment
        retrieval, language = experiment.retrieval, experiment.corpus.language
        if retrieval.engine == "opensearch" and to_the_end:
            made = make_rankers(
                ["bm25"], self.passages, self._embedder, language=language, bm25=retrieval.bm25, rrf_k=1
            )
            return made["bm25"]
        return self._retrievers["bm25"].ranker


def _of_own(bm25: Ranker, ids: Sequence[str], texts: Sequence[str], own: Sequence[Collection[str]]) -> list[list[str]]:
    """The best of each text's own passages by BM25 over the whole corpus; those it shares no term with come last."""
    found = []
    for text, names in zip(texts, own, strict=True):  # one at a time: each ranking is as long as the corpus
        ranking = [name for name, _ in bm25.search([text], len(ids))[0] if name in names] if names else []
        rest = [name for name in ids if name in names and name not in ranking] if len(ranking) < len(names) else []
        found.append([*ranking, *rest][:OF_ITS_SECTION])
    return found
