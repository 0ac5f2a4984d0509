"""Drawing the sections to ask about, seeded and spread over the documents; which sections are linked."""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise

from ragassay.records import Section

from .reject import FUNCTION_WORDS

SHARED = 2
"""Rare terms that two sections share at least."""
RARE = 0.1
"""A term is rare in at most this share of the sections, or in three of them, and never where all have it."""
SAME = 0.9
"""From this cosine on two sections say the same, and no question needs both."""
K1, B = 1.5, 0.75

_TERM = re.compile(r"[^\W\d]\w{2,}(?:[-.]\w+)*")


def terms(text: str) -> list[str]:
    """The words and names of a text, in lower case; numbers and words of one or two letters are left out."""
    return [term.casefold() for term in _TERM.findall(text)]


class Sections:
    """All sections of a corpus, to be asked which go together.

    Two sections are linked where they share terms that few others have, names of things above all; of several the
    nearest by the cosine of tf-idf vectors (Salton and Buckley 1988, "Term-weighting approaches in automatic text
    retrieval") is taken. Sections of other documents are linked just as those of the same one.
    """

    def __init__(self, sections: Sequence[Section]) -> None:
        self.sections = sections
        self._counts = [Counter(terms(section.text)) for section in sections]
        self._holders: defaultdict[str, list[int]] = defaultdict(list)
        self._lengths = [counts.total() for counts in self._counts]
        for index, counts in enumerate(self._counts):
            for term in counts:
                self._holders[term].append(index)
        self._most = min(max(3, RARE * len(sections)), len(sections) - 1)
        self._vectors: dict[int, dict[str, float]] = {}

    def linked(self, section: Section) -> tuple[Section, ...]:
        """One or two sections that go with `section`, the nearest first; the second is linked to both. Else none."""
        index = self._indexes[section.id]
        first = self._nearest(index, self._sharing(index))
        if first is None:
            return ()
        both = self._sharing(index) & self._sharing(first)
        second = self._nearest(index, {one for one in both if self._cosine(one, first) < SAME})
        return tuple(self.sections[one] for one in (first, second) if one is not None)

    def nearest(self, text: str, n: int, without: Section) -> tuple[Section, ...]:
        """The first `n` sections for a text by BM25 that share a term with it; `without` is left out.

        The scores are those of rank-bm25's BM25Okapi to the last bit, as recorded requests have these sections.
        """
        scores: defaultdict[int, float] = defaultdict(float)
        mean = sum(self._lengths) / len(self._lengths)
        for term in terms(text):
            for index in self._holders.get(term, ()):
                count, length = self._counts[index][term], self._lengths[index]
                scores[index] += self._idf[term] * (count * (K1 + 1) / (count + K1 * (1 - B + B * length / mean)))
        best = sorted(scores, key=lambda index: (-scores[index], index))
        return tuple(self.sections[index] for index in best if self.sections[index] != without)[:n]

    @cached_property
    def _indexes(self) -> Mapping[str, int]:
        return {section.id: index for index, section in enumerate(self.sections)}

    @cached_property
    def _idf(self) -> Mapping[str, float]:
        """ln((N - n_t + 0.5) / (n_t + 0.5)); a quarter of its mean over the terms where that is below 0."""
        n = len(self.sections)
        idf = {term: math.log(n - len(by) + 0.5) - math.log(len(by) + 0.5) for term, by in self._holders.items()}
        floor = 0.25 * (sum(idf.values()) / len(idf))
        return {term: floor if value < 0 else value for term, value in idf.items()}

    def _vector(self, index: int) -> dict[str, float]:
        """Log tf times idf, of length 1."""
        if index not in self._vectors:
            n = len(self.sections)
            weights = {
                term: (1 + math.log(count)) * math.log(1 + n / len(self._holders[term]))
                for term, count in self._counts[index].items()
            }
            length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
            self._vectors[index] = {term: weight / length for term, weight in weights.items()}
        return self._vectors[index]

    def _cosine(self, one: int, other: int) -> float:
        a, b = self._vector(one), self._vector(other)
        return sum(weight * b[term] for term, weight in a.items() if term in b)

    def _sharing(self, index: int) -> set[int]:
        """The sections that share enough rare terms with this one, itself left out."""
        content = self._counts[index].keys() - FUNCTION_WORDS
        rare = (term for term in content if 1 < len(self._holders[term]) <= self._most)
        shared = Counter(other for term in rare for other in self._holders[term] if other != index)
        return {other for other, count in shared.items() if count >= SHARED}

    def _nearest(self, index: int, others: set[int]) -> int | None:
        near = [(-self._cosine(index, other), other) for other in others]
        return min(((cosine, other) for cosine, other in near if -cosine < SAME), default=(0.0, None))[1]


def sample_sections(sections: Sequence[Section], n: int, seed: int) -> list[Section]:
    """At most `n` sections, in the order given: every document's share is in proportion to its length.

    Each document has one before any has two; where there are more documents than `n`, `n` of them are drawn. Within a
    document one section is drawn from each of as many equal stretches as it has to give.
    """
    by_doc: defaultdict[str, list[Section]] = defaultdict(list)
    for section in sections:
        by_doc[section.doc].append(section)
    shares = _shares(by_doc, n, seed)
    chosen: set[str] = set()
    for doc, share in shares.items():
        own, rng = by_doc[doc], random.Random(f"{seed}:{doc}")
        edges = [index * len(own) // share for index in range(share + 1)]
        chosen.update(own[rng.randrange(start, stop)].id for start, stop in pairwise(edges))
    return [section for section in sections if section.id in chosen]


def _shares(by_doc: Mapping[str, Sequence[Section]], n: int, seed: int) -> dict[str, int]:
    """How many sections each document gives: one each, then the highest averages of length (Sainte-Laguë)."""
    docs = sorted(by_doc)
    if n < len(docs):
        docs = sorted(random.Random(f"{seed}:documents").sample(docs, n))
    shares = dict.fromkeys(docs, 1)
    length = {doc: sum(len(section.text) for section in by_doc[doc]) for doc in docs}
    for _ in range(n - len(docs)):
        open_docs = [doc for doc in docs if shares[doc] < len(by_doc[doc])]
        if not open_docs:
            break
        shares[max(open_docs, key=lambda doc: (length[doc] / (2 * shares[doc] + 1), doc))] += 1
    return shares
