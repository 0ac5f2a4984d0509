"""What the retriever of an agent found: its ranking, and a record of each query's rewriting, failures included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import write_records
from ragassay.records import Query, Record, Usage
from ragassay.text import plain
from ragassay.trec import write_run

from .agents.rag import add_usage, seconds
from .agents.rag_fusion import Rewrite
from .dependencies import search_key
from .rankers.ranker import Ranking
from .rewriting.rewrite_queries import read_rewrites
from .rewriting.rewritings import rewritings_for
from .search_times import SearchTime


class AgentSearch(Record):
    """`searches/AGENT.jsonl`: what was searched for a query besides or in place of it, and why there is no ranking.

    usage, latency_s: of rewriting it; None of latency where that was not measured or nothing was rewritten.
    """

    query_id: str
    queries: tuple[str, ...] = ()
    usage: Usage | None = None
    latency_s: float | None = None
    error: str | None = None


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


def searching_agents(experiment: Experiment) -> dict[str, str]:
    """The agents of tables that have a retriever: name to the variant's."""
    return {agent.name: agent.variant.name for agent in experiment.table_agents() if agent.variant}


def search_agents(
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
    for agent, variant in agents.items():
        used = [rewrites[one] for one in rewritings_for(experiment, [variant])]
        rows[agent] = [_record(query, [row[query.id] for row in used], found[variant]) for query in queries]
        answered = [row.query_id for row in rows[agent] if row.error is None]
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


def search_times(
    workspace: Workspace, found: Mapping[str, VariantFound], known: Mapping[str, SearchTime]
) -> list[SearchTime]:
    """How long searching took each agent, measured once: what is `known` of the same passages and settings stays."""
    rows = list[SearchTime]()
    for agent, variant in searching_agents(workspace.experiment).items():
        key = search_key(workspace, variant)
        if agent in known and known[agent].key == key:
            rows.append(known[agent])
        elif (search_s := found[variant].search_s) is not None:
            rows.append(SearchTime(agent=agent, key=key, n=found[variant].n_timed, latency_s=round(search_s, 6)))
    return rows


def notices_of(searches: Mapping[str, Sequence[AgentSearch]]) -> list[str]:
    """A sentence for each agent with queries that failed."""
    notices = []
    for agent, rows in searches.items():
        failed = [row for row in rows if row.error is not None]
        if failed:
            first = f"{plain(failed[0].query_id)}: {plain(str(failed[0].error))}"
            notices.append(f"{agent}: {len(failed)} of {len(rows)} queries have no ranking; the first, {first}")
    return notices
