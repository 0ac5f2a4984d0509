"""The stage `retrieve`: the ranking of every agent that we answer for, and the queries that a model rewrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ragassay.calls.caller import Caller
from ragassay.errors import InputError
from ragassay.experiment.settings import Experiment
from ragassay.experiment.variant_settings import OURS
from ragassay.experiment.workspace import (
    StageOutcome,
    VariantRun,
    Workspace,
    digest_passages,
    handed_over,
    read_not_asked,
    read_passages,
)
from ragassay.files import Rankings, digest_json, read_records, read_run, write_records, write_run
from ragassay.prompts import passage_tokens
from ragassay.records import Passage, Query, Record, Usage
from ragassay.text import plain

from .agents.rag import Rewrite, add_usage, seconds
from .dependencies import built_in_settings, search_key, searched_by, timed_agents
from .rankers.combined import rrf
from .rankers.embedding import Embedder
from .rankers.ranker import Ranking
from .retrievers import PassageRetriever, build_retrievers, make_embedder
from .rewriting import of_rag_fusion, rewritings_for
from .rewriting.rewritings import Asks, read_rewrites, rewrite_queries
from .search import SearchTime, measure, read_search_times


class AgentSearch(Record):
    """`searches/AGENT.jsonl`: what was searched for a query besides or in place of it, and why there is no ranking.

    usage, latency_s: of rewriting it; None of latency where that was not measured or nothing was rewritten.
    """

    query_id: str
    queries: tuple[str, ...] = ()
    usage: Usage | None = None
    latency_s: float | None = None
    error: str | None = None


def rank_queries(
    workspace: Workspace,
    caller: Asks,
    progress: Callable[[int, int], None] | None = None,
) -> StageOutcome:
    """Write `rankings/AGENT.trec` of every agent that we answer for and that has a retriever.

    And with RAG-Fusion among them `rewrites.jsonl`, with agents of tables `searches/AGENT.jsonl`, and
    `search-times.jsonl`, where answers are timed as well.

    RAG's ranking is the retriever's top k; RAG-Fusion's is the top k after fusing the top k of the query and of each
    rewritten one; that of a table's agent is what its variant found in the screening. `progress` is told (done, total)
    of the texts embedded.

    A query whose rewriting failed stands in no ranking that needs it, nor one in that of an agent that is not asked it
    by plan. Raises InputError where k is
    larger than the corpus, there are no queries, or two share an id.
    """
    experiment = workspace.experiment
    if not experiment.built_in_agents() and not searching_agents(experiment):
        return StageOutcome()
    queries = read_queries(workspace)
    built_in = None
    if experiment.built_in_agents():
        passages = read_passages(workspace.passages)
        embedder = make_embedder(workspace, progress, caller if isinstance(caller, Caller) else None)
        built_in = _BuiltIn(build_retrievers(workspace, passages, progress, embedder), embedder)
    fusion = _rewrite(workspace, queries, caller) if fuses(workspace) else []
    if built_in:
        _rank_built_in(workspace, built_in, queries, fusion)
    found = _screened(workspace)
    searches = _search_agents(workspace, queries, found)
    _time(workspace, built_in, queries, fusion, found)
    failed = sum(row.error is not None for rows in searches.values() for row in rows)
    ranking = {*searches, *(name for name, _, _ in experiment.built_in_agents())}
    n_out = sum(agent in ranking for _, agent in read_not_asked(workspace.not_asked))
    outcome = _outcome(workspace, fusion, len(queries) * len(ranking) - n_out)
    return replace(outcome, notices=(*outcome.notices, *_notices(searches)), n_failed=outcome.n_failed + failed)


@dataclass(frozen=True)
class _BuiltIn:
    """The retrievers of [retrieval], and what embeds for them."""

    retrievers: Mapping[str, PassageRetriever]
    embedder: Embedder


Found = Mapping[tuple[str, str], Sequence[tuple[str, float]]]
"""(retriever, query text) to its (passage id, score), best first."""


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


def searching_agents(experiment: Experiment) -> dict[str, str]:
    """The agents of tables that have a retriever: name to the variant's."""
    return {agent.name: agent.variant.name for agent in experiment.table_agents() if agent.variant}


