"""Measures by labels, through ir_measures (MacAvaney, Macdonald and Ounis, ECIR 2022), failures kept apart.

A query for which nothing was retrieved scores 0; one whose retrieval failed has no value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import compress, repeat
from typing import TYPE_CHECKING, Any, Self

from ragassay.files import Qrels

from .measure import Judged, Measure, Rankings

if TYPE_CHECKING:
    from ragassay.arrays import Floats, Truths

    from ..statistics.clustered import Values

HIGHEST_LABEL = 2
LEVELS = {"0": "not", "1": "somewhat", "2": "very"}
"""What the judge's labels are called."""

_DEEPEST = 1_000_000_000
_OTHER_PROGRAMS = ("gdeval",)
"""Providers that start another program (perl), which a machine may not have."""

_REL = re.compile(r"\(rel=(\d)\)")

_WEIGHED = {"AP", "P", "RR", "nDCG"}
"""Whose two ends tell whether an open label could change them; of others nothing may be open."""


class OfIrMeasures(Measure):
    """A measure of ir_measures, by its spelling there (`P(rel=2)@5`) or trec_eval's (`ndcg_cut_10`, `map`)."""

    def __init__(self, spelling: str, parsed: Any) -> None:
        super().__init__(parsed.params.get("cutoff"))
        self.spelling, self.parsed = spelling, parsed

    def __str__(self) -> str:
        return self.spelling

    @classmethod
    def of(cls, spelling: str) -> Self | None:
        """Of a spelling that ir_measures knows, by this name if the class has one."""
        parsed = _parsed(spelling)
        return cls(spelling, parsed) if parsed is not None and cls.name in ("", parsed.NAME) else None

    def scores(self, qrels: Qrels, rankings: Mapping[str, Sequence[tuple[str, float]]]) -> dict[str, float]:
        """As of every measure."""
        import ir_measures

        if not qrels:
            return {}
        if _first_provider(self.parsed).NAME == "msmarco":
            rel, cutoff = self.parsed["rel"], self.parsed["cutoff"]
            return {q: _reciprocal_rank(labels, rankings.get(q, ()), rel, cutoff) for q, labels in qrels.items()}
        runs = {query: dict(ranking) for query, ranking in rankings.items()}
        return {metric.query_id: float(metric.value) for metric in ir_measures.iter_calc([self.parsed], qrels, runs)}

    def values(self, judged: Judged) -> Values:
        """None where a failure leaves one open.

        Passages among the first k without a label, and those that failed, are open: the value is known only where it is
        the same for each label they might have. ir_measures counts a passage without a label as not relevant. That is
        right for people's qrels; for a judge it would turn a judgment that failed into a label.
        """
        decided = judged.rows.values(self.spelling) if judged.rows else {}
        if decided:
            left = replace(judged, queries=[query for query in judged.queries if query not in decided], rows=None)
            found = decided | (self.values(left) if left.queries else {})
            return {query: found[query] for query in judged.queries}
        values: dict[str, float | None] = {}
        settled: dict[str, list[tuple[str, float]]] = {}
        unsettled: dict[str, list[str]] = {}
        for query in judged.queries:
            ranking = judged.rankings.get(query, ())
            values[query] = None
            if ranking is not None:
                settled[query] = list(ranking)[: self.k]
                labels = judged.qrels.get(query, {})
                shown = [passage for passage, _ in settled[query]]
                unsettled[query] = sorted(p for p in {*shown, *judged.failed.get(query, ())} if p not in labels)
        lowest = self.scores(_labelled(judged.qrels, unsettled, 0), settled)
        unknown = {query: passages for query, passages in unsettled.items() if passages}
        best = _labelled(judged.qrels, unknown, HIGHEST_LABEL)
        highest = lowest | self.scores(best, {query: settled[query] for query in best})
        name = self.parsed.NAME
        for query in settled:
            # A gain in the first k moves nDCG's ideal as well, so its two ends may meet though the value is open.
            # AP is not monotone either: of two open passages one raises it and another may lower it again.
            within = any(p in unsettled[query] for p, _ in settled[query])
            several = len(unsettled[query]) > 1
            open_gain = within and (name == "nDCG" or (name == "AP" and several))
            unweighed = bool(unsettled[query]) and name not in _WEIGHED
            same = abs(highest.get(query, 0.0) - lowest.get(query, 0.0)) < 1e-12
            values[query] = lowest.get(query, 0.0) if same and not (open_gain or unweighed) else None
        return values


class ReciprocalRank(OfIrMeasures):
    """Mean over queries of 1 / rank of the first passage judged relevant."""

    name = "RR"
    in_runs = ("RR(rel=2)", "RR(rel=1)")
    compared = True

    @classmethod
    def heading(cls, spelling: str) -> str:
        """`MRR@5 very`: of the reciprocal ranks, the mean, and the lowest label that is relevant."""
        rel, (_, at, k) = _REL.search(spelling), spelling.partition("@")
        return f"MRR{at}{k} {LEVELS.get(label := rel[1] if rel else '1', f'label {label} up')}"

    @classmethod
    def explained(cls, spelling: str) -> str:
        """With the labels that are relevant."""
        least = "'very'" if "rel=2" in spelling else "'somewhat' or 'very'"
        return f"mean over queries of 1 / rank of the first passage judged {least} relevant"


class DiscountedGain(OfIrMeasures):
    """Graded gain of the ranking over that of the best possible order of the judged passages."""

    name = "nDCG"
    in_runs = ("nDCG",)


