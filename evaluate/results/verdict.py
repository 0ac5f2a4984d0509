"""What to choose, and whether answers that failed would change it."""

from __future__ import annotations

from pydantic import Field

from ragassay.records import Figure, Record

from .measures import Figures


class Choice(Record):
    """What to choose. `sure` is False where the leader cannot be told from some other agent with these queries.

    possible_best: the agents that may be the best, the leader first; each that is the best is among them with 95%; the
    leader alone where `sure`. expected_regret: how much smaller a share of its games the leader is expected to win than
    the best agent, None where that is not known.
    """

    best: str | None
    runner_up: str | None
    sure: bool
    sentence: str
    p_best: dict[str, float] = Field(default_factory=dict)
    possible_best: tuple[str, ...] = ()
    expected_regret: float | None = None


class FailuresAtBottom(Record):
    """The figures with answers that failed as the worst there are, in place of being left out.

    failed: agent to how many of its answers failed (the others are not named). An answer that failed loses each game
    that it owed to one that did not, and is level with one that failed too; its labels are 0; where its retrieval
    failed, so are the ranking measures. What the judge failed is missing here as well. agrees: whether the same agent
    leads, as surely told from each other, as where failures are left out; if not, the verdict is withheld. leader,
    decided, possible_best, expected_regret: as in `verdict`.
    """

    failed: dict[str, int]
    agrees: bool
    leader: str | None
    decided: bool
    possible_best: tuple[str, ...]
    expected_regret: float | None
    win_rate: dict[str, Figure]
    bradley_terry: dict[str, Figure]
    pointwise: Figures
    retrieval: Figures
