"""What `ragassay import` and `ragassay export --to` do: collections of other tools in and out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence, Set
from pathlib import Path

from ragassay.errors import InputError
from ragassay.evaluate.from_files.collections import mlflow_run
from ragassay.evaluate.from_files.collections.collection import (
    Collection,
    new_folder,
    read_folder,
    whole_folder,
    write_folder,
)
from ragassay.evaluate.from_files.collections.formats import FORMATS, READERS
from ragassay.evaluate.from_files.collections.held import not_held
from ragassay.text import plain


def import_files(options: argparse.Namespace) -> int:
    """Write the folder, and say what is in it and what was left out."""
    for source in options.sources:
        if not source.exists():
            raise InputError("there is no such file", file=source)
    collection = READERS[options.from_](options.sources)
    write_folder(collection, options.out)
    print(f"{plain(str(options.out))}: {_counted(collection)}")
    _say(collection.notes)
    return 0


def export_folder(options: argparse.Namespace) -> int:
    """Write the folder, and say what it holds and what it cannot."""
    from ..pipeline.opening import open_workspace

    named = Path(str(options.corpus))
    results = open_workspace(options).results if (named / "experiment.toml").exists() else named
    collection = read_folder(results)
    if options.to == "mlflow":
        with new_folder(options.out) as folder:
            said, left_out = mlflow_run.write(collection, results, folder), frozenset[str]()
    else:
        to = FORMATS[options.to]
        with whole_folder(options.out) as folder:
            to.write(collection, folder)
        said, left_out = not_held(to.title, to.loses, collection), frozenset(to.loses)
    print(f"{plain(str(options.out))}: {_counted(collection, left_out)}")
    _say(said)
    return 0


def _counted(collection: Collection, left_out: Set[str] = frozenset()) -> str:
    counts = collection.counts().items()
    return ", ".join(f"{n} {what}" for what, n in counts if n and what not in left_out) or "nothing"


def _say(notes: Sequence[str]) -> None:
    for note in notes:
        print(f"note: {plain(note)}", file=sys.stderr)
