"""What there is of a test and its systems, in memory; and the folder that holds it, which the other verbs take."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import permutations, product
from pathlib import Path

from ragassay.errors import InputError
from ragassay.files import Qrels, Rankings, read_qrels, read_records, read_run, write_records, write_run, write_text
from ragassay.records import Answer, Game, Passage, Query, RankedList
from ragassay.text import plain

from ...inputs.findings import by_id

_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Collection:
    """answers: agent to query id to the record; rankings: agent to its run. notes: sentences on what was left out."""

    queries: Mapping[str, Query] = field(default_factory=dict)
    passages: Mapping[str, Passage] = field(default_factory=dict)
    qrels: Qrels = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, Answer]] = field(default_factory=dict)
    rankings: Mapping[str, Rankings] = field(default_factory=dict)
    games: tuple[Game, ...] = ()
    notes: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """How many there are of each."""
        return {
            "queries": len(self.queries),
            "passages": len(self.passages),
            "labels": sum(map(len, self.qrels.values())),
            "answers": sum(map(len, self.answers.values())),
            "rankings": len(self.rankings),
            "games": len(self.games),
        }


def read_folder(folder: Path) -> Collection:
    """The collection of a results folder, or of one that `ragassay import` wrote. Raises InputError."""
    if not (folder / "queries.jsonl").is_file():
        remedy = "name a results folder, or one that `ragassay import` wrote"
        raise InputError("has no queries.jsonl", file=folder, remedy=remedy)
    labels = next((folder / name for name in ("qrels.tsv", "qrels.trec") if (folder / name).is_file()), None)
    queries = by_id(folder / "queries.jsonl", Query)
    answers: dict[str, dict[str, Answer]] = {}
    for path in sorted((folder / "answers").glob("*.jsonl")):
        if path.name.endswith(".partial.jsonl"):
            continue
        rows = answers.setdefault(path.stem, {})
        for answer in read_records(path, Answer):
            if answer.query_id in rows:
                raise InputError(f"has two answers to query '{plain(answer.query_id)}'", file=path)
            if answer.query_id not in queries:
                raise InputError(f"query '{plain(answer.query_id)}' is not in queries.jsonl", file=path)
            rows[answer.query_id] = answer
    passages, games = folder / "corpus.jsonl", folder / "games.jsonl"
    return Collection(
        queries=queries,
        passages=by_id(passages, Passage) if passages.is_file() else {},
        qrels=read_qrels(labels) if labels else {},
        answers=answers,
        rankings={path.stem: read_run(path) for path in sorted((folder / "rankings").glob("*.trec"))},
        games=tuple(_games(games, folder / "lists.jsonl")) if games.is_file() else (),
    )


def _games(path: Path, lists: Path) -> Iterator[Game]:
    """Those that were read from a list with its reason, which only the list has."""
    said: dict[tuple[str | int | None, ...], str | None] = {
        (row.query_id, row.judge, row.presentation, a, b, at_a, at_b): row.reason
        for row in (read_records(lists, RankedList) if lists.is_file() else ())
        for (at_a, of_a), (at_b, of_b) in permutations(enumerate(row.shown, 1), 2)
        for a, b in product(of_a, of_b)
    }
    for game in read_records(path, Game):
        ours = (game.query_id, game.judge, game.presentation, game.agent_a, game.agent_b, game.place_a, game.place_b)
        told = game.reason is None and game.winner is not None and ours in said
        yield game.model_copy(update={"reason": said[ours]}) if told else game


def write_folder(collection: Collection, out: Path) -> None:
    """The folder, whole or not at all; a file for each thing that there is. Raises InputError where `out` is there."""
    with whole_folder(out) as folder:
        write_records(folder / "queries.jsonl", collection.queries.values())
        if collection.passages:
            write_records(folder / "corpus.jsonl", collection.passages.values())
        if collection.qrels:
            write_beir_qrels(folder / "qrels.tsv", collection.qrels)
        for agent, answers in collection.answers.items():
            write_records(folder / "answers" / f"{agent}.jsonl", answers.values())
        for agent, ranking in collection.rankings.items():
            check_trec_ids(ranking, folder)
            write_run(folder / "rankings" / f"{agent}.trec", ranking, agent)
        if collection.games:
            write_records(folder / "games.jsonl", collection.games)


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """`out` itself, removed where what is written to it fails; for what keeps its own place in its files."""
    check_new(out)
    try:
        yield out
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise


def check_new(out: Path) -> None:
    """Raises InputError where there is something at `out`."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("is there already", file=out, remedy="name a new folder with --out")


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A folder beside `out`, moved there when all is written and removed otherwise. Raises InputError."""
    check_new(out)
    beside = out.with_name(f".{out.name}.{os.getpid()}.part")
    beside.mkdir(parents=True)
    try:
        yield beside
        if out.exists():
            out.rmdir()
        os.replace(beside, out)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def write_beir_qrels(path: Path, qrels: Qrels) -> None:
    """BEIR's table of labels, with its heading. Raises InputError for an id that it cannot hold."""
    check_trec_ids(qrels, path)
    lines = [f"{query}\t{passage}\t{label}\n" for query, row in qrels.items() for passage, label in row.items()]
    write_text(path, "".join(["query-id\tcorpus-id\tscore\n", *lines]))


def check_trec_ids(rows: Rankings | Qrels, file: Path) -> None:
    """Raises InputError for an id with white space, which tables of labels and runs cannot hold."""
    for query, row in rows.items():
        for id in (query, *(one if isinstance(one, str) else one[0] for one in row)):
            check_trec_id(id, file)


def check_trec_id(id: str, file: Path) -> None:
    """Raises InputError for an id with white space."""
    if not id or id.split() != [id]:
        problem = f"the id '{plain(id)}' has white space, which a TREC run and qrels cannot hold"
        raise InputError(problem, file=file.name, remedy="give it another id")


def agent_name(name: str) -> str:
    """A name that can be a file's: letters, digits, dots, underscores and hyphens."""
    return _NO_NAME.sub("-", name).strip("-.") or "agent"
