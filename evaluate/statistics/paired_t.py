"""Paired t-tests of RAG against RAG-Fusion over the same retriever, matched by query (RAGElo paper, section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean

import numpy as np

from ragassay.records import Figure

from ..results import PairedTest
from .clustered import Values
from .resamples import DIGITS, rounded, six_digits


def paired_test(measure: str, agent_a: str, a: Values, agent_b: str, b: Values, confidence: float = 0.95) -> PairedTest:
    """Student's paired t-test (two-sided) over the queries on which both have a value.

    `difference` is the mean of a - b with its t interval; its n_failed are the queries that one of them lacks.
    Undefined (t, p and the interval None) below two queries, and where every difference is the same.
    """
    owed = sorted(a.keys() | b.keys())
    gaps = [one - other for q in owed if (one := a.get(q)) is not None and (other := b.get(q)) is not None]
    n, failed = len(gaps), len(owed) - len(gaps)
    difference = Figure(value=round(fmean(gaps), DIGITS) if gaps else None, n=n, n_failed=failed)
    t, p = None, None
    if n >= 2 and max(gaps) - min(gaps) > 1e-12:
        from scipy.special import stdtr, stdtrit

        mean, error = fmean(gaps), float(np.std(gaps, ddof=1)) / sqrt(n)
        reach = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
        difference = rounded(mean, n, failed, mean - reach, mean + reach)
        t, p = round(mean / error, DIGITS), six_digits(2 * float(stdtr(n - 1, -abs(mean / error))))
    return PairedTest(
        measure=measure, agent_a=agent_a, agent_b=agent_b, difference=difference, t=t, df=n - 1 if n else None, p=p
    )


def rag_pairs(agents: Sequence[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """(RAG agent, RAG-Fusion agent) of each retriever, from (agent, retriever, kind)."""
    named = {(retriever, kind): agent for agent, retriever, kind in agents}
    return [
        (agent, named[retriever, "rag-fusion"])
        for (retriever, kind), agent in named.items()
        if kind == "rag" and (retriever, "rag-fusion") in named
    ]


def rag_tests(
    agents: Sequence[tuple[str, str, str]], measures: Mapping[str, Mapping[str, Values]]
) -> tuple[PairedTest, ...]:
    """RAG against RAG-Fusion for each retriever on each measure that both have; measures: to agent to values."""
    return tuple(
        paired_test(name, rag, values[rag], fusion, values[fusion])
        for rag, fusion in rag_pairs(agents)
        for name, values in measures.items()
        if rag in values and fusion in values
    )
