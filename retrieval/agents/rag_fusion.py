"""RAG-Fusion: a model rewrites the query, each version is searched, and the rankings are fused (Rackauckas 2024).

The fused score of a passage is the sum over the rankings of 1/(k + rank), ranks from 1 (Cormack, Clarke & Büttcher
2009); the passages that come out on top go into the same prompt as plain RAG's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from ragassay.models.requests import Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import Passage, Query, Record, Usage

from ..rankers.rrf import rrf
from . import REWRITE_PROMPT
from .rag import Ask, Found, RagAgent, seconds


class Rewritten(BaseModel):
    """The reply: other search queries for the question."""

    model_config = ConfigDict(extra="forbid")

    queries: list[str] = Field(description="the search queries, one string each")

    @field_validator("queries")
    @classmethod
    def _not_empty(cls, queries: list[str]) -> list[str]:
        if not any(query.strip() for query in queries):
            raise ValueError("there is no query in it")
        return queries


class Rewrite(Record):
    """`rewrites.jsonl`: the queries searched beside the original, in the model's order, or why there are none."""

    query_id: str
    queries: tuple[str, ...] = ()
    usage: Usage = Usage()
    latency_s: float | None = None
    error: str | None = None

    @model_validator(mode="after")
    def _one_of_queries_and_error(self) -> Self:
        if (not self.queries) == (self.error is None):
            raise ValueError("exactly one of queries and error must be set")
        return self


def rewrite_request(prompt: Prompt, question: str, count: int) -> Request:
    """The request for `count` other queries."""
    return Request(prompt.render({"question": question, "count": count}), schema=Rewritten)


def rewrite_record(query: Query, reply: Reply, count: int) -> Rewrite:
    """The record of one reply. Blank queries and repeats (also of the original, whatever the case and spaces) are left
    out, and what is more than `count`; fewer are taken as they are, none at all is an error.
    """
    written = reply.value.queries if isinstance(reply.value, Rewritten) else []
    queries, error = distinct(written, [query.text])[:count], reply.error
    if error is None and not queries:
        error = "the reply only repeats the question"
    if error is not None:
        queries = ()
    return Rewrite(query_id=query.id, queries=queries, usage=reply.usage, latency_s=reply.latency_s, error=error)


def distinct(written: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The texts that are not `known` and not blank, each once, whatever the case and spaces."""
    seen = {" ".join(text.split()).casefold() for text in known}
    kept: dict[str, str] = {}
    for text in (" ".join(query.split()) for query in written):
        if text and text.casefold() not in seen:
            kept.setdefault(text.casefold(), text)
    return tuple(kept.values())


def fuse(rankings: Sequence[Sequence[str]], rrf_k: int, k: int) -> list[tuple[str, float]]:
    """(passage id, fused score) of the best `k` passages over the rankings, best first."""
    return rrf(rankings, rrf_k)[:k]


class RagFusionAgent(RagAgent):
    """RAG-Fusion as a LangChain Runnable, from any retriever and anything that answers requests.

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
            return found_nothing(self._agent, rewrite)
        texts = (query.text, *rewrite.queries)
        lists, search_s = self._search(texts, config)
        by_id = {passage.id: passage for passages in lists for passage in passages}
        fused = fuse([[passage.id for passage in passages] for passages in lists], self._rrf_k, self._k)
        return found_by_fusion(self._agent, rewrite, [by_id[passage_id] for passage_id, _ in fused], search_s)


def found_by_fusion(agent: str, rewrite: Rewrite, passages: Sequence[Passage], search_s: float | None = None) -> Found:
    """What RAG-Fusion found with this rewriting, whose usage and latency are the answer's too, and searching."""
    latency_s = seconds(rewrite.latency_s, search_s)
    return Found(rewrite.query_id, agent, tuple(passages), rewrite.queries, rewrite.usage, latency_s)


def found_nothing(agent: str, rewrite: Rewrite) -> Found:
    """A query whose rewriting failed: RAG-Fusion has no answer for it, and does not fall back on plain RAG."""
    error = f"rewriting the query failed: {rewrite.error}"
    return Found(rewrite.query_id, agent, (), (), rewrite.usage, rewrite.latency_s, error)
