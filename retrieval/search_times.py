"""How long searching for one query takes, for the latency of the built-in agents: they search for all at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pydantic import Field

from ragassay.errors import InputError
from ragassay.files import read_records
from ragassay.records import Id, Record

SAMPLE = 20
"""So many queries are searched for alone, spread evenly over the test set, after one whose time does not count."""


class SearchTime(Record):
    """`search-times.jsonl`: mean seconds that an agent's search took for one query, over `n` queries.

    Embedding the query is part of it, and for RAG-Fusion the search of all versions of the query, in one batch. key:
    the digest of the passages and the settings it was measured with; measured once, as replies are, it is kept.
    """

    agent: Id
    key: str
    n: int = Field(ge=1)
    latency_s: float = Field(ge=0)


def measure(
    agent: str, key: str, search: Callable[[Sequence[str]], object], texts: Sequence[Sequence[str]]
) -> list[SearchTime]:
    """Time `search` for some of `texts`, one query after another (a query's texts together); empty where it cannot be.

    It cannot be where the embedding model is not at hand, all vectors having been found in the cache.
    """
    sample = [texts[place * len(texts) // SAMPLE] for place in range(SAMPLE)] if len(texts) > SAMPLE else list(texts)
    if not sample:
        return []
    try:
        search(sample[0])
        started = time.perf_counter()
        for one in sample:
            search(one)
    except InputError:
        return []
    mean_s = (time.perf_counter() - started) / len(sample)
    return [SearchTime(agent=agent, key=key, n=len(sample), latency_s=round(mean_s, 6))]


def read_search_times(path: Path) -> Mapping[str, SearchTime]:
    """By agent; empty where nothing was measured. Raises InputError."""
    return {row.agent: row for row in read_records(path, SearchTime)} if path.exists() else {}
