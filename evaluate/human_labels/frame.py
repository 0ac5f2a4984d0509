"""What people can label, and how likely each is to be drawn: passages by whole queries, answers, games.

A query's reciprocal rank needs a label on each of its first k passages, so passages are drawn by whole queries: every
passage that any agent has among its first k. Answers are drawn one by one, criterion by criterion, agent by agent, and
games pair by pair. Sampling is systematic with probability proportional to size (Madow, Annals of Mathematical
Statistics 20(3), 1949) along a list in the order of criterion, agent and the judge's label, which gives each of these
its share; the size of what the judge was unsure of is up to three times that of the rest, and a game's goes with what
it counts in the win rate (`ratings.win_table`).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import Literal

from ragassay.records import Judgment, grouped

from ..inputs.findings import Findings
from ..inputs.labels import GAME, HIGHEST, Key
from ..judging.judges.relevance import CRITERION
from ..ratings.verdicts import Verdict
from ..ratings.win_table import pair_weights

Kind = Literal["passages", "answers", "games"]
KINDS: tuple[Kind, ...] = ("passages", "answers", "games")
UNSURE = 2.0
"""How much larger what the judge was wholly unsure of is than what it was sure of."""


@dataclass(frozen=True)
class Unit:
    """What is drawn together. `place` sorts the list by the judge's labels; `unsure` runs from 0 to 1.

    counts: how much it counts in the figure that its label corrects, beside others of its kind.
    """

    kind: Kind
    items: tuple[Key, ...]
    place: tuple[str, ...]
    unsure: float
    counts: float = 1.0


def units(findings: Findings, found: Sequence[Verdict], criteria: Sequence[str], k: int, kind: Kind) -> list[Unit]:
    """Everything of one kind that can be drawn: what has a text, and (but for passages) a judgment."""
    if kind == "games":
        return games(found)
    return _answers(findings, criteria) if kind == "answers" else _queries(findings, k)


def _queries(findings: Findings, k: int) -> list[Unit]:
    rows, found = grouped((row.query_id, row) for row in findings.relevance), []
    for query in findings.queries:
        passages = [passage for passage in shown(findings, query, k) if passage in findings.material.passages]
        judged = [row for row in rows.get(query, ()) if row.label is not None and row.subject in passages]
        mean = sum(unsure(row) for row in judged) / len(judged) if judged else 1.0
        share = sum(row.label == HIGHEST for row in judged) / len(judged) if judged else 0.0
        if passages:
            items = tuple((query, passage, CRITERION) for passage in passages)
            found.append(Unit("passages", items, (f"{share:.6f}",), mean))
    return found


def _answers(findings: Findings, criteria: Sequence[str]) -> list[Unit]:
    rows: dict[Key, list[tuple[float, float]]] = {}
    for row in findings.pointwise:
        answer = findings.material.answers.get((row.query_id, row.subject))
        if row.label is not None and row.criterion in criteria and answer and answer.answer is not None:
            key = (row.query_id, row.subject, row.criterion)
            rows.setdefault(key, []).append((row.label, unsure(row)))
    means = {key: [sum(side) / len(side) for side in zip(*found, strict=True)] for key, found in rows.items()}
    return [Unit("answers", (key,), (key[2], key[1], f"{mean:.6f}"), doubt) for key, (mean, doubt) in means.items()]


def games(found: Sequence[Verdict]) -> list[Unit]:
    """Every game with a verdict."""
    rows = grouped(((one.query_id, one.agent_a, one.agent_b), one) for one in found if one.winner is not None)
    sizes, listed = pair_weights(found), []
    for (query, a, b), told in rows.items():
        doubts = [float(v.winner == "tie") if v.probability is None else 1 - abs(2 * v.probability - 1) for v in told]
        pair, place = f"{a}:{b}", (f"{a}:{b}", told[0].winner or "")
        doubt, counts = sum(doubts) / len(doubts), sizes.get((a, b), 1.0)
        listed.append(Unit("games", ((query, pair, GAME),), place, doubt, counts))
    return listed


def shown(findings: Findings, query: str, k: int) -> list[str]:
    """The passages that any agent has among its first k for the query, sorted."""
    rankings = (ranking.get(query) or [] for ranking in findings.rankings.values())
    return sorted({passage for ranking in rankings for passage, _ in ranking[:k]})


def unsure(row: Judgment) -> float:
    """How unsure the judge was, 0 to 1: by its expected label or the label's probability, else 1 in mid-scale."""
    if row.expected is not None:
        return min(1.0, 2 * abs(row.expected - round(row.expected)))
    if row.probability is not None:
        return min(1.0, 2 * (1 - row.probability))
    return float(0 < (row.label or 0.0) < HIGHEST)


def whole_answers(found: Sequence[Unit]) -> list[Unit]:
    """Units of answers, with those of all criteria of one answer as one: what a judge is asked about together."""
    together = grouped((unit.items[0][:2], unit) for unit in found)
    return [
        Unit(
            "answers",
            tuple(item for unit in units for item in unit.items),
            (agent, *(unit.place[-1] for unit in units)),
            sum(unit.unsure for unit in units) / len(units),
        )
        for (_, agent), units in together.items()
    ]


def draw(found: Sequence[Unit], n: int, seed: int | str) -> list[tuple[Unit, float, bool]]:
    """Each unit with its probability and whether it was drawn: `n` of them, or all where there are no more."""
    chance = random.Random(f"{seed}:labels")
    listed = sorted(found, key=lambda unit: (unit.place, random.Random(f"{seed}:{unit.items}").random(), unit.items))
    sizes = [unit.counts * (1 + UNSURE * unit.unsure) for unit in listed]
    chances = probabilities(sizes, min(n, len(listed)))
    drawn = set(systematic(chances, chance.random()))
    return [(unit, chances[index], index in drawn) for index, unit in enumerate(listed)]


def probabilities(sizes: Sequence[float], n: int) -> list[float]:
    """The probability of each unit in a sample of `n`, proportional to its size and at most 1; they sum to `n`."""
    sure: set[int] = set()
    while True:
        left, total = n - len(sure), sum(size for index, size in enumerate(sizes) if index not in sure)
        over = {i for i, size in enumerate(sizes) if i not in sure and left * size >= total * (1 - 1e-12)}
        if not over or left <= 0:
            return [1.0 if i in sure else left * size / total if total else 1.0 for i, size in enumerate(sizes)]
        sure |= over


def systematic(chances: Sequence[float], start: float) -> list[int]:
    """The indices drawn: one at every whole step from `start` (0 to 1, 1 left out) along the summed probabilities."""
    drawn, reached = [], 0.0
    for index, chance in enumerate(chances):
        before, reached = reached, reached + chance
        if chance >= 1 or floor(round(reached - start, 9)) > floor(round(before - start, 9)):
            drawn.append(index)
    return drawn


def numbers(found: Mapping[Kind, Sequence[Unit]], n: int) -> dict[Kind, int]:
    """How many units of each kind make up about `n` labels, shared evenly between the kinds that there are."""
    there = [kind for kind in KINDS if found.get(kind)]
    left, chosen = n, {}
    for done, kind in enumerate(sorted(there, key=lambda kind: sum(len(unit.items) for unit in found[kind]))):
        quota = left // (len(there) - done)
        size = sum(len(unit.items) for unit in found[kind]) / len(found[kind])
        chosen[kind] = min(len(found[kind]), max(1, round(quota / size)))
        left -= round(chosen[kind] * size)
    return chosen
