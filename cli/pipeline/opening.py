"""From the command line's words to a workspace: the corpus folder, its experiment, and the overrides."""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TextIO

from ragassay.errors import InputError
from ragassay.experiment.mirror import Address, Mirror
from ragassay.experiment.reading import line_of_table, load_experiment
from ragassay.experiment.settings import CorpusSettings, Experiment
from ragassay.experiment.variant_settings import AgentSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_json, read_records, read_text
from ragassay.models.endpoint import provider_of
from ragassay.records import Answer, Passage, Query
from ragassay.text import plain


def with_others(workspace: Workspace, folders: Sequence[Path]) -> Workspace:
    """With the agents of these results folders, one of ours having the folder's name behind its own.

    They take part through their files of answers. The replies there are read as those of the corpus folder are, so that
    what was asked of a judge there is not asked again where prompt, text and settings are the same.
    Raises InputError where a folder has no answers, or is the one that is written to.
    """
    for folder in folders:
        files = [one for one in sorted((folder / "answers").glob("*.jsonl")) if not one.match("*.partial.jsonl")]
        if not files or not (folder / "queries.jsonl").exists():
            remedy = "name the results folder of a finished run"
            raise InputError("there are no answers to queries in it", file=folder, remedy=remedy)
        if workspace.results.exists() and folder.samefile(workspace.results):
            raise InputError("is the results folder itself", file=folder, remedy="name another one")
        experiment = workspace.experiment
        taken, agents = set(experiment.agent_names()), list[AgentSettings]()
        for file in files:
            name = _name(file.stem, folder, taken)
            taken.add(name)
            agents.append(AgentSettings(name=name, kind="file", path=str(file.resolve())))
        joined = experiment.model_copy(update={"agent": (*experiment.agent, *agents)})
        workspace = replace(workspace, experiment=joined)
    return replace(workspace, others=tuple(folders))


def alone(workspace: Workspace) -> Workspace:
    """Without the agents of other folders."""
    places = {str((folder / "answers").resolve()) for folder in workspace.others}
    kept = tuple(one for one in workspace.experiment.agent if not (one.path and str(Path(one.path).parent) in places))
    return replace(workspace, experiment=workspace.experiment.model_copy(update={"agent": kept}), others=())


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
            ours, theirs = _texts(workspace.queries, Query), _texts(folder / "queries.jsonl", Query)
            if different := [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]:
                problem = f"query '{plain(different[0])}' is not the same as in {workspace.queries}"
                remedy = "only agents that were asked the same queries can meet"
                raise InputError(problem, file=folder / "queries.jsonl", remedy=remedy)
        if workspace.passages.exists():
            ours, theirs = _texts(workspace.passages, Passage), _texts(folder / "corpus.jsonl", Passage)
            for file in sorted((folder / "answers").glob("*.jsonl")):
                for row in read_records(file, Answer):
                    if different := [one for one in row.passages if one not in ours or ours[one] != theirs.get(one)]:
                        problem = f"passage '{plain(different[0])}' of agent '{plain(row.agent)}' is another one here"
                        remedy = "give both experiments the same [ingest] and [[chunking]] tables"
                        raise InputError(problem, file=file, remedy=remedy)


def _texts(path: Path, kind: type[Query] | type[Passage]) -> dict[str, str]:
    return {one.id: one.text for one in read_records(path, kind)}


def open_workspace(options: argparse.Namespace) -> Workspace:
    """The workspace of CORPUS with --results, --model and --max-cost applied, folders elsewhere mirrored.

    Raises InputError.
    """
    mirrors: list[Mirror] = []
    corpus = _here(options.corpus, mirrors)
    if mirrors and not (corpus / "experiment.toml").exists():
        raise InputError("there is no experiment.toml", file=mirrors[0].url, remedy="copy a corpus folder there")
    if not corpus.is_dir():
        problem = "is not a folder" if corpus.exists() else "there is no such folder"
        raise InputError(problem, file=corpus, remedy="`ragassay new CORPUS a.pdf` makes a corpus folder")
    experiment = load_experiment(corpus / "experiment.toml")
    _check(experiment, corpus)
    name = re.sub(r"[^\w.-]+", "-", corpus.resolve().name).strip("-.") or "corpus"
    results = _here(options.results or Path("results") / name, mirrors)
    if results.exists() and results.samefile(corpus):
        raise InputError("is the corpus folder itself", file=results, remedy="name another folder with --results")
    experiment = _overridden(experiment, options)
    _check_judge(experiment, corpus)
    workspace = Workspace(corpus, results, experiment, tuple(mirrors))
    if experiment.compare.matters or experiment.compare.measures:
        from ragassay.evaluate.figures.query_values import check_measures

        check_measures(workspace)  # what `compare` would refuse at the end is refused before the first stage
    return with_others(with_finalists(workspace), getattr(options, "others", ()))


def with_finalists(workspace: Workspace) -> Workspace:
    """With an agent for each finalist of the screening, where there was one and they go on, in place of earlier ones.

    Raises InputError.
    """
    if not (workspace.experiment.wants_finalists and workspace.screen.exists()):
        return workspace
    screened = read_json(workspace.screen)
    finalists = screened.get("finalists") if isinstance(screened, dict) else None
    if not isinstance(finalists, list) or not all(isinstance(name, str) for name in finalists):
        raise InputError("names no finalists", file=workspace.screen, remedy="remove it; `ragassay screen` makes it")
    return of_finalists(workspace, finalists)


def of_finalists(workspace: Workspace, names: Sequence[str]) -> Workspace:
    """With an agent for each variant of these names, in place of those that were finalists before."""
    tables = workspace.tables or workspace.experiment
    return replace(workspace, experiment=tables.with_finalists(names), tables=tables)


