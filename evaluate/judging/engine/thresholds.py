"""From which label on a criterion is good enough: its own threshold, the user's, or three quarters of the scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, isinf
from pathlib import Path

from ragassay.errors import InputError
from ragassay.text import did_you_mean, plain

from .evaluator import Criterion, Evaluator, LabelJudge

DEFAULT = 0.75
"""Of the way from the worst end of a scale to the best, as H2O Eval Studio has it."""

YES_NO = 0.5
"""The same of yes and no."""

Thresholds = Mapping[str, float]
"""`[evaluate.thresholds]`: a criterion's name, or its evaluator's for all of its criteria, to a label."""


def threshold_of(evaluator: Evaluator, criterion: Criterion, given: Thresholds | None = None) -> float | None:
    """The label from which it is good enough, by its direction, on its scale; None where nothing sets one.

    The user's (of the criterion, else of the evaluator), its own, or the default, which a scale without end lacks.
    """
    for name in (criterion.name, evaluator.name):
        if given is not None and name in given:
            return given[name]
    if criterion.threshold is not None:
        return criterion.threshold
    if isinf(criterion.highest):
        return None
    share = YES_NO if isinstance(evaluator, LabelJudge) and len(evaluator.scale) == 2 else DEFAULT
    if criterion.lower_is_better:
        share = 1 - share
    return criterion.lowest + share * (criterion.highest - criterion.lowest)


def good_enough(label: float, threshold: float, *, lower_is_better: bool) -> bool:
    """Whether a label reaches the threshold, which itself is good enough."""
    return label <= threshold if lower_is_better else label >= threshold


def thresholds_of(evaluators: Sequence[Evaluator], given: Thresholds | None = None) -> dict[str, float]:
    """Criterion to its threshold, without those that have none."""
    found = {
        criterion.name: threshold_of(evaluator, criterion, given)
        for evaluator in evaluators
        for criterion in evaluator.criteria
    }
    return {name: value for name, value in found.items() if value is not None}


def check_thresholds(evaluators: Sequence[Evaluator], given: Thresholds, file: Path) -> None:
    """Raises InputError for a name that no evaluator in use has, and for a label that is not on its scale."""
    scales = {one.name: list(one.criteria) for one in evaluators}
    scales |= {criterion.name: [criterion] for one in evaluators for criterion in one.criteria}
    for name, label in given.items():
        if name not in scales:
            remedy = f"{did_you_mean(name, scales)}there are {', '.join(map(plain, scales)) or 'none'}"
            problem = f"[evaluate.thresholds] names '{plain(name)}', which no judge in evaluate.judges gives"
            raise InputError(problem, file=file, remedy=remedy)
        for scale in scales[name]:
            if not (isfinite(label) and scale.lowest <= label <= scale.highest):
                ends = f"from {scale.lowest:g}" + ("" if isinf(scale.highest) else f" to {scale.highest:g}")
                problem = f"[evaluate.thresholds] {plain(name)} is {label:g}"
                raise InputError(problem, file=file, remedy=f"its labels are {ends}")
