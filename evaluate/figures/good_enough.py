"""How many of an agent's answers reach the threshold of each criterion, and of what the others fail."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any, Literal

from ragassay.experiment.settings import Experiment
from ragassay.records import Answer, Assessment, Figure, Passage, Query, grouped
from ragassay.text import one_line

from ..inputs.findings import Findings
from ..judging.engine.cases import expected_docs
from ..judging.engine.evaluator import Criterion, Evaluator, good_enough
from ..results import ByThreshold, Figures, Insight, Problem, ThresholdShares
from ..statistics.clustered import Values
from ..statistics.paired_comparison import compare_pairs
from ..statistics.resamples import Resamples
from .values import ComparedMeasure, Scale

Relevant = Mapping[tuple[str, str], bool]
"""(query id, passage id) to whether it is relevant; what nobody judged is not there."""


def evidence_found(query: Query, answer: Answer, relevant: Relevant, passages: Mapping[str, Passage]) -> bool | None:
    """Whether something relevant was retrieved; None where it cannot be known.

    By the labels of the passages where they tell, else by the documents that are expected. Who retrieved nothing found
    nothing.
    """
    ids = tuple(dict.fromkeys(answer.passages))
    labels = [relevant.get((query.id, id)) for id in ids]
    if True in labels:
        return True
    if None not in labels:
        return False
    expected = expected_docs(query)
    if expected is None:
        return None
    docs = {str(passages[id].metadata.get("doc")) for id in ids if id in passages}
    if not docs.union(ids) & set(expected.docs):
        return False if all(id in passages for id in ids) else None
    return True if False not in labels else None


def found_in(findings: Findings, relevant: Relevant, experiment: Experiment) -> Callable[[str, str], bool | None]:
    """The same of a run, by query id and agent: the labels of `[judge]` count before those of `relevant`."""
    least, material = experiment.judge.relevant_from, findings.material
    known = {(query, id): label >= least for query, labels in findings.qrels.items() for id, label in labels.items()}
    queries, told = {query.id: query for query in material.queries}, {**relevant, **known}

    def found(query: str, agent: str) -> bool | None:
        return evidence_found(queries[query], material.answers[query, agent], told, material.passages)

    return found


def relevant_by_judges(
    evaluators: Sequence[Evaluator], rows: Iterable[Assessment], thresholds: Mapping[str, float]
) -> dict[tuple[str, str], bool]:
    """By the judges of passages: relevant to one of them is relevant."""
    lower = {c.name: c.lower_is_better for one in evaluators if one.unit == "passage" for c in one.criteria}
    found: dict[tuple[str, str], bool] = {}
    for row in rows:
        if row.label is not None and row.criterion in lower and row.criterion in thresholds:
            enough = good_enough(row.label, thresholds[row.criterion], lower_is_better=lower[row.criterion])
            key = (row.query_id, row.subject)
            found[key] = found.get(key, False) or enough
    return found


LONGEST = 160
"""Characters of a question or sentence that an insight quotes."""

_TEXTS = ("sentence", "claim", "statement", "text", "hypothesis")
"""What details call the part of an answer that they are about."""


def insights(
    evaluators: Sequence[Evaluator],
    rows: Sequence[Assessment],
    values: Mapping[str, Mapping[str, Values]],
    answers: Mapping[tuple[str, str], Answer],
    queries: Sequence[Query],
    draws: Resamples,
) -> tuple[Insight, ...]:
    """Of each measure the best and the worst agent, then the hardest question and the least grounded sentence.

    Each is a sentence with its figure. An agent stands out beyond chance only where the comparison with every other
    agent on that measure says so (paired by query, Holm over all pairs); else the sentence says that it cannot be told
    apart. values: agent to criterion to label by query.
    """
    found: list[Insight] = []
    for evaluator in evaluators:
        ends = ("best_retrieval", "worst_retrieval") if evaluator.unit == "passage" else ("best", "worst")
        for one in evaluator.criteria:
            mine = {agent: named[one.name] for agent, named in values.items() if one.name in named}
            scale = Scale(one.lowest, one.highest, one.lower_is_better)
            found += _extremes(one.name, ComparedMeasure(mine, scale), ends, draws)
    # Latency and cost, of the answers for which they were measured.
    latency: dict[str, Values] = defaultdict(dict)
    cost: dict[str, Values] = defaultdict(dict)
    for (query, agent), row in answers.items():
        if row.error is None and row.latency_s is not None:
            latency[agent][query] = row.latency_s
        if row.error is None and row.usage.cost_usd is not None:
            cost[agent][query] = row.usage.cost_usd
    endless = Scale(highest=inf, lower_is_better=True)
    found += _extremes("latency_s", ComparedMeasure(latency, endless), ("fastest", "slowest"), draws, " s")
    found += _extremes("cost_usd", ComparedMeasure(cost, endless), ("cheapest", "dearest"), draws, " USD")
    return (*found, *_hardest(evaluators, values, queries), *_least_grounded(evaluators, rows))


def _extremes(
    name: str, one: ComparedMeasure, ends: tuple[str, str], draws: Resamples, unit: str = ""
) -> list[Insight]:
    """The best and the worst agent; none where fewer than two have a value, or all have the same mean.

    ends: what the two are called. unit: after a value.
    """
    scale, less = one.scale, one.scale.lower_is_better
    figures = {agent: draws.figure(row, scale.limits) for agent, row in one.values.items()}
    means = {agent: figure.value for agent, figure in figures.items() if figure.value is not None}
    if len(set(means.values())) < 2:
        return []
    table = {agent: one.values[agent] for agent in means}
    pairs = compare_pairs(name, table, draws.clusters, width=scale.width, lower_is_better=less)
    order = sorted(means, key=lambda agent: means[agent] if less else -means[agent])
    found = []
    for kind, agent, wanted, turned in (
        (ends[0], order[0], "better", "worse"),
        (ends[1], order[-1], "worse", "better"),
    ):
        # The agents from which it is not told apart.
        level = [row.agent_b for row in pairs if row.agent_a == agent and row.verdict != wanted]
        level += [row.agent_a for row in pairs if row.agent_b == agent and row.verdict != turned]
        others = one_line(level[0]) if len(level) == 1 else f"{len(level)} other agents"
        told = f"but cannot be told apart from {others}" if level else "and is told from each other agent"
        way = ", lower is better" if less and not unit else ""
        figure, by = figures[agent], f"{kind.replace('_', ' at ')} by {one_line(name)}"
        mean = f"mean {figure.value:.3g}{unit}{way}; n {figure.n}{_failed(figure)}"
        found.append(
            Insight(
                kind=kind,
                subject=agent,
                measure=name,
                figure=figure,
                told_apart=not level,
                sentence=f"{one_line(agent)} is {by} ({mean}), {told}.",
            )
        )
    return found


def _hardest(
    evaluators: Sequence[Evaluator],
    values: Mapping[str, Mapping[str, Values]],
    queries: Sequence[Query],
) -> list[Insight]:
    """The query with the lowest mean goodness (0 to 1) over agents and criteria, where there are two queries."""
    criteria = [c for one in evaluators if one.unit != "passage" for c in one.criteria if isfinite(c.highest)]
    scored: dict[str, list[float | None]] = defaultdict(list)
    for named in values.values():
        for criterion in criteria:
            for query, label in named.get(criterion.name, {}).items():
                share = None if label is None else (label - criterion.lowest) / (criterion.highest - criterion.lowest)
                scored[query].append(share if share is None or not criterion.lower_is_better else 1 - share)
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


def _least_grounded(evaluators: Sequence[Evaluator], rows: Sequence[Assessment]) -> list[Insight]:
    """By the first judge that holds parts of an answer against its context and gives each a number."""
    for evaluator in evaluators:
        if evaluator.unit != "answer" or not {"context", "answer"} <= set(evaluator.reads):
            continue
        scale = evaluator.criteria[0]
        parts: list[tuple[float, str, Assessment]] = []
        for row in rows:
            for detail in row.details if row.criterion == scale.name else ():
                text = next((detail[name] for name in _TEXTS if isinstance(detail.get(name), str)), None)
                value = detail.get("score", detail.get("label"))
                if text is not None and isinstance(value, int | float) and isfinite(value):
                    parts.append((float(value), text, row))
        if scale.lower_is_better or not parts:
            continue
        value, text, row = min(parts, key=lambda part: part[0])
        figure = Figure(value=round(value, 6), n=len(parts))
        sentence = (
            f"The least grounded sentence by {one_line(scale.name)}, {value:.3g}, in {one_line(row.subject)}'s answer "
            f"to {one_line(row.query_id)}: “{_cut(text)}” (of {len(parts)})."
        )
        kind = "least_grounded_sentence"
        return [Insight(kind=kind, subject=row.query_id, measure=scale.name, figure=figure, sentence=sentence)]
    return []


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def _failed(figure: Figure) -> str:
    return f", {figure.n_failed} failed" if figure.n_failed else ""


_WORD = re.compile(r"\w\w|[^\W\d_a-zA-Z]")
"""Two letters or digits together, or one letter of a script that writes words in one sign."""


def problems(
    means: Figures,
    thresholds: Mapping[str, float],
    lower_is_better: Iterable[str],
    answers: Mapping[tuple[str, str], Answer],
    draws: Resamples,
) -> tuple[Problem, ...]:
    """Of each agent, in the order of `means`: by criterion, then what is too short.

    means: agent to criterion to the mean label. answers: by query id and agent.
    """
    lower = set(lower_is_better)
    found: list[Problem] = []
    for agent, named in means.items():
        for name, figure in named.items():
            least, less = thresholds.get(name), name in lower
            if least is None or figure.value is None or good_enough(figure.value, least, lower_is_better=less):
                continue
            best = figure.ci_low if less else figure.ci_high
            sure = best is not None and not good_enough(best, least, lower_is_better=less)
            how = "beyond chance" if sure else "though by no more than chance may bring about"
            side, way = ("above", ", of which less is better,") if less else ("below", "")
            said = (
                f"{one_line(agent)}: the mean of {one_line(name)}{way} is {figure.value:.3g}, {side} its threshold of "
                f"{least:g}, {how} (n {figure.n}{_failed(figure)})."
            )
            about: dict[str, Any] = {"agent": agent, "criterion": name, "figure": figure}
            found.append(Problem(kind="beyond_threshold", **about, sure=sure, sentence=said))
        rows = [row for (_, other), row in answers.items() if other == agent]
        short = {row.query_id: None if row.answer is None else float(not _WORD.search(row.answer)) for row in rows}
        if n := sum(value == 1 for value in short.values()):
            hold = "1 answer holds" if n == 1 else f"{n} answers hold"
            of = sum(value is not None for value in short.values())
            said = f"{one_line(agent)}: {hold} no word, too short to embed, of {of}."
            found.append(Problem(kind="too_short", agent=agent, figure=draws.figure(short, (0.0, 1.0)), sentence=said))
    return tuple(found)


Cause = Literal["retrieval", "generation", "unexplained"]
_CAUSES: Mapping[bool | None, Cause] = {None: "unexplained", True: "generation", False: "retrieval"}
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

        def figure(values: Values | None) -> Figure | None:
            return None if values is None else draws.figure(values, (0.0, 1.0))

        causes: tuple[Cause, ...] = () if self.of_passages else ("retrieval", "generation", "unexplained")
        of_cause: dict[str, Any] = {
            f"{cause}_failures": figure(
                {q: None if value is None else float(self.causes.get(q) == cause) for q, value in self.passed.items()}
            )
            for cause in causes
        }
        return ThresholdShares(
            passed=draws.figure(self.passed, (0.0, 1.0)),
            failed=draws.figure(_turned(self.passed), (0.0, 1.0)),
            parse_failures=figure(self.read and _turned(self.read)),
            **of_cause,
        )


def _turned(shares: Values) -> Values:
    return {query: None if value is None else 1 - value for query, value in shares.items()}


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
    made: dict[str, dict[str, AgentShares]] = defaultdict(dict)
    for evaluator, criterion, mine in by_criterion(evaluators, rows):
        threshold, of_passages = thresholds.get(criterion.name), evaluator.unit == "passage"
        if threshold is None or not mine:
            continue
        for (query, agent), label in _of_answers(evaluator, mine, answers).items():
            one = made[agent].setdefault(criterion.name, AgentShares(of_passages=of_passages))
            one.passed[query] = None
            if label is not None:
                enough = good_enough(label, threshold, lower_is_better=criterion.lower_is_better)
                one.passed[query] = float(enough)
                if not enough and not of_passages:
                    one.causes[query] = _CAUSES[found(query, agent)]
        # What was put to the judge: rows with a label, and those whose reply could not be read.
        for row in mine if evaluator.asking != "nothing" and not of_passages else ():
            one = made[row.subject][row.criterion]
            one.read = {} if one.read is None else one.read
            if row.label is not None or unread(row.error):
                one.read[row.query_id] = float(row.label is not None)
    return dict(made)


def values_by_agent(
    evaluators: Sequence[Evaluator], rows: Sequence[Assessment], answers: Mapping[tuple[str, str], Answer]
) -> dict[str, dict[str, Values]]:
    """Agent to criterion to label by query, of files; of passages the mean of an answer's own."""
    made: dict[str, dict[str, Values]] = defaultdict(lambda: defaultdict(dict))
    for evaluator, criterion, mine in by_criterion(evaluators, rows):
        for (query, agent), label in _of_answers(evaluator, mine, answers).items():
            made[agent][criterion.name][query] = label
    return {agent: dict(named) for agent, named in made.items()}


