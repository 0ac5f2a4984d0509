"""Each agent's values by query, their means and boxes, counts of labels, and the measures on which agents compare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from math import isinf

import numpy as np

from ragassay.cores import Helpers
from ragassay.errors import InputError
from ragassay.experiment.settings import Experiment
from ragassay.experiment.variants import AnsweredBy, cross
from ragassay.experiment.workspace import Workspace
from ragassay.files import Qrels
from ragassay.records import Answer, Figure
from ragassay.text import did_you_mean, listed, plain

from ..inputs.clusters import Clusters
from ..inputs.findings import Findings, Material, Ranked
from ..inputs.labels import HIGHEST
from ..judging.catalog import experiment_evaluators
from ..judging.judges.pointwise import REFUSAL
from ..measures.by_labels import LabelRows, ideal_gains, label_rows
from ..measures.by_place import sources
from ..measures.measure import Judged, by_query, compared, in_runs, package_of
from ..ratings.verdicts import Points
from ..results import POINTS, Box, Boxes, Comparison, Figures, ModelByPrompt
from ..statistics.clustered import ByAgent, Range, Values
from ..statistics.paired_comparison import FromLeader, ValueTable, compare_pairs
from ..statistics.resamples import DIGITS, Resamples
from .evaluator_values import Evaluations, measures_of
from .values import ComparedMeasure, Scale

REACH = 1.5
"""How many interquartile ranges a whisker may be long."""


def boxes_of(*tables: tuple[ByAgent, Figures, Callable[[str], Range | None]]) -> Boxes:
    """The box of every measure of `tables`, each with the measures' means and what gives a measure's scale."""
    boxes: Boxes = {}
    for table, means, scale_of in tables:
        for agent, named in table.items():
            for name, row in named.items():
                boxes.setdefault(agent, {})[name] = box(row, means[agent][name], scale_of(name))
    return boxes


def box(values: Mapping[str, float | None], figure: Figure, scale: Range | None = None) -> Box:
    """The box of one agent's values by query, in their units; None is one that failed and is in no quartile.

    Quartiles are numpy's default (linear, type 7 of Hyndman and Fan 1996). figure: the mean of the same values with its
    interval. scale: the lowest and highest value there can be, where there are such.
    """
    given = np.array(list(values.values()), dtype=np.float64)  # NaN for None
    known = np.sort(np.round(given[~np.isnan(given)], DIGITS))  # what differs in its last bit is no outlier
    lowest, highest = (scale[0], None if isinf(scale[1]) else scale[1]) if scale else (None, None)
    n_failed = len(values) - len(known)
    if not len(known):
        return Box(n=0, n_failed=n_failed, mean=figure, lowest=lowest, highest=highest)
    q1, median, q3 = np.quantile(known, [0.25, 0.5, 0.75])
    low, high = q1 - REACH * (q3 - q1), q3 + REACH * (q3 - q1)
    inside = known[(known >= low) & (known <= high)]
    return Box(
        n=len(known),
        n_failed=n_failed,
        minimum=_kept(known[0]),
        q1=_kept(q1),
        median=_kept(median),
        q3=_kept(q3),
        maximum=_kept(known[-1]),
        low_whisker=_kept(inside[0]),
        high_whisker=_kept(inside[-1]),
        outliers=tuple(_kept(value) for value in known[(known < low) | (known > high)]),
        mean=figure,
        lowest=lowest,
        highest=highest,
    )


def _kept(value: float) -> float:
    return round(float(value), DIGITS)


def labelled_rows(findings: Findings, k: int) -> dict[str, LabelRows]:
    """Agent to the judge's labels of the first k passages, of the queries where all have one."""
    return rows_of_asked(findings.queries, findings.qrels, findings.rankings, k, findings.material)


def rows_of_asked(
    queries: Sequence[str], qrels: Qrels, rankings: Mapping[str, Ranked], k: int, material: Material
) -> dict[str, LabelRows]:
    """`label_rows` of each agent, of the queries that it was asked."""
    ideal = ideal_gains(qrels, k)
    left: dict[str, set[str]] = {}
    for query, agent in material.not_asked:
        left.setdefault(agent, set()).add(query)
    return {
        agent: label_rows(queries, qrels, ranking, k, ideal).without(left.get(agent, ()))
        for agent, ranking in rankings.items()
    }


