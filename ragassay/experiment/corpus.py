"""`corpus.jsonl`: the passages that [ingest] cuts stand first in it, and after them those of each `[[chunking]]`."""

from __future__ import annotations

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


def _is_ours(line: dict[str, object]) -> bool:
    metadata = line.get("metadata")
    return not (isinstance(metadata, dict) and "chunking" in metadata)
