"""Who goes on from the screening to answers and games: few, good, and not the same thing six times.

The baseline has a place, then the one of highest quality. Up to half of the places go to variants of the front that
are much cheaper: the best of those that hand over at most half of its tokens, the best at half of these, and so on, and
the best of those that search in a tenth of its time. The rest go to the next by quality. One that is alike to a
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
CHEAPER_SHARE = 2
"""One place in so many is for a variant that is much cheaper than the best."""

FEWER_TOKENS, FASTER = 1 / 2, 1 / 10
"""Of the tokens of the one before it, and of the search time of the best."""


def finalists(screened: Screened, on_front: Truths, places: int, baseline: int | None = None) -> list[int]:
    """Indices of at most `places` variants (at least 1), the baseline first, then by quality.

    on_front: (variants,), of quality, latency and tokens.
    """
    ranked = screened.ranked.tolist()
    taken: list[int] = [] if baseline is None else [baseline]
    taken += [at for at in ranked[:1] if at not in taken][: places - len(taken)]
    cheaper = _much_cheaper(screened, [at for at in ranked if on_front[at]], ranked[0]) if ranked else []
    _fill(taken, cheaper, min(places, len(taken) + places // CHEAPER_SHARE), screened.measures)
    _fill(taken, ranked, places, screened.measures)
    rank = {at: place for place, at in enumerate(ranked)}
    return sorted(taken, key=lambda at: (at != baseline, rank.get(at, len(rank))))


def _much_cheaper(screened: Screened, front: list[int], best: int) -> list[int]:
    """Of the front, best first: the first at ever fewer tokens, and the first that searches much faster."""
    found, tokens = [], screened.mean_tokens[best]
    for at in front:
        if screened.mean_tokens[at] <= FEWER_TOKENS * tokens:
            found.append(at)
            tokens = screened.mean_tokens[at]
    latency = screened.latency_p50_s
    faster = [at for at in front if latency[at] <= FASTER * latency[best]]
    return [*found[:1], *faster[:1], *found[1:]]


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
