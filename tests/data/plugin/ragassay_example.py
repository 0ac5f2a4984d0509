"""What a package of your own may bring to ragassay: see README.md beside it."""

from __future__ import annotations

from ragassay.evaluate.judging.engine.evaluator import Evaluator, Options
from ragassay.evaluate.measures.measure import Measure
from ragassay.layouts.answers import Column, Layout
from ragassay.layouts.cells import text


class Bounds(Options):
    """most: words that an answer may have."""

    most: int = 50


class WordsInBounds(Evaluator):
    """1 for an answer of at most so many words, else 0."""

    name = "words_in_bounds"
    about = "whether an answer has no more words than it may have"
    reads = ("answer",)
    asks = "nothing"
    calls = 0.0
    judge = "word count"
    options_type = Bounds

    def steps(self, case):
        """No requests."""
        n_words = len(case.text.split())
        return [self.assess(case, float(n_words <= self.options.most), reason=f"{n_words} words")]


class BothFirst(Measure):
    """Whether the first two passages are both very relevant.

    It needs their labels alone.
    """

    name = "BothFirst"

    def value(self, labels, others):
        """1 where they are, else 0."""
        return float(list(labels[:2]) == [2, 2])


class Helpdesk(Layout):
    """Answers as our help desk's logs have them."""

    name = "helpdesk"
    title = "the help desk's: ticket, asked, replied"
    needs = (frozenset(("asked", "replied")),)
    columns = {  # noqa: RUF012
        "ticket": Column("query_id", text),
        "asked": Column("query", text),
        "replied": Column("answer", text),
    }
