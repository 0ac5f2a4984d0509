"""`corpus.jsonl`: the passages that [ingest] cuts stand first in it, and after them those of each `[[chunking]]`."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection
from functools import lru_cache
from itertools import takewhile
from pathlib import Path

from ..files import read_objects, read_records
from ..records import Passage
from .variant_settings import OURS


def chunking_of(passage: Passage) -> str:
    """The name of the chunking that cut the passage, OURS for [ingest]'s."""
    return str(passage.metadata.get("chunking", OURS))


def read_passages(path: Path, chunking: str = OURS) -> list[Passage]:
    """The passages of one chunking in their order. Raises InputError with the line."""
    return [passage for passage in read_records(path, Passage) if chunking_of(passage) == chunking]


def count_passages(path: Path) -> int:
    """How many passages [ingest] cut, which stand first. Raises InputError with the line."""
    return sum(1 for _ in takewhile(_is_ours, (line for _, line in read_objects(path))))


def count_by_chunking(path: Path) -> Counter[str]:
    """How many passages each chunking cut. Raises InputError with the line."""
    return Counter(_chunking_in(line) for _, line in read_objects(path))


def digest_passages(path: Path, chunkings: Collection[str]) -> str:
    """SHA-256 of the lines of these chunkings: that of the file, where there are no others."""
    written = path.stat()
    return _digest(path, written.st_mtime_ns, written.st_size, frozenset(chunkings))


@lru_cache(maxsize=256)
def _digest(path: Path, written_ns: int, size: int, chunkings: frozenset[str]) -> str:
    del written_ns, size  # so that it is worked out once for all variants, and again once the file is another
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        for line in stream:
            if not line.strip() or _chunking_in(json.loads(line)) in chunkings:
                digest.update(line)
    return digest.hexdigest()


def _chunking_in(line: dict[str, object]) -> str:
    metadata = line.get("metadata")
    return str(metadata.get("chunking", OURS)) if isinstance(metadata, dict) else OURS


def _is_ours(line: dict[str, object]) -> bool:
    metadata = line.get("metadata")
    return not (isinstance(metadata, dict) and "chunking" in metadata)
