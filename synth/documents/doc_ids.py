"""The documents of a corpus folder, and the ids that their sections and passages begin with."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from ragassay.errors import InputError
from ragassay.text import plain

NOT_DOCUMENTS = frozenset({"replies", "embeddings"})
"""Folders directly below a corpus folder that hold a recorded run."""


def find_documents(corpus: Path, results: Path | None = None) -> list[str]:
    """The paths, relative to `corpus` with "/" between folders, of every PDF in it, sorted.

    Hidden files and folders, a recorded run and the `results` folder are passed over. Raises InputError for none.
    """
    if not corpus.is_dir():
        raise InputError("there is no such corpus folder", file=corpus, remedy="`ragassay new` makes one")
    docs = sorted(_walk(corpus, results))
    if not docs:
        raise InputError("there are no PDFs in this folder", file=corpus, remedy="put *.pdf files into it")
    return docs


def _walk(corpus: Path, results: Path | None) -> Iterator[str]:
    for folder, folders, names in os.walk(corpus, onerror=_raise):
        here = Path(folder)
        passed_over = NOT_DOCUMENTS if here == corpus else frozenset()
        folders[:] = [f for f in folders if not f.startswith(".") and f not in passed_over and here / f != results]
        for name in names:
            if name.lower().endswith(".pdf") and not name.startswith("."):
                yield (here / name).relative_to(corpus).as_posix()


def _raise(error: OSError) -> NoReturn:
    """A folder that may not be read is said, not passed over: its documents would be missing without a word."""
    raise error


def document_ids(docs: Sequence[str]) -> dict[str, str]:
    """Each document's id, matching [A-Za-z0-9._-]+. Raises InputError where two documents would have the same."""
    owners: dict[str, str] = {}
    for doc in docs:
        other = owners.setdefault(document_id(doc), doc)
        if other != doc:
            names = plain(f"'{other}' and '{doc}'")
            raise InputError(f"{names} would both have the id '{document_id(doc)}'", remedy="rename one of them")
    return {doc: identifier for identifier, doc in owners.items()}


def document_id(doc: str) -> str:
    """The path without ".pdf", what an id cannot hold made "-"; a digest stands for what was not ASCII."""
    stem = re.sub(r"\.pdf$", "", doc, flags=re.IGNORECASE)
    slug = re.sub(r"-{2,}", "-", re.sub(r"[^A-Za-z0-9._-]", "-", stem)).strip("-.") or "doc"
    if stem.isascii():
        return slug
    return f"{slug}-{hashlib.sha256(doc.encode('utf-8', 'surrogateescape')).hexdigest()[:6]}"
