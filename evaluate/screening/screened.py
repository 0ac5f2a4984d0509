"""What the screening measured: every variant's value on every query, by measure, with its cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ragassay.arrays import Floats, Ints, Truths

from ..inputs.clusters import Clusters

FEWEST_VALUES = 0.5
"""The share of the queries on which a variant must have a value to be ranked among the others."""

_DIGITS = 9


@dataclass(frozen=True, eq=False)
class Screened:
    """The variants of a screening.

    names: of the variants, each once. settings: of each, scalars by key. clusters: of the queries, by source section.
    measures: name to values (variants, queries) from 0 to 1, NaN where the variant failed on the query. quality: the
    measure that variants are ranked by. tokens: handed over, (variants, queries). latency_p50_s, latency_p95_s: of a
    search; index_s, index_bytes: of the index; all (variants,), NaN where unknown.
    """

    names: Sequence[str]
    settings: Sequence[Mapping[str, Any]]
    clusters: Clusters
    measures: Mapping[str, Floats]
    quality: str
    tokens: Floats
    latency_p50_s: Floats
    latency_p95_s: Floats
    index_s: Floats
    index_bytes: Floats

    @property
    def values(self) -> Floats:
        """(variants, queries): by the measure of quality."""
        return self.measures[self.quality]

    @cached_property
    def mean_tokens(self) -> Floats:
        """(variants,): handed over for a query; NaN where no search has worked."""
        known = ~np.isnan(self.tokens)
        with np.errstate(invalid="ignore"):
            mean: Floats = np.where(known, self.tokens, 0.0).sum(axis=1) / known.sum(axis=1)
        return mean

    @cached_property
    def field(self) -> Field:
        """How far each is ahead of the field."""
        return Field.of(self.values, self.clusters)

    @cached_property
    def by_cost(self) -> Ints:
        """The variants that can be ranked, those of fewer tokens first, then the faster, then by name."""
        costs = [np.nan_to_num(each, nan=np.inf) for each in (self.mean_tokens, two_digits(self.latency_p50_s))]
        places = np.flatnonzero(self.field.enough).tolist()
        return np.array(sorted(places, key=lambda at: (*(c[at] for c in costs), self.names[at])), dtype=np.intp)

    @cached_property
    def ranked(self) -> Ints:
        """The same, best first; of equally good ones in the order of `by_cost`."""
        return self.by_cost[np.argsort(-self.field.lead[self.by_cost], kind="stable")]


@dataclass(frozen=True, eq=False)
class Field:
    """How far variants are ahead of the field: a query's value less the mean of all variants on that query.

    So a variant is not ranked by how hard the queries were on which it failed. Where none failed, the order is that of
    the means. sums, counts: (variants, clusters), of these leads by cluster and of the values behind them. n_queries:
    on which any variant has a value.
    """

    sums: Floats
    counts: Floats
    n_queries: int

    @classmethod
    def of(cls, values: Floats, clusters: Clusters) -> Field:
        """From values (variants, queries), NaN where there is none."""
        known = ~np.isnan(values)
        filled = np.where(known, values, 0.0)
        often = known.sum(axis=0)
        mean = filled.sum(axis=0) / np.maximum(often, 1)
        leads = np.where(known, filled - mean, 0.0)
        return cls(clusters.sums(leads), clusters.sums(known.astype(np.float64)), int((often > 0).sum()))

    @property
    def enough(self) -> Truths:
        """(variants,): whether it has a value on at least `FEWEST_VALUES` of the queries."""
        n = self.counts.sum(axis=1)
        found: Truths = (n > 0) & (n >= FEWEST_VALUES * self.n_queries)
        return found

    @property
    def lead(self) -> Floats:
        """(variants,): the mean lead, to nine decimals, so that the order of adding up makes no difference."""
        lead: Floats = self.lead_on(np.ones((1, self.sums.shape[1])))[0]
        return lead

    def lead_on(self, parts: Floats) -> Floats:
        """(parts, variants): the same on some of the clusters, `parts` (parts, clusters) of 0 and 1; NaN on none."""
        with np.errstate(invalid="ignore", divide="ignore"):
            lead: Floats = np.round(parts @ self.sums.T / (parts @ self.counts.T), _DIGITS)
        return lead


def two_digits(values: Floats) -> Floats:
    """Rounded to two significant digits: what of a latency comes again in another run."""
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = 10.0 ** (np.floor(np.log10(np.abs(values))) - 1)
        rounded: Floats = np.where(values == 0, 0.0, np.round(values / unit) * unit)
    return rounded
