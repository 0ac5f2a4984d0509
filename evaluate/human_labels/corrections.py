"""Every mean and every difference between agents twice: as judged, and as people's labels correct it.

What is corrected is the judge: the figures go on speaking of this test set, and of questions drawn as its were.

An answer's grade and a verdict are items of their own. A ranking measure's item is a query: people's value is known
where every passage among the agent's first k has a label (for nDCG, every passage that any agent has among its first
k), for whatever it comes out as, so that a known value does not depend on what was found. Of several people's labels
the mean counts; for a ranking measure, which takes whole labels, it is rounded, halves down. A game counts as in the
win rate (`ratings.win_table`): where pairs have met on different queries, n / m of its pair, in the judge's mean and in
the labels alike. How likely it was to be drawn for a sheet comes on top of that.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil

import numpy as np

from ragassay.experiment.workspace import Workspace
from ragassay.records import Figure

from ..figures.values import highest
from ..inputs.clusters import Clusters
from ..inputs.findings import Findings
from ..inputs.labels import GAME, WON, Key, Label, by_item, read_labels
from ..judging.judges.relevance import CRITERION
from ..measures.measure import by_query, from_labels
from ..ratings.verdicts import SCORES, Verdict
from ..ratings.win_table import pair_weights, win_rates_by_query
from ..results import WIN_RATE, CorrectedFigure, Corrections
from ..statistics.clustered import ByAgent, Values
from ..statistics.paired_comparison import pair_verdict
from ..statistics.power import labels_needed
from ..statistics.ppi import FEWEST_CLUSTERS, Corrected, Sample, correct_difference, correct_mean
from ..statistics.resamples import DIGITS, Resamples, holm, six_digits
from .frame import shown
from .sheet import read_inclusion


@dataclass(frozen=True)
class Judged:
    """What the judge said: retrieval and pointwise are agent to measure to query to value, `found` the verdicts."""

    retrieval: ByAgent
    pointwise: ByAgent
    found: Sequence[Verdict]


@dataclass(frozen=True)
class People:
    """`labels.csv`, and how likely each thing was to be drawn for a sheet; None where no sheet is on record."""

    labels: tuple[Label, ...]
    inclusion: Mapping[Key, float] | None


def read_people(workspace: Workspace) -> People | None:
    """People's labels, or None where the corpus folder has none. Raises InputError with file and line."""
    path = workspace.own_labels
    return People(read_labels(path), read_inclusion(workspace)) if path.exists() else None


def correct_figures(
    findings: Findings,
    judged: Judged,
    people: People,
    agents: Sequence[str],
    criteria: Sequence[str],
    k: int,
    draws: Resamples,
) -> Corrections:
    """Every figure that people labelled something of."""
    said = by_item(people.labels)
    known = weighted(
        {key: label for key, label in said.items() if _is_ours(key, findings, criteria, k)}, people.inclusion
    )
    figures: list[CorrectedFigure] = []
    for measure, items in _measures(findings, judged, agents, criteria, k, known).items():
        if any(item.human is not None for rows in items.values() for item in rows):
            values = _judged(items, judged.found)
            figures += _figures(measure, items, values, highest(measure, criteria), draws)
    return Corrections(
        figures=tuple(figures),
        n_labels=len(people.labels),
        n_people=len({label.who for label in people.labels}),
        n_unused=len(said) - len(known.said),
        notes=tuple(_notes(said, known, people.inclusion is None, figures)),
    )


def _is_ours(key: Key, findings: Findings, criteria: Sequence[str], k: int) -> bool:
    query, subject, criterion = key
    if query not in set(findings.queries):
        return False
    if criterion == GAME:
        return all(agent in findings.material.agents for agent in subject.split(":"))
    if subject in findings.material.agents:
        return criterion in criteria
    return criterion == CRITERION and subject in shown(findings, query, k)


def _measures(
    findings: Findings, judged: Judged, agents: Sequence[str], criteria: Sequence[str], k: int, labels: Labels
) -> dict[str, dict[str, list[Item]]]:
    """Measure to agent to items."""
    ranked = [agent for agent in agents if agent in judged.retrieval]
    found: dict[str, dict[str, list[Item]]] = {}
    for measure in from_labels(k):
        found[measure] = {a: ranking_items(findings, judged.retrieval[a], a, measure, k, labels) for a in ranked}
    for criterion in criteria:
        found[criterion] = {a: answer_items(judged.pointwise[a], a, criterion, labels) for a in agents}
    found[WIN_RATE] = {a: game_items(judged.found, a, labels) for a in agents}
    return {m: {agent: rows for agent, rows in each.items() if rows} for m, each in found.items()}


