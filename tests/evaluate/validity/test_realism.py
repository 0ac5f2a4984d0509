"""What of the corpus the questions are about."""

from __future__ import annotations

from ragassay.evaluate.validity.questions import Question, Reading
from ragassay.evaluate.validity.realism import Corpus, coverage, jaccard
from ragassay.evidence import Span
from ragassay.synth.questions.reject import shape_of, words_of


def test_pages_that_only_touch_the_evidence_are_not_covered():
    pages = {("a", n): Span("a", 100 * n, 100 * n + 100) for n in (1, 2, 3)} | {("b", 2): Span("b", 200, 300)}
    corpus = Corpus({}, pages)
    asked = [Question("q", "How?", "c", "x:m", doc="a")]
    reading = Reading(words_of, lambda t: shape_of(t, "de").content, str)
    found = coverage(asked, {"q": [Span("a", 200, 300)]}, corpus, {}, (), reading)
    assert (found.figures["pages"].value, found.figures["pages"].n) == (0.25, 4)
    found = coverage(asked, {"q": [Span("a", 199, 301)]}, corpus, {}, (), reading)
    assert found.figures["pages"].value == 0.75


def test_words_that_one_question_has_alone_make_it_less_of_a_copy():
    """Jaccard 1912: what both have by what either has."""
    one, other = frozenset("abc"), frozenset("bcde")
    assert jaccard(one, other) == jaccard(other, one) == 2 / 5 and jaccard(one, one) == 1.0
    assert jaccard(one, frozenset()) == jaccard(frozenset(), frozenset()) == 0.0
