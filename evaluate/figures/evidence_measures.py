"""Rankings held against the evidence of queries, by characters of the documents' text: no judge, and any chunking.

Recall, precision and IoU are those of Smith and Troynikov ("Evaluating Chunking Strategies for Retrieval", Chroma
technical report, 2024) with two differences: characters are counted, not tokens, so that no tokenizer shapes the
figure; and what several passages share is counted once, where they count it in what was retrieved as often as it was.
So overlap costs rank and context but no precision, and passages that cover the same text have the same three values.

A passage stands for its span, one that is handed over as its section for the section's. What is cut off, at k passages
or at T tokens, the caller leaves out (`ragassay.tokens.how_many_fit`): where the first passage alone has more than T
tokens nothing was handed over, and every measure is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log2
from typing import NamedTuple

from ragassay.evidence.spans import Evidence, Span

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
