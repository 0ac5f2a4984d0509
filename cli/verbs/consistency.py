"""`ragassay consistency`: how far the answers of several runs to the same queries agree."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.records import Figure
from ragassay.text import plain

if TYPE_CHECKING:
    from ragassay.evaluate.figures.answer_consistency import Consistency


def consistency(options: argparse.Namespace) -> int:
    """Print the spread of every measure over CORPUS's runs, or over those in --answers."""
    found = _found(options)
    if options.json:
        print(json.dumps(found.dump(), indent=1, ensure_ascii=False, allow_nan=False))
        return 0
    _print(found)
    return 0


def _found(options: argparse.Namespace) -> Consistency:
    from ragassay.evaluate.from_files.consistency import of_experiment, of_files

    from ..pipeline.opening import locked, open_workspace

    if (options.corpus is None) == (not options.answers):
        raise InputError("needs CORPUS, or --answers once for each run", remedy="see `ragassay consistency --help`")
    if options.answers:
        return of_files(options.answers, options.embedding)
    workspace = open_workspace(options)
    with locked(workspace):
        return of_experiment(workspace)


def _print(found: Consistency) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("agent", "measure", "mean", "95% interval", "variance", "cv", "n", "undefined", "failed values")
    for agent, measures in found.agents.items():
        for measure, spread in measures.items():
            mean, failed = spread.mean, f"{spread.n_values_failed} of {spread.n_values + spread.n_values_failed}"
            interval = "–" if mean.ci_low is None else f"{mean.ci_low:.3f} to {mean.ci_high:.3f}"
            numbers = [_shown(mean), interval, _shown(spread.variance), _shown(spread.cv)]
            table.add_row(Text(plain(agent)), measure, *numbers, str(mean.n), str(mean.n_failed), failed)
    Console().print(table)
    print(f"{found.n_runs} runs; BERTScore by {plain(found.embedding)}; variance and cv are within queries")


def _shown(figure: Figure) -> str:
    return "–" if figure.value is None else f"{figure.value:.4g}"
