"""Two wordings of a judge on the same rows: what the second adds to each figure, with an interval on the difference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.evaluate.agreement.coefficients import crosstab, kappa
from ragassay.evaluate.agreement.estimates import bootstrap_interval, draws
from ragassay.evaluate.inputs.clusters import Clusters, clusters_of_rows
from ragassay.evaluate.statistics.clustered import interval
from ragassay.records import Figure

DIFFERENCES = ("kappa", "accuracy", "recall", "false positive rate")

Verdicts = Sequence[bool | None]


def differences(
    people: Sequence[bool], one: Verdicts, other: Verdicts, clusters: Sequence[str], *, bootstrap: int, seed: int
) -> dict[str, Figure]:
    """`DIFFERENCES`, other - one, of verdicts on the same rows, all (rows,); None is a row that a wording failed.

    Rows that either failed take no part. Shares: the clustered interval of the mean of what each row changes. Kappa:
    the clusters are drawn once for both (paired bootstrap; Student's t). No ends where nothing in question differs.
    """
    both = [(p, a, b, c) for p, a, b, c in zip(people, one, other, clusters, strict=True) if None not in (a, b)]
    truth, first, second = (np.array([row[place] for row in both], dtype=bool) for place in range(3))
    together = clusters_of_rows([row[3] for row in both])
    step = second.astype(np.float64) - first
    n_failed = len(people) - len(both)
    return {
        "kappa": _kappa(truth, first, second, together, n_failed, bootstrap, seed),
        "accuracy": _mean(np.where(truth, step, -step), np.ones_like(truth), together, n_failed),
        "recall": _mean(step, truth, together, n_failed),
        "false positive rate": _mean(step, ~truth, together, n_failed),
    }


def better(difference: Figure, one: str, other: str) -> str:
    """The name of the better by a difference where more is better; neither where its interval holds 0 or is none."""
    if difference.ci_low is not None and difference.ci_low > 0:
        return other
    if difference.ci_high is not None and difference.ci_high < 0:
        return one
    return "not told apart"


def _mean(steps: Floats, among: Truths, clusters: Clusters, n_failed: int) -> Figure:
    n = int(among.sum())
    if not n:
        return Figure(value=None, n=0, n_failed=n_failed)
    if not steps[among].any():
        return Figure(value=0.0, n=n, n_failed=n_failed)
    counts = among.astype(np.float64)
    value, low, high = interval(steps * counts, counts, clusters, (-1.0, 1.0), difference=True)
    return Figure(value=value, n=n, n_failed=n_failed, ci_low=low, ci_high=high)


def _kappa(
    truth: Truths, first: Truths, second: Truths, clusters: Clusters, n_failed: int, bootstrap: int, seed: int
) -> Figure:
    weights = np.vstack([np.ones(len(clusters.names)), draws(len(clusters.names), bootstrap, seed)])
    found = []
    for judge in (first, second):
        table = crosstab(truth.astype(np.intp), judge.astype(np.intp), clusters.numbers, 2)
        found.append(kappa(table, table.counts(weights)))
    steps = found[1] - found[0]
    if not np.isfinite(steps[0]):
        return Figure(value=None, n=len(truth), n_failed=n_failed)
    low, high = bootstrap_interval(float(steps[0]), steps[1:], len(clusters.names), bounded=False)
    return Figure(value=float(steps[0]), n=len(truth), n_failed=n_failed, ci_low=low, ci_high=high)
