"""RAG: the passages a retriever ranks highest go into a prompt, and a model answers from them (Lewis et al. 2020)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.models.requests import Reply, Request
from ragassay.prompts import Prompt, count_tokens
from ragassay.records import Answer, Page, Passage, Query, Record, Usage
from ragassay.text import plain

from ..dependencies import ANSWER_PROMPT, REWRITE_PROMPT, REWRITING_FAILED
from ..rankers.combined import rrf

MOST_TOKENS = 100_000
"""So many tokens may all documents have together, where the agent's table does not say."""


class WholeDocument(NamedTuple):
    """A document as the prompt shows it: its name, and its pages' texts joined by newlines."""

    name: str
    text: str


def read_documents(workspace: Workspace) -> list[WholeDocument]:
    """All documents, in the order of `pages.jsonl`. Raises InputError with the line."""
    pages: dict[str, list[str]] = {}
    for page in read_records(workspace.pages, Page):
        pages.setdefault(page.doc, []).append(page.text)
    return [WholeDocument(name, "\n".join(texts)) for name, texts in pages.items()]


def count_document_tokens(documents: Sequence[WholeDocument]) -> int:
    """Tokens of all documents and their names, as `ragassay.prompts` counts them."""
    return sum(count_tokens(document.name) + count_tokens(document.text) for document in documents)


def check_long_context(workspace: Workspace) -> None:
    """Raises InputError where the documents have more tokens than a long-context agent takes.

    Before there are documents' texts nothing is said.
    """
    agents = [agent for agent in workspace.experiment.table_agents() if agent.variant is None]
    there = agents and workspace.pages.exists()
    n_tokens = count_document_tokens(read_documents(workspace)) if there else 0
    for agent in agents:
        if n_tokens > (most := agent.tokens or MOST_TOKENS):
            problem = f"agent '{plain(agent.name)}': the documents have about {n_tokens:,} tokens, more than {most:,}"
            remedy = "raise its tokens, if its model reads so many, or give it a retriever"
            raise InputError(problem, file=workspace.corpus / "experiment.toml", remedy=remedy)


def long_context_request(
    prompt: Prompt, question: str, documents: Sequence[WholeDocument], temperature: float | None = None
) -> Request:
    """The request for an answer from all documents."""
    return Request(prompt.render({"documents": list(documents), "question": question}), temperature=temperature)


Ask = Callable[[Request], Reply]
"""What answers one request: `ask_with(model)` for a LangChain chat model."""


@dataclass(frozen=True)
class Found:
    """What an agent found for one query before it answers: the passages, best first, and what finding them used.

    `queries` are those searched beside the original. latency_s: of rewriting and searching, in seconds; None where that
    was not measured. With `error` nothing can be answered.
    """

    query_id: str
    agent: str
    passages: tuple[Passage, ...] = ()
    queries: tuple[str, ...] = ()
    usage: Usage | None = None
    latency_s: float | None = None
    error: str | None = None


def answer_request(
    prompt: Prompt, question: str, passages: Sequence[Passage], temperature: float | None = None
) -> Request:
    """The request for an answer. Passages are numbered from 1 in their order; their ids do not enter the prompt."""
    return Request(prompt.render({"passages": list(passages), "question": question}), temperature=temperature)


def answer_record(found: Found, reply: Reply) -> Answer:
    """The answer record of one reply; usage and latency include what finding the passages took, None if unmeasured."""
    return Answer(
        query_id=found.query_id,
        agent=found.agent,
        answer=None if reply.error is not None else reply.text,
        error=reply.error,
        passages=tuple(passage.id for passage in found.passages),
        queries=found.queries,
        usage=reply.usage if found.usage is None else add_usage(found.usage, reply.usage),
        latency_s=seconds(found.latency_s, reply.latency_s),
    )


def failed_record(found: Found) -> Answer:
    """The record of an answer that could not be asked for, with what was used until then."""
    return Answer(
        query_id=found.query_id,
        agent=found.agent,
        answer=None,
        error=str(found.error),
        queries=found.queries,
        usage=found.usage or Usage(),
        latency_s=found.latency_s,
    )


def add_usage(one: Usage, other: Usage) -> Usage:
    """Both together; None of what is not known of either."""
    both = {name: _sum(getattr(one, name), getattr(other, name)) for name in Usage.model_fields}
    return Usage.model_validate(both)


def seconds(one: float | None, other: float | None) -> float | None:
    """The sum, None where a part was not measured."""
    total = _sum(one, other)
    return None if total is None else round(total, 4)


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


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
            return failed_record(found)
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


def rewrite_record(query: Query, reply: Reply, count: int, *, beside: bool = True) -> Rewrite:
    """The record of one reply, whichever its one field is. Blank queries and repeats (whatever the case and spaces) are
    left out, and what is more than `count`; fewer are taken as they are, none at all is an error.

    beside: whether they are searched beside the original, of which a repeat is left out, too; a question that is not to
    be split may be the query itself.
    """
    (written,) = reply.value.model_dump().values() if reply.value else ([],)
    kept: dict[str, str] = {}
    for text in (" ".join(one.split()) for one in ([written] if isinstance(written, str) else written)):
        if text and not (beside and text.casefold() == " ".join(query.text.split()).casefold()):
            kept.setdefault(text.casefold(), text)
    queries, error = tuple(kept.values())[:count], reply.error
    if error is None and not queries:
        error = "the reply only repeats the question"
    if error is not None:
        queries = ()
    return Rewrite(query_id=query.id, queries=queries, usage=reply.usage, latency_s=reply.latency_s, error=error)


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


def found_by_fusion(
    agent: str, rewrite: Rewrite, passages: Sequence[Passage] = (), search_s: float | None = None
) -> Found:
    """What RAG-Fusion found with this rewriting, whose usage and latency are the answer's too, and searching.

    A query whose rewriting failed has no answer: RAG-Fusion does not fall back on plain RAG.
    """
    if rewrite.error is not None:
        error = f"{REWRITING_FAILED}: {rewrite.error}"
        return Found(rewrite.query_id, agent, (), (), rewrite.usage, rewrite.latency_s, error)
    latency_s = seconds(rewrite.latency_s, search_s)
    return Found(rewrite.query_id, agent, tuple(passages), rewrite.queries, rewrite.usage, latency_s)
