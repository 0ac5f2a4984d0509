"""What to choose, and whether answers that failed would change it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ragassay.records import Figure, Record

from .measures import Figures

Claim = Literal["decided", "equal", "safe"]


class Choice(Record):
    """What to choose, from one procedure on one scale: points, the mean over opponents of win 1, tie 1/2, loss 0.

    leader: the agent with the most, None where nothing can be said. told: those told from it, untold: the others, both
    best first. possible_best: the leader and the untold; each that is the best is among them with 95%. decided: whether
    none is untold. equal: whether the leader is better than none of the untold by `margin` (points, 0 to 1); safe:
    whether none is better than the leader by it. claims: those of the three that hold, each with its sentence.
    differences: agent to the leader's points less its own, with the interval of the procedure. p_best: how likely each
    is the best, an average and no guarantee. expected_loss: how many points the leader is expected to fall short of the
    best, None where that is not known. overturned_by: how many of the failed games, lost by the leader, undo that it
    would be decided without them; None where none would.
    """

    leader: str | None
    told: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()
    possible_best: tuple[str, ...] = ()
    decided: bool = False
    equal: bool = False
    safe: bool = False
    margin: float = 0.05
    claims: dict[Claim, str] = Field(default_factory=dict)
    sentence: str
    differences: dict[str, Figure] = Field(default_factory=dict)
    p_best: dict[str, float] = Field(default_factory=dict)
    expected_loss: float | None = None
    overturned_by: int | None = None


class FailuresAtBottom(Record):
    """The figures with answers that failed as the worst there are, in place of being left out.

    failed: agent to how many of its answers failed (the others are not named). An answer that failed loses each game
    that it owed to one that did not, and is level with one that failed too; its labels are 0; where its retrieval
    failed, so are the ranking measures. What the judge failed is missing here as well. leader: the agent with the most
    points then; agrees: whether it is the one that leads where failures are left out.
    """

    failed: dict[str, int]
    agrees: bool
    leader: str | None
    win_rate: dict[str, Figure]
    bradley_terry: dict[str, Figure]
    pointwise: Figures
    retrieval: Figures
