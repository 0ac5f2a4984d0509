"""Tables of labels from elsewhere (CSV, TSV, JSON Lines with a column a rater, two files of qrels), and their scale;
which columns are judges', and labels recoded."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import Literal

import numpy as np

from ragassay.arrays import Floats
from ragassay.errors import InputError
from ragassay.files import read_objects, read_qrels, read_text
from ragassay.text import plain

Label = float | str
MISSING = frozenset({"", "na", "n/a", "nan", "null"})
"""What counts as no label, in any case of letters; so does JSON's null, and a key that a line lacks."""
QUERY_COLUMNS = ("query_id", "qid", "query")
_LONGEST_CELL = 10_000_000
LARGEST = 50
"""Labels of a scale that is treated as categories; more are treated as measured values."""


@dataclass(frozen=True)
class LabelTable:
    """`rows`: (line, column to cell as text, "" where it is empty)."""

    file: str
    columns: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]


@dataclass(frozen=True)
class Ratings:
    """`labels[r][i]` is rater r's label of subject i, None where it is missing; `clusters[i]` the subject's query.

    numeric: whether the labels are numbers (else all are words). by: the column that tells the queries, None where
    each row stands alone.
    """

    file: str
    raters: tuple[str, ...]
    labels: tuple[tuple[Label | None, ...], ...]
    clusters: tuple[str, ...]
    numeric: bool
    by: str | None


def read_labels(path: Path) -> LabelTable:
    """The table in `path`: `.jsonl` is JSON Lines, `.tsv` has tabs, anything else commas (tabs where its header has).

    Raises InputError, with the line, for a file without rows, a column named twice and a row of another length.
    """
    if path.suffix.lower() in {".jsonl", ".ndjson"}:
        table = [(line, {key: _text(value) for key, value in row.items()}) for line, row in read_objects(path)]
        columns = tuple(dict.fromkeys(key for _, row in table for key in row))
    else:
        text = read_text(path)
        tabs = path.suffix.lower() in {".tsv", ".tab"} or "\t" in text.split("\n", 1)[0]
        (_, header), *rows = _cells(path, text, "\t" if tabs else ",") or [(1, [])]
        columns, table = tuple(name.strip() for name in header), []
        if twice := [name for name in columns if columns.count(name) > 1]:
            raise InputError(f"has two columns '{plain(twice[0])}'", file=path, line=1)
        for line, cells in rows:
            if len(cells) != len(columns):
                raise InputError(f"has {len(cells)} cells, the header {len(columns)}", file=path, line=line)
            table.append((line, dict(zip(columns, (cell.strip() for cell in cells), strict=True))))
    if not table:
        raise InputError("has no rows of labels", file=path)
    return LabelTable(str(path), columns, tuple(table))


def _text(value: object) -> str:
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cells(path: Path, text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """(line, cells). Where tabs divide, a quotation mark that opens no proper quotation is a letter like others."""
    csv.field_size_limit(_LONGEST_CELL)
    quoting: tuple[Literal[0, 3], ...] = (csv.QUOTE_MINIMAL, csv.QUOTE_NONE)
    for how in quoting if delimiter == "\t" else quoting[:1]:
        reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True, quoting=how)
        try:
            return [(reader.line_num, cells) for cells in reader if cells]
        except csv.Error as error:
            problem = InputError(f"is not a table ({error})", file=path, line=reader.line_num)
    raise problem


def ratings(table: LabelTable, raters: Sequence[str], by: str | None) -> Ratings:
    """The labels of the columns `raters`, of queries as column `by` tells them (else one of `QUERY_COLUMNS`).

    Raises InputError for an unknown column, fewer than two different ones, a column without labels, and numbers
    among words.
    """
    if repeated := [name for name in raters if list(raters).count(name) > 1]:
        problem = f"column '{plain(repeated[0])}' is named twice, and one rater has nothing to agree with"
        raise InputError(problem, file=table.file, remedy="name the people's column and the judge's")
    for name in [*raters, *([by] if by else [])]:
        if name not in table.columns:
            there = ", ".join(plain(column) for column in table.columns[:20])
            raise InputError(f"has no column '{plain(name)}'", file=table.file, remedy=f"its columns are {there}")
    by = by or next((name for name in QUERY_COLUMNS if name in table.columns and name not in raters), None)
    given = [(line, name, text) for line, row in table.rows for name in raters if (text := label_in(row, name))]
    for name in raters:
        if all(name != rater for _, rater, _ in given):
            raise InputError(f"column '{plain(name)}' holds no label", file=table.file)
    words = [cell for cell in given if number_of(cell[2]) is None]
    if words and len(words) < len(given):
        line, name, text = words[0]
        problem = f"label '{plain(text[:60])}' in column '{plain(name)}' is not a number, as other labels are"
        remedy = "use numbers or words throughout, and leave the cell empty where there is no label"
        raise InputError(problem, file=table.file, line=line, remedy=remedy)
    texts = ([label_in(row, name) for _, row in table.rows] for name in raters)
    labels = tuple(tuple(text if text is None or words else number_of(text) for text in column) for column in texts)
    clusters = tuple(str(number) if by is None else row.get(by, "") for number, (_, row) in enumerate(table.rows))
    if "" in clusters:
        line = table.rows[clusters.index("")][0]
        raise InputError(f"has no '{plain(by or '')}'", file=table.file, line=line, remedy="every row needs its query")
    return Ratings(table.file, tuple(raters), labels, clusters, not words, by)


def label_in(row: Mapping[str, str], name: str) -> str | None:
    """The label in column `name`, None where it is missing."""
    return None if (text := row.get(name, "")).lower() in MISSING else text


