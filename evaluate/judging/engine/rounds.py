"""All judges over all cases, round by round: what each asks next is put to the models together.

A round's requests go out at once, whatever judge they come from, and equal ones cost one call. Every record owed is
listed first, as an error; this module is the border behind which a judge may raise anything.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, cast

from ragassay.calls.caller import Caller
from ragassay.cores import Helpers, usable_cores
from ragassay.errors import RagassayError
from ragassay.models.requests import Batch, Reply, Request
from ragassay.records import Assessment, KeptReplies, grouped

from .cases import Case, Judge, PassageCase, QueryCase, Row, StepsTo, key_of
from .evaluator import Evaluator
from .question import JudgeFailed

_MUCH = 5000
"""Cases of judges that only compute from which on other processes help: seconds of work."""

_AT_ONCE = 250
"""Cases that are handed to another process together."""


@dataclass
class _Task(Generic[Row]):
    """One judge at one case: what it owes, where it stands, and what it gave."""

    judge: Judge[Row]
    case: Any
    steps: StepsTo[Row] | None = None
    asked: Sequence[Request] = ()
    rows: Sequence[Row] = ()
    replies: list[Reply] = field(default_factory=list)

    @cached_property
    def owed(self) -> Sequence[Row]:
        return self.judge.owed(self.case)


def judged(
    given: Sequence[tuple[Judge[Row], Sequence[Any]]], caller: Caller, kept: list[KeptReplies] | None = None
) -> list[list[Row]]:
    """The records of each judge on its cases, each with a label or an error: as many as the cases owe.

    kept: takes the replies to each case for which a model was asked.

    Judges that prepare come last. Raises what the caller raises (RepliesMissing, BudgetSpent) and InputError where a
    prompt cannot be filled.
    """
    made = [[_Task(judge, case) for case in cases] for judge, cases in given]
    _play_apart([tasks for tasks in made if tasks and _only_computes(tasks[0].judge)])
    prepares = [type(judge).prepare is not Judge.prepare for judge, _ in given]
    _play(
        [task for tasks, later in zip(made, prepares, strict=True) if not later for task in tasks if not task.rows],
        caller,
    )
    for tasks, later in zip(made, prepares, strict=True):
        if later and tasks:  # last: where replies are missing, nothing is worked out in vain
            try:
                tasks[0].judge.prepare([task.case for task in tasks])
            except RagassayError:
                raise
            except (Exception, SystemExit) as error:  # noqa: BLE001  (the border: it becomes error records)
                for task in tasks:
                    task.rows = _failed(task, f"the judge could not be prepared ({type(error).__name__}: {error})")
            _play([task for task in tasks if not task.rows], caller)
    if kept is not None:
        kept += [_kept(task) for tasks in made for task in tasks if task.replies]
    return [[row for task in tasks for row in task.rows] for tasks in made]


def assess(
    evaluators: Sequence[Evaluator], cases: Sequence[QueryCase], caller: Caller, kept: list[KeptReplies] | None = None
) -> list[Assessment]:
    """The assessments of every evaluator, in its order, then by query, agent or passage, and criterion.

    A query without the ground truth that an evaluator needs owes it nothing. kept: as of `judged`. Raises what
    that raises.
    """
    made = judged([(evaluator, units(evaluator, cases)) for evaluator in evaluators], caller, kept)
    return [
        row
        for evaluator, rows in zip(evaluators, made, strict=True)
        for row in _in_order(evaluator, [case for case in cases if not evaluator.lacks(case.query)], rows)
    ]


def units(evaluator: Evaluator, cases: Iterable[QueryCase]) -> list[Case]:
    """What it judges of the queries that have the ground truth it needs: passages, answers, or a query at a time."""
    found: list[Case] = []
    for case in cases:
        if evaluator.lacks(case.query):
            continue
        if evaluator.unit == "query":
            found.append(case)
        elif evaluator.unit == "passage":
            found += [PassageCase(case.query, passage) for passage in case.passages]
        else:
            found += case.answers
    return found


def complete(owed: Sequence[Row], made: Iterable[Row]) -> list[Row]:
    """`owed` (error records, in the order of the file) with each record made in its place; none is lost or added.

    Raises RuntimeError where a record was made that nobody owed, or twice: a fault of ours.
    """
    rows = {key_of(row): row for row in owed}
    seen: set[tuple[str, ...]] = set()
    for row in made:
        key = key_of(row)
        if key not in rows or key in seen:
            raise RuntimeError(f"a record that was not owed: {key}")
        seen.add(key)
        rows[key] = row
    return list(rows.values())


def _in_order(evaluator: Evaluator, cases: Sequence[QueryCase], made: Sequence[Assessment]) -> list[Assessment]:
    """Its records by query, agent or passage, and criterion, with those of failed answers, which say what failed."""
    if evaluator.unit == "passage":
        return complete([row for unit in units(evaluator, cases) for row in evaluator.owed(unit)], made)
    places = {criterion.name: place for place, criterion in enumerate(evaluator.criteria)}
    by_answer = grouped(((row.query_id, row.subject), row) for row in made)
    found: list[Assessment] = []
    for case in cases:
        for answer in sorted([*(one.answer for one in case.answers), *case.failed], key=lambda answer: answer.agent):
            rows = by_answer.pop((case.query.id, answer.agent), [])
            owed = evaluator.unanswered(case, answer) if answer.error is not None else ()
            found += [*owed, *sorted(rows, key=lambda row: places[row.criterion])]
    if by_answer or len(found) != len(set(map(key_of, found))):
        raise RuntimeError(f"{evaluator.name}: a record that was not owed")
    return found


def _only_computes(judge: Judge[Row]) -> bool:
    """Whether it is one of ours that only computes, so that any process can."""
    ours = type(judge).__module__.startswith("ragassay.")
    return ours and isinstance(judge, Evaluator) and judge.asking == "nothing" and type(judge).prepare is Judge.prepare


def _play_apart(by_judge: Sequence[Sequence[_Task[Row]]]) -> None:
    """Where there is much to compute, have every core compute some of it; what is left open is played here."""
    if sum(map(len, by_judge)) < _MUCH or usable_cores() == 1:
        return
    alike = grouped((tuple(id(task.case) for task in tasks), tasks) for tasks in by_judge)
    parts = [
        [tasks[first : first + _AT_ONCE] for tasks in same]
        for same in alike.values()
        for first in range(0, len(same[0]), _AT_ONCE)
    ]
    given = [([tasks[0].judge for tasks in part], [task.case for task in part[0]]) for part in parts]
    with Helpers(True) as helpers:
        for part, found in zip(parts, helpers.each(_rows_of, given), strict=True):
            for tasks, of_judge in zip(part, found, strict=True):
                for task, rows in zip(tasks, of_judge, strict=True):
                    task.rows = rows


def _rows_of(given: tuple[Sequence[Judge[Row]], Sequence[Any]]) -> list[list[Sequence[Row]]]:
    """What each of the judges says of each of the cases; nothing of a case where it asks after all."""
    gc.freeze()  # the libraries' objects stay: going through them time and again takes a tenth of it all
    found = []
    for judge in given[0]:
        tasks = [_Task(judge, case) for case in given[1]]
        for task in tasks:
            _advance(task, None)
        found.append([task.rows for task in tasks])
    return found


def _play(tasks: Sequence[_Task[Row]], caller: Caller) -> None:
    for task in tasks:
        _advance(task, None)
    while live := [task for task in tasks if task.steps is not None]:
        for task, replies in zip(live, _ask(live, caller), strict=True):
            _advance(task, replies)


def _ask(live: Sequence[_Task[Row]], caller: Caller) -> list[list[Reply]]:
    """The replies to what each task asks, in one call of the caller; one that asks nothing waits for the others."""
    by_label: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, task in enumerate(live):
        if task.asked:
            by_label[task.judge.label_of(task.asked), task.judge.setup.model].append(index)
    batches = [
        Batch(label, model, tuple(request for index in places for request in live[index].asked))
        for (label, model), places in by_label.items()
    ]
    answers: list[list[Reply]] = [[] for _ in live]
    for places, replies in zip(by_label.values(), caller.ask(batches) if batches else [], strict=True):
        given = iter(replies)
        for index in places:
            answers[index] = [next(given) for _ in live[index].asked]
            live[index].replies += answers[index]
    return answers


def _advance(task: _Task[Row], replies: Sequence[Reply] | None) -> None:
    """Let the judge go on until it asks something or is done; what it raises becomes error records."""
    try:
        rows = _next(task, replies)
    except RagassayError:
        raise
    except JudgeFailed as error:
        task.steps, rows = None, _failed(task, str(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001  (the border: it becomes error records)
        task.steps, rows = None, _failed(task, f"the judge's reply cannot be used ({type(error).__name__}: {error})")
    if rows is not None:
        task.rows = (
            rows
            if sorted(map(key_of, rows)) == sorted(task.judge.owed_keys(task.case))
            else _failed(task, "the judge did not cover what was asked")
        )


def _next(task: _Task[Row], replies: Sequence[Reply] | None) -> Sequence[Row] | None:
    """The records, or None where the judge asks something."""
    try:
        if replies is None:
            made: Any = task.judge.steps(task.case)
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


def _kept(task: _Task[Row]) -> KeptReplies:
    def said(reply: Reply) -> dict[str, Any]:
        value = None if reply.value is None else reply.value.model_dump(mode="json")
        named = {"value": value, "text": reply.text, "probabilities": reply.probabilities, "error": reply.error}
        return {name: given for name, given in named.items() if given is not None}

    criteria = tuple(dict.fromkeys(row.criterion for row in task.owed if isinstance(row, Assessment)))
    subject, replies = str(getattr(task.case, "subject", "")), tuple(map(said, task.replies))
    return KeptReplies(
        query_id=task.case.query.id, subject=subject, judge=task.judge.judge, criteria=criteria, replies=replies
    )


def _failed(task: _Task[Row], error: str) -> list[Row]:
    return [cast(Row, row.model_copy(update={"error": error})) for row in task.owed]
