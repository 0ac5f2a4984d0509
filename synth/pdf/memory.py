"""A limit to the memory that this process may take, so that one hostile document cannot take a machine's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def memory_limited(most: int) -> Iterator[None]:
    """Beyond `most` bytes of data Python raises MemoryError, and a C++ library ends the process by SIGABRT.

    What is read from files as they stand on the disk does not count. The limit is taken back at the end.
    """
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with suppress(OSError, ValueError):  # a system that knows no such limit
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def too_much(most: int) -> str:
    """What is said of a document for which that is not enough."""
    return f"takes more than {most / 1e9:g} GB of memory; divide it"
