"""The report's sections on the judge's audit and on unjudged passages: figures turned into words, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragassay.records import Figure

from ..results import AgentPool, Audit, AuditFinding, Bounds, Results
from .wording import MISSING, Kind, Shown, measure_help, measure_name, number, shown

SIGNIFICANT = 0.05

_NAMES = {
    "flip_rate": "Winner changes with the order",
    "first_favoured": "Flips towards the answer shown {}",
    "order_echoed": "Lists in the very order shown",
    "place_trend": "Order given and order shown (tau)",
    "place_score": "Pairs won from place {}",
    "repeat_consistency": "Same label when asked again",
    "longer_wins": "Longer answer wins",
    "length_effect": "Effect of length on the log odds",
    "own_answers": "Agents answered by its own family",
    "own_answers_win": "Its family’s answers win against others",
    "own_questions": "Questions by its own family",
    "own_questions_gap": "More wins on its family’s questions",
    "failed_games": "Games without a verdict",
}


@dataclass(frozen=True)
class AuditRow:
    """A finding in words. `fair` and `p` are '' where there is none; `grave` says that it could change the winner."""

    name: str
    figure: Shown
    fair: str
    p: str
    said: str
    grave: bool


@dataclass(frozen=True)
class PoolColumn:
    """A measure as far as labels leave it open: for each agent its range, and the same had it not contributed."""

    name: str
    help: str
    cells: dict[str, tuple[str, str]]


def audit_name(finding: AuditFinding) -> str:
    """What the report calls a finding."""
    name = _NAMES.get(finding.key, finding.key.replace("_", " ")).format(finding.subject or "first")
    return f"{name}: {finding.subject}" if finding.key == "repeat_consistency" else name


def finding_shown(finding: AuditFinding) -> Shown:
    """Its figure in words."""
    return shown(finding.figure, _kind(finding), "nothing to compute it from" if not finding.figure.n else "")


def _kind(finding: AuditFinding) -> Kind:
    return "mean" if finding.key in ("length_effect", "place_trend") else "share"


def audit_rows(audit: Audit | None) -> list[AuditRow]:
    """A row for each finding."""
    return [
        AuditRow(
            name=audit_name(finding),
            figure=finding_shown(finding),
            fair="" if finding.fair is None else f"{number(finding.fair, _kind(finding))}",
            p="" if finding.p is None else "< 0.001" if finding.p < 0.001 else f"{finding.p:.3f}",
            said=finding.sentence,
            grave=finding.warning is not None,
        )
        for finding in (audit.findings if audit else ())
    ]


def length_plots(results: Results) -> list[tuple[str, dict[str, Figure]]]:
    """The two ratings of length control, each with its title; empty where there are none."""
    length = results.audit.length if results.audit else None
    if length is None or not any(figure.value is not None for figure in length.controlled.values()):
        return []
    return [("By the verdicts", length.plain), ("With length held equal", length.controlled)]


def pool_columns(pools: Mapping[str, AgentPool], agents: Sequence[str]) -> list[PoolColumn]:
    """For each measure, the range that unjudged passages leave; first as it is, then had the agent not contributed."""
    measures = list(dict.fromkeys(m for agent in agents if agent in pools for m in pools[agent].bounds))
    return [
        PoolColumn(
            measure_name(m),
            measure_help(m),
            {a: (_range(pools[a].bounds[m]), _range(pools[a].left_out[m])) for a in agents if a in pools},
        )
        for m in measures
    ]


def _range(bounds: Bounds) -> str:
    """`0.412 to 0.487`, or one number where nothing is open."""
    low, high = bounds.low.value, bounds.high.value
    if low is None or high is None:
        return MISSING
    ends = number(low, "measure"), number(high, "measure")
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
