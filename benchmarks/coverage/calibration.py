"""Does a calibrated threshold hold what is said of it? People's labels and judges of known worth, simulated.

    python -m benchmarks.coverage.calibration [SIMULATIONS]

Labels of a query are alike, and so are the judge's numbers. `covers` is of all experiments in which a threshold was
chosen; what is to be covered is that very threshold's worth on endlessly many labels. Beside the mean error on the half
that is reported stands that on the half on which the threshold was chosen.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import norm

from ragassay.arrays import Truths
from ragassay.evaluate.agreement.calibrate import Calibration, Scored, calibrate, choosing_half
from ragassay.evaluate.agreement.coefficients import crosstab, kappa

from .labelled import together

BOOTSTRAP = 300


@dataclass(frozen=True)
class World:
    """Queries with labels on several things each. share: of people's yes. apart: by how many standard deviations the
    judge's numbers are higher for a yes. off: how far the present threshold is from the best. correlation: in a query.
    """

    queries: int
    per_query: int
    share: float
    apart: float
    off: float
    correlation: float

    @cached_property
    def present(self) -> float:
        """The threshold so far."""
        at = np.linspace(-1, 4, 1001)
        return self.off + float(at[np.argmax([self.kappa(threshold) for threshold in at])])

    def kappa(self, threshold: float) -> float:
        """Of endlessly many labels."""
        hit, extra = self.share * norm.sf(threshold - self.apart), (1 - self.share) * norm.sf(threshold)
        agree, said = hit + 1 - self.share - extra, hit + extra
        chance = self.share * said + (1 - self.share) * (1 - said)
        return float((agree - chance) / (1 - chance))

    def draw(self, generator: np.random.Generator) -> Scored:
        """One experiment's labels."""
        query = np.repeat(np.arange(self.queries), self.per_query)
        yes = together(self.share, self.correlation, query, generator) > 0
        shared = np.sqrt(self.correlation) * generator.normal(size=self.queries)[query]
        score = self.apart * yes + shared + np.sqrt(1 - self.correlation) * generator.normal(size=len(query))
        present = self.present
        return Scored(
            file="",
            criterion="",
            judge="",
            on="",
            relevant="",
            people=tuple(yes.tolist()),
            now=tuple((score >= present).tolist()),
            score=tuple(score.tolist()),
            clusters=tuple(f"q{number}" for number in query),
            whole=False,
            present=present,
        )


WORLDS = [
    World(queries, each, share, apart, off, correlation)
    for queries, each, correlation in ((60, 2, 0.3), (100, 1, 0.0), (100, 4, 0.3))
    for share, apart in ((0.3, 1.5), (0.5, 3.0), (0.2, 3.0))
    for off in (0.0, 1.0)
]


def on_chosen(scored: Scored, threshold: float, chosen: Truths) -> float:
    """Kappa on the half on which the threshold was chosen."""
    people, judge = np.array(scored.people)[chosen], (np.array(scored.score) >= threshold)[chosen]
    table = crosstab(people.astype(np.intp), judge.astype(np.intp), np.zeros(len(people), dtype=np.intp), 2)
    return float(kappa(table, table.counts(np.ones(1))))


def holds(found: Calibration, truth: float, before: float) -> tuple[bool, bool]:
    """Whether the intervals of kappa by the threshold, and of the difference, hold the truth."""
    after, gap = found.after["kappa"], found.difference["kappa"]
    held = after.ci_low is not None and after.ci_high is not None and after.ci_low <= truth <= after.ci_high
    if gap.ci_low is None or gap.ci_high is None:
        return held, False
    return held, gap.ci_low <= truth - before <= gap.ci_high


def cell(world: World, simulations: int) -> str:
    """A row of the table."""
    generator = np.random.default_rng(7)
    rows, few = [], 0
    for seed in range(simulations):
        scored = world.draw(generator)
        found = calibrate(scored, bootstrap=BOOTSTRAP, seed=seed)
        few += found.note is not None and "too few" in found.note
        if found.threshold is not None:
            truth = world.kappa(found.threshold)
            same = on_chosen(scored, found.threshold, choosing_half(scored.clusters, seed))
            said = found.after["kappa"].value or 0.0
            rows.append(
                (*holds(found, truth, world.kappa(world.present)), bool(found.gain), said - truth, same - truth)
            )
    held, gaps, gain, other, same = np.array(rows, dtype=np.float64).T
    errors = " | ".join(f"{each.mean():+.3f} ± {each.std() / np.sqrt(len(each)):.3f}" for each in (other, same))
    worlds = f"{world.queries} x {world.per_query} | {world.share:g} | {world.apart:g} | {world.off:+g}"
    made = f"{len(rows) / simulations:.2f} | {few / simulations:.2f}"
    bar = "yes" if held.mean() >= 0.93 and gaps.mean() >= 0.93 and (world.off or gain.mean() <= 0.05) else "NO"
    return f"| {worlds} | {made} | {held.mean():.3f} | {gaps.mean():.3f} | {gain.mean():.3f} | {bar} | {errors} |"


def cells(simulations: int = 1000) -> Iterator[str]:
    """Every row, as they are done."""
    for world in WORLDS:
        yield cell(world, simulations)


HEADER = (
    "| queries x labels | people's yes | apart | present threshold off by | chosen | too few labels | covers kappa "
    "| covers difference | said to gain | bar .93, .05 | error on the reported half | on the half it was chosen on |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|"
)

if __name__ == "__main__":
    print(HEADER)
    for row in cells(int(sys.argv[1]) if len(sys.argv) > 1 else 1000):
        print(row, flush=True)
