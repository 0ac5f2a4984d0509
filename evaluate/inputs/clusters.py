"""Which queries go together: what is made from one section of a document is not independent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ragassay.arrays import Floats, Ints, Truths, sums_by_number
from ragassay.errors import InputError
from ragassay.files import read_records
from ragassay.records import Query, perturbed_from
from ragassay.text import plain, same_words, some_of


@dataclass(frozen=True, eq=False)
class Clusters:
    """Queries and the cluster that each is of; made once and handed down.

    queries: ids. numbers: (queries,) each one's cluster, an index into `names`. names: the clusters', in order.
    """

    queries: tuple[str, ...] = ()
    numbers: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    names: tuple[str, ...] = ()

    @classmethod
    def named(cls, queries: Sequence[str], names: Sequence[str]) -> Clusters:
        """From the name of each query's cluster."""
        at = {name: number for number, name in enumerate(sorted(set(names)))}
        return cls(tuple(queries), np.array([at[name] for name in names], dtype=np.intp), tuple(at))

    @property
    def sizes(self) -> Floats:
        """(clusters,): how many queries each has."""
        return np.bincount(self.numbers, minlength=len(self.names)).astype(np.float64)

    def number(self, query: str) -> int:
        """The number of a query's cluster. Raises KeyError for one that is not in `queries`."""
        return self._numbers[query]

    def of(self, queries: Sequence[str]) -> Clusters:
        """The clusters of these queries alone, in their order."""
        return Clusters.named(queries, self.names_of(queries))

    def names_of(self, queries: Sequence[str]) -> tuple[str, ...]:
        """The name of each one's cluster; one that is not known is its own cluster."""
        known = self._numbers
        return tuple(self.names[known[q]] if q in known else f"query {q}" for q in queries)

    def where(self, which: Truths) -> Clusters:
        """Some of the queries, `which` (queries,); clusters keep their numbers, also those left without a query."""
        if which.all():
            return self
        kept = tuple(map(self.queries.__getitem__, np.flatnonzero(which).tolist()))
        return Clusters(kept, self.numbers[which], self.names)

    def only(self, which: Truths) -> Clusters:
        """As `where`, without the clusters that are left without a query; what `of` makes of the ids, sooner."""
        used, numbers = np.unique(self.numbers[which], return_inverse=True)
        kept = tuple(map(self.queries.__getitem__, np.flatnonzero(which).tolist()))
        return Clusters(kept, numbers.astype(np.intp), tuple(self.names[number] for number in used.tolist()))

    def sums(self, values: Floats) -> Floats:
        """(..., clusters): `values` (..., queries) summed by cluster."""
        return sums_by_number(values, self.numbers, len(self.names), self._order)

    @cached_property
    def places(self) -> dict[str, int]:
        """Query id to its place in `queries`."""
        return {query: place for place, query in enumerate(self.queries)}

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(self.numbers, kind="stable")

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return dict(zip(self.queries, self.numbers.tolist(), strict=True))


ALONE = Clusters()
"""Each query by itself."""


def clusters_of_rows(names: Sequence[str]) -> Clusters:
    """The rows of a table, each told by its place: those with the same name go together."""
    return Clusters.named([str(place) for place, _ in enumerate(names)], names)


_NAMED = 3


def read_clusters(path: Path | None, queries: Iterable[str], asked_in: Path) -> Clusters:
    """The clusters of `source_clusters`, by section alone, of the queries in `path`; `ALONE` without one.

    queries: the ids that need one, of the file `asked_in`. More in `path` is no harm. Raises InputError for a file that
    cannot be read, an id in it twice, no `metadata.section` at all, and, by name, the ids that it does not have.
    """
    if path is None:
        return ALONE
    rows = read_records(path, Query)
    often = Counter(row.id for row in rows)
    if twice := [query for query, times in often.items() if times > 1]:
        raise InputError(f"has the id '{plain(twice[0])}' twice", file=path)
    found = source_clusters(rows, by_text=False)
    if not any(name.startswith("section ") for name in found.names):
        remedy = 'give each {"_id": …, "text": …, "metadata": {"section": …}}, or leave --sections out'
        raise InputError("names no query's section", file=path, remedy=remedy)
    if unknown := sorted(set(queries) - often.keys()):
        named = some_of((f"'{plain(query)}'" for query in unknown), _NAMED)
        some = "1 query" if len(unknown) == 1 else f"{len(unknown):,} queries"
        problem = f"lacks {some} of {asked_in}: {named}"
        raise InputError(problem, file=path, remedy="add them, each with its metadata.section")
    return found


def source_clusters(queries: Sequence[Query], *, by_text: bool = True) -> Clusters:
    """The cluster of each query: the section it was made from, or itself where it names none.

    by_text: queries of the same text, whatever its case and white space, are of one cluster, and so is all that shares
    theirs. A text without a letter or digit is nobody's. A perturbed query is of its original's. The turns of a
    conversation (`metadata.conversation`) are of one cluster, and their texts, such as “Why?”, join no two.
    """
    sections, texts = dict[str, str](), dict[str, str]()
    for query in queries:
        section = query.metadata.get("section")
        named = isinstance(section, str | int) and not isinstance(section, bool) and section != ""
        sections[query.id] = f"section {query.metadata.get('doc', '')} {section}" if named else f"query {query.id}"
        texts[query.id] = same_words(query.text) if by_text and not query.history else ""
        if (conversation := query.metadata.get("conversation")) is not None:
            texts[query.id] = f"conversation {json.dumps(conversation)}"
    for query in queries:
        if (original := perturbed_from(query)) is not None:
            sections[query.id] = sections.get(original, f"query {original}")
    return Clusters.named(list(sections), _joined(list(sections.values()), list(texts.values())))


def _joined(names: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Each one's name, or of names that a text joins, the first of them by the alphabet."""
    joined: dict[str, str] = {}

    def root(name: str) -> str:
        while name in joined:
            name = joined[name]
        return name

    of_text: dict[str, str] = {}
    for name, text in zip(names, texts, strict=True):
        low, high = sorted((root(name), root(of_text.setdefault(text, name) if text else name)))
        if low != high:
            joined[high] = low
    return [root(name) for name in names]


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