@cache
def _parsed(spelling: str) -> Any:
    """The measure of ir_measures of this spelling, theirs (`RR(rel=2)@5`) or trec_eval's; None where there is none.

    Only those whose mean is over queries, and that no other program works out.
    """
    import ir_measures

    try:
        measure = _of_trec_eval(spelling) or ir_measures.parse_measure(spelling)
        cutoff = measure.params.get("cutoff")
        averaged = type(measure.aggregator()) is type(ir_measures.AP.aggregator())
        known = averaged and (cutoff is None or 0 < cutoff <= _DEEPEST) and _first_provider(measure) is not None
    except (AssertionError, KeyError, NameError, TypeError, ValueError):
        return None
    return measure if known else None


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


def _reciprocal_rank(labels: Mapping[str, int], ranking: Sequence[tuple[str, float]], rel: int, cutoff: int) -> float:
    """1 over the rank of the first of `cutoff` passages with a label of at least `rel`, else 0.

    As MS MARCO's evaluation has it, which ir_measures would take: equal scores stand in the order of their ids. It
    makes a record of every label first, which takes most of the time where agents are many.
    """
    for rank, (passage, _) in enumerate(sorted(dict(ranking).items(), key=lambda row: (-row[1], row[0]))[:cutoff], 1):
        if labels.get(passage, 0) >= rel:
            return 1 / rank
    return 0.0


def _labelled(qrels: Qrels, unsettled: Mapping[str, Sequence[str]], label: int) -> Qrels:
    """The qrels of these queries with each open passage given `label`."""
    return {query: {**qrels.get(query, {}), **dict.fromkeys(passages, label)} for query, passages in unsettled.items()}


def ideal_gains(qrels: Qrels, k: int) -> dict[str, float]:
    """Query to the discounted gain of its best possible first k (Jarvelin and Kekalainen, TOIS 20(4), 2002)."""
    import numpy as np

    names = list(qrels)
    best = [sorted(row.values(), reverse=True)[:k] for row in qrels.values()]
    table = np.array([row + [0] * (k - len(row)) for row in best], dtype=np.float64).reshape(len(names), k)
    return dict(zip(names, _gains(table).tolist(), strict=True))


@dataclass(frozen=True)
class LabelRows:
    """Queries of whose first k passages every one has a label: there is nothing to weigh up.

    A reciprocal rank and an nDCG follow from the rows, for all queries at once. ir_measures gives the same, in a
    hundred times as long. labels: (queries, k), 0 beyond the last passage. ideal: (queries,), of `ideal_gains`.
    """

    queries: Sequence[str]
    labels: Floats
    ideal: Floats
    k: int

    def without(self, queries: Collection[str]) -> LabelRows:
        """Those of other queries."""
        import numpy as np

        return self.where(np.array([query not in queries for query in self.queries], dtype=bool)) if queries else self

    def where(self, which: Truths) -> LabelRows:
        """Some of them, `which` (queries,)."""
        if which.all():
            return self
        return LabelRows(list(compress(self.queries, which.tolist())), self.labels[which], self.ideal[which], self.k)

    def values(self, spelling: str) -> Values:
        """Query to the value of a measure; empty for one that such rows do not decide."""
        import numpy as np

        if (measure := _parsed(spelling)) is None or measure.params.get("cutoff") != self.k:
            return {}
        if measure.NAME == "RR" and set(measure.params) <= {"cutoff", "rel"}:
            relevant = self.labels >= measure["rel"]
            found = np.where(relevant.any(axis=1), 1 / (1 + relevant.argmax(axis=1)), 0.0)
        elif measure.NAME == "nDCG" and set(measure.params) == {"cutoff"}:
            gained = _gains(self.labels)
            found = np.divide(gained, self.ideal, out=np.zeros_like(gained), where=self.ideal > 0)
        else:
            return {}
        return dict(zip(self.queries, found.tolist(), strict=True))


def label_rows(
    queries: Sequence[str], qrels: Qrels, rankings: Rankings, k: int, ideal: Mapping[str, float]
) -> LabelRows:
    """Of those of `queries` that were ranked (absent: nothing was retrieved).

    A ranking with equal scores, which a measure may order in its own way, or with a passage twice is left out.
    """
    import numpy as np

    names: list[str] = []
    labels: list[int | None] = []
    scores: list[float] = []
    for query in queries:
        ranking = rankings.get(query, ())
        if ranking is None:
            continue
        passages, given = zip(*ranking[:k], strict=True) if ranking else ((), ())
        found = list(map(qrels.get(query, _NONE).get, passages))
        if None in found or len({*passages}) < len(found):
            continue
        names.append(query)
        if beyond := k - len(found):
            found += [0] * beyond
            given += (np.nan,) * beyond
        labels += found
        scores += given
    # In single precision, as trec_eval has them.
    single = np.array(scores, dtype=np.float32).reshape(len(names), k)
    falling = np.logical_and.reduce((single[:, 1:] < single[:, :-1]) | np.isnan(single[:, 1:]), axis=1)
    made = LabelRows(
        names, np.array(labels, dtype=np.float64).reshape(-1, k), np.array(list(map(ideal.get, names, repeat(0.0)))), k
    )
    return made.where(falling)


_NONE: Mapping[str, int] = {}


def _gains(labels: Floats) -> Floats:
    """(queries,): the sum of labels (queries, k) over the log2 of rank + 1; those below 0 gain nothing."""
    import numpy as np

    return np.asarray(np.maximum(labels, 0.0) @ (1 / np.log2(np.arange(2, labels.shape[1] + 2))))