def number_of(text: str) -> float | None:
    """The finite number that a cell spells, if it does."""
    with suppress(ValueError):
        if "_" not in text and isfinite(value := float(text)):
            return value
    return None


def spelt(label: Label) -> str:
    """A label as people write it: `2`, `0.5`, `yes`."""
    return label if isinstance(label, str) else f"{label:.10g}"


NO_ORDER = "the labels are words without an order; give it with --scale"
NO_NUMBERS = "the labels are words, not numbers"


@dataclass(frozen=True)
class Scale:
    """`labels` in order. A label that was seen and not declared keeps its own place, and is named in `outside`.

    positive: for each label whether it counts as relevant. relevant: the lowest that does (of words without an order,
    the only one), None where none was given or goes without saying: nothing is positive then. given: whether somebody
    named it.
    """

    labels: tuple[Label, ...]
    positive: tuple[bool, ...]
    numeric: bool
    ordered: bool
    relevant: Label | None
    declared: tuple[Label, ...]
    outside: tuple[Label, ...]
    given: bool = False

    @property
    def values(self) -> Floats:
        """(labels,): the labels as numbers; words are their places, 0, 1, …"""
        return np.array([x if isinstance(x, float) else i for i, x in enumerate(self.labels)], dtype=np.float64)

    def numbers(self, labels: Sequence[Label | None]) -> list[int | None]:
        """The place of each label on the scale, from 0; None for a missing label."""
        places = {label: place for place, label in enumerate(self.labels)}
        return [None if label is None else places[label] for label in labels]

    def of(self, seen: Collection[Label | None]) -> Scale:
        """The scale of these labels and those declared, as if there were no others."""
        held = {*self.declared, *seen}
        labels = tuple(label for label in self.labels if label in held)
        positive = tuple(flag for label, flag in zip(self.labels, self.positive, strict=True) if label in held)
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
    where = f"and the labels of {ratings.file} are numbers"
    own: tuple[Label, ...] = tuple(text.strip() for text in declared)
    if ratings.numeric:
        own = tuple(_as_number(text, f"--scale has '{plain(text)}', {where}") for text in declared)
    if len(set(own)) < len(own):
        raise InputError("--scale names a label twice")
    outside = tuple(sorted(seen - set(own), key=_order)) if own else ()
    labels = tuple(sorted(seen | set(own), key=_order)) if ratings.numeric or not own else (*own, *outside)
    least = _usual(own or labels) if relevant is None else relevant
    if relevant is not None and ratings.numeric:
        least = _as_number(relevant, f"--relevant is '{plain(relevant)}', {where}")
    elif relevant is not None and relevant not in labels:
        there = ", ".join(plain(spelt(label)) for label in labels[:20])
        problem = f"--relevant is '{plain(relevant)}', which is no label there"
        raise InputError(problem, file=ratings.file, remedy=f"labels that are words need one of them: {there}")
    ordered = ratings.numeric or bool(own)
    flags = _positive(labels, least, ordered)
    return Scale(labels, flags, ratings.numeric, ordered, least, own, outside, relevant is not None)


def _positive(labels: Sequence[Label], least: Label | None, ordered: bool) -> tuple[bool, ...]:
    if isinstance(least, float):
        return tuple(isinstance(label, float) and label >= least for label in labels)
    if least is None or not ordered:
        return tuple(label == least for label in labels)
    return tuple(place >= labels.index(least) for place, _ in enumerate(labels))


def _order(label: Label) -> tuple[float, str]:
    return (label, "") if isinstance(label, float) else (0.0, label)


def _as_number(text: str, otherwise: str) -> float:
    with suppress(ValueError):
        if isfinite(value := float(text)):
            return value
    raise InputError(otherwise)


def _usual(labels: Sequence[Label]) -> Label | None:
    numbers = sorted(label for label in labels if isinstance(label, float))
    if not numbers:
        return None
    if set(numbers) <= {0.0, 1.0}:
        return 1.0
    if len(numbers) == 2:
        return numbers[1]
    return 2.0 if set(numbers) <= {-2.0, -1.0, 0.0, 1.0, 2.0, 3.0} else None


def qrels_ratings(human: Path, judge: Path) -> Ratings:
    """Two files of qrels as two raters of (query, passage) pairs, by query; what one file lacks is missing.

    Raises InputError where they share no pair, and for one file named twice.
    """
    if human.resolve() == judge.resolve():
        raise InputError("is named twice, and one rater has nothing to agree with", file=human)
    one, other = read_qrels(human), read_qrels(judge)
    pairs = sorted({(query, passage) for qrels in (one, other) for query in qrels for passage in qrels[query]})
    labels = ([qrels.get(query, {}).get(passage) for query, passage in pairs] for qrels in (one, other))
    columns = tuple(tuple(None if label is None else float(label) for label in column) for column in labels)
    if not any(a is not None and b is not None for a, b in zip(*columns, strict=True)):
        problem = f"shares no pair of query and passage with {plain(str(human))}"
        raise InputError(problem, file=judge, remedy="check that both label the same test set")
    clusters = tuple(query for query, _ in pairs)
    return Ratings(f"{human}, {judge}", (str(human), str(judge)), columns, clusters, True, "query")


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
        pairs = text if column is None else text.removeprefix(f"{column}:")
        parts = [part.partition("=") for part in pairs.split(",")]
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
    columns = (_BY, *given.raters)
    labels = (["" if label is None else spelt(label) for label in column] for column in given.labels)
    cells = zip(given.clusters, *labels, strict=True)
    rows = tuple((line, dict(zip(columns, row, strict=True))) for line, row in enumerate(cells, 1))
    table = LabelTable(given.file, columns, rows)
    return replace(ratings(recoded(table, given.raters, maps), given.raters, _BY), by=given.by)
