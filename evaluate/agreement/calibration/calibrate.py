"""What `ragassay calibrate` says: thresholds chosen on one half of people's labels, told by the other half."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from ragassay.arrays import Floats, Truths
from ragassay.records import Figure, Record

from ...inputs.clusters import Clusters, clusters_of_rows
from ...statistics.clustered import interval
from ...statistics.resamples import rounded
from ..crosstab import crosstab
from ..detection import detection_shares
from ..estimates import Found, Sample
from ..interval import perfect_interval
from .balanced_accuracy import from_zero
from .paired_difference import paired_difference
from .scored import Scored
from .threshold import AIMS, Aim, best_threshold, choosing_half, reaches

FEWEST_LABELS = 10
"""Of people's yes, and of their no, on each half, with a number of the judge's beside each."""
FEWEST_CLUSTERS = 5
"""Queries (or sections) on each half: with fewer, no spread between them can be told."""
SHARES = ("precision", "recall")
NONE_BETTER = "no threshold does better on the half to choose on than the judge does at present"
_ONE_KIND = "people's labels here are all yes or all no, or so are the judge's"


class Half(Record):
    """Of people's labels: `n` of them have the judge's number, `n_yes` of these are a yes; of n_failed it failed."""

    n: int
    n_failed: int
    n_yes: int
    n_clusters: int


class Calibration(Record):
    """One judge's threshold on one criterion.

    on: what it is put on. relevant: which of people's labels are a yes. present: the threshold so far, None where
    labels are read that no threshold made. threshold: the one that did best on `chosen_on`, None where none was chosen
    (`note` says why). before, after: the judge as it is and by that threshold, both on `reported_on`; difference: after
    less before, paired. aim: what was made as large as it gets. gain: whether its difference is above 0 beyond noise
    (the interval), None where none was chosen. setting: the line for `[judge]`, None where no setting holds it.
    undefined: why a figure has no value.
    """

    file: str
    criterion: str
    judge: str
    on: str
    relevant: str
    present: float | None
    threshold: float | None = None
    aim: Aim
    chosen_on: Half
    reported_on: Half
    before: dict[str, Figure] = Field(default_factory=dict)
    after: dict[str, Figure] = Field(default_factory=dict)
    difference: dict[str, Figure] = Field(default_factory=dict)
    undefined: dict[str, str] = Field(default_factory=dict)
    gain: bool | None = None
    setting: str | None = None
    note: str | None = None
    bootstrap: int
    seed: int
    confidence: float = 0.95


def advice(found: Calibration) -> str:
    """What to do, in a sentence: take the threshold, with the line that sets it, or keep what there is."""
    kept = "as it is" if found.present is None else f"{found.present:g}"
    if found.threshold is None:
        return f"{found.note}: keep {kept}"
    gap = found.difference[found.aim]
    ends = "no interval" if gap.ci_low is None else f"{gap.ci_low:.3f} to {gap.ci_high:.3f}"
    worth = f"{found.aim.replace('_', ' ')} by {gap.value or 0:+.3f} ({ends}, n {gap.n}, failed {gap.n_failed})"
    if not found.gain:
        return f"from {found.threshold:.10g} on changes {worth}, which is not a gain beyond noise: keep {kept}"
    where = f"write `[judge] {found.setting}`" if found.setting else "read the records by it, no setting holds it"
    return f"from {found.threshold:.10g} on raises {worth}, beyond noise: {where}"


@dataclass(frozen=True)
class _Side:
    """The rows of one half that have the judge's number, as arrays (rows,); of n_failed more it failed."""

    people: Truths
    now: Truths
    scores: Floats
    clusters: Clusters
    n_failed: int

    def half(self) -> Half:
        n, n_yes = len(self.people), int(self.people.sum())
        return Half(n=n, n_failed=self.n_failed, n_yes=n_yes, n_clusters=len(self.clusters.names))

    def sample(self, yes: Truths, bootstrap: int, seed: int) -> Sample:
        """People's and the judge's yes with the draws of their clusters, which are the same for any `yes`."""
        table = crosstab(self.people.astype(np.intp), yes.astype(np.intp), self.clusters.numbers, 2)
        return Sample.of_pairs(table, bootstrap, seed)


