"""A ranker as a LangChain retriever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, SkipValidation

from ragassay.records import Passage

from ..rankers.ranker import Ranker, Ranking


class PassageRetriever(BaseRetriever):
    """Ranks passages; `invoke` gives the `k` best as documents, `search` those of many queries as ids and scores."""

    name: str
    ranker: SkipValidation[Ranker]
    passages: SkipValidation[Mapping[str, Passage]] = Field(repr=False)
    k: int = Field(5, ge=1)

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """(passage id, score) of the at most `k` best for each query, best first, equal scores by id."""
        return self.ranker.search(queries, k)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [self._document(identifier, score) for identifier, score in self.search([query], self.k)[0]]

    def _document(self, identifier: str, score: float) -> Document:
        passage = self.passages[identifier]
        metadata = {"title": passage.title, **passage.metadata, "id": identifier, "score": score}
        return Document(page_content=passage.text, metadata=metadata)
