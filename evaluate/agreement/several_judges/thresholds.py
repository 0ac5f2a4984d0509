"""A judge at each threshold of the scale: kappa, balanced accuracy, accuracy and correlation of yes and no.

What counts as yes is a label from the threshold on, of people's and the judge's alike.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ragassay.arrays import Ints, Truths

from ...inputs.clusters import Clusters
from ...statistics.clustered import interval
from ..calibration.balanced_accuracy import balanced_accuracy, from_zero
from ..confusion import spelt
from ..crosstab import crosstab
from ..detection import detection_shares
from ..estimates import Found, Sample, Statistic
from ..kappa import kappa
from ..label_tables import Label
from ..rank_correlation import tau_b
from ..scale import Scale

MOST = 10
"""Thresholds of a scale that are told one by one; of a finer scale only the one that counts as relevant."""

CORRELATION = "tau_b"
"""Of two labels Kendall's tau-b is Pearson's correlation, phi."""


def threshold_figures(found: Found, scale: Scale, x: Ints, y: Ints, clusters: Clusters, draws: tuple[int, int]) -> None:
    """Put `kappa(rel=…)`, `balanced_accuracy(rel=…)`, `accuracy(rel=…)`, `tau_b(rel=…)` among what was found.

    x, y: (rows,) people's and the judge's labels, numbered on the scale. draws: replicates and seed of the bootstrap.
    """
    for label, positive in thresholds(scale, x):
        human, judge = positive[x], positive[y]
        table = crosstab(human.astype(np.intp), judge.astype(np.intp), clusters.numbers, 2)
        _put(found, f"(rel={spelt(label)})", Sample.of_pairs(table, *draws))
        if (name := f"accuracy(rel={spelt(label)})") not in found.figures:
            share = detection_shares(human, judge)[0]
            value, low, high = interval(share.values, share.counts, clusters, (0.0, 1.0))
            found.put(name, value, (low, high), share.empty)


def thresholds(scale: Scale, x: Ints) -> Iterator[tuple[Label, Truths]]:
    """Each label from which on a thing may count as relevant, rising, and which labels of the scale then do.

    Those declared or given by people (`x`) above the lowest of them, and the one that counts as relevant.
    """
    if not scale.ordered:
        if scale.relevant is not None:
            yield scale.relevant, np.array(scale.positive)
        return
    known = scale.declared or [scale.labels[place] for place in np.unique(x).tolist()]
    told = [label for label in scale.labels if label in set(known)][1:]
    told = told if len(told) <= MOST else []
    for place, label in enumerate(scale.labels):
        if label in told:
            yield label, np.arange(len(scale.labels)) >= place
        elif label == scale.relevant:
            yield label, np.array(scale.positive)


def _put(found: Found, suffix: str, sample: Sample) -> None:
    one_sided = "people's labels are all above or all below it"
    both = "all labels of people's and the judge's are above it, or all below"
    figures: tuple[tuple[str, Statistic, str], ...] = (
        ("kappa", kappa, both),
        ("balanced_accuracy", balanced_accuracy, one_sided),
        (CORRELATION, tau_b, "all labels of people, or of the judge, are on one side of it"),
    )
    for name, statistic, why in figures:
        sample.figure(found, name + suffix, statistic, why)
    name = "balanced_accuracy" + suffix
    found.figures[name] = from_zero(found.figures[name])
