"""What each stage will ask of each model, before anything is paid.

Stages whose inputs are there, or follow from replies at hand, are played through with a caller that only counts: those
figures are exact but for the length of the replies. What comes after is estimated from the corpus and the settings.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import TypeVar

from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.calls.served import Failed, ServerCall
from ragassay.errors import BudgetSpent, InputError, RagassayError
from ragassay.experiment.workspace import Workspace
from ragassay.models.prices import cost_usd, served_cost_usd
from ragassay.models.requests import Batch, Reply, Request
from ragassay.retrieval.dependencies import rewriting_models
from ragassay.tokens import count_tokens, reply_tokens

from .joined import alone, with_others
from .load import Load
from .loads import STAGES_THAT_ASK, estimate
from .manifest import digests, read_manifest, why_run
from .opening import of_finalists, with_finalists
from .pace import Pace
from .stages import Stage, stages_of

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
        open_keys = self.missing(batches)
        for batch in batches:
            for key, request in self.keyed(batch):
                if key in self._seen:
                    continue
                self._seen.add(key)
                self._note_seconds(batch.model, key)
                self.loads.append(_one_call(batch, request, int(key not in open_keys)))
        if open_keys:
            self.complete = False
            raise _StopsHere("replies are missing")
        return super().ask(batches)

    def serve(
        self, calls: Iterable[ServerCall[T]], n: int, *, all_or_none: bool = False
    ) -> Iterator[tuple[ServerCall[T], T | Failed]]:
        owed = list(calls)
        self.loads += map(_server_call, owed)
        self.complete = self.complete and not owed
        if owed and all_or_none:
            raise _StopsHere("replies of servers are missing")
        yield from ((call, Failed("not asked by a plan")) for call in owed)

    def uses_server(self, model: str) -> None:
        super().uses_server(model)
        self.loads += [Load(row.label, model, 1, 1, row.input_tokens or 0, 0) for row in self.served(model)]

    def _note_seconds(self, model: str, key: str) -> None:
        stored = self._replies.get(key)
        if stored is not None and stored.latency_s is not None:
            self.seconds.setdefault(model, []).append(stored.latency_s)


def _one_call(batch: Batch, request: Request, from_cache: int) -> Load:
    tokens = sum(count_tokens(message.content) for message in request.messages)
    return Load(batch.label, batch.model, 1, from_cache, tokens, reply_tokens(batch.label, request.items))


def _server_call(call: ServerCall[T]) -> Load:
    return Load(call.label, call.model, 1, 0, call.tokens, 0, call.searches({}) or 0)


@dataclass(frozen=True)
class StagePlan:
    """What a stage asks: what was counted, and what is foreseen."""

    stage: str
    counted: tuple[Load, ...]
    foreseen: tuple[Load, ...]


def make_plan(workspace: Workspace, cache: ReplyCache) -> tuple[list[Row], Pace]:
    """A row for each stage and model that will be asked, and what its times rest on.

    Works on a copy: no result is touched.
    """
    planned, seconds = _planned(workspace, cache)
    pace = Pace(workspace.experiment, {model: median(values) for model, values in seconds.items()})
    rows = []
    for one in planned:
        rows += _rows(one.stage, one.counted, pace, estimated=False)
        rows += _rows(one.stage, one.foreseen, pace, estimated=True)
    return rows, pace


def counted(
    workspace: Workspace, stage: str, cache: ReplyCache, play: Callable[[Caller], object]
) -> tuple[list[Row], Pace]:
    """A row for each model that `play` asks of the caller that it is handed, up to the first ask that needs replies."""
    caller = _CountingCaller(workspace, stage, cache)
    try:
        play(caller)
    except _StopsHere:
        pass
    finally:
        caller.close()
    pace = Pace(workspace.experiment, {model: median(values) for model, values in caller.seconds.items()})
    return _rows(stage, caller.loads, pace, estimated=False), pace


def _planned(workspace: Workspace, cache: ReplyCache) -> tuple[list[StagePlan], dict[str, list[float]]]:
    """What each stage asks, and the seconds of the replies at hand by model."""
    planned: list[StagePlan] = []
    seconds: dict[str, list[float]] = {}
    exact = True
    with tempfile.TemporaryDirectory() as folder:
        copy = replace(workspace, results=Path(folder) / "results")
        shutil.copytree(
            workspace.results, copy.results, ignore=shutil.ignore_patterns(*_SHARED, "replies", "batches", ".lock")
        )
        for name in _SHARED:
            (workspace.results / name).mkdir(parents=True, exist_ok=True)
            (copy.results / name).symlink_to((workspace.results / name).resolve())
        for stage in stages_of(workspace.experiment):
            if stage.name not in STAGES_THAT_ASK:
                continue
            loads: list[Load] = []
            counted_whole = False
            if exact and not _screened_alone(stage, workspace):
                caller = _CountingCaller(copy, stage.name, cache)
                exact = _played(stage, copy, caller)
                counted_whole = caller.ended and stage.name == "screen"
                loads = caller.loads
                for model, values in caller.seconds.items():
                    seconds.setdefault(model, []).extend(values)
            foreseen = [] if exact or counted_whole else _foreseen(stage.name, loads, copy)
            replaced = {(load.kind, load.model) for load in foreseen}
            counted = tuple(load for load in loads if (load.kind, load.model) not in replaced)
            planned.append(StagePlan(stage.name, counted, tuple(foreseen)))
            if stage.name == "screen":
                copy = _with_finalists(copy, workspace, known=exact)
    return planned, seconds


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
    """Whether it is a screening that is up to date and had asked no model."""
    if stage.name != "screen" or rewriting_models(workspace.experiment) or workspace.experiment.servers():
        return False
    known = read_manifest(workspace.manifests / f"{stage.name}.json")
    inputs = digests([*stage.needs(workspace), *stage.uses(workspace)], workspace.results)
    made = digests(stage.makes(workspace), workspace.results)
    return why_run(known, inputs, stage.settings(workspace.experiment), made) is None


def _foreseen(stage: str, counted: Sequence[Load], workspace: Workspace) -> list[Load]:
    """What is still to come: the kinds not counted, and evaluators of which only the first round could be."""
    calls = Counter[tuple[str, str]]()
    for load in counted:
        calls[load.kind, load.model] += load.calls
    estimated = estimate(stage, workspace)
    if stage in ("evaluate", "screen"):
        total = Counter[tuple[str, str]]()
        for load in estimated:
            total[load.kind, load.model] += load.calls
        return [load for load in estimated if total[load.kind, load.model] > calls[load.kind, load.model]]
    return [load for load in estimated if not calls[load.kind, load.model]]


def _played(stage: Stage, workspace: Workspace, caller: _CountingCaller) -> bool:
    """Play a stage through; whether all that the next one reads is there then."""
    own = workspace.experiment.own_agents()
    try:
        stage.run(_without_absent(workspace) if stage.name == "answer" else workspace, caller)
        caller.ended = True
    except (_StopsHere, BudgetSpent):
        return False
    except InputError:
        if stage.name == "judge" and own:
            return False  # answers of the user's systems are there, but to other queries
        raise
    answered = all(workspace.answers(agent.name).exists() for agent in own)
    return caller.complete and (answered or stage.name != "answer")


def _without_absent(workspace: Workspace) -> Workspace:
    """Without the user's systems that a plan cannot ask: a callable, and a file that is not there yet."""
    agents = workspace.experiment.agent
    there = [one.kind == "file" and (workspace.corpus / str(one.path)).exists() for one in agents]
    kept = tuple(one for one, found in zip(agents, there, strict=True) if found or not one.is_own)
    return replace(workspace, experiment=workspace.experiment.model_copy(update={"agent": kept}))


def _rows(stage: str, loads: Sequence[Load], pace: Pace, *, estimated: bool) -> list[Row]:
    rows = []
    for model in sorted({load.model for load in loads}):
        own = [load for load in loads if load.model == model]
        inputs = sum(load.input_tokens for load in own)
        outputs = sum(load.output_tokens for load in own)
        to_pay = [load for load in own if not load.from_cache]
        tokens = sum(load.input_tokens for load in to_pay), sum(load.output_tokens for load in to_pay)
        settings = pace.experiment.settings_of(model)
        searches = sum(load.searches for load in to_pay)
        if searches:
            cost = served_cost_usd(model, settings, tokens[0], searches)
        else:
            cost = cost_usd(model, settings, *tokens, batch=settings.mode == "batch") if to_pay else 0.0
        calls, cached = sum(load.calls for load in own), sum(load.from_cache for load in own)
        time_s = pace.seconds(model, sum(load.calls for load in to_pay), *tokens)
        rows.append(Row(stage, model, calls, cached, inputs, outputs, cost, estimated, time_s))
    return rows
