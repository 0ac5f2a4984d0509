"""Labels from token probabilities: the most likely label, how likely it is, and the mean label.

Asked for one token and read as a distribution, a small model judges far better than by the token it would write (as in
G-Eval, Liu et al. 2023, arXiv:2303.16634, equation 1: the score is the sum of p(label) times label).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from ragassay.models.requests import Reply

from .labels import number_of
from .reply import JudgeFailed


class Graded(NamedTuple):
    """A label as a number, with the reason, or with its probability and the mean label under the distribution."""

    label: float
    reason: str | None = None
    probability: float | None = None
    expected: float | None = None


def distribution(reply: Reply, tokens: Sequence[str]) -> dict[str, float]:
    """The probability of each of `tokens`, in their order, summing to 1.

    Raises JudgeFailed with the reply's error, and ValueError where it has no probabilities, lacks a token, or is no
    distribution (off by more than 0.001).
    """
    if reply.error is not None:
        raise JudgeFailed(reply.error)
    given = reply.probabilities
    if given is None or set(given) != set(tokens):
        raise ValueError(f"it does not give the probabilities of {', '.join(tokens)}")
    if not all(isfinite(p) and 0 <= p <= 1 for p in given.values()) or abs(sum(given.values()) - 1) > 1e-3:
        raise ValueError("its probabilities do not sum to 1")
    return {token: given[token] / sum(given.values()) for token in tokens}


def likeliest(probabilities: Mapping[str, float]) -> Graded:
    """The most likely of the labels that are the keys, lowest first; of equal ones (to 9 digits) the lowest."""
    labels = tuple(probabilities)
    best = max(labels, key=lambda label: (round(probabilities[label], 9), -labels.index(label)))
    expected = sum(number_of(label, labels) * p for label, p in probabilities.items())
    return Graded(number_of(best, labels), None, probabilities[best], expected)


def yes_or_no(p_yes: float, threshold: float, top: int) -> Graded:
    """`top` where "yes" reaches `threshold` (0 to 1, a setting that people's labels can calibrate), else 0.

    expected is top times p_yes, so that another threshold can be tried on the records.
    """
    reached = round(p_yes - threshold, 9) >= 0
    return Graded(top if reached else 0, None, p_yes if reached else 1 - p_yes, top * p_yes)
