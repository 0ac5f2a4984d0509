"""The report's table of figures as judged and as corrected, in words; the verdicts that people's labels leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ragassay.records import Figure
from ragassay.text import one_line

from ..results import CorrectedFigure, Corrections, Results
from .wording import Kind, Shown, kind_of, measure_name, only_alone, shown

NAMED = 3
"""How many pairs that can be told apart are named; more are counted."""


@dataclass(frozen=True)
class CorrectedRow:
    """A mean (`other` None) or a difference, twice; `verdict` and `p` (Holm's) of a difference that was tested.

    alone: how the interval may leave out 0 where the verdict does not, or ''.
    """

    measure: str
    agent: str
    other: str | None
    judged: Shown
    corrected: Shown
    n_labels: int
    note: str
    needed: str
    verdict: str
    p: str
    alone: str


def corrected_tables(corrected: Corrections | None) -> list[tuple[str, list[CorrectedRow]]]:
    """(title, rows): the means, then the differences between agents; nothing where nothing was labelled."""
    figures = corrected.figures if corrected else ()
    tested = Counter(figure.measure for figure in figures if figure.p_holm is not None)
    rows = [_row(figure, tested[figure.measure]) for figure in figures]
    return [
        ("Means", [row for row in rows if row.other is None]),
        ("Differences between agents", [row for row in rows if row.other is not None]),
    ]


def _row(figure: CorrectedFigure, n_tested: int) -> CorrectedRow:
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
        verdict=figure.verdict or "",
        p="" if figure.p_holm is None else "below 0.001" if figure.p_holm < 0.001 else f"{figure.p_holm:.3f}",
        alone=only_alone(figure.corrected, figure.verdict in ("better", "worse"), n_tested) if figure.verdict else "",
    )


def second_line(results: Results) -> list[str]:
    """A line on the second judge, for the terminal."""
    if results.second is None:
        return []
    second, n = results.second, results.second.corrected.figures
    failed = f", {second.n_failed:,} failed" if second.n_failed else ""
    told = sum(row.verdict in ("better", "worse") for row in n)
    pairs = sum(row.verdict is not None for row in n)
    asked = f"{one_line(second.judge)} asked about {second.n_asked:,} things{failed}"
    return [f"second judge {asked}; as it corrects them, {told:,} of {pairs:,} differences are told apart"]


def corrected_verdicts(results: Results) -> list[tuple[str, str]]:
    """(measure, which pairs its corrected differences tell apart), for each measure on which any could be tested."""
    rows = [figure for figure in (results.corrected.figures if results.corrected else ()) if figure.verdict]
    return [(m, _told([row for row in rows if row.measure == m])) for m in dict.fromkeys(row.measure for row in rows)]


def corrected_lines(results: Results) -> list[str]:
    """The same as lines of plain text, for the terminal."""
    return [f"corrected by people, {measure_name(m)}: {said}" for m, said in corrected_verdicts(results)]


def _told(rows: Sequence[CorrectedFigure]) -> str:
    better = [
        (row.agent, row.other) if row.verdict == "better" else (row.other, row.agent)
        for row in rows
        if row.verdict != "not distinguishable"
    ]
    level = len(rows) - len(better)
    pairs = f"{level} of {len(rows)} {'pair' if len(rows) == 1 else 'pairs'} not distinguishable"
    if len(better) > NAMED:
        return f"{len(better)} of {len(rows)} pairs told apart, {level} not"
    said = [f"{one_line(str(one))} better than {one_line(str(other))}" for one, other in better]
    return "; ".join([*said, pairs] if level else said)


def _needed(figure: Figure | None) -> str:
    """`about 120 (80 to 200)`; an end that labels on every query would not reach is said so."""
    if figure is None:
        return ""
    ends = (f"{end:,.0f}" if end is not None else "all and more" for end in (figure.ci_low, figure.ci_high))
    if figure.value is None:
        return "more queries than these"
    return f"about {figure.value:,.0f} ({' to '.join(ends)})"
