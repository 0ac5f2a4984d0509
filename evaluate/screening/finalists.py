"""Who goes on from the screening to answers and games: few, good, and not the same thing six times.

The baseline has a place, then the one of highest quality. Up to a third of the places go to variants on the front that
cost less than it and that the data do not tell to be worse; the rest to the next by quality. One that is alike to a
finalist, finding the same on nearly every query, has no place of its own: there may then be fewer finalists.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ragassay.arrays import Floats, Truths

from .screened import Screened

ALIKE = 0.95
"""On this share of the queries two variants have the same value of every measure."""

SAME = 1e-6
CHEAPER_SHARE = 3
"""One place in so many is for a variant that costs less than the best."""


def finalists(
    screened: Screened, on_front: Truths, worse: Truths, places: int, baseline: int | None = None
) -> list[int]:
    """Indices of at most `places` variants (at least 1), the baseline first, then by quality.

    on_front: (variants,), of quality, latency and tokens. worse: (variants,), told to be worse than the best.
    """
    ranked = screened.ranked.tolist()
    taken: list[int] = [] if baseline is None else [baseline]
    taken += [at for at in ranked[:1] if at not in taken][: places - len(taken)]
    cheaper = [at for at in ranked[1:] if on_front[at] and not worse[at]]
    _fill(taken, cheaper, min(places, len(taken) + places // CHEAPER_SHARE), screened.measures)
    _fill(taken, ranked, places, screened.measures)
    rank = {at: place for place, at in enumerate(ranked)}
    return sorted(taken, key=lambda at: (at != baseline, rank.get(at, len(rank))))


def _fill(taken: list[int], candidates: list[int], places: int, measures: Mapping[str, Floats]) -> None:
    """Add candidates in order that are not yet there, nor alike to one that is, up to `places`."""
    for at in candidates:
        if len(taken) >= places:
            return
        if at not in taken and not any(alike(at, other, measures) for other in taken):
            taken.append(at)


def alike(one: int, other: int, measures: Mapping[str, Floats]) -> bool:
    """Whether two variants find the same on `ALIKE` of the queries: all measures agree, or both failed."""
    same = np.all(
        [
            (np.abs(values[one] - values[other]) < SAME) | (np.isnan(values[one]) & np.isnan(values[other]))
            for values in measures.values()
        ],
        axis=0,
    )
    return bool(same.mean() >= ALIKE) if len(same) else False
