"""What `ragassay agree calibrate` says: thresholds chosen on one half of people's labels, told by the other half; and
what is read for it: people's yes or no beside a judge's number, of an experiment, of files, of a table.

A threshold looks better on the labels it was chosen from than it is. So labels are divided in two halves, by whole
clusters and without a look at what they say: on one it is chosen, on the other it is told what it is worth.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from ragassay.arrays import Floats, Truths
from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Assessment, Figure, Query, Record
from ragassay.text import plain

from ..inputs.clusters import Clusters, clusters_of_rows, read_clusters, source_clusters
from ..inputs.labels import GAME, HIGHEST, Key, Label, by_item, read_labels
from ..judging.engine.evaluator import Criterion
from ..statistics.clustered import NO_SPREAD
from ..statistics.resamples import rounded
from .agree import whole
from .coefficients import balanced_accuracy, crosstab, detection_shares, kappa
from .estimates import Ends, Found, Sample, Statistic, perfect_interval
from .label_tables import Ratings, make_scale, ratings, spelt
from .label_tables import read_labels as read_table
from .meta_eval import threshold_of

Aim = Literal["kappa", "balanced_accuracy"]
AIMS: Mapping[Aim, Statistic] = {"kappa": kappa, "balanced_accuracy": balanced_accuracy}
"""What a threshold is chosen for. Kappa heeds how common a yes is, balanced accuracy does not."""
_DIGITS = 6
"""Scores that are alike to so many are not told apart."""
FEWEST_LABELS = 10
"""Of people's yes, and of their no, on each half, with a number of the judge's beside each."""
FEWEST_CLUSTERS = 5
"""Queries (or sections) on each half: with fewer, no spread between them can be told."""
SHARES = ("precision", "recall")
NONE_BETTER = "no threshold does better on the half to choose on than the judge does at present"


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

    def sample(self, yes: Truths, draws: tuple[int, int]) -> Sample:
        """People's and the judge's yes with the draws of their clusters, which are the same for any `yes`."""
        table = crosstab(self.people.astype(np.intp), yes.astype(np.intp), self.clusters.numbers, 2)
        return Sample.of_pairs(table, *draws)


def calibrate(scored: Scored, *, aim: Aim = "kappa", bootstrap: int = 1000, seed: int = 7) -> Calibration:
    """A threshold from one half of the rows, and what it is worth on the other half.

    Where a half has fewer than `FEWEST_LABELS` of people's yes or no, or `FEWEST_CLUSTERS`, nothing is chosen; what the
    judge is worth as it is stands all the same.
    """
    on = choosing_half(scored.clusters, seed)
    chosen_on, reported_on = _side(scored, on), _side(scored, ~on)
    note = _too_few(chosen_on.half(), reported_on.half())
    threshold, gain, draws = None, None, (bootstrap, seed)
    if note is None:
        threshold = best_threshold(chosen_on.people, chosen_on.scores, chosen_on.now, scored.whole, aim)
        note = NONE_BETTER if threshold is None else None
    before, after = _found(reported_on, reported_on.now, draws), Found(0, 0)
    difference: dict[str, Figure] = {}
    if threshold is not None:
        yes = reaches(reported_on.scores, threshold)
        after = _found(reported_on, yes, draws)
        difference = {name: _difference(reported_on, yes, name, (before, after), draws) for name in AIMS}
        gain = (difference[aim].ci_low or 0.0) > 0
    sides = {"before": before, "after": after}
    of_judge = ("file", "criterion", "judge", "on", "relevant", "present")
    return Calibration(
        **{name: getattr(scored, name) for name in of_judge},
        threshold=threshold,
        aim=aim,
        chosen_on=chosen_on.half(),
        reported_on=reported_on.half(),
        before=before.figures,
        after=after.figures,
        difference=difference,
        undefined={f"{side} {name}": why for side, of in sides.items() for name, why in of.undefined.items()},
        gain=gain,
        setting=None if threshold is None or not scored.setting else f"{scored.setting} = {threshold:.10g}",
        note=note,
        bootstrap=bootstrap,
        seed=seed,
    )


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


def _found(side: _Side, yes: Truths, draws: tuple[int, int]) -> Found:
    """Kappa and balanced accuracy of yes and no, precision and recall of yes."""
    found = Found(len(side.people), side.n_failed)
    if not found.n:
        for name in (*AIMS, *SHARES):
            found.leave_out(name, "nothing has both a label of people's and the judge's")
        return found
    sample = side.sample(yes, draws)
    why = "people's labels here are all yes or all no, or so are the judge's"
    for name, statistic in AIMS.items():
        sample.figure(found, name, statistic, why, lowest=0.0 if name == "balanced_accuracy" else -np.inf)
    for share in detection_shares(side.people, yes):
        if share.name in SHARES:
            found.share(share, side.clusters)
    return found


def _difference(side: _Side, yes: Truths, name: Aim, found: tuple[Found, Found], draws: tuple[int, int]) -> Figure:
    """After less before, which are `found`, on the same rows.

    Where every row is read as before, rows that are read otherwise have at most the share of `perfect_interval`.
    """
    old, new = (side.sample(said, draws) for said in (side.now, yes))
    if (yes == side.now).all():
        low, _ = perfect_interval(side.clusters.sizes, old.chance())
        ends = (None, None) if low is None else (low - 1, 1 - low)
        return rounded(0.0, len(yes), side.n_failed, *ends)
    replicates = (new.every(AIMS[name])[1], old.every(AIMS[name])[1])
    return paired_difference(found[1].figures[name], found[0].figures[name], replicates)


def paired_difference(after: Figure, before: Figure, replicates: tuple[Floats, Floats]) -> Figure:
    """after - before; replicates: of both, under the same draws of clusters. No interval where one of them has none.

    Agreement near 1, and that of rare labels, is skewed and its bootstrap too narrow, which is why each figure has an
    interval of its own making (`estimates`); the bootstrap of their difference would lose that again. So the two are
    joined by the method of variance estimates recovery with the correlation of the two (Zou, Psychological Methods
    12(4), 2007: dependent correlations), which the bootstrap does tell. With values a and b, ends (la, ua) and
    (lb, ub), and their correlation r (0 where either does not vary, which is the wider interval):
    low = a - b - sqrt((a - la)^2 - 2 r (a - la)(ub - b) + (ub - b)^2), high likewise with the other ends.
    """
    if after.value is None or before.value is None:
        return Figure(value=None, n=after.n, n_failed=after.n_failed)
    value = after.value - before.value
    ends: Ends = (None, None)
    a, b = after, before
    if a.ci_low is not None and a.ci_high is not None and b.ci_low is not None and b.ci_high is not None:
        one, other = (drawn[np.isfinite(replicates).all(axis=0)] for drawn in replicates)
        varies = len(one) > 1 and min(one.std(), other.std()) >= NO_SPREAD
        r = float(np.corrcoef(one, other)[0, 1]) if varies else 0.0

        def reach(of_a: float, of_b: float) -> float:
            return sqrt(max(0.0, of_a**2 - 2 * r * of_a * of_b + of_b**2))

        low = reach(after.value - a.ci_low, b.ci_high - before.value)
        high = reach(a.ci_high - after.value, before.value - b.ci_low)
        ends = value - low, value + high
    return rounded(value, after.n, after.n_failed, *ends)


def choosing_half(clusters: Sequence[str], seed: int) -> Truths:
    """(rows,): which rows the threshold is chosen on; whole clusters, in random order, each to the smaller half."""
    sizes = Counter(clusters)
    order = sorted(sizes)
    random.Random(f"{seed}:calibrate").shuffle(order)
    chosen: set[str] = set()
    balance = 0
    for name in order:
        if balance <= 0:
            chosen.add(name)
        balance += sizes[name] if name in chosen else -sizes[name]
    return np.array([name in chosen for name in clusters], dtype=bool)


def reaches(scores: Floats, threshold: float) -> Truths:
    """Which scores are a yes: those of at least `threshold`, to nine digits, as the judges themselves read it."""
    return np.asarray(np.round(scores - threshold, 9) >= 0)


def cuts(scores: Floats, whole: bool) -> list[float]:
    """The thresholds that tell some of `scores` from others, rising.

    whole: scores are labels, and a threshold is the lowest label that counts. Else one between each two neighbours,
    with as few digits as lie between them.
    """
    values: list[float] = np.unique(np.round(scores, _DIGITS)).tolist()
    if whole:
        return values[1:]
    return [
        next(value for n in range(1, _DIGITS + 2) if low < (value := round((low + high) / 2, n)) < high)
        for low, high in pairwise(values)
    ]


def best_threshold(people: Truths, scores: Floats, now: Truths, whole: bool, aim: Aim) -> float | None:
    """The cut on which judge and people agree most, all (rows,); None where none does better than `now`.

    Of several that do equally well the middle one. people, now: yes or no, by people and by the judge as it is.
    """
    known = cuts(scores, whole)
    rounded, yes = np.round(scores, _DIGITS), []
    for side in (~people, people):
        below = np.searchsorted(np.sort(rounded[side]), np.array(known), side="left")
        yes.append(np.append((now & side).sum(), side.sum() - below).astype(np.float64))
    false_yes, true_yes = yes
    n_yes = float(people.sum())
    # How often people's and the judge's are no and no, no and yes, yes and no, yes and yes; undefined is the least.
    cells = np.stack([len(people) - n_yes - false_yes, false_yes, n_yes - true_yes, true_yes], axis=1)
    found = AIMS[aim](crosstab([0, 0, 1, 1], [0, 1, 0, 1], np.zeros(4, dtype=np.intp), 2), cells)
    worth = np.where(np.isnan(found), -np.inf, found).round(9)
    if not known or worth[1:].max() <= worth[0]:
        return None
    best = [cut for cut, value in zip(known, worth[1:].tolist(), strict=True) if value == worth[1:].max()]
    return best[(len(best) - 1) // 2]


_PROBABILITY, _EXPECTED, _LABEL = "probability of yes", "expected label", "label"


@dataclass(frozen=True)
class Scored:
    """What people and one judge said of the same things, a row a thing.

    file, criterion: of the judge's. on: in words, what a threshold is put on. relevant: people's lowest label that is a
    yes. people: yes or no. now: the judge's yes or no as it is read at present; score: the number under a threshold;
    both None where the judge failed. whole: whether scores are labels of which one is the lowest to count. present: the
    threshold at present, None where labels are read that no threshold made. setting: the key of `[judge]` for it.
    """

    file: str
    criterion: str
    judge: str
    on: str
    relevant: str
    people: tuple[bool, ...]
    now: tuple[bool | None, ...]
    score: tuple[float | None, ...]
    clusters: tuple[str, ...]
    whole: bool
    present: float | None
    setting: str | None = None


@dataclass(frozen=True)
class Present:
    """What counts as a yes at present: of passages from `relevant_from`, of Yes and No from `yes_threshold`.

    given: instead, the judge's lowest label that counts, whatever is judged.
    """

    relevant_from: float = HIGHEST
    yes_threshold: float = 0.5
    given: float | None = None


def of_experiment(workspace: Workspace, relevant: float | None = None, threshold: float | None = None) -> list[Scored]:
    """The corpus folder's `labels.csv` and all that the experiment's judges gave; clusters are source sections.

    relevant, threshold: as in `scored_records`, `Present.given`. Raises InputError where there are no labels, or where
    they are of nothing that was judged.
    """
    if not workspace.own_labels.exists():
        remedy = "draw a sheet with `ragassay label-sheet`, fill it, and take it in with --take"
        raise InputError("there are no labels of people's", file=workspace.own_labels, remedy=remedy)
    files = [path for path in (workspace.relevance, workspace.pointwise, workspace.judgments) if path.exists()]
    judge = workspace.experiment.judge
    queries = read_records(workspace.queries, Query)
    present = Present(judge.relevant_from, judge.yes_threshold, threshold)
    return _of_records(workspace.own_labels, files, source_clusters(queries), relevant, present)


def of_files(
    labels: Path,
    judgments: Sequence[Path],
    *,
    sections: Path | None = None,
    relevant: float | None = None,
    threshold: float | None = None,
) -> list[Scored]:
    """The same of files; clusters are queries, or the sections that `sections` names (`read_clusters`)."""
    asked = sorted({label.query for label in read_labels(labels)}) if sections else []
    clusters = read_clusters(sections, asked, labels)
    return _of_records(labels, judgments, clusters, relevant, Present(given=threshold))


def _of_records(
    labels: Path, judgments: Sequence[Path], clusters: Clusters, relevant: float | None, present: Present
) -> list[Scored]:
    found = scored_records(read_labels(labels), judgments, clusters, relevant=relevant, present=present)
    if not found:
        named = ", ".join(plain(str(path)) for path in judgments) or "this experiment"
        remedy = "give the judge's relevance.jsonl, pointwise.jsonl or judgments.jsonl of the same test set"
        raise InputError(f"labels nothing that is judged in {named}", file=labels, remedy=remedy)
    return found


def scored_records(
    labels: Iterable[Label],
    judgments: Sequence[Path],
    clusters: Clusters,
    *,
    relevant: float | None = None,
    present: Present,
) -> list[Scored]:
    """One for each file, criterion and judge, and for what a threshold can be put on there.

    relevant: people's lowest label that is a yes; by default 2, or 1 where they gave nothing above it. Games take no
    part. Raises InputError for a thing that one file has twice of one judge.
    """
    said = {key: whole(label) for key, label in by_item(labels).items() if key[2] != GAME}
    found = []
    for path in judgments:
        by_judge: dict[tuple[str, str], dict[Key, Assessment]] = {}
        for row in read_records(path, Assessment):
            key = (row.query_id, row.subject, row.criterion)
            if key in said and by_judge.setdefault((row.criterion, row.judge), {}).setdefault(key, row) is not row:
                what = f"'{plain(row.subject)}' for query '{plain(row.query_id)}', {plain(row.criterion)}"
                raise InputError(f"judges {what}, twice by {plain(row.judge)}", file=path, remedy="keep one of them")
        for _, mine in sorted(by_judge.items()):
            keys = sorted(mine)
            people = [said[key] for key in keys]
            least = relevant if relevant is not None else min(HIGHEST, max(1.0, *people))
            found += _scored(path, [mine[key] for key in keys], people, least, clusters, present)
    return found


def _scored(
    path: Path, rows: Sequence[Assessment], people: Sequence[float], least: float, clusters: Clusters, present: Present
) -> list[Scored]:
    """By the probability of yes where the judge was asked for Yes or No; else by its labels, and their means if any."""
    passages = path.name == "relevance.jsonl"
    top = _top_of_yes(rows)
    start = present.given
    if start is None:
        start = present.relevant_from if passages else _lowest_yes(rows, least)

    def made(on: str, score: Sequence[float | None], threshold: float | None, setting: str | None) -> Scored:
        return Scored(
            file=path.name,
            criterion=rows[0].criterion,
            judge=rows[0].judge,
            on=on,
            relevant=f"from {least:g}",
            people=tuple(label >= least for label in people),
            now=tuple(None if row.label is None else row.label >= start for row in rows),
            score=tuple(score),
            clusters=clusters.names_of([row.query_id for row in rows]),
            whole=on == _LABEL and all(row.label is None or row.label % 1 == 0 for row in rows),
            present=threshold,
            setting=setting if passages else None,
        )

    expected = [None if row.label is None else row.expected for row in rows]
    if top is not None:
        share = [None if value is None else value / top for value in expected]
        return [made(_PROBABILITY, share, present.yes_threshold if passages else 0.5, "yes_threshold")]
    found = [made(_LABEL, [row.label for row in rows], start, "relevant_from")]
    if any(value is not None for value in expected) and _all_expected(rows):
        found.append(made(_EXPECTED, expected, None, None))
    return found


def _all_expected(rows: Sequence[Assessment]) -> bool:
    return all(row.expected is not None for row in rows if row.label is not None)


def _top_of_yes(rows: Sequence[Assessment]) -> float | None:
    """The label of a yes, where the judge was asked for Yes or No and gave the probability of yes; else None.

    Such a judge's expected label is that probability times the label, and it gives its own label's probability. Of a
    third label, the one or the other would not hold.
    """
    given = [row for row in rows if row.label is not None]
    if not given or not _all_expected(given):
        return None

    def is_of_yes(row: Assessment, top: float) -> bool:
        if row.label not in (0.0, top) or row.probability is None or row.expected is None:
            return False
        yes = row.probability if row.label == top else 1 - row.probability
        return abs(yes - row.expected / top) < 1e-6

    tops = {max(row.label or 0.0 for row in given)} - {0.0} or {2.0, 1.0}
    return next((top for top in tops if all(is_of_yes(row, top) for row in given)), None)


def _lowest_yes(rows: Sequence[Assessment], least: float) -> float:
    """An evaluator's lowest label that counts as a yes at present: by the ends of its scale, told from two records of
    different scores; `least` where there are none."""
    known = sorted({(row.score, row.label) for row in rows if row.score is not None and row.label is not None})
    if len(known) < 2 or known[0][0] == known[-1][0]:
        return least
    (low_score, low), (high_score, high) = known[0], known[-1]
    width = (high - low) / (high_score - low_score)
    lowest = round(low - low_score * width, 6)
    return threshold_of(Criterion(rows[0].criterion, lowest, round(lowest + width, 6)))


def of_table(
    labels: Path,
    human: str,
    judges: Sequence[str],
    *,
    by: str | None = None,
    relevant: str | None = None,
    threshold: float | None = None,
) -> list[Scored]:
    """One for each column of a judge's numbers in a table, of the rows that people labelled; clusters by column `by`.

    relevant: people's lowest label that is a yes (of words, the only one), as `make_scale` has it. threshold: the
    judge's at present; by default 0.5 of shares between 0 and 1, else as for people's labels. Raises InputError as
    `ratings` does, for a judge's column of words, and where either of the two is not known.
    """
    table = read_table(labels)
    if human in judges:
        problem = f"column '{plain(human)}' is named twice, and one rater has nothing to agree with"
        raise InputError(problem, file=table.file, remedy="name the people's column and the judge's")
    people = ratings(table, [human], by)
    scale = make_scale(people, (), relevant)
    if scale.relevant is None:
        raise InputError("which of people's labels are a yes is not known", file=table.file, remedy="give --relevant")
    words = f"from {spelt(scale.relevant)}" if scale.ordered else spelt(scale.relevant)
    places = scale.numbers(people.labels[0])
    yes = [None if place is None else scale.positive[place] for place in places]
    return [_of_column(ratings(table, [judge], by), people, yes, words, threshold) for judge in judges]


def _of_column(
    judged: Ratings, people: Ratings, yes: Sequence[bool | None], words: str, present: float | None
) -> Scored:
    (judge,) = judged.raters
    numbers = [label if isinstance(label, float) else None for label in judged.labels[0]]
    if not judged.numeric:
        problem = f"column '{plain(judge)}' holds words, and a threshold is put on numbers"
        raise InputError(problem, file=judged.file, remedy="give the column of the judge's numbers")
    if present is None:
        known = [value for value in numbers if value is not None]
        shares = min(known) >= 0 and max(known) <= 1 and any(value % 1 for value in known)
        usual = 0.5 if shares else make_scale(judged).relevant
        if not isinstance(usual, float):
            problem = f"from where on '{plain(judge)}' is a yes at present is not known"
            raise InputError(problem, file=judged.file, remedy="give --threshold")
        present = usual
    rows = [row for row, label in enumerate(yes) if label is not None]
    score = [numbers[row] for row in rows]
    return Scored(
        file=Path(judged.file).name,
        criterion=people.raters[0],
        judge=judge,
        on=judge,
        relevant=words,
        people=tuple(bool(yes[row]) for row in rows),
        now=tuple(None if value is None else value >= present for value in score),
        score=tuple(score),
        clusters=tuple(people.clusters[row] for row in rows),
        whole=all(value is None or value % 1 == 0 for value in numbers),
        present=present,
    )
