"""What of quotes and graded passages is set beside each other."""

from __future__ import annotations

from benchmarks.questions.quotes import kinds
from ragassay.evidence import Span


def test_passages_that_hold_a_quote_stand_beside_the_quotes_in_them_with_the_best_grade():
    passage, overlapping, other = Span("a", 0, 100), Span("a", 80, 180), Span("b", 0, 100)
    quotes = {
        "both": [Span("a", 85, 95), Span("a", 95, 105)],
        "torn": [Span("a", 170, 190)],
        "ungraded": [Span("a", 5, 9)],
    }
    grades = {"both": {passage: 1, overlapping: 2, other: 2}, "torn": {overlapping: 2}}
    found = kinds(quotes, grades)
    assert found.passages.keys() == found.quotes.keys() == {"both"}
    assert found.passages["both"].pieces == (passage, overlapping)
    assert found.passages["both"].relevant_pieces == (overlapping,)
    assert found.quotes["both"].relevant_pieces == tuple(quotes["both"]), (
        "each has the best grade of a passage it is in"
    )
