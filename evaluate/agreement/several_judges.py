"""A judge at each threshold of the scale: kappa, balanced accuracy, accuracy and correlation of yes and no.

What counts as yes is a label from the threshold on, of people's and the judge's alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ragassay.arrays import Floats, Ints, Truths
from ragassay.errors import InputError
from ragassay.records import Judgment
from ragassay.text import plain

from ..inputs.clusters import Clusters, clusters_of_rows
from ..inputs.labels import GAME, Key, Label
from ..ratings.verdicts import SCORES, Verdict
from ..results import AmongJudges
from ..statistics.clustered import interval
from .coefficients import (
    LARGEST,
    alpha,
    balanced_accuracy,
    coincidences,
    crosstab,
    detection_shares,
    from_zero,
    kappa,
    spelt,
    tau_b,
)
from .estimates import Found, Sample, Statistic
from .label_tables import MISSING, QUERY_COLUMNS, LabelTable, Ratings, number_of, ratings
from .label_tables import Label as Label_of_recoding
from .label_tables import Label as Label_of_scale
from .label_tables import Label as Label_of_thresholds

SPLIT = "not_unanimous"
ALPHA = "krippendorff_alpha(ordinal)"
_NOTHING = "nothing was labelled by two judges"


def among_labels(
    rows: Iterable[Judgment], clusters: Clusters, *, bootstrap: int = 1000, seed: int = 7
) -> tuple[AmongJudges, ...]:
    """One for each criterion, of all judges' records in one file. clusters: of the queries."""
    votes: dict[str, dict[Key, dict[str, float | None]]] = {}
    for row in rows:
        key = (row.query_id, row.subject, row.criterion)
        votes.setdefault(row.criterion, {}).setdefault(key, {})[row.judge] = row.label
    return tuple(_among(name, votes[name], clusters, bootstrap, seed) for name in sorted(votes))


def among_verdicts(
    verdicts: Iterable[Verdict], clusters: Clusters, *, bootstrap: int = 1000, seed: int = 7
) -> AmongJudges:
    """The same of verdicts on games, criterion `game`: a win, a tie and a loss in this order.

    Where a file repeats a game, the k-th of one judge meets the k-th of the others, as in `merge_verdicts`.
    """
    votes: dict[Key, dict[str, float | None]] = {}
    often: Counter[tuple[str, str, str, str]] = Counter()
    for one in verdicts:
        mine = (one.query_id, one.agent_a, one.agent_b, one.judge)
        key = (one.query_id, f"{one.agent_a}:{one.agent_b}:{often[mine]}", GAME)
        votes.setdefault(key, {})[one.judge] = None if one.winner is None else SCORES[one.winner]
        often[mine] += 1
    return _among(GAME, votes, clusters, bootstrap, seed)


def among_people(
    labels: Iterable[Label], clusters: Clusters, *, bootstrap: int = 1000, seed: int = 7
) -> tuple[AmongJudges, ...]:
    """The same of people's labels of `labels.csv`, `judges` being the people; games are a criterion like others."""
    votes: dict[str, dict[Key, dict[str, float | None]]] = {}
    for label in labels:
        votes.setdefault(label.criterion, {}).setdefault(label.key, {})[label.who] = label.value
    return tuple(_among(name, votes[name], clusters, bootstrap, seed) for name in sorted(votes))


def _among(
    criterion: str, votes: dict[Key, dict[str, float | None]], clusters: Clusters, bootstrap: int, seed: int
) -> AmongJudges:
    judges = tuple(sorted({judge for said in votes.values() for judge in said}))
    keys = sorted(votes)
    units = [[label for label in votes[key].values() if label is not None] for key in keys]
    pairable = [place for place, unit in enumerate(units) if len(unit) > 1]
    found = Found(len(pairable), len(units) - len(pairable))
    if pairable:
        known = clusters.of([keys[place][0] for place in pairable])
        together = clusters_of_rows([known.names[number] for number in known.numbers])
        _figures(found, [units[place] for place in pairable], together, bootstrap, seed)
    else:
        found.leave_out(SPLIT, _NOTHING)
        found.leave_out(ALPHA, _NOTHING)
    return AmongJudges(criterion=criterion, judges=judges, figures=found.figures, undefined=found.undefined)


