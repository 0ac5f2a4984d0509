"""A LangChain `BaseDocumentCompressor` of the user's own as a reranker."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ragassay.experiment.own_code import load_own_object, said
from ragassay.records import Passage
from ragassay.text import plain

from ..rankers.ranker import indexed_text
from .reranker import Asked, Failed, Scores

_AT = "ragassay_passage"


class CompressorReranker:
    """The object `python:module:name`: the order in which it gives documents back is the ranking.

    The score of a passage is how many places it stands above the end; one that does not come back is left out. It runs
    in this process: what it asks and pays is in no plan and no limit, and is kept nowhere.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self._name, self._folder = name, folder

    def rerank(self, asked: Asked) -> list[Scores | Failed]:
        """As `Reranker`. What the user's code raises fails its query."""
        return [self._one(query, passages) if passages else [] for query, passages in asked]

    def _one(self, query: str, passages: Sequence[Passage]) -> Scores | Failed:
        from langchain_core.documents import Document

        own = self._own
        documents = [
            Document(indexed_text(passage), metadata={**passage.metadata, "_id": passage.id, _AT: at})
            for at, passage in enumerate(passages)
        ]
        known = set(range(len(passages)))
        try:
            given = [document.metadata.get(_AT) for document in own.compress_documents(documents, query)]
            fitting = len(set(given)) == len(given) and set(given) <= known
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's own code may raise anything
            return Failed(f"{plain(self._name)} failed ({said(error)})")
        if not fitting:
            return Failed(f"{plain(self._name)} gave documents that are none of those it got, or one twice")
        places = {at: place for place, at in enumerate(given, 1)}
        return [float(len(passages) - places[at]) if at in places else None for at in range(len(passages))]

    @cached_property
    def _own(self) -> Any:
        return load_own_object(self._name, self._folder, "compress_documents")
