"""What the screening measured: every variant's value on every query, by measure, with its cost; and what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ragassay.arrays import Floats, Ints, Truths
from ragassay.errors import InputError
from ragassay.experiment.workspace import VariantRun, Workspace
from ragassay.files import read_records
from ragassay.records import Figure, Query, Record

from ..inputs.clusters import Clusters
from ..statistics.clustered import Range, intervals
from ..statistics.paired import alike, figures

UNIT: Range = (0.0, 1.0)
_AT_ONCE = 2_000_000
FEWEST_VALUES = 0.5
"""The share of the queries on which a variant must have a value to be ranked among the others."""
_DIGITS = 9


@dataclass(frozen=True, eq=False)
class Screened:
    """The variants of a screening.

    names: of the variants, each once. settings: of each, scalars by key. clusters: of the queries, by source section.
    measures: name to values (variants, queries) from 0 to 1, NaN where the variant failed on the query. quality: the
    measure that variants are ranked by. tokens: handed over, (variants, queries). latency_p50_s, latency_p95_s: of a
    search; index_s, index_bytes: of the index; all (variants,), NaN where unknown. beside: as `measures`, what says how
    far these can be trusted, by which nothing is ranked; NaN where it is not told.
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
    beside: Mapping[str, Floats] | None = None

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


def mean_figures(
    values: Floats, clusters: Clusters, limits: Range | None = UNIT, *, difference: bool = False
) -> list[Figure]:
    """The mean of each row of `values` (rows, queries), NaN where it has none: those are `n_failed`.

    limits: of a query's value, None where it has none. difference: whether values are paired differences. Rows that
    lack the same queries are worked out together.
    """
    found: dict[int, Figure] = {}
    step = max(1, _AT_ONCE // max(1, values.shape[1]))
    for rows, there in alike(~np.isnan(values)):
        n, failed, some = int(there.sum()), int((~there).sum()), clusters.where(there)
        for part in (rows[start : start + step] for start in range(0, len(rows), step)):
            told = intervals(values[part][:, there], np.ones(n), some, limits, difference=difference)
            found |= zip(part, figures(told, n, [failed] * len(part)), strict=True)
    return [found[row] for row in range(len(values))]


def read_runs(workspace: Workspace, queries: Sequence[Query]) -> list[VariantRun]:
    """The variants of `screening.jsonl`, all run on as many queries as these.

    A query asked since has no rankings, which is no failure to find. Raises InputError for other numbers.
    """
    runs = read_records(workspace.screening_runs, VariantRun)
    if other := [run for run in runs if run.n != len(queries)]:
        problem = f"{other[0].variant} was run on {other[0].n:,} queries, and there are {len(queries):,} now"
        raise InputError(problem, file=workspace.screening_runs, remedy="run `ragassay screen` again")
    return runs


class VariantFigures(Record):
    """One variant: its settings, its evidence measures at k and at equal context tokens (0 to 1), and what it costs.

    A measure that was not computed is None: those at grade 1 (`_1`) where nobody told grades of evidence apart, what is
    said of unjudged passages where nobody judged any. unjudged: share of its passages that nobody has judged; `_low`,
    `_high`: ends of nDCG and recall over what these could be (recall itself is its low end). tokens: handed over for a
    query. on_front: whether no other variant is at least as good, as fast and as sparing, and better in one of the
    three. latency in s of a search, index_s in s.
    """

    name: str
    settings: dict[str, Any]
    evidence_recall: Figure | None = None
    evidence_precision: Figure | None = None
    evidence_iou: Figure | None = None
    evidence_ndcg: Figure | None = None
    evidence_mrr: Figure | None = None
    evidence_recall_at_tokens: Figure | None = None
    evidence_precision_at_tokens: Figure | None = None
    evidence_iou_at_tokens: Figure | None = None
    evidence_ndcg_at_tokens: Figure | None = None
    evidence_mrr_at_tokens: Figure | None = None
    evidence_recall_1: Figure | None = None
    evidence_mrr_1: Figure | None = None
    unjudged: Figure | None = None
    evidence_ndcg_low: Figure | None = None
    evidence_ndcg_high: Figure | None = None
    evidence_recall_high: Figure | None = None
    evidence_recall_1_at_tokens: Figure | None = None
    evidence_mrr_1_at_tokens: Figure | None = None
    unjudged_at_tokens: Figure | None = None
    evidence_ndcg_low_at_tokens: Figure | None = None
    evidence_ndcg_high_at_tokens: Figure | None = None
    evidence_recall_high_at_tokens: Figure | None = None
    tokens: Figure
    latency_p50_s: float | None = None
    latency_p95_s: float | None = None
    index_s: float | None = None
    index_bytes: int | None = None
    on_front: bool = False


class BeforeAfter(Record):
    """A figure of what was chosen, as it looks on the queries that chose (`before`) and on queries that did not."""

    before: Figure
    after: Figure


class ChosenVariant(Record):
    """The variant with the highest quality of all, and what of that remains when others' queries choose.

    before: of `name` on all queries. after: cross-fitted over halves of the source sections (`n_splits` random ones):
    whatever half of them chooses, on the other half. lead: over the second (`runner_up`; after: the second of the half
    that chose); lead_over_baseline: None without a baseline, or where it leads. sure: whether the queries tell `name`
    from each other variant; untold: those they do not tell it from, best first.
    """

    name: str
    runner_up: str | None = None
    baseline: str | None = None
    mean: BeforeAfter
    lead: BeforeAfter | None = None
    lead_over_baseline: BeforeAfter | None = None
    n_splits: int
    sure: bool
    untold: tuple[str, ...] = ()
    sentence: str


class LevelFigures(Record):
    """One value of a setting. mean: of quality, over the combinations; difference: from the mean of the other values.

    p_holm: two-sided, of a difference of 0, corrected over all effects; None where it is not defined.
    """

    level: str | int | float | bool | None
    mean: Figure
    difference: Figure
    p_holm: float | None


class SettingEffect(Record):
    """What a setting does, averaged over the other settings.

    among: the kind of retriever, or `all` for the kind itself. n_combinations: of the other settings, those that exist
    with each of these levels and so are counted; n_variants: how many variants that is. spread: the highest mean less
    the lowest. matters: whether some level is told from the others.
    """

    among: str
    setting: str
    levels: tuple[LevelFigures, ...]
    n_combinations: int
    n_variants: int
    spread: float | None
    matters: bool
    sentence: str


class ScreenResults(Record):
    """The screening. quality: the measure that chose. said: what it comes to, in sentences, the weightiest first.

    context_tokens: the context at which chunkings meet, in the measures that end in `_at_tokens`. conversation_price:
    variant to its quality less that of the search by the question that stands alone, a mean of paired differences over
    the turns from the second on; not written without such.
    """

    seldom = ("conversation_price",)

    quality: str
    n_queries: int
    n_sections: int
    context_tokens: int | None = None
    variants: tuple[VariantFigures, ...]
    finalists: tuple[str, ...]
    chosen: ChosenVariant | None
    effects: tuple[SettingEffect, ...] = ()
    said: tuple[str, ...] = ()
    conversation_price: dict[str, Figure] | None = None
