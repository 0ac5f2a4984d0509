"""The queries of the test set rewritten in every way that a variant asks for, each of them asked for once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from ragassay.experiment.settings import Experiment
from ragassay.experiment.table import file_name
from ragassay.experiment.variant_settings import BY_MODEL, RetrieverSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import write_records
from ragassay.models.requests import Batch, Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import Query

from ..agents import REWRITE_PROMPT
from ..agents.rag_fusion import Rewrite
from . import WAY_PROMPTS
from .ways import OF_SEVERAL, Way, request_for, rewritten


class Rewriting(NamedTuple):
    """How queries are rewritten: the way, the model that is asked, and how many queries it writes at most."""

    way: Way
    model: str
    n: int


Rewrites = Mapping[Rewriting, Mapping[str, Rewrite]]
"""For each rewriting, query id to what became of the query."""


class Asks(Protocol):
    """What answers batches of requests: a `Caller`."""

    def ask(self, batches: Sequence[Batch]) -> list[list[Reply]]: ...


def rewriting_of(settings: RetrieverSettings, experiment: Experiment) -> Rewriting | None:
    """How a retriever has its queries rewritten by a model; None where it has not.

    The model and the number are [answer]'s where the table says nothing of them.
    """
    if settings.rewrite not in BY_MODEL:
        return None
    n = settings.rewrite_queries or experiment.answer.fusion_queries if settings.rewrite in OF_SEVERAL else 1
    return Rewriting(settings.rewrite, settings.rewrite_model or experiment.answer.model, n)


def of_rag_fusion(experiment: Experiment) -> Rewriting:
    """The rewriting of the agents with RAG-Fusion."""
    return Rewriting("fusion", experiment.answer.model, experiment.answer.fusion_queries)


def prompt_file(workspace: Workspace, way: Way) -> Path:
    """The prompt of a way; of fusion the user's own, where [answer] names one."""
    if way == "fusion":
        return workspace.prompt_file(workspace.experiment.answer.fusion_prompt, REWRITE_PROMPT)
    return WAY_PROMPTS[way]


def rewrite_queries(
    workspace: Workspace, queries: Sequence[Query], wanted: Collection[Rewriting], caller: Asks
) -> dict[Rewriting, dict[str, Rewrite]]:
    """Each rewriting that is wanted, in all one ask; every query is in each, with its error where it failed.

    Nothing is written. Equal requests are one, also those that RAG-Fusion makes. Raises what the caller does.
    """
    order = sorted(wanted)
    prompts = {way: Prompt.load(prompt_file(workspace, way)) for way in {one.way for one in order}}
    owed = [[request_for(one.way, prompts[one.way], query.text, one.n) for query in queries] for one in order]
    batches = [
        Batch(batch_label(one, workspace.experiment), one.model, tuple(dict.fromkeys(requests)))
        for one, requests in zip(order, owed, strict=True)
    ]
    found = caller.ask(batches) if batches else []
    return {
        one: _records(one, queries, requests, dict(zip(batch.requests, replies, strict=True)))
        for one, requests, batch, replies in zip(order, owed, batches, found, strict=True)
    }


def write_rewrites(workspace: Workspace, rewrites: Rewrites) -> None:
    """Write `rewrites/WAY….jsonl` of each, one record a query in the order of the test set."""
    for one, rows in rewrites.items():
        write_records(rewrites_file(workspace, one), list(rows.values()))


def rewrites_file(workspace: Workspace, one: Rewriting) -> Path:
    """Named by the way, the model and, where it writes several, how many."""
    number = f"-{one.n}" if one.way in OF_SEVERAL else ""
    return workspace.results / "rewrites" / f"{one.way}{number}-{file_name(one.model)}.jsonl"


def batch_label(one: Rewriting, experiment: Experiment) -> str:
    """That of RAG-Fusion's requests, where it is these."""
    return "rewrites" if one == of_rag_fusion(experiment) else f"rewrites-{one.way}"


def _records(
    one: Rewriting, queries: Sequence[Query], requests: Sequence[Request], replies: Mapping[Request, Reply]
) -> dict[str, Rewrite]:
    pairs = zip(queries, requests, strict=True)
    return {query.id: rewritten(one.way, query, replies[request], one.n) for query, request in pairs}
