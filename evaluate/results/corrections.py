"""What people's labels, or a second judge's, say about the figures."""

from __future__ import annotations

from ragassay.records import Figure, Record

from .comparisons import PairVerdict


class JudgeAgreement(Record):
    """How far the judge agrees with people's labels on one criterion, over the things that both labelled; on `game`
    with who wins (a, tie or b, told of the agent that comes first in the alphabet).

    figures: `kappa`, `krippendorff_alpha(ordinal)`, `tau_b`, `rho`, `bias` (judge - people), `limit_low`, `limit_high`
    (Bland and Altman) and what else `ragassay agree` says, n the things, n_failed those that the judge could not label.
    undefined: why a figure has no value. p: two-sided, of tau_b, rho (whole sections permuted) and bias.
    """

    criterion: str
    n_pairs: int
    n_missing: int
    n_clusters: int
    figures: dict[str, Figure]
    undefined: dict[str, str]
    p: dict[str, float]


class CorrectedFigure(Record):
    """A mean of `agent`, or its difference from `other`, as judged and as people's labels correct it (PPI++).

    measure: as in the other tables, or `win_rate`. n_labels: items with a label by people (for a ranking measure
    queries, for a difference those of both agents). helps: whether the judge's values narrow what the labels alone
    say; None where that cannot be told. note: why there is no corrected value, or why not to lean on it. needed: of a
    mean, how many labels an interval of +- a twentieth of the scale takes (so `n_labels` say; its `n`); no value, or no
    upper end, where labels on every query would not do. p: of a corrected difference, two-sided, of 0; p_holm: the
    same, corrected over all pairs of agents that could be corrected on the measure; verdict: by p_holm, of `agent`
    against `other`, at 5%. All three None where there is no corrected difference.
    """

    measure: str
    agent: str
    other: str | None = None
    judged: Figure
    corrected: Figure
    n_labels: int
    helps: bool | None = None
    note: str | None = None
    needed: Figure | None = None
    p: float | None = None
    p_holm: float | None = None
    verdict: PairVerdict | None = None


class Corrections(Record):
    """What `labels.csv` says about the figures. notes: sentences on the labels as a whole, the gravest first.

    agreement: of the judge with the people, criterion by criterion.
    """

    figures: tuple[CorrectedFigure, ...]
    n_labels: int
    n_people: int
    n_unused: int
    notes: tuple[str, ...] = ()
    agreement: tuple[JudgeAgreement, ...] = ()


class SecondJudgeResults(Record):
    """What a second judge said of a part, drawn with known probabilities, of what was judged.

    n_asked: things drawn (labels of passages and of answers, games), of which n_failed have no label by it. corrected:
    the figures with its labels in the place of people's, and its agreement with the first judge (or the panel).
    """

    judge: str
    share: float
    n_asked: int
    n_failed: int
    corrected: Corrections
