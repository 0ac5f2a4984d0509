"""The evaluate stage: the evaluators that `[evaluate]` names, over every passage and answer of the experiment."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.calls.caller import Caller
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import write_records
from ragassay.records import AssessmentRun

from .inputs.material import read_material
from .judging.catalog import experiment_evaluators
from .judging.engine.cases import cases_of
from .judging.engine.rounds import assess
from .judging.further_runs import assess_runs
from .judging.notices import by_criterion, outcome_of, passed_over


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
    return outcome_of(by_criterion([*rows, *again]), *passed_over(evaluators, cases))


def _write_runs(workspace: Workspace, rows: Sequence[AssessmentRun]) -> None:
    """The file is there only where agents answer more than once."""
    if workspace.experiment.judges_runs:
        write_records(workspace.judgment_runs, rows)
    else:
        workspace.judgment_runs.unlink(missing_ok=True)
