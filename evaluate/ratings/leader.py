"""Which agent to choose, in a record and a sentence, and who would lead on other verdicts.

One procedure on one scale (`statistics.ladder`): the leader has the most points, the others are told from it or not,
and who is not told may be the best. Failed games count against the leader in whether it is told, and whichever way
moves an interval's end out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ragassay.arrays import Ints, Truths
from ragassay.records import Figure
from ragassay.text import listed

from ..inputs.clusters import Clusters
from ..results import Choice, Claim, Comparison
from ..statistics.ladder import FEWEST_SECTIONS, Ladder, Look, holm_from_leader
from ..statistics.resamples import DIGITS, Resamples, rounded
from .bradley_terry import best_of, common_variance
from .verdicts import Decided, Points, points_of

MARGIN = 0.05
"""The difference of points (0 to 1) that matters where nobody says: five in a hundred games."""

_NO_VARIANCE = 1e-12


@dataclass(frozen=True)
class Standing:
    """As `results.Choice`, of the agents with a verdict, which `order` has best first.

    differences: with the ladder's interval. adjusted: agent to its two-sided p, told at 5%. p_best: in `order`.
    expected_loss: None below two sections, or with strangers. strangers: pairs that have not met; nothing is told then.
    n_queries, n_sections: with a verdict.
    """

    order: tuple[str, ...]
    told: tuple[str, ...]
    untold: tuple[str, ...]
    equal: bool
    safe: bool
    margin: float
    differences: dict[str, Figure]
    adjusted: dict[str, float]
    p_best: dict[str, float]
    expected_loss: float | None
    overturned_by: int | None
    strangers: tuple[tuple[str, str], ...]
    n_queries: int
    n_sections: int

    @property
    def leader(self) -> str:
        """The agent with the most points."""
        return self.order[0]

    @property
    def possible_best(self) -> tuple[str, ...]:
        """The leader and whoever it is not told from, in order."""
        return (self.leader, *self.untold)

    @property
    def decided(self) -> bool:
        """Whether the leader is told from each other."""
        return not self.untold


def stand(
    points: Points,
    clusters: Clusters,
    seed: int,
    margin: float = MARGIN,
    look: Look | None = None,
    before: Collection[str] = (),
) -> Standing | None:
    """None where fewer than two agents have a verdict. clusters: of the queries; one that it lacks is its own.

    look: where the run may end before all queries are in; before: the agents told at an earlier look, which stay told
    and stand behind the others.
    """
    rated = [agent for agent, mean in zip(points.agents, points.means.tolist(), strict=True) if mean == mean]
    if len(rated) < 2:
        return None
    mine = points.of(sorted((agent for agent in points.order if agent in rated), key=lambda agent: agent in before))
    clusters = clusters.of(mine.queries)
    out = np.array([agent in before for agent in mine.agents[1:]]) if before else None
    found = _ladder(mine, clusters, seed, look=look, before=out)
    met = not mine.strangers
    told = [agent for agent, one in zip(mine.agents[1:], found.told.tolist(), strict=True) if one and met]
    untold = [agent for agent in mine.agents[1:] if agent not in told]
    at = [mine.agents[1:].index(agent) for agent in untold]
    known = met and found.n_sections >= FEWEST_SECTIONS and not np.isnan(found.low).any()
    adjusted = found.adjusted if met else np.ones_like(found.adjusted)
    p_best, loss = _chances(mine, clusters) if met else ({}, None)
    rows = zip(mine.agents[1:], found.difference, found.n, found.n_failed, found.low, found.high, strict=True)
    return Standing(
        order=mine.agents,
        told=tuple(told),
        untold=tuple(untold),
        equal=bool(known and untold and (found.high[at] < margin).all()),
        safe=bool(known and (found.low[at] > -margin).all()),
        margin=margin,
        differences={agent: rounded(*row) for agent, *row in rows},
        adjusted=dict(zip(mine.agents[1:], adjusted.tolist(), strict=True)),
        p_best=p_best,
        expected_loss=loss,
        overturned_by=_overturned_by(mine, clusters, seed, decided=not untold) if met and look is None else None,
        strangers=mine.strangers,
        n_queries=int((~np.isnan(mine.seen)).any(axis=0).sum()),
        n_sections=found.n_sections,
    )


def rank_intervals(found: Standing, pairs: Sequence[Comparison]) -> dict[str, tuple[int, int]]:
    """Agent to its lowest and highest rank, from 1, best first; pairs: every two agents on points.

    One rank lower for each agent told above it, and so on from below; a possible best may have the first.
    """
    above: Counter[str] = Counter()
    below: Counter[str] = Counter()
    for row in pairs:
        if row.verdict in ("better", "worse"):
            first, second = (row.agent_a, row.agent_b)[:: 1 if row.verdict == "better" else -1]
            above[second] += 1
            below[first] += 1
    best, n = found.possible_best, len(found.order)
    return {agent: (1 if agent in best else 1 + above[agent], n - below[agent]) for agent in found.order}


def _ladder(
    points: Points,
    clusters: Clusters,
    seed: int,
    share: float = 1.0,
    look: Look | None = None,
    before: Truths | None = None,
) -> Ladder:
    """share: of the failed games, which count against the leader."""
    if not len(points.failures) or not share:
        return holm_from_leader(points.seen, clusters, seed, look=look, before=before, asked=points.asked)
    seen, lost, won = points.seen, points.lost, points.won
    worst, best = lost[0] - won[1:], won[0] - lost[1:]
    if share < 1:
        # The queries with the first part of the failed games of the leader and of each other.
        games = _failed_games(points)
        among = np.cumsum(games, axis=1) <= round(share * float(games.sum(axis=1).max()))
        worst, best = (np.where(among, side, seen[0] - seen[1:]) for side in (worst, best))
    return holm_from_leader(seen, clusters, seed, worst, best, look, before, points.asked)


def _failed_games(points: Points) -> Ints:
    """(others, queries): how many games failed that count against the leader, of its own or of the other's."""
    agent, opponent, query = points.failures.T
    games = np.zeros((len(points.agents) - 1, len(points.queries)), dtype=np.intp)
    for place, row in enumerate(games, 1):
        which = (agent == 0) | (agent == place)
        pairs = np.stack([query, np.minimum(agent, opponent), np.maximum(agent, opponent)])[:, which]
        np.add.at(row, np.unique(pairs, axis=1)[0], 1)
    return games


