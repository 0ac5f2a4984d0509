"""Adaptive play: which games are left to play to find the best agent, and when it is found.

What is sought is the agent with the highest score (a tie half a win) against all others, each other counting the same:
the order that all games give, whether strengths are transitive or not. In the first round every pair plays a batch of
queries. After each round an agent is in the running unless the leader is ahead of it by more than `OUT` standard
errors; the leader and the nearest rival always are. In the next round two agents in the running play two batches, one
in the running plays a batch against each that is not, and those that are not play no more among themselves: a game of
two in the running says most about who is better (it moves both scores), their games against the others say the rest,
and the others' own games nothing. An agent may come back into the running, since its games against those in it go on.

Play ends a round after the leader was decided to be the best, when no pair with an agent in the running has a query
left, or when the budget is spent. That last round is for the estimates: luck helps to be decided, and more games take
some of it back (Bramley and Vitello, Assessment in Education 26(1), 2019, found the like of adaptive designs). It is
decided where the leader is ahead of each other agent beyond a limit shared out over the
looks (Bonferroni), so that the decision is right with the asked confidence although the data are looked at often. No
correction is due over the agents: to be the best is to be ahead of each (Hung and Fithian, Annals of Statistics 47(2),
2019). Dropping the worst step by step spends a given budget nearly as well as can be (Audibert, Bubeck and Munos,
Conference on Learning Theory 2010). `benchmarks/results/ratings/adaptive_play.md` has figures.

Which pairs play depends on the results, which queries they play on does not (`places`). So the verdicts of a pair are
always a random sample of its queries.

Everything is computed for many runs side by side (`tables`), which is what the simulations need; a real run is one.
Pairs are in the order of `itertools.combinations` of the agents.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil

import numpy as np

from ragassay.arrays import Floats, Ints, Truths
from ragassay.experiment.tables import JudgeSettings
from ragassay.records import Game

from ..inputs.clusters import Clusters, source_clusters
from ..inputs.findings import Material
from ..ratings.verdicts import SCORES, panel_verdicts, verdicts
from .engine.cases import GameCase, ListCase

BATCH_SHARE = 0.1
"""Of all queries, a batch."""

FEWEST_IN_BATCH = 3
"""At least so many queries a batch."""

OUT = 1.0
"""An agent is out of the running, until it comes back, where the leader is ahead by more standard errors."""

FEWEST_CLUSTERS = 6
"""Below six independent queries or sections nothing is decided: not even a win in each is significant at 5%."""

_KNOWN_TIES = 0.5
"""How many tied games each pair is taken to have played before the first, so that estimates are finite at any time."""

_STEADY = 20
"""Queries' worth of belief that games scatter as independent ones without ties, before their scatter is measured."""


@dataclass(frozen=True)
class Design:
    """How much is played. A game is one pair on one query, in both orders. confidence and max_share are in (0, 1]."""

    n_agents: int
    n_queries: int
    confidence: float = 0.95
    max_share: float = 0.5

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""
        return self.n_agents * (self.n_agents - 1) // 2

    @property
    def batch(self) -> int:
        """Queries that each pair plays in the first round."""
        return min(self.n_queries, max(FEWEST_IN_BATCH, ceil(BATCH_SHARE * self.n_queries)))

    @property
    def budget(self) -> int:
        """Games at most; the first round is played in any case."""
        return max(self.batch * self.n_pairs, int(self.max_share * self.n_queries * self.n_pairs))

    @property
    def most(self) -> int:
        """Queries at most, where all pairs play together on each; the first batch is played in any case."""
        return max(self.batch, int(self.max_share * self.n_queries))

    @property
    def looks(self) -> int:
        """How often the leader is tested, at most."""
        return ceil(self.n_queries / max(1, self.batch))


@dataclass(frozen=True)
class Played:
    """scores: (tables, queries, pairs), NaN where not played or without a verdict. met: (tables, pairs), on how many
    queries. best: (tables,), the agent decided to be the best, or -1. rounds: (tables,), how many each took."""

    scores: Floats
    met: Ints
    best: Ints
    rounds: Ints


@dataclass(frozen=True)
class Standing:
    """leader: (tables,), the agent with the highest score. ahead: (tables, agents), how many standard errors it is
    ahead of each; infinite for itself. clusters: (tables,), how many have a verdict."""

    leader: Ints
    ahead: Floats
    clusters: Ints