def _figures(found: Found, units: Sequence[Sequence[float]], together: Clusters, bootstrap: int, seed: int) -> None:
    split = np.array([float(len(set(unit)) > 1) for unit in units])
    value, low, high = interval(split, np.ones(len(split)), together, (0.0, 1.0))
    found.put(SPLIT, value, (low, high), _NOTHING)
    scale = sorted({label for unit in units for label in unit})
    places = [[scale.index(label) for label in unit] for unit in units]
    sample = Sample.of_coincidences(coincidences(places, together.numbers, len(scale)), None, bootstrap, seed)
    why = f"all labels are equal ({scale[0]:g}): nothing is left to agree on"
    sample.figure(found, ALPHA, lambda table, counts: alpha(table, counts, "ordinal"), why)


NO_ORDER = "the labels are words without an order; give it with --scale"
NO_NUMBERS = "the labels are words, not numbers"


@dataclass(frozen=True)
class Scale:
    """`labels` in order. A label that was seen and not declared keeps its own place, and is named in `outside`.

    positive: for each label whether it counts as relevant. relevant: the lowest that does (of words without an order,
    the only one), None where none was given or goes without saying: nothing is positive then. given: whether somebody
    named it.
    """

    labels: tuple[Label_of_scale, ...]
    positive: tuple[bool, ...]
    numeric: bool
    ordered: bool
    relevant: Label_of_scale | None
    declared: tuple[Label_of_scale, ...]
    outside: tuple[Label_of_scale, ...]
    given: bool = False

    @property
    def values(self) -> Floats:
        """(labels,): the labels as numbers; words are their places, 0, 1, …"""
        return np.array([x if isinstance(x, float) else i for i, x in enumerate(self.labels)], dtype=np.float64)

    def numbers(self, labels: Sequence[Label_of_scale | None]) -> list[int | None]:
        """The place of each label on the scale, from 0; None for a missing label."""
        places = {label: place for place, label in enumerate(self.labels)}
        return [None if label is None else places[label] for label in labels]

    def of(self, seen: Collection[Label_of_scale | None]) -> Scale:
        """The scale of these labels and those declared, as if there were no others."""
        held = {*self.declared, *seen}
        kept = [(label, flag) for label, flag in zip(self.labels, self.positive, strict=True) if label in held]
        labels, positive = tuple(label for label, _ in kept), tuple(flag for _, flag in kept)
        least = self.relevant
        if not self.given:
            least = _usual(self.declared or labels)
            positive = _positive(labels, least, self.ordered)
        outside = tuple(label for label in self.outside if label in held)
        return Scale(labels, positive, self.numeric, self.ordered, least, self.declared, outside, self.given)


def make_scale(ratings: Ratings, declared: Sequence[str] = (), relevant: str | None = None) -> Scale:
    """The scale of these ratings: the labels declared, and those seen.

    Numbers are in the order of numbers, words in that of `declared`, then by spelling. Without `relevant`, of two
    numbers the higher is relevant, of 0 and 1 it is 1, and on TREC's scales (-2 to 3) it is 2. Raises InputError for a
    label declared twice or of the other kind, and for a `relevant` that is no number or not on the scale.
    """
    seen = {label for column in ratings.labels for label in column if label is not None}
    own = tuple(_declared(text, ratings) for text in declared)
    if len(set(own)) < len(own):
        raise InputError("--scale names a label twice")
    outside = tuple(sorted(seen - set(own), key=_order)) if own else ()
    labels = tuple(sorted(seen | set(own), key=_order)) if ratings.numeric or not own else (*own, *outside)
    least = _relevant(relevant, labels, ratings) if relevant is not None else _usual(own or labels)
    ordered = ratings.numeric or bool(own)
    flags = _positive(labels, least, ordered)
    return Scale(labels, flags, ratings.numeric, ordered, least, own, outside, relevant is not None)


