"""RAG: the passages a retriever ranks highest go into a prompt, and a model answers from them (Lewis et al. 2020).

What it is asked, and the records of its replies; what is a part of LangChain stands in `rag.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.models.requests import Reply, Request
from ragassay.prompts import Prompt, count_tokens
from ragassay.records import Answer, Page, Passage, Query, Record, Usage, grouped
from ragassay.text import plain

from ..dependencies import REWRITING_FAILED

MOST_TOKENS = 100_000
"""So many tokens may all documents have together, where the agent's table does not say."""


class WholeDocument(NamedTuple):
    """A document as the prompt shows it: its name, and its pages' texts joined by newlines."""

    name: str
    text: str


def read_documents(workspace: Workspace) -> list[WholeDocument]:
    """All documents, in the order of `pages.jsonl`. Raises InputError with the line."""
    pages = grouped((page.doc, page.text) for page in read_records(workspace.pages, Page))
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
"""What answers one request: `rag.py:ask_with(model)` for a LangChain chat model."""


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


def answer_record(found: Found, reply: Reply | None) -> Answer:
    """The answer record of one reply, None where it could not be asked for; usage and latency include what finding the
    passages took, None if unmeasured."""
    made: dict[str, Any] = {"query_id": found.query_id, "agent": found.agent, "queries": found.queries}
    if reply is None:
        made |= {"answer": None, "error": str(found.error), "latency_s": found.latency_s}
        return Answer(**made, usage=found.usage or Usage())
    return Answer(
        **made,
        answer=None if reply.error is not None else reply.text,
        error=reply.error,
        passages=tuple(passage.id for passage in found.passages),
        usage=reply.usage if found.usage is None else add_usage(found.usage, reply.usage),
        latency_s=seconds(found.latency_s, reply.latency_s),
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
