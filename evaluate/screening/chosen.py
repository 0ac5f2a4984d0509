"""The variant that leads the screening: how sure that is, and its figures before and after the luck of being chosen.

The best of a hundred is partly the luckiest on the queries that chose it, and so its own mean is too high. So the
sections are split in halves at random; each half chooses, and what it chooses is reported on the other half. Every
query has then one value of a variant in whose choice it had no part, so that the mean of these is unbiased for the
worth of what half of the sections choose: the same as the winner's where all are equally good, a little below it where
one truly stands out. It is averaged over many splits, so that it does not hang on one.

The interval has the root mean square of the splits' standard errors. An average of estimates scatters no more than they
do themselves, so this is on the safe side (wide where the choice goes back and forth); the spread of the averaged
values alone is not (`benchmarks/coverage/screening.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragassay.arrays import Floats, Ints, Truths
from ragassay.records import Figure
from ragassay.text import listed, plain

from ..inputs.clusters import Clusters
from ..statistics.clustered import NO_SPREAD, Estimate, Range, estimate, intervals, mean_interval, t_interval
from ..statistics.ladder import FEWEST_SECTIONS
from ..statistics.resamples import rounded
from .screened import UNIT, BeforeAfter, ChosenVariant, Field, Screened, mean_figures

SPLITS = 200


def chosen_variant(screened: Screened, worse: Truths, baseline: int | None, seed: int) -> ChosenVariant | None:
    """Of those that can be ranked, the first; None where none can. worse: (variants,), told to be worse than it."""
    ranked, values, names = screened.ranked, screened.values, screened.names
    if not len(ranked):
        return None
    best, second = int(ranked[0]), int(ranked[1]) if len(ranked) > 1 else None
    choices = Choices.of(screened.field, screened.by_cost, screened.clusters, seed)
    mean = BeforeAfter(before=mean_figures(values[[best]], screened.clusters)[0], after=choices.mean(values, UNIT))
    lead = over = None
    if second is not None:
        lead = BeforeAfter(before=_lead(screened, best, second), after=choices.lead(values, UNIT))
    if baseline is not None and baseline != best:
        over = BeforeAfter(before=_lead(screened, best, baseline), after=choices.lead_over(baseline, values, UNIT))
    others = [at for at in ranked.tolist() if at != best]
    untold = [names[at] for at in others if not worse[at]]
    sure = bool(others) and not untold
    return ChosenVariant(
        name=names[best],
        runner_up=None if second is None else names[second],
        baseline=None if baseline is None else names[baseline],
        mean=mean,
        lead=lead,
        lead_over_baseline=over,
        n_splits=SPLITS,
        sure=sure,
        untold=tuple(untold),
        sentence=_sentence(screened, names[best], mean, untold, len(others)),
    )


def _lead(screened: Screened, one: int, other: int) -> Figure:
    gaps = screened.values[[one]] - screened.values[[other]]
    return mean_figures(gaps, screened.clusters, (-1.0, 1.0), difference=True)[0]


def _sentence(screened: Screened, best: str, mean: BeforeAfter, untold: list[str], n_others: int) -> str:
    name, of = plain(best), plain(screened.quality)
    if not n_others:
        return f"{name} is the only variant that can be ranked: its {of} is {_said(mean.before)}."
    honest = f" Chosen on half of the sections and measured on the other half, it is {_said(mean.after)}."
    if not untold:
        told = "the other" if n_others == 1 else f"each of the {n_others} others"
        return f"{name} is the best by {of}, told from {told}: {_said(mean.before)}.{honest}"
    some = listed([plain(one) for one in untold]) if len(untold) <= 3 else f"{len(untold)} of the {n_others} others"
    why = f"cannot be told from {some}"
    if (n := int((screened.clusters.sizes > 0).sum())) < FEWEST_SECTIONS:
        why = f"the queries come from {n} section{'s' if n > 1 else ''}, too few to be sure"
    return f"{name} leads by {of} with {_said(mean.before)}, but {why}.{honest}"


def _said(figure: Figure) -> str:
    """`.62 (.55 to .70)`."""
    if figure.value is None:
        return "not known"
    if figure.ci_low is None or figure.ci_high is None:
        return f"{figure.value:.2f}"
    return f"{figure.value:.2f} ({figure.ci_low:.2f} to {figure.ci_high:.2f})"


@dataclass(frozen=True, eq=False)
class Choices:
    """What halves of the sections choose. chosen: (2, splits, queries), the best and the second by the half that a
    query is not in, as indices of variants; -1 where there is no second."""

    chosen: Ints
    clusters: Clusters

    @classmethod
    def of(cls, field: Field, among: Ints, clusters: Clusters, seed: int) -> Choices:
        """By the mean lead over the field; those that tie on a half are in the order of `among`.

        among: indices of variants, in an order that says nothing of their values: the other half must not break ties.
        """
        halves = halves_of(clusters, seed)
        parts = np.concatenate([halves, ~halves]).astype(np.float64)
        lead = np.nan_to_num(field.lead_on(parts)[:, among], nan=-np.inf)
        best, second = _two_best(lead, among)
        inside = halves[:, clusters.numbers]
        n = len(halves)
        chosen = [np.where(inside, two[n:, None], two[:n, None]) for two in (best, second)]
        return cls(np.stack(chosen), clusters)

    def mean(self, values: Floats, limits: Range) -> Figure:
        """The mean of what is chosen; values: (variants, queries)."""
        return _figure(self._values(values, 0), self.clusters, limits, difference=False)

    def lead(self, values: Floats, limits: Range) -> Figure:
        """How far what is chosen is ahead of what the same half puts second; limits: of a query's value."""
        return self._ahead(self._values(values, 1), values, limits)

    def lead_over(self, other: int, values: Floats, limits: Range) -> Figure:
        """The same over the variant `other`."""
        return self._ahead(values[other], values, limits)

    def _ahead(self, others: Floats, values: Floats, limits: Range) -> Figure:
        width = limits[1] - limits[0]
        return _figure(self._values(values, 0) - others, self.clusters, (-width, width), difference=True)

    def _values(self, values: Floats, place: int) -> Floats:
        """(splits, queries): of the best (0) or the second (1), as far as it has values."""
        found: Floats = values[self.chosen[place], np.arange(values.shape[1])]
        return found


