"""Which questions tell systems apart: difficulty and discrimination of each, and the fewest that keep the order.

Classical test theory (Lord and Novick, Statistical Theories of Mental Test Scores, 1968, chapter 15), with variants for
persons and questions for items: difficulty is the mean over variants, discrimination the item-rest correlation. A 2PL
model would add a scale that values between 0 and 1 do not call for.
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
from ..inputs.clusters import Clusters, clusters_of_rows
from ..screening.screened import mean_figures
from ..statistics.orders import tau_b
from ..statistics.resamples import rounded
from .questions import Measured, Question, group_difference, written
from .records import FEWEST, NO_SCREENING, Authors, Difficulty, Favour, Group, QuestionDifficulty, Subset, shown

# A model can write questions that suit a kind of retriever. So every family's lead over the field is compared between
# the questions of one author and all others: families are set before the data are seen, where the winner of a part is
# not.

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
    one_family = _one_family(ours, answerers, judges)
    said = _said_of_family(one_family, {family(str(q.author)) for q in ours})
    if measured is None:
        return Authors(figures={"one_family": one_family}, said=said, abstained=NO_SCREENING)
    asked = measured.only([q.id for q in ours])
    part = asked.complete()
    failed = len(asked.clusters.queries) - len(part.clusters.queries)
    rows = {q.id: q for q in ours}
    parts = [(by, name, which) for by in _BY for name, which in _groups(by, rows, part)]
    groups = tuple(_group(by, name, which, part, seed) for by, name, which in parts)
    favours = _favours(parts, part, failed)
    return Authors(
        groups=groups,
        favours=favours,
        figures={"one_family": one_family},
        said=(*said, *_said(groups)),
        warnings=tuple(_warnings(favours, groups)),
        abstained=_too_few(groups),
    )


def _groups(
    by: Literal["author", "kind"], rows: Mapping[str, Question], part: Measured
) -> Iterator[tuple[str, Truths]]:
    """Name and queries of each group that is large enough, as is what is left without it."""
    labels = np.array([str(getattr(rows[query], by) or "") for query in part.clusters.queries])
    for name in sorted(set(labels.tolist()) - {""}):
        which: Truths = labels == name
        if min(which.sum(), (~which).sum()) >= FEWEST:
            yield name, which


def _group(by: Literal["author", "kind"], name: str, which: Truths, part: Measured, seed: int) -> Group:
    means = [part.values[:, side].mean(axis=1) for side in (which, ~which, np.ones_like(which))]
    n = int(which.sum())
    return Group(
        by=by,
        name=name,
        n=n,
        tau_b=_tau(part, which, ~which, n, seed),
        tau_b_left_out=_tau(part, ~which, np.ones_like(which), n, seed),
        best=part.best(means[0]),
        best_without=part.best(means[1]),
    )


def _tau(part: Measured, one: Truths, other: Truths, n: int, seed: int) -> Figure:
    """Of the orders by two sets of queries, with the interval from resampling clusters."""
    sides = [_sums(part, side) for side in (one, other)]
    n_clusters = len(part.clusters.names)
    weights = draws(n_clusters, RESAMPLES, seed)
    value = float(tau_b(*(_means(np.ones((1, n_clusters)), *side)[0] for side in sides)))
    if np.isnan(value):
        return Figure(value=None, n=n)
    drawn = tau_b(*(_means(weights, *side) for side in sides))
    return rounded(value, n, 0, *rank_interval(value, drawn, n_clusters))


def _sums(part: Measured, which: Truths) -> tuple[Floats, Floats]:
    return part.clusters.sums(np.where(which, part.values, 0.0)), part.clusters.sums(which.astype(np.float64))


def _means(weights: Floats, sums: Floats, counts: Floats) -> Floats:
    """(draws, variants); NaN where no query was drawn."""
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = (weights @ sums.T) / (weights @ counts)[:, None]
    return means


def _favours(
    parts: Sequence[tuple[Literal["author", "kind"], str, Truths]], part: Measured, n_failed: int
) -> tuple[Favour, ...]:
    """Each family's lead over the field by a group less that by the others. Two groups say the same of each other, and
    only one is tested then."""
    families = part.by_family
    if len(families) < 2:
        return ()
    lead = families - families.mean(axis=0)
    n_tests = len(part.family_names) * max(1, len(parts))
    found = []
    for by, name, which in parts:
        estimates = group_difference(lead, which, part.clusters, n_failed)
        rows = zip(part.family_names, estimates.figures(), estimates.told(n_tests).tolist(), strict=True)
        found += [Favour(by=by, group=name, family=one, figure=figure, told=told) for one, figure, told in rows]
    return tuple(found)


def _one_family(ours: Sequence[Question], answerers: Sequence[str | None], judges: Sequence[str]) -> Figure:
    shared = {family(one) for one in answerers if one} & {family(one) for one in judges}
    values = np.array([[float(family(str(q.author)) in shared) for q in ours]])
    clusters: Clusters = clusters_of_rows([q.cluster for q in ours])
    return mean_figures(values, clusters)[0]


def _said_of_family(figure: Figure, families: set[str]) -> tuple[str, ...]:
    if not figure.value:
        return ("No written question has an author of the family that answers and judges.",)
    return (
        f"Author, answerer and judge are of one family for {shown(figure)} of the written questions "
        f"({listed(sorted(map(plain, families)))} wrote them): a liking for its own would not show.",
    )


def _said(groups: Sequence[Group]) -> Iterator[str]:
    for one in groups:
        what = (
            f"{plain(one.name)}'s {one.n} questions"
            if one.by == "author"
            else f"the {one.n} {plain(one.name)} questions"
        )
        same = set(one.best) & set(one.best_without)
        best = (
            "the best is the same" if same else f"the best is {_few(one.best)}, by the others {_few(one.best_without)}"
        )
        yield f"By {what} τ-b with the order by all others is {shown(one.tau_b)}; {best}."


def _few(names: Sequence[str]) -> str:
    return f"one of {len(names)} that are level" if len(names) > 3 else listed([plain(name) for name in names])


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


def _too_few(groups: Sequence[Group]) -> str | None:
    missing = [by for by in _BY if not any(one.by == by for one in groups)]
    if not missing:
        return None
    what = " and by ".join(missing)
    return f"The order by {what} is not compared: that takes {FEWEST} questions of one, and {FEWEST} of others."


# A greedy choice is flattered by the variants it was made on. So the variants are split in halves at random: one half
# adds the questions one by one, each time that which brings tau-b with the whole set highest, and the other says what
# tau-b each number of questions has there. The number is the first whose mean over splits is .95; the questions are
# then chosen on all variants.

KEPT = 0.95
"""Tau-b with the whole set, from which on the order counts as kept."""
FEWEST_VARIANTS = 8
MOST_VARIANTS = 80
"""Of more, so many drawn at random take part: pairs grow with the square."""
SPLITS = 10


def smallest_subset(part: Measured, seed: int) -> Subset | None:
    """None where the whole set ties all variants, or all of a half. part: with every value known."""
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
    """Of each half of a split: tau-b on it by the number of questions, as the other half and as chance chooses them."""
    order, half = rng.permutation(len(values)), len(values) // 2
    found = []
    for chooses, tells in ((order[:half], order[half:]), (order[half:], order[:half])):
        n = values.shape[1]
        curves = [_curve(values[tells], one) for one in (greedy_order(values[chooses], n), rng.permutation(n))]
        if np.isfinite(curves[0][-1]):
            found.append((np.nan_to_num(curves[0]), np.nan_to_num(curves[1])))
    return found


def _curve(values: Floats, order: Ints) -> Floats:
    """(questions,): tau-b with the whole set of the first 1, 2, … questions in order."""
    means = values[:, order].cumsum(axis=1) / np.arange(1, len(order) + 1)
    return tau_b(means.T, values.mean(axis=1))


def _over_splits(taus: Floats, n: int) -> Figure:
    """The mean, and where the middle 95% of the splits lie. n: variants."""
    low, high = np.quantile(taus, [0.025, 0.975])
    return rounded(float(taus.mean()), n, 0, float(low), float(high))


PASSED, FAILED = 0.99, 0.01
_NO_SUBSET = f"No smaller set is looked for: that takes {FEWEST} questions and {FEWEST_VARIANTS} variants, not level."
_Z = 1.959963984540054


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
    figures = _figures(part, len(asked.clusters.queries) - n)
    enough = n >= FEWEST and n_variants >= FEWEST_VARIANTS
    subset = smallest_subset(part, seed) if enough else None
    found = Difficulty(
        figures=figures,
        questions=tuple(_by_question(part)),
        subset=subset,
        abstained=None if subset else _NO_SUBSET,
    )
    return found.model_copy(update={"said": tuple(_difficulty_said(found, n))})


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
    low, high = np.tanh(np.arctanh(r) + np.array([-1, 1]) * _Z / np.sqrt(n - 3))
    return rounded(r, n, 0, float(low), float(high))


def _figures(part: Measured, n_failed: int) -> dict[str, Figure]:
    values = part.values
    alike = np.ptp(values, axis=0) < 1e-9
    against = [one.discrimination.ci_high is not None and one.discrimination.ci_high < 0 for one in _by_question(part)]
    shares: dict[str, Truths] = {
        "all_pass": np.asarray((values >= PASSED).all(axis=0)),
        "all_fail": np.asarray((values <= FAILED).all(axis=0)),
        "alike": alike,
        "against": np.array(against),
    }
    table = np.array([row.astype(np.float64) for row in shares.values()])
    found = mean_figures(table, part.clusters)
    return {name: one.model_copy(update={"n_failed": n_failed}) for name, one in zip(shares, found, strict=True)}


def _difficulty_said(found: Difficulty, n: int) -> Iterator[str]:
    figures = found.figures
    yield (
        f"Of the written questions every variant passes {shown(figures['all_pass'])} and fails "
        f"{shown(figures['all_fail'])}; {shown(figures['against'])} tell variants apart the wrong way round."
    )
    subset = found.subset
    if subset and len(subset.questions) == n:
        yield f"No smaller set keeps the order: on variants that did not choose it, none reaches a τ-b of {KEPT}."
    elif subset:
        yield (
            f"{len(subset.questions)} of {n} questions keep the order of variants: τ-b with the whole is "
            f"{shown(subset.tau_b)} on variants that had no part in choosing them, and of as many drawn at random "
            f"{shown(subset.tau_b_random)}."
        )
