"""People's labels of `labels.csv` beside the judge's of the same things, criterion by criterion, and games."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import mean

from ragassay.errors import InputError
from ragassay.files import read_objects, read_records
from ragassay.records import Game, Judgment, Winner
from ragassay.text import plain

from ..inputs.clusters import Clusters
from ..inputs.labels import GAME, WON, Key, by_item, read_labels
from ..ratings.verdicts import SCORES, Verdict, verdicts
from ..results import JudgeAgreement
from .agree import Agreement, PairAgreement, agree
from .label_tables import Ratings

SCALE = ("0", "1", "2")
WINNERS: tuple[Winner, ...] = ("b", "tie", "a")
"""Of a game, told of the agent that comes first in the alphabet."""


def joined(
    said: Mapping[Key, float], judged: Iterable[Judgment], found: Iterable[Verdict], file: str
) -> dict[str, Ratings]:
    """Criterion to the people and the judge as two raters, by query; what the judge could not label is missing.

    said: people's mean label of each thing, here rounded to a whole one, halves down. found: the verdicts on games,
    whose criterion is `game` and whose labels are `WINNERS`. Things that the judge was not asked about take no part.
    """
    rows = {(row.query_id, row.subject, row.criterion): row.label for row in judged if row.criterion != GAME}
    made: dict[str, Ratings] = {}
    for criterion in sorted({key[2] for key in said if key in rows}):
        keys = sorted(key for key in said if key in rows and key[2] == criterion)
        people = tuple(whole(said[key]) for key in keys)
        judge = tuple(None if (label := rows[key]) is None else float(label) for key in keys)
        clusters = tuple(query for query, _, _ in keys)
        made[criterion] = Ratings(file, ("people", "judge"), (people, judge), clusters, True, "query")
    scores = _game_scores(found)
    if games := sorted(key for key in said if key in scores):
        columns = (tuple(_winner(said[key]) for key in games), tuple(_judged_winner(scores[key]) for key in games))
        made[GAME] = Ratings(file, ("people", "judge"), columns, tuple(query for query, _, _ in games), False, "query")
    return made


def whole(label: float) -> float:
    """People's mean label as a whole one, halves down."""
    return float(-int(-(label - 0.5) // 1))


def _game_scores(found: Iterable[Verdict]) -> dict[Key, list[float]]:
    """What each judge's verdict gives the first agent of each game; empty where all failed."""
    scores: dict[Key, list[float]] = {}
    for verdict in found:
        given = scores.setdefault((verdict.query_id, f"{verdict.agent_a}:{verdict.agent_b}", GAME), [])
        given += [] if verdict.winner is None else [SCORES[verdict.winner]]
    return scores


def _judged_winner(scores: Sequence[float]) -> Winner | None:
    return _winner(mean(scores)) if scores else None


def _winner(score: float) -> Winner:
    """Of the mean over people, or judges: as win rates count it, a win where they mostly say so."""
    return "a" if score > WON else "b" if score < 1 - WON else "tie"


def joined_files(labels: Path, judged: Sequence[Path], clusters: Clusters | None = None) -> dict[str, Ratings]:
    """The same from `labels.csv` and files of judgments and games. Raises InputError where they share nothing.

    clusters: the sections of the queries; without them each query is a cluster.
    """
    said = by_item(read_labels(labels))
    of_games = [path for path in judged if _holds_games(path)]
    rows = [row for path in judged if path not in of_games for row in read_records(path, Judgment)]
    games = [row for path in of_games for row in read_records(path, Game)]
    found = joined(said, rows, verdicts(games), str(labels))
    if not found:
        named = ", ".join(plain(str(path)) for path in judged)
        raise InputError(
            f"labels nothing that is judged in {named}",
            file=labels,
            remedy="give the judge's relevance.jsonl, pointwise.jsonl or games.jsonl of the same test set",
        )
    return {name: _by_section(each, clusters) if clusters else each for name, each in found.items()}


def _holds_games(path: Path) -> bool:
    return any("agent_a" in row for _, row in islice(read_objects(path), 1))


def _by_section(ratings: Ratings, clusters: Clusters) -> Ratings:
    known = clusters.of(ratings.clusters)
    return replace(ratings, clusters=tuple(known.names[number] for number in known.numbers), by="section")


def agree_on_criterion(ratings: Ratings, *, relevant: str | None = None, bootstrap: int, seed: int) -> Agreement:
    """`agree` on the scale of a sheet's labels, of winners where the ratings are words; with a note alone where the
    judge labelled nothing."""
    if all(label is None for label in ratings.labels[1]):
        note = f"the judge failed on all {len(ratings.labels[1])} things that people labelled"
        return Agreement(
            file=ratings.file,
            by=ratings.by,
            relevant=None,
            labels=(),
            bootstrap=bootstrap,
            seed=seed,
            pairs=(),
            notes=(note,),
        )
    if not ratings.numeric:
        return agree(ratings, scale=WINNERS, bootstrap=bootstrap, seed=seed)
    return agree(ratings, scale=SCALE, relevant=relevant, bootstrap=bootstrap, seed=seed)


def agreement_by_criterion(
    said: Mapping[Key, float],
    judged: Iterable[Judgment],
    found: Iterable[Verdict],
    clusters: Clusters,
    *,
    bootstrap: int,
    seed: int,
) -> tuple[JudgeAgreement, ...]:
    """For each criterion, and for games, on which the judge labelled what people did; intervals by `clusters`."""
    made = joined(said, judged, found, "labels.csv").items()
    agreed = {
        name: agree_on_criterion(_by_section(each, clusters), bootstrap=bootstrap, seed=seed) for name, each in made
    }
    return tuple(_of(name, each.pairs[0]) for name, each in agreed.items() if each.pairs)


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
