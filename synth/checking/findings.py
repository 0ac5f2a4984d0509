"""What a check of a test set says: a finding for each fault of each question, and figures of the set."""

from __future__ import annotations

from typing import Literal

from ragassay.records import Figure, QuestionsCheck, Record

Fault = Literal[
    "empty",
    "garbled",
    "other-script",
    "model-talk",
    "not-alone",
    "near-duplicate",
    "copy",
    "evidence-not-in-corpus",
    "answer-not-held",
]
FAULTS: dict[Fault, str] = {
    "empty": "without a letter or a digit",
    "garbled": "garbled text",
    "other-script": "in a script that the corpus has not",
    "model-talk": "words between a model and its user",
    "not-alone": "cannot stand alone",
    "near-duplicate": "asks what another one asks",
    "copy": "copied from the passage",
    "evidence-not-in-corpus": "evidence that is not in the corpus",
    "answer-not-held": "answer that its evidence does not hold",
}
"""Every fault in words; the names are a contract."""


class Finding(Record):
    """One fault of one question. row counts questions from 1; line is that of the file, None in a JSON list.

    detail: what was found, in words. other: the id of the question that it repeats.
    """

    id: str
    fault: Fault
    row: int
    line: int | None
    detail: str
    other: str | None = None


class Counted(Record):
    """How many questions have a fault, of the n that could have it; n_not_judged lack what it takes to say so."""

    found: int
    n: int
    n_not_judged: int = 0


class Covered(Record):
    """How many documents or sections are asked about, of how many there are."""

    asked: int
    of: int


class Coverage(Record):
    """Where questions are about: by their evidence (n_by_evidence), or the passage that BM25 finds first (n_by_search).

    n_nowhere: questions that share no word with the corpus. sections: None where they are not known, or where no
    question says by its evidence where in a document it is.
    """

    documents: Covered
    sections: Covered | None
    n_by_evidence: int
    n_by_search: int
    n_nowhere: int


class Spread(Record):
    """A figure's mean with a bootstrap interval over questions, and its quartiles; None without a value."""

    mean: Figure
    quartiles: tuple[float, float, float] | None


class Overlaps(Record):
    """What questions share with their passage: words in a row, and the share of their content words, 0 to 1."""

    run: Spread
    shared: Spread


class Checked(Record):
    """The whole check. counts: by fault. overlap, experts_overlap: of the set's and of the experts' questions.

    realism: whether both can be told apart, None where there are no experts' questions. partly_found: ids whose
    evidence stands in the corpus only in part. notes: what could not be said, and why.
    """

    set: str
    corpus: str
    n: int
    findings: tuple[Finding, ...]
    counts: dict[Fault, Counted]
    coverage: Coverage
    overlap: Overlaps
    experts_overlap: Overlaps | None = None
    realism: QuestionsCheck | None = None
    partly_found: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
