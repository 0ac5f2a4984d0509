"""Who made it: does the order of retrievers hang on the model that wrote the questions, or on their kind?

A model can write questions that suit a kind of retriever. So every family's lead over the field is compared between the
questions of one author and all others: families are set before the data are seen, where the winner of a part is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.records import Figure
from ragassay.text import listed, plain

from ..agreement.interval import draws, rank_interval
from ..audit.family import family
from ..inputs.clusters import Clusters, clusters_of_rows
from ..screening.mean_figures import mean_figures
from ..statistics.orders import tau_b
from ..statistics.resamples import rounded
from .differences import group_difference
from .families import Measured
from .questions import Question, written
from .records import Authors, Favour, Group
from .told import FEWEST, NO_SCREENING, shown

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
