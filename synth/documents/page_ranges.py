"""`exclude_pages`: page ranges as people write them, "1-9, 55-75, 300-"."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path

from ragassay.errors import InputError
from ragassay.text import plain

_RANGE = re.compile(r"(\d+)(?:\s*([-–])\s*(\d*))?")
_HOW = 'write ranges such as "1-9, 55-75, 300-"'


class ExcludedPages:
    """The `corpus.exclude_pages` table of one experiment file. Complaints name the file and the key path."""

    def __init__(self, table: Mapping[str, str], experiment_file: Path) -> None:
        self._file = experiment_file
        self._table = {unicodedata.normalize("NFC", doc): ranges for doc, ranges in table.items()}

    def check_documents(self, docs: Iterable[str]) -> None:
        """Raises InputError where the table names a document that is not there."""
        known = [unicodedata.normalize("NFC", doc) for doc in docs]
        for doc in self._table:
            if doc not in known:
                near = difflib.get_close_matches(doc, known, 3, 0.3) or known[:3]
                names = ", ".join(f'"{name}"' for name in near)
                raise self._complaint(doc, "there is no such PDF in the corpus folder", f"there are {names}")

    def kept(self, doc: str, n_pages: int) -> list[int]:
        """The pages of `doc` (1-based, ascending) that are not excluded.

        Raises InputError for what is not a range, a page beyond the end, or when no page is left.
        """
        name = unicodedata.normalize("NFC", doc)
        excluded: set[int] = set()
        for part in filter(None, (part.strip() for part in self._table.get(name, "").split(","))):
            excluded.update(self._pages(name, part, n_pages))
        kept = [page for page in range(1, n_pages + 1) if page not in excluded]
        if n_pages and not kept:
            raise self._complaint(
                name, f"excludes all {n_pages} pages", "leave some, or move the PDF out of the folder"
            )
        return kept

    def _pages(self, doc: str, part: str, n_pages: int) -> range:
        match = _RANGE.fullmatch(part)
        if not match:
            raise self._complaint(doc, f"'{part}' is not a page or a range of pages", _HOW)
        first = int(match[1])
        last = int(match[3] or n_pages) if match[2] else first
        if first < 1 or (last < first and match[3]):
            raise self._complaint(doc, f"'{part}' is not a range of pages counted from 1", _HOW)
        if max(first, last) > n_pages:
            raise self._complaint(doc, f"'{part}' goes beyond the end: the document has {n_pages} pages", None)
        return range(first, last + 1)

    def _complaint(self, doc: str, problem: str, remedy: str | None) -> InputError:
        text = plain(f'corpus.exclude_pages."{doc}": {problem}')
        return InputError(text, file=self._file, line=self._line(doc), remedy=plain(remedy) if remedy else None)

    def _line(self, doc: str) -> int | None:
        """The first line of the file on which the document's name stands as a quoted key."""
        try:
            lines = self._file.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return None
        keys = (f'"{doc}"', f"'{doc}'")
        return next((number for number, line in enumerate(lines, 1) if any(key in line for key in keys)), None)
