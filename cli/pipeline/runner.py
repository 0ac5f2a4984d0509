"""`ragassay run` and one verb a stage: run what is stale, say why, keep a manifest."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.models.endpoint import provider_of
from ragassay.models.prices import cost_usd
from ragassay.progress import StderrProgress
from ragassay.records import OWN_SYSTEM
from ragassay.text import plain

from .loads import STAGES_THAT_ASK
from .manifest import Manifest, digests, make_manifest, read_manifest, why_run, write_manifest
from .opening import locked, open_workspace
from .stages import Stage, stages

if TYPE_CHECKING:
    from ragassay.calls.reply_cache import ReplyCache


def run_all(options: argparse.Namespace) -> int:
    """Bring every stage up to date, print the ranked table, and return the gravest exit status."""
    workspace = open_workspace(options)
    with locked(workspace):
        _check_evaluators(workspace)
        runner = Runner(workspace, options, sorted(workspace.experiment.model_names()))
        first, *others = stages()
        manifests = [runner.bring_up_to_date(first)]
        check_k(workspace)
        manifests += [runner.bring_up_to_date(stage) for stage in others]
    _say_results(workspace)
    return max(manifest.exit_status for manifest in manifests)


def _check_evaluators(workspace: Workspace) -> None:
    """Say before anything is paid for what `[evaluate]` names and cannot be had. Raises InputError."""
    if workspace.experiment.evaluates:
        from ragassay.evaluate.judging.catalog import experiment_evaluators
        from ragassay.prompts import Prompt

        experiment_evaluators(workspace)
        for name in workspace.experiment.evaluate.own_prompts():
            Prompt.load(workspace.corpus / name)


def check_k(workspace: Workspace) -> None:
    """Say before a question is paid for that k is larger than the corpus. Raises InputError."""
    with workspace.passages.open("rb") as lines:
        n_passages = sum(1 for _ in lines)
    if workspace.experiment.retrieval.k > n_passages:
        from ragassay.retrieval.retrievers import check_depth

        check_depth(workspace, n_passages)


def run_one(options: argparse.Namespace) -> int:
    """Bring one stage up to date; what it reads must be there."""
    workspace = open_workspace(options)
    stage = next(stage for stage in stages() if stage.name == options.stage)
    later = [second] if stage.name == "judge" and (second := workspace.experiment.judge.second) else []
    with locked(workspace):
        manifest = Runner(workspace, options, later).bring_up_to_date(stage)
    for notice in manifest.notices:
        print(f"note: {plain(notice)}")
    return manifest.exit_status


class Runner:
    """Runs stages of one workspace; the reply cache is read once, when a stage first needs it.

    `later_models` are checked for their keys before any of them is called.
    """

    def __init__(self, workspace: Workspace, options: argparse.Namespace, later_models: Sequence[str] = ()) -> None:
        self._workspace, self._later_models = workspace, later_models
        self._ignore_recorded: bool = options.ignore_recorded
        self._retry_failed: bool = options.retry_failed
        self._cache: ReplyCache | None = None
        self._spent_usd = 0.0
        self._unpriced: set[str] = set()
        self._say: Callable[[str], None] = lambda line: print(plain(line), file=sys.stderr, flush=True)

    def bring_up_to_date(self, stage: Stage) -> Manifest:
        """The stage's manifest, after running it if its inputs, settings or outputs are not as they were."""
        workspace = self._workspace
        inputs = self._inputs(stage)
        settings = stage.settings(workspace.experiment)
        path = workspace.manifests / f"{stage.name}.json"
        known = read_manifest(path)
        reason = why_run(known, inputs, settings, digests(stage.makes(workspace), workspace.results))
        if known is not None and reason is None and self._retry_failed and known.n_failed:
            reason = f"{known.n_failed} failed last time"
        if known is not None and reason is None and self._ignore_recorded and self._has_recorded(stage):
            reason = "--ignore-recorded"
        if known is not None and reason is None:
            failed = f" ({known.n_failed} failed; --retry-failed tries them again)" if known.n_failed else ""
            self._say(f"{stage.name}: up to date{failed}")
            ours = (usage for usage in known.usage if not usage.model.startswith(OWN_SYSTEM))
            self._spent_usd += sum(usage.cost_usd or 0.0 for usage in ours)
            return known
        self._say(f"{stage.name}: running ({reason})")
        return self._run(stage, inputs)

    def _run(self, stage: Stage, inputs: dict[str, str | None]) -> Manifest:
        from ragassay.calls.caller import Caller

        workspace = self._workspace
        path = workspace.manifests / f"{stage.name}.json"
        path.unlink(missing_ok=True)
        self._say_unpriced(stage)
        caller = Caller(workspace, stage.name, self._replies(), StderrProgress(), self._spent_usd, self._later_models)
        try:
            outcome = stage.run(workspace, caller)
        finally:
            caller.close()
        self._spent_usd = caller.spent_usd
        made = digests(stage.makes(workspace), workspace.results)
        settings = stage.settings(workspace.experiment)
        manifest = make_manifest(stage.name, inputs, settings, made, outcome, (*caller.usage(), *outcome.usage))
        write_manifest(path, manifest)
        workspace.push()
        failed = f", {manifest.n_failed} failed" if manifest.n_failed else ""
        self._say(f"{stage.name}: {manifest.n_records} records{failed}")
        return manifest

    def _has_recorded(self, stage: Stage) -> bool:
        return stage.name in STAGES_THAT_ASK and self._workspace.shipped_replies.is_dir()

    def _say_unpriced(self, stage: Stage) -> None:
        """Name the models that can be called and have no known price: the cost limit does not hold for them."""
        experiment = self._workspace.experiment
        named = {name.removeprefix("models.") for name in stage.settings(experiment) if name.startswith("models.")}
        for model in sorted(named - self._unpriced):
            asked = provider_of(model) in {"openai", "anthropic"}
            if asked and cost_usd(model, experiment.settings_of(model), 1, 1) is None:
                self._unpriced.add(model)
                advice = f'prices_usd_per_million under [models."{model}"] says it'
                self._say(f"note: the price of {model} is not known, so the cost limit does not count it; {advice}")

    def _inputs(self, stage: Stage) -> dict[str, str | None]:
        workspace = self._workspace
        needs = stage.needs(workspace)
        for path in needs:
            if not path.exists():
                raise InputError(
                    "is not there yet",
                    file=path,
                    remedy=f"`ragassay run {workspace.corpus}` makes everything that `{stage.name}` needs",
                )
        return digests([*needs, *stage.uses(workspace)], workspace.results)

    def _replies(self) -> ReplyCache:
        if self._cache is None:
            from ragassay.calls.reply_cache import ReplyCache

            shipped = () if self._ignore_recorded else (self._workspace.shipped_replies,)
            self._cache = ReplyCache(self._workspace.replies, shipped)
        return self._cache


def _say_results(workspace: Workspace) -> None:
    from rich.console import Console

    from ragassay.evaluate.report.terminal import ranked_table
    from ragassay.evaluate.results import Results
    from ragassay.files import read_json

    console = Console()
    console.print(ranked_table(Results.model_validate(read_json(workspace.figures))))
    console.print(f"report: {workspace.shown(workspace.report)}", markup=False, highlight=False, soft_wrap=True)
