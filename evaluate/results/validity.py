"""What `validity.json` says of a test set in sentences: as much of it as the report shows."""

from __future__ import annotations

from pydantic import ConfigDict

from ragassay.records import Record

PARTS = ("leak", "realism", "coverage", "difficulty", "authors", "people")
"""Of the page, in its order."""


class Part(Record):
    """What one question to the set found. said: sentences; warnings: those that speak against the set.

    abstained: why nothing, or not all of it, can be said; None where nothing is left open.
    """

    said: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    abstained: str | None = None


class PartSaid(Part):
    """A part without its figures."""

    model_config = ConfigDict(extra="ignore")


class ValiditySaid(Record):
    """The parts of `validity.json` without their figures. queries: the digest of the queries that it is of."""

    model_config = ConfigDict(extra="ignore")

    queries: str | None = None
    leak: PartSaid
    realism: PartSaid
    coverage: PartSaid
    difficulty: PartSaid
    authors: PartSaid
    people: PartSaid
