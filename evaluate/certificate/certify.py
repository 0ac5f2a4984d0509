"""From every system's values on real and on written queries to the certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite, isnan
from pathlib import Path

import numpy as np

from ragassay.arrays import Floats
from ragassay.errors import InputError
from ragassay.records import Figure

from ..inputs.clusters import Clusters
from ..statistics.resamples import rounded, six_digits
from .decided import LEVEL, Decided, decide
from .families import by_family
from .records import Certificate, CertifiedPair

FEWEST_REAL = 5
FEWEST_SECTIONS = 10
"""Of written queries: below, how far they scatter is not known."""


@dataclass(frozen=True, eq=False)
class Systems:
    """What the certificate is of. families: of each system. measure: from 0 to 1. real, written: ids of queries, whose
    values (systems, queries) are NaN where a system failed. clusters: of the written queries, by source section."""

    names: Sequence[str]
    families: Mapping[str, str]
    measure: str
    real: Sequence[str]
    real_values: Floats
    written: Sequence[str]
    written_values: Floats
    clusters: Clusters


def certify(systems: Systems, asked_in: Path, *, level: float = LEVEL, seed: int = 7) -> Certificate:
    """The certificate. Raises InputError, naming `asked_in`, where there are too few systems or queries for one."""
    kept = _enough(systems)
    real, written = systems.real_values[kept], systems.written_values[kept]
    whole = [np.flatnonzero(~np.isnan(values).any(axis=0)) for values in (real, written)]
    clusters = systems.clusters.of([systems.written[at] for at in whole[1].tolist()])
    n_real, n_written = (len(places) for places in whole)
    _check(systems, len(kept), (n_real, len(clusters.names)), asked_in)
    found = decide(real[:, whole[0]], written[:, whole[1]], clusters, level=level, seed=seed)
    names = [systems.names[at] for at in kept]
    pairs = _pairs(names, found, n_real)
    families = by_family(pairs, systems.families)
    n_decided = sum(pair.verdict != "open" for pair in pairs)
    worth, low, high = found.worth.tolist()
    certificate = Certificate(
        measure=systems.measure,
        n_real=n_real,
        n_written=n_written,
        n_failed=len(systems.real) + len(systems.written) - n_real - n_written,
        systems=tuple(names),
        left_out=tuple(name for at, name in enumerate(systems.names) if at not in kept),
        level=level,
        expected_wrong=None if isnan(found.expected_wrong) else six_digits(found.expected_wrong),
        worth=Figure(value=round(worth, 1), n=n_written, ci_low=round(low, 1), ci_high=round(high, 1)),
        n_pairs=len(pairs),
        n_decided=n_decided,
        pairs=pairs,
        families=families,
        said=(),
    )
    return certificate.model_copy(update={"said": _said(certificate)})


def _enough(systems: Systems) -> list[int]:
    """The places of the systems with a value on at least half of the queries."""
    known = ~np.isnan(np.hstack([systems.real_values, systems.written_values]))
    return np.flatnonzero(known.mean(axis=1) >= 0.5).tolist() if known.size else []


def _check(systems: Systems, n_systems: int, found: tuple[int, int], path: Path) -> None:
    n_real, n_sections = found
    if not systems.real:
        remedy = "add a random sample of what your users ask, with evidence or labels (docs/certificate.md)"
        raise InputError("has no real query with evidence, and a certificate needs some", file=path, remedy=remedy)
    if not systems.written:
        raise InputError("has no written query with evidence", file=path, remedy="write some: `ragassay questions`")
    if n_systems < 2:
        problem = f"the screening has {n_systems} variants with values, and a certificate is of pairs"
        raise InputError(problem, file=path, remedy="name more in [[retriever]] tables (docs/retrievers.md)")
    if n_real < FEWEST_REAL:
        problem = f"has {n_real} real {'query' if n_real == 1 else 'queries'} on which every variant has a value"
        raise InputError(f"{problem}; a certificate needs {FEWEST_REAL}", file=path, remedy="add more real questions")
    if n_sections < FEWEST_SECTIONS:
        problem = f"has written queries from {n_sections} section{'s' * (n_sections != 1)} on which every variant has"
        raise InputError(f"{problem} a value; a certificate needs {FEWEST_SECTIONS}", file=path, remedy="write more")


def _pairs(names: Sequence[str], found: Decided, n_real: int) -> tuple[CertifiedPair, ...]:
    rows = zip(
        combinations(names, 2),
        *(part.tolist() for part in (found.difference, found.low, found.high, found.p_wrong)),
        found.decided.tolist(),
        found.more.tolist(),
        strict=True,
    )
    return tuple(
        CertifiedPair(
            a=a,
            b=b,
            difference=rounded(value, n_real, 0, low, high),
            p_wrong=p_wrong,
            verdict="open" if not sign else "a" if sign > 0 else "b",
            more=int(more) if not sign and isfinite(more) else None,
        )
        for (a, b), value, low, high, p_wrong, sign, more in rows
    )


def _said(found: Certificate) -> tuple[str, ...]:
    worth, lines = found.worth, []
    lines.append(
        f"{found.n_decided} of {found.n_pairs} pairs are decided by {found.n_real} real and {found.n_written} written "
        f"queries, and {_wrong(found)}"
    )
    lines.append(
        f"beside the real queries the written ones count for about {worth.value:,.0f} more, between "
        f"{worth.ci_low:,.0f} and {worth.ci_high:,.0f}"
    )
    if found.left_out:
        lines.append(f"{len(found.left_out)} variants failed on more than half of the queries and take no part")
    if found.n_failed:
        lines.append(f"{found.n_failed} queries on which some variant failed take no part")
    return tuple(lines)


def _wrong(found: Certificate) -> str:
    if found.expected_wrong is None:
        return "so none is said to be the other way round"
    return f"{found.expected_wrong:.1%} of these are expected to be the other way round, at most {found.level:.0%}"
