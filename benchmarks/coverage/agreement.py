"""Do intervals of kappa and of a judge's repeat consistency hold what they say? Simulated judges, items clustered.

    python -m benchmarks.coverage.agreement [SIMULATIONS]

Kappa is of people's label against every repeat of the judge's, rows clustered by source section, as in
`ragassay agree --by`; cells of one repeat have few labels. An experiment without an interval is a miss (kappa is
undefined where all labels are equal). `cells` gives the rows for the table of coverage.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats
from ragassay.evaluate.agreement.coefficients import crosstab, kappa
from ragassay.evaluate.agreement.estimates import Sample
from ragassay.evaluate.audit.judge_audit import repeat_consistency
from ragassay.evaluate.inputs.clusters import clusters_of_rows

BAR, BOOTSTRAP = 0.93, 500


@dataclass(frozen=True)
class World:
    """Items in sections; the judge says 1 with a chance of its own for each item.

    positive: the share of items that people label 1. right: the mean chance that the judge says what people say.
    unsure: the share of items on which it is in doubt, between a coin and `right`. correlation: of items of a section.
    missed: how much less the judge is right on what people label 0.
    """

    sections: int
    per_section: int
    repeats: int
    positive: float
    right: float
    unsure: float
    correlation: float
    missed: float = 0.0

    def draw(self, sections: int, generator: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(items,) people's labels, (items, repeats) the judge's."""
        people = self._shared(sections, generator) < self.positive
        doubt = self._shared(sections, generator) < self.unsure
        chance = np.where(doubt, (0.5 + self.right) / 2, self.right)
        chance = chance - self.missed * ~people
        right = generator.random((len(people), self.repeats)) < chance[:, None]
        return people.astype(np.int64), np.where(right, people[:, None], ~people[:, None]).astype(np.int64)

    def _shared(self, sections: int, generator: np.random.Generator) -> Floats:
        shape = (sections, self.per_section)
        same = generator.random(shape) < np.sqrt(self.correlation)
        mixed: Floats = np.where(same, generator.random((sections, 1)), generator.random(shape)).ravel()
        return mixed

    def truth(self) -> tuple[float, float]:
        """(kappa, repeat consistency) in endlessly many sections."""
        kinds = [
            (share * sure, right - lost, is_one)
            for share, lost, is_one in ((self.positive, 0.0, True), (1 - self.positive, self.missed, False))
            for sure, right in ((self.unsure, (0.5 + self.right) / 2), (1 - self.unsure, self.right))
        ]
        agree = sum(share * right for share, right, _ in kinds)
        said = sum(share * (right if is_one else 1 - right) for share, right, is_one in kinds)
        chance = self.positive * said + (1 - self.positive) * (1 - said)
        alike = sum(share * (right**2 + (1 - right) ** 2) for share, right, _ in kinds)
        return (agree - chance) / (1 - chance), alike


@dataclass(frozen=True)
class Cell:
    """How often the interval held the truth; where there was none, or no figure, counts in `undefined`.

    share: of all experiments, those without an interval being misses. share_known: of those with an interval.
    """

    what: str
    world: World
    truth: float
    share: float
    share_known: float
    mean_width: float
    undefined: int
    simulations: int


WORLDS = [
    World(sections, each, repeats, positive, right, 0.3, 0.3 if each > 1 else 0.0)
    for repeats in (3, 10)
    for sections, each in ((30, 1), (10, 5), (20, 5), (40, 5))
    for positive, right in ((0.5, 0.9), (0.7, 0.95), (0.5, 0.99))
]
FEW_LABELS = [
    World(n, each, 1, positive, right, 0.0, 0.3 if each > 1 else 0.0)
    for n, each in ((30, 1), (50, 1), (10, 5), (100, 1))
    for positive, right in ((0.5, 0.9), (0.5, 0.98), (0.7, 0.95), (0.9, 0.95))
]
RARE = [
    World(n, each, 1, 0.9, 0.95, 0.0, 0.3 if each > 1 else 0.0, 0.25)
    for n, each in ((30, 1), (50, 1), (10, 5), (20, 5))
]
"""One label in ten is 0, and the judge finds 70% of those: few labels tell anything about them."""


def kappa_interval(people: NDArray[np.int64], judged: NDArray[np.int64], cluster: list[str], seed: int) -> Floats:
    """(2,) the ends over all repeats; NaN where there are none."""
    repeats = judged.shape[1]
    clusters = clusters_of_rows(np.repeat(cluster, repeats).tolist())
    table = crosstab(np.repeat(people, repeats), judged.ravel(), clusters.numbers, 2)
    sample = Sample.of_pairs(table, BOOTSTRAP, seed)
    value, replicates = sample.every(kappa)
    ends = sample.interval(value, replicates, kappa, bounded=True) if np.isfinite(value) else (None, None)
    return np.array(ends, dtype=np.float64)


def consistency_interval(judged: NDArray[np.int64], cluster: list[str]) -> Floats:
    """(2,) the ends; NaN where there are none."""
    figure = repeat_consistency(judged.tolist(), cluster)
    return np.array([figure.ci_low, figure.ci_high], dtype=np.float64)


def cells(simulations: int = 2000) -> Iterator[Cell]:
    """Every cell: kappa and consistency of repeats, and kappa of few labels."""
    for world in [*WORLDS, *FEW_LABELS, *RARE]:
        generator = np.random.default_rng(7)
        cluster = [f"s{i // world.per_section:04}" for i in range(world.sections * world.per_section)]
        found: dict[str, list[Floats]] = {"kappa": [], "repeat consistency": []}
        for _ in range(simulations):
            people, judged = world.draw(world.sections, generator)
            found["kappa"].append(kappa_interval(people, judged, cluster, 7))
            if world.repeats > 1:
                found["repeat consistency"].append(consistency_interval(judged, cluster))
        for (what, ends), truth in zip(found.items(), world.truth(), strict=True):
            if ends:
                yield _cell(what, world, truth, np.array(ends))


def _cell(what: str, world: World, truth: float, ends: Floats) -> Cell:
    known = ends[np.isfinite(ends).all(axis=1)]
    held = int(((known[:, 0] <= truth + 1e-9) & (truth - 1e-9 <= known[:, 1])).sum())
    width = float((known[:, 1] - known[:, 0]).mean())
    return Cell(what, world, truth, held / len(ends), held / len(known), width, len(ends) - len(known), len(ends))


def table(rows: Iterator[Cell]) -> Iterator[str]:
    """Markdown lines."""
    head = "figure | sections x items | repeats | people's 1 | judge right (on 0) | truth | covers | bar .93"
    yield f"| {head} | mean width | no interval | covers where there is one |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        world, mark = row.world, "yes" if row.share >= BAR else "NO"
        layout = f"{world.sections} x {world.per_section} | {world.repeats} | {world.positive:g}"
        layout += f" | {world.right:g} ({world.right - world.missed:g})"
        numbers = f"{row.truth:.3f} | {row.share:.3f} | {mark} | {row.mean_width:.3f} | {row.undefined}"
        numbers += f" | {row.share_known:.3f}"
        yield f"| {row.what} | {layout} | {numbers} |"


if __name__ == "__main__":
    for line in table(cells(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)):
        print(line, flush=True)
