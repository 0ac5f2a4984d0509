"""Which questions tell systems apart: difficulty and discrimination of each, and the fewest that keep the order.

Classical test theory (Lord and Novick, Statistical Theories of Mental Test Scores, 1968, chapter 15), with variants for
persons and questions for items: difficulty is the mean over variants, discrimination the item-rest correlation. A 2PL
model would add a scale that values between 0 and 1 do not call for.

And whether the order hangs on who wrote the questions: a model can write questions that suit a kind of retriever. So
every family's lead over the field is compared between the questions of one author and all others: families are set
before the data are seen, where the winner of a part is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from ragassay.arrays import Floats, Ints, Truths
from ragassay.records import Figure
from ragassay.text import listed, plain

from ..agreement.estimates import draws, rank_interval
from ..audit.taste import family
from ..screening.screened import mean_figures
from ..statistics.orders import tau_b
from ..statistics.resamples import rounded
from .questions import Measured, Question, group_difference, share_of, written
from .records import FEWEST, NO_SCREENING, Authors, Difficulty, Favour, Group, QuestionDifficulty, Subset, few, shown

PASSED, FAILED = 0.99, 0.01


def difficulty(questions: Sequence[Question], measured: Measured | None, seed: int) -> Difficulty:
    """Everything the page says of it, by the written questions that every variant has a value on."""
    if measured is None:
        return Difficulty(abstained=NO_SCREENING)
    asked = measured.only([question.id for question in written(questions)])
    part = asked.complete()
    n, n_variants = len(part.clusters.queries), len(part.names)
    if n < 2 or n_variants < 2:
        has = f"{n} written {'question has' if n == 1 else 'questions have'} a value of each of {n_variants} variants"
        return Difficulty(abstained=f"{has}; difficulty and discrimination take two of each.")
    rows, values = tuple(_by_question(part)), part.values
    against = [one.discrimination.ci_high is not None and one.discrimination.ci_high < 0 for one in rows]
    passed, failed = (values >= PASSED).all(axis=0), (values <= FAILED).all(axis=0)
    table = np.array([passed, failed, np.ptp(values, axis=0) < 1e-9, against], dtype=np.float64)
    means = zip(("all_pass", "all_fail", "alike", "against"), mean_figures(table, part.clusters), strict=True)
    figures = {name: one.model_copy(update={"n_failed": len(asked.clusters.queries) - n}) for name, one in means}
    enough = n >= FEWEST and n_variants >= FEWEST_VARIANTS
    subset = smallest_subset(part, seed) if enough else None
    takes = f"{FEWEST} questions and {FEWEST_VARIANTS} variants, not level"
    return Difficulty(
        figures=figures,
        questions=rows,
        subset=subset,
        said=tuple(_difficulty_said(figures, subset, n)),
        abstained=None if subset else f"No smaller set is looked for: that takes {takes}.",
    )


def _by_question(part: Measured) -> Iterator[QuestionDifficulty]:
    means = part.values.mean(axis=0)
    for at, query in enumerate(part.clusters.queries):
        column, rest = part.values[:, at], np.delete(part.values, at, axis=1).mean(axis=1)
        yield QuestionDifficulty(
            id=query,
            difficulty=rounded(float(means[at]), len(column), 0, None, None),
            discrimination=_correlation(column, rest),
        )


def _correlation(one: Floats, other: Floats) -> Figure:
    """Pearson's r with Fisher's interval, as if variants were drawn independently, which those of one grid are not."""
    n = len(one)
    if np.ptp(one) < 1e-9 or np.ptp(other) < 1e-9:
        return Figure(value=None, n=n)
    r = float(np.clip(np.corrcoef(one, other)[0, 1], -1, 1))
    if n < 4 or abs(r) > 1 - 1e-9:
        return rounded(r, n, 0, None, None)
    low, high = np.tanh(np.arctanh(r) + np.array([-1, 1]) * 1.959963984540054 / np.sqrt(n - 3))
    return rounded(r, n, 0, float(low), float(high))


def _difficulty_said(figures: Mapping[str, Figure], subset: Subset | None, n: int) -> Iterator[str]:
    yield (
        f"Of the written questions every variant passes {shown(figures['all_pass'])} and fails "
        f"{shown(figures['all_fail'])}; {shown(figures['against'])} tell variants apart the wrong way round."
    )
    if subset and len(subset.questions) == n:
        yield f"No smaller set keeps the order: on variants that did not choose it, none reaches a τ-b of {KEPT}."
    elif subset:
        yield (
            f"{len(subset.questions)} of {n} questions keep the order of variants: τ-b with the whole is "
            f"{shown(subset.tau_b)} on variants that had no part in choosing them, and of as many drawn at random "
            f"{shown(subset.tau_b_random)}."
        )


KEPT = 0.95
"""Tau-b with the whole set, from which on the order counts as kept."""
FEWEST_VARIANTS = 8
MOST_VARIANTS = 80
"""Of more, so many drawn at random take part: pairs grow with the square."""
SPLITS = 10


def smallest_subset(part: Measured, seed: int) -> Subset | None:
    """None where the whole set ties all variants, or all of a half. part: with every value known.

    A greedy choice is flattered by the variants it was made on. So the variants are split in halves at random: one half
    adds the questions one by one, each time that which brings tau-b with the whole set highest, and the other says what
    tau-b each number of questions has there. The number is the first whose mean over splits is .95; the questions are
    then chosen on all variants.
    """
    rng = np.random.default_rng(seed)
    n_variants = len(part.names)
    drawn = np.sort(rng.permutation(n_variants)[:MOST_VARIANTS])
    values = part.values[drawn]
    curves = [curve for _ in range(SPLITS) for curve in _halves(values, rng)]
    if not curves:
        return None
    held, at_random = (np.array([pair[side] for pair in curves]) for side in (0, 1))
    reached = np.flatnonzero(held.mean(axis=0) >= KEPT)
    size = int(reached[0]) + 1 if len(reached) else values.shape[1]
    order = greedy_order(values, size)
    chosen = float(tau_b(values[:, order].mean(axis=1), values.mean(axis=1)))
    return Subset(
        questions=tuple(part.clusters.queries[at] for at in order),
        n_splits=len(curves),
        tau_b=_over_splits(held[:, size - 1], len(drawn)),
        tau_b_random=_over_splits(at_random[:, size - 1], len(drawn)),
        tau_b_chosen=rounded(chosen, len(drawn), 0, None, None),
    )


def greedy_order(values: Floats, size: int) -> Ints:
    """The questions (columns of `values`) in the order in which they are added, `size` of them; of equals the first."""
    n = values.shape[1]
    whole, sums, order = values.mean(axis=1), np.zeros(len(values)), list[int]()
    for _ in range(size):
        left = [at for at in range(n) if at not in order]
        means = (sums[:, None] + values[:, left]).T / (len(order) + 1)
        taus = np.nan_to_num(tau_b(means, whole), nan=-1.0)
        best = left[int(np.round(taus, 9).argmax())]
        order.append(best)
        sums = sums + values[:, best]
    return np.array(order, dtype=np.intp)


def _halves(values: Floats, rng: np.random.Generator) -> list[tuple[Floats, Floats]]:
    """Of each half of a split: tau-b on it with the whole set, by the number of questions (1, 2, …), as the other half
    and as chance chooses them."""
    order, half = rng.permutation(len(values)), len(values) // 2
    found, n = [], values.shape[1]
    for chooses, tells in ((order[:half], order[half:]), (order[half:], order[:half])):
        told = values[tells]
        sums = [told[:, one].cumsum(axis=1) for one in (greedy_order(values[chooses], n), rng.permutation(n))]
        curves = [tau_b((some / np.arange(1, n + 1)).T, told.mean(axis=1)) for some in sums]
        if np.isfinite(curves[0][-1]):
            found.append((np.nan_to_num(curves[0]), np.nan_to_num(curves[1])))
    return found


def _over_splits(taus: Floats, n: int) -> Figure:
    """The mean, and where the middle 95% of the splits lie. n: variants."""
    low, high = np.quantile(taus, [0.025, 0.975])
    return rounded(float(taus.mean()), n, 0, float(low), float(high))


RESAMPLES = 200
_BY: tuple[Literal["author", "kind"], ...] = ("author", "kind")


def authors(
    questions: Sequence[Question],
    measured: Measured | None,
    answerers: Sequence[str | None],
    judges: Sequence[str],
    seed: int,
) -> Authors:
    """Everything the page says of it. answerers, judges: models; None where nobody said who wrote some answers."""
    ours = written(questions)
    if not ours:
        return Authors(abstained="No question was written by a model.")
    shared = {family(one) for one in answerers if one} & {family(one) for one in judges}
    writers = [family(str(q.author)) for q in ours]
    one_family = share_of(ours, (one in shared for one in writers))
    said = "No written question has an author of the family that answers and judges."
    if one_family.value:
        said = (
            f"Author, answerer and judge are of one family for {shown(one_family)} of the written questions "
            f"({listed(sorted(map(plain, set(writers))))} wrote them): a liking for its own would not show."
        )
    if measured is None:
        return Authors(figures={"one_family": one_family}, said=(said,), abstained=NO_SCREENING)
    asked = measured.only([q.id for q in ours])
    part = asked.complete()
    failed = len(asked.clusters.queries) - len(part.clusters.queries)
    rows = {q.id: q for q in ours}
    parts = list[tuple[Literal["author", "kind"], str, Truths]]()
    for by in _BY:
        labels = np.array([str(getattr(rows[query], by) or "") for query in part.clusters.queries])
        for name in sorted(set(labels.tolist()) - {""}):
            which: Truths = labels == name
            if min(which.sum(), (~which).sum()) >= FEWEST:
                parts.append((by, name, which))
    groups = []
    for by, name, which in parts:
        n, others = int(which.sum()), ~which
        group = Group(
            by=by,
            name=name,
            n=n,
            tau_b=_tau(part, which, others, n, seed),
            tau_b_left_out=_tau(part, others, np.ones_like(which), n, seed),
            best=part.best(part.values[:, which].mean(axis=1)),
            best_without=part.best(part.values[:, others].mean(axis=1)),
        )
        groups.append(group)
    # Each family's lead over the field by a group less that by the others.
    families, favours = part.by_family, list[Favour]()
    for by, name, which in parts if len(families) > 1 else ():
        estimates = group_difference(families - families.mean(axis=0), which, part.clusters, failed)
        told = estimates.told(len(families) * len(parts)).tolist()
        rows_of = zip(part.family_names, estimates.figures(), told, strict=True)
        favours += [Favour(by=by, group=name, family=one, figure=figure, told=sure) for one, figure, sure in rows_of]
    what = " and by ".join(by for by in _BY if not any(one.by == by for one in groups))
    missing = f"The order by {what} is not compared: that takes {FEWEST} questions of one, and {FEWEST} of others."
    return Authors(
        groups=tuple(groups),
        favours=tuple(favours),
        figures={"one_family": one_family},
        said=(said, *_said(groups)),
        warnings=tuple(_warnings(favours, groups)),
        abstained=missing if what else None,
    )


def _tau(part: Measured, one: Truths, other: Truths, n: int, seed: int) -> Figure:
    """Of the orders by two sets of queries, with the interval from resampling clusters."""
    sums = part.clusters.sums
    sides = [(sums(np.where(side, part.values, 0.0)), sums(side.astype(np.float64))) for side in (one, other)]
    n_clusters = len(part.clusters.names)

    def taus(weights: Floats) -> Floats:
        """(draws,); of a draw without a query NaN."""
        with np.errstate(invalid="ignore", divide="ignore"):
            means = [(weights @ total.T) / (weights @ counts)[:, None] for total, counts in sides]
        return tau_b(*means)

    value = float(taus(np.ones((1, n_clusters)))[0])
    if np.isnan(value):
        return Figure(value=None, n=n)
    return rounded(value, n, 0, *rank_interval(value, taus(draws(n_clusters, RESAMPLES, seed)), n_clusters))


def _said(groups: Sequence[Group]) -> Iterator[str]:
    for one in groups:
        of_author = f"{plain(one.name)}'s {one.n} questions"
        what = of_author if one.by == "author" else f"the {one.n} {plain(one.name)} questions"
        best = f"the best is {few(one.best)}, by the others {few(one.best_without)}"
        best = "the best is the same" if set(one.best) & set(one.best_without) else best
        yield f"By {what} τ-b with the order by all others is {shown(one.tau_b)}; {best}."


def _warnings(favours: Sequence[Favour], groups: Sequence[Group]) -> Iterator[str]:
    """Of leads that are larger: where one family's is, those of others are smaller."""
    by_name = {(one.by, one.name): one for one in groups}
    for one in favours:
        if not one.told or one.figure.value is None or one.figure.value < 0:
            continue
        group, name = by_name[one.by, one.group], plain(one.group)
        who = f"The questions of {name} favour" if one.by == "author" else f"Questions of the kind {name} favour"
        changed = not set(group.best) & set(group.best_without)
        more = " Without them another variant is the best." if changed else ""
        yield f"{who} {plain(one.family)}: its lead over the field is larger there by {shown(one.figure)}.{more}"
