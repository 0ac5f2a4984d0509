"""The evaluate stage: the evaluators that `[evaluate]` names, over every passage and answer of the experiment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragassay.calls.caller import Caller
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import write_records
from ragassay.records import AssessmentRun, KeptReplies

from .inputs.material import limited, read_material
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
    settings, every = workspace.experiment.evaluate, read_material(workspace)
    material = limited(every, settings.max_rows)
    cases = cases_of(material)
    kept: list[KeptReplies] | None = [] if settings.keep_replies else None
    rows = assess(evaluators, cases, caller, kept)
    again = assess_runs(workspace, evaluators, material, caller)
    write_records(workspace.judgments, rows)
    _write_runs(workspace, again)
    write_replies(workspace.judgment_replies, kept)
    said = _limit_notice(len(material.queries), len(every.queries), settings.max_rows)
    return outcome_of(by_criterion([*rows, *again]), *said, *passed_over(evaluators, cases))


def write_replies(path: Path, kept: Sequence[KeptReplies] | None) -> None:
    """The file is there only where replies are kept."""
    if kept is None:
        path.unlink(missing_ok=True)
    else:
        write_records(path, kept)


def _limit_notice(judged: int, of: int, max_rows: int | None) -> tuple[str, ...]:
    """That not all was judged, where it was not."""
    if judged == of:
        return ()
    return (f"only the first {judged} of {of} queries are judged by evaluators (max_rows = {max_rows})",)


def _write_runs(workspace: Workspace, rows: Sequence[AssessmentRun]) -> None:
    """The file is there only where agents answer more than once."""
    if workspace.experiment.judges_runs:
        write_records(workspace.judgment_runs, rows)
    else:
        workspace.judgment_runs.unlink(missing_ok=True)
