"""What each setting does to quality, averaged over the other settings: which settings matter and which do not.

A level's value on a query is the mean over the balanced cells (`cells`) in which every level has a value there, so all
levels are averaged over the same variants' settings and queries. The interval is over queries, in sections: the
variants are those that were tried, not a sample of variants. The tests of all effects are corrected together (Holm).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.records import Figure
from ragassay.text import listed, plain

from ..inputs.clusters import Clusters
from ..statistics.clustered import estimate
from ..statistics.holm import holm
from ..statistics.paired_comparison import LEVEL, t_p
from .cells import Cells, Level, cells_of
from .mean_figures import UNIT, mean_figures
from .records import LevelFigures, SettingEffect

KIND = "kind"
ALL = "all"


@dataclass(frozen=True, eq=False)
class _Found:
    """among: a kind, or all. means, gaps: (levels, queries), of each level and less the mean of the other levels."""

    among: str
    cells: Cells
    means: Floats
    gaps: Floats

    @property
    def n_tests(self) -> int:
        """Of two levels each tells the other's difference."""
        return 1 if len(self.cells.levels) == 2 else len(self.cells.levels)


def setting_effects(
    values: Floats, settings: Sequence[Mapping[str, Any]], clusters: Clusters
) -> tuple[SettingEffect, ...]:
    """Of every setting that varies within a kind of retriever, and of the kind itself; the largest spread first.

    values: (variants, queries), NaN where a variant failed. settings: of each variant, scalars by key, `kind` one of
    them; what cannot be averaged over, because no combination has two of its levels, is left out.
    """
    found = [_Found(among, cells, *_levels(values, cells)) for among, cells in _all_cells(settings)]
    adjusted = iter(holm([p for each in found for p in _p_values(each, clusters)]))
    effects = [_effect(each, [next(adjusted) for _ in range(each.n_tests)], clusters) for each in found]
    return tuple(sorted(effects, key=lambda e: (-(e.spread or 0.0), e.among, e.setting, str(e.levels[0].level))))


def _all_cells(settings: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Cells]]:
    """With the kind that it is among."""
    kinds: dict[str, dict[int, Mapping[str, Any]]] = {}
    for at, row in enumerate(settings):
        kinds.setdefault(str(row.get(KIND)), {})[at] = row
    everything = dict(enumerate(settings))
    shared = sorted(set.intersection(*(_used(rows) for rows in kinds.values()))) if kinds else []
    for cells in cells_of(everything, KIND, shared):
        yield ALL, cells
    for kind, rows in sorted(kinds.items()):
        keys = sorted({key for row in rows.values() for key in row} - {KIND})
        for setting in keys:
            if _is_one_part(rows, setting, keys):
                continue
            for cells in cells_of(rows, setting, keys):
                yield kind, cells


def _is_one_part(rows: Mapping[int, Mapping[str, Any]], setting: str, keys: Sequence[str]) -> bool:
    """Whether the setting is the name of what differs in one part alone, which says the same and more plainly."""
    parts = [key for key in keys if key.startswith(f"{setting}.")]
    named = len({row.get(setting) for row in rows.values()})
    return any(
        len({row.get(part) for row in rows.values()})
        == named
        == len({(row.get(setting), row.get(part)) for row in rows.values()})
        for part in parts
    )


def _used(rows: Mapping[int, Mapping[str, Any]]) -> set[str]:
    """The settings that some variant of a kind has."""
    return {key for row in rows.values() for key, level in row.items() if level is not None} - {KIND}


def _levels(values: Floats, cells: Cells) -> tuple[Floats, Floats]:
    """(levels, queries) twice: means over the cells in which each level has a value on the query, and the gaps."""
    table = np.stack([[_mean_of(values[list(each)]) for each in cell] for cell in cells.variants])
    known: Truths = np.asarray(~np.isnan(table).any(axis=1))
    with np.errstate(invalid="ignore"):
        means = np.where(known[:, None], table, 0.0).sum(axis=0) / known.sum(axis=0)
    others = (means.sum(axis=0) - means) / (len(means) - 1)
    return means, means - others


def _mean_of(rows: Floats) -> Floats:
    """(queries,): of `rows` (variants, queries); NaN where any has none, so that each query has the same variants."""
    mean: Floats = rows.mean(axis=0)
    return mean


def _p_values(found: _Found, clusters: Clusters) -> list[float | None]:
    """Of the clustered t-test of each level against the others; one of two."""
    known = ~np.isnan(found.gaps[0])
    if not known.any():
        return [None] * found.n_tests
    there = clusters.where(known)
    p = t_p(estimate(there.sums(found.gaps[:, known]), there.sizes), int(known.sum()))
    return [None if np.isnan(each) else float(each) for each in p[: found.n_tests].tolist()]


def _effect(found: _Found, adjusted: Sequence[float | None], clusters: Clusters) -> SettingEffect:
    p = [adjusted[0]] * 2 if found.n_tests == 1 else list(adjusted)
    means = mean_figures(found.means, clusters, UNIT)
    gaps = mean_figures(found.gaps, clusters, (-1.0, 1.0), difference=True)
    rows = zip(found.cells.levels, means, gaps, p, strict=True)
    levels = tuple(LevelFigures(level=a, mean=b, difference=c, p_holm=d) for a, b, c, d in rows)
    known = [each.value for each in means if each.value is not None]
    spread = round(max(known) - min(known), 9) if known else None
    matters = any(each is not None and each <= LEVEL for each in p)
    return SettingEffect(
        among=found.among,
        setting=found.cells.setting,
        levels=levels,
        n_combinations=len(found.cells.variants),
        n_variants=found.cells.n_variants,
        spread=spread,
        matters=matters,
        sentence=_sentence(found, levels, spread, matters),
    )


def _sentence(found: _Found, levels: Sequence[LevelFigures], spread: float | None, matters: bool) -> str:
    n = len(found.cells.variants)
    over = f"over {n} combination{'s' if n > 1 else ''} of the other settings"
    where = "" if found.among == ALL else f" of {plain(found.among)}"
    name = f"{plain(found.cells.setting)}{where}"
    if spread is None:
        return f"{name}: no query has a value with each of {listed([_named(each.level) for each in levels])}."
    if not matters:
        which = listed([_named(each.level) for each in levels])
        return f"{name}: nothing is told apart between {which}; the means lie within {spread:.3f}, {over}."
    told = [each for each in levels if each.p_holm is not None and each.p_holm <= LEVEL]
    best = max(told, key=lambda each: abs(each.difference.value or 0.0))
    return f"{name} matters: {_named(best.level)} {_against(best.difference)} than the others, {over}."


def _against(difference: Figure) -> str:
    """`is .05 better (.01 to .08)`."""
    value, low, high = difference.value or 0.0, difference.ci_low, difference.ci_high
    ends = sorted(abs(end) for end in (low, high) if end is not None)
    said = f"{abs(value):.3f} {'better' if value > 0 else 'worse'}"
    return f"is {said}" + (f" ({ends[0]:.3f} to {ends[1]:.3f})" if len(ends) == 2 else "")


def _named(level: Level) -> str:
    return "none" if level is None else plain(str(level))
