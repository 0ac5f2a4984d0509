"""Leaderboards: for each criterion of each evaluator the agents in the order of their means, by family."""

from __future__ import annotations

from dataclasses import dataclass

from ragassay.text import one_line

from ...results import Problem, Results
from ..tables import scale_words, way
from ..wording import MISSING, Shown, kind_of, shown

OTHERS = "others"
"""The family of evaluators of which the file does not say one."""

UNFOLDED = 6
"""So many boards stand open."""


@dataclass(frozen=True)
class Place:
    """An agent on a board. place: from 1, equal means share one; a dash without a mean. problem: '' where none is."""

    place: str
    agent: str
    mean: Shown
    passed: Shown
    problem: str


@dataclass(frozen=True)
class Board:
    """One criterion. about: its scale, its direction and its threshold."""

    name: str
    about: str
    places: list[Place]


@dataclass(frozen=True)
class Family:
    """The boards of the evaluators of one family; n_problems: agents beyond a threshold, over all of them."""

    name: str
    boards: list[Board]
    n_problems: int


def families(results: Results) -> list[Family]:
    """Every family in the order of the file. What is worked out from a criterion (P, AP, RR) has no board."""
    boards: dict[str, list[Board]] = {}
    for name in _criteria(results):
        family = results.evaluator_families.get(results.evaluators[name], OTHERS)
        boards.setdefault(family, []).append(_board(results, name))
    return [
        Family(family, some, sum(bool(place.problem) for one in some for place in one.places))
        for family, some in boards.items()
    ]


def are_few(results: Results) -> bool:
    """Whether there are so few boards that they need no folding."""
    return len(_criteria(results)) <= UNFOLDED


def _criteria(results: Results) -> list[str]:
    return [name for name in results.evaluators if "(" not in name]


def _board(results: Results, name: str) -> Board:
    lower = name in results.lower_is_better
    given = {agent: results.evaluations[agent].get(name) for agent in results.agents if agent in results.evaluations}
    known = {agent: one.value for agent, one in given.items() if one is not None and one.value is not None}
    order = sorted(known, key=lambda agent: known[agent] if lower else -known[agent])
    ahead = {a: 1 + sum((v < known[a]) if lower else (v > known[a]) for v in known.values()) for a in order}
    problems = {one.agent: one for one in _beyond(results) if one.criterion == name}
    return Board(
        name=one_line(name).replace("_", " "),
        about=_about(results, name),
        places=[
            Place(
                place=str(ahead.get(agent, MISSING)),
                agent=agent,
                mean=shown(given.get(agent), kind_of(name)),
                passed=_passed(results, agent, name),
                problem=_problem(problems.get(agent), lower=lower),
            )
            for agent in [*order, *(one for one in results.agents if one not in known)]
        ],
    )


def _beyond(results: Results) -> list[Problem]:
    return [one for one in results.problems if one.kind == "beyond_threshold"]


def _about(results: Results, name: str) -> str:
    """`0 to 1, lower is better; good enough up to 0.25`."""
    scale = scale_words(*results.evaluation_scales[name]) + way(results, name)
    if name not in results.thresholds:
        return f"{scale}; no threshold"
    side = "up to" if name in results.lower_is_better else "from"
    return f"{scale}; good enough {side} {results.thresholds[name]:g}"


def _passed(results: Results, agent: str, name: str) -> Shown:
    shares = results.threshold_shares.get(agent, {}).get(name)
    return shown(shares.passed if shares else None, "share", "no threshold")


def _problem(problem: Problem | None, *, lower: bool) -> str:
    if problem is None:
        return ""
    return (
        f"{'above' if lower else 'below'} its threshold{', beyond chance' if problem.sure else ', perhaps by chance'}"
    )