def _overturned_by(points: Points, clusters: Clusters, seed: int, *, decided: bool) -> int | None:
    """By bisection, the games taken in the order of their queries; None where failures undo nothing."""
    if decided or not len(points.failures):
        return None
    alone = holm_from_leader(points.seen, clusters, seed)
    if not alone.told.all():
        return None
    most = int(_failed_games(points).sum(axis=1).max())
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        if _ladder(points, clusters, seed, middle / most).told.all():
            low = middle
        else:
            high = middle
    return high


def _chances(points: Points, clusters: Clusters) -> tuple[dict[str, float], float | None]:
    """How likely each agent is the best, and what the first is expected to lose; nothing below two sections."""
    known = ~np.isnan(points.seen)
    n = len(np.unique(clusters.numbers[known.any(axis=0)]))
    if n < 2:
        return {}, None
    means = points.means
    rest = np.where(known, points.seen - means[:, None], 0.0)
    variance = common_variance(clusters.sums(rest) / known.sum(axis=1)[:, None], n)
    if variance < _NO_VARIANCE:
        # One more section on which all are level (Laplace): sections that all say the same are not endlessly sure.
        centred = means - means.mean()
        means = means - centred / (n + 1)
        variance = float((centred**2).sum()) * n / (n + 1) ** 3 / (len(means) - 1) or 1 / (n + 1) ** 2
    chances, loss = best_of(means, variance, n - 1)
    shown = (round(one, DIGITS) for one in chances.tolist())
    return dict(zip(points.agents, shown, strict=True)), round(loss, DIGITS)


