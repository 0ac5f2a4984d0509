"""People's yes or no beside the number that a judge gave the same thing: of an experiment, of files, of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Assessment, Query
from ragassay.text import plain

from ..inputs.clusters import Clusters, read_clusters, source_clusters
from ..inputs.labels import GAME, HIGHEST, Key, Label, by_item, read_labels
from ..judging.engine.evaluator import Criterion
from .agree import whole
from .label_tables import Ratings, make_scale, ratings, spelt
from .label_tables import read_labels as read_table
from .meta_eval import threshold_of

RELEVANCE_FILE = "relevance.jsonl"
PROBABILITY, EXPECTED, LABEL = "probability of yes", "expected label", "label"


@dataclass(frozen=True)
class Scored:
    """What people and one judge said of the same things, a row a thing.

    file, criterion: of the judge's. on: in words, what a threshold is put on. relevant: people's lowest label that is a
    yes. people: yes or no. now: the judge's yes or no as it is read at present; score: the number under a threshold;
    both None where the judge failed. whole: whether scores are labels of which one is the lowest to count. present: the
    threshold at present, None where labels are read that no threshold made. setting: the key of `[judge]` for it.
    """

    file: str
    criterion: str
    judge: str
    on: str
    relevant: str
    people: tuple[bool, ...]
    now: tuple[bool | None, ...]
    score: tuple[float | None, ...]
    clusters: tuple[str, ...]
    whole: bool
    present: float | None
    setting: str | None = None


@dataclass(frozen=True)
class Present:
    """What counts as a yes at present: of passages from `relevant_from`, of Yes and No from `yes_threshold`.

    given: instead, the judge's lowest label that counts, whatever is judged.
    """

    relevant_from: float = HIGHEST
    yes_threshold: float = 0.5
    given: float | None = None


def of_experiment(workspace: Workspace, relevant: float | None = None, threshold: float | None = None) -> list[Scored]:
    """The corpus folder's `labels.csv` and all that the experiment's judges gave; clusters are source sections.

    relevant, threshold: as in `scored_records`, `Present.given`. Raises InputError where there are no labels, or where
    they are of nothing that was judged.
    """
    if not workspace.own_labels.exists():
        remedy = "draw a sheet with `ragassay label-sheet`, fill it, and take it in with --take"
        raise InputError("there are no labels of people's", file=workspace.own_labels, remedy=remedy)
    files = [path for path in (workspace.relevance, workspace.pointwise, workspace.judgments) if path.exists()]
    judge = workspace.experiment.judge
    queries = read_records(workspace.queries, Query)
    present = Present(judge.relevant_from, judge.yes_threshold, threshold)
    return _of_records(workspace.own_labels, files, source_clusters(queries), relevant, present)


def of_files(
    labels: Path,
    judgments: Sequence[Path],
    *,
    sections: Path | None = None,
    relevant: float | None = None,
    threshold: float | None = None,
) -> list[Scored]:
    """The same of files; clusters are queries, or the sections that `sections` names (`read_clusters`)."""
    asked = sorted({label.query for label in read_labels(labels)}) if sections else []
    clusters = read_clusters(sections, asked, labels)
    return _of_records(labels, judgments, clusters, relevant, Present(given=threshold))


def _of_records(
    labels: Path, judgments: Sequence[Path], clusters: Clusters, relevant: float | None, present: Present
) -> list[Scored]:
    found = scored_records(read_labels(labels), judgments, clusters, relevant=relevant, present=present)
    if not found:
        named = ", ".join(plain(str(path)) for path in judgments) or "this experiment"
        remedy = "give the judge's relevance.jsonl, pointwise.jsonl or judgments.jsonl of the same test set"
        raise InputError(f"labels nothing that is judged in {named}", file=labels, remedy=remedy)
    return found


def scored_records(
    labels: Iterable[Label],
    judgments: Sequence[Path],
    clusters: Clusters,
    *,
    relevant: float | None = None,
    present: Present,
) -> list[Scored]:
    """One for each file, criterion and judge, and for what a threshold can be put on there.

    relevant: people's lowest label that is a yes; by default 2, or 1 where they gave nothing above it. Games take no
    part. Raises InputError for a thing that one file has twice of one judge.
    """
    said = {key: whole(label) for key, label in by_item(labels).items() if key[2] != GAME}
    found = []
    for path in judgments:
        for rows in _by_judge(path, said).values():
            people = [said[key] for key in rows]
            least = relevant if relevant is not None else min(HIGHEST, max(1.0, *people))
            found += _scored(path, list(rows.values()), people, least, clusters, present)
    return found


def _by_judge(path: Path, said: Mapping[Key, float]) -> dict[tuple[str, str], dict[Key, Assessment]]:
    """(criterion, judge) to the rows that people labelled too, both sorted."""
    rows: dict[tuple[str, str], dict[Key, Assessment]] = {}
    for row in read_records(path, Assessment):
        key = (row.query_id, row.subject, row.criterion)
        if key in said and rows.setdefault((row.criterion, row.judge), {}).setdefault(key, row) is not row:
            what = f"'{plain(row.subject)}' for query '{plain(row.query_id)}', {plain(row.criterion)}"
            raise InputError(f"judges {what}, twice by {plain(row.judge)}", file=path, remedy="keep one of them")
    return {name: dict(sorted(mine.items())) for name, mine in sorted(rows.items())}


def _scored(
    path: Path, rows: Sequence[Assessment], people: Sequence[float], least: float, clusters: Clusters, present: Present
) -> list[Scored]:
    """By the probability of yes where the judge was asked for Yes or No; else by its labels, and their means if any."""
    passages = path.name == RELEVANCE_FILE
    top = _top_of_yes(rows)
    start = present.given if present.given is not None else _lowest_yes(rows, least, passages, present)
    known = clusters.of([row.query_id for row in rows])

    def made(on: str, score: Sequence[float | None], threshold: float | None, setting: str | None) -> Scored:
        return Scored(
            file=path.name,
            criterion=rows[0].criterion,
            judge=rows[0].judge,
            on=on,
            relevant=f"from {least:g}",
            people=tuple(label >= least for label in people),
            now=tuple(None if row.label is None else row.label >= start for row in rows),
            score=tuple(score),
            clusters=tuple(known.names[number] for number in known.numbers),
            whole=on == LABEL and all(row.label is None or row.label % 1 == 0 for row in rows),
            present=threshold,
            setting=setting if passages else None,
        )

    expected = [None if row.label is None else row.expected for row in rows]
    if top is not None:
        share = [None if value is None else value / top for value in expected]
        return [made(PROBABILITY, share, present.yes_threshold if passages else 0.5, "yes_threshold")]
    found = [made(LABEL, [row.label for row in rows], start, "relevant_from")]
    if any(value is not None for value in expected) and _all_expected(rows):
        found.append(made(EXPECTED, expected, None, None))
    return found


def _all_expected(rows: Sequence[Assessment]) -> bool:
    return all(row.expected is not None for row in rows if row.label is not None)


def _top_of_yes(rows: Sequence[Assessment]) -> float | None:
    """The label of a yes, where the judge was asked for Yes or No and gave the probability of yes; else None.

    Such a judge's expected label is that probability times the label, and it gives its own label's probability. Of a
    third label, the one or the other would not hold.
    """
    given = [row for row in rows if row.label is not None]
    if not given or not _all_expected(given):
        return None

    def is_of_yes(row: Assessment, top: float) -> bool:
        if row.label not in (0.0, top) or row.probability is None or row.expected is None:
            return False
        yes = row.probability if row.label == top else 1 - row.probability
        return abs(yes - row.expected / top) < 1e-6

    tops = {max(row.label or 0.0 for row in given)} - {0.0} or {2.0, 1.0}
    return next((top for top in tops if all(is_of_yes(row, top) for row in given)), None)


def _lowest_yes(rows: Sequence[Assessment], least: float, passages: bool, present: Present) -> float:
    """The judge's lowest label that counts as a yes at present.

    Of an evaluator, by the ends of its scale, told from two records of different scores; `least` where there are none.
    """
    if passages:
        return present.relevant_from
    known = sorted({(row.score, row.label) for row in rows if row.score is not None and row.label is not None})
    if len(known) < 2 or known[0][0] == known[-1][0]:
        return least
    (low_score, low), (high_score, high) = known[0], known[-1]
    width = (high - low) / (high_score - low_score)
    lowest = round(low - low_score * width, 6)
    return threshold_of(Criterion(rows[0].criterion, lowest, round(lowest + width, 6)))


def of_table(
    labels: Path,
    human: str,
    judges: Sequence[str],
    *,
    by: str | None = None,
    relevant: str | None = None,
    threshold: float | None = None,
) -> list[Scored]:
    """One for each column of a judge's numbers in a table, of the rows that people labelled; clusters by column `by`.

    relevant: people's lowest label that is a yes (of words, the only one), as `make_scale` has it. threshold: the
    judge's at present; by default 0.5 of shares between 0 and 1, else as for people's labels. Raises InputError as
    `ratings` does, for a judge's column of words, and where either of the two is not known.
    """
    table = read_table(labels)
    if human in judges:
        problem = f"column '{plain(human)}' is named twice, and one rater has nothing to agree with"
        raise InputError(problem, file=table.file, remedy="name the people's column and the judge's")
    people = ratings(table, [human], by)
    scale = make_scale(people, (), relevant)
    if scale.relevant is None:
        raise InputError("which of people's labels are a yes is not known", file=table.file, remedy="give --relevant")
    words = f"from {spelt(scale.relevant)}" if scale.ordered else spelt(scale.relevant)
    places = scale.numbers(people.labels[0])
    yes = [None if place is None else scale.positive[place] for place in places]
    return [_of_column(ratings(table, [judge], by), people, yes, words, threshold) for judge in judges]


def _of_column(
    judged: Ratings, people: Ratings, yes: Sequence[bool | None], words: str, threshold: float | None
) -> Scored:
    (judge,) = judged.raters
    numbers = [label if isinstance(label, float) else None for label in judged.labels[0]]
    if not judged.numeric:
        problem = f"column '{plain(judge)}' holds words, and a threshold is put on numbers"
        raise InputError(problem, file=judged.file, remedy="give the column of the judge's numbers")
    present = _usual(judged, [value for value in numbers if value is not None]) if threshold is None else threshold
    rows = [row for row, label in enumerate(yes) if label is not None]
    score = [numbers[row] for row in rows]
    return Scored(
        file=Path(judged.file).name,
        criterion=people.raters[0],
        judge=judge,
        on=judge,
        relevant=words,
        people=tuple(bool(yes[row]) for row in rows),
        now=tuple(None if value is None else value >= present for value in score),
        score=tuple(score),
        clusters=tuple(people.clusters[row] for row in rows),
        whole=all(value is None or value % 1 == 0 for value in numbers),
        present=present,
    )


def _usual(judged: Ratings, numbers: Sequence[float]) -> float:
    """Where a yes begins at present, as far as it goes without saying."""
    if min(numbers) >= 0 and max(numbers) <= 1 and any(value % 1 for value in numbers):
        return 0.5
    least = make_scale(judged).relevant
    if not isinstance(least, float):
        problem = f"from where on '{plain(judged.raters[0])}' is a yes at present is not known"
        raise InputError(problem, file=judged.file, remedy="give --threshold")
    return least
