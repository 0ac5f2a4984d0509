"""Rankers made of rankers: a hybrid of several, sections for the passages found, and a search that is remembered."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ragassay.errors import InputError
from ragassay.records import Passage
from ragassay.text import plain

from .ranker import Failed, Material, Ranker, Ranking, all_found, in_order, search_each

Fusion = Literal["rrf", "min-max", "z-score"]

HYBRID_DEPTH = 50
"""How many passages of each ranking are fused at least, so that one that both rank low can still come out first."""


class Hybrid(Ranker):
    """The top max(k, `depth`) of each of `rankers` fused, cut to k.

    fusion: "rrf", or the normalisation of scores (`fuse_scores`). weights: one a ranker, 0 or more and not all 0; None
    are equal ones. A ranker of weight 0 takes no part. Raises InputError for other weights.
    """

    name = "hybrid"

    @classmethod
    def over(cls, material: Material) -> Ranker:
        """BM25 and KNN by reciprocal rank, with the setting `rrf_k`."""
        return cls([material.ranker("bm25"), material.ranker("knn")], material.settings.get("rrf_k", 60))

    def __init__(
        self,
        rankers: Sequence[Ranker],
        rrf_k: int = 60,
        *,
        fusion: Fusion = "rrf",
        weights: Sequence[float] | None = None,
        depth: int = HYBRID_DEPTH,
    ) -> None:
        self._rrf_k, self._fusion, self._depth = rrf_k, fusion, depth
        given = [1.0] * len(rankers) if weights is None else weights
        if len(given) != len(rankers):
            raise InputError(
                f"there are {len(given)} weights for {len(rankers)} retrievers", remedy="give one for each"
            )
        if not all(isfinite(weight) and weight >= 0 for weight in given) or not sum(given) > 0:
            raise InputError(f"the weights are {list(given)}", remedy="give 0 or more for each, and one above 0")
        taking_part = [pair for pair in zip(rankers, given, strict=True) if pair[1] > 0]
        self._rankers, self._weights = [ranker for ranker, _ in taking_part], [weight for _, weight in taking_part]

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` best passages for each query, with fused scores.

        Raises QueriesFailed where one of the rankers fails for a query.
        """
        found = [search_each(ranker, queries, max(k, self._depth)) for ranker in self._rankers]
        return all_found([self._fused(row, k) for row in zip(*found, strict=True)])

    def _fused(self, row: Sequence[Ranking | Failed], k: int) -> Ranking | Failed:
        if failed := next((part for part in row if isinstance(part, Failed)), None):
            return failed
        rankings = [part for part in row if not isinstance(part, Failed)]
        if self._fusion == "rrf":
            return rrf([ids_of(ranking) for ranking in rankings], self._rrf_k, self._weights)[:k]
        return fuse_scores(rankings, self._weights, self._fusion)[:k]


def ids_of(ranking: Ranking) -> list[str]:
    """The passages of a ranking, best first."""
    return [identifier for identifier, _ in ranking]


def rrf(
    rankings: Sequence[Sequence[str]], k: int = 60, weights: Sequence[float] | None = None
) -> list[tuple[str, float]]:
    """Ids with their fused scores, best first, equal scores by id.

    Cormack, Clarke and Büttcher, Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning Methods
    (SIGIR 2009): score(d) = sum over the rankings that hold d of 1 / (k + rank of d), ranks from 1; the paper fixed k =
    60. With weights, each ranking's terms are multiplied by its own.

    Each ranking is ids, best first; one that comes twice in a ranking counts at its first place, and one that a
    ranking lacks gets nothing from it. The order of the rankings does not matter. `weights` stand beside the rankings,
    each 0 or more; without, each is 1. Raises ValueError where k < 0 or there are not as many weights as rankings.
    """
    if k < 0:
        raise ValueError(f"k is {k}, which is below 0")
    terms: dict[str, list[float]] = {}
    for weight, ranking in zip([1.0] * len(rankings) if weights is None else weights, rankings, strict=True):
        first = {identifier: rank for rank, identifier in reversed(list(enumerate(ranking, 1)))}
        for identifier, rank in first.items():
            terms.setdefault(identifier, []).append(weight / (k + rank))
    fused = [(identifier, math.fsum(shares)) for identifier, shares in terms.items()]
    # sums of the same terms are equal before rounding; 15 digits join those of other terms with the same value
    return sorted(fused, key=lambda pair: (-round(pair[1], 15), pair[0]))


