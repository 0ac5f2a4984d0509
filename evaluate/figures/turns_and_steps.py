"""What takes more than one go: searches of systems that search again, the tools that they call, turns of conversations.

Of steps and calls it is said what they brought, by query and in all. The evidence of a query are its pieces of relevant
text, else the passages that people, else the judge, found relevant; without any only what a step cost is said. Of turns
there are figures by turn and by move, the share of conversations of which every turn is right, and what it costs a
search that a turn leans on what was said.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from math import inf
from operator import attrgetter
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ragassay.errors import InputError
from ragassay.evidence import Span, place_of, read_graded
from ragassay.experiment.workspace import Workspace
from ragassay.files import Qrels, first_problem, read_records
from ragassay.records import Answer, AnswerRun, Figure, Hop, Passage, Query, ToolCall, grouped
from ragassay.text import plain

from ..inputs.findings import Findings
from ..inputs.labels import HIGHEST
from ..measures.by_step import CallValues, Found, Steps, call_values, pass_hat, steps_of, whole
from ..results import Conversations, Figures, Stepwise
from ..statistics.clustered import Values
from ..statistics.resamples import Resamples
from .values import ComparedMeasure, Scale

EXPECTED = "expected_calls"
"""Where a query's metadata has the calls that should be made: `[{"name": …, "arguments": {…}}, …]`."""

_LITTLE = Scale(lower_is_better=True)

OF_STEPS: Mapping[str, tuple[Callable[[Steps], float | None], Scale]] = {
    "step_recall": (lambda one: one.recall[-1], Scale()),
    "evidence_lost": (lambda one: one.lost, Scale(-1.0, 1.0, lower_is_better=True)),
    "wasted_steps": (lambda one: _share(one.wasted), _LITTLE),
    "surplus_steps": (lambda one: _share(one.surplus), _LITTLE),
    "repeated_steps": (lambda one: _share(one.repeated), _LITTLE),
    "fresh_passages": (lambda one: _mean(one.fresh), Scale()),
}
"""Measure to the value of a query's steps, and its scale."""

OF_CALLS: Mapping[str, tuple[Callable[[CallValues], float | None], Scale]] = {
    "call_recall": (attrgetter("recall"), Scale()),
    "writes_as_asked": (attrgetter("writes"), Scale()),
    "call_precision": (attrgetter("precision"), Scale()),
    "call_names": (attrgetter("names"), Scale()),
    "call_arguments": (attrgetter("arguments"), Scale()),
    "call_order": (attrgetter("order"), Scale()),
    "unwanted_calls": (attrgetter("unwanted"), _LITTLE),
    "tool_call_accuracy": (attrgetter("ragas"), Scale()),
}
"""The same of a query's calls. Recall and writes lead: they agree with success."""


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


@dataclass(frozen=True)
class Searched:
    """Agent to query to its steps and to its calls, None where the answer failed; only agents that say them.

    hops: agent to query to the steps as they are recorded. runs: agent to query to whether the writes of each run were
    as asked.
    """

    steps: Mapping[str, Mapping[str, Steps | None]] = field(default_factory=dict)
    hops: Mapping[str, Mapping[str, Sequence[Hop]]] = field(default_factory=dict)
    calls: Mapping[str, Mapping[str, CallValues | None]] = field(default_factory=dict)
    runs: Mapping[str, Mapping[str, Sequence[bool]]] = field(default_factory=dict)

    @cached_property
    def measures(self) -> dict[str, ComparedMeasure]:
        """Those on which agents are compared."""
        of_steps = ((name, _rows(self.steps, value), scale) for name, (value, scale) in OF_STEPS.items())
        of_calls = ((name, _rows(self.calls, value), scale) for name, (value, scale) in OF_CALLS.items())
        return {name: ComparedMeasure(rows, scale) for name, rows, scale in chain(of_steps, of_calls) if rows}

    def figures(self, draws: Resamples) -> dict[str, Stepwise]:
        """By agent."""
        found: dict[str, Stepwise] = {}
        for agent in dict.fromkeys((*self.hops, *self.calls)):
            means = {
                name: draws.figure(one.values[agent], one.scale.ends)
                for name, one in self.measures.items()
                if agent in one.values
            }
            hops, steps, runs = self.hops.get(agent, {}), self.steps.get(agent, {}), self.runs.get(agent, {})
            least = min(map(len, runs.values()), default=0)
            # pass^1, pass^2, …; none where nobody was asked again.
            passed = [
                {query: pass_hat(sum(done), len(done), k) for query, done in runs.items()}
                for k in (range(1, least + 1) if least > 1 else ())
            ]
            found[agent] = Stepwise(
                means=means | (_cost(hops, steps, draws) if hops else {}),
                recall=_after(steps, Steps.recall_at, draws),
                complete=_after(steps, lambda one, step: float(one.recall_at(step) == 1), draws),
                pass_hat=tuple(draws.figure(of, (0.0, 1.0)) for of in passed),
            )
        return found


