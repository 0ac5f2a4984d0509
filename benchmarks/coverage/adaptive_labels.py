"""Win rates corrected by people's labels after adaptive play: cells of `benchmarks.coverage.corrected`.

Who is level with the leader plays more, so that the games there are is no mean of all games. What is to be held is the
share of all games, every pair on every query, that people would say an agent won.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ragassay.arrays import Floats
from ragassay.evaluate.human_labels.corrections import Item, Labels, game_items, sample_of, weighted
from ragassay.evaluate.human_labels.frame import draw, games
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.inputs.labels import Key
from ragassay.evaluate.ratings.verdicts import Verdict
from ragassay.evaluate.statistics.ppi import correct_difference, correct_mean
from ragassay.records import Winner

from .labelled import Cell, mean_and_least
from .ratings import CLEAR, WORLDS, World, played, query_names, simulate, verdict_shares

COVERS = 0.93
METHODS = ("ours", "every game alike")
_SAID: dict[float, Winner] = {1.0: "a", 0.5: "tie", 0.0: "b"}
_MANY = 200_000


def win_rates(world: World) -> Floats:
    """(agents,): the share of all games that each wins, over endlessly many queries; a tie is nobody's win."""
    spread = np.hypot(world.by_query, world.by_section)
    luck = spread * np.random.default_rng(99).standard_normal((_MANY, len(world.strengths)))
    won, tied = (part.mean(axis=0) for part in verdict_shares(world, np.concatenate([luck, -luck])))
    wins = np.zeros(len(world.strengths))
    np.add.at(wins, world.pairs[:, 0], won)
    np.add.at(wins, world.pairs[:, 1], 1 - won - tied)
    rates: Floats = wins / (len(wins) - 1)
    return rates


def corrected_win_rates(world: World, errs: float, labels: int, experiments: int) -> Iterator[Cell]:
    """How often intervals of corrected win rates, and of the differences from the first agent's, hold the truth.

    errs: the share of games on which the judge says anything at random. labels: of how many games people say who won.
    """
    generator = np.random.default_rng(2026)
    people = simulate(world, experiments, generator)
    dice = generator.choice([0.0, 0.5, 1.0], people.shape)
    judge = played(world, np.where(generator.random(people.shape) < errs, dice, people), generator).scores
    truth, clusters = win_rates(world), Clusters.named(query_names(world), [str(number) for number in world.cluster])
    ends: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for index in range(experiments):
        found, said = _verdicts(world, judge[index]), _verdicts(world, people[index])
        known = _labels(found, said, labels, index)
        for method in METHODS:
            samples = [sample_of(_items(found, name, known, method), clusters, 1.0) for name in _names(world)]
            for agent, sample in enumerate(samples):
                mean = correct_mean(sample, index)
                ends.setdefault(("win rate", method), []).append((mean.low, mean.high, truth[agent]))
            for agent, sample in enumerate(samples[1:], 1):
                gap = correct_difference(samples[0], sample)
                ends.setdefault(("difference of win rates", method), []).append(
                    (gap.low, gap.high, truth[0] - truth[agent])
                )
    for (what, method), rows in ends.items():
        low, high, true = np.array(rows).T
        share = float(((low <= true) & (true <= high)).mean())
        name = f"corrected {what}, {_told(world, errs, labels)}"
        yield Cell(name, method, share, ">= 0.93", share >= COVERS, *mean_and_least(high - low), experiments)


def _told(world: World, errs: float, labels: int) -> str:
    alone = f", in sections of {world.per_section}" if world.per_section > 1 else ""
    judge = f"wrong at random on {errs:.0%}" if errs else "1/0"
    spread = world.strengths[0] - world.strengths[-1]
    size = f"{len(world.strengths)} agents over {spread:g} log odds, {world.n_queries} queries{alone}"
    return f"adaptive play of {size}, {labels} labels, judge {judge}"


def _names(world: World) -> list[str]:
    return [f"agent-{index:02d}" for index in range(len(world.strengths))]


def _verdicts(world: World, scores: Floats) -> list[Verdict]:
    """Of (queries, pairs), NaN where not played."""
    names, queries = _names(world), query_names(world)
    return [
        Verdict(queries[query], names[a], names[b], "judge", _SAID[scores[query, pair]], False, None, 2)
        for query, pair in np.argwhere(~np.isnan(scores)).tolist()
        for a, b in (world.pairs[pair].tolist(),)
    ]


def _labels(found: Sequence[Verdict], said: Sequence[Verdict], n: int, seed: int) -> Labels:
    """People's, of `n` games drawn as for a sheet."""
    units = draw(games(found), n, seed)
    inclusion: dict[Key, float] = {unit.items[0]: chance for unit, chance, drawn in units if drawn}
    scores = {unit.items[0]: value for unit, value in ((u, _score(v)) for v in said for u in games([v]))}
    return weighted({key: scores[key] for key in inclusion}, inclusion)


def _score(verdict: Verdict) -> float:
    score = verdict.score_of([verdict.agent_a])
    assert score is not None
    return score


def _items(found: Sequence[Verdict], agent: str, known: Labels, method: str) -> list[Item]:
    items = game_items(found, agent, known)
    return items if method == "ours" else [replace(item, size=1.0, opponent="") for item in items]


def cells(experiments: int) -> Iterator[Cell]:
    """Six agents, close and far apart; a perfect judge and one that errs."""
    for strengths in (WORLDS["6 agents"], CLEAR):
        for errs in (0.0, 0.2):
            yield from corrected_win_rates(World(strengths, 300), errs, 400, experiments)
