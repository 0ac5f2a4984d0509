"""An evaluator against people's labels: how far it can be trusted, with an interval on every figure.

Labels of both sides are made yes or no first: people's from `relevant`, the evaluator's from `threshold`; precision,
recall, F1, kappa, accuracy and the error rates are of these (as in "Benchmarking LLM-as-a-Judge for the RAG Triad
Metrics", Snowflake 2025, whose context relevance counts from 2 on 0 to 3). Where people's labels are grades on the
evaluator's scale, agreement, off-by-one accuracy and kappa of the grades stand beside them. Which figure is which:
`evaluate.agreement.coefficients`; rows of one query, or of one claim, are resampled together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import isinf
from typing import NamedTuple

import numpy as np
from pydantic import Field

from ragassay.calls.caller import Caller
from ragassay.errors import InputError
from ragassay.records import Assessment, Figure, Record
from ragassay.text import plain

from ..inputs.clusters import clusters_of_rows
from ..judging.engine.cases import QueryCase
from ..judging.engine.evaluator import Criterion, Evaluator
from ..judging.engine.rounds import assess
from ..statistics.clustered import effective_queries
from ..statistics.resamples import rounded
from .agree import PairAgreement, agree
from .label_tables import LARGEST, Label, Ratings, spelt
from .labelled_sets import LabelledSet

NAME = "precision_at_set_share"
BINARY = ("precision", "recall", "f1", "kappa", "accuracy", "false_positive_rate", "false_negative_rate")
RANKS = ("tau_b", "rho")
GRADED = ("agreement", "off_by_one", "kappa", "kappa(linear)", "kappa(quadratic)")
"""What is told where people's labels are grades on the evaluator's own scale."""
_UNEVEN = f"precision, f1, kappa and accuracy are of the rows drawn; {NAME} gives each label its weight in the set"


class CrossTable(Record):
    """`counts[i][j]`: rows to which people gave `people[i]` and the evaluator `judge[j]`; failed rows are not in it."""

    people: tuple[str, ...]
    judge: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


class MetaEvaluation(Record):
    """What `ragassay agree meta-eval` says.

    binary, graded: figures by name, n the rows with both labels, n_failed those that the evaluator could not judge.
    undefined: why a figure has no value. relevant: what of people's labels counts; threshold: the evaluator's lowest
    label that does, on its scale from `lowest` to `highest`. errors: each error with how often it occurred. prompts: in
    whose wording the evaluator asked. ranks: tau_b and rho of labels as they are, where people's are numbers, whatever
    their scale, over rows of n_clusters; p: theirs, two-sided (`rank_p`). Where the rows were drawn in other shares
    than the set has its labels, set_rows and set_relevant count the whole set, and binary has `precision_at_set_share`.
    """

    judge: str
    model: str
    prompts: str = "paper"
    criterion: str
    lowest: float
    highest: float
    labelled: str
    kind: str
    n_rows: int
    n_relevant: int
    relevant: str
    threshold: float
    binary: dict[str, Figure]
    graded: dict[str, Figure] = Field(default_factory=dict)
    undefined: dict[str, str] = Field(default_factory=dict)
    confusion: CrossTable | None = None
    errors: dict[str, int] = Field(default_factory=dict)
    seed: int = 7
    bootstrap: int = 1000
    notes: tuple[str, ...] = ()
    set_rows: int | None = None
    set_relevant: int | None = None
    ranks: dict[str, Figure] = Field(default_factory=dict)
    p: dict[str, float] = Field(default_factory=dict)
    n_clusters: int | None = None


def judge_rows(evaluator: Evaluator, labelled: LabelledSet, caller: Caller) -> list[Assessment]:
    """The evaluator's assessments of all rows, each query with all its passages in question.

    Raises what the caller raises, and InputError as `check_fits` does.
    """
    check_fits(evaluator, labelled)
    cases: dict[str, QueryCase] = {}
    for case in (row.case for row in labelled.rows):
        known = cases.get(case.query.id)
        more = case if known is None else QueryCase(known.query, known.passages + case.passages, known.answers)
        cases[case.query.id] = more
    return assess([evaluator], list(cases.values()), caller)


def check_fits(evaluator: Evaluator, labelled: LabelledSet) -> None:
    """Raises InputError where the set labels something else than is judged, or lacks what is needed to judge."""
    passages = labelled.kind == "relevance"
    if passages != (evaluator.unit == "passage"):
        judged, given = ("passages", "answers") if evaluator.unit == "passage" else ("answers", "passages")
        raise InputError(f"labels {given}, and {evaluator.name} judges {judged}", file=labelled.file)
    if lacking := next((need for row in labelled.rows for need in evaluator.lacks(row.case.query)), None):
        raise InputError(f"has no {lacking}, which {evaluator.name} needs", file=labelled.file)


def criterion_of(evaluator: Evaluator, name: str | None = None) -> Criterion:
    """The criterion of that name; by default the only one, or the one that has the evaluator's name."""
    given = {criterion.name: criterion for criterion in evaluator.criteria}
    wanted = name or (next(iter(given)) if len(given) == 1 else evaluator.name)
    if wanted not in given:
        raise InputError(f"{evaluator.name} has no single figure", remedy=f"name one of {', '.join(given)}")
    return given[wanted]


