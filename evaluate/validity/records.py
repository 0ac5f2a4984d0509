"""`validity.json`: how far a test set can be trusted for its corpus, a part for each question to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from ragassay.records import Figure, QuestionsCheck, Record
from ragassay.text import listed, plain

from ..results import Part


class QuestionOverlap(Record):
    """What a question shares with its evidence (of a real question: with the passage that BM25 finds first).

    shared: of its content words, 0 to 1. run: words in a row that stand there just so (two characters of a script
    without spaces are one word). run_share: of all its words, 0 to 1.
    """

    id: str
    shared: float
    run: float
    run_share: float


class Third(Record):
    """The written questions of one third of overlap with their evidence, `low` to `high`, n of them.

    variants: the mean quality of each. families: of each kind of retriever, over its variants. best: of the families.
    """

    low: float
    high: float
    n: int
    families: dict[str, Figure]
    variants: dict[str, Figure]
    best: tuple[str, ...]


class Interaction(Record):
    """How much more the quality of one family rises with overlap than that of another: the difference of slopes, of
    quality on the share of content words in the evidence.

    told: whether its interval leaves out 0 also at the level of all pairs of families together (Bonferroni).
    """

    family: str
    other: str
    figure: Figure
    told: bool


class Leak(Part):
    """figures: `shared_evidence`, `run_evidence`, `run_share_evidence`, `copied` of the written questions;
    `shared_best`, `run_share_best` with the passage that BM25 finds first, `real_…` the same of people's, and
    `difference_…`, written less people's."""

    figures: dict[str, Figure] = Field(default_factory=dict)
    thirds: tuple[Third, ...] = ()
    interactions: tuple[Interaction, ...] = ()
    questions: tuple[QuestionOverlap, ...] = ()


class NearCopy(Record):
    """A written question that is nearly one of people's. similarity: of their content words (Jaccard's), 0 to 1."""

    id: str
    text: str
    real: str
    similarity: float


class Realism(Part):
    """check: `questions-check.json`. figures: `opening`, `real_opening`: share of the questions that begin with the
    three words that most begin with; `difference_opening`; `copies`: share that are nearly one of people's;
    `auc_with_meaning`: the classifier's area by looks and embeddings, where an embedding model was at hand."""

    check: QuestionsCheck | None = None
    opening: str | None = None
    figures: dict[str, Figure] = Field(default_factory=dict)
    copies: tuple[NearCopy, ...] = ()


class Asked(Record):
    """How many questions are about a document, or of a kind or role, and how many were to be.

    share: of the written questions, with its interval. expected: the share asked for, or the document's share of the
    corpus's characters; None where neither is known.
    """

    name: str
    share: Figure
    expected: float | None = None


class Coverage(Part):
    """figures: `documents`, `sections`, `characters` (of the sections asked about), `evidence_characters`, `pages`:
    shares of the corpus that the written questions are about, counted and not estimated, so without an interval;
    `near_duplicates`: the share of the written questions that nearly repeat another."""

    figures: dict[str, Figure] = Field(default_factory=dict)
    documents: tuple[Asked, ...] = ()
    kinds: tuple[Asked, ...] = ()
    roles: tuple[Asked, ...] = ()
    duplicates: tuple[tuple[str, str], ...] = ()


class QuestionDifficulty(Record):
    """difficulty: the mean quality over variants, 0 (hard) to 1 (easy). discrimination: its correlation with the mean
    of the other questions, over variants; None where no variant differs on it."""

    id: str
    difficulty: Figure
    discrimination: Figure


class Subset(Record):
    """The smallest part of the questions that keeps the order of variants. tau_b: on variants that had no part in the
    choice, over splits of the variants in halves; tau_b_random: of as many questions drawn at random; tau_b_chosen: on
    the variants that chose."""

    questions: tuple[str, ...]
    n_splits: int
    tau_b: Figure
    tau_b_random: Figure
    tau_b_chosen: Figure


class Difficulty(Part):
    """figures: `all_pass`, `all_fail`: share of the questions that every variant passes (at least .99) or fails (at
    most .01); `alike`: on which all have the same value; `against`: whose discrimination is below 0, and surely."""

    figures: dict[str, Figure] = Field(default_factory=dict)
    questions: tuple[QuestionDifficulty, ...] = ()
    subset: Subset | None = None


