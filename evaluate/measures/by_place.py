"""Measures of where passages stand in the documents: what of a query's source sections and evidence they cover.

They need no judge. Evidence recall, precision and IoU are those of Smith and Troynikov ("Evaluating Chunking Strategies
for Retrieval", Chroma technical report, 2024) with two differences: characters are counted, not tokens, so that no
tokenizer shapes the figure; and what several passages share is counted once, where they count it in what was retrieved
as often as it was. So overlap costs rank and context but no precision, and passages that cover the same text have the
same three values. A passage stands for its span, one that is handed over as its section for the section's. What is cut
off, at k passages or at T tokens, the caller leaves out (`ragassay.prompts.how_many_fit`): where the first passage
alone has more than T tokens nothing was handed over, and every measure is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log2
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from ragassay.errors import InputError
from ragassay.evidence import Evidence, Graded, Span, covered, merged
from ragassay.files import Qrels
from ragassay.records import Passage, Query, Section

from .measure import Judged, Measure, Rankings

if TYPE_CHECKING:
    from ..statistics.clustered import Values


@dataclass(frozen=True)
class Source:
    """Where a question comes from. `offsets` (characters, end exclusive) if known, `pages` (first, last) if known."""

    doc: str
    offsets: tuple[int, int] | None
    pages: tuple[int, int] | None


Sources = tuple[Source | None, ...]
"""The places of a question's sections, one at least; None for one of several that is not in the corpus."""


def sources(queries: Sequence[Query], sections: Sequence[Section]) -> dict[str, Sources]:
    """Query id to its sources, of those that have one.

    They are its `metadata.sections`, which a question over several has, or else its `metadata.section` (offsets in the
    document's text), or the pages in its metadata. A query of a user's own has none and is not counted, and neither is
    one that the documents do not answer (`metadata.kind` "unanswerable").
    """
    by_id, found = {section.id: section for section in sections}, dict[str, Sources]()
    for query in queries:
        if query.metadata.get("kind") == "unanswerable":
            continue
        own, first, told = place(query.metadata), str(query.metadata.get("section")), query.metadata.get("sections")
        names = list(dict.fromkeys(map(str, told))) if isinstance(told, list) else []
        if len(names) > 1:
            found[query.id] = tuple(_section_place(by_id.get(id)) or (own if id == first else None) for id in names)
        elif one := _section_place(by_id.get(first)) or own:
            found[query.id] = (one,)
    return found


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


class SectionRecall(Measure):
    """Share of the source sections of a query that are among the passages retrieved."""

    name = "R(section)"
    in_runs = ("R(section)",)
    from_labels = False

    @classmethod
    def of(cls, spelling: str) -> Self | None:
        """Of `R(section)@5`."""
        name, _, k = spelling.partition("@")
        return cls(int(k)) if name == cls.name and k.isdecimal() else None

    @classmethod
    def heading(cls, spelling: str) -> str:
        """`section recall@5`."""
        return f"section recall{spelling.removeprefix(cls.name)}"

    def scores(self, qrels: Qrels, rankings: Mapping[str, Sequence[tuple[str, float]]]) -> dict[str, float]:
        """Raises InputError: labels do not say where a question comes from."""
        raise InputError(f"'{self}' is not known of qrels", remedy="a run of questions from sections has it")

    def values(self, judged: Judged) -> Values:
        """`section_recall` of the queries that have a source."""
        return section_recall(judged.sources, judged.passages, judged.rankings, self.k)


def section_recall(
    found: Mapping[str, Sources], passages: Mapping[str, Passage], rankings: Rankings, k: int | None
) -> Values:
    """For each query with a source: the share of its sections that some passage of the first k overlaps, 0 to 1.

    None where retrieval failed, and where it cannot be told of one of its sections: no passage is seen to overlap it,
    and it or some passage has no known place.
    """
    values: dict[str, float | None] = {}
    for query, places in found.items():
        values[query], ranking = None, rankings.get(query, ())
        if ranking is None:
            continue
        top = [place(passages[name].metadata) if name in passages else None for name, _ in ranking[:k]]
        hits = list[bool]()
        for source in places:
            seen = [overlaps(source, at) if source and at else None for at in top]
            if True in seen or (source and None not in seen):
                hits.append(True in seen)
        values[query] = sum(hits) / len(places) if len(hits) == len(places) else None
    return values