def threshold_of(criterion: Criterion, given: float | None = None) -> float:
    """The lowest label that counts as a yes: by default 2 of 0 to 3, else the middle of the scale.

    Also where little is good, as of toxicity: people's labels that count are then those of what is toxic. Raises
    InputError for one that is not on the scale, and where a scale without an end has no middle.
    """
    if given is not None:
        if not criterion.lowest < given <= criterion.highest:
            raise InputError(f"{given:g} is not above {criterion.lowest:g} and up to {criterion.highest:g}")
        return given
    if isinf(criterion.highest):
        raise InputError(f"{criterion.name} has no highest label, so no middle", remedy="give --binary-at")
    return 2.0 if (criterion.lowest, criterion.highest) == (0, 3) else (criterion.lowest + criterion.highest) / 2


class Relevant(NamedTuple):
    """People's labels that count, and how to say so."""

    labels: frozenset[Label]
    words: str


def relevant_labels(labelled: LabelledSet, given: Sequence[str] = ()) -> Relevant:
    """Which of people's labels count. To be asked of the whole set, before rows are drawn of it.

    given: the lowest number, or every word, that counts. Without it, of 0 and 1 it is 1, of 0 to 3 (TREC's) 2. Raises
    InputError where it cannot be known, and for a word that is no label.
    """
    seen = {row.label for row in labelled.rows}
    if not labelled.numeric:
        there = ", ".join(sorted(plain(str(label)) for label in seen))
        if not given:
            raise InputError("labels by words", file=labelled.file, remedy=f"name those that count: {there}")
        if strange := [word for word in given if word not in seen]:
            raise InputError(f"has no label '{plain(strange[0])}'", file=labelled.file, remedy=f"there are {there}")
        return Relevant(frozenset(given), " or ".join(given))
    try:
        least = 1.0 if seen <= {0.0, 1.0} else 2.0
        (least,) = map(float, given) if given else (least,)
    except ValueError:
        raise InputError("numbers count from one number on", remedy="name the lowest alone") from None
    if not given and not seen <= {-2.0, -1.0, 0.0, 1.0, 2.0, 3.0}:
        raise InputError("which labels count is not known", file=labelled.file, remedy="name the lowest that does")
    counts = frozenset(label for label in seen if isinstance(label, float) and label >= least)
    return Relevant(counts, f"from {least:g}")


