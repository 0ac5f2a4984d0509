"""What the screening found, as an agent is handed it: so many passages as its retriever says, and what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Passage
from ragassay.screening import VariantRun, handed_over
from ragassay.text import plain
from ragassay.tokens import passage_tokens
from ragassay.trec import read_run

from .agent_searches import VariantFound
from .rankers.ranker import Ranking


def read_screened(
    workspace: Workspace, names: Sequence[str], passages: Mapping[str, Passage]
) -> dict[str, VariantFound]:
    """What these variants hand over. Raises InputError where one was not screened, or over other passages."""
    runs = {run.variant: run for run in read_records(workspace.screening_runs, VariantRun)}
    if missing := [name for name in names if name not in runs]:
        problem = f"variant '{plain(missing[0])}' is not in it"
        raise InputError(problem, file=workspace.screening_runs, remedy="run `ragassay screen` again")
    return {name: _found(workspace, runs[name], passages) for name in names}


def _found(workspace: Workspace, run: VariantRun, passages: Mapping[str, Passage]) -> VariantFound:
    path = workspace.screening / f"{run.variant}.trec"

    def cut(ranking: Ranking) -> Ranking:
        ids = [identifier for identifier, _ in ranking]
        if unknown := [identifier for identifier in ids if identifier not in passages]:
            problem = f"passage '{plain(unknown[0])}' is not in {workspace.passages.name}"
            raise InputError(problem, file=path, remedy="run `ragassay screen` again")
        return ranking[: handed_over(ids, run.k, run.tokens, lambda one: passage_tokens(passages[one]))]

    rankings = {query: cut(ranking) for query, ranking in read_run(path).items()}
    return VariantFound(rankings, run.errors, run.latency_p50_s, run.n_timed)
