"""Passages as the user's own code cuts: a splitter of LangChain's, or any function of a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragassay.errors import InputError
from ragassay.experiment.own_code import import_own, said
from ragassay.text import plain

from ..text import DocumentText, Span

SHOWN = 60
"""Characters of a piece that a sentence about it shows."""


@dataclass(frozen=True)
class OwnCut:
    """The callable of the chunking `name`; `callable_name` is "module:name", `settings` the file that names it."""

    name: str
    callable_name: str
    settings: Path
    function: Callable[[str], Any]

    def error(self, problem: str, remedy: str | None = None) -> InputError:
        """What is wrong with it, as one sentence."""
        return InputError(plain(f"chunking '{self.name}': {problem}"), file=self.settings, remedy=remedy)


def load_own_cut(name: str, callable_name: str, folder: Path, settings: Path) -> OwnCut:
    """Import "module:name", inside `importable(folder)`: an object with `split_text`, its class, or a function.

    A class is made without arguments. Raises InputError.
    """
    module, _, attribute = callable_name.partition(":")
    found = getattr(import_own(module, folder, f"chunking '{name}'", settings), attribute, None)
    made = OwnCut(name, callable_name, settings, lambda text: text)
    if isinstance(found, type):
        try:
            found = found()
        except (Exception, SystemExit) as error:
            raise made.error(f"{callable_name} cannot be made without arguments ({said(error)})") from error
    function = getattr(found, "split_text", found)
    if not callable(function):
        remedy = "name a function of a text, or a splitter with split_text"
        raise made.error(f"{callable_name} is nothing that cuts a text", remedy)
    return OwnCut(name, callable_name, settings, function)


def by_python(text: DocumentText, cut: OwnCut) -> list[Span]:
    """What the callable gives for each stretch of the text: pieces of it, or their (start, end) in it.

    Pieces are found again in the text in their order, whatever white space they have; what is empty is left out.
    Raises InputError where the callable fails, and for a piece that is not in the text behind the beginning of the one
    before.
    """
    found: list[Span] = []
    for stretch in text.stretches:
        start, end = stretch.span(0, len(stretch.spans))
        found += [(start + a, start + b) for a, b in _spans(text.doc, text.text[start:end], cut)]
    return found


def _spans(doc: str, text: str, cut: OwnCut) -> list[Span]:
    try:
        pieces = list(cut.function(text))
    except (Exception, SystemExit) as error:
        raise cut.error(f"{cut.callable_name} fails on {doc} ({said(error)})") from error
    found: list[Span] = []
    for number, piece in enumerate(pieces, 1):
        if isinstance(piece, str) and not piece.strip():
            continue
        span = _find(text, piece, found[-1] if found else (-1, 0)) if isinstance(piece, str) else _told(text, piece)
        if span is None or (found and span[0] < found[-1][0]):
            raise cut.error(
                f"{cut.callable_name} gives a piece {number} that is not in the text of {doc} from where the one "
                f"before begins: {_shown(piece)}",
                "give pieces of the text as it is, or (start, end) in it, in their order",
            )
        if span[0] < span[1]:
            found.append(span)
    return found


def _told(text: str, piece: object) -> Span | None:
    """A (start, end) without white space at its ends; None for what is none."""
    if not (isinstance(piece, Iterable) and (both := list(piece)) and len(both) == 2):
        return None
    start, end = both
    if not (type(start) is int and type(end) is int and 0 <= start <= end <= len(text)):
        return None
    begin = min(_after_white(text, start), end)
    return begin, begin + len(text[begin:end].rstrip())


def _find(text: str, piece: str, before: Span) -> Span | None:
    """Where the piece stands: right behind the one before, else first of where it ends behind it, else first at all."""
    pattern = re.compile(r"\s*".join(map(re.escape, piece.split())))
    start, end = before
    if behind := pattern.match(text, _after_white(text, end)):
        return behind.span()
    first: Span | None = None
    at = start + 1
    while match := pattern.search(text, at):
        first = first or match.span()
        if match.end() > end:
            return match.span()
        at = match.start() + 1
    return first


def _after_white(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _shown(piece: object) -> str:
    shown = " ".join(str(piece).split())
    return f'"{shown}"' if len(shown) <= SHOWN else f'"{shown[:SHOWN]}…"'