def fuse_scores(
    rankings: Sequence[Ranking], weights: Sequence[float], normalisation: Literal["min-max", "z-score"]
) -> Ranking:
    """Every passage of `rankings` with its fused score, best first, equal scores (to 12 decimals) by id.

    Bruch, Gai and Ingber, An Analysis of Fusion Functions for Hybrid Retrieval (TOIS 2023, arXiv:2210.11934), section
    4: the convex combination, f(d) = sum over rankings of w · φ(score of d), with φ min-max, (s - min) / (max - min),
    or z-score, (s - mean) / standard deviation; minimum, mean and deviation are those of the ranking as it was
    retrieved, not of all passages. A passage that one of the rankings lacks gets from it what its last one gets (0 by
    min-max). It may score less, never more; the paper computes its score, which the rankers of others cannot be asked
    for. Zero by z-score would be the mean: being absent would be better than standing in the lower half.

    `weights` stand beside the rankings, each 0 or more. A ranking whose scores are all equal gives each of its
    passages 1 by min-max (each is its best), 0 by z-score; an empty one gives nothing to any passage. Raises
    ValueError where there are not as many weights as rankings.
    """
    normalise = _min_max if normalisation == "min-max" else _z_scores
    parts = [(weight, normalise(dict(ranking))) for weight, ranking in zip(weights, rankings, strict=True) if ranking]
    lowest = [0.0 if normalisation == "min-max" else min(scores.values()) for _, scores in parts]
    identifiers = {identifier for _, scores in parts for identifier in scores}
    fused = {
        identifier: math.fsum(
            weight * scores.get(identifier, low) for (weight, scores), low in zip(parts, lowest, strict=True)
        )
        for identifier in identifiers
    }
    return in_order((identifier, round(score, 12)) for identifier, score in fused.items())


def _min_max(scores: Mapping[str, float]) -> dict[str, float]:
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {identifier: (score - low) / (high - low) for identifier, score in scores.items()}


def _z_scores(scores: Mapping[str, float]) -> dict[str, float]:
    mean = math.fsum(scores.values()) / len(scores)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores.values()) / len(scores))
    if max(scores.values()) == min(scores.values()) or deviation == 0:
        return dict.fromkeys(scores, 0.0)
    return {identifier: (score - mean) / deviation for identifier, score in scores.items()}


FIRST_DEPTH = 50
_A_SECTION = 4  # passages that are looked for at first, for each section that is wanted


def sections_of(passages: Iterable[Passage]) -> dict[str, str]:
    """The section of each passage by id: `metadata.section`. Raises InputError where one has none."""
    found = {}
    for passage in passages:
        section = passage.metadata.get("section")
        if not isinstance(section, str):
            raise InputError(f"passage '{plain(passage.id)}' has no metadata.section, so it cannot stand for one")
        found[passage.id] = section
    return found


