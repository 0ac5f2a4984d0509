"""People's labels of `labels.csv` beside the judge's of the same things, criterion by criterion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ragassay.errors import InputError
from ragassay.files import read_records
from ragassay.records import Judgment
from ragassay.text import plain

from ..inputs.clusters import Clusters
from ..inputs.labels import GAME, Key, by_item, read_labels
from ..results import JudgeAgreement
from .agree import PairAgreement, agree
from .label_tables import Ratings

SCALE = ("0", "1", "2")


def joined(said: Mapping[Key, float], judged: Iterable[Judgment], file: str) -> dict[str, Ratings]:
    """Criterion to the people and the judge as two raters, by query; what the judge could not label is missing.

    said: people's mean label of each thing, here rounded to a whole one, halves down. Labels of games and things that
    the judge was not asked about take no part.
    """
    rows = {(row.query_id, row.subject, row.criterion): row.label for row in judged}
    found: dict[str, Ratings] = {}
    for criterion in sorted({key[2] for key in said if key in rows and key[2] != GAME}):
        keys = sorted(key for key in said if key in rows and key[2] == criterion)
        people = tuple(whole(said[key]) for key in keys)
        judge = tuple(None if (label := rows[key]) is None else float(label) for key in keys)
        clusters = tuple(query for query, _, _ in keys)
        found[criterion] = Ratings(file, ("people", "judge"), (people, judge), clusters, True, "query")
    return found


def whole(label: float) -> float:
    """People's mean label as a whole one, halves down."""
    return float(-int(-(label - 0.5) // 1))


def joined_files(labels: Path, judgments: Sequence[Path]) -> dict[str, Ratings]:
    """The same from `labels.csv` and files of judgments. Raises InputError where they share nothing."""
    said = by_item(read_labels(labels))
    found = joined(said, [row for path in judgments for row in read_records(path, Judgment)], str(labels))
    if not found:
        named = ", ".join(plain(str(path)) for path in judgments)
        raise InputError(
            f"labels nothing that is judged in {named}",
            file=labels,
            remedy="give the judge's relevance.jsonl or pointwise.jsonl of the same test set",
        )
    return found


def agreement_by_criterion(
    said: Mapping[Key, float], judged: Iterable[Judgment], clusters: Clusters, *, bootstrap: int, seed: int
) -> tuple[JudgeAgreement, ...]:
    """For each criterion on which the judge labelled what people did; intervals by `clusters` of the queries."""
    found = []
    for criterion, each in joined(said, judged, "labels.csv").items():
        if any(label is not None for label in each.labels[1]):
            known = clusters.of(each.clusters)
            together = tuple(known.names[number] for number in known.numbers)
            ratings = Ratings(each.file, each.raters, each.labels, together, True, "section")
            found.append(_of(criterion, agree(ratings, scale=SCALE, bootstrap=bootstrap, seed=seed).pairs[0]))
    return tuple(found)


def _of(criterion: str, pair: PairAgreement) -> JudgeAgreement:
    return JudgeAgreement(
        criterion=criterion,
        n_pairs=pair.n_pairs,
        n_missing=pair.n_missing,
        n_clusters=pair.n_clusters,
        figures=pair.figures,
        undefined=pair.undefined,
        p=pair.p,
    )