def halves_of(clusters: Clusters, seed: int, splits: int = SPLITS) -> Truths:
    """(splits, clusters): random halves of the clusters, by their names in order; of an odd number one more is out."""
    n = len(clusters.names)
    ranks = np.argsort(np.random.default_rng(seed).random((splits, n)), axis=1)
    halves: Truths = np.argsort(ranks, axis=1) < n // 2
    return halves


def _two_best(lead: Floats, among: Ints) -> tuple[Ints, Ints]:
    """(parts,) twice: the variants with the highest and the second highest of `lead` (parts, among)."""
    first = lead.argmax(axis=1)
    if len(among) < 2:
        return among[first], np.full(len(lead), -1)
    rest = lead.copy()
    rest[np.arange(len(lead)), first] = -np.inf
    rest_best = rest.argmax(axis=1)
    # Where no other has a value there, the next one in order stands second.
    none = np.isneginf(rest[np.arange(len(lead)), rest_best])
    second = np.where(none, np.where(first == 0, 1, 0), rest_best)
    return among[first], among[second]


def _figure(values: Floats, clusters: Clusters, limits: Range, *, difference: bool) -> Figure:
    """The mean over splits and queries of values (splits, queries), NaN where what was chosen has failed."""
    known = ~np.isnan(values)
    share = known.mean(axis=0)
    n, failed = int((share > 0).sum()), int((share == 0).sum())
    if not n:
        return Figure(value=None, n=0, n_failed=failed)
    filled = np.where(known, values, 0.0)
    each = estimate(clusters.sums(filled), clusters.sums(known.astype(np.float64)))
    value = float(filled.sum() / known.sum())
    ends = _ends(value, each, clusters, limits, difference)
    if ends == (None, None) and n > 1:
        there = share > 0
        sums, counts, part = filled.mean(axis=0)[there], share[there], clusters.where(there)
        _, low, high = intervals(sums, counts, part, limits, difference=difference)
        ends = (None, None) if np.isnan(low + high) else (float(low), float(high))
    return rounded(value, n, failed, *ends)


def _ends(
    value: float, each: Estimate, clusters: Clusters, limits: Range, difference: bool
) -> tuple[float | None, float | None]:
    """The interval from each split's error; (None, None) where no split has any, or below two clusters."""
    usable = np.isfinite(each.error) & np.isfinite(each.df)
    error = np.sqrt((each.error[usable] ** 2).mean()) if usable.any() else np.zeros(())
    if not error > NO_SPREAD:
        return None, None
    found = Estimate(np.asarray(value), error, error, each.df[usable].mean(), each.n_clusters)
    sizes = clusters.sizes
    if difference:
        low, high = t_interval(found)
    else:
        low, high = mean_interval(found, limits, float(sizes.sum() ** 2 / (sizes @ sizes)))
    if np.isnan(low + high):
        return None, None
    return max(limits[0], float(low)), min(limits[1], float(high))