def meta_evaluate(
    evaluator: Evaluator,
    labelled: LabelledSet,
    judged: Sequence[Assessment],
    relevant: Relevant,
    *,
    criterion: str | None = None,
    threshold: float | None = None,
    bootstrap: int = 1000,
    seed: int = 7,
) -> MetaEvaluation:
    """The figures of what `judge_rows` gave."""
    scale = criterion_of(evaluator, criterion)
    least = threshold_of(scale, threshold)
    given = {(row.query_id, row.subject): row for row in judged if row.criterion == scale.name}
    mine = [given[row.case.query.id, row.subject] for row in labelled.rows]
    labels, whole = [row.label for row in mine], labelled.whole
    people, clusters = [row.label in relevant.labels for row in labelled.rows], [row.cluster for row in labelled.rows]
    yes = [None if label is None else label >= least for label in labels]
    binary = verdict_figures(people, yes, clusters, bootstrap=bootstrap, seed=seed)
    if whole is not None:
        of_people = [row.label for row in labelled.rows]
        figure, why = precision_at_set_share(of_people, yes, clusters, relevant.labels, whole, seed=seed)
        binary = binary[0] | {NAME: figure}, binary[1] | ({NAME: why} if why else {})
    graded: Figures = ({}, {})
    ranks: Figures = ({}, {})
    pair = None
    if labelled.numeric:
        numbers = tuple(row.label for row in labelled.rows if isinstance(row.label, float))
        both = Ratings(labelled.file, ("people", "judge"), (numbers, tuple(labels)), tuple(clusters), True, "query")
        ranks, pair = _agreed(both, RANKS, (bootstrap, seed))
        on_scale = all(scale.lowest <= label <= scale.highest for label in numbers)
        if on_scale and not isinf(scale.highest) and not set(numbers) <= {0.0, 1.0}:
            grades = [str(grade) for grade in range(round(scale.lowest), round(scale.highest) + 1)]
            graded = _agreed(both, GRADED, (bootstrap, seed), grades)[0]
    return MetaEvaluation(
        judge=evaluator.name,
        model=evaluator.judge,
        prompts=evaluator.setup.prompts,
        criterion=scale.name,
        lowest=scale.lowest,
        highest=scale.highest,
        labelled=labelled.file,
        kind=labelled.kind,
        n_rows=len(labelled.rows),
        n_relevant=sum(people),
        relevant=relevant.words,
        threshold=least,
        binary=binary[0],
        graded=graded[0],
        undefined=binary[1] | {f"graded {name}": why for name, why in graded[1].items()} | ranks[1],
        confusion=_confusion(labelled, labels),
        errors=dict(Counter(row.error for row in mine if row.error is not None).most_common()),
        seed=seed,
        bootstrap=bootstrap,
        notes=(*labelled.notes, *(() if whole is None else (_UNEVEN,))),
        set_rows=None if whole is None else sum(whole.values()),
        set_relevant=None if whole is None else sum(n for label, n in whole.items() if label in relevant.labels),
        ranks=ranks[0],
        p={} if pair is None else {name: p for name, p in pair.p.items() if name in RANKS},
        n_clusters=None if pair is None else pair.n_clusters,
    )


Figures = tuple[dict[str, Figure], dict[str, str]]
"""Figures by name, and the reason for each that has no value."""


def verdict_figures(
    people: Sequence[bool], judge: Sequence[bool | None], clusters: Sequence[str], *, bootstrap: int, seed: int
) -> Figures:
    """`BINARY` of yes and no against people's, all (rows,); None is a row without a verdict."""
    columns = (tuple(map(float, people)), tuple(None if verdict is None else float(verdict) for verdict in judge))
    ratings = Ratings("verdicts", ("people", "judge"), columns, tuple(clusters), True, "query")
    return _agreed(ratings, BINARY, (bootstrap, seed), ("0", "1"), "1")[0]


def _agreed(
    ratings: Ratings,
    names: Sequence[str],
    draws: tuple[int, int],
    scale: Sequence[str] = (),
    relevant: str | None = None,
) -> tuple[Figures, PairAgreement | None]:
    """Figures by name (of `agree`'s own with the label that counts, that of `relevant`), and the pair they are of; with
    the reason alone where the judge labelled nothing."""
    if all(label is None for label in ratings.labels[1]):
        figure = Figure(value=None, n=0, n_failed=len(ratings.labels[1]))
        return (dict.fromkeys(names, figure), dict.fromkeys(names, "no row has both labels")), None
    pair = agree(ratings, scale=scale, relevant=relevant, bootstrap=draws[0], seed=draws[1]).pairs[0]
    theirs = {name: name if name in pair.figures else f"{name}(rel={relevant})" for name in names}
    undefined = {name: pair.undefined[own] for name, own in theirs.items() if own in pair.undefined}
    return ({name: pair.figures[own] for name, own in theirs.items()}, undefined), pair


