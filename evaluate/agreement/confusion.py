"""The confusion matrix: how often which label of the people's met which of the judge's."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.records import Record

from .crosstab import Crosstab
from .label_tables import Label

LARGEST = 50
"""Labels of a scale that is treated as categories; more are treated as measured values."""


class Confusion(Record):
    """`counts[i][j]`: rows to which people gave `labels[i]` and the judge `labels[j]`."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


def confusion(table: Crosstab, labels: Sequence[Label]) -> Confusion:
    """The matrix over all labels of the scale, in its order."""
    counts = [[0] * len(labels) for _ in labels]
    for cell in table.row_cell.tolist():
        counts[int(table.x[cell])][int(table.y[cell])] += 1
    return Confusion(labels=tuple(map(spelt, labels)), counts=tuple(map(tuple, counts)))


def spelt(label: Label) -> str:
    """A label as people write it: `2`, `0.5`, `yes`."""
    return label if isinstance(label, str) else f"{label:.10g}"
