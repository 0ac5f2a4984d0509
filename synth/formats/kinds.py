"""The kinds of documents that a corpus folder may hold, by what their names end in, and the packages they need."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from pathlib import Path

from ragassay.errors import MissingExtra

PDF = "pdf"

SUFFIXES = {
    ".pdf": PDF,
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".docx": "docx",
}

SETTINGS_TOO = frozenset({"markdown", "text"})
"""Kinds that prompts and notes beside the documents have as well."""

_NEEDS = {"html": ("markdownify", "bs4"), "docx": ("docx",)}


def kind_of(name: str) -> str | None:
    """The kind of a file, by its name; None for what is no document."""
    return SUFFIXES.get(Path(name).suffix.lower())


def check_packages(kinds: Iterable[str]) -> None:
    """Raises MissingExtra where a package that some of the kinds need is not installed."""
    lacking = sorted(kind for kind in set(kinds) if any(map(_missing, _NEEDS.get(kind, ()))))
    if lacking:
        raise MissingExtra(f"reading {' and '.join(lacking)}", "documents")


def _missing(module: str) -> bool:
    return importlib.util.find_spec(module) is None