def _judged(items: Rows, found: Sequence[Verdict]) -> Judgments:
    """Where games do not all count the same, what each query adds to the win rate; else the mean of its items."""
    if any(row.opponent for rows in items.values() for row in rows):
        rates = win_rates_by_query(found, list(items), sorted({verdict.query_id for verdict in found}))
        return {agent: {q: value for q, value in row.items() if value is not None} for agent, row in rates.items()}
    values: dict[str, dict[str, list[float]]] = {agent: {} for agent in items}
    for agent, row in ((agent, row) for agent, rows in items.items() for row in rows):
        values[agent].setdefault(row.query, []).append(row.judged)
    return {agent: {q: sum(each) / len(each) for q, each in mine.items()} for agent, mine in values.items()}


def _figures(measure: str, items: Rows, values: Judgments, high: float, draws: Resamples) -> list[CorrectedFigure]:
    figures = []
    for agent, rows in items.items():
        sample = sample_of(rows, draws.clusters, high)
        judged = draws.figure({**values[agent]}, (0.0, high))
        if not _enough(sample):
            figures.append(_figure(measure, agent, None, judged, None, (sample,)))
            continue
        seed = random.Random(f"{draws.seed}:{measure}:{agent}").getrandbits(32)
        found = labels_needed(sample, 0.05 * (sample.high - sample.low), seed)  # half an interval's width
        needed = Figure(value=found.value, n=found.n_pilot, ci_low=found.low, ci_high=found.high)
        corrected = _figure(measure, agent, None, judged, correct_mean(sample, seed), (sample,))
        figures.append(corrected.model_copy(update={"needed": needed}))
    return [*figures, *_tested(_differences(measure, items, values, high, draws))]


def _differences(measure: str, items: Rows, values: Judgments, high: float, draws: Resamples) -> list[CorrectedFigure]:
    figures = []
    for a, b in combinations(items, 2):
        both = values[a].keys() & values[b].keys()
        if not both:
            continue
        judged = draws.figure({query: values[a][query] - values[b][query] for query in both}, (-high, high))
        rows_a, rows_b = ([row for row in items[agent] if row.query in both] for agent in (a, b))
        pair = sample_of(rows_a, draws.clusters, high), sample_of(rows_b, draws.clusters, high)
        found = correct_difference(*pair) if _enough(*pair) else None
        figures.append(_figure(measure, a, b, judged, found, pair))
    return figures


def _tested(figures: Sequence[CorrectedFigure]) -> list[CorrectedFigure]:
    """The differences with Holm's p over those that have one, and the verdict."""
    known = iter(holm([figure.p for figure in figures if figure.p is not None]))
    tested = []
    for figure in figures:
        p = next(known) if figure.p is not None else None
        told = pair_verdict(figure.corrected.value, p) if p is not None else None
        tested.append(figure.model_copy(update={"p_holm": p, "verdict": told}))
    return tested


def _enough(*samples: Sample) -> bool:
    """Whether enough queries (or sections) have a label."""
    return min(sample.n_clusters for sample in samples) >= FEWEST_CLUSTERS


def _figure(
    measure: str, agent: str, other: str | None, judged: Figure, found: Corrected | None, samples: Sequence[Sample]
) -> CorrectedFigure:
    if found is None:
        corrected = Figure(value=None, n=judged.n, n_failed=judged.n_failed)
        fewest = min(sample.n_clusters for sample in samples)
        note: str | None = f"labels on {fewest} queries or sections, {FEWEST_CLUSTERS} are needed"
    else:
        value, low, high = (round(end, DIGITS) for end in (found.value, found.low, found.high))
        corrected = Figure(value=value, n=judged.n, n_failed=judged.n_failed, ci_low=low, ci_high=high)
        note = None
        if found.helps is False:
            note = f"with {found.n_labels} labels the judge adds nothing to what the labels say by themselves"
        elif found.helps is None:
            note = (
                "all labels, or all the judge's values beside them, are alike: whether the judge helps cannot be told"
            )
    return CorrectedFigure(
        measure=measure,
        agent=agent,
        other=other,
        judged=judged,
        corrected=corrected,
        n_labels=sum(sample.n_labels for sample in samples),
        helps=found.helps if found else None,
        note=note,
        p=six_digits(found.p) if found is not None and found.p is not None else None,
    )


def _notes(said: Mapping[Key, float], known: Labels, undrawn: bool, figures: Sequence[CorrectedFigure]) -> list[str]:
    notes = []
    if not any(figure.corrected.value is not None for figure in figures):
        notes.append(
            f"labels.csv has too few labels to correct anything: each figure needs them on {FEWEST_CLUSTERS} queries "
            "or sections at least (of a ranking measure, on all passages of these queries)"
        )
    if unused := len(said) - len(known.said):
        notes.append(f"{unused} labelled things are not of this test set, or were not drawn by label-sheet: left out")
    if undrawn and known.said:
        notes.append("no sampling record is kept with labels.csv: what was labelled is taken as drawn at random")
    return notes


