"""The stage `answer`: every agent's answer to every query, of those that we answer for and the user's own systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ragassay.calls.caller import Caller
from ragassay.calls.register import known_sum
from ragassay.errors import InputError
from ragassay.experiment.settings import Experiment
from ragassay.experiment.stage import (
    DISTINCT_ANSWERS,
    QUESTION_TOKENS,
    Load,
    count_queries,
    foreseen_load,
    mean_passage_tokens,
)
from ragassay.experiment.variants import TableAgent
from ragassay.experiment.workspace import StageOutcome, Workspace, read_not_asked
from ragassay.files import read_records, read_run, read_text, write_records, write_run
from ragassay.models.requests import Batch, Reply, Request
from ragassay.progress import Progress
from ragassay.prompts import Prompt, count_tokens
from ragassay.records import OWN_SYSTEM, Answer, AnswerRun, Passage, Query, StageUsage
from ragassay.text import plain

from .agents.answering import (
    Found,
    Rewrite,
    answer_record,
    answer_request,
    check_long_context,
    count_document_tokens,
    found_by_fusion,
    long_context_request,
    read_documents,
    seconds,
)
from .agents.own_agents import read_answers
from .agents.python_agent import ask_python_agent, load_python_agent
from .dependencies import ANSWER_PROMPT, LONG_CONTEXT_PROMPT, answers_label
from .rank_queries import AgentSearch, fuses, read_queries
from .search import read_search_times


def answers_foreseen(workspace: Workspace) -> list[Load]:
    """Of each model that answers; what agents retrieve, and where one is handed all documents, these.

    A passage is taken to be as long as [ingest]'s.
    """
    experiment, passage = workspace.experiment, mean_passage_tokens(workspace)
    settings, k = experiment.answer, experiment.retrieval.k
    template = count_tokens(read_text(ANSWER_PROMPT)) + QUESTION_TOKENS
    share, loads = count_queries(workspace) * DISTINCT_ANSWERS * settings.repeats, list[Load]()
    if built_in := experiment.built_in_agents():
        loads.append(foreseen_load("answers", settings.model, share * len(built_in), template + k * passage))
    for agent in experiment.table_agents():
        if agent.variant is None:
            tokens: float = count_document_tokens(read_documents(workspace))
        else:
            tokens = agent.variant.settings.tokens or (agent.variant.settings.k or k) * passage
        label = answers_label(agent.model, experiment)
        loads.append(foreseen_load(label, agent.model, share, template + tokens))
    return loads


class Owed(NamedTuple):
    """An answer that is owed: what was found, what is asked of which model; no request where that has failed."""

    found: Found
    request: Request | None
    model: str


def owed_answers(workspace: Workspace, queries: Sequence[Query], passages: Mapping[str, Passage]) -> Iterator[Owed]:
    """One for each query and agent that we answer for, the built-in ones first; none of what an agent is not asked by
    plan. Raises InputError."""
    not_asked = read_not_asked(workspace.not_asked)
    of_tables = (
        _of_long_context(workspace, agent, queries)
        if agent.variant is None
        else _of_table(workspace, agent, queries, passages)
        for agent in workspace.experiment.table_agents()
    )
    for one in chain(_of_built_in(workspace, queries, passages), *of_tables):
        if (one.found.query_id, one.found.agent) not in not_asked:
            yield one


def _of_built_in(workspace: Workspace, queries: Sequence[Query], passages: Mapping[str, Passage]) -> Iterator[Owed]:
    settings, search_s = workspace.experiment.answer, _search_s(workspace)
    prompt = Prompt.load(workspace.prompt_file(settings.prompt, ANSWER_PROMPT))
    rewrites: dict[str, Rewrite] = {}
    if fuses(workspace):
        rewrites = {rewrite.query_id: rewrite for rewrite in read_records(workspace.rewrites, Rewrite)}
        if missing := next((query for query in queries if query.id not in rewrites), None):
            raise _of_another_run(missing, workspace.rewrites)
    for agent, _, kind in workspace.experiment.built_in_agents():
        ranked = _ranked_passages(workspace, agent, passages, workspace.experiment.retrieval.k)
        for query in queries:
            found = Found(query.id, agent, ranked.get(query.id, ()), latency_s=search_s.get(agent))
            if kind == "rag-fusion":
                found = found_by_fusion(agent, rewrites[query.id], found.passages, found.latency_s)
            request = answer_request(prompt, query.text, found.passages) if found.error is None else None
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
        row, read = searches[query.id], ranked.get(query.id, ())
        # latency is that of rewriting and searching, None where either was to be measured and is not
        rewrite_s = row.latency_s if row.usage is not None else 0.0
        latency_s = rewrite_s if row.error is not None else seconds(rewrite_s, search_s)
        found = Found(query.id, agent.name, read, row.queries, row.usage, latency_s, row.error)
        request = answer_request(prompt, query.text, found.passages, agent.temperature)
        yield Owed(found, None if found.error is not None else request, agent.model)


def _of_long_context(workspace: Workspace, agent: TableAgent, queries: Sequence[Query]) -> Iterator[Owed]:
    """From all documents; there is nothing to search, so that latency is the reply's."""
    prompt = Prompt.load(workspace.prompt_file(agent.prompt, LONG_CONTEXT_PROMPT))
    documents = read_documents(workspace)
    for query in queries:
        request = long_context_request(prompt, query.text, documents, agent.temperature)
        yield Owed(Found(query.id, agent.name, latency_s=0.0), request, agent.model)