def retrieval_by_query(
    findings: Findings, k: int, more: Sequence[str] = (), labelled: Mapping[str, LabelRows] | None = None
) -> dict[str, dict[str, Values]]:
    """Agent to measure to query to value, by the judge's labels, of the measures that apply to some query.

    k: the cutoff; more: the user's own measures. labelled: `labelled_rows`, if they are at hand.
    """
    failed: dict[str, list[str]] = {}
    for judgment in findings.relevance:
        if judgment.error is not None:
            failed.setdefault(judgment.query_id, []).append(judgment.subject)
    found = sources(findings.material.queries, findings.sections)
    values: dict[str, dict[str, Values]] = {}
    passages, measures = findings.material.passages, in_runs(k, more)
    labelled = labelled_rows(findings, k) if labelled is None else labelled
    unsettled = {q for q, row in failed.items() if any(p not in findings.qrels.get(q, {}) for p in row)}
    for agent, ranking in findings.rankings.items():
        rows = labelled[agent].without(unsettled)
        queries = [query.id for query in findings.material.asked_of(agent)]
        mine = {query: places for query, places in found.items() if (query, agent) not in findings.material.not_asked}
        judged = Judged(queries, findings.qrels, ranking, failed, mine, passages, rows)
        values[agent] = {str(measure): row for measure in measures if (row := measure.values(judged))}
    return values