def places(cluster: Ints, n_agents: int, luck: random.Random) -> Ints:
    """(queries, pairs): where each query stands in each pair's order of them, from 0.

    One random order in which each cluster's queries are spread evenly (systematic sampling), begun by each pair at a
    point of its own: pairs that share no agent begin together, and the rounds of a round robin (the circle method) at
    points evenly apart. So each agent's games are spread evenly over queries and sections as well, however few.
    """
    n, size = len(cluster), n_agents if n_agents % 2 else n_agents - 1
    place = spread(cluster, luck)
    first, second = _ends(n_agents)
    # The circle method: the last of an even number of agents stands still and meets the others in turn.
    still = (second == n_agents - 1) & (n_agents % 2 == 0)
    turn = np.where(still, 2 * first, first + second) % max(size, 1)
    return np.asarray((place[:, None] - turn * n // max(size, 1)) % max(n, 1))


def spread(cluster: Ints, luck: random.Random) -> Ints:
    """(queries,): where each query stands, from 0, in a random order in which each cluster's are spread evenly."""
    drawn = np.array([luck.random() for _ in range(len(cluster))])
    starts = np.array([luck.random() for _ in range(int(cluster.max(initial=-1)) + 1)])
    order, sizes = np.lexsort((drawn, cluster)), np.bincount(cluster, minlength=len(starts))
    within = np.empty(len(cluster))
    within[order] = np.arange(len(cluster)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(np.argsort(np.argsort((within + starts[cluster]) / sizes[cluster], kind="stable")))


def play_out(design: Design, cluster: Ints, place: Ints, reveal: Callable[[Truths], Floats]) -> Played:
    """Round after round, until the best is decided, what may tell is played, or the budget is spent.

    cluster: (queries,) from 0, what is not independent. place: (tables, queries, pairs), as `places` gives it. reveal:
    plays the games that are true in a (tables, queries, pairs) array and returns their scores, NaN elsewhere.
    """

    def more(found: Standing, ended: Truths, met: Ints) -> Ints:
        return choose(running(found), ended, design.n_queries - met, design.budget - met.sum(axis=1), design)

    return _rounds(design, cluster, place, reveal, more)


def play_together(design: Design, cluster: Ints, place: Ints, reveal: Callable[[Truths], Floats]) -> Played:
    """The same where all pairs of a query play together: batch after batch of queries, until a batch after the best was
    decided, or the share of them that may be played is.

    place: (tables, queries), as `spread` gives it.
    """

    def more(_: Standing, ended: Truths, met: Ints) -> Ints:
        return np.minimum(design.batch, design.most - met) * ~ended[:, None]

    return _rounds(design, cluster, np.repeat(place[:, :, None], design.n_pairs, axis=2), reveal, more)


def _rounds(
    design: Design,
    cluster: Ints,
    place: Ints,
    reveal: Callable[[Truths], Floats],
    choose_more: Callable[[Standing, Truths, Ints], Ints],
) -> Played:
    """choose_more: (tables, pairs), how many more games each pair plays, by who leads, the tables where the best was
    decided a round ago, and how many each has met on."""
    scores = np.full(place.shape, np.nan)
    met, best = np.zeros((len(place), design.n_pairs), dtype=np.intp), np.full(len(place), -1)
    more, rounds = np.full(met.shape, design.batch), np.zeros(len(place), dtype=np.intp)
    while more.any():
        new = (place >= met[:, None]) & (place < (met + more)[:, None])
        scores = np.where(new, reveal(new), scores)
        met, rounds = met + more, rounds + more.any(axis=1)
        found, ended = standing(scores, cluster, design.n_agents), best >= 0
        best = np.where(ended, best, decide(found, design))
        more = choose_more(found, ended, met)
    return Played(scores, met, best, rounds)


def standing(scores: Floats, cluster: Ints, n_agents: int) -> Standing:
    """Who leads by the games so far, and by how much.

    scores: (tables, queries, pairs), the first agent's score (1, 0.5, 0), NaN where there is no verdict. An agent's
    score is the mean of its shares against each other. Its variance is that of the clusters' contributions.
    """
    (first, second), agents = _ends(n_agents), np.eye(n_agents)
    known, signs = ~np.isnan(scores), agents[first] - agents[second]  # (pairs, agents): 1 the first, -1 the second
    games = known.sum(axis=1) + _KNOWN_TIES
    share = (np.where(known, scores, 0.0).sum(axis=1) + _KNOWN_TIES / 2) / games
    points = np.where(signs > 0, share[:, :, None], np.where(signs < 0, 1 - share[:, :, None], 0.0)).sum(axis=1)
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    residuals = np.add.reduceat(np.where(known, scores - share[:, None], 0.0)[:, order], starts, axis=1)
    met = np.logical_or.reduceat(known[:, order], starts, axis=1)  # (tables, clusters, pairs)
    of_pair, n = np.maximum(met.sum(axis=1), 2), met.any(axis=2).sum(axis=1)
    weight = np.sqrt(of_pair / (of_pair - 1)) / games
    influence = (residuals * weight[:, None]) @ signs
    scatter = influence.transpose(0, 2, 1) @ influence
    alone = (signs.T * (0.25 / games)[:, None]) @ signs
    covariance = (n[:, None, None] * scatter + _STEADY * alone) / (n[:, None, None] + _STEADY)
    tables, leader = np.arange(len(scores)), points.argmax(axis=1)
    own = np.diagonal(covariance, axis1=1, axis2=2)
    variance = own[tables, leader][:, None] + own - 2 * covariance[tables, leader]
    variance[tables, leader] = 1.0
    ahead = (points[tables, leader][:, None] - points) / np.sqrt(variance)
    ahead[tables, leader] = np.inf
    return Standing(leader, ahead, n)


def running(found: Standing) -> Truths:
    """(tables, agents): who may still be the best: the leader, the nearest rival, and whoever is within `OUT`."""
    tables = np.arange(len(found.leader))
    candidates = found.ahead <= OUT
    candidates[tables, found.leader] = candidates[tables, found.ahead.argmin(axis=1)] = True
    return candidates


def decide(found: Standing, design: Design) -> Ints:
    """(tables,): the agent that is decided to be the best, or -1."""
    from scipy.special import ndtri

    limit = -ndtri((1 - design.confidence) / (2 * design.looks))
    sure = (found.ahead > limit).all(axis=1) & (found.clusters >= FEWEST_CLUSTERS)
    return np.where(sure, found.leader, -1)


def choose(candidates: Truths, ended: Truths, left: Ints, room: Ints, design: Design) -> Ints:
    """(tables, pairs): how many more games each pair plays; all pairs the same part of it where `room` is short.

    candidates: (tables, agents), who is in the running. left: (tables, pairs), on how many queries a pair has not met.
    room: (tables,), games still in the budget; fewer than there are pairs may stay there. None where play has `ended`.
    """
    first, second = _ends(design.n_agents)
    batches = candidates[:, first].astype(np.intp) + candidates[:, second]
    wanted = np.minimum(batches * design.batch, left) * ~ended[:, None]
    total = np.maximum(wanted.sum(axis=1), 1)
    chosen: Ints = wanted * np.minimum(room, total)[:, None] // total[:, None]
    return chosen


def _ends(n_agents: int) -> tuple[Ints, Ints]:
    """The first and the second agent of each pair."""
    pairs = np.array(list(combinations(range(n_agents), 2)), dtype=np.intp).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


Pair = tuple[str, str]
Meeting = tuple[str, Pair]
"""A query's id and the pair that plays on it."""

Play = Callable[[Sequence[Meeting]], Sequence[float | None]]
"""Plays games in both orders; the first agent's score of each: 1, 0.5, 0, or None where there is no verdict."""


def all_pairs(agents: Sequence[str]) -> list[Pair]:
    """Every pair, each in the order of `agents`."""
    return list(combinations(agents, 2))


def adaptive_meetings(
    agents: Sequence[str],
    queries: Sequence[str],
    clusters: Clusters,
    play: Play,
    seed: int,
    confidence: float,
    max_share: float,
) -> set[Meeting]:
    """The meetings played until the best agent is decided at `confidence`, or `max_share` is played.

    The path depends on the seed, the agents' and queries' names and the scores alone, so that a run that was stopped
    goes the same way again. clusters: of the queries.
    """
    given = set(all_pairs(agents))
    in_order, names = all_pairs(sorted(agents)), sorted(queries)
    pairs = [next(pair for pair in (two, two[::-1]) if pair in given) for two in in_order]
    if not pairs or not names:
        return set()
    cluster = clusters.of(names).numbers
    place = places(cluster, len(agents), random.Random(f"{seed}"))[None]

    def reveal(new: Truths) -> Floats:
        cells = np.argwhere(new[0]).tolist()
        found, scores = play([(names[query], pairs[pair]) for query, pair in cells]), np.full(new.shape, np.nan)
        for (query, pair), score in zip(cells, found, strict=True):
            scores[0, query, pair] = np.nan if score is None else score if pairs[pair] == in_order[pair] else 1 - score
        return scores

    design = Design(len(agents), len(names), confidence, max_share)
    played = play_out(design, cluster, place, reveal)
    return {(names[query], pairs[pair]) for query, pair in np.argwhere(place[0] < played.met[0])}


PlayGames = Callable[[Sequence[GameCase]], Sequence[Game]]
"""Judges games, or says why they cannot be, in any order."""


def chosen(cases: Sequence[GameCase], material: Material, settings: JudgeSettings, play: PlayGames) -> list[GameCase]:
    """Those of `cases` that adaptive play meets with, in their order and always in both orders.

    Raises what `play` raises; a later run that finds the replies to what was asked goes the same way, and on.
    """
    games: dict[Meeting, list[GameCase]] = defaultdict(list)
    for case in cases:
        games[_meeting(case)].append(case)

    def scores(meetings: Sequence[Meeting]) -> list[float | None]:
        """The first agents', by both orders together, of several judges by the majority; None where one failed."""
        rows: dict[Meeting, list[Game]] = defaultdict(list)
        for row in play([case for meeting in meetings for case in games[meeting]]):
            rows[row.query_id, (row.agent_a, row.agent_b)].append(row)
        one_each = [panel_verdicts(verdicts(rows[meeting]), settings.models) for meeting in meetings]
        return [None if one.winner is None else SCORES[one.winner] for [one] in one_each]

    queries, clusters = [query.id for query in material.queries], source_clusters(material.queries)
    limits = settings.adaptive_confidence, settings.adaptive_max_games
    met = adaptive_meetings(material.agents, queries, clusters, scores, settings.seed, *limits)
    return [case for case in cases if _meeting(case) in met]


def _meeting(case: GameCase) -> Meeting:
    return case.query.id, (case.a.agent, case.b.agent)


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
