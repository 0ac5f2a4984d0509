"""Whether experts' questions and those kept can be told apart by how they look: the classifier two-sample test.

Lopez-Paz and Oquab 2017, "Revisiting Classifier Two-Sample Tests", arXiv:1610.06545: a classifier is trained on a part
of both samples, and how well it tells the rest apart says how far they differ. Here it is a logistic regression on
Features, and the measure the area under its ROC curve: .5 where nothing tells them apart, 1 where everything does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ragassay.records import Figure, LookDifference, QuestionsCheck

from .auc import auc, auc_interval
from .energy_distance import Array
from .features import TOLD, Features
from .logistic import fit_logistic

FEWEST = 10
"""Questions of either side below which the two are not held against each other."""
FOLDS, REPEATS = 10, 20
RESAMPLES, REPEATS_EACH = 80, 5
NOTABLE = 0.2
"""A standardised difference of means that is named (a small one by Cohen 1988)."""


def questions_check(
    experts: Sequence[Features], written: Sequence[Features], *, distance: float | None, drawn: float | None, seed: int
) -> QuestionsCheck:
    """What `questions-check.json` says. distance, drawn: the energy distances of the choice."""
    check = QuestionsCheck(
        n_experts=len(experts),
        n_written=len(written),
        auc=told_apart(experts, written, seed=seed),
        features=differences(experts, written),
        energy_distance=distance,
        energy_distance_drawn=drawn,
    )
    return check.model_copy(update={"said": _sentence(check)})


def told_apart(experts: Sequence[Features], written: Sequence[Features], *, seed: int) -> Figure | None:
    """The area under the curve of scores out of fold; None where either has fewer than 10 questions.

    Tenfold, with experts and written in each fold in proportion; a question's score is its mean log-odds over 20 drawn
    divisions. Figures are standardised within each training part. The interval is `auc_interval` with the standard
    error that a bootstrap of all this over both sides' questions finds (80 resamples, a question's copies in one fold):
    the scores of a fold share their training, which makes them vary more than scores of a classifier given beforehand.
    """
    if min(len(experts), len(written)) < FEWEST:
        return None
    return area_told_apart(np.array([*experts, *written], float), len(experts), seed=seed)


def area_told_apart(points: Array, n_experts: int, *, seed: int) -> Figure:
    """`told_apart` of a row of figures a question, those of the experts first; at least 10 of each."""
    positive = np.arange(len(points)) >= n_experts
    rng, once = np.random.default_rng(seed), np.ones(len(points))
    value = _area(points, positive, once, rng, REPEATS)
    found = [_resampled(points, positive, rng) for _ in range(RESAMPLES)]
    low, high = auc_interval(value, int(positive.sum()), int((~positive).sum()), float(np.std(found)))
    return Figure(value=value, n=len(points), ci_low=low, ci_high=high)


def _resampled(points: Array, positive: npt.NDArray[np.bool_], rng: np.random.Generator) -> float:
    """The area for a resample of both sides."""
    times = np.zeros(len(points))
    for side in map(np.flatnonzero, (positive, ~positive)):
        np.add.at(times, rng.choice(side, len(side)), 1)
    return _area(points, positive, times, rng, REPEATS_EACH)


def _area(
    points: Array, positive: npt.NDArray[np.bool_], times: Array, rng: np.random.Generator, repeats: int
) -> float:
    """The area under the curve of mean scores over that many divisions; times: how often each question counts."""
    scores = sum((_out_of_fold(points, positive, times, rng) for _ in range(repeats)), np.zeros(len(points)))
    often, mean = times.astype(int), np.round(scores / repeats, 9)
    return auc(np.repeat(mean[positive], often[positive]), np.repeat(mean[~positive], often[~positive]))


def differences(experts: Sequence[Features], written: Sequence[Features]) -> tuple[LookDifference, ...]:
    """Each feature's means, and their difference in standard deviations (the mean of both variances), largest first."""
    if not experts or not written:
        return ()
    one, other = np.array(experts, float), np.array(written, float)
    spread = np.sqrt((one.var(0) + other.var(0)) / 2)
    found = [
        LookDifference(
            feature=name, experts=a, written=b, difference=(b - a) / sd if sd > 0 else None if a != b else 0.0
        )
        for name, a, b, sd in zip(
            Features._fields, one.mean(0).tolist(), other.mean(0).tolist(), spread.tolist(), strict=True
        )
    ]
    return tuple(sorted(found, key=lambda row: (row.difference is not None, -abs(row.difference or 0.0))))


def _sentence(check: QuestionsCheck) -> str | None:
    """None where there are no questions on one side."""
    if not check.n_experts or not check.n_written:
        return None
    if check.auc is None or check.auc.value is None:
        n = f"{check.n_experts} and {check.n_written}"
        return f"whether experts' and written questions can be told apart is not said of {n}: it takes {FEWEST} of each"
    area = f"{check.auc.value:.2f} [{check.auc.ci_low:.2f}, {check.auc.ci_high:.2f}]"
    told = [row for row in check.features if row.difference is None or abs(row.difference) >= NOTABLE][:3]
    most = ", ".join(f"{TOLD[row.feature]} ({row.experts:.2g} and {row.written:.2g})" for row in told)
    return (
        f"experts' and written questions are told apart with an AUC of {area} on {check.n_experts} and "
        f"{check.n_written} (0.5 is ideal){f'; most by: {most}' if most else ''}"
    )


def _out_of_fold(points: Array, positive: npt.NDArray[np.bool_], times: Array, rng: np.random.Generator) -> Array:
    """Log-odds that each question is a written one, by a model not fitted to it. times: how often it counts."""
    fold = np.empty(len(points), int)
    for side in (positive, ~positive):
        fold[side] = rng.permutation(side.sum()) % FOLDS
    train = (fold != np.arange(FOLDS)[:, None]) * times
    total = train.sum(1)[:, None]
    mean = train @ points / total
    spread = np.sqrt(np.maximum(train @ points**2 / total - mean**2, 0))
    scaled = (points - mean[:, None]) / np.where(spread > 1e-6, spread, 1.0)[:, None]
    fitted = fit_logistic(scaled, positive, train)
    rows = np.arange(len(points))
    return np.asarray(fitted[fold, 0] + (scaled[fold, rows] * fitted[fold, 1:]).sum(1))
