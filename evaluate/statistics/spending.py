"""How much of an error may be spent at each of several looks at data that grow, so that all of them spend no more.

To look again and again with the usual test finds something in the end whatever there is (Armitage, McPherson and Rowe,
JRSS A 132(2), 1969). A spending function says how much of the level may have been used once a share f of the planned
data is in (Lan and DeMets, Biometrika 70(3), 1983); the bound of each look is what uses just that, given that no look
before it ended the run. With f squared (Kim and DeMets, Biometrika 74(1), 1987) runs end early; with O'Brien and
Fleming's function hardly anything is used before the last looks, and most runs are as long as planned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from ragassay.arrays import Floats

Spending = Literal["kim-demets", "obrien-fleming"]

_FARTHEST, _POINTS = 9.0, 400
"""How far below 0 paths are followed, in standard deviations, and the points at which their density is kept."""


def spent(level: float, fraction: float, spending: Spending = "kim-demets") -> float:
    """Of a one-sided level (0 to 1) what may be used once a fraction (0 to 1) of the data is in.

    Kim and DeMets 1987, their family with exponent 2: level · f². O'Brien and Fleming's, of Lan and DeMets 1983:
    2 - 2 Φ(z / √f), z the quantile of 1 - level / 2.
    """
    if fraction <= 0:
        return 0.0
    if fraction >= 1:
        return level
    if spending == "kim-demets":
        return level * fraction**2
    from scipy.special import ndtr, ndtri

    return float(2 * ndtr(-ndtri(1 - level / 2) / np.sqrt(fraction)))


@lru_cache(maxsize=512)
def bounds(
    level: float,
    fractions: tuple[float, ...],
    spending: Spending = "kim-demets",
    times: tuple[float, ...] | None = None,
) -> tuple[float, ...]:
    """The one-sided p, 0 to 1, that ends the run at each look.

    level: of all looks, 0 to 0.5. fractions: rising, the last at most 1, of the planned data at each look. times: what
    the level is spent by in place of them, where it is not known how much data there will be; of the fractions only the
    ratios count then (Lan and DeMets, Statistics in Medicine 8(10), 1989). Each is the p of a normal with independent
    increments (Jennison and Turnbull, Group Sequential Methods, 2000, chapter 19: the density of the paths that go on
    is integrated from look to look). Raises ValueError for fractions that do not rise.
    """
    if list(fractions) != sorted(set(fractions)) or not fractions or not 0 < fractions[0] <= fractions[-1] <= 1:
        raise ValueError("fractions must rise from above 0 to at most 1")
    from scipy.optimize import brentq
    from scipy.special import ndtr

    found: list[float] = []
    place, weight = np.zeros(1), np.ones(1)  # where the paths are that go on, and how many of all
    before, used = 0.0, 0.0
    for fraction, time in zip(fractions, times or fractions, strict=True):
        step, root = np.sqrt(fraction - before), np.sqrt(fraction)
        wanted = spent(level, time, spending) - used

        def beyond(end: float, place: Floats = place, weight: Floats = weight, step: float = step) -> float:
            return float(weight @ ndtr((place - end) / step))

        end = root * _FARTHEST
        if beyond(end) < wanted:
            end = brentq(lambda at, wanted=wanted: beyond(at) - wanted, -root * _FARTHEST, end, xtol=1e-10)
        found.append(float(ndtr(-end / root)))
        used += wanted
        nodes, sizes = _gauss_legendre()
        low = -root * _FARTHEST
        new = low + (nodes + 1) * (end - low) / 2
        density = np.exp(-(((new[:, None] - place) / step) ** 2) / 2) @ weight / (step * np.sqrt(2 * np.pi))
        place, weight, before = new, density * sizes * (end - low) / 2, fraction
    return tuple(found)


@lru_cache(maxsize=1)
def _gauss_legendre() -> tuple[Floats, Floats]:
    nodes, sizes = np.polynomial.legendre.leggauss(_POINTS)
    return nodes, sizes


@dataclass(frozen=True)
class Look:
    """A look of a plan: number `at`, from 0, when `ends[at]` of the last of `ends` queries are in.

    by_look: the ends that are still to come are guesses, and each look spends what it would were all as far apart.
    """

    ends: tuple[int, ...]
    at: int
    spending: Spending = "kim-demets"
    by_look: bool = False

    def bound(self, level: float) -> float:
        """The one-sided p that stands at this look for a one-sided level of all looks."""
        taken = self.ends[: self.at + 1]
        if not self.by_look:
            return bounds(level, tuple(end / self.ends[-1] for end in taken), self.spending)[-1]
        times = tuple(look / len(self.ends) for look, _ in enumerate(taken, 1))
        return bounds(level, tuple(end / taken[-1] for end in taken), self.spending, times)[-1]


def whole_sections(sizes: Sequence[int], looks: int) -> tuple[int, ...]:
    """After how many queries to look: `looks` times at most, evenly, each time at the end of a section.

    sizes: queries of each section, in the order in which they are asked.
    """
    ends = np.cumsum(sizes)
    wanted = ends[-1] * np.arange(1, looks + 1) / looks
    nearest = ends[np.abs(ends[:, None] - wanted).argmin(axis=0)]
    return tuple(int(end) for end in np.unique([*nearest, ends[-1]]))
