"""Every mean and every difference between agents twice: as judged, and as labels of people or a dear judge correct it.

What is corrected is the judge: the figures go on speaking of this test set, and of questions drawn as its were.

An answer's grade and a verdict are items of their own. A ranking measure's item is a query: people's value is known
where every passage among the agent's first k has a label (for nDCG, every passage that any agent has among its first
k), for whatever it comes out as, so that a known value does not depend on what was found. Of several people's labels
the mean counts; for a ranking measure, which takes whole labels, it is rounded, halves down. A game counts as in the
win rate (`ratings.win_table`): where pairs have met on different queries, n / m of its pair, in the judge's mean and in
the labels alike. How likely it was to be drawn for a sheet comes on top of that.

A dear judge's labels take people's place where a cheap one is unsure. The cheap judge labels everything. Of that a
sample is drawn as for a sheet (`sheet.draw_frame`), what the cheap judge was unsure of up to three times as often, and
the dear judge is asked about the sample alone. The figures then say what the dear judge would have said of everything:
only as good as the dear judge is.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil
from shutil import rmtree
from typing import Any

import numpy as np

from ragassay.calls.caller import Caller
from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, write_records
from ragassay.records import Assessment, Figure, Game, Judgment, grouped

from ..figures.values import highest
from ..inputs.clusters import Clusters
from ..inputs.findings import Findings
from ..inputs.labels import GAME, WON, Key, Label, by_item, read_labels
from ..judging.asked_again import ask_once
from ..judging.engine.cases import Judge, KnownRelevant, QueryCase
from ..judging.engine.rounds import judged as judged_by
from ..judging.games import game_cases
from ..judging.judges.relevance import CRITERION
from ..judging.panel import second_panel
from ..measures.measure import by_query, from_labels
from ..ratings.verdicts import SCORES, Verdict, panel_verdicts, verdicts
from ..ratings.win_table import pair_weights, win_rates_by_query
from ..results import WIN_RATE, CorrectedFigure, Corrections
from ..statistics.clustered import ByAgent, Values
from ..statistics.paired_comparison import pair_verdict
from ..statistics.power import labels_needed
from ..statistics.ppi import FEWEST_CLUSTERS, Sample, correct_difference, correct_mean
from ..statistics.resamples import DIGITS, Resamples, holm, six_digits
from .frame import shown
from .sheet import Drawn, draw_share, inclusion, read_inclusion


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
    queries = set(findings.queries)
    ours = {key: label for key, label in said.items() if _is_ours(key, queries, findings, criteria, k)}
    known = weighted(ours, people.inclusion)
    ranked = [agent for agent in agents if agent in judged.retrieval]
    by_measure: dict[str, dict[str, list[Item]]] = {}
    for measure in from_labels(k):
        by_measure[measure] = {a: ranking_items(findings, judged.retrieval[a], a, measure, k, known) for a in ranked}
    for criterion in criteria:
        by_measure[criterion] = {a: answer_items(judged.pointwise[a], a, criterion, known) for a in agents}
    by_measure[WIN_RATE] = {a: game_items(judged.found, a, known) for a in agents}
    figures: list[CorrectedFigure] = []
    for measure, by_agent in by_measure.items():
        items = {agent: rows for agent, rows in by_agent.items() if rows}
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


def _is_ours(key: Key, queries: Collection[str], findings: Findings, criteria: Sequence[str], k: int) -> bool:
    query, subject, criterion = key
    if query not in queries:
        return False
    if criterion == GAME:
        return all(agent in findings.material.agents for agent in subject.split(":"))
    if subject in findings.material.agents:
        return criterion in criteria
    return criterion == CRITERION and subject in shown(findings, query, k)


def _judged(items: Rows, found: Sequence[Verdict]) -> Judgments:
    """Where games do not all count the same, what each query adds to the win rate; else the mean of its items."""
    if any(row.opponent for rows in items.values() for row in rows):
        return win_rates_by_query(found, list(items))
    values = {agent: grouped((row.query, row.judged) for row in rows) for agent, rows in items.items()}
    return {agent: {q: sum(each) / len(each) for q, each in mine.items()} for agent, mine in values.items()}


def _figures(measure: str, items: Rows, values: Judgments, high: float, draws: Resamples) -> list[CorrectedFigure]:
    """Of each agent, and of each pair of agents with Holm's p over those that have one, and the verdict."""
    figures, pairs = list[CorrectedFigure](), list[CorrectedFigure]()
    for agent, rows in items.items():
        sample = sample_of(rows, draws.clusters, high)
        seed = random.Random(f"{draws.seed}:{measure}:{agent}").getrandbits(32)
        figure = _figure(measure, agent, None, draws.figure({**values[agent]}, (0.0, high)), (sample,), seed)
        if figure.corrected.value is not None:
            needed = labels_needed(sample, 0.05 * (sample.high - sample.low), seed)  # half an interval's width
            figure = figure.model_copy(update={"needed": needed})
        figures.append(figure)
    for a, b in combinations(items, 2):
        if both := values[a].keys() & values[b].keys():
            judged = draws.figure({query: values[a][query] - values[b][query] for query in both}, (-high, high))
            rows_a, rows_b = ([row for row in items[agent] if row.query in both] for agent in (a, b))
            samples = sample_of(rows_a, draws.clusters, high), sample_of(rows_b, draws.clusters, high)
            pairs.append(_figure(measure, a, b, judged, samples))
    known = iter(holm([figure.p for figure in pairs if figure.p is not None]))
    for figure in pairs:
        p = next(known) if figure.p is not None else None
        told = pair_verdict(figure.corrected.value, p) if p is not None else None
        figures.append(figure.model_copy(update={"p_holm": p, "verdict": told}))
    return figures


