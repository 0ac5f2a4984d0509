"""What each setting does to quality, averaged over the other settings: which settings matter and which do not.

A level's value on a query is the mean over the balanced cells in which every level has a value there, so all levels are
averaged over the same variants' settings and queries. The interval is over queries, in sections: the variants are those
that were tried, not a sample of variants. The tests of all effects are corrected together (Holm).
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
from ..statistics.paired_comparison import LEVEL, t_p
from ..statistics.resamples import holm
from .screened import UNIT, LevelFigures, SettingEffect, mean_figures

Level = str | int | float | bool | None
KIND, OF, ALL = "kind", "of", "all"


@dataclass(frozen=True)
class Cells:
    """variants: of each cell, of each level, the indices of its variants; several differ in what goes along."""

    setting: str
    levels: tuple[Level, ...]
    variants: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def n_variants(self) -> int:
        """How many there are in all."""
        return sum(len(each) for cell in self.variants for each in cell)


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
    used = [
        {key for row in rows.values() for key, level in row.items() if level is not None} for rows in kinds.values()
    ]
    shared = sorted(set.intersection(*used) - {KIND}) if used else []
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


def _levels(values: Floats, cells: Cells) -> tuple[Floats, Floats]:
    """(levels, queries) twice: means over the cells in which each level has a value on the query, and the gaps."""
    # NaN where any variant has no value, so that each query has the same variants.
    table = np.stack([[values[list(each)].mean(axis=0) for each in cell] for cell in cells.variants])
    known: Truths = np.asarray(~np.isnan(table).any(axis=1))
    with np.errstate(invalid="ignore"):
        means = np.where(known[:, None], table, 0.0).sum(axis=0) / known.sum(axis=0)
    others = (means.sum(axis=0) - means) / (len(means) - 1)
    return means, means - others


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


def cells_of(rows: Mapping[int, Mapping[str, Any]], setting: str, others: Sequence[str]) -> Iterator[Cells]:
    """The balanced cells of `setting`, for each set of its levels that meet. rows: index of a variant to its settings.

    others: the settings that are to be held equal: a cell is a combination of them that exists with each of the levels.
    Not held equal is what goes along with the setting: the name of a chunking with its parts (`chunking` and
    `chunking.size`), and what some level does not have (without a rewriting there is no number of rewritten queries).
    Where no combination has all levels, as with sizes in words and in sentences, those are taken that make the most
    variants, then the others likewise.
    """
    levels_of_all = {row.get(setting) for row in rows.values()}

    def goes_along(other: str) -> bool:
        if setting.startswith(f"{other}.") or other.startswith(f"{setting}."):
            return True
        having = {row.get(setting) for row in rows.values() if row.get(other) is not None}
        return bool(having) and having != levels_of_all

    held = [other for other in others if other != setting and not goes_along(other)]
    table: dict[tuple[str, ...], dict[Level, list[int]]] = {}
    for at, row in rows.items():
        key = tuple(f"{type(row.get(other)).__name__} {row.get(other)!r}" for other in held)
        cell = table.setdefault(key, {})
        cell.setdefault(row.get(setting), []).append(at)
    left = {level for cell in table.values() for level in cell}
    while levels := _most(table, left):
        full = [cell for _, cell in sorted(table.items()) if all(level in cell for level in levels)]
        yield Cells(setting, levels, tuple(tuple(tuple(cell[level]) for level in levels) for cell in full))
        left -= set(levels)


def _most(table: Mapping[tuple[str, ...], Mapping[Level, list[int]]], left: set[Level]) -> tuple[Level, ...]:
    """The levels, of some cell's that are `left`, with the most variants in cells that have them; none below two."""
    sets = {frozenset(cell) & left for cell in table.values()}
    wanted = [tuple(sorted(each, key=_order)) for each in sets if len(each) > 1]

    def size(levels: tuple[Level, ...]) -> int:
        return sum(len(cell[x]) for cell in table.values() if set(levels) <= cell.keys() for x in levels)

    return min(wanted, key=lambda levels: (-size(levels), -len(levels), [_order(x) for x in levels]), default=())


def _order(level: Level) -> tuple[bool, float, str]:
    """Numbers by size, then words."""
    number = isinstance(level, int | float) and not isinstance(level, bool)
    return (not number, float(level) if isinstance(level, int | float) else 0.0, str(level))


def crossed(names: Sequence[str], settings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of each variant: `k1` of a hybrid's BM25 is `bm25.k1`, its `of` the kinds fused; a list is `0.3/0.7`.

    A hybrid shares its members' chunking. A member that is none of `names` leaves the hybrid's `of` as it is.
    """
    known = dict(zip(names, settings, strict=True))
    return [_with_members(row, known, depth=len(known)) for row in settings]


def _with_members(row: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]], depth: int) -> dict[str, Any]:
    flat = {
        key: "/".join(map(str, level)) if isinstance(level, list | tuple) else level
        for key, level in row.items()
        if key not in ("name", "table")  # which say nothing but which variant it is
    }
    members = [known[name] for name in row.get(OF) or () if name in known]
    if not members or len(members) < len(row[OF]) or not depth:
        return flat
    kinds = [str(member.get(KIND)) for member in members]
    flat[OF] = "+".join(kinds)
    for place, (kind, member) in enumerate(zip(kinds, members, strict=True), 1):
        name = kind if kinds.count(kind) == 1 else f"{kind}-{place}"
        part = _with_members(member, known, depth - 1)
        own = {key: level for key, level in part.items() if key != KIND and key.split(".")[0] != "chunking"}
        flat |= {f"{name}.{key}": level for key, level in own.items()}
    return flat
