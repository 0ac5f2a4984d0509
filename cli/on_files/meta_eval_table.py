"""Several meta-evaluations as one table: a row a judge, model and wording, each with its own n, failures, intervals."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragassay.text import plain

from ..printing import interval_of, value_of

if TYPE_CHECKING:
    from ragassay.evaluate.agreement.meta_eval import MetaEvaluation
    from ragassay.records import Figure

SHOWN = ("precision", "precision_at_set_share", "recall", "f1", "kappa")
"""The figures of the table, the second where there is one, besides off-by-one accuracy of grades; --json has all."""

_PIPED = 160
"""Columns of characters where the table goes into no terminal."""


def print_side_by_side(found: Sequence[MetaEvaluation]) -> None:
    """The table, with the interval below each value; then what failed, and the notes that all share."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    first = found[0]
    print(plain(f"against the labels of {first.labelled}: {first.n_rows} rows ({first.kind}); {counted(first)}"))
    shown = [name for name in SHOWN if name in first.binary]
    ranks = ["tau_b, its p"] if first.ranks else []
    names = [name.replace("precision_", "") for name in shown]
    near = ["off by one"] if any("off_by_one" in one.graded for one in found) else []
    table = Table(
        "judge", "yes from", *names, *near, *ranks, "n", "failed", box=SIMPLE_HEAD, show_edge=False, pad_edge=False
    )
    for one in found:
        figures = [_two_lines(one.binary[name]) for name in shown]
        if near:
            figures.append(_two_lines(one.graded["off_by_one"]) if "off_by_one" in one.graded else "–")
        if ranks:
            p = one.p.get("tau_b")
            figures.append(_two_lines(one.ranks["tau_b"]) + ("" if p is None else f"\np {p:.2g}"))
        kappa = one.binary["kappa"]
        table.add_row(Text(_named(one, found)), f"{one.threshold:g}", *figures, str(kappa.n), str(kappa.n_failed))
    console = Console()
    if not console.is_terminal:
        console.width = _PIPED
    console.print(table)
    for one in found:
        print_failures(one, f"{_named(one, found)}: ")
    for note in first.notes:
        print(plain(f"note: {note}"), file=sys.stderr)


def counted(found: MetaEvaluation) -> str:
    """People's yes, how many of the rows that is, and how many of the set that they were drawn from in other shares."""
    of_set = f"; {found.set_relevant:,} of {found.set_rows:,} in the whole set" if found.set_rows else ""
    return f"people's yes: {found.relevant} ({found.n_relevant} of {found.n_rows}{of_set})"


def print_failures(found: MetaEvaluation, whose: str = "") -> None:
    """How many rows could not be judged, by error."""
    for error, count in found.errors.items():
        said = error if len(error) <= 200 else f"{error[:200]}…"
        print(plain(f"note: {whose}{count} of {found.n_rows} rows could not be judged: {said}"), file=sys.stderr)


def _named(one: MetaEvaluation, found: Sequence[MetaEvaluation]) -> str:
    """The criterion, with the model and the wording where these differ."""
    more = [one.model] if len({other.model for other in found}) > 1 else []
    more += [one.prompts] if len({other.prompts for other in found}) > 1 else []
    return plain(f"{one.criterion}, {', '.join(more)}" if more else one.criterion)


def _two_lines(figure: Figure) -> str:
    return f"{value_of(figure, '.3f')}\n{interval_of(figure, '.3f')}"
