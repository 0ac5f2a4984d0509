"""What evaluators with several numbers or prompts share: F1, their records, and many cases side by side."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragassay.models.requests import Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import Assessment

from .cases import Case
from .evaluator import NO_VALUE, Evaluator, Steps
from .reply import JudgeFailed


def f1(precision: float | None, recall: float | None) -> float | None:
    """2PR / (P + R). 0 where one of them is 0, whatever the other; else None where one is not defined."""
    if precision == 0 or recall == 0:
        return 0.0
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall)


def records(
    evaluator: Evaluator,
    case: Case,
    values: Mapping[str, float | None],
    none: Mapping[str, str],
    *,
    subject: str | None = None,
    reason: str | None = None,
    details: Sequence[Mapping[str, Any]] = (),
    failed: Collection[str] = (),
) -> list[Assessment]:
    """A record for each criterion, in the evaluator's order. The first one carries the reason and the details.

    values: by criterion. none: why a criterion whose value is None has none. failed: criteria that could not be judged,
    of which that is an error and not "no value".
    """
    rows = []
    for place, name in enumerate(criterion.name for criterion in evaluator.criteria):
        value, parts = values[name], () if place else details
        if value is None:
            why = none[name] if name in failed else NO_VALUE + none[name]
            rows.append(evaluator.fail(case, why, criterion=name, subject=subject, details=parts))
        else:
            said = None if place else reason
            rows.append(evaluator.assess(case, value, criterion=name, subject=subject, reason=said, details=parts))
    return rows


def own_prompt(evaluator: Evaluator, own: str | None, default: Path) -> Prompt:
    """The user's prompt, relative to the corpus folder, or ours at `default`. Raises InputError."""
    return Prompt.load(evaluator.setup.folder / own if own else default)


def together(
    parts: Sequence[Steps], what: str
) -> Generator[Sequence[Request], Sequence[Reply], list[Sequence[Assessment]]]:
    """Take the steps of several cases of another evaluator at once; their assessments in the same order.

    Raises JudgeFailed, naming how many of them failed ("1 of 5 passages ..."), where one did.
    """
    asked: dict[int, Sequence[Request]] = {}
    made: dict[int, Sequence[Assessment]] = {}
    errors: list[str] = []

    def advance(place: int, replies: Sequence[Reply] | None) -> None:
        try:
            asked[place] = next(parts[place]) if replies is None else parts[place].send(replies)
        except StopIteration as done:
            made[place] = done.value
        except JudgeFailed as error:
            errors.append(str(error))
        except ValueError as error:
            errors.append(f"the judge's reply cannot be used ({error})")

    for place in range(len(parts)):
        advance(place, None)
    while asked:
        live, requests = list(asked), dict(asked)
        asked.clear()
        replies = iter((yield [request for place in live for request in requests[place]]))
        for place in live:
            advance(place, [next(replies) for _ in requests[place]])
    errors += [row.error for rows in made.values() for row in rows if row.error is not None]
    if errors:
        raise JudgeFailed(f"{len(errors)} of {len(parts)} {what} could not be judged: {errors[0]}")
    return [made[place] for place in range(len(parts))]
