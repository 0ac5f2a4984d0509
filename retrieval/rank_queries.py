"""The stage `retrieve`: the ranking of every agent that we answer for, and the queries that a model rewrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil

from ragassay.calls.caller import Caller
from ragassay.errors import InputError
from ragassay.experiment.stage import QUESTION_TOKENS, Load, count_queries, foreseen_load
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
from ragassay.files import Rankings, digest_json, read_records, read_run, read_text, write_records, write_run
from ragassay.prompts import count_tokens, passage_tokens
from ragassay.records import Passage, Query, Record, Usage
from ragassay.text import plain

from .agents.answering import Rewrite, add_usage, seconds
from .dependencies import (
    REWRITE_PROMPT,
    REWRITING_FAILED,
    built_in_settings,
    of_rag_fusion,
    rewritings_for,
    search_key,
    searched_by,
    searching_agents,
    timed_agents,
)
from .rankers.combined import ids_of, rrf
from .rankers.embedding import BATCH_TEXTS, Embedder
from .rankers.embedding import LABEL as EMBEDDED
from .rankers.ranker import Ranker, Ranking
from .retrievers import build_retrievers, make_embedder
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


def rankings_foreseen(workspace: Workspace) -> list[Load]:
    """RAG-Fusion's rewriting, unless a variant asks for the same, and the passages and queries that a server embeds,
    rewritten ones too, as though none were kept."""
    n, experiment, own = count_queries(workspace), workspace.experiment, of_rag_fusion(workspace.experiment)
    model, loads = experiment.retrieval.embedding, list[Load]()
    if fuses(workspace) and own not in rewritings_for(experiment):
        tokens = count_tokens(read_text(REWRITE_PROMPT)) + QUESTION_TOKENS
        loads.append(foreseen_load("rewrites", own.model, n, tokens))
    if model in experiment.servers() and any(name != "bm25" for _, name, _ in experiment.built_in_agents()):
        passages = [count_tokens(passage.title + passage.text) for passage in read_passages(workspace.passages)]
        queries = n * (1 + experiment.answer.fusion_queries * fuses(workspace))
        calls = ceil(len(passages) / BATCH_TEXTS) + ceil(queries / BATCH_TEXTS)
        loads.append(Load(EMBEDDED, model, calls, 0, sum(passages) + queries * QUESTION_TOKENS, 0))
    return loads


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
    by plan. Raises InputError where k is larger than the corpus, there are no queries, or two share an id.
    """
    experiment = workspace.experiment
    built_in = [name for name, _, _ in experiment.built_in_agents()]
    if not built_in and not searching_agents(experiment):
        return StageOutcome()
    queries, retrievers = read_queries(workspace), dict[str, Ranker]()
    embedder = make_embedder(workspace, progress, caller if isinstance(caller, Caller) else None) if built_in else None
    if embedder:
        retrievers = build_retrievers(workspace, read_passages(workspace.passages), progress, embedder)
    fusion = _rewrite(workspace, queries, caller) if fuses(workspace) else []
    _rank_built_in(workspace, retrievers, queries, fusion)
    found = _screened(workspace)
    searches = _search_agents(workspace, queries, found)
    _time(workspace, retrievers, embedder, queries, fusion, found)
    ranking = {*searches, *built_in}
    n_out = sum(agent in ranking for _, agent in read_not_asked(workspace.not_asked))
    return _outcome(workspace, fusion, searches, len(queries) * len(ranking) - n_out)


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
    workspace: Workspace,
    retrievers: Mapping[str, Ranker],
    queries: Sequence[Query],
    rewrites: Sequence[Rewrite],
) -> None:
    """Every text that some agent searches, once through each retriever; and what the agents make of that."""
    settings, not_asked = workspace.experiment.retrieval, read_not_asked(workspace.not_asked)
    texts = list(dict.fromkeys([query.text for query in queries] + [text for row in rewrites for text in row.queries]))
    found = {name: dict(zip(texts, one.search(texts, settings.k), strict=True)) for name, one in retrievers.items()}
    for agent, retriever, kind in workspace.experiment.built_in_agents():
        by_text = found[retriever]
        rankings: Rankings = {query.id: by_text[query.text] for query in queries}
        if kind == "rag-fusion":
            rankings = {
                query.id: rrf([ids_of(by_text[text]) for text in (query.text, *row.queries)], settings.rrf_k)
                for query, row in zip(queries, rewrites, strict=True)
                if row.error is None
            }
        asked = {query: row[: settings.k] for query, row in rankings.items() if (query, agent) not in not_asked}
        write_run(workspace.rankings(agent), asked, agent)


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
    again = "run `ragassay screen` again"
    if missing := [name for name in names if name not in runs]:
        raise InputError(f"variant '{plain(missing[0])}' is not in it", file=workspace.screening_runs, remedy=again)
    found = {}
    for run in (runs[name] for name in names):
        path, rankings = workspace.screening / f"{run.variant}.trec", dict[str, Ranking]()
        for query, ranking in read_run(path).items():
            if unknown := [one for one in ids_of(ranking) if one not in passages]:
                problem = f"passage '{plain(unknown[0])}' is not in {workspace.passages.name}"
                raise InputError(problem, file=path, remedy=again)
            n = handed_over(ids_of(ranking), run.k, run.tokens, lambda one: passage_tokens(passages[one]))
            rankings[query] = ranking[:n]
        found[run.variant] = VariantFound(rankings, run.errors, run.latency_p50_s, run.n_timed)
    return found


