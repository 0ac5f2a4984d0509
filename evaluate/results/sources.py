"""Whether written and real queries agree."""

from __future__ import annotations

from pydantic import Field

from ragassay.records import Figure, Record


class OrdersCompared(Record):
    """The agents' orders by real and by written queries on one measure.

    real, written: agent to its mean, best first (n queries; n_failed have no value). figures: `tau_b` and `rho` of the
    two orders, -1 to 1; `loss`: how much worse, by the real queries, the agent is that leads by the written ones than
    the best; n: the agents that have a place in both. undefined: why a figure has no value. best_real, best_written:
    who leads, several where they are level.
    n_decided: of `n_pairs` pairs, those that the real queries decide: the 95% interval of the paired difference leaves
    out 0, uncorrected. Of these the written ones decide `n_same` the same way, leave `n_open` open and decide
    `contradicted` the other way (by the real ones the first is the better).
    """

    measure: str
    real: dict[str, Figure]
    written: dict[str, Figure]
    figures: dict[str, Figure] = Field(default_factory=dict)
    undefined: dict[str, str] = Field(default_factory=dict)
    best_real: tuple[str, ...] = ()
    best_written: tuple[str, ...] = ()
    n_pairs: int = 0
    n_decided: int = 0
    n_same: int = 0
    n_open: int = 0
    contradicted: tuple[tuple[str, str], ...] = ()


class WrittenAndReal(Record):
    """Whether queries that models wrote and those of the user's own agree, where a test set has both."""

    n_real: int
    n_written: int
    measures: tuple[OrdersCompared, ...]
