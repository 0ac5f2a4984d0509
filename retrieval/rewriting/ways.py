"""The ways of rewriting a query: what each asks a model, how its reply becomes queries, and what is searched then.

- fusion: other queries beside the original, their rankings fused (RAG-Fusion; Rackauckas 2024, arXiv:2402.03367).
- hyde: a passage that could answer, in place of the query (Gao et al. 2023, Precise Zero-Shot Dense Retrieval without
  Relevance Labels, arXiv:2212.10496). The paper takes the mean of the embeddings of eight such passages and the query,
  all embedded as documents; here it is one passage, embedded as a query is, so that every retriever can search it.
- decompose: the simpler questions that it consists of, in place of the query, their rankings fused (Khot et al. 2023,
  Decomposed Prompting, arXiv:2210.02406; Press et al. 2023, self-ask, arXiv:2210.03350). In the papers a question may
  rest on the answer to one before it; here all are written at once.
- step-back: a more general question beside the original, both rankings fused (Zheng et al. 2024, Take a Step Back,
  arXiv:2310.06117). The paper puts both lists of passages into the prompt; here k of them are left.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ragassay.models.requests import Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import Query

from ..agents.rag_fusion import Rewrite, distinct, rewrite_request
from .rewritings import OF_SEVERAL, Way

BESIDE = ("fusion", "step-back")
"""The ways of which the original query is searched too."""


class _Filled(BaseModel):
    model_config = ConfigDict(extra="forbid")

    @field_validator("*")
    @classmethod
    def _says_something(cls, value: str | list[str]) -> str | list[str]:
        if not any(text.strip() for text in ([value] if isinstance(value, str) else value)):
            raise ValueError("there is nothing in it")
        return value


class HypotheticalPassage(_Filled):
    """The reply to `hyde`."""

    passage: str = Field(description="the passage")


class SimplerQuestions(_Filled):
    """The reply to `decompose`."""

    questions: list[str] = Field(description="the simpler questions, one string each")


class GeneralQuestion(_Filled):
    """The reply to `step-back`."""

    question: str = Field(description="the more general question")


_REPLIES: dict[Way, type[BaseModel]] = {
    "hyde": HypotheticalPassage,
    "decompose": SimplerQuestions,
    "step-back": GeneralQuestion,
}


def request_for(way: Way, prompt: Prompt, question: str, count: int) -> Request:
    """The request for at most `count` queries; of fusion the same as RAG-Fusion's."""
    if way == "fusion":
        return rewrite_request(prompt, question, count)
    values = {"question": question, "count": count} if way in OF_SEVERAL else {"question": question}
    return Request(prompt.render(values), schema=_REPLIES[way])


def rewritten(way: Way, query: Query, reply: Reply, count: int) -> Rewrite:
    """The record of one reply: at most `count` queries, each once.

    Beside the original a repeat of it is left out (whatever the case and spaces), and where nothing else is there it is
    an error; a question that is not to be split may be the query itself.
    """
    if reply.error is not None:
        return _failed(query, reply, reply.error)
    known = [query.text] if way in BESIDE else []
    queries = distinct(_written(reply), known)[:count]
    if not queries:
        return _failed(query, reply, "the reply only repeats the question")
    return Rewrite(query_id=query.id, queries=queries, usage=reply.usage, latency_s=reply.latency_s)


def searched_texts(way: Way, query: str, rewrite: Rewrite) -> list[str]:
    """What is searched for the query; where it is several texts, their rankings are fused by reciprocal ranks.

    Empty where the rewriting failed.
    """
    if rewrite.error is not None:
        return []
    return [query, *rewrite.queries] if way in BESIDE else list(rewrite.queries)


def _written(reply: Reply) -> Sequence[str]:
    """The texts of a reply, whichever field they stand in."""
    (value,) = (reply.value.model_dump() if reply.value else {"": []}).values()
    return [value] if isinstance(value, str) else value


def _failed(query: Query, reply: Reply, error: str) -> Rewrite:
    return Rewrite(query_id=query.id, usage=reply.usage, latency_s=reply.latency_s, error=error)
