"""`ragassay rate` and `score`: ratings of the agents of anybody's games file, and measures of a run against qrels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from ragassay.errors import InputError
from ragassay.files import Qrels, Rankings, read_json, read_objects, read_qrels, read_run, record_of
from ragassay.records import Figure, Game, Winner
from ragassay.text import csv_text, plain

from ..agreement.label_tables import read_labels
from ..inputs.clusters import read_clusters
from ..measures.measure import measure
from ..ratings import bradley_terry, elo
from ..ratings.bradley_terry import TOLERANCE
from ..ratings.leader import choose, rank_intervals, stand
from ..ratings.verdicts import Points, points_of, sorted_game, verdicts
from ..ratings.win_table import Contests, contests, first_shown_wins, flip_rate
from ..results import POINTS
from ..statistics.paired_comparison import FromLeader, ValueTable, compare_pairs
from ..statistics.resamples import Resamples, resamples

LAYOUTS = (
    "a game has query_id, agent_a, agent_b and winner (a, b or tie), and first (a or b) where the order is known; "
    "or RAGElo's qid, agent_a, agent_b and answer (A, B or C); or LMSYS's question_id, model_a, model_b and winner; "
    "in JSON Lines, .json, .csv or .tsv"
)

_QUERY = ("query_id", "qid", "question_id", "id")
_WINNERS: dict[str, Winner] = {
    **{"a": "a", "model_a": "a", "agent_a": "a"},
    **{"b": "b", "model_b": "b", "agent_b": "b"},
    **{"tie": "tie", "c": "tie", "tie (bothbad)": "tie", "both_bad": "tie", "bothbad": "tie"},
}
_ONE_HOT: dict[str, Winner] = {"winner_model_a": "a", "winner_model_b": "b", "winner_tie": "tie"}
_YES = {"1", "1.0", "true"}
_NOT_LINES = {".csv", ".tsv", ".tab", ".json"}


class AnyonesGame(Game):
    """A game that somebody else may have written: fields that we do not know are ignored."""

    model_config = ConfigDict(extra="ignore")

    agent_a: str = Field(min_length=1)
    agent_b: str = Field(min_length=1)
    probability: float | None = Field(None, ge=0, le=1)

    @model_validator(mode="after")
    def _two_agents(self) -> AnyonesGame:
        if self.agent_a == self.agent_b:
            raise ValueError(f"agent '{self.agent_a}' plays itself")
        return self


@dataclass(frozen=True)
class GamesFile:
    """`games`: all of them; `ordered`: those of which it is known whose answer was shown first.

    A game without an order is told from the side of the agent that sorts first, so that no two of them are taken for
    the two orders of one game.
    """

    games: tuple[Game, ...]
    ordered: tuple[Game, ...]


def read_games(path: Path) -> GamesFile:
    """The games of a file: `.csv` and `.tsv` are tables, `.json` one array, anything else JSON Lines.

    Three spellings are known, told by their columns (keys): ours (query_id, agent_a, agent_b, winner, and what `Game`
    has besides), RAGElo's (qid, agent_a, agent_b, answer: A, B or C) and that of LMSYS's Chatbot Arena (question_id,
    model_a, model_b, and winner, or winner_model_a, winner_model_b and winner_tie of 0 and 1).
    Raises InputError, with the line, for a file of no known layout, one without a game, and a game that is none.
    """
    games: list[Game] = []
    ordered: list[Game] = []
    for line, row in _rows(path):
        first = row.get("first")
        unknown = first in (None, "")
        given = {**row, "first": "a" if unknown else first}
        game: Game = record_of(given, AnyonesGame, path, line, LAYOUTS)
        if unknown:
            games.append(sorted_game(game).model_copy(update={"first": "a"}))
        else:
            games.append(game)
            ordered.append(game)
    if not games:
        raise InputError("has no game", file=path)
    return GamesFile(tuple(games), tuple(ordered))


def _rows(path: Path) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    """(line, fields in our spelling). Raises InputError."""
    kind = path.suffix.lower()
    rows: Iterable[tuple[int | None, Mapping[str, Any]]]
    if kind in {".csv", ".tsv", ".tab"}:
        table = read_labels(path).rows
        rows = [(n, {name: csv_text(cell) for name, cell in row.items()}) for n, row in table]
    elif kind == ".json":
        value = read_json(path)
        if not isinstance(value, list) or not all(isinstance(game, dict) for game in value):
            remedy = f"{LAYOUTS}; JSON Lines is called .jsonl"
            raise InputError("is not a JSON array of games", file=path, remedy=remedy)
        rows = [(None, game) for game in value]
    else:
        rows = read_objects(path)
    for line, row in rows:
        ours = kind not in _NOT_LINES and row.keys() >= {"query_id", "agent_a", "agent_b"} and "answer" not in row
        yield line, row if ours else _ours(row, path, line)


def _ours(row: Mapping[str, Any], path: Path, line: int | None) -> Mapping[str, Any]:
    """The same under the names of `Game`. Raises InputError."""
    side = "model" if "model_a" in row else "agent"
    names = {"agent_a": f"{side}_a", "agent_b": f"{side}_b"}
    query = next((name for name in _QUERY if name in row), _QUERY[0])
    ragelo = "answer" in row and "winner" not in row
    if lacking := [name for name in (query, *names.values()) if row.get(name) in (None, "")]:
        raise InputError(f"has no '{lacking[0]}'", file=path, line=line, remedy=LAYOUTS)
    if row.keys() >= _ONE_HOT.keys():
        held = [winner for name, winner in _ONE_HOT.items() if str(row.get(name, "")).lower() in _YES]
        if len(held) > 1:
            raise InputError(f"{' and '.join(held)} are both said to win", file=path, line=line, remedy=LAYOUTS)
        winner = held[0] if held else None
    else:
        winner = _winner(row, "answer" if ragelo else "winner", names, path, line)
    kept = {name: row[name] for name in ("judge", "reason", "probability", "presentation") if row.get(name)}
    if ragelo and winner and isinstance(said := row.get("raw_answer"), str) and said:
        kept.setdefault("reason", said)
    return kept | {
        "query_id": str(row[query]),
        **{ours: row[theirs] for ours, theirs in names.items()},
        "first": "a" if ragelo else row.get("first"),
        "winner": winner,
        "error": row.get("error") or (None if winner else "no winner is given"),
    }


def _winner(
    row: Mapping[str, Any], column: str, names: Mapping[str, str], path: Path, line: int | None
) -> Winner | None:
    """Who won, by one of the words for it or by the agent's name; None where the cell is empty."""
    if column not in row and "error" not in row:
        raise InputError(f"has no '{column}'", file=path, line=line, remedy=LAYOUTS)
    given = row.get(column)
    if given in (None, ""):
        return None
    text = str(given).strip()
    if known := _WINNERS.get(text.lower()):
        return known
    if text == row.get(names["agent_a"]):
        return "a"
    if text == row.get(names["agent_b"]):
        return "b"
    raise InputError(f"{column} is '{plain(text[:60])}'", file=path, line=line, remedy=LAYOUTS)


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
    (`read_games`), flip_rate and first_shown_wins are of those of which it is. Bradley-Terry adds converged; it
    does not use k_factor and tournaments. Intervals are from resampling queries, by the sections that
    the queries file `sections` names (`inputs.clusters`). Raises InputError for a file that cannot be read, or
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
    drawn = {"seed": draws.seed, "bootstrap": len(draws.weights), "confidence": draws.confidence}
    rated["parameters"] |= drawn | ({"n_sections": len(draws.clusters.names)} if sections else {})
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
        pairs = compare_pairs(POINTS, table, draws.clusters, 1.0, draws.seed, None, beside=False, leader=leader)
        ranks = rank_intervals(found, pairs)
    return {
        "points": {agent: draws.figure(values[agent], (0.0, 1.0)).dump() for agent in points.order},
        "verdict": choose(found, points).dump(),
        "ranks": {agent: list(ends) for agent, ends in ranks.items()},
    }


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


