"""What takes part in LangChain: a retriever over passages, and RAG and RAG-Fusion as Runnables.

A run needs none of them, and LangChain is slow to import.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import Field, SkipValidation, ValidationError

from ragassay.errors import InputError
from ragassay.models.requests import Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import Answer, Passage, Query, Usage

from ..dependencies import ANSWER_PROMPT, REWRITE_PROMPT
from ..rankers.combined import rrf
from ..rankers.ranker import Ranker, Ranking
from .answering import (
    Ask,
    Found,
    answer_record,
    answer_request,
    found_by_fusion,
    rewrite_record,
    rewrite_request,
)


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
        documents = []
        for identifier, score in self.search([query], self.k)[0]:
            passage = self.passages[identifier]
            metadata = {"title": passage.title, **passage.metadata, "id": identifier, "score": score}
            documents.append(Document(page_content=passage.text, metadata=metadata))
        return documents


class RagAgent(Runnable[str | Query, Answer]):
    """RAG as a LangChain Runnable: `RagAgent("mine", retriever, ask_with(model)).invoke("What is …?")`.

    `retriever` returns Documents whose `id` (or `metadata["id"]`) names the passage. A reply that failed is an Answer
    with its `error`.
    """

    def __init__(self, name: str, retriever: BaseRetriever, ask: Ask, prompt: Prompt | None = None) -> None:
        self.name = name
        self._agent, self._retriever, self._ask = name, retriever, ask
        self._prompt = prompt or Prompt.load(ANSWER_PROMPT)

    def invoke(self, input: str | Query, config: RunnableConfig | None = None, **kwargs: Any) -> Answer:
        """The answer to one query; a plain string becomes a query with the id `query`."""
        query = input if isinstance(input, Query) else Query(id="query", text=input)
        found = self.find(query, config)
        if found.error is not None:
            return answer_record(found, None)
        return answer_record(found, self._ask(answer_request(self._prompt, query.text, found.passages)))

    def find(self, query: Query, config: RunnableConfig | None = None) -> Found:
        """The passages that the retriever ranks highest for the query."""
        lists, search_s = self._search([query.text], config)
        return Found(query.id, self._agent, tuple(lists[0]), latency_s=search_s)

    def _search(self, texts: Sequence[str], config: RunnableConfig | None) -> tuple[list[list[Passage]], float]:
        """The passages found for each text, and the seconds for all of them."""
        started = time.perf_counter()
        lists = [as_passages(self._retriever.invoke(text, config)) for text in texts]
        return lists, time.perf_counter() - started


def as_passages(documents: Sequence[Document]) -> list[Passage]:
    """LangChain documents as passages. Raises InputError where one has no id."""
    ids = [document.metadata.get("id") or document.id for document in documents]
    if not all(ids):
        raise InputError("the retriever gave a document without an id", remedy="set its id or metadata['id']")
    return [
        Passage(id=str(id), title=str(document.metadata.get("title") or ""), text=document.page_content)
        for id, document in zip(ids, documents, strict=True)
    ]


def ask_with(model: BaseChatModel) -> Ask:
    """Requests answered by a LangChain chat model, one at a time, without cache or budget; its exceptions pass."""

    def ask(request: Request) -> Reply:
        started, messages = time.perf_counter(), [(message.role, message.content) for message in request.messages]
        raw: object = None
        if request.schema is None:
            raw = said = model.invoke(messages)
            text = str(said.text).strip()
            reply = Reply(text=text) if text else Reply(error="the reply is empty")
        else:
            reply = Reply(error="the reply does not fit the schema")
            with suppress(ValidationError):  # langchain-openai checks the reply before it hands over the raw one
                given: Any = model.with_structured_output(request.schema, include_raw=True).invoke(messages)
                raw, value = given["raw"], given["parsed"]
                reply = Reply(value=value) if isinstance(value, request.schema) else reply
        seconds, usage = time.perf_counter() - started, Usage()
        if isinstance(raw, AIMessage) and (measured := raw.usage_metadata):
            usage = Usage(input_tokens=measured["input_tokens"], output_tokens=measured["output_tokens"])
        return replace(reply, usage=usage, latency_s=seconds)

    return ask


class RagFusionAgent(RagAgent):
    """RAG-Fusion (Rackauckas 2024) as a LangChain Runnable, from any retriever and anything that answers requests.

    A model rewrites the query, each version is searched, and the rankings are fused: the score of a passage is the sum
    over the rankings of 1/(k + rank), ranks from 1 (Cormack, Clarke & Büttcher 2009); the passages that come out on top
    go into the same prompt as plain RAG's.
    `k` passages are kept of the fused ranking; how many are searched for each query is the retriever's own setting.
    """

    def __init__(
        self,
        name: str,
        retriever: BaseRetriever,
        ask: Ask,
        prompt: Prompt | None = None,
        *,
        rewrite_prompt: Prompt | None = None,
        fusion_queries: int = 4,
        rrf_k: int = 60,
        k: int = 5,
    ) -> None:
        super().__init__(name, retriever, ask, prompt)
        self._rewrite_prompt = rewrite_prompt or Prompt.load(REWRITE_PROMPT)
        self._fusion_queries, self._rrf_k, self._k = fusion_queries, rrf_k, k

    def find(self, query: Query, config: RunnableConfig | None = None) -> Found:
        """The passages that the fused rankings of the query and its rewritten versions put on top."""
        request = rewrite_request(self._rewrite_prompt, query.text, self._fusion_queries)
        rewrite = rewrite_record(query, self._ask(request), self._fusion_queries)
        if rewrite.error is not None:
            return found_by_fusion(self._agent, rewrite)
        lists, search_s = self._search((query.text, *rewrite.queries), config)
        by_id = {passage.id: passage for passages in lists for passage in passages}
        fused = rrf([[passage.id for passage in passages] for passages in lists], self._rrf_k)[: self._k]
        return found_by_fusion(self._agent, rewrite, [by_id[passage_id] for passage_id, _ in fused], search_s)