def _span(metadata: Mapping[str, Any], first: str, last: str) -> tuple[int, int] | None:
    low, high = metadata.get(first), metadata.get(last)
    return (low, high) if isinstance(low, int) and isinstance(high, int) else None


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

    rr: 1 by the rank of the first passage that holds a whole piece of the evidence, or of which half of the characters
    at least (`JUDGED_FROM`) lie in one, else 0 (its mean is the MRR). A piece is what it was given as, so that two
    graded passages that overlap are two.
    """

    recall: float
    precision: float
    iou: float
    ndcg: float
    rr: float


class GradedValues(NamedTuple):
    """One query's values where its evidence has grades, each 0 to 1.

    recall, precision, iou and rr are those of what is relevant; recall_1 and rr_1 those of what has grade 1 or 2.
    ndcg: as of `EvidenceValues`, each character gaining its grade, 1 or 2, the higher where
    two pieces share it. Gains that are the grades themselves are those of Järvelin and Kekäläinen ("Cumulated
    gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002), and of trec_eval; the ideal is all evidence at rank
    1 here too. Where nobody told grades apart all are the values of `EvidenceValues`.
    """

    recall: float
    precision: float
    iou: float
    ndcg: float
    rr: float
    recall_1: float
    rr_1: float


MEASURES = {
    "evidence_recall": "recall",
    "evidence_precision": "precision",
    "evidence_iou": "iou",
    "evidence_ndcg": "ndcg",
    "evidence_mrr": "rr",
}
"""What each is called in figures: the field of `GradedValues` that it is the mean of."""
AT_GRADE_1 = {"evidence_recall_1": "recall_1", "evidence_mrr_1": "rr_1"}
"""The same of what is told only where evidence has grades."""

NOTHING = EvidenceValues(0.0, 0.0, 0.0, 0.0, 0.0)


JUDGED_FROM = 0.5
"""The share of a passage's characters that somebody has to have judged so that the passage counts as judged, and that
have to lie in a piece of evidence so that it has the piece's grade."""


def query_values(pieces: Sequence[Span], handed: Handed) -> EvidenceValues | None:
    """The values of one query; None where retrieval failed or a passage's place is not known.

    pieces: as they were given, overlapping or not, one at least. Raises ValueError without a piece.
    """
    if not pieces:
        raise ValueError("a query without evidence has no value")
    known = [span for span in handed or () if span is not None]
    if handed is None or len(known) < len(handed):
        return None
    if not known:
        return NOTHING
    evidence = merged(pieces)
    gains = list(_newly_covered(evidence, known))
    covered, total, retrieved = sum(gains), _sum(evidence), _sum(merged(known))
    relevant = (rank for rank, passage in enumerate(known, 1) if any(finds(passage, piece) for piece in pieces))
    return EvidenceValues(
        recall=covered / total,
        precision=covered / retrieved,
        iou=covered / (total + retrieved - covered),
        ndcg=sum(gain / log2(at + 2) for at, gain in enumerate(gains) if gain) / total,
        rr=1 / next(relevant, inf),
    )


def graded_values(graded: Graded, handed: Handed) -> GradedValues | None:
    """The values of one query by evidence with grades; None as of `query_values`."""
    values = query_values(graded.relevant_pieces, handed)
    more = values if graded.pieces == graded.relevant_pieces else query_values(graded.pieces, handed)
    if values is None or more is None:
        return None
    ndcg = values.ndcg
    if graded.at_1 != graded.relevant:
        # A character of grade 2 stands in both, and so gains twice what one of grade 1 does.
        once, twice = _sum(graded.at_1), _sum(graded.relevant)
        ndcg = (once * more.ndcg + twice * values.ndcg) / (once + twice)
    return GradedValues(*values[:3], ndcg, values.rr, more.recall, more.rr)


