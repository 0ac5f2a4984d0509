"""Which queries a look is at: those of a document, a model, a kind, a role, a length, or a root cause of failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np

from ragassay.arrays import Truths
from ragassay.text import one_line

from ..index.read import FACETS, Index
from ..places import MOST, written
from .test_set import THIRDS, TestSet

NAMES = {"doc": "document", "model": "question model", "kind": "kind", "role": "role"}


@dataclass(frozen=True)
class Slice:
    """facets: (column, value). third: one of `THIRDS`, or "". cause: of some agent's failed answer, or ""."""

    facets: tuple[tuple[str, str], ...] = ()
    third: str = ""
    cause: str = ""

    @classmethod
    def asked(cls, params: Mapping[str, str], index: Index, queries: TestSet) -> Slice:
        """From an address; a value that no query has is passed over."""
        facets = tuple((n, params[n]) for n in FACETS if params.get(n) and params[n] in set(queries.facets[n]))
        third, cause = params.get("length", ""), params.get("cause", "")
        return cls(facets, third if third in THIRDS else "", cause if cause in index.causes else "")

    @property
    def whole(self) -> bool:
        """Whether it is the whole test set."""
        return not (self.facets or self.third or self.cause)

    def params(self) -> dict[str, str]:
        """As they stand in an address."""
        return dict(self.facets) | {k: v for k, v in (("length", self.third), ("cause", self.cause)) if v}

    def mask(self, index: Index, queries: TestSet) -> Truths:
        """(queries,): which are in it, by place."""
        found = np.ones(len(queries.ids), dtype=bool)
        for name, value in self.facets:
            found &= np.array([one == value for one in queries.facets[name]], dtype=bool)
        if self.third:
            low, high = queries.limits()
            ends = {"short": (0.0, low), "middle": (low, high), "long": (high, np.inf)}[self.third]
            found &= (queries.words > ends[0]) & (queries.words <= ends[1])
        if self.cause:
            failed = np.zeros(len(found), dtype=bool)
            failed[index.causes[self.cause]] = True
            found &= failed
        return found

    def said(self) -> str:
        """In words: `document manual.pdf, short questions`; `all queries`."""
        parts = [f"{NAMES[name]} {one_line(value)}" for name, value in self.facets]
        parts += [f"{self.third} questions"] if self.third else []
        parts += [f"some agent failed of {one_line(self.cause)}"] if self.cause else []
        return ", ".join(parts) or "all queries"

    def address(self, bench: str, places: Sequence[int]) -> str:
        """Of the list of its queries; of a part that only places tell, the first `MOST`."""
        if self.third or self.cause:
            return listing(bench, places)
        return f"/{bench}/queries" + (f"?{urlencode(dict(self.facets))}" if self.facets else "")


def listing(bench: str, places: Sequence[int]) -> str:
    """The address of a list of queries, by their places."""
    return f"/{bench}/queries?{urlencode({'places': written(places[:MOST])}, safe=',')}"


@dataclass(frozen=True)
class Choice:
    """A menu of the form: its name in the address, what it is called, and (value, words) of each entry."""

    name: str
    title: str
    entries: tuple[tuple[str, str], ...]


def choices(index: Index, queries: TestSet) -> list[Choice]:
    """The menus that have something to choose from."""
    made = []
    for name in FACETS:
        values = [(value, n) for value, n in index.facet(name) if value]
        if len(index.facet(name)) > 1:
            made.append(Choice(name, NAMES[name], tuple((v, f"{one_line(v)} ({n:,})") for v, n in values)))
    low, high = queries.limits()
    if low < high < queries.words.max(initial=0.0):
        words = (f"short: to {low:g} words", f"middle: to {high:g} words", "long: more")
        made.append(Choice("length", "length", tuple(zip(THIRDS, words, strict=True))))
    causes = [(cause, f"{one_line(cause)} ({len(places):,})") for cause, places in index.causes.items()]
    return [*made, Choice("cause", "root cause", tuple(causes))] if causes else made
