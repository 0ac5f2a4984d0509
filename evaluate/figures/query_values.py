"""Means over queries and counts of labels: the ranking measures, the pointwise grades, and what answering took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ragassay.records import Answer, Figure, Judgment
from ragassay.trec import Qrels

from ..inputs.findings import Findings, Ranked
from ..inputs.labels import HIGHEST
from ..judging.judges.answer_correctness import REFUSAL
from ..results import Figures
from ..statistics.clustered import ByAgent, Values
from ..statistics.resamples import Resamples, rounded
from .label_rows import LabelRows, rows_by_agent
from .measures import by_query, judged_by_query
from .section_recall import section_recall, sources


def ranking_measures(k: int) -> tuple[str, ...]:
    """The spellings of Table 4's measures, and the nDCG beside them."""
    return (f"RR(rel=2)@{k}", f"RR(rel=1)@{k}", f"nDCG@{k}")


def labelled_rows(findings: Findings, k: int) -> dict[str, LabelRows]:
    """Agent to the judge's labels of the first k passages, of the queries where all have one."""
    return rows_by_agent(findings.queries, findings.qrels, findings.rankings, k)


def retrieval_by_query(
    findings: Findings, k: int, labelled: Mapping[str, LabelRows] | None = None
) -> dict[str, dict[str, Values]]:
    """Agent to measure to query to value, by the judge's labels; R(section)@k where questions have a source.

    labelled: `labelled_rows`, if they are at hand.
    """
    failed: dict[str, list[str]] = {}
    for judgment in findings.relevance:
        if judgment.error is not None:
            failed.setdefault(judgment.query_id, []).append(judgment.subject)
    found = sources(findings.material.queries, findings.sections)
    values: dict[str, dict[str, Values]] = {}
    queries, labelled = findings.queries, labelled_rows(findings, k) if labelled is None else labelled
    unsettled = {q for q, row in failed.items() if any(p not in findings.qrels.get(q, {}) for p in row)}
    for agent, ranking in findings.rankings.items():
        rows = labelled[agent].without(unsettled)
        values[agent] = {
            measure: judged_by_query(measure, queries, findings.qrels, ranking, failed, k, rows)
            for measure in ranking_measures(k)
        }
        if found:
            values[agent][f"R(section)@{k}"] = section_recall(found, findings.material.passages, ranking, k)
    return values


def people_by_query(findings: Findings, k: int) -> dict[str, dict[str, Values]]:
    """The same by people's labels, over the queries they judged; what they left unjudged is not relevant (TREC).

    A level of relevance that they never gave is left out.
    """
    highest = max((label for labels in findings.people.values() for label in labels.values()), default=0)
    spelt = [m for m in ranking_measures(k) if highest and not (m.startswith("RR(rel=2)") and highest < 2)]
    return {
        agent: {measure: _by_people(measure, findings.people, ranking) for measure in spelt}
        for agent, ranking in findings.rankings.items()
        if spelt
    }


def _by_people(measure: str, people: Qrels, ranking: Ranked) -> Values:
    runs = {query: row for query in people if (row := ranking.get(query)) is not None}
    scored = by_query(measure, {query: people[query] for query in runs}, runs)
    return {query: scored.get(query) for query in people}


def pointwise_by_query(findings: Findings, criteria: Sequence[str]) -> dict[str, dict[str, Values]]:
    """Agent to criterion to query to the label (the mean of the judges' that there are); None where there is none."""
    sums: dict[tuple[str, str], dict[str, float]] = {}
    often: Counter[tuple[str, str, str]] = Counter()
    for row in findings.pointwise:
        if row.label is not None:
            key, query = (row.subject, row.criterion), row.query_id
            column = sums.get(key)
            if column is None:
                column = sums[key] = {}
            if query in column:
                often[*key, query] += 1
                column[query] += row.label
            else:
                column[query] = float(row.label)
    for (agent, criterion, query), more in often.items():
        sums[agent, criterion][query] /= 1 + more
    queries = findings.queries
    return {
        agent: {
            criterion: dict(zip(queries, map(sums.get((agent, criterion), {}).get, queries), strict=True))
            for criterion in criteria
        }
        for agent in findings.material.agents
    }


