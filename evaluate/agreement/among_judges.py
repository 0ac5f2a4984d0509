"""How far several judges disagree: the share of things on which they are not of one mind, and Krippendorff's alpha."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from ragassay.records import Judgment

from ..inputs.clusters import Clusters, clusters_of_rows
from ..inputs.labels import GAME, Key, Label
from ..ratings.verdicts import SCORES, Verdict
from ..results import AmongJudges
from ..statistics.clustered import interval
from .estimates import Found, Sample
from .krippendorff import alpha, coincidences

SPLIT = "not_unanimous"
ALPHA = "krippendorff_alpha(ordinal)"
_NOTHING = "nothing was labelled by two judges"


def among_labels(
    rows: Iterable[Judgment], clusters: Clusters, *, bootstrap: int = 1000, seed: int = 7
) -> tuple[AmongJudges, ...]:
    """One for each criterion, of all judges' records in one file. clusters: of the queries."""
    votes: dict[str, dict[Key, dict[str, float | None]]] = {}
    for row in rows:
        key = (row.query_id, row.subject, row.criterion)
        votes.setdefault(row.criterion, {}).setdefault(key, {})[row.judge] = row.label
    return tuple(_among(name, votes[name], clusters, bootstrap, seed) for name in sorted(votes))


def among_verdicts(
    verdicts: Iterable[Verdict], clusters: Clusters, *, bootstrap: int = 1000, seed: int = 7
) -> AmongJudges:
    """The same of verdicts on games, criterion `game`: a win, a tie and a loss in this order.

    Where a file repeats a game, the k-th of one judge meets the k-th of the others, as in `merge_verdicts`.
    """
    votes: dict[Key, dict[str, float | None]] = {}
    often: Counter[tuple[str, str, str, str]] = Counter()
    for one in verdicts:
        mine = (one.query_id, one.agent_a, one.agent_b, one.judge)
        key = (one.query_id, f"{one.agent_a}:{one.agent_b}:{often[mine]}", GAME)
        votes.setdefault(key, {})[one.judge] = None if one.winner is None else SCORES[one.winner]
        often[mine] += 1
    return _among(GAME, votes, clusters, bootstrap, seed)


def among_people(
    labels: Iterable[Label], clusters: Clusters, *, bootstrap: int = 1000, seed: int = 7
) -> tuple[AmongJudges, ...]:
    """The same of people's labels of `labels.csv`, `judges` being the people; games are a criterion like others."""
    votes: dict[str, dict[Key, dict[str, float | None]]] = {}
    for label in labels:
        votes.setdefault(label.criterion, {}).setdefault(label.key, {})[label.who] = label.value
    return tuple(_among(name, votes[name], clusters, bootstrap, seed) for name in sorted(votes))


def _among(
    criterion: str, votes: dict[Key, dict[str, float | None]], clusters: Clusters, bootstrap: int, seed: int
) -> AmongJudges:
    judges = tuple(sorted({judge for said in votes.values() for judge in said}))
    keys = sorted(votes)
    units = [[label for label in votes[key].values() if label is not None] for key in keys]
    pairable = [place for place, unit in enumerate(units) if len(unit) > 1]
    found = Found(len(pairable), len(units) - len(pairable))
    if pairable:
        known = clusters.of([keys[place][0] for place in pairable])
        together = clusters_of_rows([known.names[number] for number in known.numbers])
        _figures(found, [units[place] for place in pairable], together, bootstrap, seed)
    else:
        found.leave_out(SPLIT, _NOTHING)
        found.leave_out(ALPHA, _NOTHING)
    return AmongJudges(criterion=criterion, judges=judges, figures=found.figures, undefined=found.undefined)


def _figures(found: Found, units: Sequence[Sequence[float]], together: Clusters, bootstrap: int, seed: int) -> None:
    split = np.array([float(len(set(unit)) > 1) for unit in units])
    value, low, high = interval(split, np.ones(len(split)), together, (0.0, 1.0))
    found.put(SPLIT, value, (low, high), _NOTHING)
    scale = sorted({label for unit in units for label in unit})
    places = [[scale.index(label) for label in unit] for unit in units]
    sample = Sample.of_coincidences(coincidences(places, together.numbers, len(scale)), None, bootstrap, seed)
    why = f"all labels are equal ({scale[0]:g}): nothing is left to agree on"
    sample.figure(found, ALPHA, lambda table, counts: alpha(table, counts, "ordinal"), why)