def _after(
    steps: Mapping[str, Steps | None], value: Callable[[Steps, int], float], draws: Resamples
) -> tuple[Figure, ...]:
    """The mean of a value after each step; nothing where no query has evidence."""
    longest = max((len(one.recall) for one in steps.values() if one), default=0)
    rows = (
        {query: value(one, step) if one else None for query, one in steps.items()} for step in range(1, longest + 1)
    )
    return tuple(draws.figure(row, (0.0, 1.0)) for row in rows)


def _cost(hops: Mapping[str, Sequence[Hop]], steps: Mapping[str, Steps | None], draws: Resamples) -> dict[str, Figure]:
    """How many steps a query took, how many failed, what one read and wrote, and what came of that."""
    every = [(query, hop) for query, made in hops.items() for hop in made]
    tokens = [(query, float(used)) for query, hop in every if (used := _tokens(hop)) is not None]
    read = {query: [_tokens(hop) for hop in made] for query, made in hops.items()}
    measured = {query: sum(one or 0 for one in used) for query, used in read.items() if None not in used}
    new = {query: 1000.0 * sum(one.new) for query, one in steps.items() if one and query in measured}
    owed = sum(one is not None for one in steps.values())
    found = {
        "n_steps": draws.figure({query: float(len(made)) for query, made in hops.items()}, (0.0, inf)),
        "failed_steps": draws.mean([(query, float(hop.error is not None)) for query, hop in every], 0),
        "step_tokens": draws.mean(tokens, len(every) - len(tokens), (0.0, inf)),
    }
    counts = {query: float(measured[query]) for query in new}
    if owed:
        found["new_per_1000_tokens"] = draws.ratio(new, counts, n=len(new), n_failed=owed - len(new), limits=(0.0, inf))
    return found


def _tokens(hop: Hop) -> int | None:
    told = [hop.usage.input_tokens, hop.usage.output_tokens] if hop.usage else []
    known = [count for count in told if count is not None]
    return sum(known) if known else None


def _rows(table: Mapping[str, Mapping[str, object | None]], value: Callable[..., float | None]) -> dict[str, Values]:
    """A value for every query that has one or failed; an agent without any is left out."""
    made: dict[str, Values] = {}
    for agent, row in table.items():
        values = {query: None if one is None else value(one) for query, one in row.items()}
        owed = {query: number for query, number in values.items() if number is not None or row[query] is None}
        if any(number is not None for number in owed.values()):
            made[agent] = owed
    return made


def searched(workspace: Workspace, findings: Findings) -> Searched:
    """Of the run's answers; empty where none says its steps or calls.

    Raises InputError for `expected_calls` that are no list of calls.
    """
    queries, agents = findings.material.queries, findings.material.agents
    asked = {agent: findings.material.asked_of(agent) for agent in agents}
    of_agent = {agent: [findings.material.answers[query.id, agent] for query in asked[agent]] for agent in agents}
    stepping = {agent: rows for agent, rows in of_agent.items() if any(row.hops for row in rows)}
    calling = {agent: rows for agent, rows in of_agent.items() if any(row.calls is not None for row in rows)}
    if not stepping and not calling:
        return Searched()
    expected = {query.id: calls for query in queries if (calls := _expected(query, workspace)) is not None}
    labelled = findings.qrels | findings.people
    writing = workspace.experiment.compare.writes

    def called(row: Answer) -> CallValues | None:
        return None if row.error or row.calls is None else call_values(expected[row.query_id], row.calls, writing)

    return Searched(
        steps=steps_by_query(workspace, stepping, findings.material.passages, labelled) if stepping else {},
        hops={agent: {row.query_id: row.hops for row in rows if row.hops} for agent, rows in stepping.items()},
        calls={
            agent: {row.query_id: called(row) for row in rows if row.query_id in expected}
            for agent, rows in calling.items()
            if expected
        },
        runs={agent: _successes(workspace, agent, rows, expected) for agent, rows in calling.items() if expected},
    )


