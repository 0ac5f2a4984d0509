"""The forms in which a piece of evidence is written, as far as they can be checked without the documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..text import plain
from .quotes import long_enough

FORMS = (
    '{"doc": …, "start": …, "end": …}, {"doc": …, "quote": …}, {"doc": …, "first_page": …, "last_page": …} or '
    '{"passage": …}'
)
OFFSETS, QUOTE = frozenset(("doc", "start", "end")), frozenset(("doc", "quote"))
PAGES, PASSAGE = frozenset(("doc", "first_page", "last_page")), frozenset(("passage",))
_TEXTS = ("doc", "quote", "passage")


def given_pieces(value: Mapping[str, Any], file: Path, line: int) -> Sequence[Mapping[str, Any]]:
    """The pieces that a line of `queries.jsonl` gives, each in one of the `FORMS`; none where it gives no evidence.

    They are `metadata.evidence`, else a field `evidence` beside the metadata, where whatever is not ours counts as
    metadata too. Raises InputError with file and line where they are no list, or one of them has no such form.
    """
    metadata = value.get("metadata")
    given = metadata.get("evidence") if isinstance(metadata, dict) else None
    given = value.get("evidence") if given is None else given
    if given is not None and not isinstance(given, list):
        raise InputError("evidence is not a list", file=file, line=line, remedy=f"write a list of {FORMS}")
    for number, piece in enumerate(given or (), 1):
        try:
            _check_form(piece)
        except InputError as error:
            raise InputError(f"evidence {number}: {error.problem}", file=file, line=line, remedy=error.remedy) from None
    return given or ()


def _check_form(piece: object) -> None:
    if not isinstance(piece, dict):
        raise InputError("is not an object", remedy=f"write {FORMS}")
    if frozenset(piece) not in (OFFSETS, QUOTE, PAGES, PASSAGE):
        named = ", ".join(f"'{plain(key)}'" for key in sorted(piece)) or "no key"
        raise InputError(f"has {named}", remedy=f"write {FORMS}, each by itself")
    for key, value in piece.items():
        kind = str if key in _TEXTS else int
        if type(value) is not kind:
            raise InputError(f"'{key}' is not a {'text' if kind is str else 'whole number'}", remedy=f"write {FORMS}")
    if "start" in piece and not 0 <= piece["start"] < piece["end"]:
        problem = f"start {piece['start']} is not before end {piece['end']}, or below 0"
        raise InputError(problem, remedy="characters count from 0, and end is the first one after the evidence")
    if "first_page" in piece and not 1 <= piece["first_page"] <= piece["last_page"]:
        problem = f"first_page {piece['first_page']} is after last_page {piece['last_page']}, or below 1"
        raise InputError(problem, remedy="pages count from 1, and both are part of the evidence")
    if "quote" in piece and not long_enough(piece["quote"]):
        raise InputError(f"the quote “{plain(piece['quote'])}” is too short to be found", remedy="quote more words")
