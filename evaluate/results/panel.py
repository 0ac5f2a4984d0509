"""Several judges side by side."""

from __future__ import annotations

from pydantic import Field

from ragassay.records import Figure, Record

from .audit import Audit


class AmongJudges(Record):
    """The judges of one criterion. `n` of a figure are the things with two labels or more, n_failed the others.

    figures: `not_unanimous`, the share of things to which not all who labelled them gave the same label, and
    `krippendorff_alpha(ordinal)`. undefined: why a figure has no value.
    """

    criterion: str
    judges: tuple[str, ...]
    figures: dict[str, Figure]
    undefined: dict[str, str] = Field(default_factory=dict)


class JudgeOfPanel(Record):
    """One judge of a panel by itself, from its own records.

    failed: the share of its labels of passages and answers that are errors. agrees: the share of games on which its
    verdict is the panel's; n_failed lack one of the two. reliability, position: as of judge-aware Bradley-Terry, 1 and
    0.5 of a judge like any other. leaders: the agents that lead by its verdicts alone, several where they are level.
    """

    judge: str
    failed: Figure
    agrees: Figure
    reliability: Figure
    position: Figure | None = None
    leaders: tuple[str, ...]
    win_rate: dict[str, Figure]
    audit: Audit


class PanelOfJudges(Record):
    """Several judges side by side, how far they disagree on each criterion and on games, and judge-aware ratings.

    ratings: agent to rating, on Elo's scale. converged, notes: of that fit.
    """

    judges: tuple[JudgeOfPanel, ...]
    disagreement: tuple[AmongJudges, ...]
    ratings: dict[str, Figure]
    converged: bool
    notes: tuple[str, ...] = ()
