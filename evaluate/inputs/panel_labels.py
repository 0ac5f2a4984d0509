"""One label from those of several judges: the majority's, with who said what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragassay.errors import InputError
from ragassay.records import Assessment, Judgment
from ragassay.text import plain

from .labels import Key

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


def why_no_majority(errors: Mapping[str, str], panel: Sequence[str]) -> str | None:
    """Why the panel says nothing, where half of it or more has an error; else None; what all lack is said once."""
    if 2 * (len(panel) - len(errors)) > len(panel):
        return None
    if len(errors) == len(panel) and len(said := set(errors.values())) == 1:
        return said.pop()
    named = "; ".join(f"{judge}: {errors[judge]}" for judge in panel if judge in errors)
    return f"only {len(panel) - len(errors)} of {len(panel)} judges could say, and more than half must; {named}"


def _merged(key: Key, said: Mapping[str, Judgment], panel: Sequence[str]) -> Assessment:
    given = [row for judge in panel if (row := said.get(judge)) is not None and row.label is not None]
    errors = {judge: _error(said.get(judge)) for judge in panel if judge not in {row.judge for row in given}}
    why = why_no_majority(errors, panel)
    label = None if why else sorted(row.label for row in given if row.label is not None)[(len(given) - 1) // 2]
    chosen = next((row for row in given if row.label == label), None)
    return Assessment(
        query_id=key[0],
        subject=key[1],
        judge=PANEL,
        criterion=key[2],
        label=label,
        reason=chosen.reason if chosen else None,
        error=why,
        score=chosen.score if isinstance(chosen, Assessment) else None,
        details=tuple(_said(judge, said.get(judge)) for judge in panel),
    )


def _error(row: Judgment | None) -> str:
    return _NO_RECORD if row is None else row.error or ""


def _said(judge: str, row: Judgment | None) -> dict[str, Any]:
    if row is None:
        return {"judge": judge, "label": None, "error": _NO_RECORD}
    more = {name: getattr(row, name) for name in ("reason", "error", "probability", "expected")}
    return {"judge": judge, "label": row.label} | {name: value for name, value in more.items() if value is not None}
