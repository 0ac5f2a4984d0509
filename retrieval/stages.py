"""The stages `retrieve` and `answer`; what runs one is imported when it runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ragassay.experiment.reading import own_files, own_modules, tables
from ragassay.experiment.settings import Experiment
from ragassay.experiment.stage import Check, Load, Means, Stage
from ragassay.experiment.workspace import StageOutcome, Workspace, says_not_asked
from ragassay.models.endpoint import provider_of
from ragassay.progress import counter

from .dependencies import (
    ANSWER_PROMPT,
    LONG_CONTEXT_PROMPT,
    REWRITE_PROMPT,
    built_in_settings,
    rewrites_file,
    rewritings_for,
    search_settings,
    searched_by,
    searching_agents,
)


def ranked(workspace: Workspace) -> list[Path]:
    """The rankings of agents that we answer for; one that is handed all documents has none."""
    whole = {agent.name for agent in workspace.experiment.table_agents() if agent.variant is None}
    return [workspace.rankings(name) for name in workspace.experiment.answered_agents() if name not in whole]


def _searches_made(workspace: Workspace) -> list[Path]:
    """What was searched for agents of tables."""
    return [workspace.searches(name) for name in searching_agents(workspace.experiment)]


def _timed(workspace: Workspace) -> list[Path]:
    """Not for models that answer through files, whose replies are not timed."""
    models = {workspace.experiment.answer.model, *(agent.model for agent in workspace.experiment.table_agents())}
    return [] if {provider_of(model) for model in models} == {"file"} else [workspace.search_times]


def _screened(workspace: Workspace) -> list[Path]:
    """What the screening leaves of the variants that agents of tables search with."""
    names = searched_by(workspace.experiment)
    runs = [workspace.screening_runs] if names else []
    rewrites = [rewrites_file(workspace, one) for one in rewritings_for(workspace.experiment, names)]
    return [*runs, *(workspace.screening / f"{name}.trec" for name in names), *rewrites]


def _retrieve_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape rankings."""
    values, names = built_in_settings(experiment), searched_by(experiment)
    if names:
        values |= search_settings(experiment, names) | {"agents": searching_agents(experiment)}
    return values


def _retrieval_lacks(workspace: Workspace, run_code: bool) -> Iterator[Check]:
    del run_code
    from .retrievers import check_at_hand

    yield partial(check_at_hand, workspace)


def _rankings_foreseen(workspace: Workspace) -> list[Load]:
    from .rank_queries import rankings_foreseen

    return rankings_foreseen(workspace)


def _retrieve(workspace: Workspace, means: Means) -> StageOutcome:
    from .rank_queries import rank_queries

    what = "texts embedded" if workspace.experiment.retrieval.engine == "embedded" else "passages indexed"
    return rank_queries(workspace, means.caller, counter(means.progress, f"retrieve: {what}"))


RETRIEVE = Stage(
    "retrieve",
    needs=lambda w: [w.passages, w.queries, *_screened(w)],
    uses=lambda w: [REWRITE_PROMPT, *own_files(w, w.experiment.answer.fusion_prompt), *says_not_asked(w)],
    settings=_retrieve_settings,
    makes=lambda w: [w.rewrites, *_timed(w), *ranked(w), *_searches_made(w)],
    run=_retrieve,
    models=lambda e: [e.answer.model] if "rag-fusion" in e.answer.agents else [],
    foreseen=_rankings_foreseen,
    lacks=_retrieval_lacks,
)

_OF_OWN = {"name", "kind", "path", "callable", "writer"}
"""What shapes the answers of a system of the user's own."""


def _answer_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape answers."""
    values = tables(experiment, "answer", models=(experiment.answer.model,))
    for agent in experiment.table_agents():
        said = {"prompt": agent.prompt, "temperature": agent.temperature, "long_context": agent.variant is None}
        values |= tables(experiment, models=(agent.model,)) | {f"agents.{agent.name}": {"model": agent.model, **said}}
    return values | {"agent": [agent.model_dump(include=_OF_OWN) for agent in experiment.own_agents()]}


def _answer_files(workspace: Workspace) -> list[Path]:
    """Prompts, ours and the user's own; with an agent that is handed all documents their pages; and the user's own
    systems: files of answers, and code."""
    agents, own = workspace.experiment.table_agents(), workspace.experiment.own_agents()
    whole = [workspace.pages, LONG_CONTEXT_PROMPT] if any(agent.variant is None for agent in agents) else []
    prompts = own_files(workspace, workspace.experiment.answer.prompt, *(agent.prompt for agent in agents))
    code = own_modules(workspace, *(agent.callable for agent in own if agent.callable))
    return [ANSWER_PROMPT, *whole, *prompts, *own_files(workspace, *(agent.path for agent in own)), *code]


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
    from .answer_queries import answers_foreseen

    return answers_foreseen(workspace)


def _answer(workspace: Workspace, means: Means) -> StageOutcome:
    from .answer_queries import answer_queries

    return answer_queries(workspace, means.caller, means.progress)


ANSWER = Stage(
    "answer",
    needs=lambda w: [w.passages, w.queries, *ranked(w), *_searches_made(w)],
    uses=lambda w: [w.rewrites, *_timed(w), *_answer_files(w), *says_not_asked(w)],
    settings=_answer_settings,
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
