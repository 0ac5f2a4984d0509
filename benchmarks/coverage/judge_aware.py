"""Do intervals of judge-aware Bradley-Terry hold what they say? Panels of judges of known worth, simulated.

    python -m benchmarks.coverage.judge_aware [EXPERIMENTS]

Six agents; on a query each is better or worse than its strength by chance, for all judges alike. Both orders of each
game are judged by every judge. What is to be covered is what the same fit gives for endlessly many queries.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.ratings.judge_aware import JudgeAware, JudgedGames, rate_by_judges
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.records import Figure

BOOTSTRAP = 300
STRENGTHS = (0.8, 0.5, 0.2, -0.1, -0.5, -0.9)
LUCK = 0.5
"""Standard deviation of an agent's luck on a query, in log odds."""
_MANY = 20_000


@dataclass(frozen=True)
class World:
    """Judges' reliabilities and position effects (log odds); queries, and how many are of one section."""

    name: str
    reliability: tuple[float, ...]
    position: tuple[float, ...]
    queries: int
    per_section: int = 1

    def play(self, queries: int, generator: np.random.Generator) -> JudgedGames:
        """Every game of every judge in both orders."""
        sections = np.arange(queries) // self.per_section
        luck = generator.normal(size=(queries, len(STRENGTHS))) * LUCK
        if self.per_section > 1:
            luck = np.sqrt(0.5) * (luck + LUCK * generator.normal(size=(sections.max() + 1, len(STRENGTHS)))[sections])
        log = np.array(STRENGTHS) + luck
        pairs = np.array(list(combinations(range(len(STRENGTHS)), 2)))
        shape = (queries, len(pairs), len(self.reliability), 2)
        query, pair, judge, order = (grid.ravel() for grid in np.indices(shape))
        a, b = pairs[pair].T
        sign = 1.0 - 2.0 * order
        gap = log[query, a] - log[query, b]
        odds = np.array(self.reliability)[judge] * gap + sign * np.array(self.position)[judge]
        score = (generator.random(len(odds)) < 1 / (1 + np.exp(-odds))).astype(np.float64)
        names = tuple(f"a{i}" for i in range(len(STRENGTHS)))
        judges = tuple(f"j{k}" for k in range(len(self.reliability)))
        asked = tuple(f"q{i:06}" for i in range(queries))
        return JudgedGames(names, judges, asked, a, b, judge, query, sign, score)

    def rate(self, queries: int, replicates: int, generator: np.random.Generator) -> JudgeAware:
        """One experiment."""
        games = self.play(queries, generator)
        clusters = Clusters.named(games.queries, [f"s{i // self.per_section:06}" for i in range(queries)])
        return rate_by_judges(games, resamples(games.queries, replicates, int(generator.integers(2**31)), clusters))


PANELS = (
    ("two alike, one weaker", (1.0, 1.0, 0.5), (0.0, 0.3, 0.0)),
    ("one throws dice", (1.0, 0.8, 0.0), (0.0, 0.0, 0.5)),
    ("one contradicts", (1.0, 0.8, -0.5), (0.0, 0.3, -0.3)),
)
WORLDS = [
    World(name, reliability, position, queries, per_section)
    for name, reliability, position in PANELS
    for queries, per_section in ((50, 1), (150, 5))
]


def figures_of(found: JudgeAware) -> list[list[Figure]]:
    """Ratings, reliabilities, positions."""
    return [list(each.values()) for each in (found.ratings, found.reliability, found.position)]


def cell(world: World, experiments: int) -> str:
    """A row of the table: how often the truth lies in the interval, over the figures of each kind."""
    generator = np.random.default_rng(7)
    truth = [[figure.value or 0.0 for figure in kind] for kind in figures_of(world.rate(_MANY, 2, generator))]
    held: list[list[float]] = [[], [], []]
    none = unconverged = 0
    for _ in range(experiments):
        found = world.rate(world.queries, BOOTSTRAP, generator)
        unconverged += not found.converged
        for kind, figures in enumerate(figures_of(found)):
            for true, figure in zip(truth[kind], figures, strict=True):
                known = figure.ci_low is not None and figure.ci_high is not None
                none += not known
                held[kind].append(float(known and (figure.ci_low or 0) <= true <= (figure.ci_high or 0)))
    shares: list[float] = [float(np.mean(np.array(each, dtype=np.float64))) for each in held]
    bar = "yes" if min(shares) >= 0.93 else "NO"
    said = " | ".join(f"{share:.3f}" for share in shares)
    worlds = f"{world.name} | {world.queries} | {world.per_section} | {_told(truth[1])}"
    return f"| {worlds} | {said} | {bar} | {none} | {unconverged} |"


def _told(values: list[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


def cells(experiments: int = 200) -> Iterator[str]:
    """Every row, as they are done."""
    for world in WORLDS:
        yield cell(world, experiments)


HEADER = (
    "| judges | queries | a section | true reliabilities | ratings | reliabilities | positions | bar .93 "
    "| without interval | did not converge |\n|---|---|---|---|---|---|---|---|---|---|"
)

if __name__ == "__main__":
    print(HEADER)
    for row in cells(int(sys.argv[1]) if len(sys.argv) > 1 else 200):
        print(row, flush=True)
