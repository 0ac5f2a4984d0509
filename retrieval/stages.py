"""The stages `retrieve` and `answer`; what runs one is imported when it runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ragassay.experiment.stage import Check, Load, Means, Stage
from ragassay.experiment.workspace import StageOutcome, Workspace, says_not_asked
from ragassay.models.endpoint import provider_of
from ragassay.progress import counter

from .dependencies import (
    answer_prompts,
    answer_settings,
    own_agents,
    retrieve_prompts,
    retrieve_settings,
    screened,
    searches_made,
)


def ranked(workspace: Workspace) -> list[Path]:
    """The rankings of agents that we answer for; one that is handed all documents has none."""
    whole = {agent.name for agent in workspace.experiment.table_agents() if agent.variant is None}
    return [workspace.rankings(name) for name in workspace.experiment.answered_agents() if name not in whole]


def _timed(workspace: Workspace) -> list[Path]:
    """Not for models that answer through files, whose replies are not timed."""
    models = {workspace.experiment.answer.model, *(agent.model for agent in workspace.experiment.table_agents())}
    return [] if {provider_of(model) for model in models} == {"file"} else [workspace.search_times]


def _retrieval_lacks(workspace: Workspace, run_code: bool) -> Iterator[Check]:
    del run_code
    from .retrievers import check_at_hand

    yield partial(check_at_hand, workspace)


def _rankings_foreseen(workspace: Workspace) -> list[Load]:
    from .foreseen import of_rankings

    return of_rankings(workspace)


def _retrieve(workspace: Workspace, means: Means) -> StageOutcome:
    from .rank_queries import rank_queries

    what = "texts embedded" if workspace.experiment.retrieval.engine == "embedded" else "passages indexed"
    return rank_queries(workspace, means.caller, counter(means.progress, f"retrieve: {what}"))


RETRIEVE = Stage(
    "retrieve",
    needs=lambda w: [w.passages, w.queries, *screened(w)],
    uses=lambda w: [*retrieve_prompts(w), *says_not_asked(w)],
    settings=retrieve_settings,
    makes=lambda w: [w.rewrites, *_timed(w), *ranked(w), *searches_made(w)],
    run=_retrieve,
    models=lambda e: [e.answer.model] if "rag-fusion" in e.answer.agents else [],
    foreseen=_rankings_foreseen,
    lacks=_retrieval_lacks,
)


def answer_runs(workspace: Workspace) -> list[Path]:
    """The answers of the runs after the first."""
    if workspace.experiment.answer.repeats == 1:
        return []
    return [workspace.answer_runs(name) for name in workspace.experiment.answered_agents()]


def _agents_lack(workspace: Workspace, run_code: bool) -> Iterator[Check]:
    from .agents.python_agent import check_own_agent

    for agent in workspace.experiment.own_agents():
        yield partial(check_own_agent, agent, workspace, run_code=run_code)


def _answers_foreseen(workspace: Workspace) -> list[Load]:
    from .foreseen import of_answers

    return of_answers(workspace)


def _answer(workspace: Workspace, means: Means) -> StageOutcome:
    from .answer_queries import answer_queries

    return answer_queries(workspace, means.caller, means.progress)


ANSWER = Stage(
    "answer",
    needs=lambda w: [w.passages, w.queries, *ranked(w), *searches_made(w)],
    uses=lambda w: [w.rewrites, *_timed(w), *answer_prompts(w), *own_agents(w), *says_not_asked(w)],
    settings=answer_settings,
    makes=lambda w: [
        *(w.answers(name) for name in w.experiment.agent_names()),
        *answer_runs(w),
        *(w.rankings(agent.name) for agent in w.experiment.own_agents()),
    ],
    run=_answer,
    models=lambda e: [*([e.answer.model] if e.answer.agents else []), *(agent.model for agent in e.table_agents())],
    foreseen=_answers_foreseen,
    lacks=_agents_lack,
)
