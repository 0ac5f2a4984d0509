"""`labels.csv` in the corpus folder: what people said, one line a label, from any number of people.

Columns `who, when, query, subject, criterion, label`, in any order, others ignored. Subject and criterion say what was
labelled: a passage (its id, `relevance`), an agent's answer (the agent, one of the judge's criteria) or a game
(`AGENT:AGENT`, `game`). Labels run from 0 to 2; of a game, 1 says that the first was better, 0 the second, 0.5 neither.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragassay.errors import InputError
from ragassay.files import read_text, write_text
from ragassay.records import Assessment, Judgment, Record, grouped
from ragassay.text import csv_of, plain

COLUMNS = ("who", "when", "query", "subject", "criterion", "label")
GAME = "game"
HIGHEST = 2.0
GAME_LABELS = (0.0, 0.5, 1.0)
WON = 0.75
"""Several people's, or judges', mean score of a game above which its first agent won; below 1 - WON the second did."""

Key = tuple[str, str, str]
"""Query, subject and criterion: what a label is of."""


class Label(Record):
    """One person's label of one thing."""

    who: str
    when: str
    query: str
    subject: str
    criterion: str
    label: float

    @property
    def key(self) -> Key:
        """What it is of; a game's agents in the order of the alphabet."""
        return (self.query, game_subject(self.subject)[0] if self.criterion == GAME else self.subject, self.criterion)

    @property
    def value(self) -> float:
        """The label, told of `key`."""
        return 1 - self.label if self.criterion == GAME and game_subject(self.subject)[1] else self.label


def game_subject(subject: str) -> tuple[str, bool]:
    """The two agents of `A:B` in the order of the alphabet, and whether that turned them round."""
    a, _, b = subject.partition(":")
    return (f"{b}:{a}", True) if b < a else (subject, False)


def read_labels(path: Path) -> tuple[Label, ...]:
    """Every label. Raises InputError, with the line, for a missing column, a label that is not on its scale, a game
    that is not between two agents, and a person who gives one thing two labels."""
    labels: dict[tuple[str, Key], Label] = {}
    for line, row in read_table(path, COLUMNS):
        label = _label(row, path, line)
        if labels.setdefault((label.who, label.key), label).value != label.value:
            what = f"query '{plain(label.query)}', '{plain(label.subject)}', {plain(label.criterion)}"
            problem = f"{plain(label.who)} gives {what} another label than on an earlier line"
            raise InputError(problem, file=path, line=line, remedy="keep the one that counts")
    return tuple(labels.values())


