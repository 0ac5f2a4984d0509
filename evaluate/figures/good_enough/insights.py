"""Insights: who is best and worst, fastest and dearest, which question is hardest, which sentence least grounded.

Each is a sentence with its figure. An agent stands out beyond chance only where the comparison with every other agent
on that measure says so (paired by query, Holm over all pairs); else the sentence says that it cannot be told apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from ragassay.records import Answer, Assessment, Figure, Query
from ragassay.text import one_line

from ...judging.engine.evaluator import Criterion, Evaluator
from ...results import Comparison, Insight
from ...statistics.clustered import Range, Values, limits_of
from ...statistics.paired_comparison import compare_pairs
from ...statistics.resamples import Resamples

LONGEST = 160
"""Characters of a question or sentence that an insight quotes."""

_TEXTS = ("sentence", "claim", "statement", "text", "hypothesis")
"""What details call the part of an answer that they are about."""


@dataclass(frozen=True)
class Measured:
    """A measure of every agent. ends: what its extremes are called, the best first; unit: after a value."""

    name: str
    values: Mapping[str, Values]
    limits: Range | None
    lower_is_better: bool
    ends: tuple[str, str] = ("best", "worst")
    unit: str = ""


def insights(
    evaluators: Sequence[Evaluator],
    rows: Sequence[Assessment],
    values: Mapping[str, Mapping[str, Values]],
    answers: Mapping[tuple[str, str], Answer],
    queries: Sequence[Query],
    draws: Resamples,
) -> tuple[Insight, ...]:
    """In the order of the module's sentence. values: agent to criterion to label by query."""
    found: list[Insight] = []
    for one in [*_criteria(evaluators, values), *_taken(answers)]:
        found += _extremes(one, draws)
    return (*found, *_hardest(evaluators, values, queries), *_least_grounded(evaluators, rows))


def _criteria(evaluators: Sequence[Evaluator], values: Mapping[str, Mapping[str, Values]]) -> Iterator[Measured]:
    for evaluator in evaluators:
        ends = ("best_retrieval", "worst_retrieval") if evaluator.unit == "passage" else ("best", "worst")
        for one in evaluator.criteria:
            mine = {agent: named[one.name] for agent, named in values.items() if one.name in named}
            yield Measured(one.name, mine, limits_of(one.lowest, one.highest), one.lower_is_better, ends)


def _taken(answers: Mapping[tuple[str, str], Answer]) -> Iterator[Measured]:
    """Latency and cost, of the answers for which they were measured."""
    latency: dict[str, Values] = defaultdict(dict)
    cost: dict[str, Values] = defaultdict(dict)
    for (query, agent), row in answers.items():
        if row.error is None and row.latency_s is not None:
            latency[agent][query] = row.latency_s
        if row.error is None and row.usage.cost_usd is not None:
            cost[agent][query] = row.usage.cost_usd
    yield Measured("latency_s", latency, None, True, ("fastest", "slowest"), " s")
    yield Measured("cost_usd", cost, None, True, ("cheapest", "dearest"), " USD")


def _extremes(one: Measured, draws: Resamples) -> list[Insight]:
    """The best and the worst agent; none where fewer than two have a value, or all have the same mean."""
    figures = {agent: draws.figure(row, one.limits) for agent, row in one.values.items()}
    means = {agent: figure.value for agent, figure in figures.items() if figure.value is not None}
    if len(set(means.values())) < 2:
        return []
    width = None if one.limits is None else one.limits[1] - one.limits[0]
    table = {agent: one.values[agent] for agent in means}
    pairs = compare_pairs(one.name, table, draws.clusters, width=width, lower_is_better=one.lower_is_better)
    order = sorted(means, key=lambda agent: means[agent] if one.lower_is_better else -means[agent])
    return [
        _extreme(one, one.ends[0], order[0], figures[order[0]], _level(pairs, order[0], "better")),
        _extreme(one, one.ends[1], order[-1], figures[order[-1]], _level(pairs, order[-1], "worse")),
    ]


