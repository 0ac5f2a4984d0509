"""What a stage of judges has to say when it is done: what has no value and why, and what was passed over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ragassay.experiment.workspace import StageOutcome
from ragassay.records import Assessment, Game, Judgment, for_want_of_an_answer
from ragassay.text import plain

from .engine.cases import QueryCase
from .engine.evaluator import Evaluator

Rows = Mapping[str, Sequence[Judgment | Game]]
"""Records by what they are called."""

LONGEST_ERROR = 200


def outcome_of(rows: Rows, *notices: str) -> StageOutcome:
    """How many records there are and how many of them are errors, with `notices` before those on failures."""
    return StageOutcome(
        notices=(*notices, *failures(rows)),
        n_records=sum(len(some) for some in rows.values()),
        n_failed=sum(row.error is not None for some in rows.values() for row in some),
    )


def failures(rows: Rows) -> list[str]:
    """How many of each kind failed, and the commonest error (of equal ones the first in the alphabet).

    Apart from these, how many lack an answer to judge, which has failed before.
    """
    notices = []
    for kind, some in rows.items():
        errors = Counter(row.error for row in some if row.error and not for_want_of_an_answer(row.error))
        if unasked := sum(for_want_of_an_answer(row.error) for row in some):
            notices.append(f"{unasked} of {len(some)} {kind} are missing for want of an answer, which had failed")
        if errors:
            commonest, count = min(errors.items(), key=lambda item: (-item[1], item[0]))
            said = plain(commonest if len(commonest) <= LONGEST_ERROR else f"{commonest[:LONGEST_ERROR]}…")
            notices.append(
                f"{errors.total()} of {len(some)} {kind} failed; the commonest error ({count} times): {said}"
            )
    return notices


def by_criterion(rows: Sequence[Assessment]) -> dict[str, list[Assessment]]:
    """The assessments of each criterion, in the order of the rows."""
    found: dict[str, list[Assessment]] = {}
    for row in rows:
        found.setdefault(f"{row.criterion} judgments", []).append(row)
    return found


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
