"""What every ranker shares: the seam, the kinds by name, what is indexed, the order of results, and failed queries."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from ragassay.calls.served import Failed as Failed
from ragassay.errors import InputError, RagassayError
from ragassay.experiment.plugins import brought_by, classes_in, names_of, plugin, said
from ragassay.files import record_of
from ragassay.records import Passage, Query
from ragassay.text import did_you_mean, plain

if TYPE_CHECKING:
    from .embedding import Embedder

R = TypeVar("R", Passage, Query)
T = TypeVar("T")

OWN = "python"
"""The kind of the user's own, which runs in a process of its own (`agents/python_agent.py:PythonRanker`)."""

Ranking = list[tuple[str, float]]
"""(passage id, score), best first; equal scores by id."""


@dataclass(frozen=True)
class Material:
    """What rankers are made over: passages by `ids`, with their `texts` beside them, and settings.

    texts: gone through anew each time, so that none has to be held. settings: those that are given; a kind finds its
    own among them, with their defaults. language: of the corpus, for stop words and stems. embedding: a model's name;
    embedder: its embeddings, for which it is loaded when a text needs it. kept: the folder for what models make of
    texts, None where that is only remembered.
    """

    ids: Sequence[str]
    texts: Collection[str]
    settings: Mapping[str, Any]
    language: str
    embedding: str
    embedder: Callable[[], Embedder]
    kept: Path | None = None
    progress: Callable[[int, int], None] | None = None
    made: dict[str, Ranker] = field(default_factory=dict, repr=False)

    def ranker(self, name: str) -> Ranker:
        """The ranker of that kind over these passages, made once. Raises InputError where it cannot be."""
        if name not in self.made:
            kind = kind_of_ranker(name)
            mine = replace(self, settings={**kind.settings, **self.settings})
            self.made[name] = kind.over(mine) if name in _ours() else _Brought(name, kind, mine)
        return self.made[name]


class Ranker(ABC):
    """Ranks the passages it was built over.

    A subclass with a `name` is a kind of retriever, asked for by that name: found in a module of this folder, or in
    another package by the entry point group `ragassay.retrievers`. `settings` are those of its own, with their
    defaults, and `embeds` says whether it searches by the vectors of an embedding model.
    """

    name: ClassVar[str] = ""
    settings: ClassVar[Mapping[str, Any]] = {}
    embeds: ClassVar[bool] = False

    @classmethod
    def over(cls, material: Material) -> Ranker:
        """One of this kind over those passages. Raises InputError for settings that it cannot have."""
        raise NotImplementedError(f"{cls.__name__} has no name, so nobody asks for it by one")

    @classmethod  # noqa: B027  (most need nothing)
    def check(cls, embedding: str, named: str) -> None:
        """Raises InputError, beginning with who is `named`, where what it needs is not there. Nothing is loaded."""

    @abstractmethod
    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """The `k` best passages for each query, or fewer where fewer were found."""


class _Brought(Ranker):
    """Another package's. Raises InputError where it fails, and for rankings that it gives which are none."""

    def __init__(self, name: str, kind: type[Ranker], material: Material) -> None:
        self._whose = f"retriever '{plain(name)}' of {brought_by('retrievers', name)}"
        self._ids = frozenset(material.ids)
        with self._failing():
            self._ranker = kind.over(material)

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """What it finds, at most `k` a query."""
        with self._failing():
            try:
                return self._checked(self._ranker.search(queries, k), len(queries), k)
            except QueriesFailed as error:
                raise QueriesFailed(self._checked(error.found, len(queries), k)) from None

    def _checked(self, found: Any, n: int, k: int) -> list[Any]:
        rows = [row if isinstance(row, Failed) else [(one, float(score)) for one, score in row][:k] for row in found]
        if len(rows) != n:
            raise ValueError(f"{len(rows)} rankings for {n} queries")
        for row in (row for row in rows if not isinstance(row, Failed)):
            ids, scores = [one for one, _ in row], [score for _, score in row]
            if strange := [one for one in ids if one not in self._ids]:
                raise ValueError(f"there is no passage '{strange[0]}'")
            if len({*ids}) < len(ids):
                raise ValueError("a passage stands twice in a ranking")
            if not all(map(isfinite, scores)) or any(later > earlier for earlier, later in pairwise(scores)):
                raise ValueError("scores must be finite and must not rise: the best passage comes first")
        return rows

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except (RagassayError, QueriesFailed):
            raise
        except Exception as error:
            raise InputError(f"{self._whose} failed ({said(error)})", remedy="mend or uninstall it") from error


