"""`ragassay plan CORPUS`: what each stage will ask of each model, before anything is paid."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from ragassay.text import plain

from ..options import Verbs, add_experiment, add_json, add_verb

if TYPE_CHECKING:
    from ragassay.experiment.workspace import Workspace

    from ..pipeline.plan import Row


def add(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "say how many calls, tokens and dollars each stage and model will take, before anything is paid"
    verb = add_verb(verbs, "plan", help_text, run)
    add_experiment(verb)
    add_json(verb)


def run(options: argparse.Namespace) -> int:
    """Print the plan. It calls no model; reading the PDFs, which costs nothing, is done if it was not yet."""
    from ragassay.calls.reply_cache import ReplyCache

    from ..pipeline.opening import locked, open_workspace
    from ..pipeline.plan import make_plan
    from ..pipeline.runner import Runner, check_k
    from ..pipeline.stages import stages

    workspace = open_workspace(options)
    with locked(workspace):
        Runner(workspace, options).bring_up_to_date(stages()[0])
    check_k(workspace)
    shipped = () if options.ignore_recorded else (workspace.shipped_replies,)
    rows = make_plan(workspace, ReplyCache(workspace.replies, shipped))
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        _print(rows, workspace)
    return 0


def _print(rows: Sequence[Row], workspace: Workspace) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("stage", "model", "calls", "cached", "input", "output", "US$", box=SIMPLE)
    for column in table.columns[2:]:
        column.justify = "right"
    for row in rows:
        about = "~" if row.estimated else ""
        numbers = [f"{about}{row.calls:,}", f"{row.from_cache:,}", f"{row.input_tokens:,}", f"{row.output_tokens:,}"]
        cost = "–" if row.cost_usd is None else f"{row.cost_usd:.2f}"
        table.add_row(row.stage, Text(row.model), *numbers, cost)
    console = Console()
    console.print(table)
    console.print(_in_all(rows, workspace.experiment.run.max_cost_usd), soft_wrap=True)
    if any(row.stage == "judge" and row.calls > row.from_cache for row in rows):
        console.print(_ways(workspace), soft_wrap=True, highlight=False, markup=False)
    console.print(
        "Tokens are counted offline, reply lengths and calls behind ~ are estimates "
        "(see benchmarks/tables/plan_accuracy.py).",
        style="dim",
        soft_wrap=True,
    )


def _ways(workspace: Workspace) -> str:
    from ..pipeline.ways_of_judging import ways_of_judging

    told = [
        f"{way.name} ~{way.calls:,} calls" + ("" if way.cost_usd is None else f", ${way.cost_usd:.2f}")
        for way in ways_of_judging(workspace)
    ]
    return f"Judging in all, by what stands under [judge]: {'; '.join(told)}." if told else ""


def _in_all(rows: Sequence[Row], limit: float | None) -> str:
    known = sum(row.cost_usd or 0.0 for row in rows)
    unpriced = sorted({row.model for row in rows if row.cost_usd is None})
    parts = [f"To pay: ${known:.2f} for what is not in the cache"]
    parts += [f"and what {', '.join(unpriced)} costs, whose price is not known"] if unpriced else []
    parts += [f"; the limit is ${limit:.2f}"] if limit else []
    return plain(" ".join(parts).replace(" ;", ";"))
