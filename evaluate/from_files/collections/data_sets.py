"""Collections as folders of tables: BEIR's data sets, and Hugging Face's, which hold all that there is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from ragassay.errors import InputError
from ragassay.files import Qrels, Rankings, json_line, read_objects, read_qrels, write_records, write_text
from ragassay.records import Game, Passage, Query
from ragassay.text import listed, plain

from ...inputs.findings import by_id
from .collection import Collection, Gathering, agent_name, made, write_beir_qrels
from .format import OF_TESTS, Format, Losses, answers


class Beir(Format):
    """BEIR's folder: corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv (https://github.com/beir-cellar/beir)."""

    name = "beir"
    title = "BEIR's data sets"
    loses: ClassVar[Losses] = {"answers": answers, **OF_TESTS}
    keeps_turns = True

    def write(self, collection: Collection, folder: Path) -> None:
        """Write the data set. Raises InputError for an id with white space."""
        write_records(folder / "corpus.jsonl", collection.passages.values())
        write_records(folder / "queries.jsonl", collection.queries.values())
        write_beir_qrels(folder / "qrels" / "test.tsv", collection.qrels)

    def read(self, sources: Sequence[Path]) -> Collection:
        """The collection of one folder; of several splits the labels of `test`. Raises InputError."""
        if len(sources) != 1 or not sources[0].is_dir():
            raise InputError("a BEIR data set is one folder", remedy="name the folder that holds corpus.jsonl")
        folder = sources[0]
        splits = sorted((folder / "qrels").glob("*.tsv"))
        chosen = next((path for path in splits if path.stem == "test"), splits[0] if splits else None)
        left = [f"qrels/{path.name}" for path in splits if path != chosen]
        notes = (
            [f"not used: {plain(listed(left))}; the labels are those of qrels/{chosen.name}"] if left and chosen else []
        )
        return Collection(
            queries=by_id(folder / "queries.jsonl", Query),
            passages=by_id(folder / "corpus.jsonl", Passage),
            qrels=read_qrels(chosen) if chosen else {},
            notes=tuple(notes),
        )


TABLES = ("queries", "corpus", "qrels", "rankings", "answers", "games")
_QREL: Mapping[str, Any] = {"query-id": str, "corpus-id": str, "score": int}
_RANKING: Mapping[str, Any] = {"agent": str, "query-id": str, "corpus-id": str, "score": int | float}
_KINDS = {str: "a text", int: "a whole number", int | float: "a number"}


class HuggingFace(Format):
    """Hugging Face datasets: a JSON Lines file a table, and the README whose head `datasets.load_dataset` reads.

    https://huggingface.co/docs/hub/datasets-manual-configuration.
    """

    name = "hf"
    title = "data sets of Hugging Face"
    keeps_turns = True

    def write(self, collection: Collection, folder: Path) -> None:
        """Each table there is as TABLE.jsonl, and README.md."""
        tables = {name: list(rows) for name, rows in _tables(collection).items()}
        tables = {name: rows for name, rows in tables.items() if rows}
        for name, rows in tables.items():
            write_text(folder / f"{name}.jsonl", "".join(map(json_line, rows)))
        write_text(folder / "README.md", _card({name: len(rows) for name, rows in tables.items()}))

    def read(self, sources: Sequence[Path]) -> Collection:
        """The collection of one folder, as `write` makes it; metadata may be JSON in a text. Raises InputError."""
        if len(sources) != 1 or not sources[0].is_dir():
            raise InputError("a data set is one folder", remedy="name the folder that holds queries.jsonl")
        rows = {name: list(_rows(sources[0] / f"{name}.jsonl")) for name in TABLES}
        if not rows["queries"]:
            raise InputError("has no queries", file=sources[0] / "queries.jsonl")
        gathering, qrels, rankings = Gathering(), Qrels(), dict[str, Rankings]()
        for path, line, row in rows["queries"]:
            query = made(Query, _deep(row, path, line), path, line)
            gathering.query(query.id, query.text, path, line, query.metadata)
        for path, line, row in rows["corpus"]:
            gathering.passage(_deep(row, path, line), path, line)
        for path, line, row in rows["qrels"]:
            query_id, passage_id, label = _fields(row, _QREL, path, line)
            if qrels.setdefault(query_id, {}).setdefault(passage_id, label) != label:
                raise InputError(f"gives '{plain(passage_id)}' a second label", file=path, line=line)
        for path, line, row in rows["rankings"]:
            _add_rank(rankings, row, path, line)
        for path, line, row in rows["answers"]:
            if row.get("query_id") not in gathering.queries:
                raise InputError(
                    f"query '{plain(str(row.get('query_id')))}' is not in queries.jsonl", file=path, line=line
                )
            gathering.answer(str(row.get("agent")), row, path, line)
        games = tuple(made(Game, row, path, line) for path, line, row in rows["games"])
        unknown = sorted(path.name for path in sources[0].glob("*.jsonl") if path.stem not in TABLES)
        notes = [f"not used: {plain(listed(unknown))}"] if unknown else []
        return gathering.collection(qrels=qrels, rankings=rankings, games=games, notes=(*gathering.notes, *notes))