def _search_agents(
    workspace: Workspace, queries: Sequence[Query], found: Mapping[str, VariantFound]
) -> dict[str, list[AgentSearch]]:
    """Write `rankings/AGENT.trec` and `searches/AGENT.jsonl` of each agent of a table; its records.

    found: by the variant's name. A query whose rewriting or searching failed is in no ranking of that agent. Raises
    InputError where what was rewritten is not there.
    """
    experiment, rows = workspace.experiment, dict[str, list[AgentSearch]]()
    rewrites = read_rewrites(workspace, queries, rewritings_for(experiment, searched_by(experiment)))
    not_asked = read_not_asked(workspace.not_asked)
    for agent, variant in searching_agents(experiment).items():
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
    failed = next((f"{REWRITING_FAILED}: {row.error}" for row in rewrites if row.error is not None), None)
    error = failed or found.errors.get(query.id)
    queries = () if error else tuple(dict.fromkeys(text for row in rewrites for text in row.queries))
    return AgentSearch(query_id=query.id, queries=queries, usage=usage, latency_s=latency_s, error=error)


def _time(
    workspace: Workspace,
    retrievers: Mapping[str, Ranker],
    embedder: Embedder | None,
    queries: Sequence[Query],
    rewrites: Sequence[Rewrite],
    found: Mapping[str, VariantFound],
) -> None:
    """Write how long searching takes each agent, unless its answers come through files or batches and are not timed.

    It is measured once: what is known of the same passages and settings stays.
    """
    experiment, times = workspace.experiment, list[SearchTime]()
    timed, known = timed_agents(experiment), read_search_times(workspace.search_times)
    alone = [[query.text] for query in queries]
    fused = [[query.text, *row.queries] for query, row in zip(queries, rewrites, strict=False) if row.error is None]
    for agent, name, kind in experiment.built_in_agents():
        if agent in timed and embedder:
            key = digest_json([digest_passages(workspace.passages, {OURS}), built_in_settings(experiment)])
            if agent in known and known[agent].key == key:
                times.append(known[agent])
                continue
            search = partial(retrievers[name].search, k=experiment.retrieval.k)
            with embedder.anew():
                times += measure(agent, key, search, fused if kind == "rag-fusion" else alone)
    for agent, variant in searching_agents(experiment).items():
        if agent in timed:
            key, search_s = search_key(workspace, variant), found[variant].search_s
            if agent in known and known[agent].key == key:
                times.append(known[agent])
            elif search_s is not None:
                n = found[variant].n_timed
                times.append(SearchTime(agent=agent, key=key, n=n, latency_s=round(search_s, 6)))
    if timed:
        write_records(workspace.search_times, times)
    else:
        workspace.search_times.unlink(missing_ok=True)


def _outcome(
    workspace: Workspace,
    rewrites: Sequence[Rewrite],
    searches: Mapping[str, Sequence[AgentSearch]],
    n_records: int,
) -> StageOutcome:
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
    n_failed = len(failed) * sum(kind == "rag-fusion" for _, _, kind in workspace.experiment.built_in_agents())
    for agent, rows in searches.items():
        if without := [row for row in rows if row.error is not None]:
            first = f"{plain(without[0].query_id)}: {plain(str(without[0].error))}"
            notices.append(f"{agent}: {len(without)} of {len(rows)} queries have no ranking; the first, {first}")
            n_failed += len(without)
    return StageOutcome(tuple(notices), n_records=n_records, n_failed=n_failed)