class Group(Record):
    """The order by the questions of one author or kind. tau_b: with the order by all others; tau_b_left_out: of the
    order without them with that of all. best: by them; best_without: by all others, several where they are level."""

    by: Literal["author", "kind"]
    name: str
    n: int
    tau_b: Figure
    tau_b_left_out: Figure
    best: tuple[str, ...]
    best_without: tuple[str, ...]


class Favour(Record):
    """How much further ahead of the field a family of retrievers is on a group's questions than on all others.

    told: whether the interval leaves out 0 also at the level of all families and groups together (Bonferroni).
    """

    by: Literal["author", "kind"]
    group: str
    family: str
    figure: Figure
    told: bool


class Authors(Part):
    """figures: `one_family`: share of the written questions whose author, answerer and judge are of one family."""

    groups: tuple[Group, ...] = ()
    favours: tuple[Favour, ...] = ()
    figures: dict[str, Figure] = Field(default_factory=dict)


class Worth(Record):
    """value: so many of people's queries; where `bound` is set it is a limit, and the set is worth fewer or more.

    n: of people's queries, drawn from. An end is None where it lies beyond `smallest` or `largest`, the sizes tried.
    All is None for a set that ties all retrievers, and so has no order.
    """

    value: float | None
    bound: Literal["fewer than", "more than"] | None = None
    n: int
    n_failed: int = 0
    ci_low: float | None = None
    ci_high: float | None = None
    smallest: int
    largest: int


class OrdersBeside(Record):
    """What the written questions say beside people's. basis: what an answer was held against, `evidence`, `judge`, or
    `section`: written questions against their source section, people's against their evidence, or else by the judge.

    figures: `tau_b`, `rho`, `loss` of the chosen (in quality), `place` of the chosen in people's order, `decided`: the
    share of the pairs that people's questions decide which the written ones decide too, and `contradicted`: of those,
    the share decided the other way round. worth: how many of people's questions the written set is worth, by tau and by
    loss; over `n_worth_variants` of the variants.
    """

    basis: Literal["evidence", "judge", "section"]
    n_real: int
    n_real_failed: int
    n_written: int
    n_written_failed: int
    n_variants: int
    n_pairs: int
    n_decided: int
    figures: dict[str, Figure]
    best_real: tuple[str, ...]
    best_written: tuple[str, ...]
    worth: Worth | None = None
    worth_by_loss: Worth | None = None
    n_worth_variants: int = 0


class People(Part):
    """A row for each basis on which both kinds of questions have values."""

    beside: tuple[OrdersBeside, ...] = ()


class Validity(Record):
    """The whole. n_experts: questions that people asked, of `questions.txt` and among the queries, each text once.

    quality: the measure that variants are held by. warnings: of all parts. queries: SHA-256 of the `queries.jsonl` that
    it is of, by which the report tells whether it still is.
    """

    corpus: str
    n_written: int
    n_real: int
    n_experts: int
    n_variants: int
    quality: str | None
    warnings: tuple[str, ...]
    leak: Leak
    realism: Realism
    coverage: Coverage
    difficulty: Difficulty
    authors: Authors
    people: People
    queries: str | None = None


FEWEST = 9
"""Written questions below which nothing is said by parts of them."""
NO_SCREENING = (
    "There is no screening yet, which this part needs: add [[retriever]] tables to experiment.toml and run "
    "`ragassay screen`."
)


def shown(figure: Figure) -> str:
    """`0.62 (0.55 to 0.70; n 36, 2 failed)`."""
    if figure.value is None:
        return "not known"
    ends = "" if figure.ci_low is None or figure.ci_high is None else f"{figure.ci_low:.2f} to {figure.ci_high:.2f}; "
    failed = f", {figure.n_failed:,} failed" if figure.n_failed else ""
    return f"{figure.value:.2f} ({ends}n {figure.n:,}{failed})"


def above(figure: Figure | None, limit: float = 0.0) -> bool:
    """Whether the whole interval lies above `limit`."""
    return figure is not None and figure.ci_low is not None and figure.ci_low > limit


def few(names: Sequence[str]) -> str:
    """The names of the best; how many, where they are more than three."""
    return f"one of {len(names)} that are level" if len(names) > 3 else listed([plain(name) for name in names])
