"""How often the intervals of `ragassay check validity` hold, and how often a sound set is warned of.

    python -m benchmarks.coverage.validity [N]

N experiments a line (2,000). Three families of retrievers find the evidence of a question or do not, with a chance that
goes up or down with the section it is from, with its overlap with the evidence, and with its author, two of whom write
about every section in turn. Held are the lead of the first family by one author's questions less that by the other's,
the difference of two families' slopes on overlap, and the difference in overlap from people's questions, which are each
of their own section. Warned of: any favour, any interaction, at the level of all tests of the kind together.
"""

from __future__ import annotations

import sys
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ragassay.arrays import Floats
from ragassay.evaluate.inputs.clusters import clusters_of_rows
from ragassay.evaluate.validity.questions import Estimates, group_difference, slopes

FAMILIES, PEOPLE = 3, 30
SECTIONS, EACH = (12, 24, 48), (1, 3, 6)
EFFECTS = (0.0, 0.3)
"""Of the first family: by how much more it finds of the first author's questions, and at full overlap than at none."""


class Held(NamedTuple):
    """Whether each interval held, and whether a favour and an interaction were told."""

    favour: bool
    slope: bool
    overlap: bool
    favour_told: bool
    slope_told: bool


def experiment(n_sections: int, each: int, effect: float, rng: np.random.Generator) -> Held:
    """One set of questions, looked at."""
    sections = np.repeat(np.arange(n_sections), each)
    clusters = clusters_of_rows([f"{section:03}" for section in sections])
    author = np.arange(len(sections)) % 2 == 0
    overlap = np.clip(rng.uniform(0, 0.6, n_sections)[sections] + rng.uniform(0, 0.4, len(sections)), 0, 1)
    chance = 0.45 + rng.uniform(-0.15, 0.15, (FAMILIES, n_sections))[:, sections]
    by_author, by_overlap = chance.copy(), chance.copy()
    by_author[0] += effect * (author - 0.5)
    by_overlap[0] += effect * (overlap - 0.5)
    values, leaning = (_found(one, rng) for one in (by_author, by_overlap))
    favour = group_difference(values - values.mean(axis=0), author, clusters)
    pairs = list(combinations(range(FAMILIES), 2))
    steeper = slopes(np.array([leaning[a] - leaning[b] for a, b in pairs]), overlap, clusters)
    return Held(
        _holds(favour, effect * (1 - 1 / FAMILIES)),
        _holds(steeper, effect),
        _overlap_held(overlap, clusters.numbers, rng),
        bool(favour.told(2 * FAMILIES).any()),
        bool(steeper.told(len(pairs)).any()),
    )


def _found(chance: Floats, rng: np.random.Generator) -> Floats:
    return (rng.random(chance.shape) < chance).astype(np.float64)


def _overlap_held(overlap: Floats, sections: Floats, rng: np.random.Generator) -> bool:
    people = rng.uniform(0, 0.6, PEOPLE) + rng.uniform(0, 0.4, PEOPLE)
    names = [*(f"s{section}" for section in sections), *(f"p{place}" for place in range(PEOPLE))]
    inside = np.arange(len(names)) < len(overlap)
    return _holds(group_difference(np.concatenate([overlap, people])[None], inside, clusters_of_rows(names)), 0.0)


def _holds(found: Estimates, truth: float) -> bool:
    figure = found.figures()[0]
    if figure.ci_low is None or figure.ci_high is None:
        return True
    return figure.ci_low <= truth <= figure.ci_high


def main(n: int = 2000) -> None:
    """Print the table."""
    print(
        "| sections | questions each | effect | holds favour | holds slope | holds overlap | favour told "
        "| interaction told |"
    )
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for n_sections in SECTIONS:
        for each in EACH:
            for effect in EFFECTS:
                rng = np.random.default_rng([7, n_sections, each, int(100 * effect)])
                share = np.mean([experiment(n_sections, each, effect, rng) for _ in range(n)], axis=0)
                shares = " | ".join(f"{one:.1%}" for one in share)
                print(f"| {n_sections} | {each} | {effect:g} | {shares} |", flush=True)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
