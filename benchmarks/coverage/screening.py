"""Is what `ragassay screen` says of the variant it chose so? Simulated, with variants whose worth is known.

    python -m benchmarks.coverage.screening [EXPERIMENTS]

A value is a normal, cut to 0 and 1 (21% and 24% lie there): a part that all variants share (how hard the question
is), a part of the variant's family, and its own, each with a part that two or three questions of a section share.
Counted is, of variants of equal worth, how far the leader's mean and lead lie from the truth before and after, how
often the intervals hold it, and how often a variant is called the best; then with one that is truly better by .1, and
with variants of many worths, also how often it is among six finalists and what the chosen one is worth.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from ragassay.arrays import Floats
from ragassay.evaluate.inputs.clusters import Clusters, clusters_of_rows
from ragassay.evaluate.screening.screen import SEED, screen_results
from ragassay.evaluate.screening.screened import Screened
from ragassay.evaluate.screening.verdict import Choices
from ragassay.records import Figure

EXPERIMENTS = 2000
MIDDLE, SPREAD = 0.53, 0.67
WITHIN_SECTION = 0.3
LATENCY_S = 0.02


@dataclass(frozen=True)
class World:
    """shared: the correlation of two variants' normals; family: how many variants go together, by `alike`.

    ahead: the first variant's mean over the others'. scatter: standard deviation of the others' worth. whole: values
    are 0 or 1 alone.
    """

    name: str
    shared: float
    n_queries: int = 40
    n_variants: int = 100
    family: int = 1
    alike: float = 0.98
    ahead: float = 0.0
    scatter: float = 0.0
    whole: bool = False

    @property
    def clusters(self) -> Clusters:
        """Of two and three questions by turns."""
        sections = np.arange(self.n_queries) * 2 // 5
        return clusters_of_rows([f"{number:04d}" for number in sections])

    def draw(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """(values (variants, queries), their true means (variants,))."""
        numbers = self.clusters.numbers
        parts = [self._normals(rng, n, numbers) for n in (1, self.n_variants // self.family, self.n_variants)]
        together = max(self.alike, self.shared) if self.family > 1 else self.shared
        weights = np.sqrt([self.shared, together - self.shared, 1 - together])
        family = np.repeat(parts[1], self.family, axis=0)
        normal = weights[0] * parts[0] + weights[1] * family + weights[2] * parts[2]
        worth = np.full(self.n_variants, mean_of(MIDDLE)) + self.scatter * rng.normal(size=self.n_variants)
        worth[0] += self.ahead
        if self.whole:
            return (middle_of_whole(worth)[:, None] + normal > 0).astype(np.float64), worth
        return np.clip(middle_of(worth)[:, None] + SPREAD * normal, 0.0, 1.0), worth

    def _normals(self, rng: np.random.Generator, n: int, numbers: np.ndarray) -> Floats:
        section = rng.normal(size=(n, int(numbers.max()) + 1))[:, numbers]
        own = rng.normal(size=(n, len(numbers)))
        return np.asarray(np.sqrt(WITHIN_SECTION) * section + np.sqrt(1 - WITHIN_SECTION) * own)


def mean_of(middle: float | Floats) -> Floats:
    """The mean of a normal about `middle` that is cut to 0 and 1."""
    from scipy.special import ndtr

    low, high = -np.asarray(middle) / SPREAD, (1 - np.asarray(middle)) / SPREAD
    density = (np.exp(-(low**2) / 2) - np.exp(-(high**2) / 2)) / np.sqrt(2 * np.pi)
    return np.asarray(middle * (ndtr(high) - ndtr(low)) + SPREAD * density + 1 - ndtr(high))


def middle_of(worth: Floats) -> Floats:
    """The middle that has this mean."""
    grid = np.linspace(-2.0, 3.0, 2001)
    return np.interp(worth, mean_of(grid), grid)


def middle_of_whole(worth: Floats) -> Floats:
    """The same of a normal that is 1 above 0, else 0."""
    from scipy.special import ndtri

    return np.asarray(ndtri(worth))


def measured(world: World, values: Floats, rng: np.random.Generator) -> Screened:
    """What a screening would hand to the statistics; latencies are drawn, all hand over as much."""
    names = [f"v{number:03d}" for number in range(world.n_variants)]
    nothing, latency = np.full(world.n_variants, np.nan), LATENCY_S * np.exp(rng.normal(size=world.n_variants))
    return Screened(
        names=names,
        settings=[{"kind": "bm25"} for _ in names],
        clusters=world.clusters,
        measures={"evidence_recall": values},
        quality="evidence_recall",
        tokens=np.full(values.shape, 1000.0),
        latency_p50_s=latency,
        latency_p95_s=2 * latency,
        index_s=nothing,
        index_bytes=nothing,
    )


@dataclass
class Row:
    """One experiment. off: reported less true; truths: after, what the halves' choice is worth on average."""

    mean_before: float
    mean_after: float
    held_before: bool
    held_after: bool
    lead_before: float
    lead_after: float
    lead_held: bool
    wrong: bool
    right: bool
    finalist: bool
    worth_of_chosen: float
    after_less_chosen: float
    chosen_held: bool


