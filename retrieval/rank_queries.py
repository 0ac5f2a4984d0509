"""The stage `retrieve`: every built-in agent's ranking for every query, and the rewritten queries of RAG-Fusion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ragassay.calls.caller import Caller
from ragassay.digests import digest_file, digest_json
from ragassay.errors import InputError
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import read_records, write_records
from ragassay.models.endpoint import provider_of
from ragassay.models.requests import Batch
from ragassay.prompts import Prompt
from ragassay.records import Passage, Query
from ragassay.text import plain
from ragassay.trec import Rankings, write_run

from .agents import REWRITE_PROMPT
from .agents.rag_fusion import Rewrite, fuse, rewrite_record, rewrite_request
from .dependencies import retrieve_settings
from .retrievers import PassageRetriever, build_retrievers, make_embedder
from .search_times import SearchTime, measure, read_search_times

Found = Mapping[tuple[str, str], Sequence[tuple[str, float]]]
"""(retriever, query text) to its (passage id, score), best first."""


def rank_queries(
    workspace: Workspace, caller: Caller, progress: Callable[[int, int], None] | None = None
) -> StageOutcome:
    """Write `rankings/AGENT.trec` of every built-in agent and, with RAG-Fusion among them, `rewrites.jsonl`.

    And `search-times.jsonl`, where answers are timed as well.

    RAG's ranking is the retriever's top k; RAG-Fusion's is the top k after fusing the top k of the query and of each
    rewritten one. `progress` is told (done, total) of the texts embedded.

    A query whose rewriting failed stands in no ranking of RAG-Fusion. Raises InputError where k is
    larger than the corpus, there are no queries, or two share an id.
    """
    agents = workspace.experiment.built_in_agents()
    if not agents:
        return StageOutcome()
    passages, queries = read_records(workspace.passages, Passage), read_queries(workspace)
    embedder = make_embedder(workspace, progress, caller)
    retrievers = build_retrievers(workspace, passages, progress, embedder)
    rewrites = _rewrite(workspace, queries, caller) if fuses(workspace) else []
    found = _search(retrievers, queries, rewrites, workspace.experiment.retrieval.k)
    for agent, retriever, kind in agents:
        if kind == "rag-fusion":
            rankings = _fused(workspace, found, retriever, queries, rewrites)
        else:
            rankings = {query.id: list(found[retriever, query.text]) for query in queries}
        write_run(workspace.rankings(agent), rankings, agent)
    with embedder.anew():
        _time(workspace, retrievers, queries, rewrites)
    return _outcome(workspace, rewrites, len(queries) * len(agents))


def read_queries(workspace: Workspace) -> list[Query]:
    """The test set. Raises InputError where it is empty or two queries share an id."""
    queries = read_records(workspace.queries, Query)
    if not queries:
        raise InputError("holds no queries", file=workspace.queries, remedy="run `ragassay questions` again")
    seen: set[str] = set()
    for query in queries:
        if query.id in seen:
            raise InputError(f"two queries have the id '{plain(query.id)}'", file=workspace.queries)
        seen.add(query.id)
    return queries


def fuses(workspace: Workspace) -> bool:
    """Whether RAG-Fusion takes part, so that queries are rewritten."""
    return any(kind == "rag-fusion" for _, _, kind in workspace.experiment.built_in_agents())


def _rewrite(workspace: Workspace, queries: Sequence[Query], caller: Caller) -> list[Rewrite]:
    settings = workspace.experiment.answer
    prompt = Prompt.load(workspace.prompt_file(settings.fusion_prompt, REWRITE_PROMPT))
    owed = [rewrite_request(prompt, query.text, settings.fusion_queries) for query in queries]
    requests = tuple(dict.fromkeys(owed))
    replies = dict(zip(requests, caller.ask([Batch("rewrites", settings.model, requests)])[0], strict=True))
    rewrites = [
        rewrite_record(query, replies[request], settings.fusion_queries)
        for query, request in zip(queries, owed, strict=True)
    ]
    write_records(workspace.rewrites, rewrites)
    return rewrites


def _search(
    retrievers: Mapping[str, PassageRetriever], queries: Sequence[Query], rewrites: Sequence[Rewrite], k: int
) -> Found:
    """Every text that some agent searches, once through each retriever."""
    texts = list(dict.fromkeys([query.text for query in queries] + [text for row in rewrites for text in row.queries]))
    return {
        (name, text): ranking
        for name, retriever in retrievers.items()
        for text, ranking in zip(texts, retriever.search(texts, k), strict=True)
    }


def _time(
    workspace: Workspace,
    retrievers: Mapping[str, PassageRetriever],
    queries: Sequence[Query],
    rewrites: Sequence[Rewrite],
) -> None:
    """Write how long searching takes each agent, unless answers come through files or batches and are not timed."""
    model, k = workspace.experiment.answer.model, workspace.experiment.retrieval.k
    if provider_of(model) == "file" or workspace.experiment.settings_of(model).mode == "batch":
        workspace.search_times.unlink(missing_ok=True)
        return
    key = digest_json([digest_file(workspace.passages), retrieve_settings(workspace.experiment)])
    known = read_search_times(workspace.search_times)
    alone = [[query.text] for query in queries]
    fused = [[query.text, *row.queries] for query, row in zip(queries, rewrites, strict=False) if row.error is None]
    times = list[SearchTime]()
    for agent, name, kind in workspace.experiment.built_in_agents():
        if agent in known and known[agent].key == key:
            times.append(known[agent])
            continue
        search = partial(retrievers[name].search, k=k)
        times += measure(agent, key, search, fused if kind == "rag-fusion" else alone)
    write_records(workspace.search_times, times)


def _fused(
    workspace: Workspace, found: Found, retriever: str, queries: Sequence[Query], rewrites: Sequence[Rewrite]
) -> Rankings:
    settings, rankings = workspace.experiment.retrieval, Rankings()
    for query, rewrite in zip(queries, rewrites, strict=True):
        if rewrite.error is None:
            lists = [[pid for pid, _ in found[retriever, text]] for text in (query.text, *rewrite.queries)]
            rankings[query.id] = fuse(lists, settings.rrf_k, settings.k)
    return rankings


def _outcome(workspace: Workspace, rewrites: Sequence[Rewrite], n_records: int) -> StageOutcome:
    """`n_records` and `n_failed` count rankings: one for each agent and query."""
    wanted, notices = workspace.experiment.answer.fusion_queries, []
    failed = [rewrite for rewrite in rewrites if rewrite.error is not None]
    fewer = [rewrite for rewrite in rewrites if rewrite.error is None and len(rewrite.queries) < wanted]
    if failed:
        notices.append(
            f"{len(failed)} of {len(rewrites)} queries could not be rewritten and have no answer from RAG-Fusion; "
            f"the first, {plain(failed[0].query_id)}: {plain(str(failed[0].error))}"
        )
    if fewer:
        notices.append(f"{len(fewer)} of {len(rewrites)} queries have fewer than {wanted} rewritten ones beside them")
    n_fusion = sum(kind == "rag-fusion" for _, _, kind in workspace.experiment.built_in_agents())
    return StageOutcome(tuple(notices), n_records=n_records, n_failed=len(failed) * n_fusion)
