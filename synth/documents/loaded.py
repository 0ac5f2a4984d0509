"""Documents that a loader of the user's own gives, of LangChain's kind: `[ingest] loader = "module:name"`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragassay.errors import InputError
from ragassay.experiment.own_code import import_own, importable, said
from ragassay.text import plain

from ..formats.paging import paged
from ..pdf.process import PageText, Probe
from .cutting import Raw


@dataclass
class _Source:
    """The texts of one document, and the places from 0 that the loader says they have."""

    texts: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)


def load_documents(name: str, folder: Path) -> list[Raw]:
    """The documents that `module:name` gives: a function of the corpus folder, or a loader, or its class.

    What it gives is an iterable of Documents (`page_content`, `metadata`), or has `lazy_load`. Those of one
    `metadata["source"]` are one document, in their order; where each says its `page` (from 0, ascending), they are its
    pages. Raises InputError where it fails, or gives something else or nothing. The user's code runs here.
    """
    settings = folder / "experiment.toml"
    module, _, attribute = name.partition(":")
    with importable(folder):
        loader = getattr(import_own(module, folder, f"loader {name}", settings), attribute, None)
        try:
            given = list(_given(loader, folder))
        except (Exception, SystemExit) as error:
            problem = f"the loader {name} fails ({said(error)})"
            remedy = "name a function of the corpus folder that gives Documents, or a loader with lazy_load"
            raise InputError(problem, file=settings, remedy=remedy) from error
    raw = [_raw(source, one) for source, one in _by_source(given, folder, name, settings).items()]
    if not raw:
        raise InputError(f"the loader {name} gives no documents", file=settings)
    return raw


def _given(loader: Any, folder: Path) -> Iterable[Any]:
    if isinstance(loader, type):
        loader = loader()
    found = loader if hasattr(loader, "lazy_load") else loader(folder)
    documents: Iterable[Any] = found.lazy_load() if hasattr(found, "lazy_load") else found
    return documents


def _by_source(given: Sequence[Any], folder: Path, name: str, settings: Path) -> dict[str, _Source]:
    sources: dict[str, _Source] = {}
    for number, document in enumerate(given, 1):
        text, metadata = getattr(document, "page_content", None), getattr(document, "metadata", None)
        if not (isinstance(text, str) and isinstance(metadata, dict)):
            problem = f"the loader {name} gives as document {number} what has no page_content and metadata"
            raise InputError(problem, file=settings)
        source = sources.setdefault(_name(metadata.get("source"), folder, number), _Source())
        source.texts.append(text)
        if type(page := metadata.get("page")) is int and page >= 0:
            source.places.append(page)
    return sources


def _name(source: object, folder: Path, number: int) -> str:
    """What the document is called: its path in the corpus folder, or its source as it is."""
    if not source:
        return f"document-{number}"
    path = Path(str(source))
    inside = path.is_absolute() and path.is_relative_to(folder.resolve())
    return plain(path.relative_to(folder.resolve()).as_posix() if inside else str(source))


def _raw(doc: str, source: _Source) -> Raw:
    rising = sorted(set(source.places)) == source.places
    if rising and len(source.places) == len(source.texts):
        pages = [PageText(place + 1, text) for place, text in zip(source.places, source.texts, strict=True)]
    else:
        pages = [PageText(number, text) for number, text in enumerate(paged("\n\n".join(source.texts)).pages, 1)]
    probe = Probe(pages[-1].page)
    return Raw(doc, "", probe, tuple(pages), printed=False, is_pdf=False)
