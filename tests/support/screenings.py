"""Small screenings: values of variants on queries, with what is not said left unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ragassay.arrays import Floats
from ragassay.evaluate.inputs.clusters import clusters_of_rows
from ragassay.evaluate.screening.screened import Screened


def screening(
    values: Any,
    *,
    sections: Sequence[Any] | None = None,
    names: Sequence[str] | None = None,
    settings: Sequence[Mapping[str, Any]] | None = None,
    latency_s: Any = None,
    tokens: float | Floats = 100.0,
) -> Screened:
    """Of values (variants, queries) of evidence recall; each query is its own section unless `sections` says."""
    table = np.asarray(values, dtype=np.float64)
    n_variants, n_queries = table.shape
    nothing = np.full(n_variants, np.nan)
    at = range(n_queries) if sections is None else sections
    latency = nothing if latency_s is None else np.asarray(latency_s, dtype=np.float64)
    return Screened(
        names=names or [f"v{at:02d}" for at in range(n_variants)],
        settings=settings or [{"kind": "bm25"}] * n_variants,
        clusters=clusters_of_rows([f"{section:04d}" for section in at]),
        measures={"evidence_recall": table},
        quality="evidence_recall",
        tokens=np.broadcast_to(np.reshape(tokens, (-1, 1)), table.shape),
        latency_p50_s=latency,
        latency_p95_s=latency,
        index_s=nothing,
        index_bytes=nothing,
    )
