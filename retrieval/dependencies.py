"""What screenings, rankings and answers depend on besides files of stages before them. No model library is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ragassay.experiment.reading import own_files, own_modules, tables
from ragassay.experiment.settings import Experiment, is_served
from ragassay.experiment.tables import file_name
from ragassay.experiment.variant_settings import BY_MODEL, SECTIONS
from ragassay.experiment.workspace import Workspace, digest_passages
from ragassay.files import digest_json
from ragassay.models.endpoint import provider_of

from .agents import ANSWER_PROMPT, LONG_CONTEXT_PROMPT, REWRITE_PROMPT
from .rewriting import prompt_file, rewrites_file, rewritings_for

REACHED = ("alias", "replicas", "timeout_s", "retries", "verify_certificates", "aws_region", "aws_service")
"""How an OpenSearch server is reached, which shapes no ranking."""

OWN = {"name", "kind", "path", "callable", "writer"}
"""What shapes the answers of a system of the user's own."""


def retrieve_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape rankings."""
    names = searched_by(experiment)
    if not names:
        return built_in_settings(experiment)
    agents = {agent.name: agent.variant.name for agent in experiment.table_agents() if agent.variant}
    return built_in_settings(experiment) | search_settings(experiment, names) | {"agents": agents}


def built_in_settings(experiment: Experiment) -> dict[str, Any]:
    """Those of the built-in agents; the settings of a server shape no ranking where none is used."""
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


def search_settings(experiment: Experiment, names: Sequence[str]) -> dict[str, Any]:
    """Those that shape what variants of these names find."""
    values: dict[str, Any] = {}
    for variant in experiment.variants.needed(names):
        said = variant.settings.model_dump(mode="json", exclude={"name", "of"}, exclude_defaults=True)
        values[f"retriever.{variant.name}"] = {**said, "chunking": variant.chunking, "of": variant.of}
    values |= brought_by_others(variant.settings.kind for variant in experiment.variants.needed(names))
    searched = {variant.chunking for variant in experiment.variants.needed(names)}
    for chunking in experiment.chunkings:
        if chunking.name in searched:
            values[f"chunking.{chunking.name}"] = chunking.returns
    return values


def brought_by_others(kinds: Iterable[str]) -> dict[str, str]:
    """Which version of which package brings a kind of retriever that is not ours."""
    from .rankers.ranker import brought

    return {f"retrievers.{kind}": package for kind, package in brought(kinds).items()}


def search_key(workspace: Workspace, variant: str) -> str:
    """The digest of the passages that a variant searches and of what shapes its searches: that others join changes
    nothing."""
    experiment = workspace.experiment
    searched = {one.chunking for one in experiment.variants.needed([variant])}
    if any(one.name in searched and one.returns == "section" for one in experiment.chunkings):
        searched.add(SECTIONS)
    retrieval = experiment.retrieval.model_dump(mode="json", include={"engine", "embedding", "k", "rrf_k"})
    settings = search_settings(experiment, [variant]) | retrieval | {"language": experiment.corpus.language}
    return digest_json([digest_passages(workspace.passages, searched), settings])


def timed_agents(experiment: Experiment) -> set[str]:
    """The agents whose replies are timed: not those of a model that answers through files or batches."""
    models = {name: experiment.answer.model for name, _, _ in experiment.built_in_agents()}
    models |= {agent.name: agent.model for agent in experiment.table_agents()}
    direct = {model for model in models.values() if experiment.settings_of(model).mode != "batch"}
    return {name for name, model in models.items() if model in direct and provider_of(model) != "file"}


def searched_by(experiment: Experiment) -> list[str]:
    """The variants that agents of tables search with."""
    return list(dict.fromkeys(agent.variant.name for agent in experiment.table_agents() if agent.variant))


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
    said |= brought_by_others(one.kind for one in experiment.retriever)
    if asked := rewritings_for(experiment):
        said["rewritings"] = [one._asdict() for one in asked]
    left_out = {"retrieval.url", *(f"opensearch.{key}" for key in REACHED)}
    return {key: value for key, value in (values | said).items() if key not in left_out}


def rewriting_models(experiment: Experiment) -> set[str]:
    """The models that rewriting and reranking by variants ask."""
    tables = experiment.retriever
    rewriting = {one.rewrite_model or experiment.answer.model for one in tables if one.rewrite in BY_MODEL}
    return rewriting | ({one.rerank for one in tables if one.rerank} & experiment.model_names())


def screen_files(workspace: Workspace) -> list[Path]:
    """The user's own retrievers, and the prompts of what models rewrite."""
    prompts = sorted({prompt_file(workspace, one.way) for one in rewritings_for(workspace.experiment)})
    own = own_modules(workspace, *(one.callable for one in workspace.experiment.retriever if one.callable))
    return [*own, *prompts]


def screened(workspace: Workspace) -> list[Path]:
    """What the screening leaves of the variants that agents of tables search with."""
    names = searched_by(workspace.experiment)
    runs = [workspace.screening_runs] if names else []
    rewrites = [rewrites_file(workspace, one) for one in rewritings_for(workspace.experiment, names)]
    return [*runs, *(workspace.screening / f"{name}.trec" for name in names), *rewrites]


def retrieve_prompts(workspace: Workspace) -> list[Path]:
    """Ours, and the user's own."""
    return [REWRITE_PROMPT, *own_files(workspace, workspace.experiment.answer.fusion_prompt)]


def searches_made(workspace: Workspace) -> list[Path]:
    """What was searched for agents of tables."""
    agents = workspace.experiment.table_agents()
    return [workspace.searches(agent.name) for agent in agents if agent.variant]


def answer_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape answers; one run of the agents is what there was before there could be several."""
    values = tables(experiment, "answer", models=(experiment.answer.model,))
    if experiment.answer.repeats == 1:
        del values["answer.repeats"]
    for agent in experiment.table_agents():
        said = {"prompt": agent.prompt, "temperature": agent.temperature, "long_context": agent.variant is None}
        values |= tables(experiment, models=(agent.model,)) | {f"agents.{agent.name}": {"model": agent.model, **said}}
    return values | {"agent": [agent.model_dump(include=OWN) for agent in experiment.own_agents()]}


def answer_prompts(workspace: Workspace) -> list[Path]:
    """Ours, and the user's own; with an agent that is handed all documents their pages too."""
    agents = workspace.experiment.table_agents()
    whole = [workspace.pages, LONG_CONTEXT_PROMPT] if any(agent.variant is None for agent in agents) else []
    own = own_files(workspace, workspace.experiment.answer.prompt, *(agent.prompt for agent in agents))
    return [ANSWER_PROMPT, *whole, *own]


def answers_label(model: str, experiment: Experiment) -> str:
    """The label of requests for answers of a model; of [answer]'s model as ever."""
    return "answers" if model == experiment.answer.model else f"answers-{file_name(model)}"


def own_agents(workspace: Workspace) -> list[Path]:
    """What the user's own systems are: files of answers, and code."""
    agents = workspace.experiment.own_agents()
    code = own_modules(workspace, *(agent.callable for agent in agents if agent.callable))
    return [*own_files(workspace, *(agent.path for agent in agents)), *code]
