"""Whether two sets of labels put systems in the same order: what `ragassay agree systems` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from pydantic import Field

from ragassay.arrays import Floats
from ragassay.errors import InputError
from ragassay.files import Qrels, read_qrels, read_run
from ragassay.records import Figure, Record, grouped
from ragassay.text import plain

from ..inputs.clusters import Clusters, read_clusters
from ..measures.measure import Measure
from ..measures.measure import measure as measure_of
from ..statistics.orders import rho, tau_b
from .estimates import Ends, Found, draws, rank_interval, rank_p
from .label_tables import number_of, read_labels

_DIGITS = 12
_STATISTICS = {"tau_b": tau_b, "rho": rho}


class SystemsAgreement(Record):
    """`scores`: system to its two scores, best first by the first. `figures`: `tau_b`, `rho`, n the systems.

    Intervals are from resampling the queries, those of a section together, the systems held fixed; from a table of
    scores there are none. p: two-sided, the systems taken as drawn one by one (`rank_p`).
    """

    first: str
    second: str
    measure: str | None
    scores: dict[str, tuple[float, float]]
    n_queries: int | None
    figures: dict[str, Figure]
    undefined: dict[str, str]
    p: dict[str, float] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


def agree_on_runs(
    first: Path,
    second: Path,
    runs: Path,
    measure: str,
    *,
    sections: Path | None = None,
    bootstrap: int = 1000,
    seed: int = 7,
) -> SystemsAgreement:
    """The order of all TREC runs in a folder under two files of qrels, over the queries that both label.

    sections: the queries file that names each query's (`read_clusters`); without it each stands alone.
    Raises InputError for an unknown measure, fewer than two runs, qrels without a common query, a run with none of
    them, and a query without its line in `sections`.
    """
    asked = measure_of(measure)
    if first.resolve() == second.resolve():
        raise InputError("is named twice: two sets of labels are compared", file=first)
    qrels = [read_qrels(path) for path in (first, second)]
    shared = sorted(qrels[0].keys() & qrels[1].keys())
    if not shared:
        raise InputError(f"shares no query with {plain(str(first))}", file=second, remedy="give qrels of one test set")
    names, values = _scores(runs, [{q: labels[q] for q in shared} for labels in qrels], shared, asked)
    clusters = read_clusters(sections, shared, first).of(shared)
    replicates = [resampled_means(side, clusters, bootstrap, seed) for side in values]
    means = [np.round(side.mean(axis=1), _DIGITS) for side in values]
    either = len(qrels[0].keys() | qrels[1].keys())
    notes = [f"{either - len(shared):,} of {either:,} queries have labels in one file only and take no part"]
    return _result(
        (str(first), str(second)),
        measure,
        dict(zip(names, zip(*(side.tolist() for side in means), strict=True), strict=True)),
        (replicates[0], replicates[1]),
        n_queries=len(shared),
        n_clusters=len(clusters.names),
        notes=notes if either > len(shared) else [],
    )


def resampled_means(values: Floats, clusters: Clusters, bootstrap: int, seed: int) -> Floats:
    """(replicates, systems): the means of values (systems, queries), whole clusters drawn with replacement."""
    weights = draws(len(clusters.names), bootstrap, seed)
    means: Floats = np.round(weights @ clusters.sums(values).T / (weights @ clusters.sizes)[:, None], _DIGITS)
    return means


def _scores(
    folder: Path, qrels: Sequence[Qrels], queries: Sequence[str], measure: Measure
) -> tuple[list[str], tuple[Floats, Floats]]:
    """The systems' names, and for each set of labels (systems, queries) the measure's values."""
    if not folder.is_dir():
        raise InputError("is not a folder of runs", file=folder)
    paths = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    if len(paths) < 2:
        raise InputError(f"holds {len(paths)} TREC runs, an order needs at least two", file=folder)
    sides: tuple[list[list[float]], list[list[float]]] = ([], [])
    for path in paths:
        rankings = read_run(path)
        if not rankings.keys() & set(queries):
            raise InputError("ranks nothing for a query that both qrels label", file=path)
        for side, labels in zip(sides, qrels, strict=True):
            found = measure.scores(labels, rankings)
            side.append([found[query] for query in queries])
    stems = [path.stem for path in paths]
    names = stems if len(set(stems)) == len(stems) else [path.name for path in paths]
    return names, (np.array(sides[0]), np.array(sides[1]))


def agree_on_scores(path: Path) -> SystemsAgreement:
    """The same from a table of three columns: system, and its score under either set of labels.

    Raises InputError for another number of columns, a system named twice, a score that is no number, and fewer than
    two systems.
    """
    table = read_labels(path)
    return _of_table(path, table.columns, table.rows)


def agree_by_group(path: Path, by: str) -> dict[str, SystemsAgreement]:
    """The same of each group of a table that has the column `by` besides, such as the year of the track.

    Groups are in the order of their names, numbers as numbers; a system may stand in several. Raises InputError where
    there is no such column, for a row without its group, and what `agree_on_scores` does.
    """
    table = read_labels(path)
    if by not in table.columns:
        there = ", ".join(plain(column) for column in table.columns[:20])
        raise InputError(f"has no column '{plain(by)}'", file=path, line=1, remedy=f"its columns are {there}")
    if without := next((line for line, row in table.rows if not row.get(by, "")), None):
        raise InputError(f"has no '{plain(by)}'", file=path, line=without)
    rows = grouped((row[by], (line, row)) for line, row in table.rows)
    columns = [column for column in table.columns if column != by]
    order = sorted(rows, key=lambda name: (number_of(name) is None, number_of(name) or 0.0, name))
    return {name: _of_table(path, columns, rows[name], f" of {plain(by)} {plain(name)}") for name in order}


def _of_table(
    path: Path, names: Sequence[str], rows: Sequence[tuple[int, Mapping[str, str]]], where: str = ""
) -> SystemsAgreement:
    if len(names) != 3:
        problem = f"has {len(names)} columns, a table of scores has 3 (system, score, score)"
        remedy = "one that divides the systems, such as their year, is named with --by"
        raise InputError(problem, file=path, line=1, remedy=remedy)
    system, *columns = names
    scores: dict[str, tuple[float, float]] = {}
    for line, row in rows:
        if (name := row.get(system, "")) in scores:
            raise InputError(f"has '{plain(name)}' a second time{where}", file=path, line=line)
        first, second = (_score(row.get(column, ""), path, line) for column in columns)
        scores[name] = first, second
    if len(scores) < 2:
        raise InputError(f"holds one system{where}, an order needs at least two", file=path)
    notes = ["from one score a system there is no interval: give --qrels and --runs to have queries resampled"]
    return _result((columns[0], columns[1]), None, scores, None, n_queries=None, notes=notes)


def _score(text: str, path: Path, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"score '{plain(text)}' is not a number", file=path, line=line) from None
    if not np.isfinite(value):
        raise InputError(f"score '{plain(text)}' is not a finite number", file=path, line=line)
    return value


def _result(
    names: tuple[str, str],
    measure: str | None,
    scores: Mapping[str, tuple[float, float]],
    replicates: tuple[Floats, Floats] | None,
    *,
    n_queries: int | None,
    n_clusters: int = 0,
    notes: Sequence[str],
) -> SystemsAgreement:
    sides = (np.array([a for a, _ in scores.values()]), np.array([b for _, b in scores.values()]))
    found = Found(len(scores), 0)
    for name, statistic in _STATISTICS.items():
        value = float(statistic(*sides))
        ends: Ends = (None, None)
        if replicates is not None and np.isfinite(value):
            drawn = np.array([statistic(a, b) for a, b in zip(*replicates, strict=True)])
            ends = rank_interval(value, drawn, n_clusters)
        found.put(name, value, ends, "all systems score the same under one set of labels, so that they have no order")
    best_first = sorted(scores, key=lambda system: (-scores[system][0], system))
    return SystemsAgreement(
        first=names[0],
        second=names[1],
        measure=measure,
        scores={system: scores[system] for system in best_first},
        n_queries=n_queries,
        figures=found.figures,
        undefined=found.undefined,
        p=rank_p(*sides),
        notes=tuple(notes),
    )
