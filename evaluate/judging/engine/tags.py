"""What of NIST AI RMF and SR 11-7 an evaluator's figures are evidence for."""

from __future__ import annotations

from collections.abc import Sequence

from .evaluator import Evaluator

NIST = (
    "valid and reliable",
    "safe",
    "secure and resilient",
    "accountable and transparent",
    "explainable and interpretable",
    "privacy enhanced",
    "fair",
)
"""The characteristics of trustworthy AI: NIST AI 100-1 (AI RMF 1.0), section 3."""

SR_11_7 = ("conceptual soundness", "ongoing monitoring", "outcomes analysis")
"""The elements of validation: Federal Reserve SR 11-7, section V."""


def coverage_of(evaluators: Sequence[Evaluator]) -> dict[str, tuple[str, ...]]:
    """Each tag to the evaluators that bear on it, also those of none; empty where there is no evaluator."""
    if not evaluators:
        return {}
    return {tag: tuple(one.name for one in evaluators if tag in one.tags) for tag in (*NIST, *SR_11_7)}