def _search_s(workspace: Workspace) -> dict[str, float]:
    return {agent: row.latency_s for agent, row in read_search_times(workspace.search_times).items()}


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


def answer_queries(workspace: Workspace, caller: Caller, progress: Progress | None = None) -> StageOutcome:
    """Write `answers/AGENT.jsonl` of every agent, one record a query it is asked in the order of the test set.

    The agents that we answer for do so from the passages in their rankings, or from all documents, `answer.repeats`
    times; the runs after the first go to `answer-runs/AGENT.jsonl`, run by run. A query that is in no ranking because
    its rewriting or its search failed is a record with that error. Two agents with the same passages for a query,
    model, prompt and temperature share one request, and its usage and seconds count for both; latency is from the query
    to the answer, rewriting and search included. A user's systems are checked before anything is paid and called last,
    of each of which `progress` is told; the passages they name become `rankings/AGENT.trec`. Raises InputError for
    files that do not fit each other.
    """
    queries, not_asked = read_queries(workspace), read_not_asked(workspace.not_asked)
    passages = {passage.id: passage for passage in read_records(workspace.passages, Passage)}
    answers, notices, python_agents = dict[str, list[Answer]](), list[str](), []
    own_agents, experiment = workspace.experiment.own_agents(), workspace.experiment
    with ExitStack() as closing:
        for agent in own_agents:
            if agent.kind == "file":
                rows, said = read_answers(agent, workspace, queries, passages)
                answers[agent.name] = [row for row in rows if (row.query_id, agent.name) not in not_asked]
                notices += said
        for agent in own_agents:
            if agent.kind == "python":
                python_agents.append(load_python_agent(agent, workspace))
                closing.callback(python_agents[-1].close)
        check_long_context(workspace)
        owed = list(owed_answers(workspace, queries, passages))
        replies = _ask(owed, experiment, caller)
        runs = [_run(owed, replies, run) for run in range(experiment.answer.repeats)]
        answers |= runs[0]
        for own in python_agents:
            asked = [query for query in queries if (query.id, own.name) not in not_asked]
            answers[own.name] = ask_python_agent(own, asked, passages.keys(), progress)
            own.close()
    _write(workspace, answers, runs[1:])
    metered = tuple(usage for own in python_agents if (usage := _metered_usage(own.name, answers[own.name])))
    failures, n_failed = [], 0
    for name in experiment.agent_names():
        if failed := [answer for answer in answers[name] if answer.error is not None]:
            error = plain(f"{failed[0].query_id}: {failed[0].error}")
            failures.append(f"{name}: {len(failed)} of {len(answers[name])} answers failed; the first, {error}")
            n_failed += len(failed)
    n_records = sum(map(len, answers.values()))
    return StageOutcome((*failures, *notices), n_records=n_records, n_failed=n_failed, usage=metered)


