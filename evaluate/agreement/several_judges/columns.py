"""Which columns of a table are judges, where all are asked for."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.errors import InputError
from ragassay.text import plain

from ..confusion import LARGEST
from ..label_tables import MISSING, QUERY_COLUMNS, LabelTable, number_of

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
