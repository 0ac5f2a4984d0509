"""The questions that a test set is held by, and how their words are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ragassay.records import Figure
from ragassay.text import same_words


class Reading(NamedTuple):
    """How texts are read, in the language of the corpus.

    words: in order, in small letters; a script without spaces in single characters. content: the stems of those that
    carry content. best: the text of the passage that BM25 finds first for a question, "" where none shares a word.
    apart: the area under the curve of a classifier that tells people's questions from written ones by looks and
    meaning; None where there is no embedding model at hand.
    """

    words: Callable[[str], Sequence[str]]
    content: Callable[[str], frozenset[str]]
    best: Callable[[str], str]
    apart: Callable[[Sequence[str], Sequence[str]], Figure | None] | None = None


class Question(NamedTuple):
    """A question of the test set. author: the model that wrote it, None of a real one. cluster: its source section, or
    itself. evidence: the text that it rests on, "" where that is not known. section: its id, "" where it names none."""

    id: str
    text: str
    cluster: str
    author: str | None = None
    kind: str = ""
    role: str = ""
    doc: str = ""
    section: str = ""
    evidence: str = ""


def written(questions: Sequence[Question]) -> list[Question]:
    """Those that a model wrote."""
    return [question for question in questions if question.author is not None]


def asked_by_people(questions: Sequence[Question], experts: Sequence[str]) -> list[str]:
    """The texts of people's questions, among the queries and elsewhere, each once."""
    texts = [question.text for question in questions if question.author is None] + list(experts)
    return list({same_words(text) or text: text for text in texts}.values())
