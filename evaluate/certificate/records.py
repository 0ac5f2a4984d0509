"""`certificate.json`: which pairs of systems a few real queries and many written ones decide, in one record."""

from __future__ import annotations

from typing import Literal

from ragassay.records import Figure, Record


class CertifiedPair(Record):
    """Two systems. difference: of a less b for real queries, with its central 95% (n: real queries).

    p_wrong: how probable it is that their order is not as `difference` has it, 0 to 0.5. verdict: the better one, or
    open. more: of an open pair, about how many more real queries would decide it if the difference is as it is
    estimated now; None beyond 1,000, and where the pair is decided.
    """

    a: str
    b: str
    difference: Figure
    p_wrong: float
    verdict: Literal["a", "b", "open"]
    more: int | None = None


class CertifiedFamilies(Record):
    """All pairs of one system of `a` with one of `b`; of a family with itself, the pairs inside it.

    n_first, n_second: decided for the one of `a`, of `b`; None inside a family. more: the real queries that would
    decide half of the open pairs; None where there is none open, or where not even 1,000 would.
    """

    a: str
    b: str
    n_pairs: int
    n_decided: int
    n_first: int | None = None
    n_second: int | None = None
    more: int | None = None
    sentence: str


class Certificate(Record):
    """measure: 0 to 1. n_failed: queries on which some system has no value, and so take no part.

    left_out: systems that failed on more than half of the queries. level: of the decided pairs the share that may be
    the other way round, in expectation; expected_wrong: the share expected. worth: how many real queries the written
    ones count for beside the real ones, median and central 90%. said: what it comes to, the weightiest first.
    """

    measure: str
    n_real: int
    n_written: int
    n_failed: int
    systems: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    level: float
    expected_wrong: float | None
    worth: Figure
    n_pairs: int
    n_decided: int
    pairs: tuple[CertifiedPair, ...]
    families: tuple[CertifiedFamilies, ...]
    said: tuple[str, ...]
