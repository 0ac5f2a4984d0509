"""What of the corpus the questions are about."""

from __future__ import annotations

from ragassay.evaluate.validity.questions import Question, Reading
from ragassay.evaluate.validity.realism import Corpus, coverage
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
