"""The stage `answer`: every agent's answer to every query, the built-in ones' and the user's own systems'."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from ragassay.calls.caller import Caller
from ragassay.errors import InputError
from ragassay.experiment.variant_settings import AgentSettings
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import read_records, write_records
from ragassay.models.requests import Batch, Reply, Request
from ragassay.progress import Progress
from ragassay.prompts import Prompt
from ragassay.records import Answer, AnswerRun, Passage, Query
from ragassay.text import plain
from ragassay.trec import read_run, write_run

from .agents import ANSWER_PROMPT
from .agents.file_agent import read_answers
from .agents.own_agents import metered_usage, own_rankings
from .agents.python_agent import PythonAgent, ask_python_agent, load_python_agent
from .agents.rag import Found, answer_record, answer_request, failed_record
from .agents.rag_fusion import Rewrite, found_by_fusion, found_nothing
from .rank_queries import fuses, read_queries
from .search_times import read_search_times


def answer_queries(workspace: Workspace, caller: Caller, progress: Progress | None = None) -> StageOutcome:
    """Write `answers/AGENT.jsonl` of every agent, one record a query in the order of the test set.

    Built-in agents answer from the passages in their rankings, `answer.repeats` times; the runs after the first go to
    `answer-runs/AGENT.jsonl`, run by run. A query that is in none of RAG-Fusion's because its
    rewriting failed is a record with that error. Two agents with the same passages for a query share one request, and
    its usage and seconds count for both; latency is from the query to the answer, rewriting and search included. A
    user's systems are checked before anything is paid and called last, of each of which `progress` is told; the
    passages they name become `rankings/AGENT.trec`. Raises InputError for files that do not fit each other.
    """
    queries = read_queries(workspace)
    passages = {passage.id: passage for passage in read_records(workspace.passages, Passage)}
    with ExitStack() as closing:
        answers, notices = _file_agents(workspace, queries, passages)
        python_agents = [
            _loaded(a, workspace, closing) for a in workspace.experiment.own_agents() if a.kind == "python"
        ]
        runs = _built_in(workspace, queries, passages, caller)
        answers |= runs[0]
        for own in python_agents:
            answers[own.name] = ask_python_agent(own, queries, passages.keys(), progress)
            own.close()
    _write(workspace, answers, python_agents)
    _write_runs(workspace, runs[1:])
    metered = tuple(usage for own in python_agents if (usage := metered_usage(own.name, answers[own.name])))
    return replace(_outcome(workspace, answers, notices), usage=metered)


def _loaded(agent: AgentSettings, workspace: Workspace, closing: ExitStack) -> PythonAgent:
    loaded = load_python_agent(agent, workspace)
    closing.callback(loaded.close)
    return loaded


def _file_agents(
    workspace: Workspace, queries: Sequence[Query], passages: Mapping[str, Passage]
) -> tuple[dict[str, list[Answer]], list[str]]:
    answers, notices = {}, list[str]()
    for agent in workspace.experiment.own_agents():
        if agent.kind == "file":
            answers[agent.name], said = read_answers(agent, workspace, queries, passages.keys())
            notices += said
    return answers, notices


def _built_in(
    workspace: Workspace, queries: Sequence[Query], passages: Mapping[str, Passage], caller: Caller
) -> list[dict[str, list[Answer]]]:
    """Agent to its answers, for each run."""
    settings = workspace.experiment.answer
    prompt = Prompt.load(workspace.prompt_file(settings.prompt, ANSWER_PROMPT))
    texts = {query.id: query.text for query in queries}
    owed = [
        (found, answer_request(prompt, texts[found.query_id], found.passages) if found.error is None else None)
        for found in _found(workspace, queries, passages)
    ]
    distinct = tuple(dict.fromkeys(request for _, request in owed if request is not None))
    requests = tuple(replace(request, sample=run) for run in range(settings.repeats) for request in distinct)
    replies = _ask(requests, settings.model, caller)
    return [_run(owed, replies, run) for run in range(settings.repeats)]


def _run(
    owed: Sequence[tuple[Found, Request | None]], replies: Mapping[Request, Reply], run: int
) -> dict[str, list[Answer]]:
    answers: dict[str, list[Answer]] = {}
    for found, request in owed:
        if request is None:
            record = failed_record(found, str(found.error))
        else:
            record = answer_record(found, replies[replace(request, sample=run)])
        answers.setdefault(found.agent, []).append(record)
    return answers


def _ask(requests: tuple[Request, ...], model: str, caller: Caller) -> dict[Request, Reply]:
    if not requests:
        return {}
    return dict(zip(requests, caller.ask([Batch("answers", model, requests)])[0], strict=True))


def _found(workspace: Workspace, queries: Sequence[Query], passages: Mapping[str, Passage]) -> Iterator[Found]:
    """What every built-in agent found for every query: one for each answer that is owed."""
    rewrites, search_s = _rewrites(workspace, queries), _search_s(workspace)
    for agent, _, kind in workspace.experiment.built_in_agents():
        ranked = _ranked_passages(workspace, agent, passages)
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
            problem = f"query '{plain(query.id)}' is not in it"
            raise InputError(problem, file=workspace.rewrites, remedy="run `ragassay retrieve` again")
    return rewrites


def _ranked_passages(
    workspace: Workspace, agent: str, passages: Mapping[str, Passage]
) -> dict[str, tuple[Passage, ...]]:
    """Query id to the first k passages of the agent's ranking."""
    path, k = workspace.rankings(agent), workspace.experiment.retrieval.k
    found = {}
    for query_id, ranking in read_run(path).items():
        ids = [passage_id for passage_id, _ in ranking[:k]]
        if unknown := [passage_id for passage_id in ids if passage_id not in passages]:
            problem = f"passage '{plain(unknown[0])}' is not in {workspace.passages.name}"
            raise InputError(problem, file=path, remedy="run `ragassay retrieve` again")
        found[query_id] = tuple(passages[passage_id] for passage_id in ids)
    return found


