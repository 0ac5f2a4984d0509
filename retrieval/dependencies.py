"""What the stages `retrieve` and `answer` depend on besides files of stages before them. No model library is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragassay.experiment.dependencies import own_files, own_modules, tables
from ragassay.experiment.settings import Experiment, is_served
from ragassay.experiment.variant_settings import BY_MODEL
from ragassay.experiment.workspace import Workspace

from .agents import ANSWER_PROMPT, REWRITE_PROMPT

REACHED = ("alias", "replicas", "timeout_s", "retries", "verify_certificates", "aws_region", "aws_service")
"""How an OpenSearch server is reached, which shapes no ranking."""

OWN = {"name", "kind", "path", "callable", "writer"}
"""What shapes the answers of a system of the user's own."""


def retrieve_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape rankings; the settings of a server do not where none is used."""
    served = ["opensearch"] if experiment.retrieval.engine == "opensearch" else []
    embedding = experiment.retrieval.embedding
    models = (experiment.answer.model, *([embedding] if is_served(embedding) else []))
    values = tables(experiment, "retrieval", *served, models=models)
    values |= {f"answer.{key}": getattr(experiment.answer, key) for key in ("model", "agents", "fusion_queries")}
    values["corpus.language"] = experiment.corpus.language
    left_out = {"retrieval.url", *(f"opensearch.{key}" for key in REACHED)}
    if not experiment.retrieval.other_vectors:
        left_out.add("retrieval.embedding_backend")
    return {key: value for key, value in values.items() if key not in left_out}


def screen_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape the screening."""
    served = ["opensearch"] if experiment.retrieval.engine == "opensearch" else []
    values = tables(experiment, "retrieval", "ingest", *served, models=tuple(sorted(rewriting_models(experiment))))
    said = {
        "chunking": [one.model_dump(mode="json") for one in experiment.chunking],
        "retriever": [one.model_dump(mode="json") for one in experiment.retriever],
        "search": experiment.search_settings.model_dump(mode="json"),
        "corpus.language": experiment.corpus.language,
    }
    left_out = {"retrieval.url", *(f"opensearch.{key}" for key in REACHED)}
    return {key: value for key, value in (values | said).items() if key not in left_out}


def rewriting_models(experiment: Experiment) -> set[str]:
    """The models that rewriting and reranking by variants ask."""
    tables = experiment.retriever
    rewriting = {one.rewrite_model or experiment.answer.model for one in tables if one.rewrite in BY_MODEL}
    return rewriting | ({one.rerank for one in tables if one.rerank} & experiment.model_names())


def screen_files(workspace: Workspace) -> list[Path]:
    """The user's own retrievers."""
    return own_modules(workspace, *(one.callable for one in workspace.experiment.retriever if one.callable))


def retrieve_prompts(workspace: Workspace) -> list[Path]:
    """Ours, and the user's own."""
    return [REWRITE_PROMPT, *own_files(workspace, workspace.experiment.answer.fusion_prompt)]


def answer_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape answers; one run of the agents is what there was before there could be several."""
    values = tables(experiment, "answer", models=(experiment.answer.model,))
    if experiment.answer.repeats == 1:
        del values["answer.repeats"]
    return values | {"agent": [agent.model_dump(include=OWN) for agent in experiment.own_agents()]}


def answer_prompts(workspace: Workspace) -> list[Path]:
    """Ours, and the user's own."""
    return [ANSWER_PROMPT, *own_files(workspace, workspace.experiment.answer.prompt)]


def own_agents(workspace: Workspace) -> list[Path]:
    """What the user's own systems are: files of answers, and code."""
    agents = workspace.experiment.own_agents()
    code = own_modules(workspace, *(agent.callable for agent in agents if agent.callable))
    return [*own_files(workspace, *(agent.path for agent in agents)), *code]
