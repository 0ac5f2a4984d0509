"""Ranking measures a query, through ir_measures (MacAvaney, Macdonald and Ounis, ECIR 2022), failures kept apart.

ir_measures counts a passage without a label as not relevant. That is right for people's qrels; for a judge it would
turn a judgment that failed into a label. Here a query's value is known only where no label that the missing judgment
might have given would change it, and otherwise it failed. A query for which nothing was retrieved scores 0; one whose
retrieval failed has no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragassay.errors import InputError
from ragassay.text import did_you_mean, plain
from ragassay.trec import Qrels, Rankings

from ..statistics.clustered import Values
from .label_rows import LabelRows

HIGHEST_LABEL = 2
_DEEPEST = 1_000_000_000
_OTHER_PROGRAMS = ("gdeval",)
"""Providers that start another program (perl), which a machine may not have."""

OFFERED = ("nDCG@10", "RR@10", "RR(rel=2)@5", "P@5", "R@100", "R(rel=1)@100", "AP", "Success@5", "Judged@10")


def parse(spelling: str) -> Any:
    """The ir_measures measure of this spelling, ours (`RR(rel=2)@5`) or trec_eval's (`ndcg_cut_10`, `map`).

    Raises InputError, naming some that there are.
    """
    import ir_measures

    try:
        measure = _of_trec_eval(spelling) or ir_measures.parse_measure(spelling)
        cutoff = measure.params.get("cutoff")
        averaged = type(measure.aggregator()) is type(ir_measures.AP.aggregator())
        known = averaged and (cutoff is None or 0 < cutoff <= _DEEPEST) and _first_provider(measure) is not None
    except (AssertionError, KeyError, NameError, TypeError, ValueError):
        known = False
    if not known:
        raise InputError(
            f"'{plain(spelling)}' is not a measure known here",
            remedy=f"{did_you_mean(spelling, OFFERED)}measures are such as {', '.join(OFFERED)}, "
            "or trec_eval's ndcg_cut_10, map, recall_100",
        )
    return measure


def _of_trec_eval(spelling: str) -> Any:
    """The measure that trec_eval calls so, as it prints it (`P_5`) or is asked for it (`P.5`), else None."""
    import ir_measures

    family, stop, cutoff = spelling.partition(".")
    try:
        known = ir_measures.parse_trec_measure(f"{family}_{cutoff}" if stop and cutoff.isdigit() else spelling)
    except (KeyError, NameError, ValueError):
        return None
    return known[0] if len(known) == 1 else None


def _first_provider(measure: Any) -> Any:
    """The provider that ir_measures would take for a measure, or None where there is none or it starts a program."""
    import ir_measures

    providers: Any = ir_measures.DefaultPipeline.providers
    first = next((p for p in providers if p.is_available() and p.supports(measure)), None)
    return first if first is not None and first.NAME not in _OTHER_PROGRAMS else None


def by_query(spelling: str, qrels: Qrels, rankings: Rankings) -> dict[str, float]:
    """The measure for every query of `qrels`; what has no ranking scores 0, what has no label is not relevant."""
    import ir_measures

    measure = parse(spelling)
    if not qrels:
        return {}
    if _first_provider(measure).NAME == "msmarco":
        rel, cutoff = measure["rel"], measure["cutoff"]
        return {q: _reciprocal_rank(labels, rankings.get(q, ()), rel, cutoff) for q, labels in qrels.items()}
    runs = {query: dict(ranking) for query, ranking in rankings.items()}
    return {metric.query_id: float(metric.value) for metric in ir_measures.iter_calc([measure], qrels, runs)}


def _reciprocal_rank(labels: Mapping[str, int], ranking: Sequence[tuple[str, float]], rel: int, cutoff: int) -> float:
    """1 over the rank of the first of `cutoff` passages with a label of at least `rel`, else 0.

    As MS MARCO's evaluation has it, which ir_measures would take: equal scores stand in the order of their ids. It
    makes a record of every label first, which takes most of the time where agents are many.
    """
    for rank, (passage, _) in enumerate(sorted(dict(ranking).items(), key=lambda row: (-row[1], row[0]))[:cutoff], 1):
        if labels.get(passage, 0) >= rel:
            return 1 / rank
    return 0.0


def judged_by_query(
    spelling: str,
    queries: Sequence[str],
    qrels: Qrels,
    rankings: Mapping[str, Sequence[tuple[str, float]] | None],
    failed: Mapping[str, Iterable[str]],
    k: int,
    rows: LabelRows | None = None,
) -> Values:
    """The measure for each of `queries`, None where a failure leaves it open.

    rankings: None for a query whose retrieval failed; a query that is absent retrieved nothing. Passages among the
    first `k` without a label, and those that `failed` names for the query, are open: the value is known only where it
    is the same for each label they might have. `k` must be the measure's own cutoff. rows: of the queries where nothing
    is open, if they are at hand.
    """
    decided = rows.values(parse(spelling)) if rows else {}
    if decided:
        left = [query for query in queries if query not in decided]
        found = decided | (judged_by_query(spelling, left, qrels, rankings, failed, k) if left else {})
        return {query: found[query] for query in queries}
    values: Values = {}
    settled: dict[str, list[tuple[str, float]]] = {}
    unsettled: dict[str, list[str]] = {}
    for query in queries:
        ranking = rankings.get(query, ())
        values[query] = None
        if ranking is not None:
            settled[query] = list(ranking)[:k]
            labels = qrels.get(query, {})
            shown = [passage for passage, _ in settled[query]]
            unsettled[query] = sorted(p for p in {*shown, *failed.get(query, ())} if p not in labels)
    lowest = by_query(spelling, _labelled(qrels, unsettled, 0), settled)
    unknown = {query: passages for query, passages in unsettled.items() if passages}
    best = _labelled(qrels, unknown, HIGHEST_LABEL)
    highest = lowest | by_query(spelling, best, {query: settled[query] for query in best})
    for query in settled:
        # A gain in the first k moves nDCG's ideal as well, so its two ends may meet though the value is open.
        # AP is not monotone either: of two open passages one raises it and another may lower it again.
        within = any(p in unsettled[query] for p, _ in settled[query])
        several = len(unsettled[query]) > 1
        open_gain = within and (spelling.startswith("nDCG") or (spelling.startswith("AP") and several))
        same = abs(highest.get(query, 0.0) - lowest.get(query, 0.0)) < 1e-12
        values[query] = lowest.get(query, 0.0) if same and not open_gain else None
    return values


def _labelled(qrels: Qrels, unsettled: Mapping[str, Sequence[str]], label: int) -> Qrels:
    """The qrels of these queries with each open passage given `label`."""
    return {query: {**qrels.get(query, {}), **dict.fromkeys(passages, label)} for query, passages in unsettled.items()}
