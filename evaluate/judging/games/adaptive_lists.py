"""Adaptive play of lists: on which queries all agents are ranked together, found by ranking them batch by batch."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.experiment.judge_settings import JudgeSettings
from ragassay.records import Game

from ...inputs.material import Material
from ...inputs.sections import source_clusters
from ...ratings.panel_verdicts import panel_verdicts
from ...ratings.verdicts import SCORES, verdicts
from ..engine.cases import ListCase
from .adaptive import Design, play_together, spread
from .pairings import all_pairs

PlayLists = Callable[[Sequence[ListCase]], Sequence[Game]]
"""Has lists ranked, or says why they cannot be, and gives the games that they say."""


def chosen_lists(
    cases: Sequence[ListCase], material: Material, settings: JudgeSettings, play: PlayLists
) -> list[ListCase]:
    """Those of `cases`, in their order, that are on the queries that adaptive play gets to.

    The path depends on the seed, the agents' and queries' names and the verdicts alone, so that a run that was stopped
    goes the same way again. Raises what `play` raises.
    """
    lists: dict[str, list[ListCase]] = defaultdict(list)
    for case in cases:
        lists[case.query.id].append(case)
    pairs = {pair: place for place, pair in enumerate(all_pairs(sorted(material.agents)))}
    names = sorted(lists)
    if not pairs or not names:
        return []
    cluster = source_clusters(material.queries).of(names).numbers
    place = spread(cluster, random.Random(f"{settings.seed}"))

    def reveal(new: Truths) -> Floats:
        scores = np.full(new.shape, np.nan)
        some = [names[number] for number in np.flatnonzero(new[0].any(axis=1))]
        games = play([case for name in some for case in lists[name]])
        for v in panel_verdicts(verdicts(games), settings.models):
            if v.winner is not None:
                scores[0, names.index(v.query_id), pairs[v.agent_a, v.agent_b]] = SCORES[v.winner]
        return scores

    design = Design(len(material.agents), len(names), settings.adaptive_confidence, settings.adaptive_max_games)
    n_played = play_together(design, cluster, place[None], reveal).met[0, 0]
    played = {name for name, at in zip(names, place.tolist(), strict=True) if at < n_played}
    return [case for case in cases if case.query.id in played]
