"""Simulated queries in sections, also of unequal size, as a document with a few long sections gives them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from ragassay.arrays import Floats
from ragassay.evaluate.inputs.clusters import Clusters, clusters_of_rows

ZIPF, BIG = "Zipf", "big"
"""Sizes that fall as 1, 1/2, 1/3, … (n / 5 sections); 15% of the sections with 20 queries, the others with one."""

QUERIES = (50, 100, 200, 400)
CORRELATIONS = (0.0, 0.2, 0.5, 0.8)


def unequal_layouts() -> Iterator[tuple[str, Clusters, float]]:
    """(kind, sections, the correlation within one) of every layout; about as many queries as `QUERIES` says."""
    for kind, n in product((ZIPF, BIG), QUERIES):
        clusters = in_sections(sizes(kind, n))
        yield from ((kind, clusters, correlation) for correlation in CORRELATIONS)


def sizes(kind: str, queries: int) -> list[int]:
    """The queries of each section, the large ones first."""
    if kind == ZIPF:
        shares = 1 / np.arange(1, queries // 5 + 1)
        return [max(1, round(share)) for share in (queries * shares / shares.sum()).tolist()]
    sections = round(queries / (0.15 * 20 + 0.85))
    large = round(0.15 * sections)
    return [20] * large + [1] * (sections - large)


def in_sections(sizes: list[int]) -> Clusters:
    """So many queries in each section, in order."""
    return clusters_of_rows([f"{place:04d}" for place, size in enumerate(sizes) for _ in range(size)])


def drawn_in(shape: tuple[int, ...], clusters: Clusters, correlation: float, generator: np.random.Generator) -> Floats:
    """Standard normals (*shape, queries), correlated within each cluster."""
    shared = generator.normal(size=(*shape, len(clusters.names)))[..., clusters.numbers]
    own = generator.normal(size=(*shape, len(clusters.numbers)))
    normals: Floats = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
    return normals
