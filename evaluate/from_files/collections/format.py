"""A format of collections, both ways, and what it cannot hold: each part has a name and is counted, so that a loss is
named. A format is a class of a module of this folder, or another package's by the entry point `ragassay.exports`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    theirs = None if name in formats() else plugin("exports", name, Format)  # type: ignore[type-abstract]
    if name not in formats() and theirs is None:
        raise InputError(f"'{plain(name)}' is no format", remedy=f"there are {listed(list(formats()))}")
    return theirs() if theirs else formats()[name]


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
        inside = (
            [path for path in sorted(source.iterdir()) if path.suffix.lower() in suffixes] if source.is_dir() else []
        )
        if source.is_dir() and not inside:
            raise InputError(f"holds no file with {listed(suffixes)}", file=source)
        found += inside or [source]
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


def expected(collection: Collection) -> int:
    """Queries with an expected answer."""
    return sum(expected_text(query) is not None for query in collection.queries.values())


def told_of_queries(collection: Collection, besides: Sequence[str] = ()) -> int:
    """Queries with metadata besides the expected answer and fields that are held."""
    return sum(bool(told_besides(query).keys() - set(besides)) for query in collection.queries.values())


def query_ids(collection: Collection) -> int:
    """Ids of queries."""
    return len(collection.queries)


def unanswered(collection: Collection) -> int:
    """Queries for which no agent has an answer or a failure, where there is an agent."""
    asked = {answer.query_id for answer in answers_of(collection)}
    return len(collection.queries.keys() - asked) if collection.answers else 0


def spaced_queries(collection: Collection) -> int:
    """Queries whose text has white space that single spaces do not stand for."""
    return sum(" ".join(query.text.split()) != query.text for query in collection.queries.values())


def passages(collection: Collection) -> int:
    """Passages."""
    return len(collection.passages)


def spaced_passages(collection: Collection) -> int:
    """Passages whose title or text has white space that single spaces do not stand for."""
    whole = collection.passages.values()
    return sum(" ".join(text.split()) != text for one in whole for text in (one.title, one.text))


def unnamed_passages(collection: Collection) -> int:
    """Passages that no answer names."""
    return len(collection.passages.keys() - _named(collection))


def unused_passages(collection: Collection) -> int:
    """Passages that no answer names and no label calls relevant."""
    right = {id for row in collection.qrels.values() for id, label in row.items() if label >= 1}
    return len(collection.passages.keys() - _named(collection) - right)


def _named(collection: Collection) -> set[str]:
    return {id for answer in answers_of(collection) for id in answer.passages}


def titles(collection: Collection) -> int:
    """Passages with a title."""
    return sum(bool(passage.title) for passage in collection.passages.values())


def told_of_passages(collection: Collection) -> int:
    """Passages with metadata."""
    return sum(bool(passage.metadata) for passage in collection.passages.values())


def told_besides_doc(collection: Collection) -> int:
    """Passages with metadata besides the document that they are from."""
    return sum(bool(passage.metadata.keys() - {"doc"}) for passage in collection.passages.values())


def labels(collection: Collection) -> int:
    """Labels."""
    return collection.counts()["labels"]


def grades(collection: Collection) -> int:
    """Labels besides 1: one above it is read back as 1, one below it has no place."""
    return sum(label != 1 for row in collection.qrels.values() for label in row.values())


def labels_without_text(collection: Collection) -> int:
    """Labels of passages whose text is not at hand, or of queries that are not."""
    rows = collection.qrels.items()
    return sum(id not in collection.passages or query not in collection.queries for query, row in rows for id in row)


def answers(collection: Collection) -> int:
    """Answers and failures."""
    return collection.counts()["answers"]


def failures(collection: Collection) -> int:
    """Answers that failed."""
    return sum(answer.answer is None for answer in answers_of(collection))


def without_text(collection: Collection) -> int:
    """Places of answers that name a passage whose text is not at hand."""
    return sum(id not in collection.passages for answer in answers_of(collection) for id in answer.passages)


def asked_instead(collection: Collection) -> int:
    """Answers with the queries that an agent put in place of the one asked."""
    return sum(bool(answer.queries) for answer in answers_of(collection))


def models_and_prompts(collection: Collection) -> int:
    """Answers that say by which model or prompt they were made."""
    return sum(answer.model is not None or answer.prompt is not None for answer in answers_of(collection))


def usage(collection: Collection) -> int:
    """Answers with tokens or a cost."""
    return sum(answer.usage != Usage() for answer in answers_of(collection))


def latencies(collection: Collection) -> int:
    """Answers with a latency."""
    return sum(answer.latency_s is not None for answer in answers_of(collection))


def rankings(collection: Collection) -> int:
    """Rankings of a query by an agent."""
    return sum(map(len, collection.rankings.values()))


def games(collection: Collection) -> int:
    """Games."""
    return len(collection.games)


IDS_OF_QUERIES: Losses = {"ids of queries": query_ids}
OF_QUERIES: Losses = {"expected answers": expected, "metadata of queries": told_of_queries}
OF_FAILURES: Losses = {"why answers failed": failures}
OF_PLACES: Losses = {"passages of answers without their text": without_text}
OF_AGENTS: Losses = {
    "queries that agents asked instead": asked_instead,
    "models and prompts of answers": models_and_prompts,
}
OF_COST: Losses = {"tokens and costs": usage, "latencies": latencies}
OF_TURNS: Losses = {
    "what was said before queries": lambda made: sum(bool(one.history) for one in made.queries.values()),
    "steps and calls of answers": lambda made: sum(bool(one.hops or one.calls) for one in answers_of(made)),
}
"""Of a format that has neither conversations nor agents' steps."""
OF_TESTS: Losses = {"rankings": rankings, "games": games}
