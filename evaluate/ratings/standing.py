"""How the leader stands by the games won: whom it is told from, who may be the best, what choosing it may lose.

To call one agent the best it must beat each other, and each of these tests may err at the level of the whole: where two
are equally good, naming one is wrong only where the test between them errs (rank verification: Hung and Fithian, "Rank
verification for exponential families", Annals of Statistics 47(2), 2019). So no correction is made over pairs, as it is
in the table of pairs. Who may be the best is the other way round: an agent is left out where some other is better, one
of as many tests as there are others, which Bonferroni's correction holds together (Hsu, "Simultaneous confidence
intervals for all distances from the best", Annals of Statistics 9(5), 1981; Mogstad, Romano, Shaikh and Wilhelm,
"Inference for ranks", Review of Economic Studies 91(1), 2024). `benchmarks/coverage/verdict.py` tells how both hold.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ragassay.arrays import Floats

from ..inputs.clusters import Clusters
from ..statistics.clustered import Values, estimate
from ..statistics.paired_comparison import t_p
from ..statistics.resamples import DIGITS
from ..statistics.sign_flip import flip_ps
from .best_agent import expected_regret

LEVEL_LEADER = 0.045
"""Of each test of the leader against another, two-sided, by the t-test and by the permutation test.

The worst case are two agents that are equally good and far ahead of all others. There the t-test alone at 5% names one
of them in up to 5.5% of simulated experiments (12 to 400 queries, one to six a section), and at 4.5% in up to 5.5%
where few shares can be, as without ties; with the permutation test beside it, no cell is above 5%.
"""
FEWEST_QUERIES = 6
"""Below six queries not even a win on each of them is significant at 5% (two-sided sign test: 2 / 2^5 = 6%)."""

LEVEL_SET = 0.05
"""One-sided, of all the tests together by which one agent may be left out of the possible bests."""


@dataclass(frozen=True)
class Standing:
    """leader: the first. untold: the others, in order, that it is not told from. possible_best: the leader and every
    other that is not worse than some agent, in order: each agent that truly is the best is in it with 95%; where the
    leader is decided, it alone. expected_regret: how much smaller a share of its games the leader is expected to win
    than the best agent (0 to 1), None below two queries or sections. n_queries, n_sections: those with a verdict."""

    leader: str
    untold: tuple[str, ...]
    possible_best: tuple[str, ...]
    expected_regret: float | None
    n_queries: int
    n_sections: int

    @property
    def decided(self) -> bool:
        """Whether the leader is told from each other, on queries enough."""
        return not self.untold and self.n_sections >= FEWEST_QUERIES


def stand(
    order: Sequence[str],
    rates: Mapping[str, Values],
    clusters: Clusters,
    seed: int,
    level: Collection[str] = (),
) -> Standing:
    """`order`: at least two agents, best first. rates: agent to query to the share of its games that it won.

    clusters: of the queries, by section; one that it does not have is its own. level: agents that are rated as high as
    the first, and so are not told from it.
    """
    tests = _Tests.of(order, rates, clusters, seed)
    tests.flip_together([(0, at) for at in range(1, len(order))] + tests.first_rivals())
    n_queries, n_sections = tests.size
    untold = [a for at, a in enumerate(order) if at and (a in level or not tests.better(0, at, LEVEL_LEADER))]
    one_pair = min(2 * LEVEL_SET / (len(order) - 1), LEVEL_LEADER)
    possible = [a for at, a in enumerate(order) if not at or not tests.beaten(at, one_pair)]
    alone = not untold and n_sections >= FEWEST_QUERIES
    return Standing(
        leader=order[0],
        untold=tuple(untold),
        possible_best=(order[0],) if alone else tuple(possible),
        expected_regret=tests.regret(),
        n_queries=n_queries,
        n_sections=n_sections,
    )


@dataclass(frozen=True)
class _Tests:
    """values: (agents, queries), NaN where an agent has none. difference, p: (agents, agents), of row less column; p is
    the t-test's, NaN where it is not defined."""

    values: Floats
    clusters: Clusters
    seed: int
    difference: Floats
    p: Floats
    flips: dict[tuple[int, int], float] = field(default_factory=dict)

    @classmethod
    def of(cls, order: Sequence[str], rates: Mapping[str, Values], clusters: Clusters, seed: int) -> _Tests:
        """Of the agents of `order`, on the queries that any of them has."""
        queries = sorted({query for agent in order for query in rates[agent]})
        mine = clusters.of(queries)
        rows = [[rates[agent].get(query) for query in queries] for agent in order]
        values = np.array(rows, dtype=np.float64)
        pairs = [against_all(row, values, mine) for row in values]
        difference, p = (np.stack(part) for part in zip(*pairs, strict=True))
        return cls(values, mine, seed, difference, p)

    @property
    def size(self) -> tuple[int, int]:
        """How many queries any agent has a value on, and of how many sections they are."""
        known = ~np.isnan(self.values).all(axis=0)
        return int(known.sum()), len(np.unique(self.clusters.numbers[known]))

    def better(self, one: int, other: int, level: float) -> bool:
        """Whether `one` won more than `other` by both tests, two-sided at `level`; where t is not defined, by flips."""
        return self._may_be_better(one, other, level) and self._flip(one, other) <= level

    def _may_be_better(self, one: int, other: int, level: float) -> bool:
        """Whether `one` won more by the t-test, or that is not defined."""
        return bool(self.difference[one, other] > 0) and not self.p[one, other] > level

    def beaten(self, agent: int, level: float) -> bool:
        """Whether any is better; those that seem so most surely are asked first."""
        return any(self.better(rival, agent, level) for rival in self._rivals(agent))

    def _rivals(self, agent: int) -> list[int]:
        rivals = np.argsort(np.nan_to_num(self.p[:, agent], nan=0.0), kind="stable")
        return [rival for rival in rivals.tolist() if rival != agent]

    def first_rivals(self) -> list[tuple[int, int]]:
        """Whoever is asked first whether it is better than an agent, and that agent."""
        rivals = {at: [r for r in self._rivals(at) if self.difference[r, at] > 0] for at in range(len(self.values))}
        return [(each[0], at) for at, each in rivals.items() if each]

    def flip_together(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Work out the permutation tests that will be asked for, whose signs are drawn once for all of them."""
        asked = list(dict.fromkeys(pair for pair in pairs if self._may_be_better(*pair, LEVEL_LEADER)))
        one, other = ([pair[side] for pair in asked] for side in (0, 1))
        gaps = self.values[one] - self.values[other]
        found = flip_ps(self.clusters.sums(np.where(np.isnan(gaps), 0.0, gaps)), self.seed)
        self.flips.update({pair: 1.0 if p is None else p for pair, p in zip(asked, found, strict=True)})

    def regret(self) -> float | None:
        """Of the first; None below two sections, or where an agent has no value."""
        known = ~np.isnan(self.values)
        n = len(self.clusters.names)
        if n < 2 or not known.any(axis=1).all():
            return None
        means = np.nanmean(self.values, axis=1)
        residuals = self.clusters.sums(np.where(known, self.values - means[:, None], 0.0)) / known.sum(axis=1)[:, None]
        spread = residuals @ residuals.T
        if self._without_spread(spread):
            # One more query on which all win alike (Laplace): queries that all say the same are not endlessly sure.
            means, spread = _one_more(means, spread, n)
            n += 1
        return round(expected_regret(0, means, spread, n, self.seed), DIGITS)

    def _flip(self, one: int, other: int) -> float:
        if (one, other) not in self.flips:
            self.flip_together([(one, other)])
        return self.flips[one, other]

    def _without_spread(self, spread: Floats) -> bool:
        """Whether the leader's lead over some other is the same everywhere."""
        own = np.diag(spread)
        return bool((own[0] + own - 2 * spread[0])[1:].min() < _LEAST)


_LEAST = 1e-12


def against_all(row: Floats, values: Floats, clusters: Clusters) -> tuple[Floats, Floats]:
    """(agents,) twice: the mean of `row` less each of `values` over the queries that both have, and the t-test's p."""
    gaps = row - values
    known = ~np.isnan(gaps)
    found = estimate(clusters.sums(np.where(known, gaps, 0.0)), clusters.sums(known.astype(np.float64)))
    return found.value, t_p(found, known.sum(axis=-1))


def _one_more(means: Floats, spread: Floats, n: int) -> tuple[Floats, Floats]:
    """The means and their covariance with a unit, after `n`, on which every agent has the mean of all."""
    gap = means - means.mean()
    return means - gap / (n + 1), spread * (n / (n + 1)) ** 2 + np.outer(gap, gap) * n / (n + 1) ** 3
