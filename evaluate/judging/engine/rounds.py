"""All evaluators over all cases, round by round: what each asks next is put to the models together.

A round's requests go out at once, whatever evaluator they come from, and equal ones cost one call. Every record owed
is listed first, as an error; this module is the border behind which an evaluator may raise anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragassay.calls.caller import Caller
from ragassay.errors import RagassayError
from ragassay.models.requests import Batch, Reply, Request
from ragassay.records import Answer, Assessment

from .cases import Case, PassageCase, QueryCase
from .evaluator import Evaluator, Steps
from .question import JudgeFailed
from .reply import complete

NOT_JUDGED = "not judged"


@dataclass
class _Task:
    """One evaluator at one case: what it owes, where it stands, and what it gave."""

    evaluator: Evaluator
    case: Case
    owed: Sequence[Assessment]
    steps: Steps | None = None
    asked: Sequence[Request] = ()
    rows: Sequence[Assessment] = field(default_factory=tuple)


def assess(evaluators: Sequence[Evaluator], cases: Sequence[QueryCase], caller: Caller) -> list[Assessment]:
    """The assessments of every evaluator, in its order, then by query, agent or passage, and criterion.

    A query without the ground truth that an evaluator needs owes it nothing. Raises what the caller raises
    (RepliesMissing, BudgetSpent) and InputError where a prompt cannot be filled.
    """
    tasks = [task for evaluator in evaluators for case in cases for task in _tasks(evaluator, case)]
    owed = [row for evaluator in evaluators for case in cases for row in _owed(evaluator, case)]
    own_models = [evaluator for evaluator in evaluators if type(evaluator).prepare is not Evaluator.prepare]
    _play([task for task in tasks if task.evaluator not in own_models], caller)
    for evaluator in own_models:  # last: where replies are missing, nothing is worked out in vain
        mine = [task for task in tasks if task.evaluator is evaluator]
        _prepare(evaluator, mine)
        _play([task for task in mine if not task.rows], caller)
    return complete(owed, [row for task in tasks for row in task.rows])


def _play(tasks: Sequence[_Task], caller: Caller) -> None:
    for task in tasks:
        _advance(task, None)
    while live := [task for task in tasks if task.steps is not None]:
        for task, replies in zip(live, _ask(live, caller), strict=True):
            _advance(task, replies)


def _prepare(evaluator: Evaluator, tasks: Sequence[_Task]) -> None:
    """Let the evaluator see all its cases; where that fails, none of them can be judged."""
    if not tasks:
        return
    try:
        evaluator.prepare([task.case for task in tasks])
    except RagassayError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  (the border: it becomes error records)
        for task in tasks:
            task.rows = _failed(task, f"the judge could not be prepared ({type(error).__name__}: {error})")


def _tasks(evaluator: Evaluator, case: QueryCase) -> Iterator[_Task]:
    if evaluator.lacks(case.query):
        return
    if evaluator.unit == "query":
        yield _Task(evaluator, case, _of_answers(evaluator, case, [answer.answer for answer in case.answers]))
        return
    units: Sequence[Case] = case.answers
    if evaluator.unit == "passage":
        units = [PassageCase(case.query, passage) for passage in case.passages]
    for unit in units:
        yield _Task(evaluator, unit, [evaluator.fail(unit, NOT_JUDGED, criterion=c.name) for c in evaluator.criteria])


def _owed(evaluator: Evaluator, case: QueryCase) -> list[Assessment]:
    """Every record, those of failed answers with what failed."""
    if evaluator.lacks(case.query):
        return []
    if evaluator.unit == "passage":
        return [row for task in _tasks(evaluator, case) for row in task.owed]
    answers = sorted([*(answer.answer for answer in case.answers), *case.failed], key=lambda answer: answer.agent)
    return _of_answers(evaluator, case, answers)


def _of_answers(evaluator: Evaluator, case: QueryCase, answers: Sequence[Answer]) -> list[Assessment]:
    return [
        evaluator.fail(case, _why(answer), subject=answer.agent, criterion=criterion.name)
        for answer in answers
        for criterion in evaluator.criteria
    ]


def _why(answer: Answer) -> str:
    return NOT_JUDGED if answer.error is None else f"no answer to judge: {answer.error}"


def _ask(live: Sequence[_Task], caller: Caller) -> list[list[Reply]]:
    """The replies to what each task asks, in one call of the caller."""
    by_evaluator: dict[str, list[int]] = defaultdict(list)
    for index, task in enumerate(live):
        by_evaluator[task.evaluator.name].append(index)
    batches = [
        Batch(
            f"evaluate-{name}", live[places[0]].evaluator.setup.model, tuple(r for i in places for r in live[i].asked)
        )
        for name, places in by_evaluator.items()
    ]
    answers: list[list[Reply]] = [[] for _ in live]
    for places, replies in zip(by_evaluator.values(), caller.ask(batches), strict=True):
        given = iter(replies)
        for index in places:
            answers[index] = [next(given) for _ in live[index].asked]
    return answers


def _advance(task: _Task, replies: Sequence[Reply] | None) -> None:
    """Let the evaluator go on until it asks something or is done; what it raises becomes error records."""
    try:
        rows = _next(task, replies)
    except RagassayError:
        raise
    except JudgeFailed as error:
        task.steps, rows = None, _failed(task, str(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001  (the border: it becomes error records)
        task.steps, rows = None, _failed(task, f"the judge's reply cannot be used ({type(error).__name__}: {error})")
    if rows is not None:
        task.rows = rows if _keys(rows) == _keys(task.owed) else _failed(task, "the judge did not cover what was asked")


def _next(task: _Task, replies: Sequence[Reply] | None) -> Sequence[Assessment] | None:
    """The records, or None where the evaluator asks something."""
    try:
        if replies is None:
            made: Any = task.evaluator.steps(task.case)
            if not isinstance(made, Generator):
                return list(made)
            task.steps = made
            task.asked = next(made)
        else:
            assert task.steps is not None
            task.asked = task.steps.send(replies)
    except StopIteration as done:
        task.steps = None
        return list(done.value)
    return None


def _failed(task: _Task, error: str) -> list[Assessment]:
    return [row.model_copy(update={"error": error}) for row in task.owed]


def _keys(rows: Sequence[Assessment]) -> list[tuple[str, str, str]]:
    return sorted((row.query_id, row.subject, row.criterion) for row in rows)
