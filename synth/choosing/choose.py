"""Choosing the test set as a whole: of many questions those that together look like people's."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ragassay.experiment.question_settings import QuestionsSettings
from ragassay.records import Query

from .energy_distance import Array, Sample, energy_distance
from .exchange import Exchange, Ints, Traits
from .features import Features
from .quotas import cells_of, kind_of, model_of, wanted_kinds
from .spread import draw_spread, is_blind, place_of

FORMS = ("wh", "yes_no", "statement", "keywords", "several_sentences")


@dataclass(frozen=True)
class Chosen:
    """queries: in an order whose beginning is spread. distance: their energy distance to people's questions; drawn:
    that of the spread draw from which they were exchanged; None where there is no query. notices: for the user.
    """

    queries: tuple[Query, ...] = ()
    distance: float | None = None
    drawn: float | None = None
    notices: tuple[str, ...] = ()


def choose_queries(
    pool: Sequence[Query], features: Mapping[str, Features], target: Sample, settings: QuestionsSettings
) -> Chosen:
    """Of `pool` the questions that are kept: each model's quota, or as many as it has.

    features: of each query, by id. target: people's features. Kinds have their shares of `settings.kinds`, where the
    pool allows; sections and documents are asked about as evenly as can be found, and `settings.blind` of the questions
    are blind, as nearly as that allows. Within this the set is chosen to have the smallest energy distance to the
    target that exchanges of one or two questions reach. The same for any order of the pool.
    """
    pool = sorted(pool, key=lambda query: query.id)
    cells = cells_of(pool, settings.quota, settings.kinds)
    start = draw_spread(pool, cells, settings.blind, settings.seed)
    if not start:
        return Chosen()
    points, standard = _standardised(np.array([features[query.id] for query in pool], float), target)
    place = {query.id: row for row, query in enumerate(pool)}
    rows = [place[query.id] for query in start]
    exchange = Exchange(points, standard, _traits(pool), rows, round(settings.blind * len(start)))
    exchange.spread()
    drawn = energy_distance(Sample.even(points[exchange.kept]), standard)
    exchange.approach()
    kept = [query for query, is_kept in zip(pool, exchange.kept, strict=True) if is_kept]
    return Chosen(
        tuple(draw_spread(kept, cells_of(kept, settings.quota, {}), settings.blind, settings.seed)),
        energy_distance(Sample.even(points[exchange.kept]), standard),
        drawn,
        tuple(_short(pool, kept, settings)),
    )


def _standardised(points: Array, target: Sample) -> tuple[Array, Sample]:
    """Both in units of the standard deviation over both, each weighing half; what is 0 or 1 in units of one half.

    A rare form would otherwise outweigh all else, as its standard deviation is small.
    """
    both = np.concatenate([points, target.points])
    weights = np.concatenate([np.full(len(points), 0.5 / len(points)), target.weights / 2])
    mean = weights @ both
    scale = np.sqrt(weights @ (both - mean) ** 2)
    scale[[Features._fields.index(name) for name in FORMS]] = 0.5
    scale[scale < 1e-9] = 1.0
    return (points - mean) / scale, Sample((target.points - mean) / scale, target.weights)


def _traits(pool: Sequence[Query]) -> Traits:
    return Traits(
        model=_numbered([model_of(query) for query in pool]),
        kind=_numbered([kind_of(query) for query in pool]),
        section=_numbered([place_of(query) for query in pool]),
        doc=_numbered([place_of(query)[0] for query in pool]),
        blind=np.array([is_blind(query) for query in pool], np.intp),
    )


def _numbered(values: Sequence[Hashable]) -> Ints:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], np.intp)


def _short(pool: Sequence[Query], kept: Sequence[Query], settings: QuestionsSettings) -> list[str]:
    """The sentence for kinds that the pool has too few questions of."""
    n = {kind: sum(kind_of(query) == kind for query in kept) for kind in settings.kinds}
    wanted = wanted_kinds(pool, settings.quota, settings.kinds)
    told = [f"{n[kind]} of the {count} {kind} questions" for kind, count in wanted.items() if n[kind] < count]
    if not told:
        return []
    return [f"the pool has only {', '.join(told)} that their share would be; the rest went to other kinds"]