def _confusion(labelled: LabelledSet, labels: Sequence[float | None]) -> CrossTable | None:
    """How often which label met which; None where either side has too many to show."""
    people = [row.label for row in labelled.rows]
    rows = sorted(set(people), key=lambda label: (isinstance(label, str), label))
    columns = sorted({label for label in labels if label is not None})
    if max(len(rows), len(columns)) > LARGEST:
        return None
    counts = Counter(zip(people, labels, strict=True))
    return CrossTable(
        people=tuple(map(spelt, rows)),
        judge=tuple(map(spelt, columns)),
        counts=tuple(tuple(counts[row, column] for column in columns) for row in rows),
    )


def precision_at_set_share(
    people: Sequence[Label],
    judge: Sequence[bool | None],
    clusters: Sequence[str],
    relevant: Collection[Label],
    whole: Mapping[Label, int],
    *,
    replicates: int = 1000,
    seed: int = 7,
) -> tuple[Figure, str | None]:
    """The share of relevant rows among those of the whole set to which the judge would say yes, or why there is none.

    Precision hangs on how many rows there are to find: a draw that is half positive from a set that has a fifth of them
    has four times the positives for each negative, and so a precision that the judge would not have on the set.

    people, judge, clusters: (rows,) of the draw, None where the judge failed; whole: how often the set has each label.
    Each label's share of yes in the draw stands for its share in the set, by Bayes' rule with the set's prior. The
    interval draws every share from the Beta distributions whose quantiles are the exact limits of one share (Clopper
    and Pearson, Biometrika 26(4), 1934), the relevant labels' low and the others' high for the lower end, and so errs
    on the wide side. Rows of one cluster count as `effective_queries` says.
    """
    rows = zip(people, judge, clusters, strict=True)
    judged = [(label, float(said), cluster) for label, said, cluster in rows if said is not None]
    n, n_failed = len(judged), len(judge) - len(judged)
    labels = sorted((label for label, count in whole.items() if count), key=spelt)
    if lacking := [label for label in labels if all(label != given for given, _, _ in judged)]:
        why = f"no row that people labelled {plain(spelt(lacking[0]))} was judged, and the set has such"
        return Figure(value=None, n=n, n_failed=n_failed), why
    generator = np.random.default_rng(seed)
    yes, drawn = np.zeros(2), np.zeros((2, 2, replicates))
    for label in labels:
        rows_of = [(said, cluster) for given, said, cluster in judged if given == label]
        share = sum(said for said, _ in rows_of) / len(rows_of)
        like_n = effective_queries(clusters_of_rows([cluster for _, cluster in rows_of]).sizes)
        n_yes, n_no = share * like_n, (1 - share) * like_n
        low = generator.beta(n_yes, n_no + 1, replicates) if n_yes else np.zeros(replicates)
        high = generator.beta(n_yes + 1, n_no, replicates) if n_no else np.ones(replicates)
        side = int(label in relevant)
        yes[side] += whole[label] * share
        drawn[:, side] += whole[label] * np.stack([low, high])
    if not yes.any():
        return Figure(value=None, n=n, n_failed=n_failed), "the judge labelled nothing as relevant"
    value = float(yes[1] / yes.sum())
    lowest, highest = drawn[0, 1] / (drawn[0, 1] + drawn[1, 0]), drawn[1, 1] / (drawn[1, 1] + drawn[0, 0])
    ends = min(np.quantile(lowest, 0.025), value), max(np.quantile(highest, 0.975), value)
    return rounded(value, n, n_failed, *ends), None
