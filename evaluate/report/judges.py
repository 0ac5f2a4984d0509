"""The report's section on a panel of judges: the judges side by side, their disagreement, each one's audit."""

from __future__ import annotations

from dataclasses import dataclass

from ragassay.text import listed, one_line

from ..inputs.labels import GAME
from ..results import AmongJudges, Results
from .audit import AuditRow, audit_rows
from .wording import Shown, measure_name, shown

SPLIT = "not_unanimous"
ALPHA = "krippendorff_alpha(ordinal)"


@dataclass(frozen=True)
class JudgeRow:
    """A judge of a panel in words; `leads` names the agents that lead by its verdicts alone."""

    judge: str
    leads: str
    agrees: Shown
    reliability: Shown
    position: Shown
    failed: Shown
    audit: list[AuditRow]


@dataclass(frozen=True)
class DisagreementRow:
    """How far the judges disagree on one criterion, by name."""

    name: str
    split: Shown
    alpha: Shown


def judge_rows(results: Results) -> list[JudgeRow]:
    """A row for each judge of a panel; none where one judge judged."""
    return [
        JudgeRow(
            judge=one_line(one.judge),
            leads=listed([one_line(agent) for agent in one.leaders]) or "none",
            agrees=shown(one.agrees, "share"),
            reliability=shown(one.reliability, "mean", "its games do not tell it"),
            position=shown(one.position, "share", "its games do not tell it"),
            failed=shown(one.failed, "share"),
            audit=audit_rows(one.audit),
        )
        for one in (results.panel.judges if results.panel else ())
    ]


def disagreement_rows(results: Results) -> list[DisagreementRow]:
    """A row for passages, for each criterion of answers, and for games."""
    return [_row(found) for found in (results.panel.disagreement if results.panel else ())]


def panel_lines(results: Results) -> list[str]:
    """One line of plain text, for the terminal."""
    if results.panel is None:
        return []
    games = next((row for row in disagreement_rows(results) if row.name == _name(GAME)), None)
    split = f"; not of one mind on {games.split.value} {games.split.interval} of the games".rstrip() if games else ""
    by_judge = (f"{row.judge} {row.leads}" for row in judge_rows(results))
    n = len(results.panel.judges)
    return [f"{n} judges, figures by their majority{split}; leading by each: {', '.join(by_judge)}"]


def split_of(results: Results) -> dict[str, Shown]:
    """By criterion, what stands beside its figures: the share of things on which the judges are not unanimous."""
    return {found.criterion: _row(found).split for found in (results.panel.disagreement if results.panel else ())}


def _row(found: AmongJudges) -> DisagreementRow:
    split, alpha = found.figures.get(SPLIT), found.figures.get(ALPHA)
    return DisagreementRow(
        _name(found.criterion),
        shown(split, "share", found.undefined.get(SPLIT, "")),
        shown(alpha, "mean", found.undefined.get(ALPHA, "")),
    )


def _name(criterion: str) -> str:
    return {GAME: "winner of a game", "passages": "relevance of a passage"}.get(criterion) or one_line(
        measure_name(criterion)
    )
