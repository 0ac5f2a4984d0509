"""What people say of a sheet's items one by one, on disk before it is answered, and its way into `labels.csv`.

`label-journals/SHEET.jsonl` has a line for everything that was said: a label, a skip, or that the one before is taken
back. Lines are only added, so that neither a killed server nor a second browser loses any. Of one item and person the
last line counts. `label-journals/SHEET.taken` has how many of its lines `labels.csv` holds: what a full disk or a kill
kept out is brought over the next time, and what was changed there by hand since stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import append_line, first_problem, naming, write_text
from ragassay.records import Record

from ..inputs.labels import GAME, Key, Label, game_subject, read_labels, write_labels
from .held import corpus_held
from .sheet import Drawn, label_of, reading_order, sheet_files

R = TypeVar("R", bound=Record)


class Said(Record):
    """A line of `label-journals/SHEET.jsonl`.

    label: the cell as the sheet takes it (`0`, `1`, `2`; of a game as shown), None where the item was skipped or what
    was said of it is taken back. at: when, ISO 8601.
    """

    item: str
    who: str
    label: str | None = None
    skipped: bool = False
    at: str = ""


def read_items(path: Path) -> tuple[Drawn, ...]:
    """What of a sheet's frame was drawn, kind by kind and query by query. Raises InputError with the line.

    The frame also has everything that was not drawn, many times as much, which is passed over unread.
    """
    rows = []
    with naming(path), path.open(encoding="utf-8", errors="replace") as stream:
        for number, line in enumerate(stream, 1):
            if line.strip() and '"drawn": false' not in line:
                rows.append(_row(line, path, number, Drawn))
    return tuple(sorted((row for row in rows if row.drawn), key=reading_order(path.stem)))


def read_said(path: Path) -> list[Said]:
    """Everything that was said; an end that a kill cut short was never answered for and is passed over.

    Raises InputError with the line.
    """
    if not path.exists():
        return []
    with naming(path):
        read = path.read_bytes()
    whole = read.rpartition(b"\n")[0].decode("utf-8", "replace")
    return [_row(line, path, number, Said) for number, line in enumerate(whole.split("\n"), 1) if line.strip()]


def standing(said: Iterable[Said]) -> dict[tuple[str, str], Said]:
    """(person, item) to what counts of it; what was taken back is not there."""
    last = {(one.who, one.item): one for one in said}
    return {key: one for key, one in last.items() if one.label is not None or one.skipped}


def last_of(said: Iterable[Said], who: str) -> str | None:
    """The item that this person spoke of last and has not taken back."""
    spoken: dict[str, None] = {}
    for one in said:
        if one.who == who:
            spoken.pop(one.item, None)
            if one.label is not None or one.skipped:
                spoken[one.item] = None
    return next(reversed(spoken), None)


def times_said(said: Iterable[Said], who: str, item: str) -> int:
    """How often this person has spoken of an item, what was taken back among it."""
    return sum(one.who == who and one.item == item for one in said)


def say(workspace: Workspace, sheet: str, items: Sequence[Drawn], one: Said, n_before: int | None = None) -> bool:
    """Add a line, and bring `labels.csv` up to the journal; both are on disk when this returns.

    items: the sheet's. n_before: how often the person had spoken of the item when they were shown it: where they have
    spoken of it since, in another window, nothing is written and False comes back. Raises InputError for an item that
    the sheet does not have, a label off its scale, and a file that cannot be read: nothing is written then; and for a
    file that cannot be written, saying whether the label is kept.
    """
    path, named = workspace.label_journal(sheet), {item.item: item for item in items}
    if one.item not in named:
        raise InputError("this is no item of the sheet", file=path, remedy="reload the page")
    if one.label is not None:
        _label(named[one.item], one, path)
    with corpus_held(workspace):
        before = read_said(path)
        if n_before is not None and times_said(before, one.who, one.item) != n_before:
            return False
        labels, n_taken = _labels(workspace), _n_taken(workspace, sheet, before)
        with _writing(path, "it was not kept: make room, or let the folder be written, and say it again"):
            append_line(path, one.dump())
        said = [*before, one]
        _write(workspace, sheet, _with(labels, named, said[n_taken:], path), len(said))
        return True


def settle(workspace: Workspace, sheet: str, items: Sequence[Drawn]) -> None:
    """Bring `labels.csv` up to the journal, where a kill or a full disk kept anything out of it. Raises InputError."""
    path, named = workspace.label_journal(sheet), {item.item: item for item in items}
    with corpus_held(workspace):
        said, labels = read_said(path), _labels(workspace)
        n_taken = _n_taken(workspace, sheet, said)
        if n_taken < len(said):
            _write(workspace, sheet, _with(labels, named, said[n_taken:], path), len(said))


def labelled_by(workspace: Workspace, who: str) -> set[Key]:
    """What a person has a label of in `labels.csv`."""
    return {row.key for row in _labels(workspace) if row.who == who}


def key_of(item: Drawn) -> Key:
    """The item as `Label.key` tells it."""
    return (item.query, game_subject(item.subject)[0] if item.criterion == GAME else item.subject, item.criterion)


def known_sheets(workspace: Workspace) -> tuple[str, ...]:
    """The sheets drawn for the corpus, the newest first."""
    found = sheet_files(workspace)
    return tuple(sorted(found, key=lambda sheet: (-found[sheet].stat().st_mtime_ns, sheet)))


def _labels(workspace: Workspace) -> tuple[Label, ...]:
    path = workspace.own_labels
    return read_labels(path) if path.exists() else ()


def _label(item: Drawn, one: Said, path: Path) -> Label:
    return label_of(item, one.label or "", one.who, one.at[:10], path, 0)


def _with(labels: Sequence[Label], named: dict[str, Drawn], said: Iterable[Said], path: Path) -> tuple[Label, ...]:
    made = {(row.who, row.key): row for row in labels}
    for one in said:
        if item := named.get(one.item):
            if one.label is None:
                made.pop((one.who, key_of(item)), None)
            else:
                made[one.who, key_of(item)] = _label(item, one, path)
    return tuple(made.values())


def _taken(workspace: Workspace, sheet: str) -> Path:
    return workspace.label_journal(sheet).with_suffix(".taken")


def _n_taken(workspace: Workspace, sheet: str, said: Sequence[Said]) -> int:
    """How many of the journal's lines `labels.csv` holds; 0, to bring over all of them, where that is not known."""
    if not workspace.own_labels.exists():
        return 0
    try:
        number = int(_taken(workspace, sheet).read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return 0
    return number if 0 <= number <= len(said) else 0


def _write(workspace: Workspace, sheet: str, labels: Sequence[Label], n_said: int) -> None:
    path = workspace.own_labels
    with _writing(path, "what was said is in label-journals: make room, or let the folder be written, and reload"):
        if labels:
            write_labels(path, labels)
        else:
            path.unlink(missing_ok=True)
        write_text(_taken(workspace, sheet), f"{n_said}\n")


@contextmanager
def _writing(path: Path, remedy: str) -> Iterator[None]:
    """What the system refuses is said in one sentence."""
    try:
        yield
    except OSError as error:
        raise InputError(f"could not be written ({error.strerror or error})", file=path, remedy=remedy) from None


def _row(line: str, path: Path, number: int, kind: type[R]) -> R:
    try:
        return kind.model_validate(json.loads(line))
    except ValidationError as error:
        raise InputError(first_problem(error), file=path, line=number) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({error})", file=path, line=number) from None