def _write(workspace: Workspace, answers: Mapping[str, list[Answer]], python_agents: Sequence[PythonAgent]) -> None:
    for name in workspace.experiment.agent_names():
        write_records(workspace.answers(name), answers[name])
    for agent in workspace.experiment.own_agents():
        if rankings := own_rankings(answers[agent.name]):
            write_run(workspace.rankings(agent.name), rankings, agent.name)
        else:
            workspace.rankings(agent.name).unlink(missing_ok=True)
    for python_agent in python_agents:
        python_agent.partial.unlink(missing_ok=True)


def _write_runs(workspace: Workspace, runs: Sequence[Mapping[str, list[Answer]]]) -> None:
    """Run by run; no file where nothing is asked again."""
    for name, _, _ in workspace.experiment.built_in_agents():
        rows = [
            AnswerRun(**answer.model_dump(), run=run)
            for run, answers in enumerate(runs, 2)
            for answer in answers.get(name, [])
        ]
        if runs:
            write_records(workspace.answer_runs(name), rows)
        else:
            workspace.answer_runs(name).unlink(missing_ok=True)


def _outcome(workspace: Workspace, answers: Mapping[str, list[Answer]], notices: list[str]) -> StageOutcome:
    failures = []
    for name in workspace.experiment.agent_names():
        failed = [answer for answer in answers[name] if answer.error is not None]
        if failed:
            error = plain(f"{failed[0].query_id}: {failed[0].error}")
            failures.append(f"{name}: {len(failed)} of {len(answers[name])} answers failed; the first, {error}")
    n_failed = sum(answer.error is not None for rows in answers.values() for answer in rows)
    n_records = sum(len(rows) for rows in answers.values())
    return StageOutcome((*failures, *notices), n_records=n_records, n_failed=n_failed)
