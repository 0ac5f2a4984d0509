"""What every leaf of results.json must be, worked out from the files beside it.

`Book.leaves` maps a leaf's path to what is expected of it: a plain value, or a check (`Near`, `End`, `Holds`) where
random draws or words stand between the files and the figure. `complaints` compares, and knows of no other leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from support.recomputed.resampling import Draws, End

Path = tuple[str | int, ...]
ROUNDING = 2e-9
"""Figures are kept with nine decimals."""


@dataclass(frozen=True)
class Near:
    """A number within `tolerance`; `why` it cannot be exact."""

    value: float
    tolerance: float
    why: str

    def __call__(self, given: object) -> bool:
        return isinstance(given, float | int) and abs(given - self.value) <= self.tolerance


@dataclass(frozen=True)
class Holds:
    """A text of which `test` holds, or a truth value that either answer may be right for."""

    test: Callable[[Any], bool]
    what: str
    kind: type = str

    def __call__(self, given: object) -> bool:
        return isinstance(given, self.kind) and self.test(given)


@dataclass
class Book:
    """Expectations by path, with the draws that intervals are checked by."""

    draws: Draws
    leaves: dict[Path, Any] = field(default_factory=dict)

    def put(self, path: Path, value: Any) -> None:
        """A value or a check; a list or dict leaf by leaf."""
        for leaf, content in flat(value, path):
            assert leaf not in self.leaves, leaf
            self.leaves[leaf] = content

    def figure(self, path: Path, value: Any, n: int, n_failed: int, ends: tuple[Any, Any] = (None, None)) -> None:
        self.put(path, {"value": value, "n": n, "n_failed": n_failed, "ci_low": ends[0], "ci_high": ends[1]})

    def mean(self, path: Path, values: Mapping[str, float | None], limits: tuple[float, float] | None) -> None:
        """The mean over the queries that have a value; the others failed."""
        known = {query: value for query, value in values.items() if value is not None}
        self.share(path, known, dict.fromkeys(known, 1.0), len(known), len(values) - len(known), limits)

    def share(
        self,
        path: Path,
        sums: dict[str, float],
        counts: dict[str, float],
        n: int,
        n_failed: int,
        limits: tuple[float, float] | None = (0.0, 1.0),
    ) -> None:
        """The sum of `sums` over that of `counts`, both by query."""
        if not sum(counts.values()):
            self.figure(path, None, n, n_failed)
            return
        value = sum(sums.values()) / sum(counts.values())
        self.figure(path, value, n, n_failed, self.draws.mean_interval(sums, counts, limits))

    def ends(self, own: np.ndarray, value: float, n: int) -> tuple[Any, Any]:
        """The ends of an interval, `n` queries behind it, from our own resamples."""
        units = min(n, len(set(self.draws.sections.values())))
        if units < 2:
            return None, None
        return tuple(End(side, own, value, units, self.draws.replicates) for side in ("low", "high"))  # type: ignore[return-value]


def flat(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """(path, leaf) of nested dicts and lists; an empty one is a leaf."""
    inside: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list | tuple):
        inside = enumerate(value)
    leaf = True
    for key, part in inside:
        leaf = False
        yield from flat(part, (*path, key))
    if leaf:
        yield path, list(value) if isinstance(value, tuple) else value


def complaints(given: Any, leaves: Mapping[Path, Any]) -> list[str]:
    """What in `given` is not as expected; what is there and not expected, or expected and not there."""
    found = dict(flat(given))
    said = [f"{_spell(path)}: is not there" for path in leaves if path not in found]
    said += [f"{_spell(path)}: {value!r} was not expected" for path, value in found.items() if path not in leaves]
    said += [
        f"{_spell(path)}: {found[path]!r}, expected {wanted!r}"
        for path, wanted in leaves.items()
        if path in found and not agrees(found[path], wanted)
    ]
    return said


def agrees(given: Any, wanted: Any) -> bool:
    if callable(wanted):
        return bool(wanted(given))
    if isinstance(wanted, float) and isinstance(given, float | int) and not isinstance(given, bool):
        return abs(given - wanted) <= ROUNDING
    return type(given) is type(wanted) and bool(given == wanted)


def _spell(path: Sequence[str | int]) -> str:
    return " / ".join(map(str, path))
