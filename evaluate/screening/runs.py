"""The variants that a screening ran, read back where it was of the queries that there are now."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Query
from ragassay.screening import VariantRun


def read_runs(workspace: Workspace, queries: Sequence[Query]) -> list[VariantRun]:
    """The variants of `screening.jsonl`, all run on as many queries as these.

    A query asked since has no rankings, which is no failure to find. Raises InputError for other numbers.
    """
    runs = read_records(workspace.screening_runs, VariantRun)
    if other := [run for run in runs if run.n != len(queries)]:
        problem = f"{other[0].variant} was run on {other[0].n:,} queries, and there are {len(queries):,} now"
        raise InputError(problem, file=workspace.screening_runs, remedy="run `ragassay screen` again")
    return runs