def _positive(labels: Sequence[Label_of_scale], least: Label_of_scale | None, ordered: bool) -> tuple[bool, ...]:
    if isinstance(least, float):
        return tuple(isinstance(label, float) and label >= least for label in labels)
    if least is None or not ordered:
        return tuple(label == least for label in labels)
    return tuple(place >= labels.index(least) for place, _ in enumerate(labels))


def _order(label: Label_of_scale) -> tuple[float, str]:
    return (label, "") if isinstance(label, float) else (0.0, label)


def _declared(text: str, ratings: Ratings) -> Label_of_scale:
    if not ratings.numeric:
        return text.strip()
    return _as_number(text, f"--scale has '{plain(text)}', and the labels of {ratings.file} are numbers")


def _relevant(text: str, labels: Sequence[Label_of_scale], ratings: Ratings) -> Label_of_scale:
    if ratings.numeric:
        return _as_number(text, f"--relevant is '{plain(text)}', and the labels of {ratings.file} are numbers")
    if text in labels:
        return text
    there = ", ".join(plain(spelt(label)) for label in labels[:20])
    problem = f"--relevant is '{plain(text)}', which is no label there"
    raise InputError(problem, file=ratings.file, remedy=f"labels that are words need one of them: {there}")


def _as_number(text: str, otherwise: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise InputError(otherwise) from None
    if not np.isfinite(value):
        raise InputError(otherwise)
    return value


def _usual(labels: Sequence[Label_of_scale]) -> Label_of_scale | None:
    numbers = sorted(label for label in labels if isinstance(label, float))
    if not numbers:
        return None
    if set(numbers) <= {0.0, 1.0}:
        return 1.0
    if len(numbers) == 2:
        return numbers[1]
    return 2.0 if set(numbers) <= {-2.0, -1.0, 0.0, 1.0, 2.0, 3.0} else None


NAMES = (*QUERY_COLUMNS, "id", "_id", "passage", "passage_id", "pid", "doc", "doc_id", "docid", "docno", "subject")
"""Columns that say what was labelled, be they numbers."""

ALL = "all"
"""In place of a judge's column: every column that is one."""


def judges_of(table: LabelTable, human: str, asked: Sequence[str], by: str | None) -> tuple[list[str], dict[str, str]]:
    """The judges' columns, in the table's order, and of each other column why it is none.

    asked: the columns named, which are taken as they are, or `ALL`. A judge's labels are numbers where people's are,
    else words, at least one of them a label of people's, and at most 50 different ones. Raises InputError where
    none is left.
    """
    if ALL not in asked or ALL in table.columns or human not in table.columns:
        return list(asked), {}
    people = _labels(table, human)
    judges, left_out = [name for name in asked if name != ALL], {}
    for name in table.columns:
        if name in {human, by, *NAMES, *judges}:
            continue
        if why := _why_not(table, name, people):
            left_out[name] = why
        else:
            judges.append(name)
    if not judges:
        problem = f"has no judge's column beside '{plain(human)}'"
        named = "; ".join(f"{plain(name)}: {why}" for name, why in list(left_out.items())[:5])
        raise InputError(problem, file=table.file, remedy=f"name it with --judge ({named})" if named else None)
    return judges, left_out


def mapped_columns(table: LabelTable, human: str, asked: Sequence[str], by: str | None) -> list[str]:
    """The columns whose labels a map recodes: people's, and every one that may be a judge's."""
    if ALL not in asked or ALL in table.columns:
        return [name for name in (human, *asked) if name in table.columns]
    return [name for name in table.columns if name == human or name not in {by, *NAMES}]


def _why_not(table: LabelTable, name: str, people: Sequence[tuple[int, str]]) -> str | None:
    given = _labels(table, name)
    if not given:
        return "holds no label"
    numeric = all(number_of(text) is not None for _, text in people)
    if numeric and (words := [(line, text) for line, text in given if number_of(text) is None]):
        return f"label '{plain(words[0][1][:40])}' (line {words[0][0]}) is not a number, as people's labels are"
    theirs, own = ({number_of(text) if numeric else text for _, text in each} for each in (people, given))
    if len(own) > LARGEST:
        return f"has {len(own)} different labels: ids, texts or measured values; if it is a judge, name it with --judge"
    if not own & theirs:
        return "has no label that people use; recode it with --map, or name it with --judge"
    return None


def _labels(table: LabelTable, name: str) -> list[tuple[int, str]]:
    return [(line, text) for line, row in table.rows if (text := row.get(name, "")).lower() not in MISSING]


_SHAPE = "write OLD=NEW,OLD=NEW (a missing label where NEW is empty), for one column COL:OLD=NEW"
_BY = "(query)"


def recoded(table: LabelTable, raters: Sequence[str], maps: Sequence[str]) -> LabelTable:
    """The table with the labels of the columns `raters` as `maps` have them, all exchanged at once.

    maps: `OLD=NEW,…` of all raters, or `COL:OLD=NEW,…` of one, which then holds there; numbers are alike however they
    are spelt, and an empty NEW is a missing label. Raises InputError for a map of another shape, an OLD that is named
    twice, and one that is no label of those columns.
    """
    of_all: dict[str, str] = {}
    own: dict[str, dict[str, str]] = {name: {} for name in raters}
    for text in maps:
        column = max((name for name in raters if text.startswith(f"{name}:")), key=len, default=None)
        one = own[column] if column is not None else of_all
        for old, new in _exchanges(text if column is None else text.removeprefix(f"{column}:")):
            _check(table, raters if column is None else [column], old, old in one)
            one[old] = new
    whole = {name: of_all | own[name] for name in raters}
    rows = tuple((line, row | _row(row, whole)) for line, row in table.rows)
    return replace(table, rows=rows)


def _row(row: dict[str, str], maps: dict[str, dict[str, str]]) -> dict[str, str]:
    return {name: one.get(_key(row[name]), row[name]) for name, one in maps.items() if name in row}


def _exchanges(text: str) -> list[tuple[str, str]]:
    parts = [part.partition("=") for part in text.split(",")]
    if any(not old.strip() or not equals for old, equals, _ in parts):
        raise InputError(f"--map is '{plain(text)}'", remedy=_SHAPE)
    return [(_key(old.strip()), new.strip()) for old, _, new in parts]


def _check(table: LabelTable, columns: Sequence[str], old: str, again: bool) -> None:
    if again:
        raise InputError(f"--map names the label '{plain(old)}' twice")
    if not any(_key(row.get(name, "")) == old for _, row in table.rows for name in columns):
        where = ", ".join(f"'{plain(name)}'" for name in list(columns)[:5])
        raise InputError(f"--map names '{plain(old)}', which is no label of {where}", file=table.file, remedy=_SHAPE)


def _key(text: str) -> str:
    value = number_of(text)
    return text if value is None else f"{value:.10g}"


def recoded_ratings(given: Ratings, maps: Sequence[str]) -> Ratings:
    """The same of raters whose labels are read already, all of them by query. Raises InputError as `recoded` does."""
    if not maps:
        return given
    cells = zip(given.clusters, *given.labels, strict=True)
    rows = tuple(
        (line, dict(zip((_BY, *given.raters), (by, *map(_spelt, labels)), strict=True)))
        for line, (by, *labels) in enumerate(cells, 1)
    )
    table = LabelTable(given.file, (_BY, *given.raters), rows)
    return replace(ratings(recoded(table, given.raters, maps), given.raters, _BY), by=given.by)


def _spelt(label: Label_of_recoding | None) -> str:
    return "" if label is None else spelt(label)


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


def thresholds(scale: Scale, x: Ints) -> Iterator[tuple[Label_of_thresholds, Truths]]:
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
