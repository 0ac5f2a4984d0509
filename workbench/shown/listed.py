"""Which queries are listed, in which order: what an address asks for, and the address of what is asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, cast, get_args
from urllib.parse import urlencode

import numpy as np

from ragassay.arrays import Floats

from ..index.read import FACETS, Asked, Index, Measure, Order
from ..places import read

Sort = Literal[Order, "worth", "spread"]
"""Also by the values of a measure: worst first, or the agents farthest apart."""


@dataclass(frozen=True)
class Listing:
    """What is asked for. measure: the name of one of the index's, "" for its first; agent: whose values are meant, ""
    for the mean over agents; low, high: the range of these values that is wanted, on the measure's own scale; failed:
    only queries with a failed record; places: only these places, in their short form ("0-3,7"), "" for all."""

    words: str = ""
    facets: tuple[tuple[str, str], ...] = ()
    sort: Sort = "place"
    measure: str = ""
    agent: str = ""
    low: float | None = None
    high: float | None = None
    failed: bool = False
    places: str = ""

    def address(self, **changes: object) -> str:
        """The part of an address behind the question mark, with fields changed; "" where nothing is asked for."""
        new = replace(self, **changes)  # type: ignore[arg-type]
        given = {"words": new.words, **dict(new.facets), "sort": "" if new.sort == "place" else new.sort}
        given |= {"measure": new.measure, "agent": new.agent, "places": new.places}
        given |= {name: "" if end is None else f"{end:g}" for name, end in (("low", new.low), ("high", new.high))}
        given |= {"failed": "1" if new.failed else ""}
        return urlencode({name: value for name, value in given.items() if value})


def listing_of(params: Mapping[str, str]) -> Listing:
    """What an address asks for; what it misspells is passed over."""
    sort = params.get("sort", "place")
    return Listing(
        words=params.get("words", "").strip()[:200],
        facets=tuple((name, params[name]) for name in FACETS if params.get(name)),
        sort=cast(Sort, sort) if sort in get_args(Sort) else "place",
        measure=params.get("measure", ""),
        agent=params.get("agent", ""),
        low=_number(params.get("low", "")),
        high=_number(params.get("high", "")),
        failed=params.get("failed") == "1",
        places=params.get("places", ""),
    )


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def measure_of(index: Index, listing: Listing) -> Measure | None:
    """The measure that is meant; None where there are no values yet."""
    named = (measure for measure in index.measures if measure.name == listing.measure)
    return next(named, index.measures[0] if index.measures else None)


@dataclass(frozen=True, eq=False)
class Values:
    """A measure's values by query. by_agent: as they are; mean: over the agents that have one; spread: their standard
    deviation; NaN where there is none. Of shape (queries,) each."""

    by_agent: Mapping[str, Floats]
    mean: Floats
    spread: Floats

    def of(self, agent: str) -> Floats:
        """The agent's values, or the means where there is no such agent."""
        return self.by_agent.get(agent, self.mean)


@lru_cache(maxsize=16)
def values_of(index: Index, measure: str) -> Values:
    """All agents' values of a measure."""
    by_agent = index.column(measure)
    table = np.array(list(by_agent.values())) if by_agent else np.full((1, index.n_queries), np.nan)
    there = ~np.isnan(table)
    n = there.sum(axis=0)
    filled = np.where(there, table, 0.0)
    mean = np.where(n > 0, filled.sum(axis=0) / np.maximum(n, 1), np.nan)
    spread = np.sqrt(np.where(there, (filled - mean) ** 2, 0.0).sum(axis=0) / np.maximum(n, 1))
    return Values(by_agent, mean, np.where(n > 0, spread, np.nan))


@lru_cache(maxsize=32)
def places(index: Index, listing: Listing) -> tuple[int, ...]:
    """The places of the queries that are listed, in their order."""
    order: Order = "place" if listing.sort == "worth" or listing.sort == "spread" else listing.sort
    asked = Asked(listing.words, listing.facets, order, listing.failed)
    found = np.array(index.places(asked), dtype=np.int64)
    if listing.places:
        found = found[np.isin(found, read(listing.places))]
    measure = measure_of(index, listing)
    if measure is None or not len(found):
        return tuple(found.tolist())
    values = values_of(index, measure.name)
    found = found[_within(values.of(listing.agent)[found], listing)]
    if listing.sort in ("worth", "spread"):
        worst = values.of(listing.agent) * (-1 if measure.lower_is_better else 1)
        found = found[np.argsort((worst if listing.sort == "worth" else -values.spread)[found], kind="stable")]
    return tuple(found.tolist())


def _within(values: Floats, listing: Listing) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether each value lies in the range asked for; one that is missing does only where none is asked for."""
    keep = np.ones(len(values), dtype=bool)
    slack = 1e-9
    if listing.low is not None:
        keep &= values >= listing.low - slack
    if listing.high is not None:
        keep &= values <= listing.high + slack
    return keep
