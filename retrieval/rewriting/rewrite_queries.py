"""The queries of the test set rewritten in every way that a variant asks for, each of them asked for once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from ragassay.errors import InputError
from ragassay.experiment.settings import Experiment
from ragassay.experiment.variants import Variant
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, write_records
from ragassay.models.requests import Batch, Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import Query
from ragassay.text import plain

from ..agents.rag_fusion import Rewrite
from ..rankers.failures import Failed
from .rewritings import Rewriting, batch_label, prompt_file, rewrites_file, rewriting_of, rewritings_for
from .ways import request_for, rewritten, searched_texts

Rewrites = Mapping[Rewriting, Mapping[str, Rewrite]]
"""For each rewriting, query id to what became of the query."""

Searched = Callable[[str], Sequence[str] | Failed]
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


def searched_by(rewrites: Rewrites, queries: Sequence[Query], experiment: Experiment) -> Callable[[Variant], Searched]:
    """For a variant whose queries a model rewrites, what it searches for each of them.

    A text that is no query of the test set, as one that another rewriting wrote, is searched as it is.
    """

    def of_variant(variant: Variant) -> Searched:
        rewriting = rewriting_of(variant.settings, experiment)
        assert rewriting is not None, f"{variant.name} rewrites nothing"
        rows = {query.text: rewrites[rewriting][query.id] for query in queries}

        def texts(text: str) -> Sequence[str] | Failed:
            row = rows.get(text)
            if row is None:
                return [text]
            if row.error is not None:
                return Failed(f"rewriting the query failed: {row.error}")
            return searched_texts(rewriting.way, text, row)

        return texts

    return of_variant


def _records(
    one: Rewriting, queries: Sequence[Query], requests: Sequence[Request], replies: Mapping[Request, Reply]
) -> dict[str, Rewrite]:
    pairs = zip(queries, requests, strict=True)
    return {query.id: rewritten(one.way, query, replies[request], one.n) for query, request in pairs}
