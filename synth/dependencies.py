"""What the stages `ingest` and `questions` depend on besides files of stages before them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragassay.experiment.reading import own_files, own_modules, tables
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace

from .questions.slots import PROMPTS, ROLES_PROMPT, STEPS
from .questions.write import DEFAULT_PROMPT, GOLDEN_PROMPT


def ingest_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape pages, sections and passages; a semantic chunking without an embedding has [retrieval]'s."""
    values = tables(experiment) | {f"ingest.{key}": value for key, value in experiment.ingest.shaping().items()}
    values["corpus.exclude_pages"] = experiment.corpus.exclude_pages
    if chunkings := experiment.chunkings:
        values["chunking"] = [one.model_dump(mode="json", exclude_none=True) for one in chunkings]
        if any(one.by == "semantic" and one.embedding is None for one in chunkings):
            values["retrieval.embedding"] = experiment.retrieval.embedding
        if embeds_to_cut(experiment):
            values |= _other_vectors(experiment)
    return values | ({"corpus.language": experiment.corpus.language} if experiment.ingest.reader == "auto" else {})


def embeds_to_cut(experiment: Experiment) -> bool:
    """Whether some chunking is semantic."""
    return any(one.by == "semantic" for one in experiment.chunkings)


def own_cuts(workspace: Workspace) -> list[Path]:
    """The modules in the corpus folder that chunkings and the loader name."""
    named = [one.callable for one in workspace.experiment.chunkings] + [workspace.experiment.ingest.loader]
    return own_modules(workspace, *filter(None, named))


def questions_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape the test set; the embedding tells which questions say the same."""
    values = tables(experiment, "questions", models=tuple(sorted(experiment.questions.quota)))
    if chooses(experiment):
        values["retrieval.embedding"] = experiment.retrieval.embedding if embeds(experiment) else None
        values |= _other_vectors(experiment) if embeds(experiment) else {}
    return values | {"corpus.language": experiment.corpus.language}


def _other_vectors(experiment: Experiment) -> dict[str, Any]:
    settings = experiment.retrieval
    return {"retrieval.embedding_backend": settings.embedding_backend} if settings.other_vectors else {}


def chooses(experiment: Experiment) -> bool:
    """Whether the test set is chosen out of many questions, by their looks and meanings."""
    return experiment.questions.from_needs


def embeds(experiment: Experiment) -> bool:
    """Whether some retriever embeds, so that there is an embedding model."""
    return set(experiment.retrieval.retrievers) != {"bm25"}


def chosen_by(workspace: Workspace) -> list[Path]:
    """The passages that questions are held against, where they are chosen."""
    return [workspace.passages] if chooses(workspace.experiment) else []


def chosen_check(workspace: Workspace) -> list[Path]:
    """What is said of the questions that were chosen."""
    return [workspace.questions_check] if chooses(workspace.experiment) else []


def roles_written(workspace: Workspace) -> list[Path]:
    """Who asks, where a model is asked for it."""
    return [workspace.roles] if _writes_roles(workspace.experiment) else []


def decided_by_people(workspace: Workspace) -> list[Path]:
    """What people decided about questions, where they did."""
    return [workspace.question_edits] if workspace.question_edits.exists() else []


def _writes_roles(experiment: Experiment) -> bool:
    return chooses(experiment) and experiment.questions.roles == "corpus"


def questions_prompts(workspace: Workspace) -> list[Path]:
    """Those of the style: ours, and the user's own."""
    settings = workspace.experiment.questions
    if settings.style == "need":
        own = (getattr(settings, f"{step}_prompt") for step in STEPS)
        roles = [ROLES_PROMPT] if _writes_roles(workspace.experiment) else []
        return [*(PROMPTS / f"{step}.md" for step in STEPS), *roles, *own_files(workspace, *own)]
    golden = [GOLDEN_PROMPT] if settings.golden_answers else []
    return [DEFAULT_PROMPT, *golden, *own_files(workspace, settings.prompt)]