def _rewrite(workspace: Workspace, queries: Sequence[Query], caller: Asks) -> list[Rewrite]:
    """Of RAG-Fusion; where a variant asks for the same it is there already, and is not counted twice."""
    own = of_rag_fusion(workspace.experiment)
    if own in rewritings_for(workspace.experiment):
        rewrites = read_rewrites(workspace, queries, [own])[own]
    else:
        rewrites = rewrite_queries(workspace, queries, [own], caller)[own]
    rows = [rewrites[query.id] for query in queries]
    write_records(workspace.rewrites, rows)
    return rows


def _rank_built_in(
    workspace: Workspace, built_in: _BuiltIn, queries: Sequence[Query], rewrites: Sequence[Rewrite]
) -> None:
    found = _search(built_in.retrievers, queries, rewrites, workspace.experiment.retrieval.k)
    not_asked = read_not_asked(workspace.not_asked)
    for agent, retriever, kind in workspace.experiment.built_in_agents():
        if kind == "rag-fusion":
            rankings = _fused(workspace, found, retriever, queries, rewrites)
        else:
            rankings = {query.id: list(found[retriever, query.text]) for query in queries}
        write_run(workspace.rankings(agent), {q: r for q, r in rankings.items() if (q, agent) not in not_asked}, agent)


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


def _fused(
    workspace: Workspace, found: Found, retriever: str, queries: Sequence[Query], rewrites: Sequence[Rewrite]
) -> Rankings:
    settings, rankings = workspace.experiment.retrieval, Rankings()
    for query, rewrite in zip(queries, rewrites, strict=True):
        if rewrite.error is None:
            lists = [[pid for pid, _ in found[retriever, text]] for text in (query.text, *rewrite.queries)]
            rankings[query.id] = rrf(lists, settings.rrf_k)[: settings.k]
    return rankings


@dataclass(frozen=True)
class VariantFound:
    """What one variant handed over: query id to its ranking, and why a query has none.

    search_s: seconds of searching for one query, over `n_timed` of them, without what rewriting took; None where it is
    not known.
    """

    rankings: Mapping[str, Ranking]
    errors: Mapping[str, str] = field(default_factory=dict)
    search_s: float | None = None
    n_timed: int = 1


def _screened(workspace: Workspace) -> dict[str, VariantFound]:
    """What the variants of agents handed over, by name. Raises InputError where one was not screened, or over others.

    A ranking is as many passages as its variant says.
    """
    names = searched_by(workspace.experiment)
    if not names:
        return {}
    passages = {passage.id: passage for passage in read_records(workspace.passages, Passage)}
    runs = {run.variant: run for run in read_records(workspace.screening_runs, VariantRun)}
    if missing := [name for name in names if name not in runs]:
        problem = f"variant '{plain(missing[0])}' is not in it"
        raise InputError(problem, file=workspace.screening_runs, remedy="run `ragassay screen` again")
    return {name: _found(workspace, runs[name], passages) for name in names}


def _found(workspace: Workspace, run: VariantRun, passages: Mapping[str, Passage]) -> VariantFound:
    path = workspace.screening / f"{run.variant}.trec"

    def cut(ranking: Ranking) -> Ranking:
        ids = [identifier for identifier, _ in ranking]
        if unknown := [identifier for identifier in ids if identifier not in passages]:
            problem = f"passage '{plain(unknown[0])}' is not in {workspace.passages.name}"
            raise InputError(problem, file=path, remedy="run `ragassay screen` again")
        return ranking[: handed_over(ids, run.k, run.tokens, lambda one: passage_tokens(passages[one]))]

    rankings = {query: cut(ranking) for query, ranking in read_run(path).items()}
    return VariantFound(rankings, run.errors, run.latency_p50_s, run.n_timed)