def _rows(path: Path) -> Iterator[tuple[Path, int, dict[str, Any]]]:
    if path.is_file():
        yield from ((path, line, row) for line, row in read_objects(path))


def _deep(row: dict[str, Any], path: Path, line: int) -> dict[str, Any]:
    """The row with what its text of metadata holds."""
    told = row.get("metadata")
    if not isinstance(told, str):
        return row
    try:
        return row | {"metadata": json.loads(told)}
    except (ValueError, RecursionError):
        raise InputError("'metadata' is not JSON", file=path, line=line) from None


def _fields(row: Mapping[str, Any], kinds: Mapping[str, Any], path: Path, line: int) -> list[Any]:
    """The fields in their order. Raises InputError for one that is missing or of another kind."""
    for name, kind in kinds.items():
        value = row.get(name)
        if not isinstance(value, kind) or isinstance(value, bool) or value == "":
            raise InputError(f"'{name}' is missing or is not {_KINDS[kind]}", file=path, line=line)
    return [row[name] for name in kinds]


def _add_rank(rankings: dict[str, Rankings], row: Mapping[str, Any], path: Path, line: int) -> None:
    agent, query, passage, score = _fields(row, _RANKING, path, line)
    ranked = rankings.setdefault(agent_name(agent), {}).setdefault(query, [])
    if ranked and ranked[-1][1] <= score:
        raise InputError("'score' does not fall from rank to rank", file=path, line=line)
    ranked.append((passage, score))


def _tables(collection: Collection) -> Mapping[str, Iterator[dict[str, Any]]]:
    """Rows whose fields are the same in every row; what is free in form (metadata) is JSON in a text."""
    return {
        "queries": (_flat(query.dump()) for query in collection.queries.values()),
        "corpus": (_flat(passage.dump()) for passage in collection.passages.values()),
        "qrels": (
            {"query-id": query, "corpus-id": passage, "score": label}
            for query, row in collection.qrels.items()
            for passage, label in row.items()
        ),
        "rankings": (
            {"agent": agent, "query-id": query, "corpus-id": passage, "rank": rank, "score": score}
            for agent, rankings in collection.rankings.items()
            for query, ranking in rankings.items()
            for rank, (passage, score) in enumerate(ranking, 1)
        ),
        "answers": (answer.dump() for rows in collection.answers.values() for answer in rows.values()),
        "games": ({name: game.dump().get(name) for name in type(game).model_fields} for game in collection.games),
    }


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Metadata as a text: rows that differ in its fields would have no common schema."""
    return row | {"metadata": json_line(row["metadata"]).rstrip("\n")}


def _card(counts: Mapping[str, int]) -> str:
    configs = "".join(f"- config_name: {name}\n  data_files: {name}.jsonl\n" for name in counts)
    table = "".join(f"| `{name}` | {n} |\n" for name, n in counts.items())
    return (
        f"---\ntask_categories:\n- question-answering\n- text-retrieval\nconfigs:\n{configs}---\n\n"
        "# A test of retrieval-augmented generation\n\n"
        "Queries, passages, labels, answers and games as ragassay wrote them. Labels and games are a model's unless\n"
        "said otherwise. `metadata` is JSON in a text. A record with `error` is one that failed.\n\n"
        f"| table | rows |\n|---|---|\n{table}"
    )
