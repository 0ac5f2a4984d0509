"""`ragassay plan CORPUS`: what each stage will ask of each model, and what stands in the way, before it is paid."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO

from ragassay.errors import InputError, Obstacles
from ragassay.text import listed, plain

from ..options import Verbs, add_experiment, add_json, add_others, add_verb
from ..printing import print_whole

if TYPE_CHECKING:
    from ragassay.experiment.workspace import Workspace

    from ..pipeline.pace import Pace
    from ..pipeline.plan import Row


def add(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "say what each stage and model will take in calls, tokens, dollars and time, and what stands in the way"
    verb = add_verb(verbs, "plan", help_text, run)
    add_experiment(verb)
    add_others(verb)
    add_json(verb)


def run(options: argparse.Namespace) -> int:
    """Print the plan, and all that stands in the way of a run.

    It calls no model; reading the PDFs, which costs nothing, is done if it was not yet. Raises Obstacles, with all of
    them, where no plan can be made.
    """
    from ..pipeline.obstacles import asking_obstacles, file_obstacles
    from ..pipeline.opening import open_workspace
    from ..pipeline.stages import stages_of

    workspace = open_workspace(options)
    later = asking_obstacles(workspace, [stage.name for stage in stages_of(workspace.experiment)])
    if found := file_obstacles(workspace):
        raise Obstacles([*found, *later])
    try:
        rows, pace = _planned(workspace, options)
    except InputError as error:
        raise Obstacles([*later, error]) if later and str(error) not in map(str, later) else error from None
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        _print(rows, pace, workspace)
    _print_obstacles(later, sys.stderr if options.json else sys.stdout)
    return 0


def _planned(workspace: Workspace, options: argparse.Namespace) -> tuple[list[Row], Pace]:
    from ragassay.calls.reply_cache import ReplyCache

    from ..pipeline.joined import check_others
    from ..pipeline.opening import locked
    from ..pipeline.plan import make_plan
    from ..pipeline.runner import Runner, check_k
    from ..pipeline.stages import stages

    with locked(workspace):
        Runner(workspace, options).bring_up_to_date(stages()[0])
    check_k(workspace)
    check_others(workspace)
    recorded = () if options.ignore_recorded else workspace.recorded_replies()
    return make_plan(workspace, ReplyCache(workspace.replies, recorded))


def _print(rows: Sequence[Row], pace: Pace, workspace: Workspace) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from ..pipeline.pace import in_words

    table = Table("stage", "model", "calls", "cached", "input", "output", "US$", "time", box=SIMPLE)
    for column in table.columns[2:]:
        column.justify = "right"
    for row in rows:
        about = "~" if row.estimated else ""
        numbers = [f"{about}{row.calls:,}", f"{row.from_cache:,}", f"{row.input_tokens:,}", f"{row.output_tokens:,}"]
        cost = "unknown" if row.cost_usd is None else f"{row.cost_usd:.2f}"
        table.add_row(row.stage, Text(plain(row.model)), *numbers, cost, in_words(row.time_s))
    print_whole(table)
    console = Console()
    console.print(_in_all(rows, workspace.experiment.run.max_cost_usd), soft_wrap=True, highlight=False, markup=False)
    console.print(_time(rows, pace), soft_wrap=True, highlight=False, markup=False)
    if any(row.stage == "judge" and row.calls > row.from_cache for row in rows):
        console.print(_ways(workspace), soft_wrap=True, highlight=False, markup=False)
    if workspace.experiment.evaluates:
        console.print(_by_evaluator(workspace), soft_wrap=True, highlight=False, markup=False)
    console.print(
        "Tokens are counted offline, reply lengths and calls behind ~ are estimates "
        "(see benchmarks/tables/plan_accuracy.py).",
        style="dim",
        soft_wrap=True,
    )


def _by_evaluator(workspace: Workspace) -> str:
    """About how many calls each evaluator takes; those that ask no judge are not named."""
    from ..pipeline.loads import estimate

    loads = estimate("evaluate", workspace)
    told = ", ".join(f"{plain(one.kind.removeprefix('evaluate-'))} ~{one.calls:,}" for one in loads)
    return f"Calls in all by evaluator: {told}." if told else "No evaluator asks the judge."


def _ways(workspace: Workspace) -> str:
    from ..pipeline.ways_of_judging import ways_of_judging

    told = [
        f"{way.name} ~{way.calls:,} calls" + ("" if way.cost_usd is None else f", ${way.cost_usd:.2f}")
        for way in ways_of_judging(workspace)
    ]
    return f"Judging in all, by what stands under [judge]: {'; '.join(told)}." if told else ""


def _in_all(rows: Sequence[Row], limit: float | None) -> str:
    """What is to be paid; what has no known price is said to be unknown, and never counted as nothing."""
    priced = [row.cost_usd for row in rows if row.cost_usd is not None and row.calls > row.from_cache]
    unpriced = sorted({row.model for row in rows if row.cost_usd is None})
    known = f"${sum(priced):.2f}" if priced or not unpriced else ""
    unknown = f"unknown for {listed(unpriced)} (prices_usd_per_million says it)" if unpriced else ""
    limited = f"; the limit is ${limit:.2f}" if limit else ""
    return plain(f"To pay for what is not in the cache: {', and '.join(filter(None, [known, unknown]))}{limited}")


def _time(rows: Sequence[Row], pace: Pace) -> str:
    from ..pipeline.pace import in_words

    known = sum(row.time_s or 0.0 for row in rows)
    unknown = sorted({row.model for row in rows if row.time_s is None})
    parts = [f"about {in_words(known)}"] if known or not unknown else []
    parts += [f"unknown for {listed(unknown)}, by files or batches"] if unknown else []
    asked = sorted({row.model for row in rows if row.time_s})
    basis = f"; an estimate: {pace.basis(asked)}" if asked else ""
    return plain(f"Time for these calls: {', and '.join(parts)}{basis}")


def _print_obstacles(found: Sequence[InputError], stream: TextIO) -> None:
    if found:
        print("Before `ragassay run` can begin:", file=stream)
    for number, obstacle in enumerate(found, 1):
        print(plain(f"{number}. {obstacle}"), file=stream)
