"""Table 4 by hand: reciprocal rank, nDCG and section recall of one query, from their definitions.

Reciprocal rank: Voorhees, TREC-8 (1999). nDCG: Järvelin and Kekäläinen (TOIS 2002) with the gain label / log2(rank + 1)
that trec_eval has. A value is missing where a failed judgment could change it: that is tried out here, label by label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import log2

from support.recomputed.files import Line, Run

Labels = Mapping[str, int]
Values = dict[str, float | None]
Measure = Callable[[Sequence[str], Labels], float]


def reciprocal_rank(least: int) -> Measure:
    def value(ranking: Sequence[str], labels: Labels) -> float:
        return next((1 / rank for rank, p in enumerate(ranking, 1) if labels.get(p, 0) >= least), 0.0)

    return value


def ndcg(k: int) -> Measure:
    def value(ranking: Sequence[str], labels: Labels) -> float:
        best = _gain(sorted(labels.values(), reverse=True)[:k])
        return _gain([labels.get(p, 0) for p in ranking]) / best if best else 0.0

    return value


def _gain(labels: Sequence[int]) -> float:
    return sum(label / log2(rank + 1) for rank, label in enumerate(labels, 1))


def retrieval(run: Run) -> dict[str, dict[str, Values]]:
    """Agent to measure to query to value."""
    k = run.k
    measures = {f"RR(rel=2)@{k}": reciprocal_rank(2), f"RR(rel=1)@{k}": reciprocal_rank(1), f"nDCG@{k}": ndcg(k)}
    table: dict[str, dict[str, Values]] = {}
    for agent in run.agents:
        rankings = {q: None if row is None else row[:k] for q, row in run.rankings[agent].items()}
        table[agent] = {name: _values(run, rankings, measure) for name, measure in measures.items()}
        sourced = [query for query in run.queries if _source(run, query)]
        if sourced:
            table[agent][f"R(section)@{k}"] = {q["_id"]: _found(run, q, rankings[q["_id"]]) for q in sourced}
    return table


def _values(run: Run, rankings: Mapping[str, list[str] | None], measure: Measure) -> Values:
    values: Values = {}
    for query, ranking in rankings.items():
        values[query] = None
        if ranking is not None:
            labels = {r["subject"]: int(r["label"]) for r in _judged(run, query) if r["label"] is not None}
            pool = {r["subject"] for r in _judged(run, query)} | set(ranking)
            values[query] = _settled(measure, ranking, labels, sorted(pool - set(labels)))
    return values


def _settled(measure: Measure, ranking: Sequence[str], labels: Labels, missing: Sequence[str]) -> float | None:
    """The value that comes out whichever labels the missing judgments might have given; None if they matter.

    What stands below the cutoff only matters to nDCG's ideal, which it can but raise: there 0 and 2 are enough.
    """
    choices = [(0, 1, 2) if passage in ranking else (0, 2) for passage in missing]
    found = {round(measure(ranking, {**labels, **dict(zip(missing, c, strict=True))}), 12) for c in product(*choices)}
    return found.pop() if len(found) == 1 else None


def _judged(run: Run, query: str) -> list[Line]:
    return [line for line in run.relevance if line["query_id"] == query]


def _source(run: Run, query: Line) -> Line | None:
    return run.sections.get(query["metadata"].get("section", ""))


def _found(run: Run, query: Line, ranking: Sequence[str] | None) -> float | None:
    section = _source(run, query)
    if ranking is None or section is None:
        return None
    places = [run.passages[p]["metadata"] for p in ranking]
    return float(
        any(
            at["doc"] == section["doc"] and max(at["start"], section["start"]) < min(at["end"], section["end"])
            for at in places
        )
    )