def refusals(findings: Findings, draws: Resamples) -> dict[str, Figure]:
    """Agent to the share of its answers that the judge calls refusals; empty where it was not asked.

    n_failed: answers that failed, or of which the judge failed to say it.
    """
    if not any(row.criterion == REFUSAL for row in findings.pointwise):
        return {}
    shares = pointwise_by_query(findings, (REFUSAL,))
    return {agent: draws.figure(row[REFUSAL], (0.0, 1.0)) for agent, row in shares.items()}


def figures(values: ByAgent, draws: Resamples, highest: float = 1.0) -> Figures:
    """The mean of each of them over its queries; values run from 0 to `highest`."""
    return {
        agent: {name: draws.figure(row, (0.0, highest)) for name, row in named.items()}
        for agent, named in values.items()
    }


def highest(measure: str, criteria: Collection[str]) -> float:
    """The best value of a measure: of a pointwise criterion its best label, of all else 1. The worst is 0."""
    return HIGHEST if measure in criteria else 1.0


def label_counts(judgments: Iterable[Judgment]) -> dict[str, int]:
    """How often each label was given, in the labels' order: {"0": 3, "2": 9}."""
    return _spelt(Counter(row.label for row in judgments if row.label is not None))


def pointwise_labels(findings: Findings, criteria: Sequence[str]) -> dict[str, dict[str, dict[str, int]]]:
    """Agent to criterion to label to how often, for "0", "1", "2" at least."""
    found: dict[tuple[str, str], dict[float, int]] = {}
    rows = Counter([(row.subject, row.criterion, row.label) for row in findings.pointwise])
    for (agent, criterion, label), often in rows.items():
        if label is not None:
            found.setdefault((agent, criterion), {})[label] = often
    return {
        agent: {criterion: _all_labels(found.get((agent, criterion), {})) for criterion in criteria}
        for agent in findings.material.agents
    }


def _all_labels(often: Mapping[float, int]) -> dict[str, int]:
    counts = {"0": 0, "1": 0, "2": 0} | _spelt(often)
    return dict(sorted(counts.items(), key=lambda item: float(item[0])))


def _spelt(often: Mapping[float, int]) -> dict[str, int]:
    return {f"{label:g}": often[label] for label in sorted(often)}


def relevance_labels(findings: Findings) -> dict[str, int]:
    """Label to how many of the judged passages got it, for "0", "1", "2" at least."""
    return _all_labels(Counter(row.label for row in findings.relevance if row.label is not None))


def answer_figures(findings: Findings, draws: Resamples) -> dict[str, dict[str, Figure]]:
    """`answered`: the share of the queries answered (n were, n_failed were not).

    `latency_s`, `output_tokens`, `cost_usd`: means over the answers for which they were measured; n_failed are the
    answers that failed, so that n + n_failed below the number of queries says that some were not measured.
    """
    shown: dict[str, Callable[[Answer], float | None]] = {
        "latency_s": lambda answer: answer.latency_s,
        "output_tokens": lambda answer: answer.usage.output_tokens,
        "cost_usd": lambda answer: answer.usage.cost_usd,
    }
    table = {}
    for agent in findings.material.agents:
        rows = [findings.material.answers[query, agent] for query in findings.queries]
        table[agent] = {"answered": _answered(rows, draws)}
        table[agent] |= {name: mean_of_answers(rows, measure, draws) for name, measure in shown.items()}
    return table


def _answered(rows: Sequence[Answer], draws: Resamples) -> Figure:
    share = draws.figure({row.query_id: float(row.error is None) for row in rows}, (0.0, 1.0))
    n = sum(row.error is None for row in rows)
    assert share.value is not None
    return rounded(share.value, n, len(rows) - n, share.ci_low, share.ci_high)


def mean_of_answers(rows: Sequence[Answer], measure: Callable[[Answer], float | None], draws: Resamples) -> Figure:
    """The mean over the answers there are; what was not measured is left out, not failed."""
    failed = sum(row.error is not None for row in rows)
    known = {row.query_id: value for row in rows if row.error is None and (value := measure(row)) is not None}
    return draws.figure(known).model_copy(update={"n_failed": failed})