def score_files(
    qrels: Path,
    run: Path,
    measures: Sequence[str],
    *,
    sections: Path | None = None,
    bootstrap: int = 1000,
    seed: int = 7,
) -> dict[str, Figure]:
    """Each measure's mean over all queries of the qrels, under the spelling it was asked for by (`RR(rel=2)@5`).

    A query that the run does not have retrieved nothing and scores 0 (`missing_queries` says how many); queries that
    the qrels do not have are not scored. Intervals are clustered by the sections that the queries file `sections`
    names (`inputs.clusters`); without it each query stands alone. Raises InputError for an unknown measure, an
    unreadable file, files that share no query, and a query without its line in `sections`.
    """
    asked = {spelling: measure(spelling) for spelling in measures}
    labels, rankings = _read(qrels, run)
    draws = resamples(list(labels), bootstrap, seed, read_clusters(sections, labels, qrels))
    return {spelling: draws.figure(one.scores(labels, rankings), (0.0, 1.0)) for spelling, one in asked.items()}


def missing_queries(qrels: Path, run: Path) -> int:
    """How many of the qrels' queries the run does not have. Raises InputError as `score_files` does."""
    labels, rankings = _read(qrels, run)
    return len(labels.keys() - rankings.keys())


def _read(qrels: Path, run: Path) -> tuple[Qrels, Rankings]:
    labels, rankings = read_qrels(qrels), read_run(run)
    for file, held in ((qrels, labels), (run, rankings)):
        if not held:
            raise InputError("has no query", file=file)
    if not labels.keys() & rankings.keys():
        raise InputError(f"shares no query with {qrels}", file=run, remedy="check that both are of one test set")
    for query, ranking in rankings.items():
        if len({passage for passage, _ in ranking}) < len(ranking):
            raise InputError(f"ranks a passage twice for query '{plain(query)}'", file=run)
    return labels, rankings
