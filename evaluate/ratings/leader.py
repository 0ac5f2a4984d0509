"""Which agent to choose, in a record and a sentence, and who would lead on other verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragassay.text import listed

from ..results import Choice, Claim
from ..statistics.ladder import FEWEST_SECTIONS
from ..statistics.resamples import Resamples
from .points import Points, points_of
from .standing import MARGIN, Standing
from .win_table import Decided


def choose(found: Standing | None, points: Points, margin: float = MARGIN, guesses: str | None = None) -> Choice:
    """The record of `results.json`, from how the leader of these points stands.

    guesses: why the judge's verdicts may be guesses, where they may: then nobody leads.
    """
    if guesses:
        return Choice(leader=None, margin=margin, sentence=f"No agent can be said to lead. {guesses}")
    if found is None:
        return Choice(leader=None, margin=margin, sentence=_nothing(points))
    claims = _claims(found)
    return Choice(
        leader=found.leader,
        told=found.told,
        untold=found.untold,
        possible_best=found.possible_best,
        decided=found.decided,
        equal=found.equal,
        safe=found.safe,
        margin=margin,
        claims=claims,
        sentence=_sentence(found) + _failed(found, points) + _unrated(found, points),
        differences=found.differences,
        p_best=found.p_best,
        expected_loss=found.expected_loss,
        overturned_by=found.overturned_by,
    )


def _claims(found: Standing) -> dict[Claim, str]:
    by = f"{100 * found.margin:g} points or more"
    said: dict[Claim, str] = {
        "decided": f"{found.leader} is told from each other agent.",
        "equal": f"{found.leader} is not ahead of {named(found.untold)} by {by}.",
        "safe": f"No other agent is ahead of {found.leader} by {by}.",
    }
    holds = {"decided": found.decided, "equal": found.equal, "safe": found.safe}
    return {claim: sentence for claim, sentence in said.items() if holds[claim]}


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
        return f"Choose {best}: it is told from each other agent with {queries}."
    untold = f"{best} leads, but is not told from {named(found.untold)} with {queries}"
    return f"{untold}; none is better than it by {points}." if found.safe else f"{untold}."


def _failed(found: Standing, points: Points) -> str:
    """What failed games undo; '' where they undo nothing."""
    if found.overturned_by is None:
        return ""
    n = points.n_failed
    games = f"{n:,} failed games" if n > 1 else "1 failed game"
    undo = f"{found.overturned_by:,} of them, lost, undo that: retry them first."
    return f" Without the {games} it would be the choice; {undo}"


def _unrated(found: Standing, points: Points) -> str:
    missing = [agent for agent in points.order if agent not in found.order]
    return f" {named(missing)} could not be rated: no game has a verdict." if missing else ""


def _nothing(points: Points) -> str:
    agents = points.agents
    if len(agents) < 2:
        alone = f"{agents[0]} is the only agent, so there is nothing to compare it with." if agents else ""
        return alone or "There is no agent."
    failed = points.n_failed
    return f"Nothing can be said about which agent answers best: {f'all {failed}' if failed else 'no'} games " + (
        "failed." if failed else "were played."
    )


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
