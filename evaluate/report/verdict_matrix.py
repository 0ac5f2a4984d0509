"""The report's pairwise verdicts: a matrix of agents for each measure, each cell the row agent against the column's."""

from __future__ import annotations

from dataclasses import dataclass

from ragassay.records import Figure

from ..results import Comparison, Results
from .wording import Shown, kind_of_difference, leaves_out_0, measure_name, number, shown

SIGNS = {"better": "▲", "worse": "▼", "practically equal": "≈", "not distinguishable": "="}
_OTHER = {"better": "worse", "worse": "better"}


@dataclass(frozen=True)
class VerdictCell:
    """One pair: `verdict` of the row agent, its difference with interval and n, and its p, corrected by Holm.

    alone: whether the interval leaves out 0 all the same.
    """

    verdict: str
    sign: str
    difference: Shown
    p: str
    alone: bool


@dataclass(frozen=True)
class VerdictMatrix:
    """One measure; `rows` has, for each agent in order, a cell for each agent, None for itself or no comparison."""

    measure: str
    agents: tuple[str, ...]
    rows: tuple[tuple[VerdictCell | None, ...], ...]
    n_decided: int
    n_pairs: int
    detectable: str
    lacking: tuple[str, ...]
    said: tuple[str, ...]

    @property
    def n(self) -> str:
        """How many queries each of the pairs is compared on, where that is the same; else ''."""
        given = {cell.difference.n for row in self.rows for cell in row if cell}
        return given.pop() if len(given) == 1 else ""


def verdict_matrices(results: Results) -> list[VerdictMatrix]:
    """A matrix for each measure compared, in the order of the file."""
    measures = dict.fromkeys(row.measure for row in results.comparisons)
    return [_matrix(m, [row for row in results.comparisons if row.measure == m], results.agents) for m in measures]


def _matrix(measure: str, rows: list[Comparison], order: tuple[str, ...]) -> VerdictMatrix:
    cells = {(row.agent_a, row.agent_b): _cell(row, 1) for row in rows}
    cells |= {(row.agent_b, row.agent_a): _cell(row, -1) for row in rows}
    agents = tuple(agent for agent in order if any(agent in pair for pair in cells))
    least = [row.detectable for row in rows if row.detectable is not None]
    return VerdictMatrix(
        measure=measure_name(measure),
        agents=agents,
        rows=tuple(tuple(cells.get((one, other)) for other in agents) for one in agents),
        n_decided=sum(row.verdict != "not distinguishable" for row in rows),
        n_pairs=len(rows),
        detectable=f"{_number(min(least), measure)} to {_number(max(least), measure)}" if least else "",
        lacking=tuple(sorted({query for row in rows for query in (*row.lacking_a, *row.lacking_b)})),
        said=tuple(row.sentence for row in rows),
    )


def _cell(row: Comparison, side: int) -> VerdictCell:
    verdict = row.verdict if side > 0 else _OTHER.get(row.verdict, row.verdict)
    figure = row.difference if side > 0 else _turned(row.difference)
    words = shown(figure, kind_of_difference(row.measure))
    p = "not defined" if row.p_holm is None else "< 0.001" if row.p_holm < 0.001 else f"{row.p_holm:.3f}"
    alone = verdict == "not distinguishable" and leaves_out_0(figure)
    return VerdictCell(verdict, SIGNS[verdict], words, p, alone)


def _turned(figure: Figure) -> Figure:
    ends = [None if end is None else -end for end in (figure.ci_high, figure.ci_low)]
    value = None if figure.value is None else -figure.value
    return figure.model_copy(update={"value": value, "ci_low": ends[0], "ci_high": ends[1]})


def _number(value: float, measure: str) -> str:
    return number(value, kind_of_difference(measure))