def _successes(
    workspace: Workspace, agent: str, rows: Sequence[Answer], expected: Mapping[str, Sequence[ToolCall]]
) -> dict[str, list[bool]]:
    """Of each query whether the writes of each of its runs were as asked; a run that failed did not succeed."""
    path = workspace.answer_runs(agent)
    runs: list[Answer] = [*rows, *(read_records(path, AnswerRun) if path.exists() else ())]
    found: dict[str, list[bool]] = {}
    for row in runs:
        if row.query_id in expected:
            made = [] if row.error or row.calls is None else row.calls
            right = call_values(expected[row.query_id], made, workspace.experiment.compare.writes).writes == 1
            found.setdefault(row.query_id, []).append(right and not row.error and row.calls is not None)
    return found


_CALLS = TypeAdapter(tuple[ToolCall, ...])


def _expected(query: Query, workspace: Workspace) -> tuple[ToolCall, ...] | None:
    if (told := query.metadata.get(EXPECTED)) is None:
        return None
    try:
        return _CALLS.validate_python(told)
    except ValidationError as error:
        problem = f"query '{plain(query.id)}': metadata.{EXPECTED}: {first_problem(error)}"
        remedy = 'write a list of {"name": …, "arguments": {…}}'
        raise InputError(problem, file=workspace.queries, remedy=remedy) from None


def steps_by_query(
    workspace: Workspace, rows: Mapping[str, Sequence[Answer]], passages: Mapping[str, Passage], labels: Qrels
) -> dict[str, dict[str, Steps | None]]:
    """Agent to query to what its steps brought; None where that cannot be told, nothing where there is no evidence.

    rows: each agent's answers. labels: of passages, by people where they gave any. Raises InputError for evidence.
    """
    graded = read_graded(workspace.queries, workspace.pages, workspace.passages)
    places = {id: place_of(passage) for id, passage in passages.items()}
    found: dict[str, dict[str, Steps | None]] = {agent: {} for agent in rows}
    for agent, row in ((agent, row) for agent, answers in rows.items() for row in answers):
        query, labelled = row.query_id, labels.get(row.query_id, {})
        # Passages of grade 2, or where there is none those of grade 1: each is then a place of its own.
        best = [id for id, label in labelled.items() if label >= 2]
        best = best or [id for id, label in labelled.items() if label == 1]
        evidence = (graded[query].relevant_pieces if query in graded else ()) or [whole(id) for id in best]
        if evidence:
            found[agent][query] = _steps(row, evidence, places.get if query in graded else whole)
    return found


def _steps(row: Answer, evidence: Sequence[Span], placed: Callable[[str], Span | None]) -> Steps | None:
    """None where the answer failed without a step, or a place is not known."""
    named = [*(hop.passages for hop in row.hops), row.passages]
    steps: list[Found] = [[(id, place) for id in ids if (place := placed(id)) is not None] for ids in named]
    if not row.hops or list(map(len, steps)) != list(map(len, named)):
        return None
    given = steps[-1] if row.passages else None
    return steps_of(evidence, steps[:-1], [hop.query for hop in row.hops], given)


UNANSWERABLE = "unanswerable"
"""The move, or kind, of a turn that the documents do not answer."""


GIVEN = "given-stand-alone"
"""The way of searching by `metadata.stand_alone`."""


