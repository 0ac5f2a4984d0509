"""Who leads by Bradley-Terry, whether the queries suffice to be sure of that, and who would lead on other verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ragassay.records import Figure
from ragassay.text import listed

from ..results import NOT_DISTINGUISHABLE, WIN_RATE, Choice, Comparison
from ..statistics.resamples import Resamples
from . import bradley_terry
from .bradley_terry import BradleyTerry
from .verdicts import Verdict
from .win_table import Contests, contests

FEWEST_QUERIES = 6
"""Below six queries not even a win on each of them is significant at 5% (two-sided sign test: 2 / 2^5 = 6%)."""


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


def choose(
    order: Sequence[str],
    strengths: BradleyTerry,
    table: Contests,
    draws: Resamples,
    comparisons: Sequence[Comparison] = (),
) -> Choice:
    """The first of `order`, and how sure that is.

    Sure where, against each other agent that was rated, it stands above in so large a share of the resamples that the
    95% interval of the difference excludes 0, at least `FEWEST_QUERIES` queries, of as many sections, have a verdict,
    and the corrected tests of `comparisons` tell the two apart by the games won.
    """
    rated = [agent for agent in order if agent in strengths.rated]
    if len(rated) < 2:
        return Choice(best=None, runner_up=None, sure=False, sentence=_nothing(order, table))
    best, others = rated[0], rated[1:]
    n = len(np.unique(table.query))
    index = {agent: position for position, agent in enumerate(strengths.rated)}
    shares = {agent: float(strengths.above_share[index[best], index[agent]]) for agent in others}
    needed = 1 - draws.tail(n)
    untold = _untold(best, comparisons)
    rivals = [agent for agent in others if shares[agent] < needed or agent in untold]
    level = [agent for agent in others if not strengths.above[index[best], index[agent]]]
    return Choice(
        best=best,
        runner_up=others[0],
        sure=not rivals and draws.units(n) >= FEWEST_QUERIES,
        sentence=_sentence(best, rivals, level, min(shares.values()), n, draws.units(n)) + _unrated(order, rated),
        p_best=strengths.p_best,
    )


def _untold(best: str, comparisons: Sequence[Comparison]) -> set[str]:
    """The agents that the tests of the games won do not tell from `best`."""
    untold = [row for row in comparisons if row.measure == WIN_RATE and row.verdict == NOT_DISTINGUISHABLE]
    pairs = [{row.agent_a, row.agent_b} for row in untold]
    return {agent for pair in pairs if best in pair for agent in pair - {best}}


def _sentence(best: str, rivals: list[str], level: list[str], least: float, n: int, units: int) -> str:
    queries = "this 1 query" if n == 1 else f"these {n} queries"
    if level:
        return f"{named([best, *level])} are level on {queries}."
    if n < FEWEST_QUERIES:
        return f"{best} leads, but {queries} are too few to be sure." if n > 1 else f"{best} leads, but on one query."
    if units < FEWEST_QUERIES:
        sections = f"{units} sections" if units > 1 else "one section"
        return f"{best} leads, but {queries} come from {sections}, too few to be sure."
    if rivals:
        return f"{best} leads, but cannot be told from {named(rivals)} with {queries}."
    share = "all" if least >= 1 else f"{100 * least:.1f}% or more"
    return f"Choose {best}: it stands above each other agent in {share} of the resamples of {queries}."


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


def leaders(found: Sequence[Verdict], agents: Sequence[str], draws: Resamples) -> tuple[str, ...]:
    """The agents that none stands above, in the order of `agents`; several where they are level, none without verdicts.

    For asking who would lead had the verdicts been others.
    """
    table = contests(found, agents, draws.queries)
    if not len(table.a):
        return ()
    once = replace(draws, weights=np.ones((1, len(draws.queries)), dtype=np.int64))
    strengths = bradley_terry.rate(table, once)
    beaten = np.atleast_1d(strengths.above.any(axis=0)).tolist()
    unbeaten = {name for name, below in zip(strengths.rated, beaten, strict=True) if not below}
    return tuple(agent for agent in agents if agent in unbeaten)


def named(agents: Sequence[str]) -> str:
    """Agents in a sentence; `no agent` of none."""
    return listed(agents) or "no agent"
