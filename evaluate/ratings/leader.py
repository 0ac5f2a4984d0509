"""Who leads by Bradley-Terry, whether the queries suffice to be sure of that, and who would lead on other verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ragassay.records import Figure
from ragassay.text import listed

from ..results import PRACTICALLY_EQUAL, WIN_RATE, Choice, Comparison
from ..statistics.clustered import Values
from ..statistics.resamples import Resamples
from .bradley_terry import BradleyTerry, standing_above
from .standing import FEWEST_QUERIES, Standing, stand
from .win_table import Contests, Decided, contests


def rank_agents(agents: Sequence[str], strengths: BradleyTerry, elo: Mapping[str, Figure]) -> tuple[str, ...]:
    """Agents, best first: by how many stand above them, then by Bradley-Terry (by Elo where it has no rating) and name.

    The unrated come last.
    """
    above = dict(zip(strengths.rated, strengths.above.sum(axis=0).tolist(), strict=True))

    def place(agent: str) -> tuple[float, float, str]:
        rating = strengths.figures[agent].value
        points = rating if rating is not None else elo[agent].value
        return (float(above.get(agent, np.inf)), -round(points or 0.0, 6), agent)

    return tuple(sorted(agents, key=place))


def level_with_first(rated: Sequence[str], strengths: BradleyTerry) -> list[str]:
    """Those of `rated`, agents with a verdict, best first, that the first does not stand above."""
    at = {agent: position for position, agent in enumerate(strengths.rated)}
    return [agent for agent in rated[1:] if not strengths.above[at[rated[0]], at[agent]]]


def choose(
    order: Sequence[str],
    strengths: BradleyTerry,
    table: Contests,
    draws: Resamples,
    rates: Mapping[str, Values],
) -> Choice:
    """The first of `order`, and how sure that is. rates: agent to query to the share of its games that it won.

    Sure where at least `FEWEST_QUERIES` queries, of as many sections, have a verdict, and the games won tell it from
    each other agent that was rated (`standing`).
    """
    rated = [agent for agent in order if agent in strengths.rated]
    if len(rated) < 2:
        return Choice(best=None, runner_up=None, sure=False, sentence=_nothing(order, table))
    best = rated[0]
    level = level_with_first(rated, strengths)
    found = stand(rated, rates, draws.clusters, draws.seed, level)
    return Choice(
        best=best,
        runner_up=rated[1],
        sure=found.decided,
        sentence=_sentence(found, level) + _unrated(order, rated),
        p_best=strengths.p_best,
        possible_best=found.possible_best,
        expected_regret=found.expected_regret,
    )


def with_equals(choice: Choice, pairs: Sequence[Comparison], matters: float | None) -> Choice:
    """The choice, its sentence naming the agents that are practically equal to the leader by the games won.

    matters: the smallest difference of win rate that matters, None where it is not said.
    """
    if matters is None or choice.best is None:
        return choice
    equal = [
        row.agent_b if row.agent_a == choice.best else row.agent_a
        for row in pairs
        if row.measure == WIN_RATE and row.verdict == PRACTICALLY_EQUAL and choice.best in (row.agent_a, row.agent_b)
    ]
    if not equal:
        return choice
    which = "they differ" if len(equal) == 1 else "each differs from the first"
    said = f" {named([choice.best, *equal])} are practically equal: {which} by less than {100 * matters:g} points."
    return choice.model_copy(update={"sentence": choice.sentence + said})


def _sentence(found: Standing, level: Sequence[str]) -> str:
    best, n, sections = found.leader, found.n_queries, found.n_sections
    queries = "this 1 query" if n == 1 else f"these {n} queries"
    if level:
        return f"{named([best, *level])} are level on {queries}."
    if n < FEWEST_QUERIES:
        return f"{best} leads, but {queries} are too few to be sure." if n > 1 else f"{best} leads, but on one query."
    if sections < FEWEST_QUERIES:
        few = f"{sections} sections" if sections > 1 else "one section"
        return f"{best} leads, but {queries} come from {few}, too few to be sure."
    if found.untold:
        return f"{best} leads, but cannot be told from {named(found.untold)} with {queries}."
    return f"Choose {best}: the games won tell it from each other agent with {queries}."


def _unrated(order: Sequence[str], rated: Sequence[str]) -> str:
    missing = [agent for agent in order if agent not in rated]
    return f" {named(missing)} could not be rated: no game has a verdict." if missing else ""


def _nothing(order: Sequence[str], table: Contests) -> str:
    if len(order) < 2:
        return (
            f"{order[0]} is the only agent, so there is nothing to compare it with." if order else "There is no agent."
        )
    failed = len(table.failed)
    return f"Nothing can be said about which agent answers best: {f'all {failed}' if failed else 'no'} games " + (
        "failed." if failed else "were played."
    )


def leaders(found: Sequence[Decided], agents: Sequence[str], draws: Resamples) -> tuple[str, ...]:
    """The agents that none stands above, in the order of `agents`; several where they are level, none without verdicts.

    For asking who would lead had the verdicts been others.
    """
    table = contests(found, agents, draws.queries)
    if not len(table.a):
        return ()
    rated, above = standing_above(table)
    unbeaten = {name for name, below in zip(rated, np.atleast_1d(above.any(axis=0)).tolist(), strict=True) if not below}
    return tuple(agent for agent in agents if agent in unbeaten)


def named(agents: Sequence[str]) -> str:
    """Agents in a sentence; `no agent` of none."""
    return listed(agents) or "no agent"