def experiment(world: World, seed: int) -> Row:
    """One screening."""
    rng = np.random.default_rng([seed, crc32(world.name.encode())])
    values, worth = world.draw(rng)
    screened = measured(world, values, rng)
    found = screen_results(screened)
    chosen = found.chosen
    assert chosen is not None and chosen.lead is not None
    equal = not world.ahead and not world.scatter
    best, at = float(worth.max()), int(chosen.name[1:])
    target = float(worth[0]) if equal else halves_worth(screened, worth)
    true_lead = float(worth[at] - worth[int((chosen.runner_up or "v0")[1:])])
    return Row(
        mean_before=(chosen.mean.before.value or 0.0) - float(worth[at]),
        mean_after=(chosen.mean.after.value or 0.0) - target,
        held_before=holds(chosen.mean.before, float(worth[at])),
        held_after=holds(chosen.mean.after, target),
        lead_before=(chosen.lead.before.value or 0.0) - true_lead,
        lead_after=(chosen.lead.after.value or 0.0) if equal else np.nan,
        lead_held=holds(chosen.lead.after, 0.0) if equal else False,
        wrong=chosen.sure and (equal or worth[at] < best),
        right=chosen.sure and not equal and worth[at] == best,
        finalist=f"v{int(worth.argmax()):03d}" in found.finalists,
        worth_of_chosen=float(worth[at]) - best,
        after_less_chosen=(chosen.mean.after.value or 0.0) - float(worth[at]),
        chosen_held=holds(chosen.mean.after, float(worth[at])),
    )


def halves_worth(screened: Screened, worth: Floats) -> float:
    """What the halves' choices are truly worth: what the figure after is to say."""
    choices = Choices.of(screened.field, screened.by_cost, screened.clusters, SEED)
    return float(worth[choices.chosen[0]].mean())


def holds(figure: Figure, truth: float) -> bool:
    """Whether the interval does."""
    return figure.ci_low is not None and figure.ci_high is not None and figure.ci_low <= truth <= figure.ci_high


EQUAL = (
    *(World(f"equal, correlated by {shared:g}", shared) for shared in (0.2, 0.5, 0.8, 0.95)),
    World("equal, families of ten near-duplicates", 0.5, family=10),
    World("equal, families of ten, correlated by .8", 0.8, family=10),
    *(World(f"{n} equal", 0.5, n_variants=n) for n in (2, 6)),
    World("two equal, correlated by .95", 0.95, n_variants=2),
    World("equal, values of 0 and 1", 0.5, whole=True),
    World("equal, values of 0 and 1, correlated by .8", 0.8, whole=True),
    World("equal, 12 questions", 0.5, n_queries=12),
    World("equal, 200 questions", 0.5, n_queries=200),
)
AHEAD = (
    *(
        World(f"one ahead by .1, correlated by {shared:g}", shared, 100, ahead=0.1)
        for shared in (0.2, 0.5, 0.65, 0.8, 0.95)
    ),
    World("one ahead by .1, families of ten", 0.5, 100, family=10, ahead=0.1),
    World("one ahead by .1, families of ten, correlated by .8", 0.8, 100, family=10, ahead=0.1),
    World("one ahead by .1, 300 questions", 0.5, 300, ahead=0.1),
    World("one ahead by .1, values of 0 and 1, correlated by .8", 0.8, 100, ahead=0.1, whole=True),
    World("worths scatter by .05", 0.5, 100, scatter=0.05),
    World("worths scatter by .05, correlated by .8", 0.8, 100, scatter=0.05),
)


def simulate(world: World, n: int) -> dict[str, Floats]:
    """Column to its values, one an experiment."""
    rows = [experiment(world, seed) for seed in range(n)]
    return {name: np.array([getattr(row, name) for row in rows], dtype=np.float64) for name in vars(rows[0])}


def lines(n: int) -> Iterator[str]:
    """Both tables."""
    yield "| variants of equal worth | n | its mean: off before | off after | interval holds before | after "
    yield "| its lead: off before | off after | holds after | called best |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for world in EQUAL:
        c = simulate(world, n)
        cells = [world.name, str(world.n_queries), signed(c["mean_before"]), with_error(c["mean_after"])]
        cells += [
            share(c["held_before"]),
            share(c["held_after"]),
            signed(c["lead_before"]),
            with_error(c["lead_after"]),
        ]
        yield f"| {' | '.join([*cells, share(c['lead_held']), share(c['wrong'])])} |"
    yield ""
    yield "| one is better | n | the better a finalist | called best | another called best | its mean: off before "
    yield "| after, of what halves choose | holds | after, of the chosen | holds | chosen less than the best by |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for world in AHEAD:
        c = simulate(world, n)
        cells = [world.name, str(world.n_queries), share(c["finalist"]), share(c["right"]), share(c["wrong"])]
        cells += [signed(c["mean_before"]), with_error(c["mean_after"]), share(c["held_after"])]
        cells += [
            with_error(c["after_less_chosen"]),
            share(c["chosen_held"]),
            f"{abs(c['worth_of_chosen'].mean()):.3f}",
        ]
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield f"{n} experiments a line; figures from 0 to 1, those after with their standard error. Correlations are of the"
    yield "normals that are cut; the values' own are about .04 lower. Latencies are drawn at random, tokens are equal."


def signed(values: Floats) -> str:
    """The mean."""
    return f"{values.mean():+.3f}"


def with_error(values: Floats) -> str:
    """The mean with its standard error."""
    return f"{values.mean():+.4f} ± {values.std() / np.sqrt(len(values)):.4f}"


def share(values: Floats) -> str:
    """As a percentage."""
    return f"{values.mean():.1%}"


def main(experiments: int) -> None:
    """Print the tables."""
    for line in lines(experiments):
        print(line, end="\n" if line.endswith("|") or not line.startswith("|") else "", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else EXPERIMENTS)