@dataclass(frozen=True)
class Item:
    """One item: the judge's value, people's (None without a label), 1 over its probability of being drawn.

    size: how much it counts among all. opponent: of a game, where games do not all count the same; else empty.
    """

    query: str
    judged: float
    human: float | None
    weight: float
    size: float = 1.0
    opponent: str = ""


Rows = Mapping[str, Sequence[Item]]
"""Agent to items."""
Judgments = Mapping[str, Mapping[str, float]]
"""Agent to query to the judge's value."""


@dataclass(frozen=True)
class Labels:
    """People's labels that count, and the weight of each: 1 over the probability with which it was drawn."""

    said: Mapping[Key, float]
    weight: Mapping[Key, float]


def weighted(said: Mapping[Key, float], inclusion: Mapping[Key, float] | None) -> Labels:
    """The labels that were drawn, with their weights; all, each with weight 1, where no draw is on record."""
    if inclusion is None:
        return Labels(said, dict.fromkeys(said, 1.0))
    known = {key: label for key, label in said.items() if key in inclusion}
    return Labels(known, {key: 1 / inclusion[key] for key in known})


def answer_items(values: Mapping[str, Values], agent: str, criterion: str, labels: Labels) -> list[Item]:
    """An agent's answers on one criterion; `values` are the judge's."""
    return [
        Item(query, value, labels.said.get(key), labels.weight.get(key, 1.0))
        for query, value in values[criterion].items()
        if value is not None and (key := (query, agent, criterion))
    ]


def game_items(found: Sequence[Verdict], agent: str, labels: Labels) -> list[Item]:
    """An agent's games: 1 for one it won, else 0, as in its win rate; the mean over the judges of a game."""
    told: dict[Key, list[float]] = {}
    sizes = {f"{one}:{other}": size for (one, other), size in pair_weights(found).items()}
    for verdict in found:
        if verdict.winner is not None and agent in (verdict.agent_a, verdict.agent_b):
            key = (verdict.query_id, f"{verdict.agent_a}:{verdict.agent_b}", GAME)
            told.setdefault(key, []).append(_won(SCORES[verdict.winner], verdict.agent_a == agent))
    return [
        Item(
            key[0],
            sum(each) / len(each),
            None if key not in labels.said else _won(labels.said[key], key[1].startswith(f"{agent}:")),
            labels.weight.get(key, 1.0),
            sizes.get(key[1], 1.0),
            key[1].removeprefix(f"{agent}:").removesuffix(f":{agent}") if sizes else "",
        )
        for key, each in told.items()
    ]


def ranking_items(
    findings: Findings, values: Mapping[str, Values], agent: str, measure: str, k: int, labels: Labels
) -> list[Item]:
    """An agent's queries on one ranking measure; `values` are the judge's."""
    ranking = findings.rankings[agent]
    whole = {query: _whole(findings, agent, measure, query, k, labels) for query in values[measure]}
    known = {query: keys for query, keys in whole.items() if keys and values[measure][query] is not None}
    qrels = {
        query: {key[1]: ceil(labels.said[key] - 0.5) for key in _pool_keys(findings, query, k) if key in labels.said}
        for query in known
    }
    human = by_query(measure, qrels, {query: (ranking.get(query) or [])[:k] for query in known})
    return [
        Item(
            query,
            value,
            human.get(query, 0.0) if query in known else None,
            max((labels.weight[key] for key in known.get(query, ())), default=1.0),
        )
        for query, value in values[measure].items()
        if value is not None
    ]


def sample_of(items: Iterable[Item], clusters: Clusters, high: float) -> Sample:
    """The items as arrays; values run from 0 to `high`. `clusters` has every query."""
    rows = sorted(items, key=lambda item: (item.query, item.judged, -1.0 if item.human is None else item.human))
    places = {name: place for place, name in enumerate(sorted({row.opponent for row in rows}))}
    return Sample(
        np.array([clusters.number(row.query) for row in rows], dtype=np.intp),
        np.array([row.judged for row in rows]),
        np.array([np.nan if row.human is None else row.human for row in rows]),
        np.array([row.weight for row in rows]),
        0.0,
        high,
        np.array([row.size for row in rows]),
        np.array([places[row.opponent] for row in rows], dtype=np.intp),
    )


def _won(score: float, is_a: bool) -> float:
    """Whether the agent won; several people's mean score is a win where they mostly say so."""
    return float((score if is_a else 1 - score) > WON)


def _pool_keys(findings: Findings, query: str, k: int) -> list[Key]:
    return [(query, passage, CRITERION) for passage in shown(findings, query, k)]


def _whole(findings: Findings, agent: str, measure: str, query: str, k: int, labels: Labels) -> list[Key]:
    """The keys of the passages that the measure looks at, or none where one of them has no label."""
    ranked = [(query, passage, CRITERION) for passage, _ in (findings.rankings[agent].get(query) or [])[:k]]
    keys = _pool_keys(findings, query, k) if measure.startswith("nDCG") else ranked
    return keys if all(key in labels.said for key in keys) else []
