"""What each stage will ask of each model, before anything is paid.

Stages whose inputs are there, or follow from replies at hand, are played through with a caller that only counts: those
figures are exact but for the length of the replies. What comes after is estimated from the corpus and the settings.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from pydantic import ValidationError

from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.calls.served import Failed, ServerCall
from ragassay.errors import BudgetSpent, InputError, RagassayError
from ragassay.evaluate.judging.panel import judge_mode
from ragassay.evaluate.make_judgments import of_judging
from ragassay.evaluate.stages import DRAW, EVALUATE, JUDGE
from ragassay.experiment.settings import Experiment
from ragassay.experiment.stage import Load, Stage
from ragassay.experiment.tables import JudgeSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, write_records
from ragassay.models.providers import cost_usd, served_cost_usd
from ragassay.models.requests import Batch, Reply
from ragassay.prompts import count_tokens, reply_tokens
from ragassay.records import Query
from ragassay.retrieval.dependencies import rewriting_models
from ragassay.retrieval.stages import ANSWER
from ragassay.text import listed, plain

from ..terminal import print_rows
from .manifest import WrittenProgress, inputs_of, read_manifest, why_stale
from .opening import alone, of_finalists, with_finalists, with_others
from .stages import SCREEN, means_of, stages_of

START_S, TOKENS_PER_S = 1.0, 50.0
"""Assumed of a call to a server: until it begins to write, and how fast it writes."""
LOCAL_READ_PER_S, LOCAL_TOKENS_PER_S = 200.0, 20.0
"""Assumed of a `local:` model, which takes one call at a time: tokens a second read, and written."""


@dataclass(frozen=True)
class Pace:
    """`measured` is the median seconds of a call by model, of those models that have answered in this experiment."""

    experiment: Experiment
    measured: Mapping[str, float]

    def seconds(self, model: str, calls: int, input_tokens: int, output_tokens: int) -> float | None:
        """An estimate for so many calls, which have these tokens together; None for files and batches.

        Calls in flight are those of `max_concurrency`, and `requests_per_minute` is kept.
        """
        settings, provider = self.experiment.settings_of(model), model.partition(":")[0]
        if not calls:
            return 0.0
        if provider == "file" or settings.mode == "batch":
            return None
        if model in self.measured:
            work = calls * self.measured[model]
        elif provider == "local":
            work = input_tokens / LOCAL_READ_PER_S + output_tokens / LOCAL_TOKENS_PER_S
        else:
            work = calls * START_S + output_tokens / TOKENS_PER_S
        in_flight = 1 if provider == "local" else min(calls, self.experiment.run.max_concurrency)
        per_minute = settings.requests_per_minute
        return max(work / in_flight, calls * 60 / per_minute if per_minute else 0.0)

    def basis(self, models: Sequence[str]) -> str:
        """What the estimates for these models rest on, in words."""
        parts = [f"up to {self.experiment.run.max_concurrency} calls at once, requests_per_minute where it is set"]
        measured = [f"{model} {self.measured[model]:.1f} s a call" for model in models if model in self.measured]
        parts += [f"as it was before: {', '.join(measured)}"] if measured else []
        assumed = {model.partition(":")[0] for model in models if model not in self.measured}
        if assumed - {"local"}:
            parts.append(f"assumed: {START_S:g} s a call and {TOKENS_PER_S:g} tokens/s")
        if "local" in assumed:
            rates = f"{LOCAL_READ_PER_S:g} tokens/s read and {LOCAL_TOKENS_PER_S:g} written"
            parts.append(f"assumed of a model on this machine: {rates}, one call at a time")
        return "; ".join(parts)


def in_words(seconds: float | None) -> str:
    """Such as `40 s`, `12 min`, `3.5 h`; `unknown` for None."""
    if seconds is None:
        return "unknown"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


T = TypeVar("T")

_SHARED = ("embeddings", "rerank-scores")
"""Folders of what is made on this machine and kept by content, which a plan may add to."""


@dataclass(frozen=True)
class Row:
    """What one stage takes of one model; `cost_usd` is of what is not in the cache, None where a price is not known.

    `estimated` says that the calls are not counted but foreseen. `time_s` is an estimate of what those that are not in
    the cache take, None where it is not known.
    """

    stage: str
    model: str
    calls: int
    from_cache: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    estimated: bool
    time_s: float | None


class _StopsHere(RagassayError):
    """The stage needs replies that are not there."""


class _CountingCaller(Caller):
    """Answers from the cache, counts the rest, and stops the stage after the first ask that is not all cached."""

    def __init__(self, workspace: Workspace, stage: str, cache: ReplyCache) -> None:
        super().__init__(workspace, stage, cache)
        self.loads: list[Load] = []
        self._seen: set[str] = set()
        self.complete, self.ended = True, False
        self.seconds: dict[str, list[float]] = {}
        self._replies = cache

    def ask(self, batches: Sequence[Batch]) -> list[list[Reply]]:
        open_keys = self.register.missing(batches)
        for batch in batches:
            for job in self.register.jobs(batch):
                key, request = job.key, job.request
                if key in self._seen:
                    continue
                self._seen.add(key)
                if (stored := self._replies.get(key)) is not None and stored.latency_s is not None:
                    self.seconds.setdefault(batch.model, []).append(stored.latency_s)
                tokens = sum(count_tokens(message.content) for message in request.messages)
                written = reply_tokens(batch.label, request.items)
                self.loads.append(Load(batch.label, batch.model, 1, int(key not in open_keys), tokens, written))
        if open_keys:
            self.complete = False
            raise _StopsHere("replies are missing")
        return super().ask(batches)

    def serve(
        self, calls: Iterable[ServerCall[T]], n: int, *, all_or_none: bool = False
    ) -> Iterator[tuple[ServerCall[T], T | Failed]]:
        owed = list(calls)
        self.loads += [Load(one.label, one.model, 1, 0, one.tokens, 0, one.searches({}) or 0) for one in owed]
        self.complete = self.complete and not owed
        if owed and all_or_none:
            raise _StopsHere("replies of servers are missing")
        yield from ((call, Failed("not asked by a plan")) for call in owed)

    def uses_server(self, model: str) -> None:
        super().uses_server(model)
        self.loads += [Load(row.label, model, 1, 1, row.input_tokens or 0, 0) for row in self.servers.rows(model)]


def counted(
    workspace: Workspace, stage: str, cache: ReplyCache, play: Callable[[Caller], object]
) -> tuple[list[Row], Pace]:
    """A row for each model that `play` asks of the caller that it is handed, up to the first ask that needs replies."""
    with closing(_CountingCaller(workspace, stage, cache)) as caller, suppress(_StopsHere):
        play(caller)
    pace = _pace(workspace, caller.seconds)
    return _rows(stage, caller.loads, pace, estimated=False), pace


def _pace(workspace: Workspace, seconds: Mapping[str, Sequence[float]]) -> Pace:
    return Pace(workspace.experiment, {model: median(values) for model, values in seconds.items()})


def make_plan(workspace: Workspace, cache: ReplyCache) -> tuple[list[Row], Pace]:
    """A row for each stage and model that will be asked, and what its times rest on.

    Works on a copy: no result is touched.
    """
    planned: list[tuple[str, list[Load], list[Load]]] = []
    seconds: dict[str, list[float]] = {}
    exact = True
    with tempfile.TemporaryDirectory() as folder:
        copy = replace(workspace, results=Path(folder) / "results")
        shutil.copytree(
            workspace.results, copy.results, ignore=shutil.ignore_patterns(*_SHARED, "replies", "batches", ".lock")
        )
        if workspace.experiment.by_look:  # all that it may come to write is written at once, which asks the same
            copy.planned.unlink(missing_ok=True)
            run = copy.experiment.run.model_copy(update={"write_by_look": False})
            copy = replace(copy, experiment=copy.experiment.model_copy(update={"run": run}))
        for name in _SHARED:
            (workspace.results / name).mkdir(parents=True, exist_ok=True)
            (copy.results / name).symlink_to((workspace.results / name).resolve())
        for stage in stages_of(workspace.experiment):
            if stage is DRAW and copy.planned.exists():  # a run that may end early asks all, which is the most it costs
                write_records(copy.queries, read_records(copy.planned, Query)[: copy.experiment.run.max_queries])
            if stage.foreseen is None:
                continue
            loads: list[Load] = []
            counted_whole = False
            if exact and not _screened_alone(stage, workspace):
                caller = _CountingCaller(copy, stage.name, cache)
                exact = _played(stage, copy, caller)
                counted_whole = caller.ended and stage is SCREEN
                loads = caller.loads
                for model, values in caller.seconds.items():
                    seconds.setdefault(model, []).extend(values)
            foreseen = [] if exact else _foreseen(stage, loads, copy)
            if counted_whole:  # but grades: what servers did not embed for a plan was in no ranking
                foreseen = [load for load in foreseen if load.kind == "relevance"]
            replaced = {(load.kind, load.model) for load in foreseen}
            kept = [load for load in loads if (load.kind, load.model) not in replaced]
            planned.append((stage.name, kept, foreseen))
            if stage is SCREEN:
                copy = _with_finalists(copy, workspace, known=exact)
    pace, rows = _pace(workspace, seconds), []
    for name, loads, foreseen in planned:
        rows += _rows(name, loads, pace, estimated=False) + _rows(name, foreseen, pace, estimated=True)
    return rows, pace


def _with_finalists(copy: Workspace, workspace: Workspace, *, known: bool) -> Workspace:
    """With the finalists that the screening picked; where it could not be played through, those of the last one, or so
    many of the variants for the time being."""
    if known:
        return with_others(with_finalists(alone(copy)), workspace.others)
    if not workspace.experiment.wants_finalists or workspace.screen.exists():
        return copy
    names = [variant.name for variant in workspace.experiment.variants.all]
    places = workspace.experiment.search_settings.finalists
    return with_others(of_finalists(alone(copy), names[:places]), workspace.others)


def _screened_alone(stage: Stage, workspace: Workspace) -> bool:
    """Whether it is a screening that is up to date and had asked no model but for grades."""
    if stage is not SCREEN or rewriting_models(workspace.experiment) or workspace.experiment.servers():
        return False
    known = read_manifest(workspace, stage)
    return why_stale(known, stage, workspace, inputs_of(stage, workspace)) is None


def _foreseen(stage: Stage, counted: Sequence[Load], workspace: Workspace) -> list[Load]:
    """What is still to come: the kinds not counted, and evaluators of which only the first round could be."""
    estimated = stage.foreseen(workspace) if stage.foreseen else []
    calls, total = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for counts, loads in ((calls, counted), (total, estimated)):
        for load in loads:
            counts[load.kind, load.model] += load.calls
    if stage.name in (EVALUATE.name, SCREEN.name):
        return [load for load in estimated if total[load.kind, load.model] > calls[load.kind, load.model]]
    return [load for load in estimated if not calls[load.kind, load.model]]


def _played(stage: Stage, workspace: Workspace, caller: _CountingCaller) -> bool:
    """Play a stage through, without the user's systems that a plan cannot ask: a callable, and a file that is not there
    yet; whether all that the next one reads is there then."""
    own = workspace.experiment.own_agents()
    played = workspace
    if stage is ANSWER:
        kept = tuple(
            one
            for one in workspace.experiment.agent
            if not one.is_own or (one.kind == "file" and (workspace.corpus / str(one.path)).exists())
        )
        played = replace(workspace, experiment=workspace.experiment.model_copy(update={"agent": kept}))
    try:
        stage.run(played, means_of(played, caller, WrittenProgress(workspace.progress, stage.name)))
        caller.ended = True
    except (_StopsHere, BudgetSpent):
        return False
    except InputError:
        if stage is JUDGE and own:
            return False  # answers of the user's systems are there, but to other queries
        raise
    answered = all(workspace.answers(agent.name).exists() for agent in own)
    return caller.complete and (answered or stage is not ANSWER)


def _rows(stage: str, loads: Sequence[Load], pace: Pace, *, estimated: bool) -> list[Row]:
    rows = []
    for model in sorted({load.model for load in loads}):
        own = [load for load in loads if load.model == model]
        to_pay = [load for load in own if not load.from_cache]
        calls, cached = sum(load.calls for load in own), sum(load.from_cache for load in own)
        inputs, outputs = _tokens(own)
        tokens, searches = _tokens(to_pay), sum(load.searches for load in to_pay)
        settings = pace.experiment.settings_of(model)
        if searches:
            cost = served_cost_usd(model, settings, tokens[0], searches)
        else:
            cost = cost_usd(model, settings, *tokens, batch=settings.mode == "batch") if to_pay else 0.0
        time_s = pace.seconds(model, sum(load.calls for load in to_pay), *tokens)
        rows.append(Row(stage, model, calls, cached, inputs, outputs, cost, estimated, time_s))
    return rows


def _tokens(loads: Sequence[Load]) -> tuple[int, int]:
    return sum(load.input_tokens for load in loads), sum(load.output_tokens for load in loads)


def print_plan(rows: Sequence[Row], pace: Pace, limit: float | None, more: Sequence[str] = ()) -> None:
    """The rows, what is to be paid (limit: in US dollars), how long it takes, and what is said besides."""
    from rich.console import Console

    def cells(row: Row) -> list[str]:
        about = "~" if row.estimated else ""
        numbers = [f"{about}{row.calls:,}", f"{row.from_cache:,}", f"{row.input_tokens:,}", f"{row.output_tokens:,}"]
        cost = "unknown" if row.cost_usd is None else f"{row.cost_usd:.2f}"
        return [row.stage, row.model, *numbers, cost, in_words(row.time_s)]

    print_rows(
        ("stage", "model", "calls", "cached", "input", "output", "US$", "time"), map(cells, rows), right=range(2, 8)
    )
    console = Console()
    for line in (in_all(rows, limit), _time(rows, pace), *more):
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    said = "Tokens are counted offline; reply lengths and calls behind ~ are estimates."
    console.print(said, style="dim", soft_wrap=True)


def in_all(rows: Sequence[Row], limit: float | None) -> str:
    """What is to be paid; what has no known price is said to be unknown, and never counted as nothing."""
    priced = [row.cost_usd for row in rows if row.cost_usd is not None and row.calls > row.from_cache]
    unpriced = sorted({row.model for row in rows if row.cost_usd is None})
    known = f"${sum(priced):.2f}" if priced or not unpriced else ""
    unknown = f"unknown for {listed(unpriced)} (prices_usd_per_million says it)" if unpriced else ""
    over = ", where a run stops before its end; max_cost_usd or --max-cost raises it"
    limited = f"; the limit is ${limit:.2f}{over if sum(priced) > limit else ''}" if limit else ""
    return plain(f"To pay for what is not in the cache: {', and '.join(filter(None, [known, unknown]))}{limited}")


def _time(rows: Sequence[Row], pace: Pace) -> str:
    known = sum(row.time_s or 0.0 for row in rows)
    unknown = sorted({row.model for row in rows if row.time_s is None})
    parts = [f"about {in_words(known)}"] if known or not unknown else []
    parts += [f"unknown for {listed(unknown)}, by files or batches"] if unknown else []
    asked = sorted({row.model for row in rows if row.time_s})
    basis = f"; an estimate: {pace.basis(asked)}" if asked else ""
    return plain(f"Time for these calls: {', and '.join(parts)}{basis}")


WAYS: Mapping[str, Mapping[str, Any]] = {
    "pairs": {"games": "all", "relevance_batch": 1},
    'games = "listwise"': {"games": "listwise", "relevance_batch": 1},
    'games = "listwise", relevance_batch = 10': {"games": "listwise", "relevance_batch": 10},
}
"""What is set under `[judge]`."""


def ways_of_judging(workspace: Workspace) -> list[str]:
    """Each of `WAYS` that the settings allow, with the calls and the price of the whole stage `judge` where nothing is
    in the cache and every price is known; empty where only one is left to choose.

    Raises InputError where a prompt cannot be read.
    """
    ways = []
    for name, changes in WAYS.items():
        if (changed := _with(workspace.experiment, changes)) is None:
            continue
        prices, calls = list[float | None](), 0
        for load in of_judging(replace(workspace, experiment=changed)):
            settings = changed.settings_of(load.model)
            batch = settings.mode == "batch"
            prices.append(cost_usd(load.model, settings, load.input_tokens, load.output_tokens, batch=batch))
            calls += load.calls
        price = "" if None in prices else f", ${sum(filter(None, prices)):.2f}"
        ways.append(f"{name} ~{calls:,} calls{price}")
    return ways if len(ways) > 1 else []


def _with(experiment: Experiment, changes: Mapping[str, Any]) -> Experiment | None:
    """The experiment with `[judge]` changed, or None where it would be refused so."""
    try:
        judge = JudgeSettings.model_validate(experiment.judge.model_dump(exclude_unset=True) | dict(changes))
        changed = experiment.model_copy(update={"judge": judge})
        for model in judge.models:
            judge_mode(changed, model)
    except (ValidationError, InputError):
        return None
    return changed
