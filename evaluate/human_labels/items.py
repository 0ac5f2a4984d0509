"""People's labels beside the judge's values, measure by measure: the items that a correction is made from.

An answer's grade and a verdict are items of their own. A ranking measure's item is a query: people's value is known
where every passage among the agent's first k has a label (for nDCG, every passage that any agent has among its first
k), for whatever it comes out as, so that a known value does not depend on what was found. Of several people's labels
the mean counts; for a ranking measure, which takes whole labels, it is rounded, halves down.

A game counts as in the win rate (`ratings.win_table`): where pairs have met on different queries, n / m of its pair, in
the judge's mean and in the labels alike. How likely it was to be drawn for a sheet comes on top of that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from ..figures.measures import by_query
from ..inputs.clusters import Clusters
from ..inputs.findings import Findings
from ..inputs.labels import GAME, WON, Key
from ..judging.judges.relevance import CRITERION
from ..ratings.verdicts import SCORES, Verdict
from ..ratings.win_table import pair_weights
from ..statistics.clustered import Values
from ..statistics.ppi import Sample
from .frame import shown


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
