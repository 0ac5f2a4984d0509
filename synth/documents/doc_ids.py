"""The documents of a corpus folder, and the ids that their sections and passages begin with."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.text import listed, plain

from ..formats.kinds import PDF, SETTINGS_TOO, check_packages, kind_of

READY = "corpus.jsonl"
"""Passages that are ready, in the corpus folder."""

NOT_DOCUMENTS = frozenset({"replies", "embeddings"})
"""Folders directly below a corpus folder that hold a recorded run."""


def document_files(workspace: Workspace) -> list[str]:
    """The documents that an experiment reads from its corpus folder, as of `find_documents`; none with a loader.

    Raises InputError, too, for ids that would be the same and packages that are not installed.
    """
    settings = workspace.experiment.ingest
    if settings.loader:
        return []
    if settings.ready:
        if not (workspace.corpus / READY).is_file():
            remedy = "put passages in BEIR's layout there, or set kinds under [ingest]"
            raise InputError("there is no such file", file=workspace.corpus / READY, remedy=remedy)
        return [READY]
    passed_over = _named_by(workspace) if SETTINGS_TOO & set(settings.kinds) else ()
    names = find_documents(workspace.corpus, workspace.results, settings.kinds, passed_over)
    check_packages({kind_of(name) or PDF for name in names})
    document_ids(names)
    return names


def _named_by(workspace: Workspace) -> set[str]:
    """The files of the corpus folder that are no documents: questions, and what the experiment's settings name."""
    own = (workspace.expert_questions, workspace.own_queries, workspace.own_labels)
    return {path.name for path in own} | set(_texts(workspace.experiment.model_dump(mode="json", warnings=False)))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def find_documents(
    corpus: Path,
    results: Path | None = None,
    kinds: Collection[str] = (PDF,),
    passed_over: Collection[str] = frozenset(),
) -> list[str]:
    """The paths, relative to `corpus` with "/" between folders, of every document of these kinds in it, sorted.

    Hidden files and folders, a recorded run, the `results` folder and the files `passed_over` are none of them. Raises
    InputError for no document.
    """
    if not corpus.is_dir():
        raise InputError("there is no such corpus folder", file=corpus, remedy="`ragassay new` makes one")
    files = [name for name in sorted(_walk(corpus, results)) if name not in passed_over]
    docs = [name for name in files if kind_of(name) in kinds]
    if not docs:
        raise _none(corpus, files, kinds)
    return docs


def other_documents(workspace: Workspace) -> str | None:
    """A sentence on documents in the corpus folder that are of no kind that is read; None where there are none."""
    settings = workspace.experiment.ingest
    if settings.loader or settings.ready:
        return None
    found = list(_walk(workspace.corpus, workspace.results))
    kinds = {kind for name in found if (kind := kind_of(name))} - set(settings.kinds) - SETTINGS_TOO
    if not kinds:
        return None
    n = sum(kind_of(name) in kinds for name in found)
    return f"{n} documents are not read, since kinds under [ingest] does not name {listed(sorted(kinds))}"


def _none(corpus: Path, files: Sequence[str], kinds: Collection[str]) -> InputError:
    others = {kind for name in files if (kind := kind_of(name))}
    others |= {"passages"} if not others and (corpus / READY).is_file() else set()
    what = "PDFs" if set(kinds) == {PDF} else f"documents of the kind {listed(sorted(kinds))}"
    remedy = "put *.pdf files into it" if PDF in kinds else "put some into it"
    if others:
        names = ", ".join(f'"{kind}"' for kind in sorted(others))
        remedy = f"what is there is read with kinds = [{names}] under [ingest] in experiment.toml"
    return InputError(f"there are no {what} in this folder", file=corpus, remedy=remedy)


def _walk(corpus: Path, results: Path | None) -> Iterator[str]:
    for folder, folders, names in os.walk(corpus, onerror=_raise):
        here = Path(folder)
        passed_over = NOT_DOCUMENTS if here == corpus else frozenset()
        folders[:] = [f for f in folders if not f.startswith(".") and f not in passed_over and here / f != results]
        for name in names:
            if kind_of(name) and not name.startswith("."):
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
