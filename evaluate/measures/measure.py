"""What a measure of rankings is, and the measure of a spelling (`RR(rel=2)@5`).

A measure is a class in a module of this folder, which finds it by itself, or one that another package brings under the
entry point group `ragassay.measures`; these are looked for only where a name is not ours. Of each class here what
`in_runs` says is worked out in every run, in the order of the modules' names and of the classes in them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ragassay.errors import InputError
from ragassay.experiment.plugins import brought_by, classes_in, names_of, plugin, said
from ragassay.files import Qrels
from ragassay.records import Passage
from ragassay.text import did_you_mean, listed, plain

if TYPE_CHECKING:
    from ..statistics.clustered import Values

Rankings = Mapping[str, Sequence[tuple[str, float]] | None]
"""Query to (passage, score), best first. None: retrieval failed. A query that is absent retrieved nothing."""

OFFERED = ("nDCG@10", "RR@10", "RR(rel=2)@5", "P@5", "R@100", "R(rel=1)@100", "AP", "Success@5", "Judged@10")

_SPELLING = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:@(?P<k>[1-9]\d{0,8}))?")


@dataclass(frozen=True)
class Judged:
    """What one agent's values are worked out from, by the judge's labels.

    queries: those that are owed a value. failed: query to the passages of which the judge gave no label. sources: of
    the queries that have some (`by_place.sources`). rows: the labels of the first k passages (`by_labels.LabelRows`),
    of queries of which nothing is open.
    """

    queries: Sequence[str]
    qrels: Qrels
    rankings: Rankings
    failed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sources: Mapping[str, Any] = field(default_factory=dict)
    passages: Mapping[str, Passage] = field(default_factory=dict)
    rows: Any = None


class Measure:
    """A measure of rankings, whose values by query are from 0 to 1, more is better; its docstring stands in the report.

    A new one has a `name` and either a `value` or, where labels are not all it takes, a `values` and a `scores`. `str`
    of a measure is its spelling (`NAME@k`), from which `of` makes it again. k: how many passages count; None: all.
    """

    name: ClassVar[str] = ""
    in_runs: ClassVar[tuple[str, ...]] = ()
    """What of it every run has: spellings without the cutoff, which is the run's."""
    compared: ClassVar[bool] = False
    """Whether pairs of agents are compared on those."""
    from_labels: ClassVar[bool] = True
    """Whether rankings and labels are all it takes, so that people's labels and a file of qrels give it too."""

    def __init__(self, k: int | None = None) -> None:
        self.k = k

    def __str__(self) -> str:
        return self.name if self.k is None else f"{self.name}@{self.k}"

    @classmethod
    def of(cls, spelling: str) -> Self | None:
        """The measure of a spelling; None where it is none of this class."""
        parts = _SPELLING.fullmatch(spelling)
        return cls(int(parts["k"]) if parts["k"] else None) if parts and parts["name"] == cls.name else None

    @classmethod
    def heading(cls, spelling: str) -> str:
        """Of its column in the report."""
        return spelling

    @classmethod
    def explained(cls, spelling: str) -> str:
        """What it is, in a sentence for the heading's title."""
        text = " ".join((cls.__doc__ or "").split("\n\n")[0].split()).rstrip(".")
        return text if text[1:2].isupper() else text[:1].lower() + text[1:]

    def value(self, labels: Sequence[int], others: Sequence[int]) -> float:
        """Of one query, 0 to 1. labels: of the first k passages, best first; others: of all else that has a label."""
        raise NotImplementedError(f"{type(self).__name__} has no value")

    def scores(self, qrels: Qrels, rankings: Mapping[str, Sequence[tuple[str, float]]]) -> dict[str, float]:
        """Of every query of `qrels`; what has no ranking retrieved nothing, what has no label is not relevant (0)."""
        return {query: self._checked(query, labels, rankings.get(query, ())) for query, labels in qrels.items()}

    def values(self, judged: Judged) -> Values:
        """Of the queries it applies to; None where retrieval failed, and where a label is missing that could count.

        Here these are those of the first k passages, and all that failed.
        """
        found: dict[str, float | None] = {}
        for query in judged.queries:
            ranking, labels = judged.rankings.get(query, ()), judged.qrels.get(query, {})
            settled = ranking is not None and labels.keys() >= {
                *(passage for passage, _ in ranking[: self.k]),
                *judged.failed.get(query, ()),
            }
            found[query] = self._checked(query, labels, ranking) if ranking is not None and settled else None
        return found

    def _checked(self, query: str, labels: Mapping[str, int], ranking: Sequence[tuple[str, float]]) -> float:
        """Raises InputError where another package's `value` fails, or gives no number from 0 to 1."""
        first = [passage for passage, _ in ranking[: self.k]]
        others = [label for passage, label in labels.items() if passage not in first]
        whose = f"the measure {plain(str(self))}, on query '{plain(query)}',"
        try:
            value = float(self.value([labels.get(passage, 0) for passage in first], others))
        except Exception as error:
            raise InputError(f"{whose} failed ({said(error)})", remedy="mend or uninstall it") from error
        if not 0 <= value <= 1:
            raise InputError(f"{whose} gave {value:g}, which is not from 0 to 1", remedy="mend or uninstall it")
        return value


