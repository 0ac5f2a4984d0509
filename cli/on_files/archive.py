"""One ZIP of a run for auditors: what was asked, by which settings and prompts, what came of it, and digests of all.

The same run gives the same bytes. Left out are caches (`replies/`, `requests/`, `batches/`, embeddings), the passages'
index, locks and links. What looks like a key, a token or a password is blanked, and the digests' file says where.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

from ragassay import __version__
from ragassay.digests import digest_bytes
from ragassay.errors import InputError
from ragassay.files import json_line
from ragassay.keys import without_keys

LEFT_OUT = frozenset(
    ("replies", "requests", "batches", "batch-requests", "embeddings", "rerank-scores", "server-calls", "screening")
)
"""Folders of what is kept to run again, not to be read."""

DIGESTS = "digests.json"
_TEXTS = frozenset((".json", ".jsonl", ".toml", ".md", ".trec", ".tsv", ".csv", ".html", ".txt", ".py"))
_DATE = (1980, 1, 1, 0, 0, 0)
_OURS = Path(__file__).parents[2]
_PROMPTS = ("synth", "retrieval", "evaluate")


def write_archive(results: Path, corpus: Path | None, out: Path) -> list[str]:
    """The names in the archive. Raises InputError where `out` stands in the results folder or cannot be written."""
    if out.resolve().is_relative_to(results.resolve()):
        raise InputError("--out is in the results folder", file=out, remedy="name a file elsewhere")
    if corpus is not None and not (corpus / "experiment.toml").is_file():
        raise InputError("has no experiment.toml", file=corpus, remedy="name the corpus folder")
    digests: dict[str, str] = {}
    blanked: list[str] = []
    beside = out.with_name(f"{out.name}.part")
    try:
        with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, path in _files(results, corpus):
                data = path.read_bytes()
                kept = without_keys(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
                blanked += [name] if kept != data else []
                digests[name] = digest_bytes(kept)
                archive.writestr(zipfile.ZipInfo(name, _DATE), kept, zipfile.ZIP_DEFLATED)
            archive.writestr(zipfile.ZipInfo(DIGESTS, _DATE), _told(digests, blanked), zipfile.ZIP_DEFLATED)
        beside.replace(out)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", file=out) from None
    finally:
        beside.unlink(missing_ok=True)
    return [*digests, DIGESTS]


def _told(digests: dict[str, str], blanked: list[str]) -> str:
    """SHA-256 of each file as it stands in the archive, where something was blanked, and the versions."""
    versions = {one.metadata["Name"]: one.version for one in distributions() if one.metadata["Name"]}
    python = ".".join(map(str, sys.version_info[:3]))
    return json_line(
        {
            "ragassay": __version__,
            "python": python,
            "packages": dict(sorted(versions.items())),
            "sha256": digests,
            "blanked": blanked,
        }
    )


def _files(results: Path, corpus: Path | None) -> Iterator[tuple[str, Path]]:
    """(name in the archive, file): the results, the corpus folder's own settings and prompts, then our prompts."""
    yield from _texts(results, "results", LEFT_OUT)
    if corpus is not None:
        yield from _texts(corpus, "corpus", frozenset(("replies", "embeddings")))
    for room in _PROMPTS:
        for path in sorted((_OURS / room).rglob("prompts/*.md")):
            yield f"prompts/{path.relative_to(_OURS).as_posix()}", path


def _texts(folder: Path, name: str, left_out: frozenset[str]) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        hidden = any(part.startswith(".") for part in parts)
        kept = not hidden and not left_out & set(parts[:-1]) and path.suffix in _TEXTS
        if kept and path.is_file() and not path.is_symlink():
            yield "/".join((name, *parts)), path