def calibrate(scored: Scored, *, aim: Aim = "kappa", bootstrap: int = 1000, seed: int = 7) -> Calibration:
    """A threshold from one half of the rows, and what it is worth on the other half.

    Where a half has fewer than `FEWEST_LABELS` of people's yes or no, or `FEWEST_CLUSTERS`, nothing is chosen; what the
    judge is worth as it is stands all the same.
    """
    on = choosing_half(scored.clusters, seed)
    chosen_on, reported_on = _side(scored, on), _side(scored, ~on)
    note = _too_few(chosen_on.half(), reported_on.half())
    threshold = None
    if note is None:
        threshold = best_threshold(chosen_on.people, chosen_on.scores, chosen_on.now, scored.whole, aim)
        note = NONE_BETTER if threshold is None else None
    before = _found(reported_on, reported_on.now, bootstrap, seed)
    found = Calibration(
        file=scored.file,
        criterion=scored.criterion,
        judge=scored.judge,
        on=scored.on,
        relevant=scored.relevant,
        present=scored.present,
        aim=aim,
        chosen_on=chosen_on.half(),
        reported_on=reported_on.half(),
        before=before.figures,
        undefined={f"before {name}": why for name, why in before.undefined.items()},
        note=note,
        bootstrap=bootstrap,
        seed=seed,
    )
    return found if threshold is None else _reported(found, reported_on, threshold, scored.setting)


def _side(scored: Scored, which: Truths) -> _Side:
    rows = np.flatnonzero(which).tolist()
    known = [
        (row, now, score)
        for row in rows
        if (now := scored.now[row]) is not None and (score := scored.score[row]) is not None
    ]
    return _Side(
        np.array([scored.people[row] for row, _, _ in known], dtype=bool),
        np.array([now for _, now, _ in known], dtype=bool),
        np.array([score for _, _, score in known], dtype=np.float64),
        clusters_of_rows([scored.clusters[row] for row, _, _ in known]),
        len(rows) - len(known),
    )


def _too_few(*halves: Half) -> str | None:
    for half, use in zip(halves, ("choose", "report"), strict=True):
        n_no = half.n - half.n_yes
        if min(half.n_yes, n_no) < FEWEST_LABELS or half.n_clusters < FEWEST_CLUSTERS:
            there = f"{half.n_yes} yes and {n_no} no of people's on {half.n_clusters} queries or sections"
            needed = f"{FEWEST_LABELS} of each on {FEWEST_CLUSTERS}"
            return f"too few labels to choose a threshold: the half to {use} on has {there}, {needed} are needed"
    return None


def _reported(found: Calibration, side: _Side, threshold: float, setting: str | None) -> Calibration:
    """The same with the threshold, and what it is worth on the half that it was not chosen on."""
    yes = reaches(side.scores, threshold)
    after = _found(side, yes, found.bootstrap, found.seed)
    difference = {name: _difference(side, yes, name, found, after) for name in AIMS}
    low = difference[found.aim].ci_low
    return found.model_copy(
        update={
            "threshold": threshold,
            "after": after.figures,
            "difference": difference,
            "undefined": found.undefined | {f"after {name}": why for name, why in after.undefined.items()},
            "gain": low is not None and low > 0,
            "setting": None if setting is None else f"{setting} = {threshold:.10g}",
        }
    )


def _found(side: _Side, yes: Truths, bootstrap: int, seed: int) -> Found:
    """Kappa and balanced accuracy of yes and no, precision and recall of yes."""
    found = Found(len(side.people), side.n_failed)
    shares = [share for share in detection_shares(side.people, yes) if share.name in SHARES]
    if not found.n:
        for name in (*AIMS, *SHARES):
            found.leave_out(name, "nothing has both a label of people's and the judge's")
        return found
    sample = side.sample(yes, bootstrap, seed)
    for name, statistic in AIMS.items():
        sample.figure(found, name, statistic, _ONE_KIND)
    found.figures["balanced_accuracy"] = from_zero(found.figures["balanced_accuracy"])
    for share in shares:
        if share.counts.any():
            value, low, high = interval(share.values, share.counts, side.clusters, (0.0, 1.0))
            found.put(share.name, value, (low, high), share.empty)
        else:
            found.leave_out(share.name, share.empty)
    return found


def _difference(side: _Side, yes: Truths, name: Aim, found: Calibration, after: Found) -> Figure:
    """After less before on the same rows.

    Where every row is read as before, rows that are read otherwise have at most the share of `perfect_interval`.
    """
    old, new = (side.sample(said, found.bootstrap, found.seed) for said in (side.now, yes))
    if (yes == side.now).all():
        low, _ = perfect_interval(side.clusters.sizes, old.chance())
        ends = (None, None) if low is None else (low - 1, 1 - low)
        return rounded(0.0, len(yes), side.n_failed, *ends)
    replicates = (new.every(AIMS[name])[1], old.every(AIMS[name])[1])
    return paired_difference(after.figures[name], found.before[name], replicates)
