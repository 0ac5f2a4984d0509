"""Rate the agents of a games file: `ragassay rate`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from ragassay.errors import InputError
from ragassay.records import Figure

from ..inputs.sections import read_clusters
from ..ratings import bradley_terry, elo
from ..ratings.bradley_terry_fit import TOLERANCE
from ..ratings.leader import choose
from ..ratings.points import Points, points_of
from ..ratings.standing import rank_intervals, stand
from ..ratings.verdicts import verdicts
from ..ratings.win_table import Contests, contests, first_shown_wins, flip_rate
from ..results import POINTS
from ..statistics.gaps import ValueTable
from ..statistics.paired_comparison import FromLeader, compare_table
from ..statistics.resamples import Resamples, resamples
from .games import read_games

Method = Literal["elo", "bradley-terry"]


def rate_file(
    games: Path,
    method: Method,
    *,
    k_factor: float = 4.0,
    initial: float = 500.0,
    tournaments: int = 500,
    seed: int = 7,
    bootstrap: int = 1000,
    ties: bradley_terry.Ties = "davidson",
    sections: Path | None = None,
) -> dict[str, Any]:
    """The ratings of a games file, ready for JSON, with every parameter behind them.

    method, parameters, n_games (lines), n_failed (lines without a winner), n_verdicts (pairs of agents on a query with
    a winner or a tie), flip_rate, first_shown_wins, points (agent to figure, best first), verdict (the record of
    `results.json`, from the same points), ranks (agent to the interval of its rank by points), ratings (agent to
    figure, best first) and note (why something is missing, or None). Where the order of games is not known
    (`from_files.games`), flip_rate and first_shown_wins are of those of which it is. Bradley-Terry adds converged; it
    does not use k_factor and tournaments. Intervals are from resampling queries, by the sections that
    the queries file `sections` names (`evaluate.inputs.sections`). Raises InputError for a file that cannot be read, or
    without a game, for a query without its line in `sections`, and for parameters out of range.
    """
    _check(k_factor, initial, tournaments, bootstrap, seed)
    file = read_games(games)
    played = file.games
    found = verdicts(played)
    agents = [name for game in played for name in (game.agent_a, game.agent_b)]
    queries = [game.query_id for game in played]
    draws = resamples(queries, bootstrap, seed, read_clusters(sections, queries, games))
    table = contests(found, agents, draws.queries, weigh="games")
    settings = elo.EloSettings(k_factor, initial, tournaments, seed)
    rated = _elo(table, draws, settings) if method == "elo" else _bradley_terry(table, draws, initial, ties)
    points = points_of(found, agents, draws.queries, weigh="games")
    rated["parameters"] |= _drawn(draws) | ({"n_sections": len(draws.clusters.names)} if sections else {})
    return {
        "method": method,
        "n_games": len(played),
        "n_failed": sum(game.winner is None for game in played),
        "n_verdicts": len(table.a),
        "flip_rate": flip_rate(found, draws).dump(),
        "first_shown_wins": first_shown_wins(file.ordered, draws).dump(),
        **_standing(points, draws),
        **rated,
    }


def _elo(table: Contests, draws: Resamples, settings: elo.EloSettings) -> dict[str, Any]:
    idle = [agent for agent in table.agents if not table.games_of(agent)]
    ratings = elo.rate(table, draws, settings)
    return {
        "parameters": asdict(settings),
        "ratings": _best_first(ratings),
        "note": f"not rated, since no game has a verdict: {', '.join(idle)}" if idle else None,
    }


def _bradley_terry(table: Contests, draws: Resamples, initial: float, ties: bradley_terry.Ties) -> dict[str, Any]:
    result = bradley_terry.rate(table, draws, initial, ties)
    return {
        "parameters": {"initial": initial, "ties": result.ties, "tolerance": TOLERANCE},
        "ratings": _best_first(result.figures),
        "tie_parameter": result.tie_parameter,
        "triples": result.triples,
        "intransitive_triples": result.intransitive,
        "converged": result.converged,
        "note": result.note,
    }


def _standing(points: Points, draws: Resamples) -> dict[str, Any]:
    """Points, the verdict on them, and ranks."""
    found, values = stand(points, draws.clusters, draws.seed), points.values()
    ranks: dict[str, tuple[int, int]] = {}
    if found:
        table = ValueTable.of({agent: values[agent] for agent in found.order})
        leader = FromLeader(found.leader, found.differences, found.adjusted)
        pairs = compare_table(POINTS, table, draws.clusters, 1.0, draws.seed, None, beside=False, leader=leader)
        ranks = rank_intervals(found, pairs)
    return {
        "points": {agent: draws.figure(values[agent], (0.0, 1.0)).dump() for agent in points.order},
        "verdict": choose(found, points).dump(),
        "ranks": {agent: list(ends) for agent, ends in ranks.items()},
    }


def _drawn(draws: Resamples) -> dict[str, Any]:
    return {"seed": draws.seed, "bootstrap": len(draws.weights), "confidence": draws.confidence}


def _best_first(figures: dict[str, Figure]) -> dict[str, Any]:
    def rank(item: tuple[str, Figure]) -> tuple[bool, float, str]:
        return item[1].value is None, -(item[1].value or 0.0), item[0]

    return {agent: figure.dump() for agent, figure in sorted(figures.items(), key=rank)}


def _check(k_factor: float, initial: float, tournaments: int, bootstrap: int, seed: int) -> None:
    """Raises InputError naming the first parameter out of range."""
    most = 100_000
    for name, value, least in (("tournaments", tournaments, 1), ("bootstrap", bootstrap, 100)):
        if not least <= value <= most:
            raise InputError(f"{name} is {value}", remedy=f"it must be from {least} to {most}")
    if seed < 0:
        raise InputError(f"the seed is {seed}", remedy="it must be at least 0")
    if not 0 < k_factor <= 1e6:
        raise InputError(f"the K factor is {k_factor:g}", remedy="it must be above 0 and at most a million")
    if not abs(initial) <= 1e6:
        raise InputError(f"the initial rating is {initial:g}", remedy="it must be within a million of 0")