def choose(found: Standing | None, points: Points, margin: float = MARGIN, guesses: str | None = None) -> Choice:
    """The record of `results.json`, from how the leader of these points stands.

    guesses: why the judge's verdicts may be guesses, where they may: then nobody leads.
    """
    if guesses:
        return Choice(leader=None, margin=margin, sentence=f"No agent can be said to lead. {guesses}")
    if found is None:
        return Choice(leader=None, margin=margin, sentence=_nothing(points))
    missing = [agent for agent in points.order if agent not in found.order]
    unrated = f" {named(missing)} could not be rated: no game has a verdict." if missing else ""
    undone = ""
    if found.overturned_by is not None:
        n = points.n_failed
        undo = f"{found.overturned_by:,} of them, lost, undo that: retry them first."
        games = f"{n:,} failed games" if n > 1 else "1 failed game"
        undone = f" Without the {games} it would be the choice; {undo}"
    sentence = _sentence(found) + undone + unrated
    same = {name: getattr(found, name) for name in Choice.model_fields.keys() - {"margin", "claims", "sentence"}}
    by = f"{100 * found.margin:g} points or more"
    said: dict[Claim, str] = {
        "decided": f"{found.leader} is ahead of every other agent by more than chance.",
        "equal": f"{found.leader} is not ahead of {named(found.untold)} by {by}.",
        "safe": f"No other agent is ahead of {found.leader} by {by}.",
    }
    claims = {claim: told for claim, told in said.items() if getattr(found, claim)}
    return Choice(**same, margin=margin, claims=claims, sentence=sentence)


def _sentence(found: Standing) -> str:
    best, n = found.leader, found.n_queries
    queries = "this 1 query" if n == 1 else f"these {n:,} queries"
    if found.strangers:
        pairs = listed([f"{a} and {b}" for a, b in found.strangers[:3]])
        more = f" and {len(found.strangers) - 3} more pairs" if len(found.strangers) > 3 else ""
        return f"{best} leads, but {pairs}{more} have no verdict on each other, so that nothing is told."
    points = f"{100 * found.margin:g} points"
    if found.equal and found.safe:
        return f"{named(found.possible_best)} are equal for practice, within {points}: take the cheaper."
    if level := [agent for agent, one in found.differences.items() if one.value == 0.0 and agent in found.untold]:
        return f"{named([best, *level])} are level on {queries}."
    if n < FEWEST_SECTIONS:
        return f"{best} leads, but {queries} are too few to be sure." if n > 1 else f"{best} leads, but on one query."
    if found.n_sections < FEWEST_SECTIONS:
        few = f"{found.n_sections} sections" if found.n_sections > 1 else "one section"
        return f"{best} leads, but {queries} come from {few}, too few to be sure."
    if found.decided:
        return f"Choose {best}: with {queries} it is ahead of every other agent by more than chance."
    untold = f"{best} leads, but {queries} cannot tell it from {named(found.untold)}"
    return f"{untold}; no other is better by {points} or more." if found.safe else f"{untold}."


def _nothing(points: Points) -> str:
    agents, failed = points.agents, points.n_failed
    if not agents:
        return "There is no agent."
    if len(agents) < 2:
        return f"{agents[0]} is the only agent, so there is nothing to compare it with."
    why = f"all {failed} games failed." if failed else "no games were played."
    return f"Nothing can be said about which agent answers best: {why}"


def leaders(found: Sequence[Decided], agents: Sequence[str], draws: Resamples) -> tuple[str, ...]:
    """The agents with the most points, in the order of `agents`; several where they are level, none without verdicts.

    For asking who would lead had the verdicts been others.
    """
    points = points_of(found, agents, draws.queries)
    means = points.means
    if np.isnan(means).all():
        return ()
    top = float(np.nanmax(means)) - 1e-9
    first = {agent for agent, mean in zip(points.agents, means.tolist(), strict=True) if mean >= top}
    return tuple(agent for agent in agents if agent in first)


def named(agents: Sequence[str]) -> str:
    """Agents in a sentence; `no agent` of none."""
    return listed(agents) or "no agent"
