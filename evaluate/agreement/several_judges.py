"""Judges side by side: how far they agree among each other, which columns are theirs, and each threshold of a scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ragassay.arrays import Ints, Truths
from ragassay.errors import InputError
from ragassay.records import Judgment
from ragassay.text import plain

from ..inputs.clusters import Clusters, clusters_of_rows
from ..inputs.labels import GAME, Key
from ..inputs.labels import Label as PersonsLabel
from ..ratings.verdicts import SCORES, Verdict
from ..results import AmongJudges
from .coefficients import Share, alpha, balanced_accuracy, coincidences, crosstab, detection_shares, kappa, tau_b
from .estimates import Found, Sample
from .label_tables import LARGEST, QUERY_COLUMNS, Label, LabelTable, Ratings, Scale, label_in, number_of, ratings, spelt

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
    labels: Iterable[PersonsLabel], clusters: Clusters, *, bootstrap: int = 1000, seed: int = 7
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
        labels = [units[place] for place in pairable]
        split = np.array([float(len(set(unit)) > 1) for unit in labels])
        found.share(Share(SPLIT, split, np.ones(len(split)), _NOTHING), together)
        scale = sorted({label for unit in labels for label in unit})
        places = [[scale.index(label) for label in unit] for unit in labels]
        table = coincidences(places, together.numbers, len(scale))
        why = f"all labels are equal ({scale[0]:g}): nothing is left to agree on"
        Sample.of_coincidences(table, None, bootstrap, seed).figure(found, ALPHA, partial(alpha, level="ordinal"), why)
    else:
        found.leave_out(SPLIT, _NOTHING)
        found.leave_out(ALPHA, _NOTHING)
    return AmongJudges(criterion=criterion, judges=judges, figures=found.figures, undefined=found.undefined)


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
    return [(line, label) for line, row in table.rows if (label := label_in(row, name)) is not None]


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
        parts = [
            part.partition("=") for part in (text if column is None else text.removeprefix(f"{column}:")).split(",")
        ]
        if any(not old.strip() or not equals for old, equals, _ in parts):
            raise InputError(f"--map is '{plain(text)}'", remedy=_SHAPE)
        for old, new in ((_spelling(old.strip()), new.strip()) for old, _, new in parts):
            columns = raters if column is None else [column]
            if old in one:
                raise InputError(f"--map names the label '{plain(old)}' twice")
            if not any(_spelling(row.get(name, "")) == old for _, row in table.rows for name in columns):
                where = ", ".join(f"'{plain(name)}'" for name in columns[:5])
                problem = f"--map names '{plain(old)}', which is no label of {where}"
                raise InputError(problem, file=table.file, remedy=_SHAPE)
            one[old] = new
    whole = {name: of_all | own[name] for name in raters}
    rows = [
        (line, row | {name: new.get(_spelling(row[name]), row[name]) for name, new in whole.items() if name in row})
        for line, row in table.rows
    ]
    return replace(table, rows=tuple(rows))


def _spelling(text: str) -> str:
    """A number in one spelling."""
    value = number_of(text)
    return text if value is None else spelt(value)


def recoded_ratings(given: Ratings, maps: Sequence[str]) -> Ratings:
    """The same of raters whose labels are read already, all of them by query. Raises InputError as `recoded` does."""
    if not maps:
        return given
    cells = zip(given.clusters, *given.labels, strict=True)
    rows = tuple(
        (
            line,
            dict(
                zip(
                    (_BY, *given.raters),
                    (by, *("" if label is None else spelt(label) for label in labels)),
                    strict=True,
                )
            ),
        )
        for line, (by, *labels) in enumerate(cells, 1)
    )
    table = LabelTable(given.file, (_BY, *given.raters), rows)
    return replace(ratings(recoded(table, given.raters, maps), given.raters, _BY), by=given.by)


MOST = 10
"""Thresholds of a scale that are told one by one; of a finer scale only the one that counts as relevant."""


def threshold_figures(found: Found, scale: Scale, x: Ints, y: Ints, clusters: Clusters, draws: tuple[int, int]) -> None:
    """Put `kappa(rel=…)`, `balanced_accuracy(rel=…)`, `accuracy(rel=…)`, `tau_b(rel=…)` among what was found.

    What counts as yes is a label from the threshold on, of people's and the judge's alike. x, y: (rows,) people's and
    the judge's labels, numbered on the scale. draws: replicates and seed of the bootstrap.
    """
    one_sided = "people's labels are all above or all below it"
    for label, positive in thresholds(scale, x):
        human, judge, suffix = positive[x], positive[y], f"(rel={spelt(label)})"
        sample = Sample.of_pairs(crosstab(human.astype(np.intp), judge.astype(np.intp), clusters.numbers, 2), *draws)
        sample.figure(
            found, "kappa" + suffix, kappa, "all labels of people's and the judge's are above it, or all below"
        )
        sample.figure(found, "balanced_accuracy" + suffix, balanced_accuracy, one_sided, lowest=0.0)
        # Of two labels Kendall's tau-b is Pearson's correlation, phi.
        why = "all labels of people, or of the judge, are on one side of it"
        sample.figure(found, "tau_b" + suffix, tau_b, why)
        accuracy = detection_shares(human, judge)[0]
        if accuracy.name + suffix not in found.figures:
            found.share(accuracy, clusters, suffix)


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
