"""BEIR's folder: corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv (https://github.com/beir-cellar/beir)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragassay.errors import InputError
from ragassay.files import read_qrels, write_records
from ragassay.records import Passage, Query
from ragassay.text import listed, plain

from ...inputs.findings import by_id
from . import held
from .collection import Collection, write_beir_qrels

LOSES: held.Losses = {"answers": held.answers, **held.OF_TESTS}


def read(sources: Sequence[Path]) -> Collection:
    """The collection of one folder; of several splits the labels of `test`. Raises InputError."""
    if len(sources) != 1 or not sources[0].is_dir():
        raise InputError("a BEIR data set is one folder", remedy="name the folder that holds corpus.jsonl")
    folder = sources[0]
    splits = sorted((folder / "qrels").glob("*.tsv"))
    chosen = next((path for path in splits if path.stem == "test"), splits[0] if splits else None)
    left = [f"qrels/{path.name}" for path in splits if path != chosen]
    notes = [f"not used: {plain(listed(left))}; the labels are those of qrels/{chosen.name}"] if left and chosen else []
    return Collection(
        queries=by_id(folder / "queries.jsonl", Query),
        passages=by_id(folder / "corpus.jsonl", Passage),
        qrels=read_qrels(chosen) if chosen else {},
        notes=tuple(notes),
    )


def write(collection: Collection, folder: Path) -> None:
    """Write the data set. Raises InputError for an id with white space."""
    write_records(folder / "corpus.jsonl", collection.passages.values())
    write_records(folder / "queries.jsonl", collection.queries.values())
    write_beir_qrels(folder / "qrels" / "test.tsv", collection.qrels)
