"""The expectations of `corrected`, where labels.csv holds people's labels on answers and no sheet was drawn.

The value is PPI++ (Angelopoulos, Duchi and Zrnic 2023) written out for labels that weigh alike; intervals and p are
from draws of our own, stratum by stratum, cluster by cluster.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, inf, isfinite, sqrt
from statistics import NormalDist, fmean

import numpy as np
from scipy.stats import norm, t
from support.recomputed.expected import Book, Holds, Near, Path
from support.recomputed.files import Line, Run
from support.recomputed.pairs import SIX, holm
from support.recomputed.resampling import End, tail

OWN, THEIRS, HIGH = 20_000, 2000, 2.0
UNDRAWN = "no sampling record is kept with labels.csv: what was labelled is taken as drawn at random"
LITTLE = "the judge adds nothing"
ALIKE = "whether the judge helps cannot be told"
Draws = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Items:
    """One agent's answers on one criterion that the judge graded: parallel lists, None where people gave no label."""

    queries: list[str]
    judged: list[float]
    human: list[float | None]

    def on(self, queries: set[str]) -> Items:
        kept = [row for row in zip(self.queries, self.judged, self.human, strict=True) if row[0] in queries]
        return Items([row[0] for row in kept], [row[1] for row in kept], [row[2] for row in kept])

    @property
    def pairs(self) -> list[tuple[float, float]]:
        return [(f, y) for f, y in zip(self.judged, self.human, strict=True) if y is not None]

    def clusters(self, run: Run) -> set[str]:
        return {run.source[q] for q, y in zip(self.queries, self.human, strict=True) if y is not None}


def corrected(book: Book, run: Run, order: Sequence[str]) -> list[str]:
    """The leaves, and the notes that stand among the notices too; `order`: the agents, best first."""
    path = run.corpus / "labels.csv"
    if not path.exists():
        book.put(("corrected",), None)
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    number = 0
    for criterion in run.criteria:
        items = {agent: _items(run, rows, agent, criterion) for agent in order}
        if any(each.pairs for each in items.values()):
            number = _measure(book, run, criterion, items, number)
    book.put(("corrected", "n_labels"), len(rows))
    book.put(("corrected", "n_people"), len({row["who"] for row in rows}))
    book.put(("corrected", "n_unused"), 0)
    book.put(("corrected", "notes"), [UNDRAWN])
    return [UNDRAWN]


def _items(run: Run, rows: Sequence[Line], agent: str, criterion: str) -> Items:
    said: dict[str, list[float]] = {}
    for row in rows:
        if (row["subject"], row["criterion"]) == (agent, criterion):
            said.setdefault(row["query"], []).append(float(row["label"]))
    graded = {
        row["query_id"]: float(row["label"])
        for row in run.pointwise
        if (row["subject"], row["criterion"]) == (agent, criterion) and row["label"] is not None
    }
    queries = [query for query in run.query_ids if query in graded]
    human = [fmean(said[query]) if query in said else None for query in queries]
    return Items(queries, [graded[query] for query in queries], human)


def _measure(book: Book, run: Run, criterion: str, items: dict[str, Items], number: int) -> int:
    for agent, own in items.items():
        path: Path = ("corrected", "figures", number)
        book.mean((*path, "judged"), dict(zip(own.queries, own.judged, strict=True)), (0.0, HIGH))
        drawn = _draws(run, (own,))[0]
        _figure(book, path, (criterion, agent, None), run, (own,), _ppi(own), (drawn[0], drawn[1]))
        book.put((*path, "needed"), _needed(drawn, own, len(own.clusters(run))))
        book.put(path, {"p": None, "p_holm": None, "verdict": None})
        number += 1
    pairs = list(combinations(items, 2))
    given = [run.figures["corrected"]["figures"][number + place]["p"] for place, _ in enumerate(pairs)]
    for (a, b), p, adjusted in zip(pairs, given, holm(given), strict=True):
        _difference(book, ("corrected", "figures", number), run, criterion, (a, b), items, adjusted)
        assert p is not None
        number += 1
    return number