def read_table(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """(line, row) of a table with a header that has all `columns`, parted by commas, semicolons or tabs.

    Blank lines are passed over. Raises InputError, with the line, for a column that is missing and a row cut short.
    """
    text = read_text(path)
    header = text.split("\n", 1)[0]
    parted = max(",;\t", key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=parted)
    names: list[str] | None = None
    last = 0
    try:
        for row in reader:
            line, last = last + 1, reader.line_num
            if not any(cell.strip() for cell in row):
                continue
            if names is None:
                names = [cell.strip().lower() for cell in row]
                if missing := [column for column in columns if column not in names]:
                    remedy = f"the columns are {', '.join(columns)}"
                    raise InputError(f"has no column '{missing[0]}'", file=path, line=1, remedy=remedy)
                if len(set(names)) < len(names):
                    raise InputError("names a column twice", file=path, line=1)
                continue
            if len(row) < max(names.index(column) for column in columns) + 1:
                raise InputError(f"has {len(row)} cells, the header {len(names)}", file=path, line=line)
            yield line, dict(zip(names, row, strict=False))
    except csv.Error as error:
        raise InputError(f"is not CSV ({error})", file=path, line=reader.line_num) from None
    if names is None:
        raise InputError("is empty", file=path, remedy=f"its first line must be {','.join(columns)}")


def _label(row: Mapping[str, str], path: Path, line: int) -> Label:
    cells = {column: row[column].strip() for column in COLUMNS}
    for column in ("who", "query", "subject", "criterion"):
        if not cells[column]:
            raise InputError(f"has an empty '{column}'", file=path, line=line)
    game = cells["criterion"] == GAME
    if game and (cells["subject"].count(":") != 1 or "" in (pair := cells["subject"].split(":")) or len({*pair}) < 2):
        problem = f"'{plain(cells['subject'])}' is not a game between two agents"
        raise InputError(problem, file=path, line=line, remedy="write AGENT:AGENT")
    return Label.model_validate(cells | {"label": number(cells["label"], game, path, line)})


def number(text: str, game: bool, path: Path, line: int) -> float:
    """A label on its scale. Raises InputError."""
    try:
        value = float(text.replace("_", "?"))
    except ValueError:
        raise InputError(f"label '{plain(text)}' is not a number", file=path, line=line) from None
    if value not in GAME_LABELS if game else not 0 <= value <= HIGHEST:
        scale = "a game's labels are 0, 0.5 and 1" if game else "labels run from 0 to 2"
        raise InputError(f"label '{plain(text)}' is off the scale", file=path, line=line, remedy=scale)
    return value


def write_labels(path: Path, labels: Iterable[Label]) -> None:
    """Write `labels.csv`, atomically."""
    rows = [(row.who, row.when, row.query, row.subject, row.criterion, f"{row.label:g}") for row in labels]
    write_text(path, csv_of([COLUMNS, *rows], "\n"))


def by_item(labels: Iterable[Label]) -> dict[Key, float]:
    """What people said of each thing: the mean over those who labelled it."""
    given = grouped((label.key, label.value) for label in labels)
    return {key: sum(values) / len(values) for key, values in given.items()}


PANEL = "panel"
"""Whose merged records are."""
_NO_RECORD = "it was not asked"


def merge_labels(rows: Iterable[Judgment], panel: Sequence[str]) -> list[Assessment]:
    """A record of `PANEL` for each thing that a judge of the panel was asked about, as they first come in `rows`.

    Its label is the median of the labels given, which of three judges is the majority's wherever two agree; of an even
    number the lower one of the two in the middle. More than half of the panel must have given a label, else the record
    is an error that says what each of the others lacks. Its reason is that of the first judge of `panel` who gave its
    label; `details` has what each of them said. Raises InputError for a judge who is not of the panel, and for one who
    labels a thing twice.
    """
    things: dict[Key, dict[str, Judgment]] = {}
    for row in rows:
        said = things.setdefault((row.query_id, row.subject, row.criterion), {})
        what = f"'{plain(row.subject)}' for query '{plain(row.query_id)}', {plain(row.criterion)}"
        check_vote(row.judge, said, panel, what)
        said[row.judge] = row
    return [_merged(key, said, panel) for key, said in things.items()]


def panel_labels(told: Mapping[str, Sequence[Judgment]]) -> list[Judgment]:
    """What is read of everything labelled: the records of the one judge as they are, or of several the merged ones.

    told: by judge, in the panel's order.
    """
    if len(told) == 1:
        return [row for rows in told.values() for row in rows]
    return [row.judgment() for row in merge_labels([row for rows in told.values() for row in rows], tuple(told))]


def check_vote(judge: str, before: Mapping[str, object], panel: Sequence[str], what: str) -> None:
    """Raises InputError where the judge is not of the panel, or is among those who have voted on this before."""
    if judge not in panel:
        raise InputError(f"'{plain(judge)}', who judges {what}, is not of the panel", remedy="name it, or leave it out")
    if judge in before:
        raise InputError(f"'{plain(judge)}' judges {what} twice", remedy="keep one of them")


def why_no_majority(said: Mapping[str, Any], given: Collection[str], panel: Sequence[str]) -> str | None:
    """Why the panel says nothing, where half of it or more has not `given` a label; else None; what all lack is said
    once. said: judge to its row, whose `error` is told."""
    errors = {judge: said[judge].error or "" if judge in said else _NO_RECORD for judge in panel if judge not in given}
    if 2 * (len(panel) - len(errors)) > len(panel):
        return None
    if len(errors) == len(panel) and len({*errors.values()}) == 1:
        return errors[panel[0]]
    named = "; ".join(f"{judge}: {error}" for judge, error in errors.items())
    return f"only {len(panel) - len(errors)} of {len(panel)} judges could say, and more than half must; {named}"


def _merged(key: Key, said: Mapping[str, Judgment], panel: Sequence[str]) -> Assessment:
    given = [row for judge in panel if (row := said.get(judge)) is not None and row.label is not None]
    why = why_no_majority(said, [row.judge for row in given], panel)
    label = None if why else sorted(row.label for row in given if row.label is not None)[(len(given) - 1) // 2]
    chosen = next((row for row in given if row.label == label), None)
    details: list[dict[str, Any]] = []
    for judge in panel:
        if (row := said.get(judge)) is None:
            details.append({"judge": judge, "label": None, "error": _NO_RECORD})
            continue
        more = {name: getattr(row, name) for name in ("reason", "error", "probability", "expected")}
        details.append(
            {"judge": judge, "label": row.label} | {name: value for name, value in more.items() if value is not None}
        )
    return Assessment(
        query_id=key[0],
        subject=key[1],
        judge=PANEL,
        criterion=key[2],
        label=label,
        reason=chosen.reason if chosen else None,
        error=why,
        score=chosen.score if isinstance(chosen, Assessment) else None,
        details=tuple(details),
    )
