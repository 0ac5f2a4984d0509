"""Rankings held against the evidence of queries, by characters of the documents' text: no judge, and any chunking.

Recall, precision and IoU are those of Smith and Troynikov ("Evaluating Chunking Strategies for Retrieval", Chroma
technical report, 2024) with two differences: characters are counted, not tokens, so that no tokenizer shapes the figure;
and what several passages share is counted once, where they count it in what was retrieved as often as it was. So
overlap costs rank and context but no precision, and passages that cover the same text have the same three values.

A passage stands for its span, one that is handed over as its section for the section's. What is cut off, at k passages
or at T tokens, the caller leaves out (`ragassay.tokens.how_many_fit`): where the first passage alone has more than T
tokens nothing was handed over, and every measure is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import log2
from typing import NamedTuple

from ragassay.evidence.spans import Evidence, Span

from ..statistics.clustered import Values

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


def by_query(evidence: Mapping[str, Evidence], handed: Mapping[str, Handed]) -> dict[str, Values]:
    """Measure to query to value, of every query that has evidence; others have no value that could fail.

    handed: has every query with evidence. None where retrieval failed or a passage's place is not known.
    """
    found = {query: query_values(pieces, handed[query]) for query, pieces in evidence.items()}
    return {
        measure: {query: None if values is None else getattr(values, field) for query, values in found.items()}
        for measure, field in MEASURES.items()
    }


def query_values(pieces: Evidence, handed: Handed) -> EvidenceValues | None:
    """The values of one query. pieces: as `spans.merged` leaves them, one at least.

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
        ndcg=sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1)) / total,
        rr=next((1 / rank for rank, span in enumerate(known, 1) if _holds_a_piece(span, pieces)), 0.0),
    )


def _newly_covered(pieces: Evidence, passages: Sequence[Span]) -> Iterator[int]:
    """By passage, how many characters of the evidence it covers that none before it did."""
    left: list[Span] = list(pieces)
    for doc, start, end in passages:
        gain = 0
        if any(doc == other and start < stop and begin < end for other, begin, stop in left):
            rest: list[Span] = []
            for piece in left:
                low, high = max(start, piece.start), min(end, piece.end)
                if doc != piece.doc or low >= high:
                    rest.append(piece)
                    continue
                gain += high - low
                rest += [Span(doc, a, b) for a, b in ((piece.start, low), (high, piece.end)) if a < b]
            left = rest
        yield gain


def _length(passages: Sequence[Span]) -> int:
    """How many characters stand in one passage at least."""
    length, at, where = 0, 0, None
    for doc, start, end in sorted(passages):
        if doc != where:
            at, where = 0, doc
        length += max(0, end - max(start, at))
        at = max(at, end)
    return length


def _holds_a_piece(span: Span, pieces: Evidence) -> bool:
    doc, start, end = span
    return any(doc == other and start <= begin and stop <= end for other, begin, stop in pieces)