@cache
def built_in() -> tuple[type[Measure], ...]:
    """The classes of this folder; those without a name, which take whatever some library knows, last."""
    kinds = classes_in(__name__.rpartition(".")[0], Measure)
    return tuple(sorted(kinds, key=lambda kind: not kind.name))


def known(spelling: str) -> Measure | None:
    """The measure of this spelling, of ours or of an installed package; None where there is none.

    Raises InputError where a package brings one that cannot be used.
    """
    for kind in built_in():
        if found := kind.of(spelling):
            return found
    name = spelling.partition("@")[0]
    theirs = plugin("measures", name, Measure)
    return theirs.of(spelling) if theirs else None


@cache
def named(spelling: str) -> type[Measure] | None:
    """The class that the figure of this spelling (`RR(rel=2)@5`) is of, by its name alone; None where there is none."""
    for kind in built_in():
        rest = spelling.removeprefix(kind.name)
        if kind.name and rest != spelling and rest[:1] in ("", "@", "("):
            return kind
    name, at, _ = spelling.partition("@")
    return plugin("measures", name, Measure) if at else None


def measure(spelling: str) -> Measure:
    """`known`. Raises InputError where there is none, naming some that there are."""
    if found := known(spelling):
        return found
    theirs = names_of("measures")
    also = f"; installed packages bring {listed([plain(name) for name in theirs])}" if theirs else ""
    raise InputError(
        f"'{plain(spelling)}' is not a measure known here",
        remedy=f"{did_you_mean(spelling, (*OFFERED, *theirs))}measures are such as {', '.join(OFFERED)}, "
        f"or trec_eval's ndcg_cut_10, map, recall_100{also}",
    )


def by_query(spelling: str, qrels: Qrels, rankings: Mapping[str, Sequence[tuple[str, float]]]) -> dict[str, float]:
    """The measure for every query of `qrels`, as `Measure.scores` has it."""
    return measure(spelling).scores(qrels, rankings)


def in_runs(k: int, more: Sequence[str] = ()) -> list[Measure]:
    """What is worked out in every run, and `more`, each with the cutoff `k` where it names none.

    Raises InputError for one that is not known, and for a cutoff beyond k, since the judge labels no further.
    """
    found = {f"{spelling}@{k}": measure(f"{spelling}@{k}") for kind in built_in() for spelling in kind.in_runs}
    for spelling in more:
        one = measure(with_cutoff(spelling, k))
        if one.k is None or one.k > k:
            raise InputError(f"'{plain(spelling)}' looks beyond the {k} passages that are judged", remedy=f"take @{k}")
        found.setdefault(str(one), one)
    return list(found.values())


def compared(k: int, more: Sequence[str] = ()) -> list[str]:
    """Those of `in_runs` on which pairs of agents are compared: some of ours, and what the user names."""
    named = {with_cutoff(spelling, k) for spelling in more}
    return [str(one) for one in in_runs(k, more) if one.compared or str(one) in named]


def from_labels(k: int, more: Sequence[str] = ()) -> list[str]:
    """Those of `in_runs` that people's labels give too."""
    return [str(one) for one in in_runs(k, more) if one.from_labels]


def with_cutoff(spelling: str, k: int) -> str:
    """`P@5` of `P`."""
    return spelling if "@" in spelling else f"{spelling}@{k}"


def package_of(spelling: str) -> str | None:
    """`package 1.0`, which brings the measure; None of ours."""
    ours = any(kind.of(spelling) for kind in built_in())
    return None if ours else brought_by("measures", spelling.partition("@")[0])