def _figure(
    measure: str, agent: str, other: str | None, judged: Figure, samples: Sequence[Sample], seed: int = 0
) -> CorrectedFigure:
    """Of one agent's sample, or of the difference of two; without a value where too few queries have a label."""
    fewest, found, note = min(sample.n_clusters for sample in samples), None, None
    corrected = Figure(value=None, n=judged.n, n_failed=judged.n_failed)
    if fewest < FEWEST_CLUSTERS:
        note = f"labels on {fewest} queries or sections, {FEWEST_CLUSTERS} are needed"
    else:
        found = correct_mean(samples[0], seed) if other is None else correct_difference(samples[0], samples[1])
        value, low, high = (round(end, DIGITS) for end in (found.value, found.low, found.high))
        corrected = corrected.model_copy(update={"value": value, "ci_low": low, "ci_high": high})
        if found.helps is False:
            note = f"with {found.n_labels} labels the judge adds nothing to what the labels say by themselves"
        elif found.helps is None:
            note = "all labels, or all the judge's values beside them, are alike: "
            note += "whether the judge helps cannot be told"
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
    known: dict[str, list[Key]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for query, value in values[measure].items():
        pool = [(query, passage, CRITERION) for passage in shown(findings, query, k)]
        ranked = [(query, passage, CRITERION) for passage, _ in (ranking.get(query) or [])[:k]]
        keys = pool if measure.startswith("nDCG") else ranked
        if value is not None and keys and all(key in labels.said for key in keys):
            known[query] = keys
            qrels[query] = {key[1]: ceil(labels.said[key] - 0.5) for key in pool if key in labels.said}
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


@dataclass(frozen=True)
class Asked:
    """What the second judge could have been asked about, and its records of what was drawn; empty without one."""

    frame: tuple[Drawn, ...] = ()
    relevance: tuple[Judgment, ...] = ()
    pointwise: tuple[Judgment, ...] = ()
    games: tuple[Game, ...] = ()

    @property
    def judgments(self) -> tuple[Judgment, ...]:
        """Of passages and answers."""
        return (*self.relevance, *self.pointwise)


def ask_second(
    workspace: Workspace, findings: Findings, cases: Sequence[QueryCase], relevant: KnownRelevant, caller: Caller
) -> Asked:
    """Draw and ask, where the experiment has a second judge. Raises what the caller raises, and InputError.

    cases: every query, its answers with what was found relevant. A drawn game is asked in both orders, as a pair,
    however the first judge compared the answers.
    """
    settings, k = workspace.experiment.judge, workspace.experiment.retrieval.k
    if settings.second is None:
        return Asked()
    panel, found = second_panel(workspace), panel_verdicts(verdicts(findings.games), settings.models)
    share, seed = settings.second_share, settings.seed
    frame = draw_share(findings, found, settings.criteria, k, share=share, seed=seed)
    keys = {row.key for row in frame if row.drawn}
    pools = [
        replace(case, passages=tuple(one for one in case.passages if (case.query.id, one.id, CRITERION) in keys))
        for case in cases
    ]
    once, answered = ask_once([[case for case in pools if case.passages]]), {key[:2] for key in keys}
    answers = [one for case in cases for one in case.answers if (case.query.id, one.subject) in answered]
    games = [
        game
        for game in game_cases(findings.material, relevant)
        if (game.query.id, ":".join(sorted((game.a.agent, game.b.agent))), GAME) in keys
    ]
    orders = [(judge, [game for game in games if game.first == first]) for first, judge in panel.games.items()]
    asked: list[tuple[Judge[Any], Sequence[Any]]] = [
        panel.passages(once.waves[0]),
        *((judge, answers) for judge in panel.pointwise),
        *orders,
    ]
    made = judged_by(asked, caller)
    n = 1 + len(panel.pointwise)

    def sorted_rows(rows: Iterable[Assessment]) -> tuple[Judgment, ...]:
        return tuple(sorted((row.judgment() for row in rows), key=lambda row: (row.query_id, row.subject)))

    return Asked(
        frame,
        sorted_rows(once.of_all(made[0])),
        sorted_rows(row for rows in made[1:n] for row in rows),
        tuple(row for rows in made[n:] for row in rows),
    )


def write_second(workspace: Workspace, asked: Asked) -> None:
    """Its files; without a second judge those of an earlier run go."""
    if workspace.experiment.judge.second is None:
        rmtree(workspace.second, ignore_errors=True)
        return
    write_records(workspace.second_drawn, asked.frame)
    write_records(workspace.second_relevance, asked.relevance)
    write_records(workspace.second_pointwise, asked.pointwise)
    write_records(workspace.second_games, asked.games)


@dataclass(frozen=True)
class SecondJudge:
    """What the dear judge said of the things drawn, for `correct_figures`; n_asked of them, of which n_failed failed.

    What failed, and what it has no record of, has no label, and the others weigh for it.
    """

    people: People
    n_asked: int
    n_failed: int


def second_labels(
    frame: Sequence[Drawn], judgments: Iterable[Judgment], verdicts: Iterable[Verdict] = ()
) -> SecondJudge:
    """The dear judge's labels of what `frame` drew, with the probabilities of the draw.

    judgments: its records of passages and answers; verdicts: on games, each from both orders. What was not drawn takes
    no part, whatever it said of it.
    """
    said: dict[Key, tuple[str, float | None]] = {
        (row.query_id, row.subject, row.criterion): (row.judge, row.label) for row in judgments
    }
    for one in verdicts:
        score = None if one.winner is None else SCORES[one.winner]
        said[one.query_id, f"{one.agent_a}:{one.agent_b}", GAME] = one.judge, score
    asked, labels = [row.key for row in frame if row.drawn], []
    for query, subject, criterion in asked:
        judge, label = said.get((query, subject, criterion), ("", None))
        if label is not None:
            labels.append(Label(who=judge, when="", query=query, subject=subject, criterion=criterion, label=label))
    return SecondJudge(People(tuple(labels), inclusion([frame])), len(asked), len(asked) - len(labels))


def read_second(workspace: Workspace) -> SecondJudge | None:
    """What the second judge of an experiment said; None without one. Raises InputError with the file."""
    if workspace.experiment.judge.second is None:
        return None
    if not workspace.second_drawn.exists():
        remedy = "run `ragassay judge` again"
        raise InputError("is not there: the second judge was not asked", file=workspace.second_drawn, remedy=remedy)
    rows = [*read_records(workspace.second_relevance, Judgment), *read_records(workspace.second_pointwise, Judgment)]
    games = verdicts(read_records(workspace.second_games, Game))
    return second_labels(read_records(workspace.second_drawn, Drawn), rows, games)


def notes_of_second(corrected: Corrections) -> tuple[str, ...]:
    """What is to be said of the labels as a whole: where they are too few to correct anything."""
    if any(figure.corrected.value is not None for figure in corrected.figures):
        return ()
    return (f"too few labels to correct anything: each figure needs them on {FEWEST_CLUSTERS} queries or sections",)
