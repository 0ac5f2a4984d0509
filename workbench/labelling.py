"""One sheet as one person works through it: which item is next, what it shows, and how many are left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragassay.evaluate.human_labels.journal import (
    Said,
    key_of,
    labelled_by,
    last_of,
    read_items,
    read_said,
    standing,
    times_said,
)
from ragassay.evaluate.human_labels.sheet import Drawn
from ragassay.experiment.workspace import Workspace

from .index.read import Index

PASSAGE = ("not", "somewhat", "very")
ANSWER = ("not", "somewhat", "fully")


@dataclass(frozen=True)
class Shown:
    """What a person sees of an item: neither agent nor judge. texts: one, or the two of a game.

    choices: (key, what it means) in the order of the buttons. part: which part of the sheet this is of.
    """

    item: str
    kind: str
    part: str
    asked: str
    question: str
    title: str
    texts: tuple[str, ...]
    choices: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Place:
    """How far a person is: of `n` items, `n_labelled` and `n_skipped`; last: whether any can be taken back."""

    n: int
    n_labelled: int
    n_skipped: int
    last: bool

    @property
    def n_left(self) -> int:
        """How many nothing was said of."""
        return self.n - self.n_labelled - self.n_skipped


@lru_cache(maxsize=16)
def _items(path: Path, size: int, time: int) -> tuple[Drawn, ...]:
    del size, time
    return read_items(path)


def items_of(workspace: Workspace, sheet: str) -> tuple[Drawn, ...]:
    """The items of a sheet there is, read once. Raises InputError."""
    path = workspace.label_samples / f"{sheet}.jsonl"
    there = path.stat()
    return _items(path, there.st_size, there.st_mtime_ns)


class Working:
    """A person at a sheet, as the files say at this moment."""

    def __init__(self, workspace: Workspace, sheet: str, who: str, items: Sequence[Drawn] | None = None) -> None:
        self._items = items if items is not None else items_of(workspace, sheet)
        self._said = read_said(workspace.label_journal(sheet))
        spoken = standing(self._said)
        self._who, self._standing = who, {item: one for (person, item), one in spoken.items() if person == who}
        self._known = labelled_by(workspace, who)

    @property
    def place(self) -> Place:
        """How far the person is."""
        skipped = sum(one.skipped for one in self._standing.values())
        labelled = sum(self._labelled(item) for item in self._items)
        return Place(len(self._items), labelled, skipped, self.last is not None)

    @property
    def last(self) -> str | None:
        """The item that they spoke of last."""
        return last_of(self._said, self._who)

    def open_items(self, *, again: bool = False) -> list[Drawn]:
        """What nothing was said of; again: what was skipped."""
        if again:
            return [item for item in self._items if (one := self._standing.get(item.item)) and one.skipped]
        return [item for item in self._items if item.item not in self._standing and not self._labelled(item)]

    def times_said(self, item: str) -> int:
        """How often they have spoken of an item."""
        return times_said(self._said, self._who, item)

    def named(self, item: str) -> Drawn | None:
        """An item by its id."""
        return next((one for one in self._items if one.item == item), None)

    def _labelled(self, item: Drawn) -> bool:
        said: Said | None = self._standing.get(item.item)
        return said.label is not None if said else key_of(item) in self._known


def shown(item: Drawn, index: Index) -> Shown | None:
    """The item with its texts; None where the results no longer have them."""
    place = index.place_of(item.query)
    texts = None if place is None else _texts(item, index, place)
    if place is None or texts is None:
        return None
    (query,) = index.queries([place])
    title, *found = texts
    return Shown(item.item, item.kind, _part(item), _asked(item), query["text"], title, tuple(found), _choices(item))


def _texts(item: Drawn, index: Index, place: int) -> tuple[str, ...] | None:
    """A title, then the text or texts."""
    if item.kind == "passages":
        passage: dict[str, Any] | None = index.passages([item.subject]).get(item.subject)
        return None if passage is None else (passage["title"] or "", passage["text"])
    answers = {answer["name"]: answer["text"] for answer in index.answers(place)}
    agents = item.subject.split(":")
    if any(answers.get(agent) is None for agent in agents):
        return None
    found = [answers[agent] for agent in agents]
    return ("", *(reversed(found) if item.swapped else found))


def _part(item: Drawn) -> str:
    return {"passages": "Passage", "answers": "Answer", "games": "Two answers"}[item.kind]


def _asked(item: Drawn) -> str:
    if item.kind == "passages":
        return "Does the text help to answer the question?"
    if item.kind == "games":
        return "Which answers the question better?"
    return f"{item.criterion.replace('_', ' ').capitalize()} of the answer to the question?"


def _choices(item: Drawn) -> tuple[tuple[str, str], ...]:
    if item.kind == "games":
        return (("1", "the first"), ("2", "the second"), ("0", "neither"))
    return tuple(_numbered(PASSAGE if item.kind == "passages" else ANSWER))


def _numbered(words: Sequence[str]) -> list[tuple[str, str]]:
    """The words by their label."""
    return [(str(number), word) for number, word in enumerate(words)]
