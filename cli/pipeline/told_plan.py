"""A plan as it is shown: a table, and what is to be paid and how long it takes in a sentence each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragassay.text import listed, plain

from ..printing import print_whole

if TYPE_CHECKING:
    from .pace import Pace
    from .plan import Row


def print_plan(rows: Sequence[Row], pace: Pace, limit: float | None, more: Sequence[str] = ()) -> None:
    """The rows, what is to be paid (limit: in US dollars), how long it takes, and what is said besides."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from .pace import in_words

    table = Table("stage", "model", "calls", "cached", "input", "output", "US$", "time")
    for column in table.columns[2:]:
        column.justify = "right"
    for row in rows:
        about = "~" if row.estimated else ""
        numbers = [f"{about}{row.calls:,}", f"{row.from_cache:,}", f"{row.input_tokens:,}", f"{row.output_tokens:,}"]
        cost = "unknown" if row.cost_usd is None else f"{row.cost_usd:.2f}"
        table.add_row(row.stage, Text(plain(row.model)), *numbers, cost, in_words(row.time_s))
    print_whole(table)
    console = Console()
    for line in (in_all(rows, limit), _time(rows, pace), *more):
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    console.print(
        "Tokens are counted offline; reply lengths and calls behind ~ are estimates.",
        style="dim",
        soft_wrap=True,
    )


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
    from .pace import in_words

    known = sum(row.time_s or 0.0 for row in rows)
    unknown = sorted({row.model for row in rows if row.time_s is None})
    parts = [f"about {in_words(known)}"] if known or not unknown else []
    parts += [f"unknown for {listed(unknown)}, by files or batches"] if unknown else []
    asked = sorted({row.model for row in rows if row.time_s})
    basis = f"; an estimate: {pace.basis(asked)}" if asked else ""
    return plain(f"Time for these calls: {', and '.join(parts)}{basis}")
