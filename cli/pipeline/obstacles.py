"""What stands in the way of a run and is known before anything is paid: all of it at once, a sentence each."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from ragassay.errors import InputError, Obstacles
from ragassay.experiment.variant_settings import AgentSettings
from ragassay.experiment.workspace import Workspace
from ragassay.records import Query
from ragassay.retrieval.rewriting.rewritings import rewritings_for

_SHARE_OF_DOCUMENTS = 2.0
_LEAST_ROOM = 20_000_000
"""What ingest writes is the text three times over: 1.3 times the PDF of avr-libc's manual; in bytes."""


def refuse(found: Sequence[InputError]) -> None:
    """Raises Obstacles where there are any."""
    if found:
        raise Obstacles(found)


def file_obstacles(workspace: Workspace) -> list[InputError]:
    """What is wrong with the user's own files, evaluators and disk; no stage can go on without it."""
    checks = [partial(_check_documents, workspace), partial(_check_questions, workspace)]
    checks += [partial(_check_evaluators, workspace), partial(_check_results, workspace)]
    return _found(checks)


def asking_obstacles(workspace: Workspace, stages: Sequence[str], *, run_code: bool = False) -> list[InputError]:
    """What these stages lack once a model is to be asked: keys, servers, parts of the installation, the user's systems.

    Where every reply is at hand none of it is needed. No model is called and no key sent; the user's own code is only
    read, unless it may `run_code`.
    """
    checks: list[Callable[[], None]] = [
        partial(_check_model, workspace, one) for one in models_called(workspace, stages)
    ]
    checks += [partial(_check_server, workspace, models) for models in _by_address(workspace, stages)]
    if "screen" in stages:
        checks += _variant_checks(workspace, run_code)
    if "retrieve" in stages:
        checks.append(partial(_check_retrieval, workspace))
    if "answer" in stages:
        checks += [partial(_check_agent, workspace, agent, run_code) for agent in workspace.experiment.own_agents()]
    if "evaluate" in stages and workspace.experiment.evaluates:
        checks.append(partial(_check_what_evaluators_load, workspace))
    return _found(checks)


def _found(checks: Sequence[Callable[[], None]]) -> list[InputError]:
    """What the checks raise, each sentence once."""
    found: dict[str, InputError] = {}
    for check in checks:
        try:
            check()
        except InputError as error:
            found.setdefault(str(error), error)
    return list(found.values())


def _check_documents(workspace: Workspace) -> None:
    from ragassay.synth.documents.doc_ids import document_files
    from ragassay.synth.pdf.choice import check_ocr

    document_files(workspace)
    if workspace.experiment.ingest.ocr:
        check_ocr(workspace.corpus / "experiment.toml")


def _check_questions(workspace: Workspace) -> None:
    from ragassay.synth.questions.own import read_expert_questions, read_own_queries

    settings = workspace.experiment.questions
    if settings.source != "synthetic":
        read_own_queries(workspace.own_queries)
    if settings.source != "own":
        read_expert_questions(workspace.expert_questions, needed=settings.few_shot > 0)


def _check_evaluators(workspace: Workspace) -> None:
    if workspace.experiment.evaluates:
        from ragassay.evaluate.judging.catalog import experiment_evaluators
        from ragassay.prompts import Prompt

        experiment_evaluators(workspace)
        for name in workspace.experiment.evaluate.own_prompts():
            Prompt.load(workspace.corpus / name)


def _check_results(workspace: Workspace) -> None:
    """The results folder can be made and written to, and has room for what ingest is about to write."""
    folder = next(place for place in (workspace.results, *workspace.results.absolute().parents) if place.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        why = "may not be written to" if folder.is_dir() else "is not a folder"
        remedy = "mend this, or name another folder with --results"
        raise InputError(f"cannot be used ({folder} {why})", file=workspace.results, remedy=remedy)
    if not workspace.passages.exists():
        _check_room(workspace, folder)


def _check_room(workspace: Workspace, folder: Path) -> None:
    from ragassay.synth.documents.doc_ids import document_files

    try:
        documents = document_files(workspace)
    except InputError:  # said by another check
        return
    size = sum((workspace.corpus / document).stat().st_size for document in documents)
    wanted, free = max(_LEAST_ROOM, _SHARE_OF_DOCUMENTS * size), shutil.disk_usage(folder).free
    if free < wanted:
        problem = f"{free / 1e6:,.0f} MB are free there, and the documents' text takes about {wanted / 1e6:,.0f} MB"
        raise InputError(problem, file=workspace.results, remedy="make room, or name another folder with --results")


def models_called(workspace: Workspace, stages: Sequence[str]) -> list[str]:
    """The models that the stages would call, sorted."""
    experiment = workspace.experiment
    asked = {
        "questions": experiment.questions.quota if experiment.questions.source != "own" else (),
        "retrieve": [experiment.answer.model] if "rag-fusion" in experiment.answer.agents else (),
        "screen": {one.model for one in rewritings_for(experiment)},
        "answer": [
            *([experiment.answer.model] if experiment.answer.agents else ()),
            *(agent.model for agent in experiment.table_agents()),
        ],
        "judge": experiment.judge.all_models,
        "evaluate": [experiment.evaluating_model] if experiment.evaluates else (),
    }
    return sorted({model for stage in stages for model in asked.get(stage, ())})


def _check_model(workspace: Workspace, model: str) -> None:
    from ragassay.models.endpoint import check_model

    check_model(model, workspace.experiment.settings_of(model))


def _by_address(workspace: Workspace, stages: Sequence[str]) -> list[list[str]]:
    """The models, those at one address together, of which one is enough to ask."""
    from ragassay.models.endpoint import base_url_of

    places: dict[str, list[str]] = {}
    for model in models_called(workspace, stages):
        if address := base_url_of(model, workspace.experiment.settings_of(model)):
            places.setdefault(address, []).append(model)
    return list(places.values())


def _check_server(workspace: Workspace, models: Sequence[str]) -> None:
    from ragassay.models.servers import check_reachable

    check_reachable(models[0], workspace.experiment.settings_of(models[0]))


def _check_retrieval(workspace: Workspace) -> None:
    from ragassay.retrieval.retrievers import check_at_hand

    check_at_hand(workspace)


def _variant_checks(workspace: Workspace, run_code: bool) -> Iterable[Callable[[], None]]:
    if not workspace.experiment.retriever:
        return ()
    from ragassay.retrieval.variants.screen_variants import variant_checks

    return variant_checks(workspace, run_code=run_code)


def _check_agent(workspace: Workspace, agent: AgentSettings, run_code: bool) -> None:
    from ragassay.retrieval.agents.python_agent import check_own_agent

    check_own_agent(agent, workspace, run_code=run_code)


def _check_what_evaluators_load(workspace: Workspace) -> None:
    from ragassay.evaluate.judging.catalog import experiment_evaluators

    try:
        evaluators = experiment_evaluators(workspace)
    except InputError:  # said by another check
        return
    for evaluator in evaluators:
        evaluator.check_at_hand()
    for query in _own_queries(workspace):
        for evaluator in evaluators:
            if not evaluator.lacks(query):
                evaluator.check_query(query)


def _own_queries(workspace: Workspace) -> Sequence[Query]:
    from ragassay.synth.questions.own import read_own_queries

    if workspace.experiment.questions.source == "synthetic":
        return ()
    try:
        return read_own_queries(workspace.own_queries)
    except InputError:  # said by another check
        return ()