def _level(pairs: Sequence[Comparison], agent: str, wanted: str) -> list[str]:
    """The agents from which it is not told apart."""
    turned = {"better": "worse", "worse": "better"}[wanted]
    level = [row.agent_b for row in pairs if row.agent_a == agent and row.verdict != wanted]
    return level + [row.agent_a for row in pairs if row.agent_b == agent and row.verdict != turned]


def _extreme(one: Measured, kind: str, agent: str, figure: Figure, level: Sequence[str]) -> Insight:
    others = one_line(level[0]) if len(level) == 1 else f"{len(level)} other agents"
    told = f"but cannot be told apart from {others}" if level else "and is told from each other agent"
    way = ", lower is better" if one.lower_is_better and not one.unit else ""
    value = f"{figure.value:.3g}{one.unit}"
    by = f"{kind.replace('_', ' at ')} by {one_line(one.name)}"
    sentence = f"{one_line(agent)} is {by} (mean {value}{way}; n {figure.n}{_failed(figure)}), {told}."
    return Insight(kind=kind, subject=agent, measure=one.name, figure=figure, told_apart=not level, sentence=sentence)


def _hardest(
    evaluators: Sequence[Evaluator],
    values: Mapping[str, Mapping[str, Values]],
    queries: Sequence[Query],
) -> list[Insight]:
    """The query with the lowest mean goodness over agents and criteria of answers, where there are two queries."""
    criteria = [c for one in evaluators if one.unit != "passage" for c in one.criteria if isfinite(c.highest)]
    scored: dict[str, list[float | None]] = defaultdict(list)
    for named in values.values():
        for criterion in criteria:
            for query, label in named.get(criterion.name, {}).items():
                scored[query].append(None if label is None else _goodness(label, criterion))
    known = {query: [s for s in row if s is not None] for query, row in scored.items()}
    means = {query: sum(row) / len(row) for query, row in known.items() if row}
    if len(means) < 2:
        return []
    query = min(means, key=lambda each: means[each])
    text = next((one.text for one in queries if one.id == query), "")
    n, n_failed = len(known[query]), len(scored[query]) - len(known[query])
    figure = Figure(value=round(means[query], 6), n=n, n_failed=n_failed)
    sentence = (
        f"The hardest question is {one_line(query)}, “{_cut(text)}”: {means[query]:.3g} of 1 over agents and "
        f"criteria (n {n}{_failed(figure)}); the lowest of {len(means)} is in part chance."
    )
    return [Insight(kind="hardest_question", subject=query, measure="mean goodness", figure=figure, sentence=sentence)]


def _goodness(label: float, criterion: Criterion) -> float:
    """0 to 1, 1 is good."""
    share = (label - criterion.lowest) / (criterion.highest - criterion.lowest)
    return 1 - share if criterion.lower_is_better else share


def _least_grounded(evaluators: Sequence[Evaluator], rows: Sequence[Assessment]) -> list[Insight]:
    """By the first judge that holds parts of an answer against its context and gives each a number."""
    for evaluator in evaluators:
        if evaluator.unit != "answer" or not {"context", "answer"} <= set(evaluator.reads):
            continue
        scale = evaluator.criteria[0]
        parts = [part for row in rows if row.criterion == scale.name for part in _parts(row)]
        if scale.lower_is_better or not parts:
            continue
        value, text, row = min(parts, key=lambda part: part[0])
        figure = Figure(value=round(value, 6), n=len(parts))
        sentence = (
            f"The least grounded sentence by {one_line(scale.name)}, {value:.3g}, in {one_line(row.subject)}'s answer "
            f"to {one_line(row.query_id)}: “{_cut(text)}” (of {len(parts)})."
        )
        return [
            Insight(
                kind="least_grounded_sentence",
                subject=row.query_id,
                measure=scale.name,
                figure=figure,
                sentence=sentence,
            )
        ]
    return []


def _parts(row: Assessment) -> Iterator[tuple[float, str, Assessment]]:
    for detail in row.details:
        text = next((detail[name] for name in _TEXTS if isinstance(detail.get(name), str)), None)
        value = detail.get("score", detail.get("label"))
        if text is not None and isinstance(value, int | float) and isfinite(value):
            yield float(value), text, row


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def _failed(figure: Figure) -> str:
    return f", {figure.n_failed} failed" if figure.n_failed else ""
