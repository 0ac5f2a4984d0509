"""What the judge may have got wrong."""

from __future__ import annotations

from pydantic import Field

from ragassay.records import Figure, Record


class AuditFinding(Record):
    """One figure of the judge's audit.

    key: what it is (`flip_rate`, `first_favoured`, `length_effect`, …). subject: of what, where there are several.
    fair: its value for a judge without this fault, where there is one. p: two-sided, of `fair`. sentence: what it means
    for the ranking. warning: set where the fault could have changed the winner.
    """

    key: str
    subject: str = ""
    figure: Figure
    fair: float | None = None
    p: float | None = None
    sentence: str
    warning: str | None = None


class LengthControl(Record):
    """Bradley-Terry ratings (a tie is half a win) without and with a term for the answers' lengths, set to 0.

    mean_length: characters of an agent's answers. note: why there are none, or None.
    """

    mean_length: dict[str, Figure] = Field(default_factory=dict)
    plain: dict[str, Figure] = Field(default_factory=dict)
    controlled: dict[str, Figure] = Field(default_factory=dict)
    note: str | None = None


class FailedReplies(Record):
    """Failed replies of one model in one stage: the share of its calls; `n_refused` of them are refusals."""

    stage: str
    model: str
    failed: Figure
    n_refused: int | None


class Failures(Record):
    """What failed, each counted once and where it happened.

    answers: agent to how many of its answers failed; retrieval: to how many of these have no ranking either. judge_…:
    passages, answers and pairs of answers on which the judge failed, none of them for want of an answer.
    """

    answers: dict[str, int]
    retrieval: dict[str, int]
    judge_passages: int
    judge_answers: int
    judge_games: int


class Audit(Record):
    """What the judge may have got wrong.

    n_identical: pairs whose two answers are the same text, for each judge: ties without a call, and no pair for flips.
    """

    findings: tuple[AuditFinding, ...]
    length: LengthControl
    failures: tuple[FailedReplies, ...]
    n_identical: int = 0