def kind_of_ranker(name: str) -> type[Ranker]:
    """The kind of that name, ours or another package's. Raises InputError where there is none."""
    if ours := _ours().get(name):
        return ours
    if found := plugin("retrievers", name, Ranker):  # type: ignore[type-abstract]
        return found
    known = [*_ours(), *names_of("retrievers")]
    remedy = f"{did_you_mean(name, known)}use one of {', '.join(known)}"
    raise InputError(f"unknown retriever '{plain(name)}'", remedy=remedy)


def check_kind(name: str, settings: Mapping[str, Any]) -> None:
    """Raises InputError where no kind of a table [[retriever]] has this name, or it does not take these settings."""
    if name == OWN and settings:
        raise InputError(f'settings are not for kind = "{OWN}"', remedy="say them in its module")
    if name == OWN:
        return
    kind = kind_of_ranker(name)
    for key, value in settings.items():
        if key not in kind.settings:
            known = f"it takes {', '.join(kind.settings)}" if kind.settings else "it takes none of its own"
            raise InputError(f"kind = \"{kind.name}\" has no setting '{plain(key)}'", remedy=known)
        default = kind.settings[key]
        fitting = (int, float) if isinstance(default, float) else type(default)
        if not isinstance(value, fitting) or isinstance(value, bool) != isinstance(default, bool):
            raise InputError(f"{plain(key)} is {plain(repr(value))}", remedy=f"give a value such as {default!r}")


def embeds(name: str) -> bool:
    """Whether a table of this kind searches by itself by the vectors of an embedding model."""
    return name != OWN and kind_of_ranker(name).embeds


def brought(kinds: Iterable[str]) -> dict[str, str]:
    """The package and version that brings each of these kinds, without ours, for the manifests of stages."""
    others = sorted(set(kinds) - _ours().keys() - {OWN})
    return {name: package for name in others if (package := brought_by("retrievers", name))}


@cache
def _ours() -> Mapping[str, type[Ranker]]:
    """Every class of this folder that has a name, by it."""
    classes = classes_in(__name__.rpartition(".")[0], Ranker)  # type: ignore[type-abstract]
    return {one.name: one for one in classes if one.name and "name" in vars(one)}


class QueriesFailed(Exception):
    """Some queries have no ranking; `found` has for each query, in order, its ranking or why there is none.

    A `Ranker` that can fail for single queries raises it: a caller that does not know of failures stops at the first,
    and none takes a failure for a ranking of nothing.
    """

    def __init__(self, found: Sequence[Ranking | Failed]) -> None:
        errors = [row.error for row in found if isinstance(row, Failed)]
        super().__init__(f"{len(errors)} of {len(found)} queries have no ranking: {errors[0] if errors else ''}")
        self.found = list(found)


def search_each(ranker: Ranker, queries: Sequence[str], k: int) -> list[Ranking | Failed]:
    """What `ranker.search` finds, with the queries that failed in their places. Other errors are raised on."""
    try:
        return list(ranker.search(queries, k))
    except QueriesFailed as error:
        return error.found


def all_found(found: Sequence[Ranking | Failed]) -> list[Ranking]:
    """The rankings. Raises QueriesFailed where a query has none."""
    rankings = [row for row in found if not isinstance(row, Failed)]
    if len(rankings) < len(found):
        raise QueriesFailed(found)
    return rankings


def in_order(pairs: Iterable[tuple[str, float]]) -> Ranking:
    """Passages with their scores as a ranking."""
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def indexed_text(passage: Passage) -> str:
    """The text of a passage that is searched: its title, if it has one, and its text."""
    return f"{passage.title} {passage.text}".strip()


class Anew(Collection[T]):
    """`n` things, made anew each time they are gone through, so that none has to be held."""

    def __init__(self, make: Callable[[], Iterable[T]], n: int) -> None:
        self._make, self._n = make, n

    def __iter__(self) -> Iterator[T]:
        return iter(self._make())

    def __len__(self) -> int:
        return self._n

    def __contains__(self, text: object) -> bool:
        return any(text == other for other in self)


def indexed_texts(passages: Iterable[Passage], n: int) -> Anew[str]:
    """The text of each of `n` passages; another process can be given them."""
    return Anew(partial(map, indexed_text, passages), n)


_GROUP = 512


