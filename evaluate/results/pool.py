"""How far labels reach down the rankings."""

from __future__ import annotations

from ragassay.records import Figure, Record


class Bounds(Record):
    """A mean with the passages that have no label taken as worst (`low`) and as best (`high`) as they could be."""

    low: Figure
    high: Figure


class LeftOut(Bounds):
    """The same without the labels of the passages that the agent alone brought; `value` takes those as not relevant."""

    value: Figure


class AgentPool(Record):
    """How far labels reach down an agent's rankings.

    judged: the share of its first k passages with a label. n_unique: those of them that it alone brought to the pool.
    bounds: measure to the ends of its mean. left_out: the same had the agent not contributed to the pool.
    """

    judged: Figure
    n_unique: int
    bounds: dict[str, Bounds]
    left_out: dict[str, LeftOut]
