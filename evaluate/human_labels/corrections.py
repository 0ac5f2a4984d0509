"""Every mean and every difference between agents twice: as judged, and as people's labels correct it.

What is corrected is the judge: the figures go on speaking of this test set, and of questions drawn as its were.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from ragassay.experiment.workspace import Workspace
from ragassay.records import Figure

from ..figures.query_values import highest, ranking_measures
from ..inputs.findings import Findings
from ..inputs.labels import GAME, Key, Label, by_item, read_labels
from ..judging.judges.relevance import CRITERION
from ..ratings.verdicts import Verdict
from ..ratings.win_table import win_rates_by_query
from ..results import WIN_RATE, CorrectedFigure, Corrections
from ..statistics.clustered import ByAgent
from ..statistics.corrected_mean import FEWEST_CLUSTERS, Corrected, correct_difference, correct_mean
from ..statistics.holm import holm
from ..statistics.labels_needed import labels_needed
from ..statistics.paired_comparison import pair_verdict
from ..statistics.ppi import Sample
from ..statistics.resamples import DIGITS, Resamples, six_digits
from .frame import shown
from .items import Item, Labels, answer_items, game_items, ranking_items, sample_of, weighted
from .sheet import read_inclusion

HALF_WIDTH = 0.05
"""Of the interval that `needed` asks for, as a part of the scale."""


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
    for measure in ranking_measures(k):
        found[measure] = {a: ranking_items(findings, judged.retrieval[a], a, measure, k, labels) for a in ranked}
    for criterion in criteria:
        found[criterion] = {a: answer_items(judged.pointwise[a], a, criterion, labels) for a in agents}
    found[WIN_RATE] = {a: game_items(judged.found, a, labels) for a in agents}
    return {m: {agent: rows for agent, rows in each.items() if rows} for m, each in found.items()}


Rows = Mapping[str, Sequence[Item]]
"""Agent to items."""

Judgments = Mapping[str, Mapping[str, float]]
"""Agent to query to the judge's value."""


def _judged(items: Rows, found: Sequence[Verdict]) -> Judgments:
    """Where games do not all count the same, what each query adds to the win rate; else the mean of its items."""
    if any(row.opponent for rows in items.values() for row in rows):
        rates = win_rates_by_query(found, list(items), sorted({verdict.query_id for verdict in found}))
        return {agent: {q: value for q, value in row.items() if value is not None} for agent, row in rates.items()}
    return {agent: _by_query(rows) for agent, rows in items.items()}


def _figures(measure: str, items: Rows, values: Judgments, high: float, draws: Resamples) -> list[CorrectedFigure]:
    figures = []
    for agent, rows in items.items():
        sample = sample_of(rows, draws.clusters, high)
        judged = draws.figure({**values[agent]}, (0.0, high))
        found = correct_mean(sample, _seed(draws, measure, agent)) if _enough(sample) else None
        needed = _needed(sample, _seed(draws, measure, agent)) if _enough(sample) else None
        figures.append(_figure(measure, agent, None, judged, found, (sample,)).model_copy(update={"needed": needed}))
    return [*figures, *_tested(_differences(measure, items, values, high, draws))]


def _differences(measure: str, items: Rows, values: Judgments, high: float, draws: Resamples) -> list[CorrectedFigure]:
    figures = []
    for a, b in combinations(items, 2):
        both = values[a].keys() & values[b].keys()
        rows_a, rows_b = ([row for row in items[agent] if row.query in both] for agent in (a, b))
        if not both:
            continue
        judged = draws.figure({query: values[a][query] - values[b][query] for query in both}, (-high, high))
        pair = (sample_of(rows_a, draws.clusters, high), sample_of(rows_b, draws.clusters, high))
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


def _by_query(rows: Sequence[Item]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for row in rows:
        values.setdefault(row.query, []).append(row.judged)
    return {query: sum(each) / len(each) for query, each in values.items()}


def _enough(*samples: Sample) -> bool:
    """Whether enough queries (or sections) have a label."""
    return min(sample.n_clusters for sample in samples) >= FEWEST_CLUSTERS


def _needed(sample: Sample, seed: int) -> Figure:
    found = labels_needed(sample, HALF_WIDTH * (sample.high - sample.low), seed)
    return Figure(value=found.value, n=found.n_pilot, ci_low=found.low, ci_high=found.high)


def _seed(draws: Resamples, *names: str) -> int:
    return random.Random(f"{draws.seed}:{':'.join(names)}").getrandbits(32)


def _figure(
    measure: str, agent: str, other: str | None, judged: Figure, found: Corrected | None, samples: Sequence[Sample]
) -> CorrectedFigure:
    n = sum(sample.n_labels for sample in samples)
    fewest = min(sample.n_clusters for sample in samples)
    if found is None:
        corrected = Figure(value=None, n=judged.n, n_failed=judged.n_failed)
        note: str | None = f"labels on {fewest} queries or sections, {FEWEST_CLUSTERS} are needed"
    else:
        value, low, high = (round(end, DIGITS) for end in (found.value, found.low, found.high))
        corrected = Figure(value=value, n=judged.n, n_failed=judged.n_failed, ci_low=low, ci_high=high)
        note = _note(found)
    return CorrectedFigure(
        measure=measure,
        agent=agent,
        other=other,
        judged=judged,
        corrected=corrected,
        n_labels=n,
        helps=found.helps if found else None,
        note=note,
        p=six_digits(found.p) if found is not None and found.p is not None else None,
    )


def _note(found: Corrected) -> str | None:
    if found.helps is False:
        return f"with {found.n_labels} labels the judge adds nothing to what the labels say by themselves"
    if found.helps is None:
        return "all labels, or all the judge's values beside them, are alike: whether the judge helps cannot be told"
    return None


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