def _difference(
    book: Book, path: Path, run: Run, criterion: str, names: tuple[str, str], items: dict[str, Items], p: float | None
) -> None:
    assert p is not None
    both = set(items[names[0]].queries) & set(items[names[1]].queries)
    one, other = (items[name].on(both) for name in names)
    gaps = {q: x - y for q, x, y in zip(one.queries, one.judged, other.judged, strict=True)}
    book.mean((*path, "judged"), gaps, (-HIGH, HIGH))
    first, second = _draws(run, (one, other))
    ends = (first[0] - second[1], first[1] - second[0])
    value = _ppi(one) - _ppi(other)
    _figure(book, path, (criterion, *names), run, (one, other), value, ends)
    own = _p(ends[0] if value > 0 else -ends[1], min(len(side.clusters(run)) for side in (one, other)))
    decided = p <= 0.05 and abs(value) > 1e-9
    book.put(path, {"needed": None, "p": Near(own, 0.35 * own + 0.004, "drawn"), "p_holm": Near(p, SIX * p, "digits")})
    book.put((*path, "verdict"), ("better" if value > 0 else "worse") if decided else "not distinguishable")


def _figure(
    book: Book,
    path: Path,
    names: tuple[str, str, str | None],
    run: Run,
    samples: tuple[Items, ...],
    value: float,
    ends: tuple[np.ndarray, np.ndarray],
) -> None:
    book.put(path, dict(zip(("measure", "agent", "other"), names, strict=True)))
    units = min(len(own.clusters(run)) for own in samples)
    both = (_end("low", ends[0], value, units), _end("high", ends[1], value, units))
    book.figure((*path, "corrected"), value, len(samples[0].queries), 0, both)
    book.put((*path, "n_labels"), sum(len(own.pairs) for own in samples))
    told = [_helps(own, len(own.clusters(run))) for own in samples]
    helps = None if None in told else all(told)
    words = LITTLE if helps is False else ALIKE
    book.put((*path, "helps"), helps)
    book.put((*path, "note"), None if helps else Holds(lambda said: words in said, words))


def _end(side: str, drawn: np.ndarray, value: float, units: int) -> object:
    """An interval holds its value: where the draws' own end would not, it is the value."""
    if side == "low":
        return End(side, drawn, value, units, THEIRS) if np.quantile(drawn, tail(units)) < value else value
    return End(side, drawn, value, units, THEIRS) if np.quantile(drawn, 1 - tail(units)) > value else value


def _ppi(own: Items) -> float:
    """lambda mean(f) + mean(y - lambda f), lambda the slope of y on f within 0 to 1."""
    f, y = (np.array(side) for side in zip(*own.pairs, strict=True))
    spread = float(f.var())
    slope = min(1.0, max(0.0, float(np.cov(f, y, bias=True)[0, 1]) / spread)) if spread else 0.0
    if (f == y).all():
        slope = 1.0
    return min(HIGH, max(0.0, slope * fmean(own.judged) + float((y - slope * f).mean())))


def _helps(own: Items, n: int) -> bool | None:
    f, y = (np.array(side) for side in zip(*own.pairs, strict=True))
    if n <= 3:
        return False
    if not f.std() or not y.std():
        return None
    return float(np.corrcoef(f, y)[0, 1]) > 1 / sqrt(n - 2)


def _draws(run: Run, samples: tuple[Items, ...]) -> list[Draws]:
    """For each sample: the mean for the lower end, for the upper end, the variance left within strata, and in all."""
    generator = np.random.default_rng(20261120)
    names = sorted({run.source[query] for query in run.query_ids})
    weights = generator.gamma(1.0, size=(OWN, len(names)))
    return [_drawn(own, [names.index(run.source[q]) for q in own.queries], weights, generator) for own in samples]


