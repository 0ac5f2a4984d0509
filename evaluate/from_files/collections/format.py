"""A format of collections, both ways, and what it cannot hold: each part has a name and is counted, so that a loss is
named. A format is a class of a module of this folder, or another package's by the entry point `ragassay.exports`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from ragassay.errors import InputError
from ragassay.experiment.plugins import classes_in, plugin
from ragassay.files import read_qrels
from ragassay.layouts.answers import layouts
from ragassay.layouts.cells import LOG
from ragassay.records import Answer, Passage, Query, Usage
from ragassay.text import listed, plain

from ...inputs.findings import by_id
from .collection import Collection, read_answer_files

Count = Callable[[Collection], int]
Losses = Mapping[str, Count]
"""What a format cannot hold: the name of a part to how many of it a collection has."""


class Format(ABC):
    """title: what messages call it. source: the `--from` that reads what it writes, its own name where None.

    loses: part by part, what it cannot hold of a collection; that and nothing else is another when it is read again,
    but for conversations and steps (`OF_TURNS`), which only those hold that say so (keeps_turns).
    layouts: of the files of answers that it is read from, those in folders and their folders too; any where empty.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str | None] = None
    loses: ClassVar[Losses] = MappingProxyType({})
    keeps_turns: ClassVar[bool] = False
    layouts: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def write(self, collection: Collection, folder: Path) -> None:
        """Write the collection into the folder. Raises InputError for what the format cannot have."""

    def read(self, sources: Sequence[Path]) -> Collection:
        """The collection of files or folders. Raises InputError."""
        return read_files(sources, self.layouts)


def read_files(sources: Sequence[Path], layouts: Sequence[str] = ()) -> Collection:
    """The collection of files of answers, in one of the layouts; those in folders, and in their folders, too.

    Files called `corpus.jsonl` (BEIR) and `qrels.tsv` are their passages and labels. Raises InputError.
    """
    suffixes = (".jsonl", ".json", ".csv", ".tsv", ".xlsx", LOG)

    def has_files(folder: Path) -> bool:
        return any(path.suffix.lower() in suffixes for path in folder.iterdir())

    inner = [path for one in sources if one.is_dir() for path in sorted(one.iterdir()) if path.is_dir()]
    here = [one for one in sources if not one.is_dir() or has_files(one)]
    files = in_folders([*here, *filter(has_files, inner)] or sources, suffixes)
    passages, labels = ([one for one in files if one.name == name] for name in ("corpus.jsonl", "qrels.tsv"))
    known = {id: passage for path in passages for id, passage in by_id(path, Passage).items()}
    rest = [one for one in files if one not in (*passages, *labels)] or files
    made = read_answer_files(rest, *layouts, passages=known)
    for path in labels:
        for query, row in read_qrels(path).items():
            made.qrels.setdefault(query, {}).update(row)
    return made


@cache
def formats() -> dict[str, Format]:
    """Ours by name: what `--to` takes; `--from` takes those without a `source`."""
    kinds = classes_in(__package__, Format)  # type: ignore[type-abstract]
    return {kind.name: kind() for kind in kinds if "name" in vars(kind)}


def format_named(name: str) -> Format:
    """Ours or another package's. Raises InputError where there is none of this name."""
    if name in formats():
        return formats()[name]
    if theirs := plugin("exports", name, Format):  # type: ignore[type-abstract]
        return theirs()
    raise InputError(f"'{plain(name)}' is no format", remedy=f"there are {listed(list(formats()))}")


def sources() -> list[str]:
    """What `--from` takes of ours: formats that are read, and layouts of answers that none of them has for its name."""
    return list(dict.fromkeys([*(name for name, one in formats().items() if one.source is None), *layouts()]))


def read_named(name: str, sources: Sequence[Path]) -> Collection:
    """What the sources hold in a format, or as answers in a layout, of this name. Raises InputError."""
    if name in layouts() and name not in formats():
        return read_files(sources, (name,))
    return format_named(name).read(sources)


def in_folders(sources: Sequence[Path], suffixes: Sequence[str]) -> list[Path]:
    """The files, and those in folders with one of the suffixes. Raises InputError where there is none."""
    found = []
    for source in sources:
        there = sorted(source.iterdir()) if source.is_dir() else [source]
        inside = [path for path in there if path == source or path.suffix.lower() in suffixes]
        if not inside:
            raise InputError(f"holds no file with {listed(suffixes)}", file=source)
        found += inside
    return found


EXPECTED = "expected_response"


def not_held(title: str, losses: Losses, collection: Collection) -> list[str]:
    """One sentence that names each part that is lost, with how many; none where nothing is."""
    counted = {name: count(collection) for name, count in losses.items()}
    lost = [f"{plain(name)} ({n})" for name, n in counted.items() if n]
    return [f"not held by {title}: {listed(lost)}"] if lost else []


def answers_of(collection: Collection) -> Iterator[Answer]:
    """Every answer, agent by agent."""
    return (answer for rows in collection.answers.values() for answer in rows.values())


