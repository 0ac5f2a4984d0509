"""datasets of Hugging Face: its files in three kinds, and our tables and CSV loaded by it."""

from pathlib import Path
from typing import Any

NAMES = {"query": "query", "answer": "answer", "contexts": "contexts"}
NAMES |= {"expected": "expected_response", "reference": "reference_contexts", "latency_s": "latency_s"}
TOKENS = ("input_tokens", "output_tokens")
FIELDS = " ".join((*NAMES, *TOKENS))
TABLES = {
    "queries": ("_id", "text"),
    "corpus": ("_id", "title", "text"),
    "qrels": ("query-id", "corpus-id", "score"),
    "rankings": ("agent", "query-id", "corpus-id", "rank", "score"),
    "answers": ("agent", "query_id", "answer", "passages"),
    "games": ("query_id", "agent_a", "agent_b", "first", "judge", "winner", "reason"),
}


def _made(rows: list[dict[str, Any]]) -> Any:
    from datasets import Dataset

    named = [{theirs: row[ours] for ours, theirs in NAMES.items()} for row in rows]
    used = [{name: row[name] for name in TOKENS} for row in rows]
    return Dataset.from_list([{**one, "usage": usage} for one, usage in zip(named, used, strict=True)])


def write_jsonl(folder: Path, rows: list[dict[str, Any]]) -> None:
    _made(rows).to_json(folder / "theirs.jsonl")


def write_json(folder: Path, rows: list[dict[str, Any]]) -> None:
    _made(rows).to_json(folder / "theirs.json", lines=False)


def write_csv(folder: Path, rows: list[dict[str, Any]]) -> None:
    _made(rows).to_csv(folder / "theirs.csv")


def read_tables(folder: Path) -> dict[str, Any]:
    from datasets import load_dataset

    found = {}
    for name, columns in TABLES.items():
        rows = load_dataset(str(folder), name, split="train", cache_dir=str(folder / "cache"))
        found[name] = sorted([row[column] for column in columns] for row in rows)
    return found


def tables(results: Path) -> dict[str, Any]:
    """What should be read."""
    from ragassay.evaluate.from_files.collections.collection import read_folder

    made = read_folder(results)
    answers = [one for row in made.answers.values() for one in row.values()]
    found: dict[str, list[list[Any]]] = {
        "queries": [[id, one.text] for id, one in made.queries.items()],
        "corpus": [[id, one.title, one.text] for id, one in made.passages.items()],
        "qrels": [[id, passage, n] for id, row in made.qrels.items() for passage, n in row.items()],
        "rankings": [
            [agent, id, passage, rank, score]
            for agent, row in made.rankings.items()
            for id, ranking in row.items()
            for rank, (passage, score) in enumerate(ranking, 1)
        ],
        "answers": [[one.agent, one.query_id, one.answer, list(one.passages)] for one in answers],
        "games": [[getattr(one, name) for name in TABLES["games"]] for one in made.games],
    }
    return {name: sorted(rows) for name, rows in found.items()}


def read_csv(folder: Path) -> dict[str, list[dict[str, Any]]]:
    import json

    from datasets import load_dataset

    rows = load_dataset("csv", data_files=str(folder / "answers.csv"), split="train", cache_dir=str(folder / "cache"))
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        contexts = [one["text"] for one in json.loads(row["contexts"])]
        found.setdefault(row["agent"], []).append(
            {"query": row["query"], "answer": row["answer"], "contexts": contexts}
        )
    return {agent: sorted(rows, key=lambda row: str(row["query"])) for agent, rows in found.items()}


WRITES = dict.fromkeys(("write_jsonl", "write_json", "write_csv"), ("csv", FIELDS))
READS = {"read_tables": ("hf", "tables"), "read_csv": ("csv", "query answer contexts")}
