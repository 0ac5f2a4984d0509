"""People's labels of `labels.csv` beside the judge's of the same things, criterion by criterion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ragassay.errors import InputError
from ragassay.files import read_records
from ragassay.records import Figure, Judgment
from ragassay.text import plain

from ..inputs.labels import GAME, Key, by_item, read_labels
from .agree import PairAgreement, agree
from .label_tables import Ratings

SCALE = ("0", "1", "2")
SHOWN = ("kappa", "kappa(linear)", "krippendorff_alpha(ordinal)", "tau_b", "rho", "bias", "limit_low", "limit_high")


def joined(said: Mapping[Key, float], judged: Iterable[Judgment], file: str) -> dict[str, Ratings]:
    """Criterion to the people and the judge as two raters, by query; what the judge could not label is missing.

    said: people's mean label of each thing, here rounded to a whole one, halves down. Labels of games and things that
    the judge was not asked about take no part.
    """
    rows = {(row.query_id, row.subject, row.criterion): row.label for row in judged}
    found: dict[str, Ratings] = {}
    for criterion in sorted({key[2] for key in said if key in rows and key[2] != GAME}):
        keys = sorted(key for key in said if key in rows and key[2] == criterion)
        people = tuple(float(-int(-(said[key] - 0.5) // 1)) for key in keys)
        judge = tuple(None if (label := rows[key]) is None else float(label) for key in keys)
        clusters = tuple(query for query, _, _ in keys)
        found[criterion] = Ratings(file, ("people", "judge"), (people, judge), clusters, True, "query")
    return found


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
    ratings: Mapping[str, Ratings], clusters: Mapping[str, str], *, bootstrap: int, seed: int
) -> dict[str, PairAgreement]:
    """`agree` for each criterion on which the judge gave a label. clusters: query to its section, for the intervals."""
    found = {}
    for criterion, each in ratings.items():
        together = tuple(clusters.get(query, query) for query in each.clusters)
        known = Ratings(each.file, each.raters, each.labels, together, True, "section")
        if any(label is not None for label in each.labels[1]):
            found[criterion] = agree(known, scale=SCALE, bootstrap=bootstrap, seed=seed).pairs[0]
    return found


def shown_figures(found: PairAgreement) -> dict[str, Figure]:
    """The figures that the report shows."""
    return {name: found.figures[name] for name in SHOWN}
