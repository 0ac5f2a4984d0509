"""Which pairs are decided, by family of systems: one line for each family, and for each two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from statistics import median

from ragassay.text import plain

from .decided import MOST_REAL
from .records import CertifiedFamilies, CertifiedPair


def by_family(pairs: Sequence[CertifiedPair], families: Mapping[str, str]) -> tuple[CertifiedFamilies, ...]:
    """families: system to family. Within families first, then between them, by the alphabet."""
    groups: dict[tuple[str, str], list[CertifiedPair]] = {}
    for pair in pairs:
        first, second = sorted((families[pair.a], families[pair.b]))
        groups.setdefault((first, second), []).append(pair)
    order = sorted(groups, key=lambda names: (names[0] != names[1], names))
    return tuple(_told(*names, groups[names], families) for names in order)


def _told(a: str, b: str, pairs: Sequence[CertifiedPair], families: Mapping[str, str]) -> CertifiedFamilies:
    decided = [pair for pair in pairs if pair.verdict != "open"]
    winners = [families[pair.a if pair.verdict == "a" else pair.b] for pair in decided]
    first, second = (None, None) if a == b else (winners.count(a), winners.count(b))
    still = [pair.more for pair in pairs if pair.verdict == "open"]
    more = _half(still)
    what = f"within {plain(a)}" if a == b else f"{plain(a)} against {plain(b)}"
    told = f"{what}: {len(decided)} of {len(pairs)} pairs are decided{_favour(a, b, first, second)}"
    return CertifiedFamilies(
        a=a,
        b=b,
        n_pairs=len(pairs),
        n_decided=len(decided),
        n_first=first,
        n_second=second,
        more=more,
        sentence=told + _open(still, more),
    )


def _half(more: Sequence[int | None]) -> int | None:
    """The median, where None is more than any number."""
    middle = median(float("inf") if one is None else one for one in more) if more else float("inf")
    return ceil(middle) if middle < float("inf") else None


def _favour(a: str, b: str, first: int | None, second: int | None) -> str:
    if not first and not second:
        return ""
    if first and second:
        return f", {first} for {plain(a)} and {second} for {plain(b)}"
    return f", all for {plain(a if first else b)}"


def _open(more: Sequence[int | None], half: int | None) -> str:
    if not more:
        return ""
    others = "the other" if len(more) == 1 else "half of the others"
    if half is not None:
        return f"; about {half:,} more real queries would decide {others}"
    return f"; not even {MOST_REAL:,} more real queries would decide {others}"