def _search_agents(
    workspace: Workspace, queries: Sequence[Query], found: Mapping[str, VariantFound]
) -> dict[str, list[AgentSearch]]:
    """Write `rankings/AGENT.trec` and `searches/AGENT.jsonl` of each agent of a table; its records.

    found: by the variant's name. A query whose rewriting or searching failed is in no ranking of that agent. Raises
    InputError where what was rewritten is not there.
    """
    agents, experiment = searching_agents(workspace.experiment), workspace.experiment
    if not agents:
        return {}
    rewrites = read_rewrites(workspace, queries, rewritings_for(experiment, list(agents.values())))
    rows: dict[str, list[AgentSearch]] = {}
    not_asked = read_not_asked(workspace.not_asked)
    for agent, variant in agents.items():
        used = [rewrites[one] for one in rewritings_for(experiment, [variant])]
        rows[agent] = [_record(query, [row[query.id] for row in used], found[variant]) for query in queries]
        there = [row.query_id for row in rows[agent] if row.error is None]
        answered = [query for query in there if (query, agent) not in not_asked]
        write_run(workspace.rankings(agent), {name: found[variant].rankings.get(name, []) for name in answered}, agent)
        write_records(workspace.searches(agent), rows[agent])
    return rows


def _record(query: Query, rewrites: Sequence[Rewrite], found: VariantFound) -> AgentSearch:
    """Of one query; what several rewritings took is added."""
    usage, latency_s = (rewrites[0].usage, rewrites[0].latency_s) if rewrites else (None, None)
    for more in rewrites[1:]:
        usage, latency_s = add_usage(usage or Usage(), more.usage), seconds(latency_s, more.latency_s)
    failed = next((f"rewriting the query failed: {row.error}" for row in rewrites if row.error is not None), None)
    error = failed or found.errors.get(query.id)
    queries = dict.fromkeys(text for row in rewrites for text in row.queries)
    return AgentSearch(
        query_id=query.id, queries=() if error else tuple(queries), usage=usage, latency_s=latency_s, error=error
    )


def _time(
    workspace: Workspace,
    built_in: _BuiltIn | None,
    queries: Sequence[Query],
    rewrites: Sequence[Rewrite],
    found: Mapping[str, VariantFound],
) -> None:
    """Write how long searching takes each agent, unless its answers come through files or batches and are not timed."""
    timed, known = timed_agents(workspace.experiment), read_search_times(workspace.search_times)
    times = list[SearchTime]()
    if built_in and any(name in timed for name, _, _ in workspace.experiment.built_in_agents()):
        with built_in.embedder.anew():
            times += _built_in_times(workspace, built_in, queries, rewrites, known)
    for agent, variant in searching_agents(workspace.experiment).items():
        if agent in timed:
            times += _variant_times(agent, found[variant], search_key(workspace, variant), known)
    if timed:
        write_records(workspace.search_times, times)
    else:
        workspace.search_times.unlink(missing_ok=True)


def _built_in_times(
    workspace: Workspace,
    built_in: _BuiltIn,
    queries: Sequence[Query],
    rewrites: Sequence[Rewrite],
    known: Mapping[str, SearchTime],
) -> list[SearchTime]:
    key = digest_json([digest_passages(workspace.passages, {OURS}), built_in_settings(workspace.experiment)])
    alone = [[query.text] for query in queries]
    fused = [[query.text, *row.queries] for query, row in zip(queries, rewrites, strict=False) if row.error is None]
    times = list[SearchTime]()
    for agent, name, kind in workspace.experiment.built_in_agents():
        if agent in known and known[agent].key == key:
            times.append(known[agent])
            continue
        search = partial(built_in.retrievers[name].search, k=workspace.experiment.retrieval.k)
        times += measure(agent, key, search, fused if kind == "rag-fusion" else alone)
    return times


def _variant_times(agent: str, found: VariantFound, key: str, known: Mapping[str, SearchTime]) -> list[SearchTime]:
    """How long searching took an agent, measured once: what is `known` of the same passages and settings stays."""
    if agent in known and known[agent].key == key:
        return [known[agent]]
    if found.search_s is None:
        return []
    return [SearchTime(agent=agent, key=key, n=found.n_timed, latency_s=round(found.search_s, 6))]


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


def _notices(searches: Mapping[str, Sequence[AgentSearch]]) -> list[str]:
    """A sentence for each agent with queries that failed."""
    notices = []
    for agent, rows in searches.items():
        failed = [row for row in rows if row.error is not None]
        if failed:
            first = f"{plain(failed[0].query_id)}: {plain(str(failed[0].error))}"
            notices.append(f"{agent}: {len(failed)} of {len(rows)} queries have no ranking; the first, {first}")
    return notices
