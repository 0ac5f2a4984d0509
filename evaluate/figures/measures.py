"""Ranking measures a query, through ir_measures (MacAvaney, Macdonald and Ounis, ECIR 2022), failures kept apart.

ir_measures counts a passage without a label as not relevant. That is right for people's qrels; for a judge it would
turn a judgment that failed into a label. Here a query's value is known only where no label that the missing judgment
might have given would change it, and otherwise it failed. A query for which nothing was retrieved scores 0; one whose
retrieval failed has no value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, repeat
from math import log2
from typing import Any, NamedTuple

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.errors import InputError
from ragassay.evidence import Evidence, Span
from ragassay.files import Qrels
from ragassay.files import Rankings as Rankings_of_measures
from ragassay.records import Passage, Query, Section
from ragassay.text import did_you_mean, plain

from ..statistics.clustered import Values

# Recall, precision and IoU are those of Smith and Troynikov ("Evaluating Chunking Strategies for Retrieval", Chroma
# technical report, 2024) with two differences: characters are counted, not tokens, so that no tokenizer shapes the
# figure; and what several passages share is counted once, where they count it in what was retrieved as often as it was.
# So overlap costs rank and context but no precision, and passages that cover the same text have the same three values.
# A passage stands for its span, one that is handed over as its section for the section's. What is cut off, at k
# passages or at T tokens, the caller leaves out (`ragassay.prompts.how_many_fit`): where the first passage alone has
# more than T
# tokens nothing was handed over, and every measure is 0.

Handed = Sequence[Span | None] | None
"""Where the passages stand that were handed over for a query, best first; None within for one whose place is not known.
None for all: retrieval failed. Empty: it found nothing, or nothing that fits."""


class EvidenceValues(NamedTuple):
    """One query's values, each 0 to 1; all are 0 where nothing was handed over.

    recall: of the evidence's characters, the share that was handed over. precision: of the characters handed over, the
    share that is evidence. iou: the characters of both by those of either (Jaccard's index).

    ndcg: the sum over ranks of the share of the evidence that this passage is the first to cover, by log2(rank + 1). It
    is α-nDCG (Clarke et al., SIGIR 2008) with α = 1 and the evidence's characters for nuggets, but for its ideal: that
    is all evidence at rank 1 for every ranking, where theirs is the best order of the passages that there are, which
    would forgive a chunking that spreads the evidence over many.

    rr: 1 by the rank of the first passage that holds a whole piece of the evidence, else 0 (its mean is the MRR).
    """

    recall: float
    precision: float
    iou: float
    ndcg: float
    rr: float


MEASURES = {
    "evidence_recall": "recall",
    "evidence_precision": "precision",
    "evidence_iou": "iou",
    "evidence_ndcg": "ndcg",
    "evidence_mrr": "rr",
}
"""What each is called in figures: the field of `EvidenceValues` that it is the mean of."""

NOTHING = EvidenceValues(0.0, 0.0, 0.0, 0.0, 0.0)


def query_values(pieces: Evidence, handed: Handed) -> EvidenceValues | None:
    """The values of one query; None where retrieval failed or a passage's place is not known.

    pieces: as `spans.merged` leaves them, one at least.
    Raises ValueError without a piece.
    """
    if not pieces:
        raise ValueError("a query without evidence has no value")
    known = None if handed is None else [span for span in handed if span is not None]
    if handed is None or known is None or len(known) < len(handed):
        return None
    if not known:
        return NOTHING
    gains = list(_newly_covered(pieces, known))
    covered, total, retrieved = sum(gains), sum(end - start for _, start, end in pieces), _length(known)
    return EvidenceValues(
        recall=covered / total,
        precision=covered / retrieved,
        iou=covered / (total + retrieved - covered),
        ndcg=sum(gain / log2(at + 2) for at, gain in enumerate(gains) if gain) / total,
        rr=1 / rank if (rank := _first_whole(pieces, known)) else 0.0,
    )


def _newly_covered(pieces: Evidence, passages: Sequence[Span]) -> Iterator[int]:
    """By passage, how many characters of the evidence it covers that none before it did."""
    left = list(pieces)
    for doc, start, end in passages:
        hits = [piece for piece in left if piece[0] == doc and piece[1] < end and start < piece[2]]
        for piece in hits:
            left.remove(piece)
            left += [Span(doc, a, b) for a, b in ((piece.start, start), (end, piece.end)) if a < b]
        yield sum(min(end, piece.end) - max(start, piece.start) for piece in hits)


def _length(passages: Sequence[Span]) -> int:
    """How many characters stand in one passage at least."""
    length, at, where = 0, 0, None
    for doc, start, end in sorted(passages):
        if doc != where:
            at, where = 0, doc
        length += max(0, end - max(start, at))
        at = max(at, end)
    return length


def _first_whole(pieces: Evidence, passages: Sequence[Span]) -> int | None:
    """The rank of the first passage that holds a whole piece."""
    for rank, (doc, start, end) in enumerate(passages, 1):
        for other, begin, stop in pieces:
            if doc == other and start <= begin and stop <= end:
                return rank
    return None


# Where every passage among the first k has a label there is nothing to weigh up: a reciprocal rank and an nDCG follow
# from the row of labels, for all queries at once. ir_measures gives the same, in a hundred times as long.

Rankings = Mapping[str, Sequence[tuple[str, float]] | None]


def ideal_gains(qrels: Qrels, k: int) -> dict[str, float]:
    """Query to the discounted gain of its best possible first k (Jarvelin and Kekalainen, TOIS 20(4), 2002)."""
    names = list(qrels)
    best = [sorted(row.values(), reverse=True)[:k] for row in qrels.values()]
    table = np.array([row + [0] * (k - len(row)) for row in best], dtype=np.float64).reshape(len(names), k)
    return dict(zip(names, _gains(table).tolist(), strict=True))


@dataclass(frozen=True)
class LabelRows:
    """queries: those whose first k passages are all labelled. labels: (queries, k), 0 beyond the last passage.

    ideal: (queries,), of `ideal_gains`.
    """

    queries: Sequence[str]
    labels: Floats
    ideal: Floats
    k: int

    def without(self, queries: Collection[str]) -> LabelRows:
        """Those of other queries."""
        return self.where(np.array([query not in queries for query in self.queries], dtype=bool)) if queries else self

    def where(self, which: Truths) -> LabelRows:
        """Some of them, `which` (queries,)."""
        if which.all():
            return self
        return LabelRows(list(compress(self.queries, which.tolist())), self.labels[which], self.ideal[which], self.k)

    def values(self, measure: Any) -> Values:
        """Query to the value of a measure of ir_measures; empty for one that such rows do not decide."""
        if measure.params.get("cutoff") != self.k:
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


def rows_by_agent(
    queries: Sequence[str], qrels: Qrels, rankings: Mapping[str, Rankings], k: int
) -> dict[str, LabelRows]:
    """`label_rows` of each agent."""
    ideal = ideal_gains(qrels, k)
    return {agent: label_rows(queries, qrels, ranking, k, ideal) for agent, ranking in rankings.items()}


def label_rows(
    queries: Sequence[str], qrels: Qrels, rankings: Rankings, k: int, ideal: Mapping[str, float]
) -> LabelRows:
    """Of those of `queries` that were ranked (absent: nothing was retrieved).

    A ranking with equal scores, which a measure may order in its own way, or with a passage twice is left out.
    """
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
    found: Floats = np.maximum(labels, 0.0) @ (1 / np.log2(np.arange(2, labels.shape[1] + 2)))
    return found


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


def by_query(spelling: str, qrels: Qrels, rankings: Rankings_of_measures) -> dict[str, float]:
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


# It needs no judge. A query's sources are its `metadata.sections`, which a question over several has, or else its
# `metadata.section` (offsets in the document's text), or the pages in its metadata; a query of a user's own has none
# and is not counted, and neither is one that the documents do not answer (`metadata.kind` "unanswerable").


@dataclass(frozen=True)
class Source:
    """Where a question comes from. `offsets` (characters, end exclusive) if known, `pages` (first, last) if known."""

    doc: str
    offsets: tuple[int, int] | None
    pages: tuple[int, int] | None


Sources = tuple[Source | None, ...]
"""The places of a question's sections, one at least; None for one of several that is not in the corpus."""


def sources(queries: Sequence[Query], sections: Sequence[Section]) -> dict[str, Sources]:
    """Query id to its sources, of those that have one."""
    by_id = {section.id: section for section in sections}
    answerable = (query for query in queries if query.metadata.get("kind") != "unanswerable")
    found = {query.id: _sources(query.metadata, by_id) for query in answerable}
    return {query: places for query, places in found.items() if places}


def _sources(metadata: Mapping[str, Any], by_id: Mapping[str, Section]) -> Sources:
    first, told = str(metadata.get("section")), metadata.get("sections")
    names = list(dict.fromkeys(map(str, told))) if isinstance(told, list) else []
    if len(names) < 2:
        one = _section_place(by_id.get(first)) or place(metadata)
        return (one,) if one else ()
    return tuple(_section_place(by_id.get(name)) or (place(metadata) if name == first else None) for name in names)


def _section_place(section: Section | None) -> Source | None:
    if section is None:
        return None
    return Source(section.doc, (section.start, section.end), (section.first_page, section.last_page))


def place(metadata: Mapping[str, Any]) -> Source | None:
    """The place that a passage's or a query's metadata names; None where it names no document and part of it."""
    doc = metadata.get("doc")
    offsets, pages = _span(metadata, "start", "end"), _span(metadata, "first_page", "last_page")
    return Source(doc, offsets, pages) if isinstance(doc, str) and (offsets or pages) else None


def overlaps(one: Source, other: Source) -> bool | None:
    """Whether two places share text; None where nothing that both of them know can tell."""
    if one.doc != other.doc:
        return False
    if one.offsets and other.offsets:
        return one.offsets[0] < other.offsets[1] and other.offsets[0] < one.offsets[1]
    if one.pages and other.pages:
        return one.pages[0] <= other.pages[1] and other.pages[0] <= one.pages[1]
    return None


def section_recall(
    found: Mapping[str, Sources],
    passages: Mapping[str, Passage],
    rankings: Mapping[str, Sequence[tuple[str, float]] | None],
    k: int,
) -> Values:
    """For each query with a source: the share of its sections that some passage of the first k overlaps, 0 to 1.

    None where retrieval failed, and where it cannot be told of one of its sections: no passage is seen to overlap it,
    and it or some passage has no known place.
    """
    return {query: _recall(places, passages, rankings.get(query, ()), k) for query, places in found.items()}


def _recall(
    places: Sources, passages: Mapping[str, Passage], ranking: Sequence[tuple[str, float]] | None, k: int
) -> float | None:
    if ranking is None:
        return None
    top = [place(passages[name].metadata) if name in passages else None for name, _ in ranking[:k]]
    hits = [hit for source in places if (hit := _hit(source, top)) is not None]
    return sum(hits) / len(places) if len(hits) == len(places) else None


def _hit(source: Source | None, top: Sequence[Source | None]) -> bool | None:
    seen = [overlaps(source, at) if source and at else None for at in top]
    return True if True in seen else None if None in seen or source is None else False


def _span(metadata: Mapping[str, Any], first: str, last: str) -> tuple[int, int] | None:
    low, high = metadata.get(first), metadata.get(last)
    return (low, high) if isinstance(low, int) and isinstance(high, int) else None