def by_criterion(
    evaluators: Sequence[Evaluator], rows: Sequence[Assessment]
) -> Iterator[tuple[Evaluator, Criterion, list[Assessment]]]:
    """Each criterion of the evaluators, in their order, with its records, none for one that has none."""
    found = grouped((row.criterion, row) for row in rows)
    for evaluator in evaluators:
        for criterion in evaluator.criteria:
            yield evaluator, criterion, found.get(criterion.name, [])


def by_threshold(shares: Mapping[str, Mapping[str, AgentShares]], draws: Resamples) -> ByThreshold:
    """The figures of all."""
    return {agent: {name: one.figures(draws) for name, one in named.items()} for agent, named in shares.items()}


def unread(error: str | None) -> bool:
    """Whether a record's error says that the judge's reply could not be read."""
    return error is not None and error.startswith(_UNREAD)


def _of_answers(
    evaluator: Evaluator, rows: Sequence[Assessment], answers: Mapping[tuple[str, str], Answer]
) -> dict[tuple[str, str], float | None]:
    """(query, agent) to the label, of a judge of passages the mean over the answer's own."""
    labels = {(row.query_id, row.subject): row.label for row in rows}
    if evaluator.unit != "passage":
        return labels
    owing = {row.query_id for row in rows}
    return {key: mean_label(answer, labels) for key, answer in answers.items() if key[0] in owing}


def mean_label(answer: Answer, labels: Mapping[tuple[str, str], float | None]) -> float | None:
    """Of the passages the answer was made from; None where there is none or one has no label.

    labels: by query id and passage id.
    """
    given = [labels.get((answer.query_id, id)) for id in dict.fromkeys(answer.passages)]
    known = [label for label in given if label is not None]
    return sum(known) / len(known) if known and len(known) == len(given) else None