def _here(folder: Path | Address, mirrors: list[Mirror]) -> Path:
    """The folder on this machine: itself, or the mirror of an address, which joins `mirrors`."""
    if isinstance(folder, Path):
        return folder
    mirror = Mirror(folder)
    mirror.pull()
    mirrors.append(mirror)
    return mirror.folder


def _check(experiment: Experiment, corpus: Path) -> None:
    """What a late stage would stumble over is said before an early one is paid for: models, language, own prompts.

    What knows the kinds of retrievers and rerankers is imported only where there are some.
    """
    from ragassay.prompts import Prompt

    file = corpus / "experiment.toml"
    for (kind, settings), name in {(one.kind, one.settings): one.name for one in experiment.retriever}.items():
        from ragassay.retrieval.rankers.ranker import check_kind

        try:
            check_kind(kind, dict(settings))
        except InputError as error:
            line = line_of_table("retriever", name, read_text(file))
            problem = f"retriever '{name}': {error.problem}"
            raise InputError(problem, file=file, line=line, remedy=error.remedy) from None
    rerankers = {one.rerank for one in experiment.retriever if one.rerank}
    with _said_of(file):
        for reranker in sorted(rerankers):
            from ragassay.retrieval.rerankers.rerankers import kind_of

            kind_of(reranker)
        for model in sorted(experiment.model_names() - rerankers):
            provider_of(model)
        if experiment.corpus.language != CorpusSettings().language:
            from ragassay.retrieval.rankers.analysis import language_code

            language_code(experiment.corpus.language)
    answer, judge = experiment.answer, experiment.judge
    own = [experiment.questions.prompt, answer.prompt, answer.fusion_prompt]
    own += [agent.prompt for agent in experiment.table_agents()]
    for prompt in filter(None, [*own, *judge.own_prompts()]):
        Prompt.load(corpus / prompt)


@contextmanager
def _said_of(file: Path) -> Iterator[None]:
    """What is wrong is said of this file."""
    try:
        yield
    except InputError as error:
        raise InputError(error.problem, file=file, remedy=error.remedy) from None


def _check_judge(experiment: Experiment, corpus: Path) -> None:
    """That each judge can be asked as the settings have it, whichever model the options name.

    Only what may be asked for probabilities can be refused; the judges are imported where one may.
    """
    settings = experiment.judge
    if settings.mode != "probability" and not any(model.startswith("local:") for model in settings.all_models):
        return
    from ragassay.evaluate.judging.panel import as_second, judge_mode

    with _said_of(corpus / "experiment.toml"):
        for model in settings.models:
            judge_mode(experiment, model)
        if settings.second:
            judge_mode(as_second(experiment), settings.second)


def _overridden(experiment: Experiment, options: argparse.Namespace) -> Experiment:
    changes: dict[str, Any] = {}
    if (model := getattr(options, "model", None)) is not None:
        provider_of(model)
        questions = experiment.questions.model_copy(update={"quota": {model: sum(experiment.questions.quota.values())}})
        changes["questions"] = questions if experiment.questions.quota else experiment.questions
        changes["answer"] = experiment.answer.model_copy(update={"model": model})
        changes["judge"] = experiment.judge.model_copy(update={"model": model, "panel": (), "second": None})
        changes["evaluate"] = experiment.evaluate.model_copy(update={"model": None})
    if (limit := getattr(options, "max_cost", None)) is not None:
        if not limit > 0:
            raise InputError(f"--max-cost is {limit:g}", remedy="it must be more than 0")
        changes["run"] = experiment.run.model_copy(update={"max_cost_usd": limit})
    if until := getattr(options, "until", None):
        if experiment.not_until:
            raise InputError(f"--until {until}: {experiment.not_until}")
        run = changes.get("run", experiment.run)
        changes["run"] = run.model_copy(update={"until": until})
    return experiment.model_copy(update=changes)


@contextmanager
def locked(workspace: Workspace, *, wait: bool = False) -> Iterator[None]:
    """Hold the results folder, so that two runs do not write into it at once. Raises InputError where one does.

    wait: until the other is done, instead of raising.

    Where it is elsewhere it is held there, too, and what has changed is written back at the end, however it ends.
    """
    workspace.results.mkdir(parents=True, exist_ok=True)
    with (workspace.results / ".lock").open("w") as stream:
        if not _taken(stream, wait):
            shown = workspace.shown(workspace.results).removesuffix("/.")
            raise InputError("another run is writing here", file=shown, remedy="wait for it")
        _let_go_after_forks()
        _LOCKS.add(stream)
        for left_by_a_kill in workspace.results.rglob(".*.part"):
            left_by_a_kill.unlink(missing_ok=True)
        workspace.progress.unlink(missing_ok=True)
        mirror = next((one for one in workspace.mirrors if one.folder == workspace.results), None)
        with mirror.locked() if mirror else nullcontext():
            if mirror:
                mirror.pull()
            try:
                yield
            finally:
                workspace.push()


def _taken(lock: TextIO, wait: bool) -> bool:
    """Take the lock; it is tried again for a moment, since one who only looks whether a run holds it has it as well."""
    if wait:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return True
    for _ in range(3):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(0.02)
        else:
            return True
    return False


_LOCKS: weakref.WeakSet[TextIO] = weakref.WeakSet()


@cache
def _let_go_after_forks() -> None:
    """A process forked meanwhile, by a judge of the user's or a library, would hold a lock as long as it lives."""

    def let_go() -> None:
        for lock in _LOCKS:
            lock.close()

    os.register_at_fork(after_in_child=let_go)
