"""Whether written queries put the agents in the order that real ones do, measure by measure.

Each kind of query gives every agent a mean, and so an order. How far the two orders agree is Kendall's tau-b and
Spearman's rho (`statistics.order_interval`). What is sure of it is told by pairs: a pair of agents is decided where the
interval of its paired difference leaves out 0, for each pair by itself, since what is asked is not whether some pair
differs but how one kind of query does what the other does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ragassay.records import Figure

from ..inputs.clusters import BySource, by_source
from ..inputs.findings import Findings
from ..ratings.verdicts import Verdict, points_of
from ..results import POINTS, Choice, OrdersCompared, WrittenAndReal
from ..statistics.clustered import Range, Values
from ..statistics.orders import Means, order_intervals, rho, tau_b
from ..statistics.paired_comparison import pair_by_query, pairs_by_query
from ..statistics.resamples import Resamples, resamples, rounded
from .pool import failed_answers
from .values import ComparedMeasure

FEWEST = 2
"""Queries with a value, of each kind, below which no order is made of them."""


def written_and_real(
    findings: Findings, measures: Mapping[str, ComparedMeasure], found: Sequence[Verdict], draws: Resamples
) -> WrittenAndReal | None:
    """Every one of `measures`, over all queries; None where all these are of one kind.

    found: verdicts on games, from which the points by either kind of queries are made anew.
    """
    material = findings.material
    kinds = by_source(material.queries)
    if not kinds.both:
        return None

    def only(queries: Sequence[str]) -> dict[str, Mapping[str, Values]]:
        """Measure to agent to values as they would be, were these all the queries."""
        kept, failed = set(queries), failed_answers(findings)
        games = [verdict for verdict in found if verdict.query_id in kept]
        points = points_of(games, material.agents, queries, unanswered=failed, not_asked=material.not_asked)
        values: dict[str, Mapping[str, Values]] = {
            name: {agent: {q: row[q] for q in row if q in kept} for agent, row in one.values.items()}
            for name, one in measures.items()
        }
        return values | {POINTS: points.values()}

    real, written = map(only, kinds)
    sides = [resamples(ids, len(draws.weights), draws.seed + n, draws.clusters) for n, ids in enumerate(kinds)]
    orders = [
        compare_orders(name, real[name], written[name], sides[0], sides[1], one.scale.ends)
        for name, one in measures.items()
    ]
    return WrittenAndReal(n_real=len(kinds.real), n_written=len(kinds.written), measures=tuple(orders))


def told_of_both(verdict: Choice, kinds: BySource, rates: Mapping[str, Values]) -> Choice:
    """The verdict, its sentence saying that it is over both kinds of queries and over how many of each.

    rates: agent to query to its points; only queries with games are behind the verdict.
    """
    played = {query for row in rates.values() for query, value in row.items() if value is not None}
    behind = BySource(*(tuple(query for query in ids if query in played) for ids in kinds))
    if verdict.leader is None or not kinds.both:
        return verdict
    return verdict.model_copy(update={"sentence": f"{verdict.sentence} Of these queries {behind.told()}."})


_LEVEL = 1e-12
"""Means that differ by less are level."""


@dataclass(frozen=True)
class _Side:
    """One measure by the queries of one kind. rows: of each agent that has a place, query to value. n: queries with a
    value."""

    rows: Sequence[Values]
    draws: Resamples
    means: Means
    n: int

    @classmethod
    def of(cls, rows: Sequence[Values], draws: Resamples) -> _Side:
        table = [[np.nan if (value := row.get(query)) is None else value for query in draws.queries] for row in rows]
        values = np.array(table, dtype=np.float64).reshape(len(rows), len(draws.queries))
        known = ~np.isnan(values)
        sums, counts = np.where(known, values, 0.0), known.astype(np.float64)
        with np.errstate(invalid="ignore"):
            drawn = (draws.weights @ sums.T) / (draws.weights @ counts.T)
        asked = known.any(axis=0)
        units = len(np.unique(draws.clusters.numbers[asked]))
        return cls(rows, draws, Means(sums.sum(axis=1) / counts.sum(axis=1), drawn, units), int(asked.sum()))

    @property
    def level(self) -> bool:
        """Whether no agent is better than another."""
        return bool(np.ptp(self.means.means) < _LEVEL)

    def best(self) -> list[int]:
        """The places in `rows` of those with the highest mean."""
        means = self.means.means
        return np.flatnonzero(means > means.max() - _LEVEL).tolist()

    def decided(self, width: float) -> list[int]:
        """Of every two: 1 where the first is decided to be better, -1 the second, 0 where that is open."""
        found = [pair.difference(width) for pair in pairs_by_query(self.rows, self.draws.clusters)]
        return [int((row.ci_low or 0.0) > 0) - int((row.ci_high or 0.0) < 0) for row in found]

    def loss(self, chosen: Sequence[int], width: float) -> tuple[float, float | None, float | None]:
        """What choosing an agent loses against the best, with its interval; of several, the mean and the outer ends.

        The best is at least as good as each other, and no better than the best of them: the ends are the largest of
        the ends of the differences, all of which hold together (Hsu, Annals of Statistics 9(5), 1981; Bonferroni).
        """
        means = self.means.means
        losses = [self._ends(place, width) for place in chosen]
        low, high = zip(*losses, strict=True)
        value = float(means.max() - means[list(chosen)].mean())
        if None in low or None in high:
            return value, None, None
        return value, min(value, *low), max(value, *high)

    def _ends(self, chosen: int, width: float) -> tuple[float, float] | tuple[None, None]:
        others = [row for place, row in enumerate(self.rows) if place != chosen]
        pairs = [pair_by_query(row, self.rows[chosen], self.draws.clusters) for row in others]
        ends = [pair.ends(width, 1 - (1 - 0.95) / len(pairs)) for pair in pairs if len(pair.gaps)]
        known = [(low, high) for _, low, high in ends if low is not None and high is not None]
        if len(known) < len(pairs):
            return None, None
        return max(0.0, *(low for low, _ in known)), max(0.0, *(high for _, high in known))


def compare_orders(
    measure: str,
    real: Mapping[str, Values],
    written: Mapping[str, Values],
    real_draws: Resamples,
    written_draws: Resamples,
    limits: Range,
) -> OrdersCompared:
    """The two orders on one measure.

    real, written: agent to query to value (None: failed), between `limits`. The draws are of all queries of each kind.
    An agent without any value on one side has no place in either order.
    """
    sides = ((real, real_draws), (written, written_draws))
    shown = [{agent: draws.figure(row, limits) for agent, row in values.items()} for values, draws in sides]
    agents = [a for a in real if a in written and all(side[a].value is not None for side in shown)]
    by_real, by_written = (_Side.of([values[agent] for agent in agents], draws) for values, draws in sides)
    found = OrdersCompared(measure=measure, real=_in_order(shown[0]), written=_in_order(shown[1]))
    width, why = limits[1] - limits[0], None
    if len(agents) < 2:
        why = "fewer than two agents have a value on both kinds of queries"
    elif few := [name for name, side in (("real", by_real), ("written", by_written)) if side.n < FEWEST]:
        why = f"only one {few[0]} query has a value"
    if why:
        nothing, names = Figure(value=None, n=len(agents)), ("tau_b", "rho", "loss")
        return found.model_copy(
            update={"figures": dict.fromkeys(names, nothing), "undefined": dict.fromkeys(names, why)}
        )
    figures, undefined = _figures(by_real, by_written, width)
    return found.model_copy(
        update={
            "figures": figures,
            "undefined": undefined,
            "best_real": tuple(agents[place] for place in by_real.best()),
            "best_written": tuple(agents[place] for place in by_written.best()),
            **_pairs(agents, by_real.decided(width), by_written.decided(width)),
        }
    )


def _in_order(figures: Mapping[str, Figure]) -> dict[str, Figure]:
    """Best first; those without a value last, in the order they came in."""
    values = {agent: figure.value for agent, figure in figures.items()}
    order = sorted(values, key=lambda agent: np.inf if (value := values[agent]) is None else -value)
    return {agent: figures[agent] for agent in order}


def _figures(real: _Side, written: _Side, width: float) -> tuple[dict[str, Figure], dict[str, str]]:
    """`tau_b`, `rho` and `loss`, and why one has no value."""
    n, figures, undefined = len(real.rows), dict[str, Figure](), dict[str, str]()
    orders = {"tau_b": tau_b, "rho": rho}
    level = [name for name, side in (("real", real), ("written", written)) if side.level]
    for name in orders if level else ():
        undefined[name] = f"all agents are level on the {' and on the '.join(level)} queries"
    if written.level:
        undefined["loss"] = "all agents are level on the written queries, which choose none"
    else:
        value, *of_loss = real.loss(written.best(), width)
        figures["loss"] = rounded(value, n, 0, *of_loss)
    if not level:
        ends = order_intervals(real.means, written.means, orders, width, real.draws.seed)
        for name, statistic in orders.items():
            value = float(statistic(real.means.means, written.means.means))
            figures[name] = rounded(value, n, 0, *ends[name])
    return {name: figures.get(name, Figure(value=None, n=n)) for name in (*orders, "loss")}, undefined


def _pairs(agents: Sequence[str], real: Sequence[int], written: Sequence[int]) -> dict[str, object]:
    """What the written queries say of the pairs that the real ones decide."""
    names = list(combinations(agents, 2))
    known = [(pair, r, w) for pair, r, w in zip(names, real, written, strict=True) if r]
    against = tuple(pair if r > 0 else pair[::-1] for pair, r, w in known if w == -r)
    n_same = sum(r == w for _, r, w in known)
    return {
        "n_pairs": len(names),
        "n_decided": len(known),
        "n_same": n_same,
        "n_open": len(known) - n_same - len(against),
        "contradicted": against,
    }
