"""The stage `answer`: every agent's answer to every query, of those that we answer for and the user's own systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from ragassay.calls.caller import Caller
from ragassay.experiment.settings import Experiment
from ragassay.experiment.variant_settings import AgentSettings
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import read_records, write_records
from ragassay.models.requests import Batch, Reply, Request
from ragassay.progress import Progress
from ragassay.records import Answer, AnswerRun, Passage, Query
from ragassay.text import plain
from ragassay.trec import write_run

from .agents.documents import check_long_context
from .agents.file_agent import read_answers
from .agents.own_agents import metered_usage, own_rankings
from .agents.python_agent import PythonAgent, ask_python_agent, load_python_agent
from .agents.rag import answer_record, failed_record
from .dependencies import answers_label
from .owed_answers import Owed, owed_answers
from .rank_queries import read_queries


def answer_queries(workspace: Workspace, caller: Caller, progress: Progress | None = None) -> StageOutcome:
    """Write `answers/AGENT.jsonl` of every agent, one record a query in the order of the test set.

    The agents that we answer for do so from the passages in their rankings, or from all documents, `answer.repeats`
    times; the runs after the first go to `answer-runs/AGENT.jsonl`, run by run. A query that is in no ranking because
    its rewriting or its search failed is a record with that error. Two agents with the same passages for a query,
    model, prompt and temperature share one request, and its usage and seconds count for both; latency is from the query
    to the answer, rewriting and search included. A user's systems are checked before anything is paid and called last,
    of each of which `progress` is told; the passages they name become `rankings/AGENT.trec`. Raises InputError for
    files that do not fit each other.
    """
    queries = read_queries(workspace)
    passages = {passage.id: passage for passage in read_records(workspace.passages, Passage)}
    with ExitStack() as closing:
        answers, notices = _file_agents(workspace, queries, passages)
        python_agents = [
            _loaded(a, workspace, closing) for a in workspace.experiment.own_agents() if a.kind == "python"
        ]
        check_long_context(workspace)
        runs = _asked(workspace, queries, passages, caller)
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
            answers[agent.name], said = read_answers(agent, workspace, queries, passages)
            notices += said
    return answers, notices


def _asked(
    workspace: Workspace, queries: Sequence[Query], passages: Mapping[str, Passage], caller: Caller
) -> list[dict[str, list[Answer]]]:
    """Agent to its answers, for each run."""
    experiment = workspace.experiment
    owed = list(owed_answers(workspace, queries, passages))
    replies = _ask(owed, experiment, caller)
    return [_run(owed, replies, run) for run in range(experiment.answer.repeats)]


def _run(owed: Sequence[Owed], replies: Mapping[tuple[str, Request], Reply], run: int) -> dict[str, list[Answer]]:
    answers: dict[str, list[Answer]] = {}
    for found, request, model in owed:
        if request is None:
            record = failed_record(found, str(found.error))
        else:
            record = answer_record(found, replies[model, replace(request, sample=run)])
        answers.setdefault(found.agent, []).append(record)
    return answers


def _ask(owed: Sequence[Owed], experiment: Experiment, caller: Caller) -> dict[tuple[str, Request], Reply]:
    """The reply of each model to each distinct request in each run, in one ask."""
    distinct: dict[str, dict[Request, None]] = {}
    for one in owed:
        if one.request is not None:
            distinct.setdefault(one.model, {})[one.request] = None
    batches = []
    for model, requests in distinct.items():
        repeated = tuple(
            replace(request, sample=run) for run in range(experiment.answer.repeats) for request in requests
        )
        batches.append(Batch(answers_label(model, experiment), model, repeated))
    found = caller.ask(batches) if batches else []
    return {
        (batch.model, request): reply
        for batch, replies in zip(batches, found, strict=True)
        for request, reply in zip(batch.requests, replies, strict=True)
    }


def _write(workspace: Workspace, answers: Mapping[str, list[Answer]], python_agents: Sequence[PythonAgent]) -> None:
    for name in workspace.experiment.agent_names():
        write_records(workspace.answers(name), answers[name])
    for agent in workspace.experiment.own_agents():
        if rankings := own_rankings(answers[agent.name]):
            write_run(workspace.rankings(agent.name), rankings, agent.name)
        else:
            workspace.rankings(agent.name).unlink(missing_ok=True)
    for table in workspace.experiment.table_agents():
        if table.variant is None:
            workspace.rankings(table.name).unlink(missing_ok=True)
    for python_agent in python_agents:
        python_agent.partial.unlink(missing_ok=True)


def _write_runs(workspace: Workspace, runs: Sequence[Mapping[str, list[Answer]]]) -> None:
    """Run by run; no file where nothing is asked again."""
    for name in workspace.experiment.answered_agents():
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