class SmallToBig(Ranker):
    """The sections of the passages that `ranker` finds, each once; `section_of` has every passage that it can find.

    A section's score is that of its best passage, which is how LlamaIndex' and LangChain's parent retrievers rank them,
    and MaxP of Dai and Callan, Deeper Text Understanding for IR with Contextual Neural Language Modeling (SIGIR 2019).
    As many passages are looked at as k sections need, at least max(4 k, 50).
    """

    def __init__(self, ranker: Ranker, section_of: Mapping[str, str]) -> None:
        self._ranker, self._section_of = ranker, section_of

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The at most `k` best sections for each query, equal scores by id. Raises what `ranker` does."""
        found: dict[str, Ranking | Failed] = {}
        owed, depth = list(dict.fromkeys(queries)), max(FIRST_DEPTH, _A_SECTION * k)
        while owed:
            rows = dict(zip(owed, search_each(self._ranker, owed, depth), strict=True))
            owed = [query for query, row in rows.items() if not self._is_enough(row, k, depth)]
            found |= {query: self._sections(row, k) for query, row in rows.items() if query not in set(owed)}
            depth *= 2
        return all_found([found[query] for query in queries])

    def _is_enough(self, row: Ranking | Failed, k: int, depth: int) -> bool:
        """Whether no passage further down can be of the k best sections, or equal in score to the last of them."""
        if isinstance(row, Failed) or len(row) < depth:
            return True
        lowest = row[-1][1]
        return len({self._section_of[identifier] for identifier, score in row if score > lowest}) >= k

    def _sections(self, row: Ranking | Failed, k: int) -> Ranking | Failed:
        if isinstance(row, Failed):
            return row
        best: dict[str, float] = {}
        for identifier, score in row:
            best.setdefault(self._section_of[identifier], score)
        return in_order(best.items())[:k]


DEPTH = 50
AT_MOST = 10_000_000
"""Passages in the rankings that are remembered: 12 bytes each."""


class _Kept(NamedTuple):
    """A ranking of at most `depth` passages, or why there is none; `numbers` stand for ids."""

    depth: int
    numbers: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float64]
    failed: Failed | None


class Searched(Ranker):
    """`ranker`, asked once for the `depth` best of each query text, and again only where more are wanted.

    For rankers whose k best are the first k of any deeper ranking, as BM25 and KNN; a hybrid's are not, whose depth
    is part of what it fuses. A query that failed is not asked again. Where more than `at_most` passages are in the
    rankings remembered, the oldest ranking is forgotten. Threads wait for one another.
    """

    def __init__(self, ranker: Ranker, *, depth: int = DEPTH, at_most: int = AT_MOST) -> None:
        self._ranker, self._depth, self._at_most = ranker, depth, at_most
        self._kept: dict[str, _Kept] = {}
        self._n_kept = 0
        self._ids: list[str] = []
        self._numbers: dict[str, int] = {}
        self._lock = threading.Lock()

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The `k` best passages for each query, as `ranker` gives them. Raises what it does."""
        with self._lock:
            depth = max(k, self._depth)
            new = [query for query in dict.fromkeys(queries) if not self._known(query, k)]
            found = dict(zip(new, search_each(self._ranker, new, depth), strict=True)) if new else {}
            rows = [found[query] if query in found else self._remembered(query) for query in queries]
            for query, row in found.items():
                self._remember(query, row, depth)
        return all_found([row if isinstance(row, Failed) else row[:k] for row in rows])

    def _known(self, query: str, k: int) -> bool:
        kept = self._kept.get(query)
        return kept is not None and (kept.failed is not None or k <= kept.depth or len(kept.numbers) < kept.depth)

    def _remembered(self, query: str) -> Ranking | Failed:
        kept = self._kept[query]
        if kept.failed is not None:
            return kept.failed
        return [(self._ids[i], s) for i, s in zip(kept.numbers.tolist(), kept.scores.tolist(), strict=True)]

    def _remember(self, query: str, row: Ranking | Failed, depth: int) -> None:
        self._forget(query)
        ranking = [] if isinstance(row, Failed) else row
        numbers = np.array([self._number(identifier) for identifier, _ in ranking], np.int32)
        scores = np.array([score for _, score in ranking], np.float64)
        self._kept[query] = _Kept(depth, numbers, scores, row if isinstance(row, Failed) else None)
        self._n_kept += len(numbers)
        while self._n_kept > self._at_most:
            self._forget(next(iter(self._kept)))

    def _number(self, identifier: str) -> int:
        number = self._numbers.setdefault(identifier, len(self._ids))
        if number == len(self._ids):
            self._ids.append(identifier)
        return number

    def _forget(self, query: str) -> None:
        if (kept := self._kept.pop(query, None)) is not None:
            self._n_kept -= len(kept.numbers)
