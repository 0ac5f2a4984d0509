"""The corrected means as pictures: as judged, as corrected, and the interval of the labels before, on one axis."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from ragassay.evaluate.report.corrected import CorrectedRow, corrected_tables
from ragassay.evaluate.report.plots import Scale, axis_labels, scale, whisker
from ragassay.evaluate.report.wording import Kind, kind_of, measure_help, measure_name, number
from ragassay.evaluate.results import CorrectedFigure, Corrections
from ragassay.records import Figure


@dataclass(frozen=True)
class AgentShown:
    """An agent on a measure. judged, corrected: plots. half: half the corrected interval's width in words, and half
    that of the labels before, which says whether it tightens; '' where there is none.
    """

    row: CorrectedRow
    judged: Markup
    corrected: Markup
    half: str
    before: str


@dataclass(frozen=True)
class MeasureShown:
    """A measure, its agents, and the axis under them."""

    name: str
    help: str
    agents: tuple[AgentShown, ...]
    axis: Markup

    @property
    def told(self) -> bool:
        """Whether the labels correct it for any agent."""
        return any(not one.row.corrected.why for one in self.agents)


def measures_shown(corrected: Corrections, before: Corrections | None) -> tuple[MeasureShown, ...]:
    """The means by measure, in the figures' order; before: what fewer labels said."""
    means = [figure for figure in corrected.figures if figure.other is None]
    rows = {(row.measure, row.agent): row for row in corrected_tables(corrected)[0][1]}
    old = {(f.measure, f.agent): f.corrected for f in (before.figures if before else ()) if f.other is None}
    return tuple(
        _measure(name, [figure for figure in means if figure.measure == name], rows, old)
        for name in dict.fromkeys(figure.measure for figure in means)
    )


def _measure(
    name: str,
    figures: list[CorrectedFigure],
    rows: dict[tuple[str, str], CorrectedRow],
    old: dict[tuple[str, str], Figure],
) -> MeasureShown:
    axis = scale([each for figure in figures for each in (figure.judged, figure.corrected)])
    kind: Kind = "mean" if kind_of(name) == "number" else kind_of(name)
    agents = tuple(_agent(f, rows[name, f.agent], old.get((name, f.agent)), axis, kind) for f in figures)
    return MeasureShown(measure_name(name), measure_help(name), agents, axis_labels(axis, kind))


def _agent(figure: CorrectedFigure, row: CorrectedRow, old: Figure | None, axis: Scale, kind: Kind) -> AgentShown:
    return AgentShown(
        row,
        whisker(figure.judged, axis, 11, f"{figure.agent}, as judged", kind),
        whisker(figure.corrected, axis, 0, f"{figure.agent}, as corrected", kind),
        _half(figure.corrected, kind),
        _half(old, kind),
    )


def _half(figure: Figure | None, kind: Kind) -> str:
    if figure is None or figure.ci_low is None or figure.ci_high is None:
        return ""
    return f"±{number((figure.ci_high - figure.ci_low) / 2, kind)}"
