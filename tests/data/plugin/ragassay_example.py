"""What a package of your own may bring to ragassay: see README.md beside it."""

from __future__ import annotations

from typing import ClassVar

from ragassay.evaluate.judging.engine.evaluator import Evaluator, Options
from ragassay.evaluate.measures.measure import Measure
from ragassay.layouts.answers import Column, Layout
from ragassay.layouts.cells import text
from ragassay.retrieval.rankers.ranker import Ranker, in_order


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


class Shortest(Ranker):
    """The passages that share a word with the query, the shortest first; longer ones than `most` words are left out."""

    name = "shortest"
    settings: ClassVar = {"most": 1000}

    def __init__(self, words, most):
        self.words = {identifier: row for identifier, row in words.items() if len(row) <= most}

    @classmethod
    def over(cls, material):
        """Over titles and texts."""
        words = {one: text.split() for one, text in zip(material.ids, material.texts, strict=True)}
        return cls(words, material.settings["most"])

    def search(self, queries, k):
        """A passage scores 1 / its words."""
        return [
            in_order((one, 1 / len(row)) for one, row in self.words.items() if {*query.split()} & {*row})[:k]
            for query in queries
        ]


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