def _drawn(own: Items, cluster: list[int], weights: np.ndarray, generator: np.random.Generator) -> Draws:
    strata = [[i for i, f in enumerate(own.judged) if where(f)] for where in (_is_low, _is_between, _is_high)]
    shares = np.array([weights[:, [cluster[i] for i in rows]].sum(axis=1) for rows in strata])
    shares /= shares.sum(axis=0)
    parts = [_stratum([own.human[i] for i in rows], [cluster[i] for i in rows], weights, generator) for rows in strata]
    low, high, mean, square = (sum(s * part[k] for s, part in zip(shares, parts, strict=True)) for k in range(4))
    within = sum(s * (part[3] - part[2] ** 2) for s, part in zip(shares, parts, strict=True))
    return low, high, within, square - mean**2  # type: ignore[return-value]


def _is_low(value: float) -> bool:
    return value < 1e-9


def _is_high(value: float) -> bool:
    return value > HIGH - 1e-9


def _is_between(value: float) -> bool:
    return not _is_low(value) and not _is_high(value)


def _stratum(
    human: list[float | None], cluster: list[int], weights: np.ndarray, generator: np.random.Generator
) -> Draws:
    """The mean for either end, the mean, and the mean square. Labels count by their effective number of clusters."""
    known = [(y, c) for y, c in zip(human, cluster, strict=True) if y is not None]
    each = [sum(c == which for _, c in known) for which in {c for _, c in known}]
    scale = sum(each) / sum(n * n for n in each) if each else 0.0
    drawn = scale * weights[:, [c for _, c in known]]
    y = np.array([label for label, _ in known])
    sums, labels, squares = drawn.sum(axis=1), drawn @ y, drawn @ y**2
    low, high = (generator.gamma(0.5, size=OWN) for _ in range(2))
    mean = (labels + HIGH * high) / (sums + low + high)
    square = (squares + HIGH**2 * high) / (sums + low + high)
    whole = generator.gamma(1.0, size=OWN)
    all_high, all_low = bool(known) and (y == HIGH).all(), bool(known) and (y == 0).all()
    return (
        labels / (sums + whole) if all_high else mean,
        (labels + HIGH * whole) / (sums + whole) if all_low else mean,
        mean,
        square,
    )


def _p(draws: np.ndarray, n: int) -> float:
    """The tail behind 0, turned back through the expansion to Student's t; far out it is a normal one.

    That goes through the draw with a share of 10 / THEIRS at or below it.
    """
    share, last = float((draws <= 0).mean()), float(np.quantile(draws, 10 / THEIRS))
    reach = -norm.ppf(max(share, 10 / THEIRS))
    if last > 0:
        reach *= draws.mean() / (draws.mean() - last)
    return float(min(1.0, 2 * t(n - 1).sf(reach * sqrt((n - 1) / n))))


def _needed(drawn: Draws, own: Items, units: int) -> Line:
    """Labels for +- a twentieth of the scale: within / (room - what the unlabelled leave), at most all there are.

    The interval holds the one with equal tails and the shortest with 95% of the draws.
    """
    n, (within, spread) = len(own.judged), drawn[2:]
    room = (HIGH / 20 / NormalDist().inv_cdf(0.975)) ** 2 - np.maximum(spread - within, 0) / n
    enough = (room > 0) & (within <= n * room)
    found = np.sort(np.where(enough, np.maximum(within / np.where(enough, room, 1.0), 1), inf))
    inside = ceil(0.95 * OWN)
    shortest = min(range(OWN - inside), key=lambda i: (found[i + inside] - found[i] if isfinite(found[i]) else inf, i))
    if not isfinite(found[shortest + inside]):
        shortest = (OWN - inside - 1) // 2
    tails = np.quantile(found, [tail(units), 1 - tail(units)], method="nearest")
    ends = min(found[shortest], tails[0]), max(found[shortest + inside], tails[1])
    line: Line = {"value": _count(float(np.median(found))), "n": len(own.pairs), "n_failed": 0}
    return line | {"ci_low": _count(float(ends[0])), "ci_high": _count(float(ends[1]))}


def _count(number: float) -> object:
    return Near(ceil(number), 0.2 * number + 2, "drawn") if isfinite(number) else None
