"""Score a TREC run against qrels: `ragassay score`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragassay.errors import InputError
from ragassay.records import Figure
from ragassay.text import plain
from ragassay.trec import Qrels, Rankings, read_qrels, read_run

from ..figures.measures import by_query, parse
from ..inputs.sections import read_clusters
from ..statistics.resamples import resamples


def score_files(
    qrels: Path,
    run: Path,
    measures: Sequence[str],
    *,
    sections: Path | None = None,
    bootstrap: int = 1000,
    seed: int = 7,
) -> dict[str, Figure]:
    """Each measure's mean over all queries of the qrels, under the spelling it was asked for by (`RR(rel=2)@5`).

    A query that the run does not have retrieved nothing and scores 0 (`missing_queries` says how many); queries that
    the qrels do not have are not scored. Intervals are clustered by the sections that the queries file `sections`
    names (`evaluate.inputs.sections`); without it each query stands alone. Raises InputError for an unknown measure, an
    unreadable file, files that share no query, and a query without its line in `sections`.
    """
    for measure in measures:
        parse(measure)
    labels, rankings = _read(qrels, run)
    draws = resamples(list(labels), bootstrap, seed, read_clusters(sections, labels, qrels))
    return {measure: draws.figure(by_query(measure, labels, rankings), (0.0, 1.0)) for measure in measures}


def missing_queries(qrels: Path, run: Path) -> int:
    """How many of the qrels' queries the run does not have. Raises InputError as `score_files` does."""
    labels, rankings = _read(qrels, run)
    return len(labels.keys() - rankings.keys())


def _read(qrels: Path, run: Path) -> tuple[Qrels, Rankings]:
    labels, rankings = read_qrels(qrels), read_run(run)
    for file, held in ((qrels, labels), (run, rankings)):
        if not held:
            raise InputError("has no query", file=file)
    if not labels.keys() & rankings.keys():
        raise InputError(f"shares no query with {qrels}", file=run, remedy="check that both are of one test set")
    for query, ranking in rankings.items():
        if len({passage for passage, _ in ranking}) < len(ranking):
            raise InputError(f"ranks a passage twice for query '{plain(query)}'", file=run)
    return labels, rankings