def _metered_usage(agent: str, answers: Sequence[Answer]) -> StageUsage | None:
    """What a system says that its answers took, failed ones included; None where it says nothing."""
    used = [answer.usage for answer in answers]
    if not any(value is not None for usage in used for value in usage.model_dump().values()):
        return None
    return StageUsage(
        stage="answer",
        model=f"{OWN_SYSTEM}{agent}",
        calls=len(answers),
        n_failed=sum(answer.error is not None for answer in answers),
        n_unmeasured=sum(usage.cost_usd is None for usage in used),
        input_tokens=known_sum(usage.input_tokens for usage in used),
        output_tokens=known_sum(usage.output_tokens for usage in used),
        cost_usd=known_sum(usage.cost_usd for usage in used),
    )


def _run(owed: Sequence[Owed], replies: Mapping[tuple[str, Request], Reply], run: int) -> dict[str, list[Answer]]:
    """Agent to its answers, of one run."""
    answers: dict[str, list[Answer]] = {}
    for found, request, model in owed:
        reply = None if request is None else replies[model, replace(request, sample=run)]
        answers.setdefault(found.agent, []).append(answer_record(found, reply))
    return answers


def _ask(owed: Sequence[Owed], experiment: Experiment, caller: Caller) -> dict[tuple[str, Request], Reply]:
    """The reply of each model to each distinct request in each run, in one ask."""
    distinct: dict[str, dict[Request, None]] = {}
    for one in owed:
        if one.request is not None:
            distinct.setdefault(one.model, {})[one.request] = None
    batches = []
    for model, requests in distinct.items():
        repeated = (replace(request, sample=run) for run in range(experiment.answer.repeats) for request in requests)
        batches.append(Batch(answers_label(model, experiment), model, tuple(repeated)))
    found = caller.ask(batches) if batches else []
    return {
        (batch.model, request): reply
        for batch, replies in zip(batches, found, strict=True)
        for request, reply in zip(batch.requests, replies, strict=True)
    }


def _write(
    workspace: Workspace, answers: Mapping[str, list[Answer]], again: Sequence[Mapping[str, list[Answer]]]
) -> None:
    """`again`: the runs after the first, run by run; no file where nothing is asked again."""
    for name in workspace.experiment.agent_names():
        write_records(workspace.answers(name), answers[name])
    for agent in workspace.experiment.own_agents():
        if rankings := {
            answer.query_id: [(passage, 1 / rank) for rank, passage in enumerate(dict.fromkeys(answer.passages), 1)]
            for answer in answers[agent.name]
            if answer.passages
        }:
            write_run(workspace.rankings(agent.name), rankings, agent.name)
        else:
            workspace.rankings(agent.name).unlink(missing_ok=True)
    for table in workspace.experiment.table_agents():
        if table.variant is None:
            workspace.rankings(table.name).unlink(missing_ok=True)
    if not workspace.experiment.run.until:  # at the next look its answers so far are owed again (`forget_answers`)
        forget_answers(workspace)
    for name in workspace.experiment.answered_agents():
        if again:
            runs = ((run, answer) for run, each in enumerate(again, 2) for answer in each.get(name, []))
            write_records(workspace.answer_runs(name), [AnswerRun(**one.model_dump(), run=run) for run, one in runs])
        else:
            workspace.answer_runs(name).unlink(missing_ok=True)


def forget_answers(workspace: Workspace) -> None:
    """Let go of the answers that the user's own systems gave, so that another run asks them anew."""
    for agent in workspace.experiment.own_agents():
        workspace.answers(f"{agent.name}.partial").unlink(missing_ok=True)
