"""RAGElo's files, told by their columns: queries, documents, answers and verdicts as games; and its experiments.

https://github.com/zetaalphavector/RAGElo, docs/examples/notebooks. Its ranking is not taken: `ragassay rate` makes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragassay.errors import InputError
from ragassay.files import Rankings
from ragassay.layouts.cells import Row, read_rows, text
from ragassay.records import Game
from ragassay.text import listed, plain

from ..rate import read_games
from .collection import Collection, agent_name
from .gathered import Gathering
from .ragelo_experiment import Reading, is_experiment

KINDS = {
    "games": frozenset(("agent_a", "agent_b")),
    "documents": frozenset(("did", "document", "qid")),
    "answers": frozenset(("qid", "agent", "answer")),
    "ranking": frozenset(("agent", "score")),
    "queries": frozenset(("qid", "query")),
}
"""A kind of file to the columns it has; the first that fits."""
COLUMNS = {
    "queries": ("qid", "query"),
    "documents": ("did", "document", "qid", "agent"),
    "answers": ("qid", "agent", "answer", "query"),
    "games": ("qid", "query_id", "agent_a", "agent_b", "answer", "winner", "raw_answer"),
}
REMEDY = (
    "RAGElo's are queries (qid, query), documents (did, document, qid, agent), answers (qid, agent, answer) and games "
    "(qid, agent_a, agent_b, answer)"
)


def read(sources: Sequence[Path]) -> Collection:
    """The collection of the files, or of the `.csv`, `.json` and `.jsonl` files of folders. Raises InputError."""
    files: dict[str, list[tuple[Path, list[Row]]]] = {kind: [] for kind in KINDS}
    experiments: list[Path] = []
    for path in in_folders(sources, (".csv", ".json", ".jsonl")):
        if is_experiment(path):
            experiments.append(path)
            continue
        rows = list(read_rows(path, REMEDY))
        there = {name for row in rows for name in row.fields}
        kind = next((kind for kind, needed in KINDS.items() if needed <= there), None)
        if kind is None:
            names = ", ".join(plain(name) for name in sorted(there)[:12]) or "nothing"
            raise InputError(f"has the columns {names}", file=path, remedy=REMEDY)
        files[kind].append((path, rows))
    gathering = Gathering()
    _name_the_rest(gathering, files)
    for path, row in _rows(files["queries"]):
        gathering.query(_cell(row, "qid", path), _text(row, "query", path), path, row.line)
    rankings = _documents(gathering, files["documents"])
    for path, row in _rows(files["answers"]):
        query, agent = _cell(row, "qid", path), _cell(row, "agent", path)
        if query not in gathering.queries:
            raise InputError(
                f"query '{plain(query)}' is in no file of queries", file=path, line=row.line, remedy=REMEDY
            )
        found = [id for id, _ in rankings.get(agent_name(agent), {}).get(query, ())]
        answer = {"query_id": query, "answer": text(row.fields.get("answer") or ""), "passages": found}
        gathering.answer(agent, answer, path, row.line)
    games = [game for path, _ in files["games"] for game in _games(gathering, path)]
    reading = Reading(gathering, rankings, games)
    for path in experiments:
        reading.take(path)
    _compare_agents(gathering, games)
    return gathering.collection(rankings=rankings, games=tuple(games))


def in_folders(sources: Sequence[Path], suffixes: Sequence[str]) -> list[Path]:
    """The files, and those in folders with one of the suffixes. Raises InputError where there is none."""
    found = []
    for source in sources:
        inside = (
            [path for path in sorted(source.iterdir()) if path.suffix.lower() in suffixes] if source.is_dir() else []
        )
        if source.is_dir() and not inside:
            raise InputError(f"holds no file with {listed(suffixes)}", file=source)
        found += inside or [source]
    return found


def _rows(files: Sequence[tuple[Path, list[Row]]]) -> list[tuple[Path, Row]]:
    return [(path, row) for path, rows in files for row in rows]


def _cell(row: Row, name: str, path: Path) -> str:
    return _text(row, name, path).strip()


def _text(row: Row, name: str, path: Path) -> str:
    try:
        found = text(row.fields.get(name))
    except ValueError as error:
        raise InputError(f"{row.place}'{name}' {error}", file=path, line=row.line) from None
    if not found.strip():
        raise InputError(f"{row.place}'{name}' is empty", file=path, line=row.line)
    return found


def _documents(gathering: Gathering, files: Sequence[tuple[Path, list[Row]]]) -> dict[str, Rankings]:
    """Agent to its rankings: the order of the rows, the score of a passage being 1/rank."""
    order: dict[str, dict[str, list[str]]] = {}
    for path, row in _rows(files):
        passage = gathering.passage(
            {"id": _cell(row, "did", path), "text": _text(row, "document", path)}, path, row.line
        )
        if agent := str(row.fields.get("agent") or "").strip():
            ranked = order.setdefault(agent_name(agent), {}).setdefault(_cell(row, "qid", path), [])
            ranked += [passage] if passage not in ranked else []
    return {
        agent: {query: [(id, 1 / rank) for rank, id in enumerate(ids, 1)] for query, ids in rows.items()}
        for agent, rows in order.items()
    }


def _games(gathering: Gathering, path: Path) -> list[Game]:
    """The verdicts, on the queries' ids where they name them by text."""
    queries = gathering.queries
    by_text = {query.text.strip(): id for id, query in queries.items()}
    made = []
    for game in read_games(path).games:
        id = game.query_id if game.query_id in queries else by_text.get(game.query_id.strip(), game.query_id)
        names = {side: gathering.known_as(getattr(game, side)) for side in ("agent_a", "agent_b")}
        made.append(Game(**{**game.model_dump(), "query_id": id, **names}))
    return made


def _name_the_rest(gathering: Gathering, files: dict[str, list[tuple[Path, list[Row]]]]) -> None:
    for path, _ in files["ranking"]:
        gathering.notes.append(f"{plain(path.name)}: a ranking is not taken, `ragassay rate` makes one of the games")
    for kind, known in COLUMNS.items():
        for path, rows in files[kind]:
            left = [plain(name) for name in dict.fromkeys(k for row in rows for k in row.fields) if name not in known]
            if left:
                gathering.notes.append(f"{plain(path.name)}: read as {kind}; not used: {listed(left)}")


def _compare_agents(gathering: Gathering, games: Sequence[Game]) -> None:
    played = {name for game in games for name in (game.agent_a, game.agent_b)}
    if games and gathering.answers and not played & gathering.answers.keys():
        theirs, ours = listed(sorted(played)[:3]), listed(sorted(gathering.answers)[:3])
        gathering.notes.append(f"no agent of the games ({plain(theirs)}, …) has answers (those are of {ours}, …)")
