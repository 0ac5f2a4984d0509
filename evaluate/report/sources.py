"""The report's section on two kinds of queries: whether written and real ones put the agents in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragassay.records import Figure
from ragassay.text import listed, one_line

from ..results import OrdersCompared, Results
from .wording import Kind, Shown, kind_of_difference, measure_name, number, shown

FEW = 50
"""Queries of a kind below which the reader is cautioned: simulated, the interval of tau of six agents 5 points apart is
1.2 wide with 36 of each kind, 0.7 with 100 (`benchmarks/coverage/sources.py`)."""


@dataclass(frozen=True)
class OrderRow:
    """An agent's place in each order, "" where it has none, and its mean there."""

    agent: str
    places: tuple[str, str]
    means: tuple[Shown, Shown]


@dataclass(frozen=True)
class OrdersShown:
    """One measure: its name, the agents in the real queries' order, and the comparison in a sentence."""

    measure: str
    said: str
    rows: list[OrderRow]


def orders_shown(results: Results) -> list[OrdersShown]:
    """A table for each measure; none where all queries are of one kind."""
    return [
        OrdersShown(measure_name(one.measure), _sentence(one), _rows(one))
        for one in (results.sources.measures if results.sources else ())
    ]


def caution(results: Results) -> str:
    """What to bear in mind where queries are few; "" where they are not."""
    found = results.sources
    if found is None or min(found.n_real, found.n_written) >= FEW:
        return ""
    return (
        f"With {found.n_real:,} real and {found.n_written:,} written queries much of either order is chance: two "
        "halves of so few real questions may not agree either. A low τ is no proof that the kinds disagree, and an "
        "interval from low to high says that these queries cannot tell. Look at the pairs that were decided."
    )


def kinds(results: Results) -> str:
    """` (24 real, 36 written)` beside the number of queries, "" where all are of one kind."""
    found = results.sources
    return f" ({found.n_real:,} real, {found.n_written:,} written)" if found else ""


def orders_lines(results: Results) -> list[str]:
    """A line of plain text for the terminal, or none: what the written queries say of what the real ones decide."""
    measures = results.sources.measures if results.sources else ()
    if not measures:
        return []
    said = [f"{_named(one)} {_same(one)}" for one in measures if one.n_decided]
    if left := [_named(one) for one in measures if not one.n_decided]:
        said.append(f"none decided by {listed(left)}")
    return [f"pairs that real queries decide, and written ones the same way: {'; '.join(said)}"]


def _named(one: OrdersCompared) -> str:
    return one_line(measure_name(one.measure))


def _same(one: OrdersCompared) -> str:
    against = f", {len(one.contradicted):,} the other way" if one.contradicted else ""
    return f"{one.n_same:,} of {one.n_decided:,}{against}"


def _sentence(one: OrdersCompared) -> str:
    """`the same agent leads, bm25-rag; τ 0.73 [0.20, 1.00] over 6 agents; of 4 pairs that the real ones decide, …`"""
    if not one.best_real:
        return f"no two orders to compare: {one.undefined['tau_b']}."
    tau = shown(one.figures["tau_b"], "mean")
    if tau.why:
        return f"{one.undefined['tau_b']}; {_pairs(one)}."
    agreement = f"τ {tau.value} {tau.interval}".strip() + f" over {one.figures['tau_b'].n:,} agents"
    return f"{_leaders(one)}; {agreement}; {_pairs(one)}."


def _leaders(one: OrdersCompared) -> str:
    real, written = (listed([one_line(name) for name in best]) for best in (one.best_real, one.best_written))
    if one.best_real == one.best_written:
        return f"the same agent leads, {real}" if len(one.best_real) == 1 else f"the same agents lead, {real}"
    loss = shown(one.figures["loss"], _kind(one.measure))
    lost = f"choosing by the written ones loses {loss.value} {loss.interval}".strip()
    return f"the real queries put {real} first, the written ones {written}; {lost} by the real ones"


def _pairs(one: OrdersCompared) -> str:
    if not one.n_decided:
        return f"the real ones decide none of {_count(one.n_pairs)}"
    same, left, against = (count or "none" for count in (one.n_same, one.n_open, len(one.contradicted)))
    said = f"of {_count(one.n_decided)} that the real ones decide, the written ones decide {same} the same way, "
    said += f"leave {left} open and contradict {against}"
    return said + (f" ({', '.join(map(_contradicted, one.contradicted))})" if one.contradicted else "")


def _count(n: int) -> str:
    return f"{n:,} {'pair' if n == 1 else 'pairs'}"


def _contradicted(pair: tuple[str, str]) -> str:
    return f"{one_line(pair[0])} over {one_line(pair[1])}"


def _rows(one: OrdersCompared) -> list[OrderRow]:
    places, kind = (_places(one.real), _places(one.written)), _kind(one.measure)
    return [
        OrderRow(
            agent,
            (places[0].get(agent, ""), places[1].get(agent, "")),
            (shown(one.real.get(agent), kind), shown(one.written.get(agent), kind)),
        )
        for agent in dict.fromkeys((*one.real, *one.written))
    ]


def _places(order: Mapping[str, Figure]) -> dict[str, str]:
    """From 1 for the highest mean; agents that are level share the better place."""
    known = {agent: round(figure.value, 9) for agent, figure in order.items() if figure.value is not None}
    return {
        agent: number(1 + sum(other > value for other in known.values()), "number") for agent, value in known.items()
    }


def _kind(measure: str) -> Kind:
    return kind_of_difference(measure)