def people_by_query(findings: Findings, measures: Sequence[str]) -> dict[str, dict[str, Values]]:
    """The same by people's labels, over the queries they judged; what they left unjudged is not relevant (TREC).

    A level of relevance that they never gave is left out.
    """
    highest = max((label for labels in findings.people.values() for label in labels.values()), default=0)
    spelt = [m for m in measures if highest and not (m.startswith("RR(rel=2)") and highest < 2)]
    values: dict[str, dict[str, Values]] = {}
    for agent, ranking in findings.rankings.items() if spelt else ():
        asked = [query for query in findings.people if (query, agent) not in findings.material.not_asked]
        runs = {query: row for query in asked if (row := ranking.get(query)) is not None}
        qrels = {query: findings.people[query] for query in runs}
        scored = {measure: by_query(measure, qrels, runs) for measure in spelt}
        values[agent] = {m: {query: row.get(query) for query in asked} for m, row in scored.items()}
    return values


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
    asked = {agent: [query.id for query in findings.material.asked_of(agent)] for agent in findings.material.agents}
    return {
        agent: {
            criterion: dict(zip(queries, map(sums.get((agent, criterion), {}).get, queries), strict=True))
            for criterion in criteria
        }
        for agent, queries in asked.items()
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
    counts = {"0": 0, "1": 0, "2": 0} | {f"{label:g}": n for label, n in sorted(often.items())}
    return dict(sorted(counts.items(), key=lambda item: float(item[0])))


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
        rows = [findings.material.answers[query.id, agent] for query in findings.material.asked_of(agent)]
        n = sum(row.error is None for row in rows)
        share = draws.figure({row.query_id: float(row.error is None) for row in rows}, (0.0, 1.0))
        table[agent] = {"answered": share.model_copy(update={"n": n, "n_failed": len(rows) - n})}
        table[agent] |= {name: mean_of_answers(rows, measure, draws) for name, measure in shown.items()}
    return table


def mean_of_answers(rows: Sequence[Answer], measure: Callable[[Answer], float | None], draws: Resamples) -> Figure:
    """The mean over the answers there are; what was not measured is left out, not failed."""
    failed = sum(row.error is not None for row in rows)
    known = {row.query_id: value for row in rows if row.error is None and (value := measure(row)) is not None}
    return draws.figure(known).model_copy(update={"n_failed": failed})


def of_findings(
    ranking: Sequence[str], retrieval: ByAgent, pointwise: ByAgent, points: Points
) -> dict[str, ComparedMeasure]:
    """Measure to values: the measures of `ranking`, each criterion, and an agent's points a query."""
    names = list(dict.fromkeys(name for row in pointwise.values() for name in row))
    table = {
        measure: ComparedMeasure({agent: row[measure] for agent, row in retrieval.items() if measure in row})
        for measure in ranking
    }
    labels = Scale(highest=HIGHEST)
    table |= {name: ComparedMeasure({agent: row[name] for agent, row in pointwise.items()}, labels) for name in names}
    return table | {POINTS: ComparedMeasure(points.values())}


def of_evaluators(evaluated: Evaluations) -> dict[str, ComparedMeasure]:
    """What evaluators gave, each measure with the values of the agents that have it."""
    return {
        name: ComparedMeasure({agent: row[name] for agent, row in evaluated.values.items() if name in row}, scale)
        for name, scale in evaluated.scales.items()
    }


def asked_measures(experiment: Experiment) -> list[str]:
    """The names of `of_findings`, as the settings give them."""
    ranking = compared(experiment.retrieval.k, experiment.compare.measures)
    return [*ranking, *experiment.judge.criteria, POINTS]


def check_measures(workspace: Workspace) -> None:
    """Raises InputError for a measure that `[compare] measures` cannot have, or `matters` names and is not compared.

    It needs the settings alone, so that it can be said before anything is paid for.
    """
    experiment = workspace.experiment
    try:
        known = asked_measures(experiment)
    except InputError as error:
        problem = f"compare.measures: {error.problem}"
        raise InputError(problem, file=workspace.corpus / "experiment.toml", remedy=error.remedy) from None
    if experiment.evaluates and experiment.compare.matters.keys() - known:
        known += measures_of(experiment_evaluators(workspace), experiment.evaluate.k)
    for measure in experiment.compare.matters:
        if measure not in known:
            raise InputError(
                f"compare.matters names '{plain(measure)}', which is not compared here",
                file=workspace.corpus / "experiment.toml",
                remedy=f"{did_you_mean(measure, known)}the measures are {listed(known)}",
            )


def measures_brought(experiment: Experiment) -> dict[str, str | None]:
    """Each of `[compare] measures` and the package, with its version, that brings it; None of ours."""
    return {spelling: package_of(spelling) for spelling in experiment.compare.measures}


def without_values(experiment: Experiment, evaluated: Evaluations) -> list[str]:
    """A notice for each measure that matters and that the evaluators could give but did not."""
    known = {*asked_measures(experiment), *evaluated.scales}
    lacking = [plain(measure) for measure in experiment.compare.matters if measure not in known]
    return [f"compare.matters names '{measure}', of which there is no value to compare" for measure in lacking]


def compare_agents(
    table: Mapping[str, ComparedMeasure],
    order: Sequence[str],
    clusters: Clusters,
    seed: int,
    matters: Mapping[str, float],
    helpers: Helpers,
    leader: FromLeader | None = None,
    not_asked: Collection[tuple[str, str]] = (),
) -> Callable[[], tuple[Comparison, ...]]:
    """Every pair of agents on every measure, waited for when asked for; the first of a pair stands earlier in `order`.

    matters: measure to the smallest difference that matters. helpers: who compares, measure by measure. leader: who
    leads by points. not_asked: as of `Material`: a pair is compared over queries that both were asked.
    """
    begun = []
    for measure, one in table.items():
        values = ValueTable.of({agent: one.values[agent] for agent in order if agent in one.values}, not_asked)
        asked = (values, clusters, one.scale.width, seed, matters.get(measure), one.scale.lower_is_better)
        first = leader if measure == POINTS else None
        begun.append(helpers.start(compare_pairs, measure, *asked, leader=first))
    return lambda: tuple(row for wait in begun for row in wait())


def answered_by(experiment: Experiment, material: Material) -> dict[str, AnsweredBy]:
    """As the experiment has it, and after what the answers of the user's own systems carry, where all that do agree."""
    found = experiment.answered_by()
    for one in experiment.own_agents():
        keys = [(query.id, one.name) for query in material.queries]
        rows = [row for key in keys if (row := material.answers.get(key)) is not None]
        found[one.name] = AnsweredBy(_one([r.model for r in rows]) or one.writer, _one([r.prompt for r in rows]))
    return {agent: found[agent] for agent in material.agents if agent in found}


def models_by_prompts(
    by: Mapping[str, AnsweredBy], measures: Mapping[str, ComparedMeasure], draws: Resamples
) -> tuple[ModelByPrompt, ...]:
    """The mean of each measure over all answers of a model and a prompt, whichever agents gave them.

    n and n_failed count answers.
    """
    found = []
    for (model, prompt), agents in cross(by).items():
        means = {}
        for name, one in measures.items():
            if given := [one.values[agent] for agent in agents if agent in one.values]:
                rows = [pair for values in given for pair in values.items()]
                known = [(query, value) for query, value in rows if value is not None]
                means[name] = draws.mean(known, len(rows) - len(known), one.scale.limits)
        found.append(ModelByPrompt(model=model, prompt=prompt, agents=tuple(agents), means=means))
    return tuple(found)


def _one(said: Sequence[str | None]) -> str | None:
    known = {one for one in said if one is not None}
    return known.pop() if len(known) == 1 else None
