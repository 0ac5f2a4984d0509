"""What is compared: a collection with people's queries and qrels, and written questions with their sources."""

from __future__ import annotations

from collections.abc import Collection as Ids
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.evaluate.inputs.clusters import ALONE, Clusters
from ragassay.files import Qrels, first_problem, read_objects, read_qrels, read_records
from ragassay.records import Passage, Query
from ragassay.retrieval.rankers.ranker import CorpusFile, check_ids
from ragassay.text import plain

FEWEST = 20
"""People's queries: halves of fewer say nothing about an order."""

ALL = "all"
"""What the questions of all kinds together are reported as."""


@dataclass(frozen=True)
class Asked:
    """Queries with the passages that are relevant to each. clusters: which of them go together; each alone by default.

    texts: query id to text. qrels: of the same queries. n_failed: judged queries of which no relevant passage is in
    the corpus.
    """

    texts: Mapping[str, str]
    qrels: Qrels
    clusters: Clusters = ALONE
    n_failed: int = 0


@dataclass(frozen=True)
class Question:
    """A written question and the passages it was made from."""

    id: str
    text: str
    kind: str
    sources: tuple[str, ...]


def read_passages(path: Path) -> list[Passage]:
    """The passages of a `corpus.jsonl`. Raises InputError."""
    return list(check_ids(CorpusFile(path), "passages", path))


def read_people(queries: Path, qrels: Path, passages: Ids[str], left_out: Ids[str] = ()) -> Asked:
    """The judged queries but those `left_out`.

    Raises InputError where a judged query has no text, one to be left out is not there, and below `FEWEST` queries.
    """
    labels, texts = read_qrels(qrels), {query.id: query.text for query in read_records(queries, Query)}
    if unknown := sorted(set(left_out) - labels.keys()):
        raise InputError(f"has no query '{plain(unknown[0])}' to leave out", file=qrels)
    judged = {query: row for query, row in labels.items() if query not in left_out}
    if unknown := sorted(judged.keys() - texts.keys()):
        raise InputError(f"does not have query '{plain(unknown[0])}', which {qrels} judges", file=queries)
    known = {query: row for query, row in judged.items() if any(p in passages for p, label in row.items() if label > 0)}
    if len(known) < FEWEST:
        problem = f"has {len(known)} queries with a relevant passage of the corpus; an order needs {FEWEST}"
        raise InputError(problem, file=qrels, remedy="give a collection with more of people's judgments")
    return Asked({query: texts[query] for query in known}, known, n_failed=len(judged) - len(known))


def read_questions(path: Path, passages: Ids[str]) -> list[Question]:
    """The written questions, each with its kind and the passages it was made from.

    These are the ids in the first there is of `metadata.passage`, `metadata.evidence`, `evidence` and `metadata.doc`:
    a text, an object with `passage` or `doc`, or a list of such. Raises InputError, with the line.
    """
    questions: dict[str, Question] = {}
    for line, row in read_objects(path):
        question = _question(row, path, line)
        if unknown := [source for source in question.sources if source not in passages]:
            problem = f"was made from passage '{plain(unknown[0])}', which the corpus does not have"
            raise InputError(problem, file=path, line=line, remedy="give the corpus that the question was made from")
        if questions.setdefault(question.id, question) is not question:
            raise InputError(f"is a second question '{plain(question.id)}'", file=path, line=line)
    if not questions:
        raise InputError("holds no questions", file=path)
    return list(questions.values())


def _question(row: Mapping[str, Any], path: Path, line: int) -> Question:
    try:
        query = Query.model_validate(row)
    except ValidationError as error:
        raise InputError(first_problem(error), file=path, line=line) from None
    kind = query.metadata.get("kind")
    if not isinstance(kind, str) or not kind.strip():
        raise InputError("has no metadata.kind", file=path, line=line, remedy="say which way the question was written")
    if kind == ALL:
        raise InputError(f"has the kind '{ALL}', which stands for all kinds together", file=path, line=line)
    given = (query.metadata.get("passage"), query.metadata.get("evidence"), row.get("evidence"))
    named = next((value for value in (*given, query.metadata.get("doc")) if value), None)
    sources = tuple(dict.fromkeys(_ids(named)))
    if not sources:
        problem = "names no passage that it was made from"
        raise InputError(problem, file=path, line=line, remedy="give its id as metadata.passage, or leave it out")
    return Question(query.id, query.text, kind, sources)


def _ids(named: object) -> Iterator[str]:
    if isinstance(named, str):
        yield named
    elif isinstance(named, Mapping):
        yield from _ids(named.get("passage") or named.get("doc"))
    elif isinstance(named, Sequence):
        for one in named:
            yield from _ids(one)


def asked(questions: Sequence[Question]) -> Asked:
    """Written questions as queries to which their sources alone are relevant; those of one source go together."""
    return Asked(
        {question.id: question.text for question in questions},
        {question.id: dict.fromkeys(question.sources, 1) for question in questions},
        Clusters.named([question.id for question in questions], [question.sources[0] for question in questions]),
    )


def by_kind(questions: Sequence[Question]) -> dict[str, list[Question]]:
    """The questions of each kind, in the order in which kinds come first, and then of all."""
    kinds: dict[str, list[Question]] = {question.kind: [] for question in questions}
    for question in questions:
        kinds[question.kind].append(question)
    return {**kinds, ALL: list(questions)}