class Unjudged(NamedTuple):
    """What nobody has judged of what was handed over for a query, and how far its values hang on that; each 0 to 1.

    share: of the passages, those that nobody has judged: below `JUDGED_FROM` of their characters lie in judged places,
    so that a passage of another chunking than the judged ones can be told too. ndcg_low, ndcg_high: the lowest and the
    highest nDCG over all grades, 0 to 2, that what nobody has judged of these passages could be given. The value itself
    counts it as 0, which is not always the lowest: evidence found late raises the ideal by more than the sum.
    recall_high: the recall where all of it has grade 2; the lowest is the value itself. What other rankings found and
    nobody has judged is in none of these.
    """

    share: float
    ndcg_low: float
    ndcg_high: float
    recall_high: float


UNJUDGED = {
    "unjudged": "share",
    "evidence_ndcg_low": "ndcg_low",
    "evidence_ndcg_high": "ndcg_high",
    "evidence_recall_high": "recall_high",
}
"""What each is called in figures: the field of `Unjudged` that it is the mean of."""


def unjudged(graded: Graded, handed: Handed, judged: Evidence) -> Unjudged | None:
    """Of one query; None as of `query_values`. judged: where somebody judged, as merged; all evidence counts as judged.

    The ends of nDCG are exact: it is a ratio of sums, linear in what each rank could gain, so that at either end the
    unjudged ranks above or below some rank have grade 2 and all others 0.
    """
    values = graded_values(graded, handed)
    if values is None or handed is None:
        return None
    if not handed:
        return Unjudged(0.0, values.ndcg, values.ndcg, values.recall)
    known = merged([*judged, *graded.at_1])
    # Of each rank its discount, and the characters that could be evidence of grade 2.
    ranks, seen, n_unjudged = list[tuple[float, int]](), known, 0
    for at, span in enumerate(one for one in handed if one is not None):
        if is_judged(span, known):
            continue
        n_unjudged += 1
        if new := span.end - span.start - covered(span, seen):
            ranks.append((1 / log2(at + 2), new))
            seen = merged([*seen, span])
    total, relevant = _sum(graded.relevant) + _sum(graded.at_1), _sum(graded.relevant)
    more = sum(new for _, new in ranks)
    ends = [values.ndcg]
    for row in [ranks[:at] for at in range(1, len(ranks) + 1)] + [ranks[at:] for at in range(len(ranks))]:
        gained = values.ndcg * total + sum(2 * by * new for by, new in row)
        ends.append(gained / (total + sum(2 * new for _, new in row)))
    recall = (values.recall * relevant + more) / (relevant + more)
    return Unjudged(n_unjudged / len(handed), min(ends), max(ends), recall)


def is_judged(span: Span, known: Evidence) -> bool:
    """Whether a passage that stands there counts as judged. known: where somebody judged, as merged."""
    return covered(span, known) >= JUDGED_FROM * (span.end - span.start)


def _sum(pieces: Evidence) -> int:
    return sum(end - start for _, start, end in pieces)


def _newly_covered(pieces: Evidence, passages: Sequence[Span]) -> Iterator[int]:
    """By passage, how many characters of the evidence it covers that none before it did."""
    left = list(pieces)
    for doc, start, end in passages:
        hits = [piece for piece in left if piece[0] == doc and piece[1] < end and start < piece[2]]
        for piece in hits:
            left.remove(piece)
            left += [Span(doc, a, b) for a, b in ((piece.start, start), (end, piece.end)) if a < b]
        yield sum(min(end, piece.end) - max(start, piece.start) for piece in hits)


def finds(passage: Span, piece: Span) -> bool:
    """Whether a passage holds the whole piece of evidence, or lies in it by `JUDGED_FROM` of its characters."""
    shared = covered(piece, (passage,))
    return shared == piece.end - piece.start or shared >= JUDGED_FROM * (passage.end - passage.start)
