"""RAG: the passages a retriever ranks highest go into a prompt, and a model answers from them (Lewis et al. 2020)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.models.requests import Reply, Request
from ragassay.prompts import Message, Prompt
from ragassay.records import Answer, Passage, Query, Usage

from . import ANSWER_PROMPT

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


def failed_record(found: Found, error: str) -> Answer:
    """The record of an answer that could not be asked for, with what was used until then."""
    return Answer(
        query_id=found.query_id,
        agent=found.agent,
        answer=None,
        error=error,
        queries=found.queries,
        usage=found.usage or Usage(),
        latency_s=found.latency_s,
    )


def add_usage(one: Usage, other: Usage) -> Usage:
    """Both together; None of what is not known of either."""
    cost = _sum(one.cost_usd, other.cost_usd)
    tokens_in, tokens_out = _sum(one.input_tokens, other.input_tokens), _sum(one.output_tokens, other.output_tokens)
    return Usage.model_validate({"input_tokens": tokens_in, "output_tokens": tokens_out, "cost_usd": cost})


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
        query = as_query(input)
        found = self.find(query, config)
        if found.error is not None:
            return failed_record(found, found.error)
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


def as_query(given: str | Query) -> Query:
    """A query as it is, a string as a query with the id `query`."""
    return given if isinstance(given, Query) else Query(id="query", text=given)


def as_passages(documents: Sequence[Document]) -> list[Passage]:
    """LangChain documents as passages. Raises InputError where one has no id."""
    passages = []
    for document in documents:
        passage_id = document.metadata.get("id") or document.id
        if not passage_id:
            raise InputError("the retriever gave a document without an id", remedy="set its id or metadata['id']")
        title = str(document.metadata.get("title") or "")
        passages.append(Passage(id=str(passage_id), title=title, text=document.page_content))
    return passages


def ask_with(model: BaseChatModel) -> Ask:
    """Requests answered by a LangChain chat model, one at a time, without cache or budget; its exceptions pass."""

    def ask(request: Request) -> Reply:
        started, messages = time.perf_counter(), [_langchain(message) for message in request.messages]
        if request.schema is None:
            said = model.invoke(messages)
            usage, seconds, text = _usage(said), time.perf_counter() - started, str(said.text).strip()
            if not text:
                return Reply(usage=usage, latency_s=seconds, error="the reply is empty")
            return Reply(text=text, usage=usage, latency_s=seconds)
        try:
            given: Any = model.with_structured_output(request.schema, include_raw=True).invoke(messages)
        except ValidationError:  # langchain-openai checks the reply before it hands over the raw one
            return Reply(latency_s=time.perf_counter() - started, error="the reply does not fit the schema")
        usage, seconds = _usage(given["raw"]), time.perf_counter() - started
        if not isinstance(given["parsed"], request.schema):
            return Reply(usage=usage, latency_s=seconds, error="the reply does not fit the schema")
        return Reply(value=given["parsed"], usage=usage, latency_s=seconds)

    return ask


def _langchain(message: Message) -> BaseMessage:
    if message.role == "system":
        return SystemMessage(message.content)
    return HumanMessage(message.content) if message.role == "user" else AIMessage(message.content)


def _usage(message: BaseMessage) -> Usage:
    measured = message.usage_metadata if isinstance(message, AIMessage) else None
    if not measured:
        return Usage()
    return Usage(input_tokens=measured["input_tokens"], output_tokens=measured["output_tokens"])