def bounds(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Name of a search to that of the one by the question that stands alone, which is set like it in all else.

    settings: name to its settings, scalars by key.
    """

    def all_else(row: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
        told = {key: value for key, value in row.items() if value is not None and not key.startswith("rewrite")}
        return frozenset((key, repr(value)) for key, value in told.items())

    given = {all_else(row): name for name, row in settings.items() if row.get("rewrite") == GIVEN}
    found = ((name, given.get(all_else(row))) for name, row in settings.items() if row.get("rewrite") != GIVEN)
    return {name: bound for name, bound in found if bound is not None}


def leaning_turns(queries: Sequence[Query]) -> list[Query]:
    """The turns from the second on that say how one asks for the same alone."""
    return [query for query in queries if query.history and getattr(query.text, "stand_alone", None)]


def conversations_of(
    queries: Sequence[Query],
    measures: Mapping[str, ComparedMeasure],
    right: Mapping[str, Values],
    draws: Resamples,
    searches: Mapping[str, Mapping[str, Any]],
) -> Conversations | None:
    """None where no query is a turn.

    measures: those on which agents are compared. right: agent to query to its label (0 to 2), by the criterion that
    tells whether an answer is right; empty where there is none. searches: agent to the settings of its search and of
    what answers, of those that have a table of their own. A query that an agent was not asked is in none of its rows.
    """
    turns = {query.id: query for query in queries if query.metadata.get("conversation") is not None}
    if not turns:
        return None
    talks = grouped((str(query.metadata["conversation"]), id) for id, query in turns.items())
    numbers = {id: str(number_of(query)) for id, query in turns.items()}
    moves = {id: str(query.metadata["move"]) for id, query in turns.items() if query.metadata.get("move")}
    answerable = [[id for id in ids if is_answerable(turns[id].metadata)] for ids in talks.values()]
    all_right: dict[str, Figure] = {}
    for agent, labels in right.items():
        found: dict[str, float | None] = {}
        for ids in answerable:
            # Of conversations with an answerable turn that the agent was asked.
            if told := {id: labels[id] for id in ids if id in labels}:
                found[next(iter(told))] = whole_right(told.values())
        all_right[agent] = draws.figure(found, (0.0, 1.0))
    return Conversations(
        n_conversations=len(talks),
        n_turns=len(turns),
        by_turn=_by(numbers, measures, draws),
        by_move=_by(moves, measures, draws),
        all_right=all_right,
        price=_price(bounds(searches), {query.id for query in leaning_turns(queries)}, measures, draws),
    )


def number_of(query: Query) -> int:
    """Which turn of its conversation it is, from 1."""
    told = query.metadata.get("turn")
    return told if type(told) is int else 1 + sum(turn.role == "user" for turn in query.history)


def is_answerable(metadata: Mapping[str, Any]) -> bool:
    """Whether the documents answer the turn, by its metadata."""
    return UNANSWERABLE not in (metadata.get("move"), metadata.get("kind"))


def _by(groups: Mapping[str, str], measures: Mapping[str, ComparedMeasure], draws: Resamples) -> dict[str, Figures]:
    """Group to agent to measure to mean."""
    found: dict[str, Figures] = {}
    for group in sorted(set(groups.values()), key=lambda name: (len(name) if name.isdecimal() else 0, name)):
        ids = {id for id, one in groups.items() if one == group}
        figures: Figures = {}
        for name, measure in measures.items():
            for agent, values in measure.values.items():
                if mine := {id: value for id, value in values.items() if id in ids}:
                    figures.setdefault(agent, {})[name] = draws.figure(mine, measure.scale.ends)
        found[group] = figures
    return found


def whole_right(labels: Collection[float | None]) -> float | None:
    """1 where every answerable turn has the highest label, 0 where one has another; else None, one having none."""
    wrong = any(label is not None and label < HIGHEST for label in labels)
    return 0.0 if wrong else None if None in labels else 1.0


def _price(
    bounds: Mapping[str, str], turns: Set[str], measures: Mapping[str, ComparedMeasure], draws: Resamples
) -> Figures:
    """Agent to measure to its value less that of its bound, a mean of paired differences over those turns."""
    found: Figures = {}
    for name, measure in measures.items():
        low, high = measure.scale.ends
        for agent, bound in bounds.items():
            mine, theirs = (measure.values.get(one, {}) for one in (agent, bound))
            gaps: dict[str, float | None] = {}
            for id in turns & mine.keys() & theirs.keys():
                value, best = mine[id], theirs[id]
                gaps[id] = None if value is None or best is None else value - best
            if gaps:
                found.setdefault(agent, {})[name] = draws.figure(gaps, (low - high, high - low))
    return found
