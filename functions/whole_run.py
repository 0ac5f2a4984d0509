"""The whole job from Python: `ragassay run` on a corpus folder, and its figures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ragassay.cli.pipeline.runner import bring_all
from ragassay.errors import InputError
from ragassay.experiment.addresses import Address, address

from .results import RunResults, read_results


def run(
    corpus: str | Path,
    *,
    results: str | Path | None = None,
    model: str | None = None,
    max_cost: float | None = None,
    ignore_recorded: bool = False,
    retry_failed: bool = False,
    others: Sequence[str | Path] = (),
) -> RunResults:
    """Bring every stage up to date that is not, and read the figures; progress is told on stderr.

    corpus: the folder with experiment.toml, or its address (s3://…). results: where to write, by default `results/` and
    the corpus folder's name. model: for everything, in place of experiment.toml's. max_cost: US dollars. others:
    results folders over the same queries whose agents take part. As `ragassay run` else.
    Raises InputError, BudgetSpent, RepliesMissing; what was received is kept.
    """
    workspace, status = bring_all(
        argparse.Namespace(
            corpus=_folder(corpus),
            results=None if results is None else _folder(results),
            model=model,
            max_cost=max_cost,
            ignore_recorded=ignore_recorded,
            retry_failed=retry_failed,
            others=[Path(other) for other in others],
        )
    )
    return RunResults(workspace.results, read_results(workspace.results).results, status)


def _folder(given: str | Path) -> Path | Address:
    if not str(given):
        raise InputError("the name of a folder is empty")
    return address(str(given)) or Path(given)
