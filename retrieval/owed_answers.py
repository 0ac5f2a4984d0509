"""The answers that are owed by the agents that we answer for: what each found for a query, and what is asked then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ragassay.errors import InputError
from ragassay.experiment.agents import TableAgent
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.models.requests import Request
from ragassay.prompts import Prompt
from ragassay.records import Passage, Query
from ragassay.text import plain
from ragassay.trec import read_run

from .agent_searches import AgentSearch
from .agents import ANSWER_PROMPT, LONG_CONTEXT_PROMPT
from .agents.documents import read_documents
from .agents.long_context import long_context_request
from .agents.rag import Found, answer_request, seconds
from .agents.rag_fusion import Rewrite, found_by_fusion, found_nothing
from .rank_queries import fuses
from .search_times import read_search_times


class Owed(NamedTuple):
    """An answer that is owed: what was found, what is asked of which model; no request where that has failed."""

    found: Found
    request: Request | None
    model: str


def owed_answers(workspace: Workspace, queries: Sequence[Query], passages: Mapping[str, Passage]) -> Iterator[Owed]:
    """One for each query and agent that we answer for, the built-in ones first. Raises InputError."""
    yield from _of_built_in(workspace, queries, passages)
    for agent in workspace.experiment.table_agents():
        if agent.variant is None:
            yield from _of_long_context(workspace, agent, queries)
        else:
            yield from _of_table(workspace, agent, queries, passages)


def _of_built_in(workspace: Workspace, queries: Sequence[Query], passages: Mapping[str, Passage]) -> Iterator[Owed]:
    settings = workspace.experiment.answer
    prompt = Prompt.load(workspace.prompt_file(settings.prompt, ANSWER_PROMPT))
    texts = {query.id: query.text for query in queries}
    for found in _found(workspace, queries, passages):
        request = answer_request(prompt, texts[found.query_id], found.passages) if found.error is None else None
        yield Owed(found, request, settings.model)


def _of_table(
    workspace: Workspace, agent: TableAgent, queries: Sequence[Query], passages: Mapping[str, Passage]
) -> Iterator[Owed]:
    """From all passages of its ranking, which holds what its retriever hands over."""
    own = agent.prompt or workspace.experiment.answer.prompt
    prompt = Prompt.load(workspace.prompt_file(own, ANSWER_PROMPT))
    ranked, search_s = _ranked_passages(workspace, agent.name, passages), _search_s(workspace).get(agent.name)
    searches = {row.query_id: row for row in read_records(workspace.searches(agent.name), AgentSearch)}
    for query in queries:
        if query.id not in searches:
            raise _of_another_run(query, workspace.searches(agent.name))
        found = _searched(agent.name, searches[query.id], ranked.get(query.id, ()), search_s)
        request = answer_request(prompt, query.text, found.passages, agent.temperature)
        yield Owed(found, None if found.error is not None else request, agent.model)


def _searched(agent: str, row: AgentSearch, passages: Sequence[Passage], search_s: float | None) -> Found:
    """Latency is that of rewriting and searching, None where either was to be measured and is not."""
    rewrite_s = row.latency_s if row.usage is not None else 0.0
    latency_s = rewrite_s if row.error is not None else seconds(rewrite_s, search_s)
    return Found(row.query_id, agent, tuple(passages), row.queries, row.usage, latency_s, row.error)


def _of_long_context(workspace: Workspace, agent: TableAgent, queries: Sequence[Query]) -> Iterator[Owed]:
    """From all documents; there is nothing to search, so that latency is the reply's."""
    prompt = Prompt.load(workspace.prompt_file(agent.prompt, LONG_CONTEXT_PROMPT))
    documents = read_documents(workspace)
    for query in queries:
        request = long_context_request(prompt, query.text, documents, agent.temperature)
        yield Owed(Found(query.id, agent.name, latency_s=0.0), request, agent.model)


def _found(workspace: Workspace, queries: Sequence[Query], passages: Mapping[str, Passage]) -> Iterator[Found]:
    """What every built-in agent found for every query: one for each answer that is owed."""
    rewrites, search_s = _rewrites(workspace, queries), _search_s(workspace)
    k = workspace.experiment.retrieval.k
    for agent, _, kind in workspace.experiment.built_in_agents():
        ranked = _ranked_passages(workspace, agent, passages, k)
        for query in queries:
            if kind == "rag":
                yield Found(query.id, agent, tuple(ranked.get(query.id, ())), latency_s=search_s.get(agent))
            elif rewrites[query.id].error is not None:
                yield found_nothing(agent, rewrites[query.id])
            else:
                yield found_by_fusion(agent, rewrites[query.id], ranked.get(query.id, ()), search_s.get(agent))


def _search_s(workspace: Workspace) -> dict[str, float]:
    return {agent: row.latency_s for agent, row in read_search_times(workspace.search_times).items()}


def _rewrites(workspace: Workspace, queries: Sequence[Query]) -> dict[str, Rewrite]:
    if not fuses(workspace):
        return {}
    rewrites = {rewrite.query_id: rewrite for rewrite in read_records(workspace.rewrites, Rewrite)}
    for query in queries:
        if query.id not in rewrites:
            raise _of_another_run(query, workspace.rewrites)
    return rewrites


def _ranked_passages(
    workspace: Workspace, agent: str, passages: Mapping[str, Passage], k: int | None = None
) -> dict[str, tuple[Passage, ...]]:
    """Query id to the first k passages of the agent's ranking, None for all of them."""
    path, found = workspace.rankings(agent), {}
    for query_id, ranking in read_run(path).items():
        ids = [passage_id for passage_id, _ in ranking[:k]]
        if unknown := [passage_id for passage_id in ids if passage_id not in passages]:
            problem = f"passage '{plain(unknown[0])}' is not in {workspace.passages.name}"
            raise InputError(problem, file=path, remedy="run `ragassay retrieve` again")
        found[query_id] = tuple(passages[passage_id] for passage_id in ids)
    return found


def _of_another_run(query: Query, file: Path) -> InputError:
    return InputError(f"query '{plain(query.id)}' is not in it", file=file, remedy="run `ragassay retrieve` again")