def at_least_kth(scores: npt.NDArray[Any], k: int, margin: float) -> npt.NDArray[np.intp]:
    """The positions, ascending, of every score that is at least the `k`-th best less `margin`; all where k is enough.

    The k-th best of the largest scores of groups is at most the k-th best of all, so that only what reaches it has to
    be sorted: over a million scores this takes a tenth of the time of a partition of them.
    """
    if k >= len(scores):
        return np.arange(len(scores))
    whole = len(scores) - len(scores) % _GROUP
    largest = scores[:whole].reshape(-1, _GROUP).max(axis=1)
    if k > len(largest):
        return np.flatnonzero(scores >= np.partition(scores, -k)[-k] - margin)
    reached = np.flatnonzero(scores >= np.partition(largest, -k)[-k] - margin)
    kth = np.partition(scores[reached], -k)[-k]
    return np.asarray(reached[scores[reached] >= kth - margin], np.intp)


def best_first(
    ids: Sequence[str], scores: npt.NDArray[Any], candidates: npt.NDArray[np.intp], k: int, digits: int
) -> Ranking:
    """The `k` best of `candidates`, scores rounded to `digits`, ties by id.

    candidates: (n,), positions in `ids`; scores: (n,), of the candidates in their order.
    """
    rounded = np.round(scores, digits)
    if len(candidates) > k:
        kept = rounded >= np.partition(rounded, -k)[-k]
        candidates, rounded = candidates[kept], rounded[kept]
    pairs = [(ids[i], score) for i, score in zip(candidates.tolist(), rounded.tolist(), strict=True)]
    return in_order(pairs)[:k]


def best_above_zero(ids: Sequence[str], scores: npt.NDArray[Any], k: int, digits: int) -> Ranking:
    """`best_first` of all passages whose score is above 0; scores: (n,), beside `ids`."""
    found = at_least_kth(scores, k, 10.0**-digits)
    found = found[scores[found] > 0]
    return best_first(ids, scores[found], found, k, digits)


class CorpusFile:
    """The passages of a `corpus.jsonl`, one at a time; each iteration reads the file anew.

    Iterating raises InputError with the line that is not a passage.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[Passage]:
        try:
            with self.path.open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        encoding = "utf-8-sig" if number == 1 else "utf-8"
                        yield record_of(json.loads(line.decode(encoding)), Passage, self.path, number)
        except FileNotFoundError:
            raise InputError("there is no such file", file=self.path) from None
        except (PermissionError, IsADirectoryError) as error:
            raise InputError(f"cannot be read ({error.strerror})", file=self.path) from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"is not JSON ({error})", file=self.path, line=number) from None


@dataclass(frozen=True)
class Fingerprint:
    """What a corpus holds: how many passages, and the SHA-256 over their ids, titles, texts and metadata, in order."""

    n_passages: int
    sha256: str


def fingerprint(passages: Iterable[Passage], file: Path | None = None) -> Fingerprint:
    """The fingerprint of `passages`.

    Raises InputError where there are none, two share an id, or one cannot be indexed: its id holds white space or is
    longer than the 512 bytes that OpenSearch takes, or its metadata are no JSON.
    """
    total, n = hashlib.sha256(), 0
    for passage in check_ids(passages, "passages", file):
        if len(passage.id.encode("utf-8", "surrogatepass")) > 512:
            raise InputError(f"the id '{plain(passage.id[:40])}…' is longer than 512 bytes", file=file)
        fields = (passage.id, passage.title, passage.text, passage.metadata)
        try:
            line = json.dumps(fields, sort_keys=True, allow_nan=False)
        except ValueError as error:
            problem = f"the metadata of passage '{plain(passage.id)}' are no JSON ({error})"
            raise InputError(problem, file=file) from None
        total.update(line.encode() + b"\n")
        n += 1
    return Fingerprint(n, total.hexdigest())


def check_ids(records: Iterable[R], what: str, file: Path | None) -> Iterator[R]:
    """The records as they come. Raises InputError for none, two with one id, and an id that a run cannot hold."""
    seen: set[str] = set()
    for record in records:
        if record.id in seen:
            raise InputError(f"two {what} have the id '{plain(record.id)}'", file=file)
        if record.id.split() != [record.id]:
            raise InputError(f"the id '{plain(record.id)}' holds white space, which a TREC run cannot", file=file)
        seen.add(record.id)
        yield record
    if not seen:
        raise InputError(f"holds no {what}", file=file)
