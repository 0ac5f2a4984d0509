"""Two agents against each other on one measure."""

from __future__ import annotations

from typing import Final, Literal

from ragassay.records import Figure, Record


class PairedTest(Record):
    """A paired t-test of two agents on one measure, over the queries on which both have a value.

    `difference` is the mean of a - b; `t`, `df` and `p` (two-sided) are None where the test is not defined.
    """

    measure: str
    agent_a: str
    agent_b: str
    difference: Figure
    t: float | None
    df: int | None
    p: float | None


class NeededQueries(Record):
    """About how many queries in all would decide, with 80% power; `ci_high` None where the two may be equal."""

    value: int | None
    ci_low: int
    ci_high: int | None


NOT_DISTINGUISHABLE: Final = "not distinguishable"
PRACTICALLY_EQUAL: Final = "practically equal"
PairVerdict = Literal["better", "worse", "practically equal", "not distinguishable"]
"""Of one agent against another, at 5%. Practically equal only where it is said how large a difference matters."""


class Comparison(Record):
    """Two agents on one measure, paired by query and clustered by source section.

    difference: the mean of a - b over the queries that both have (n; n_failed are those one of them lacks, which
    `lacking_a` and `lacking_b` name). effect_size: Cohen's d_z, the mean of the differences over their standard
    deviation. p_t: the clustered t-test, which decides; p_wilcoxon and p_sign_flip beside it, all two-sided and over
    sections; p_holm: p_t, corrected over all pairs of agents on the measure. verdict: of a against b, at 5%.
    detectable: the smallest difference that these queries could have shown with 80% power. None: undefined.
    """

    measure: str
    agent_a: str
    agent_b: str
    difference: Figure
    n_sections: int
    effect_size: float | None
    p_t: float | None
    p_wilcoxon: float | None
    p_sign_flip: float | None
    p_holm: float | None
    verdict: PairVerdict
    sentence: str
    detectable: float | None
    needed: NeededQueries | None = None
    lacking_a: tuple[str, ...] = ()
    lacking_b: tuple[str, ...] = ()
