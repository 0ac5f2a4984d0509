"""What reaches its threshold and what the rest fails of; problems and insights, each a sentence with its figure."""

from __future__ import annotations

from typing import Literal

from ragassay.records import Figure, Record


class ThresholdShares(Record):
    """How many of an agent's answers are good enough by one criterion, and what the others fail of.

    passed, failed: of the answers with a label; n_failed have none. retrieval_failures, generation_failures,
    unexplained_failures: the parts of `failed` where nothing relevant was retrieved, where something was, and where
    that is not known; None of a judge of passages, whose label is the mean of an answer's passages. parse_failures: of
    the answers put to the judge, those where its reply could not be read; None of what asks nobody.
    """

    passed: Figure
    failed: Figure
    retrieval_failures: Figure | None = None
    generation_failures: Figure | None = None
    unexplained_failures: Figure | None = None
    parse_failures: Figure | None = None


ByThreshold = dict[str, dict[str, ThresholdShares]]
"""Agent to criterion to shares."""


class Problem(Record):
    """What should be looked at.

    kind: `beyond_threshold` (a mean), `too_short` (answers without a word to embed) or `flips` (answers that cross the
    threshold when their question is asked in changed words). sure: whether it is so beyond chance, by the mean's
    interval; None where that is no question.
    """

    kind: Literal["beyond_threshold", "too_short", "flips"]
    agent: str
    criterion: str | None = None
    figure: Figure
    sure: bool | None = None
    sentence: str


class Insight(Record):
    """What stands out. kind: what it is about, such as `best`, `slowest`, `hardest_question`.

    subject: an agent, or a query's id. figure: what it rests on. told_apart: whether it is so beyond chance; None where
    that was not tested.
    """

    kind: str
    subject: str
    measure: str
    figure: Figure
    told_apart: bool | None = None
    sentence: str
