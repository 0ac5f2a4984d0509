"""Assertions for tests: an answer is good enough, and a run is not worse than a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from ragassay.errors import InputError, NotJudged
from ragassay.evaluate.from_files.gate import gate, sentence
from ragassay.evaluate.judging.engine.evaluator import (
    NO_VALUE,
    Criterion,
    Evaluator,
    check_thresholds,
    good_enough,
    threshold_of,
)
from ragassay.evaluate.results import POINTS
from ragassay.records import Assessment
from ragassay.text import did_you_mean, listed, plain

from .asking import Asking, Mode, ask, case_of, check_columns, evaluators_in, missing_of, rows_of
from .judges import check_one
from .pytest_plugin import current
from .verbs import RunResults, read_results

_CALLER = "assert_judged"


def assert_judged(
    *,
    judges: Sequence[str],
    query: str | None = None,
    answer: str | None = None,
    contexts: Sequence[str | Mapping[str, str]] | None = None,
    expected_response: str | None = None,
    expected_docs: Sequence[str] | None = None,
    conditions: str | Mapping[str, str] | None = None,
    at_least: float | None = None,
    thresholds: Mapping[str, float] | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    model: str | None = None,
    base_url: str | None = None,
    mode: Mode | None = None,
    work: str | Path = ".ragassay",
    max_cost: float | None = None,
    config: str | Path | None = None,
) -> list[Assessment]:
    """Assert that every judge finds one answer good enough, and give what they said.

    at_least: the score, from 0 (worst) to 1 (best), that every criterion must reach; of one of which little is good,
    such as toxicity, 1 - score counts. thresholds: criterion, or judge, to the label from which it is good enough, in
    place of that; what neither says has the threshold that `ragassay judge --list` lists. settings: judge to its
    options. model, base_url: by default pytest's --ragassay-model and --ragassay-base-url. The other keywords are those
    of ragassay.judges.

    A criterion that has no value, as of a context that is not given, does not count beside another of its judge that
    has one, unless thresholds name it.

    Raises AssertionError with a line for each judgment that is not good enough; NotJudged where one failed, which is
    neither; InputError where something is missing or cannot be used, and BudgetSpent at max_cost.
    """
    __tracebackhide__ = True
    session = current()
    if model is None and not config:
        model, base_url = session.model, base_url or session.base_url
    asking = Asking(model, base_url, mode, work, max_cost, config)
    texts = {"query": query, "answer": answer, "contexts": contexts, "expected_response": expected_response}
    given = _row({**texts, "expected_docs": expected_docs, "conditions": conditions}, judges)
    workspace = asking.workspace(judges, settings or {})
    evaluators = evaluators_in(workspace, _CALLER)
    limits = _limits(evaluators, at_least, thresholds or {})
    records, spent = ask(workspace, evaluators, [case_of(given, 1, _CALLER)], _CALLER)
    if not records:
        raise InputError("there is nothing to judge", file=_CALLER, remedy="give at least one context")
    session.assertions += 1
    session.judgments += len(records)
    session.failed += sum(one.error is not None for one in records)
    session.spent += spent
    if failed := _unjudged(evaluators, records, thresholds or {}):
        raise NotJudged("; ".join(f"{one.criterion} could not be judged: {plain(str(one.error))}" for one in failed))
    judged = [one for one in records if one.error is None]
    if bad := [said for one in judged if (said := _not_reached(one, *limits[one.criterion], at_least))]:
        raise AssertionError("\n".join(bad))
    return records


def assert_not_worse(
    results: str | Path | RunResults,
    baseline: str | Path | RunResults,
    *,
    measures: Sequence[str] = (),
    agents: Sequence[str] = (),
    max_drop: float | None = None,
    allow_undecided: bool = False,
) -> None:
    """Assert that a run is not worse than a baseline over the same queries, as `ragassay gate` decides it.

    max_drop: what is tolerated, in the measure's own unit; None: 2% of each measure's range. allow_undecided: whether a
    run passes of which these queries cannot tell; else it does not.

    Raises AssertionError with the gate's sentence and the comparisons that are worse or undecided; InputError for what
    cannot be compared.
    """
    __tracebackhide__ = True
    found = gate(_folder(results), _folder(baseline), measures=measures, agents=agents, max_drop=max_drop)
    if found.verdict == "worse" or (found.verdict == "undecided" and not allow_undecided):
        raise AssertionError(sentence(found))


def assert_better(
    results: str | Path | RunResults, agent: str, *, than: Sequence[str] = (), or_safe: bool = False
) -> None:
    """Assert that a run tells an agent from others by their games, as its report does (`verdict` of results.json).

    than: the agents that it must be better than, told by points with all pairs held together; empty: it must be the
    agent to choose, the leader told from each other. or_safe: whether it is enough that it leads and no other is ahead
    of it by the margin.

    Raises AssertionError with the verdict's sentence, or those of the pairs; InputError for an agent that the run does
    not have and for results that cannot be read.
    """
    __tracebackhide__ = True
    found = results.results if isinstance(results, RunResults) else read_results(results).results
    for name in (agent, *than):
        if name not in found.agents:
            known = f"{did_you_mean(name, found.agents)}the run's agents are {plain(listed(found.agents))}"
            raise InputError(f"'{plain(name)}' is not an agent of the run", file="assert_better", remedy=known)
    if not than:
        verdict = found.verdict
        if verdict.leader != agent or not (verdict.decided or (or_safe and verdict.safe)):
            raise AssertionError(plain(verdict.sentence))
        return
    pairs = [row for row in found.comparisons if row.measure == POINTS and agent in (row.agent_a, row.agent_b)]
    rows = {row.agent_b if row.agent_a == agent else row.agent_a: row for row in pairs}
    better = {other: row.verdict == ("better" if row.agent_a == agent else "worse") for other, row in rows.items()}
    if bad := [other for other in than if not better.get(other)]:
        said = (rows[other].sentence if other in rows else f"{agent} and {other} have no game." for other in bad)
        raise AssertionError(plain("\n".join(said)))


def _folder(given: str | Path | RunResults) -> Path:
    return given.folder if isinstance(given, RunResults) else Path(given)


def _row(given: Mapping[str, Any], judges: Sequence[str]) -> Mapping[str, Any]:
    """The one row that is asserted on. Raises InputError where a judge lacks something in it."""
    if isinstance(judges, str) or not judges:
        raise InputError("judges is not a list of names", file=_CALLER, remedy='such as ["groundedness"]')
    rows = rows_of(given, None, _CALLER)
    if not rows.one:
        raise InputError("more than one row is given", file=_CALLER, remedy="assert each answer by itself")
    for kind in map(check_one, judges):
        check_columns(rows, kind, _CALLER)
        if said := missing_of(rows.rows[0], kind):
            raise InputError(said, file=_CALLER, remedy=f"{kind.name} needs it")
    return rows.rows[0]


def _unjudged(
    evaluators: Sequence[Evaluator], records: Sequence[Assessment], named: Mapping[str, float]
) -> list[Assessment]:
    """The records without a label that count: all but those of no value beside others of their evaluator."""
    judge = {criterion.name: one.name for one in evaluators for criterion in one.criteria}
    labelled = {judge[one.criterion] for one in records if one.error is None}
    return [
        one
        for one in records
        if one.error is not None
        and not (one.error.startswith(NO_VALUE) and judge[one.criterion] in labelled and one.criterion not in named)
    ]


def _not_reached(record: Assessment, criterion: Criterion, limit: float | None, at_least: float | None) -> str | None:
    """Why a label is not good enough, by its limit or, without one, by its score in the good direction; else None."""
    assert record.label is not None
    why = f": {plain(record.reason)}" if record.reason else ""
    of = "" if record.subject == "answer" else f" of {plain(record.subject)}"
    lower = criterion.lower_is_better
    if limit is not None:
        if good_enough(record.label, limit, lower_is_better=lower):
            return None
        return f"{record.criterion}{of} is {record.label:g}, {'above' if lower else 'below'} {limit:g}{why}"
    assert record.score is not None and at_least is not None
    score = 1 - record.score if lower else record.score
    if score >= at_least:
        return None
    scale = f"label {record.label:g} from {criterion.lowest:g} to {criterion.highest:g}"
    turned = ", of which little is good" if lower else ""
    return f"{record.criterion}{of} has the score {score:.3g}, below {at_least:g} ({scale}{turned}){why}"


def _limits(
    evaluators: Sequence[Evaluator], at_least: float | None, thresholds: Mapping[str, float]
) -> dict[str, tuple[Criterion, float | None]]:
    """Each criterion with the label from which it is good enough, None where at_least says it.

    Raises InputError where one has neither.
    """
    if at_least is not None and not 0 <= at_least <= 1:
        raise InputError(f"at_least is {at_least:g}", file=_CALLER, remedy="it is a score, from 0 to 1")
    check_thresholds(evaluators, thresholds, Path(_CALLER))
    found = {}
    for evaluator in evaluators:
        for criterion in evaluator.criteria:
            own = thresholds.get(criterion.name, thresholds.get(evaluator.name))
            scored = at_least is not None and isfinite(criterion.highest)
            label = own if own is not None or scored else threshold_of(evaluator, criterion)
            if label is None and not scored:
                remedy = f'give thresholds={{"{criterion.name}": …}}, a label'
                raise InputError(f"{criterion.name} has no threshold of its own", file=_CALLER, remedy=remedy)
            found[criterion.name] = criterion, label
    return found
