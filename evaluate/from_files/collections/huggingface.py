"""Hugging Face datasets: a JSON Lines file a table, and the README whose head `datasets.load_dataset` reads.

https://huggingface.co/docs/hub/datasets-manual-configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragassay.files import json_line, write_text

from .collection import Collection


def write(collection: Collection, folder: Path) -> list[str]:
    """Each table there is as TABLE.jsonl, and README.md; sentences on what they cannot hold."""
    tables = {name: list(rows) for name, rows in _tables(collection).items()}
    tables = {name: rows for name, rows in tables.items() if rows}
    for name, rows in tables.items():
        write_text(folder / f"{name}.jsonl", "".join(map(json_line, rows)))
    write_text(folder / "README.md", _card({name: len(rows) for name, rows in tables.items()}))
    return []


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
