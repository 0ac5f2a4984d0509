"""The evaluate stage: the evaluators that `[evaluate]` names, over every passage and answer of the experiment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragassay.calls.caller import Caller
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import write_records
from ragassay.records import Assessment, AssessmentRun
from ragassay.text import plain

from .inputs.material import read_material
from .judging.catalog import experiment_evaluators
from .judging.engine.cases import QueryCase, cases_of
from .judging.engine.evaluator import Evaluator
from .judging.engine.rounds import assess
from .judging.further_runs import assess_runs


def evaluate_answers(workspace: Workspace, caller: Caller) -> StageOutcome:
    """Write `judgments.jsonl`; an empty one where `[evaluate]` names no evaluator.

    Raises InputError for unusable files or settings, and what the caller raises; nothing is written then.
    """
    if not workspace.experiment.evaluates:
        write_records(workspace.judgments, [])
        _write_runs(workspace, [])
        return StageOutcome()
    evaluators = experiment_evaluators(workspace)
    material = read_material(workspace)
    cases = cases_of(material)
    rows = assess(evaluators, cases, caller)
    again = assess_runs(workspace, evaluators, material, caller)
    write_records(workspace.judgments, rows)
    _write_runs(workspace, again)
    every = [*rows, *again]
    return StageOutcome(
        notices=(*passed_over(evaluators, cases), *failures(every)),
        n_records=len(every),
        n_failed=sum(row.error is not None for row in every),
    )


def _write_runs(workspace: Workspace, rows: Sequence[AssessmentRun]) -> None:
    """The file is there only where agents answer more than once."""
    if workspace.experiment.judges_runs:
        write_records(workspace.judgment_runs, rows)
    else:
        workspace.judgment_runs.unlink(missing_ok=True)


def passed_over(evaluators: Sequence[Evaluator], cases: Sequence[QueryCase]) -> list[str]:
    """A sentence for each evaluator that lacks ground truth for some or all queries."""
    notices = []
    for evaluator in evaluators:
        missing = [need for case in cases if (lacks := evaluator.lacks(case.query)) for need in lacks[:1]]
        if missing:
            what = f"metadata.{missing[0]} in queries.jsonl"
            number = "every query" if len(missing) == len(cases) else f"{len(missing)} of {len(cases)} queries"
            notices.append(f"{evaluator.name} passed over {number}: it needs {what}")
    return notices


def failures(rows: Sequence[Assessment]) -> list[str]:
    """How many of each criterion failed, with the commonest error."""
    notices = []
    for name in dict.fromkeys(row.criterion for row in rows):
        mine = [row for row in rows if row.criterion == name]
        errors = Counter(row.error for row in mine if row.error is not None)
        if errors:
            commonest, count = min(errors.items(), key=lambda item: (-item[1], item[0]))
            said = plain(commonest if len(commonest) <= 200 else f"{commonest[:200]}…")
            notices.append(f"{errors.total()} of {len(mine)} {name} have no value; most often ({count} times): {said}")
    return notices
