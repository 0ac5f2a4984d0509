"""Who leads: the agents that none stands above by Bradley-Terry, for asking what would lead on other verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..statistics.resamples import Resamples
from . import bradley_terry
from .verdicts import Verdict
from .win_table import contests


def leaders(found: Sequence[Verdict], agents: Sequence[str], draws: Resamples) -> tuple[str, ...]:
    """In the order of `agents`; several where they are level, none where no agent has a verdict."""
    table = contests(found, agents, draws.queries)
    if not len(table.a):
        return ()
    once = replace(draws, weights=np.ones((1, len(draws.queries)), dtype=np.int64))
    strengths = bradley_terry.rate(table, once)
    beaten = np.atleast_1d(strengths.above.any(axis=0)).tolist()
    unbeaten = {name for name, below in zip(strengths.rated, beaten, strict=True) if not below}
    return tuple(agent for agent in agents if agent in unbeaten)


def named(agents: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; `no agent` of none."""
    if not agents:
        return "no agent"
    return agents[0] if len(agents) == 1 else f"{', '.join(agents[:-1])} and {agents[-1]}"
