"""Queries that `ragassay perturb` made of others: the same question asked again, which is no further question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .records import Query

FROM, KIND = "perturbed_from", "perturbation"
"""Fields of `metadata`: the original's id, and what was done to it."""


def original_of(metadata: Mapping[str, Any]) -> str | None:
    """The id of the query that one with this metadata was made of; None of an original."""
    original = metadata.get(FROM)
    return original if isinstance(original, str) and original else None


def perturbed_from(query: Query) -> str | None:
    """The id of the query that it was made of; None of an original."""
    return original_of(query.metadata)


def kind_of(query: Query) -> str:
    """What was done to it."""
    return str(query.metadata.get(KIND) or "perturbed")


def link_of(query: Query) -> dict[str, str]:
    """Its link as two columns of a table, `perturbed_from` and `perturbation`; nothing of an original."""
    original = perturbed_from(query)
    return {} if original is None else {FROM: original, KIND: kind_of(query)}


def originals(queries: Sequence[Query]) -> list[Query]:
    """Those that were not made of others, which are what a test set asks."""
    return [query for query in queries if perturbed_from(query) is None]


def left_out(n_perturbed: int) -> list[str]:
    """The sentence for what speaks of originals alone; nothing where there are no others."""
    if not n_perturbed:
        return []
    some = "1 perturbed question is" if n_perturbed == 1 else f"{n_perturbed:,} perturbed questions are"
    return [f"{some} left out: the same question in changed words is no further question"]
