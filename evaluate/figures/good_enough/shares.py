"""How many of an agent's answers reach the threshold of each criterion, and of what the others fail."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ragassay.records import Answer, Assessment

from ...judging.engine.evaluator import Criterion, Evaluator
from ...judging.engine.thresholds import good_enough
from ...results import ByThreshold, ThresholdShares
from ...statistics.clustered import Values
from ...statistics.resamples import Resamples

Cause = Literal["retrieval", "generation", "unexplained"]
Found = Callable[[str, str], bool | None]
"""From query id and agent to whether something relevant was retrieved; None where that is not known."""

_UNREAD = ("the reply ", "the judge's reply ", "the judge did not cover ")
"""How the errors of replies that cannot be read begin."""


@dataclass
class AgentShares:
    """One agent by one criterion. passed: by query, 1 or 0, None without a label. causes: of those that failed.

    read: of what was put to a judge, 1 where its reply could be read, else 0; None of what asks nobody. of_passages:
    whether the labels are means over passages, which have no cause.
    """

    passed: Values = field(default_factory=dict)
    causes: dict[str, Cause] = field(default_factory=dict)
    read: Values | None = None
    of_passages: bool = False

    def figures(self, draws: Resamples) -> ThresholdShares:
        """The shares, each with its interval."""

        def share(passes: Callable[[str, float], bool]) -> Values:
            return {q: None if value is None else float(passes(q, value)) for q, value in self.passed.items()}

        def of(cause: Cause) -> Values:
            return share(lambda query, _: self.causes.get(query) == cause)

        def figure(values: Values | None) -> object:
            return None if values is None else draws.figure(values, (0.0, 1.0))

        own = {} if self.of_passages else {f"{c}_failures": figure(of(c)) for c in ("retrieval", "generation")}
        own |= {} if self.of_passages else {"unexplained_failures": figure(of("unexplained"))}
        unread = None if self.read is None else {q: None if r is None else 1 - r for q, r in self.read.items()}
        return ThresholdShares.model_validate(
            {
                "passed": figure(self.passed),
                "failed": figure(share(lambda _, value: value == 0)),
                **own,
                "parse_failures": figure(unread),
            }
        )


def shares_by_agent(
    evaluators: Sequence[Evaluator],
    rows: Sequence[Assessment],
    answers: Mapping[tuple[str, str], Answer],
    thresholds: Mapping[str, float],
    found: Found,
) -> dict[str, dict[str, AgentShares]]:
    """Agent to criterion to shares, of every criterion with a threshold that somebody owes.

    answers: by query id and agent. A label of passages is the mean of an answer's own, as in its mean.
    """
    by_criterion = _by_criterion(rows)
    made: dict[str, dict[str, AgentShares]] = defaultdict(dict)
    for evaluator in evaluators:
        for criterion in evaluator.criteria:
            mine, threshold = by_criterion[criterion.name], thresholds.get(criterion.name)
            if threshold is None or not mine:
                continue
            of_passages = evaluator.unit == "passage"
            labels = _means(mine, answers) if of_passages else {(row.query_id, row.subject): row.label for row in mine}
            for (query, agent), label in labels.items():
                one = made[agent].setdefault(criterion.name, AgentShares(of_passages=of_passages))
                _note(one, query, label, criterion, threshold, None if of_passages else found(query, agent))
            if evaluator.asking != "nothing" and not of_passages:
                _note_read(made, mine)
    return dict(made)


def values_by_agent(
    evaluators: Sequence[Evaluator], rows: Sequence[Assessment], answers: Mapping[tuple[str, str], Answer]
) -> dict[str, dict[str, Values]]:
    """Agent to criterion to label by query, of files; of passages the mean of an answer's own."""
    by_criterion = _by_criterion(rows)
    made: dict[str, dict[str, Values]] = defaultdict(lambda: defaultdict(dict))
    for evaluator in evaluators:
        for criterion in evaluator.criteria:
            mine = by_criterion[criterion.name]
            of_passages = evaluator.unit == "passage"
            labels = _means(mine, answers) if of_passages else {(row.query_id, row.subject): row.label for row in mine}
            for (query, agent), label in labels.items():
                made[agent][criterion.name][query] = label
    return {agent: dict(named) for agent, named in made.items()}


def _by_criterion(rows: Sequence[Assessment]) -> dict[str, list[Assessment]]:
    found: dict[str, list[Assessment]] = defaultdict(list)
    for row in rows:
        found[row.criterion].append(row)
    return found


def by_threshold(shares: Mapping[str, Mapping[str, AgentShares]], draws: Resamples) -> ByThreshold:
    """The figures of all."""
    return {agent: {name: one.figures(draws) for name, one in named.items()} for agent, named in shares.items()}


def unread(error: str | None) -> bool:
    """Whether a record's error says that the judge's reply could not be read."""
    return error is not None and error.startswith(_UNREAD)


def _note(
    one: AgentShares, query: str, label: float | None, criterion: Criterion, threshold: float, found: bool | None
) -> None:
    if label is None:
        one.passed[query] = None
        return
    enough = good_enough(label, threshold, lower_is_better=criterion.lower_is_better)
    one.passed[query] = float(enough)
    if not enough and not one.of_passages:
        one.causes[query] = "unexplained" if found is None else "generation" if found else "retrieval"


def _note_read(made: Mapping[str, dict[str, AgentShares]], rows: Sequence[Assessment]) -> None:
    """Of what was put to the judge: rows with a label, and those whose reply could not be read."""
    for row in rows:
        one = made[row.subject][row.criterion]
        one.read = {} if one.read is None else one.read
        if row.label is not None or unread(row.error):
            one.read[row.query_id] = float(row.label is not None)


def _means(
    rows: Sequence[Assessment], answers: Mapping[tuple[str, str], Answer]
) -> dict[tuple[str, str], float | None]:
    labels = {(row.query_id, row.subject): row.label for row in rows}
    owing = {row.query_id for row in rows}
    found: dict[tuple[str, str], float | None] = {}
    for (query, agent), answer in answers.items():
        if query in owing:
            given = [labels.get((query, id)) for id in dict.fromkeys(answer.passages)]
            known = [label for label in given if label is not None]
            found[query, agent] = sum(known) / len(known) if known and len(known) == len(given) else None
    return found
