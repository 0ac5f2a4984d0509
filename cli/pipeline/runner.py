"""`ragassay run` and one verb a stage: run what is stale, say why, keep a manifest."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.errors import InputError, NothingCame
from ragassay.evaluate.stages import DRAW
from ragassay.experiment.stage import Stage
from ragassay.experiment.workspace import Workspace, count_passages
from ragassay.files import digest_file, read_json
from ragassay.models.providers import cost_usd, served_cost_usd
from ragassay.records import OWN_SYSTEM
from ragassay.text import one_line, plain

from ..terminal import print_notes
from .manifest import Manifest, WrittenProgress, inputs_of, read_manifest, standing_at, why_stale, write_manifest
from .opening import alone, check_others, locked, open_workspace, with_finalists, with_others
from .stages import QUESTIONS, STAGES, asking_obstacles, file_obstacles, means_of, refuse, stages_of

if TYPE_CHECKING:
    from ragassay.calls.reply_cache import ReplyCache


def run_all(options: argparse.Namespace) -> int:
    """Bring every stage up to date, print the ranked table, and return the gravest exit status."""
    workspace, exit_status = bring_all(options)
    if workspace.experiment.retriever:
        _say_screening(workspace)
    from ragassay.evaluate.report.terminal import RankedTable
    from ragassay.evaluate.results import Results

    table = RankedTable(Results.model_validate(read_json(workspace.figures)))
    _say_page(table, f"report: {workspace.shown(workspace.report)}")
    return exit_status


def bring_all(options: argparse.Namespace) -> tuple[Workspace, int]:
    """Bring every stage up to date; the workspace and the gravest exit status. Prints to stderr only."""
    workspace = open_workspace(options)
    refuse(file_obstacles(workspace))
    with locked(workspace):
        first, *others = stages_of(workspace.experiment)
        runner = Runner(workspace, options, others)
        if runner.nothing_received:
            runner.refuse_obstacles()
        manifests = [runner.bring_up_to_date(first)]
        check_k(workspace)
        check_others(workspace)
        for stage in others:
            manifests.append(runner.bring_up_to_date(stage))
            if workspace.queries in stage.makes(workspace):
                check_others(workspace)
        if workspace.experiment.run.until:
            manifests += runner.until_known(others[others.index(DRAW) :])
    return workspace, max(manifest.exit_status for manifest in manifests)


def check_k(workspace: Workspace) -> None:
    """Say before a question is paid for that k is larger than the corpus, or that it is too long for a prompt.

    Raises InputError.
    """
    if any(agent.variant is None for agent in workspace.experiment.table_agents()):
        from ragassay.retrieval.agents.answering import check_long_context

        check_long_context(workspace)
    if workspace.experiment.retriever:
        from ragassay.retrieval.variants.screen_variants import check_passages

        check_passages(workspace)
    n_passages = count_passages(workspace.passages)
    if workspace.experiment.retrieval.k > n_passages:
        from ragassay.retrieval.retrievers import check_depth

        check_depth(workspace, n_passages)


def run_one(options: argparse.Namespace) -> int:
    """Bring one stage up to date; what it reads must be there."""
    workspace = open_workspace(options)
    stage = next(stage for stage in STAGES if stage.name == options.verb)
    if not stage.applies(workspace.experiment):
        file, remedy = workspace.corpus / "experiment.toml", "add one (docs/retrievers.md shows them)"
        raise InputError("has no [[retriever]] table, so there is nothing to screen", file=file, remedy=remedy)
    with locked(workspace):
        runner = Runner(workspace, options, [stage])
        if options.model is None:
            runner.say_stale(stage)
        manifest = runner.bring_up_to_date(stage)
    told = _say_screening(workspace) if workspace.screen in stage.makes(workspace) else ()
    print_notes(notice for notice in manifest.notices if notice not in told)
    return manifest.exit_status


class Runner:
    """Runs stages of one workspace; the reply cache is read once, when a stage first needs it, and a file that stages
    share is digested once between two that run.

    What `to_run` and no stage before the one that runs needs is checked before a model is asked.
    """

    def __init__(self, workspace: Workspace, options: argparse.Namespace, to_run: Sequence[Stage] = ()) -> None:
        self._workspace, self._to_run = workspace, tuple(to_run)
        self._ignore_recorded: bool = options.ignore_recorded
        self._retry_failed: bool = options.retry_failed
        self._cache: ReplyCache | None = None
        self._spent_usd: dict[str, float] = {}
        self._checked = False
        self._unpriced: set[str] = set()
        self._digest = cache(digest_file)
        self._say: Callable[[str], None] = lambda line: print(plain(line), file=sys.stderr, flush=True)

    def bring_up_to_date(self, stage: Stage) -> Manifest:
        """The stage's manifest, after running it if its inputs, settings or outputs are not as they were."""
        workspace = self._workspace
        inputs = self._inputs(stage)
        known = read_manifest(workspace, stage)
        reason = why_stale(known, stage, workspace, inputs, self._digest)
        if known is not None and reason is None and self._retry_failed and known.n_failed:
            reason = f"{known.n_failed} failed last time"
        recorded = self._ignore_recorded and stage.foreseen is not None and workspace.shipped_replies.is_dir()
        if reason is None and recorded:
            reason = "--ignore-recorded"
        if known is not None and reason is None:
            failed = f" ({known.n_failed} failed; --retry-failed tries them again)" if known.n_failed else ""
            self._say(f"{stage.name}: up to date{failed}")
            ours = (usage for usage in known.usage if not usage.model.startswith(OWN_SYSTEM))
            self._spent_usd[stage.name] = sum(usage.cost_usd or 0.0 for usage in ours)
            return known
        self._say(f"{stage.name}: running ({reason})")
        return self._run(stage, inputs)

    def until_known(self, stages: Sequence[Stage]) -> list[Manifest]:
        """Their last manifests, when a look says that it is enough; they have been run for the first look."""
        from ragassay.evaluate.looks import take
        from ragassay.retrieval.answer_queries import forget_answers

        found: list[Manifest] = []
        while True:
            taken = take(self._workspace)
            known = "decided" if taken.decided else "no other is better by the margin" if taken.safe else "open"
            self._say(f"look {taken.look} of {taken.looks}, {taken.queries} of {taken.planned} queries: {known}")
            if not taken.goes_on:
                forget_answers(self._workspace)
                return found
            self._digest = cache(digest_file)
            found = []
            if self._workspace.experiment.by_look:
                self._say(f"{QUESTIONS.name}: running (look {taken.look + 1})")
                found = [self._run(QUESTIONS, self._inputs(QUESTIONS))]
            found += [self.bring_up_to_date(stage) for stage in stages]

    def say_stale(self, before: Stage) -> None:
        """Name the stages before this one that were run and would run again: it reads what they left."""
        workspace = self._workspace
        for stage in takewhile(lambda stage: stage.name != before.name, stages_of(workspace.experiment)):
            known = read_manifest(workspace, stage)
            if known is None:
                continue
            with suppress(InputError):  # what it needs is not here any more: for whoever runs that stage
                inputs = inputs_of(stage, workspace, self._digest)
                if reason := why_stale(known, stage, workspace, inputs, self._digest):
                    verb = "run" if stage is DRAW else stage.name
                    mend = f"`ragassay {verb} {workspace.corpus}` brings it up to date"
                    self._say(f"note: {stage.name} is not up to date ({reason}); {mend}")

    def _run(self, stage: Stage, inputs: dict[str, str | None]) -> Manifest:
        from ragassay.calls.caller import Caller
        from ragassay.calls.reply_cache import ReplyCache

        workspace = self._workspace
        (workspace.manifests / f"{stage.name}.json").unlink(missing_ok=True)
        self._say_unpriced(stage)
        self._to_run = self._to_run[self._to_run.index(stage) :] if stage in self._to_run else self._to_run
        told = WrittenProgress(workspace.progress, stage.name)
        before = sum(usd for name, usd in self._spent_usd.items() if name != stage.name)  # its own replies are kept
        if self._cache is None:
            self._cache = ReplyCache(workspace.replies, self._recorded())
        caller = Caller(workspace, stage.name, self._cache, told, before, self.refuse_obstacles)
        with closing(caller), standing_at(workspace, stage.name):
            outcome = stage.run(workspace, means_of(workspace, caller, told))
        if n := caller.register.all_failed:
            said = f"every one of the {n} requests of this stage failed; --retry-failed makes them again"
            outcome = replace(outcome, notices=(said, *outcome.notices), exit_status=NothingCame.exit_status)
        self._spent_usd[stage.name] = caller.budget.spent_usd - before
        manifest = write_manifest(workspace, stage, inputs, outcome, caller.usage())
        self._digest = cache(digest_file)
        if workspace.screen in stage.makes(workspace):
            self._workspace = with_others(with_finalists(alone(workspace)), workspace.others)
        workspace.push()
        failed, error = f", {manifest.n_failed} failed" if manifest.n_failed else "", caller.register.commonest_error
        why = f", the commonest error: {one_line(error)[:200]}" if failed and error else ""
        self._say(f"{stage.name}: {manifest.n_records} records{failed}{why}")
        return manifest

    @property
    def nothing_received(self) -> bool:
        """Whether no model has ever answered, so that one will surely be asked."""
        from ragassay.calls.reply_cache import any_reply

        return not any_reply([*self._recorded(), self._workspace.replies])

    def refuse_obstacles(self) -> None:
        """Raise Obstacles where something that this stage or a later one needs is known to be missing; said once."""
        if not self._checked:
            refuse(asking_obstacles(self._workspace, self._to_run, run_code=True))
        self._checked = True

    def _say_unpriced(self, stage: Stage) -> None:
        """Name the models that can be called and have no known price: the cost limit does not hold for them."""
        experiment = self._workspace.experiment
        named = {name.removeprefix("models.") for name in stage.settings(experiment) if name.startswith("models.")}
        for model in sorted(named - self._unpriced):
            asked = model.partition(":")[0] in {"openai", "anthropic", "rerank"}
            settings = experiment.settings_of(model)
            if asked and cost_usd(model, settings, 1, 1) is None and served_cost_usd(model, settings, 1, 1) is None:
                self._unpriced.add(model)
                advice = f'prices_usd_per_million under [models."{model}"] says it'
                self._say(f"note: the price of {model} is not known, so the cost limit does not count it; {advice}")

    def _inputs(self, stage: Stage) -> dict[str, str | None]:
        workspace = self._workspace
        if missing := next((path for path in stage.needs(workspace) if not path.exists()), None):
            remedy = f"`ragassay run {workspace.corpus}` makes everything that `{stage.name}` needs"
            raise InputError("is not there yet", file=missing, remedy=remedy)
        return inputs_of(stage, workspace, self._digest)

    def _recorded(self) -> Sequence[Path]:
        return () if self._ignore_recorded else self._workspace.recorded_replies()


def _say_page(shown: object, page: str) -> None:
    """What is shown of a page, and where it is."""
    from rich.console import Console

    console = Console()
    console.print(shown)
    console.print(page, markup=False, highlight=False, soft_wrap=True)


def _say_screening(workspace: Workspace) -> Sequence[str]:
    """Print the finalists, where variants were held against evidence. Gives the sentences that are said with them."""
    if not workspace.screen.exists():
        return ()
    from ragassay.evaluate.report.screening import read_screen
    from ragassay.evaluate.report.terminal import ScreenTable

    results = read_screen(workspace.screen)
    _say_page(ScreenTable(results), f"page: {workspace.shown(workspace.screen_page)}")
    return results.said
