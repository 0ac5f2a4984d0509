"""The report's table of figures as judged and as corrected, in words."""

from __future__ import annotations

from dataclasses import dataclass

from evaluate.wording import Kind, Shown, kind_of, shown
from ragassay.records import Figure
from ragassay.results import CorrectedFigure, Results


@dataclass(frozen=True)
class CorrectedRow:
    """A mean (`other` None) or a difference, twice."""

    measure: str
    agent: str
    other: str | None
    judged: Shown
    corrected: Shown
    n_labels: int
    note: str
    needed: str


def corrected_tables(results: Results) -> list[tuple[str, list[CorrectedRow]]]:
    """(title, rows): the means, then the differences between agents; nothing where people labelled nothing."""
    figures = results.corrected.figures if results.corrected else ()
    return [
        ("Means", [_row(figure) for figure in figures if figure.other is None]),
        ("Differences between agents", [_row(figure) for figure in figures if figure.other is not None]),
    ]


def _row(figure: CorrectedFigure) -> CorrectedRow:
    kind: Kind = "mean" if kind_of(figure.measure) == "number" else kind_of(figure.measure)
    return CorrectedRow(
        measure=figure.measure,
        agent=figure.agent,
        other=figure.other,
        judged=shown(figure.judged, kind),
        corrected=shown(figure.corrected, kind, figure.note or ""),
        n_labels=figure.n_labels,
        note=figure.note or "",
        needed=_needed(figure.needed),
    )


def _needed(figure: Figure | None) -> str:
    """`about 120 (80 to 200)`; an end that labels on every query would not reach is said so."""
    if figure is None:
        return ""
    ends = (f"{end:,.0f}" if end is not None else "all and more" for end in (figure.ci_low, figure.ci_high))
    if figure.value is None:
        return "more queries than these"
    return f"about {figure.value:,.0f} ({' to '.join(ends)})"
