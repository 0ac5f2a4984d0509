"""`--with OTHER_RESULTS`: agents of another results folder over the same queries meet ours.

They take part through their files of answers. The replies there are read as those of the corpus folder are, so that
what was asked of a judge there is not asked again where prompt, text and settings are the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ragassay.errors import InputError
from ragassay.experiment.variant_settings import AgentSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Answer, Passage, Query
from ragassay.text import plain


def with_others(workspace: Workspace, folders: Sequence[Path]) -> Workspace:
    """With the agents of these results folders, one of ours having the folder's name behind its own.

    Raises InputError where a folder has no answers, or is the one that is written to.
    """
    for folder in folders:
        files = sorted((folder / "answers").glob("*.jsonl"))
        files = [file for file in files if not file.name.endswith(".partial.jsonl")]
        if not files or not (folder / "queries.jsonl").exists():
            remedy = "name the results folder of a finished run"
            raise InputError("there are no answers to queries in it", file=folder, remedy=remedy)
        if workspace.results.exists() and folder.samefile(workspace.results):
            raise InputError("is the results folder itself", file=folder, remedy="name another one")
        workspace = _joined(workspace, folder, files)
    return replace(workspace, others=tuple(folders))


def alone(workspace: Workspace) -> Workspace:
    """Without the agents of other folders."""
    places = {str((folder / "answers").resolve()) for folder in workspace.others}
    kept = tuple(one for one in workspace.experiment.agent if not (one.path and str(Path(one.path).parent) in places))
    return replace(workspace, experiment=workspace.experiment.model_copy(update={"agent": kept}), others=())


def _joined(workspace: Workspace, folder: Path, files: Sequence[Path]) -> Workspace:
    experiment = workspace.experiment
    taken, agents = set(experiment.agent_names()), list[AgentSettings]()
    for file in files:
        name = _name(file.stem, folder, taken)
        taken.add(name)
        agents.append(AgentSettings(name=name, kind="file", path=str(file.resolve())))
    return replace(workspace, experiment=experiment.model_copy(update={"agent": (*experiment.agent, *agents)}))


def _name(name: str, folder: Path, taken: set[str]) -> str:
    """The agent's name there, or where that is taken with the folder's behind it, and a number where need be."""
    place = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.resolve().name).strip("-.") or "other"
    wanted = [name, f"{name}-{place}", *(f"{name}-{place}-{n}" for n in range(2, len(taken) + 3))]
    return next(one for one in wanted if one not in taken)


def check_others(workspace: Workspace) -> None:
    """Raises InputError where another folder's queries are not ours, or a passage its agents name is not in ours.

    What is not there yet here is not looked at.
    """
    for folder in workspace.others:
        if workspace.queries.exists():
            _check_queries(workspace, folder / "queries.jsonl")
        if workspace.passages.exists():
            _check_passages(workspace, folder)


def _check_queries(workspace: Workspace, file: Path) -> None:
    ours = {query.id: query.text for query in read_records(workspace.queries, Query)}
    theirs = {query.id: query.text for query in read_records(file, Query)}
    if different := [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]:
        problem = f"query '{plain(different[0])}' is not the same as in {workspace.queries}"
        remedy = "only agents that were asked the same queries can meet"
        raise InputError(problem, file=file, remedy=remedy)


def _check_passages(workspace: Workspace, folder: Path) -> None:
    ours, theirs = _texts(workspace.passages), _texts(folder / "corpus.jsonl")
    for file in sorted((folder / "answers").glob("*.jsonl")):
        for row in read_records(file, Answer):
            if different := [one for one in row.passages if one not in ours or ours[one] != theirs.get(one)]:
                problem = f"passage '{plain(different[0])}' of agent '{plain(row.agent)}' is another one here"
                remedy = "give both experiments the same [ingest] and [[chunking]] tables"
                raise InputError(problem, file=file, remedy=remedy)


def _texts(corpus: Path) -> Mapping[str, str]:
    return {passage.id: passage.text for passage in read_records(corpus, Passage)}
