"""Labels from token probabilities: the most likely label, how likely it is, and the mean label.

Asked for one token and read as a distribution, a small model judges far better than by the token it would write (as in
G-Eval, Liu et al. 2023, arXiv:2303.16634, equation 1: the score is the sum of p(label) times label).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from ragassay.models.requests import Reply


class Graded(NamedTuple):
    """A label with its probability (0 to 1) and the mean label under the distribution it came from."""

    label: int
    probability: float
    expected: float


def distribution(reply: Reply, tokens: Sequence[str]) -> dict[str, float]:
    """The probability of each of `tokens`, summing to 1.

    Raises ValueError where the reply has none, lacks a token, or is no distribution (off by more than 0.001).
    """
    given = reply.probabilities
    if given is None or set(given) != set(tokens):
        raise ValueError(f"it does not give the probabilities of {', '.join(tokens)}")
    if not all(isfinite(p) and 0 <= p <= 1 for p in given.values()) or abs(sum(given.values()) - 1) > 1e-3:
        raise ValueError("its probabilities do not sum to 1")
    return {token: given[token] / sum(given.values()) for token in tokens}


def most_likely(probabilities: Mapping[str, float]) -> Graded:
    """The most likely of the labels that are the keys (whole numbers); of equal ones (to 9 digits) the lowest."""
    label = max(sorted(probabilities, key=int), key=lambda token: round(probabilities[token], 9))
    expected = sum(int(token) * p for token, p in probabilities.items())
    return Graded(int(label), probabilities[label], expected)


def yes_or_no(p_yes: float, threshold: float, top: int) -> Graded:
    """`top` where "yes" reaches `threshold` (0 to 1, a setting that people's labels can calibrate), else 0.

    expected is top times p_yes, so that another threshold can be tried on the records.
    """
    if round(p_yes - threshold, 9) >= 0:
        return Graded(top, p_yes, top * p_yes)
    return Graded(0, 1 - p_yes, top * p_yes)
