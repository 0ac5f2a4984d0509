"""Whether experts' questions and those kept can be told apart by how they look: the classifier two-sample test.

Lopez-Paz and Oquab 2017, "Revisiting Classifier Two-Sample Tests", arXiv:1610.06545: a classifier is trained on a part
of both samples, and how well it tells the rest apart says how far they differ. Here it is a logistic regression on
Features, and the measure the area under its ROC curve: .5 where nothing tells them apart, 1 where everything does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ragassay.experiment.workspace import Workspace, read_passages
from ragassay.records import Figure, LookDifference, QuestionsCheck

from .features import TOLD, Array, Features, Passages, features_of

Z = 1.959963984540054


def auc(positive: Array, negative: Array) -> float:
    """How often a positive's score is above a negative's, ties counting half. Both must have scores."""
    return float((np.sign(positive[:, None] - negative[None, :]) + 1).mean() / 2)


def auc_interval(value: float, m: int, n: int, error: float = 0.0) -> tuple[float, float]:
    """The 95% interval of an area found on m and n (at least 1) scores.

    Newcombe's (2006, "Confidence intervals for an effect size measure based on the Mann-Whitney statistic, part 2",
    Statistics in Medicine 25, method 5): all areas within 1.96 of their own standard error, by Hanley and McNeil's
    formula, of the one found. Unlike DeLong's it has a width where all pairs are in order. Where the standard error is
    known to be larger, `error`, all of these errors are taken to be larger by as many times.
    """
    wider = Z * max(1.0, error / max(_error(min(max(value, 0.01), 0.99), m, n), 1e-9))
    low = _edge(lambda area: value - area - wider * _error(area, m, n), 0.0, value)
    high = _edge(lambda area: value - area + wider * _error(area, m, n), value, 1.0)
    return low, high


def _error(area: float, m: int, n: int) -> float:
    """The standard error of an area under exponential scores, with the mean of both sizes for either."""
    spread = (1 - area) / (2 - area) + area / (1 + area)
    return math.sqrt(area * (1 - area) * (1 + ((m + n) / 2 - 1) * spread) / (m * n))


def _edge(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that falls through zero between two ends does so."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2


STEPS, HALVINGS = 50, 20
ENOUGH = 1e-7
"""Steps below which a fit has come to its end."""


def fit_logistic(points: Array, positive: npt.NDArray[np.bool_], times: Array, ridge: float = 1.0) -> Array:
    """The intercept and a coefficient a column, for each fit: where |w|²·ridge/2 + the sum of log losses is least.

    points: (fits, rows, columns). positive: (rows,). times: (fits, rows), how often each row counts in each fit. Both
    classes weigh the same, whatever their sizes (n / (2 n_class); scikit-learn's class_weight="balanced"). The
    intercept is not penalised. Newton's method, with half steps where a whole one does not help. Gives (fits,
    columns + 1).
    """
    columns = np.concatenate([np.ones((*points.shape[:2], 1)), points], 2)
    y = positive.astype(float)
    n, n_positive = times.sum(1, keepdims=True), (times @ y)[:, None]
    weights = times * n / (2 * np.maximum(np.where(y > 0, n_positive, n - n_positive), 1))
    penalty = np.full(columns.shape[2], ridge)
    penalty[0] = 0.0
    found = np.zeros((len(columns), columns.shape[2]))
    now = _loss(found, columns, y, weights, penalty)
    for _ in range(STEPS):
        step = _newton(found, columns, y, weights, penalty)
        for _ in range(HALVINGS):
            then = _loss(found - step, columns, y, weights, penalty)
            worse = then > now + 1e-9
            if not worse.any():
                break
            step[worse] /= 2
        else:
            then = _loss(found - step, columns, y, weights, penalty)
        found, now = found - step, then
        if np.abs(step).max() < ENOUGH:
            break
    return found


def _newton(found: Array, columns: Array, y: Array, weights: Array, penalty: Array) -> Array:
    margin = np.clip((columns @ found[:, :, None])[:, :, 0], -500, 500)
    p = 1 / (1 + np.exp(-margin))
    slope = ((weights * (p - y))[:, None, :] @ columns)[:, 0] + penalty * found
    curve = (columns * (weights * p * (1 - p))[:, :, None]).transpose(0, 2, 1) @ columns + np.diag(penalty + 1e-12)
    return np.asarray(np.linalg.solve(curve, slope[:, :, None])[:, :, 0])


def _loss(found: Array, columns: Array, y: Array, weights: Array, penalty: Array) -> Array:
    margin = (columns @ found[:, :, None])[:, :, 0]
    return np.asarray((weights * (np.logaddexp(0, margin) - y * margin)).sum(1) + found**2 @ penalty / 2)


FEWEST = 10
"""Questions of either side below which the two are not held against each other."""
FOLDS, REPEATS = 10, 20
RESAMPLES, REPEATS_EACH = 80, 5
NOTABLE = 0.2
"""A standardised difference of means that is named (a small one by Cohen 1988)."""


def questions_check(experts: Sequence[Features], written: Sequence[Features], *, seed: int) -> QuestionsCheck:
    """What `questions-check.json` says of how both look."""
    check = QuestionsCheck(
        n_experts=len(experts),
        n_written=len(written),
        auc=told_apart(experts, written, seed=seed),
        features=differences(experts, written),
    )
    return check.model_copy(update={"said": _sentence(check)})


def check_written(workspace: Workspace, experts: Sequence[str], written: Sequence[str]) -> QuestionsCheck:
    """`questions_check` of texts, among the passages of [ingest]. Raises InputError where these cannot be read."""
    language, seed = workspace.experiment.corpus.language, workspace.experiment.questions.seed
    passages = Passages([passage.text for passage in read_passages(workspace.passages)], language)
    looks = ([features_of(text, passages, language) for text in texts] for texts in (experts, written))
    return questions_check(*looks, seed=seed)


def is_told_apart(check: QuestionsCheck) -> bool:
    """Whether the interval of the area lies above .5."""
    return check.auc is not None and check.auc.ci_low is not None and check.auc.ci_low > 0.5


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
    found = []
    for _ in range(RESAMPLES):
        times = np.zeros(len(points))
        for side in map(np.flatnonzero, (positive, ~positive)):
            np.add.at(times, rng.choice(side, len(side)), 1)
        found.append(_area(points, positive, times, rng, REPEATS_EACH))
    low, high = auc_interval(value, int(positive.sum()), int((~positive).sum()), float(np.std(found)))
    return Figure(value=value, n=len(points), ci_low=low, ci_high=high)


def _area(
    points: Array, positive: npt.NDArray[np.bool_], times: Array, rng: np.random.Generator, repeats: int
) -> float:
    """The area under the curve of mean scores over that many divisions; times: how often each question counts."""
    folds = np.empty((repeats, len(points)), int)
    for fold in folds:
        for side in (positive, ~positive):
            fold[side] = rng.permutation(side.sum()) % FOLDS
    scores = sum(_out_of_fold(points, positive, times, folds), np.zeros(len(points)))
    often, mean = times.astype(int), np.round(scores / repeats, 9)
    return auc(np.repeat(mean[positive], often[positive]), np.repeat(mean[~positive], often[~positive]))


def _out_of_fold(points: Array, positive: npt.NDArray[np.bool_], times: Array, folds: npt.NDArray[np.intp]) -> Array:
    """(divisions, questions): log-odds that each is a written one, by a model not fitted to it. times: how often it
    counts. folds: (divisions, questions), the fold of each."""
    train = ((folds[:, None] != np.arange(FOLDS)[:, None]) * times).reshape(-1, len(points))
    total = train.sum(1)[:, None]
    mean = train @ points / total
    spread = np.sqrt(np.maximum(train @ points**2 / total - mean**2, 0))
    scaled = (points - mean[:, None]) / np.where(spread > 1e-6, spread, 1.0)[:, None]
    fitted = fit_logistic(scaled, positive, train)
    fit = np.arange(len(folds))[:, None] * FOLDS + folds
    return np.asarray(fitted[fit, 0] + (scaled[fit, np.arange(len(points))] * fitted[fit, 1:]).sum(2))


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


COMPONENTS = 10


def told_apart_by_meaning(
    experts: Sequence[str],
    written: Sequence[str],
    look: Callable[[str], Features],
    embed: Callable[[Sequence[str]], npt.NDArray[np.floating]],
    *,
    seed: int,
) -> Figure | None:
    """The area under the curve, with its interval; None where either has fewer than 10 questions.

    It is `told_apart` on Features and the first principal components of the questions' embeddings: those of both
    samples together, whichever is which, so that they favour neither, and few, since there are a few dozen questions.

    look: the features of a text. embed: texts to a row each; not called where there are too few.
    """
    if min(len(experts), len(written)) < FEWEST:
        return None
    texts = [*experts, *written]
    looks = np.array([look(text) for text in texts], float)
    meanings = principal_components(embed(texts), COMPONENTS)
    return area_told_apart(np.hstack([looks, meanings]), len(experts), seed=seed)


def principal_components(rows: npt.NDArray[np.floating], most: int) -> npt.NDArray[np.float64]:
    """Each row's scores on the first `most` principal components of all rows, fewer where they have fewer."""
    centred = np.asarray(rows, np.float64) - np.mean(rows, axis=0, dtype=np.float64)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    kept = min(most, int((sizes > 1e-9).sum()))
    return np.asarray(left[:, :kept] * sizes[:kept])
