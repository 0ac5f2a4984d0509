"""What a chat model writes in place of queries or beside them: asked for, read, kept, and what is searched then."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ragassay.errors import InputError
from ragassay.experiment.settings import Experiment
from ragassay.experiment.variants import Variant
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, write_records
from ragassay.models.requests import Batch, Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import Asked, Query
from ragassay.text import plain

from ..agents.answering import Rewrite, Rewritten, rewrite_record
from ..dependencies import (
    OF_SEVERAL,
    OF_TURNS,
    REWRITING_FAILED,
    Rewriting,
    Way,
    batch_label,
    prompt_file,
    rewrites_file,
    rewriting_of,
    rewritings_for,
)
from ..rankers.ranker import Failed

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


class StandAlone(_Filled):
    """The reply to `stand-alone`."""

    question: str = Field(description="the question, as one would ask it who has said and heard nothing before")


_REPLIES: dict[Way, type[BaseModel]] = {
    "fusion": Rewritten,
    "hyde": HypotheticalPassage,
    "decompose": SimplerQuestions,
    "step-back": GeneralQuestion,
    "stand-alone": StandAlone,
}


def request_for(way: Way, prompt: Prompt, question: str, count: int) -> Request:
    """The request for at most `count` queries; of fusion the same as RAG-Fusion's."""
    values = {"question": question, "count": count} if way in OF_SEVERAL else {"question": question}
    return Request(prompt.render(values), schema=_REPLIES[way])


def searched_texts(way: Way, query: str, rewrite: Rewrite) -> list[str]:
    """What is searched for the query; where it is several texts, their rankings are fused by reciprocal ranks.

    Empty where the rewriting failed.
    """
    if rewrite.error is not None:
        return []
    return [query, *rewrite.queries] if way in BESIDE else list(rewrite.queries)


Rewrites = Mapping[Rewriting, Mapping[str, Rewrite]]
"""For each rewriting, query id to what became of the query."""

Instead = Callable[[str], Sequence[str] | Failed]
"""The texts that are searched for a query's text, or why there are none."""


class Asks(Protocol):
    """What answers batches of requests: a `Caller`."""

    def ask(self, batches: Sequence[Batch]) -> list[list[Reply]]: ...


def rewrite_for_variants(workspace: Workspace, queries: Sequence[Query], caller: Asks) -> Rewrites:
    """What every variant asks for; written to `rewrites/WAY….jsonl`, a record a query in the test set's order."""
    rewrites = rewrite_queries(workspace, queries, rewritings_for(workspace.experiment), caller)
    for one, rows in rewrites.items():
        write_records(rewrites_file(workspace, one), list(rows.values()))
    return rewrites


def read_rewrites(workspace: Workspace, queries: Sequence[Query], wanted: Collection[Rewriting]) -> Rewrites:
    """What was written of these. Raises InputError where a file or a query is not there."""
    found: dict[Rewriting, dict[str, Rewrite]] = {}
    for one in wanted:
        path = rewrites_file(workspace, one)
        found[one] = {row.query_id: row for row in read_records(path, Rewrite)}
        for query in queries:
            if query.id not in found[one]:
                problem = f"query '{plain(query.id)}' is not in it"
                raise InputError(problem, file=path, remedy="run `ragassay screen` again")
    return found


def rewrite_queries(
    workspace: Workspace, queries: Sequence[Query], wanted: Collection[Rewriting], caller: Asks
) -> dict[Rewriting, dict[str, Rewrite]]:
    """Each rewriting that is wanted, all in one ask; every query is in each, with its error where it failed.

    Nothing is written. Equal requests are one, also those that RAG-Fusion makes. Raises what the caller does.
    """
    order = sorted(wanted)
    prompts = {way: Prompt.load(prompt_file(workspace, way)) for way in {one.way for one in order}}
    batches, owed = [], []
    for one in order:
        asked = [query for query in queries if one.way != "stand-alone" or query.history]
        requests = {query.id: request_for(one.way, prompts[one.way], query.text, one.n) for query in asked}
        label = batch_label(one, workspace.experiment)
        batches.append(Batch(label, one.model, tuple(dict.fromkeys(requests.values()))))
        owed.append(requests)
    found = {}
    replies = caller.ask(batches) if batches else []
    for one, requests, batch, given in zip(order, owed, batches, replies, strict=True):
        by_request = dict(zip(batch.requests, given, strict=True))
        found[one] = {
            query.id: rewrite_record(query, by_request[requests[query.id]], one.n, beside=one.way in BESIDE)
            if query.id in requests
            else Rewrite(query_id=query.id, queries=(query.text,))
            for query in queries
        }
    return found


def searched_instead(way: str) -> Instead | None:
    """Of the ways that ask nobody (`OF_TURNS`); None of another."""
    if way not in OF_TURNS:
        return None

    def texts(text: str) -> Sequence[str]:
        if not isinstance(text, Asked):
            return [text]
        return [text.whole if way == "whole-history" else text.stand_alone or text]

    return texts


def searched_by(rewrites: Rewrites, queries: Sequence[Query], experiment: Experiment) -> Callable[[Variant], Instead]:
    """For a variant whose queries a model rewrites, what it searches for each of them.

    A text that is no query of the test set, as one that another rewriting wrote, is searched as it is.
    """

    def of_variant(variant: Variant) -> Instead:
        rewriting = rewriting_of(variant.settings, experiment)
        assert rewriting is not None, f"{variant.name} rewrites nothing"
        rows = {query.text: rewrites[rewriting][query.id] for query in queries}

        def texts(text: str) -> Sequence[str] | Failed:
            row = rows.get(text)
            if row is None:
                return [text]
            if row.error is not None:
                return Failed(f"{REWRITING_FAILED}: {row.error}")
            return searched_texts(rewriting.way, text, row)

        return texts

    return of_variant