def expected_text(query: Query) -> str | None:
    """The expected answer where it is a text that is not blank; anything else is metadata like other."""
    found = query.metadata.get(EXPECTED)
    return found if isinstance(found, str) and found.strip() else None


def told_besides(query: Query) -> dict[str, Any]:
    """What is told of the query besides the expected answer."""
    return {name: value for name, value in query.metadata.items() if name != EXPECTED or expected_text(query) is None}


def told_of_queries(collection: Collection, besides: Sequence[str] = ()) -> int:
    """Queries with metadata besides the expected answer and fields that are held."""
    return sum(bool(told_besides(query).keys() - set(besides)) for query in collection.queries.values())


def unanswered(collection: Collection) -> list[Query]:
    """Queries for which no agent has an answer or a failure."""
    asked = {answer.query_id for answer in answers_of(collection)}
    return [query for id, query in collection.queries.items() if id not in asked]


def _spaced(texts: Iterable[str]) -> int:
    """Texts with white space that single spaces do not stand for."""
    return sum(" ".join(text.split()) != text for text in texts)


def _unnamed(collection: Collection) -> set[str]:
    """Passages that no answer names."""
    return collection.passages.keys() - {id for answer in answers_of(collection) for id in answer.passages}


def _unused(collection: Collection) -> int:
    right = {id for row in collection.qrels.values() for id, label in row.items() if label >= 1}
    return len(_unnamed(collection) - right)


def _grades(collection: Collection) -> int:
    """Labels besides 1: one above it is read back as 1, one below it has no place."""
    return sum(label != 1 for row in collection.qrels.values() for label in row.values())


def _textless_labels(collection: Collection) -> int:
    """Labels of passages whose text is not at hand, or of queries that are not."""
    rows = collection.qrels.items()
    return sum(id not in collection.passages or query not in collection.queries for query, row in rows for id in row)


def _textless_places(collection: Collection) -> int:
    """Places of answers that name a passage whose text is not at hand."""
    return sum(id not in collection.passages for answer in answers_of(collection) for id in answer.passages)


PARTS: Losses = {
    "ids of queries": lambda made: len(made.queries),
    "expected answers": lambda made: sum(expected_text(one) is not None for one in made.queries.values()),
    "metadata of queries": told_of_queries,
    "white space of queries": lambda made: _spaced(one.text for one in made.queries.values()),
    "queries that nobody answered": lambda made: len(unanswered(made)) if made.answers else 0,
    "passages": lambda made: len(made.passages),
    "ids of passages": lambda made: len(made.passages),
    "titles of passages": lambda made: sum(bool(one.title) for one in made.passages.values()),
    "metadata of passages": lambda made: sum(bool(one.metadata) for one in made.passages.values()),
    "metadata of passages besides their document": lambda made: sum(
        bool(one.metadata.keys() - {"doc"}) for one in made.passages.values()
    ),
    "white space of passages": lambda made: _spaced(
        text for one in made.passages.values() for text in (one.title, one.text)
    ),
    "passages that no answer names": lambda made: len(_unnamed(made)),
    "passages that nobody names": _unused,
    "labels": lambda made: made.counts()["labels"],
    "grades of labels": _grades,
    "labels of passages without a text": _textless_labels,
    "answers": lambda made: made.counts()["answers"],
    "answers that failed": lambda made: sum(one.answer is None for one in answers_of(made)),
    "why answers failed": lambda made: sum(one.answer is None for one in answers_of(made)),
    "passages of answers": lambda made: sum(bool(one.passages) for one in answers_of(made)),
    "passages of answers without their text": _textless_places,
    "queries that agents asked instead": lambda made: sum(bool(one.queries) for one in answers_of(made)),
    "models and prompts of answers": lambda made: sum(
        one.model is not None or one.prompt is not None for one in answers_of(made)
    ),
    "tokens and costs": lambda made: sum(one.usage != Usage() for one in answers_of(made)),
    "latencies": lambda made: sum(one.latency_s is not None for one in answers_of(made)),
    "steps of answers": lambda made: sum(bool(one.hops) for one in answers_of(made)),
    "rankings": lambda made: sum(map(len, made.rankings.values())),
    "games": lambda made: len(made.games),
}


def parts(*names: str) -> Losses:
    """Those of `PARTS`."""
    return {name: PARTS[name] for name in names}


OF_TURNS: Losses = {
    "what was said before queries": lambda made: sum(bool(one.history) for one in made.queries.values()),
    "steps and calls of answers": lambda made: sum(bool(one.hops or one.calls) for one in answers_of(made)),
}
"""Of a format that has neither conversations nor agents' steps."""
OF_QUERIES = ("expected answers", "metadata of queries")
OF_AGENTS = ("queries that agents asked instead", "models and prompts of answers")
OF_COST = ("tokens and costs", "latencies")
OF_TESTS = ("rankings", "games")
