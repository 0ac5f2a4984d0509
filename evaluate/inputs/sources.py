"""Whose a query is: the user's own, which is real, or written by a model for the test set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragassay.records import Query


class BySource(NamedTuple):
    """The ids of the real queries and of the written ones, each in the order of the test set."""

    real: tuple[str, ...]
    written: tuple[str, ...]

    @property
    def both(self) -> bool:
        """Whether there are some of each."""
        return bool(self.real and self.written)

    def told(self) -> str:
        """How many of each: `24 are real and 36 written`."""
        return f"{len(self.real):,} {'is' if len(self.real) == 1 else 'are'} real and {len(self.written):,} written"


def writer(query: Query) -> str | None:
    """The model that wrote a query; None of a real one.

    What we have written names its model and the section it was made from. A user's own query may have a field `model`
    of another meaning (which product it is about), and without a section that is what it is taken for.
    """
    model, section = query.metadata.get("model"), query.metadata.get("section")
    return model if isinstance(model, str) and model and isinstance(section, str) and section else None


def by_source(queries: Sequence[Query]) -> BySource:
    """The test set in two."""
    return BySource(
        tuple(query.id for query in queries if writer(query) is None),
        tuple(query.id for query in queries if writer(query) is not None),
    )
