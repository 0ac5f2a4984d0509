"""Data sets: BEIR's and Hugging Face's, folders of tables, which hold all that there is; and TREC's files: queries,
qrels, runs, documents, and answers of its RAG track (2024).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from ragassay.errors import InputError
from ragassay.files import (
    Qrels,
    Rankings,
    json_line,
    read_objects,
    read_qrels,
    read_run,
    read_text,
    record_of,
    write_qrels,
    write_records,
    write_run,
    write_text,
)
from ragassay.layouts.cells import unpacked
from ragassay.layouts.questions import TrecCollection, is_trec_collection, read_queries_file
from ragassay.layouts.tables import TrecRag
from ragassay.records import Answer, Game, Passage, Query
from ragassay.text import csv_cell, listed, plain

from ...inputs.findings import by_id
from ...texts.sentences import cited, sentences, without_citations
from .collection import (
    Collection,
    Gathering,
    agent_name,
    check_trec_id,
    check_trec_ids,
    read_answer_files,
    write_beir_qrels,
)
from .format import OF_AGENTS, OF_COST, OF_QUERIES, OF_TESTS, Format, Losses, answers_of, parts


class Beir(Format):
    """BEIR's folder: corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv (https://github.com/beir-cellar/beir)."""

    name = "beir"
    title = "BEIR's data sets"
    loses = parts("answers", *OF_TESTS)
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
        chosen = next((path for path in splits if path.stem == "test"), next(iter(splits), None))
        left = [f"qrels/{path.name}" for path in splits if path != chosen]
        queries, passages = by_id(folder / "queries.jsonl", Query), by_id(folder / "corpus.jsonl", Passage)
        told = f"not used: {plain(listed(left))}; the labels are those of qrels/{chosen.name if chosen else ''}"
        qrels = read_qrels(chosen) if chosen else {}
        return Collection(queries, passages, qrels, notes=(told,) if left else ())


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
        paths = {name: sources[0] / f"{name}.jsonl" for name in TABLES}
        there = {name: read_objects(path) if path.is_file() else () for name, path in paths.items()}
        rows = {name: [(paths[name], line, row) for line, row in found] for name, found in there.items()}
        if not rows["queries"]:
            raise InputError("has no queries", file=sources[0] / "queries.jsonl")
        gathering, qrels, rankings = Gathering(), Qrels(), dict[str, Rankings]()
        for path, line, row in rows["queries"]:
            query = record_of(_deep(row, path, line), Query, path, line)
            gathering.query(query.id, query.text, path, line, query.metadata)
        for path, line, row in rows["corpus"]:
            gathering.passage(_deep(row, path, line), path, line)
        for path, line, row in rows["qrels"]:
            query_id, passage_id, label = _fields(row, _QREL, path, line)
            if qrels.setdefault(query_id, {}).setdefault(passage_id, label) != label:
                raise InputError(f"gives '{plain(passage_id)}' a second label", file=path, line=line)
        for path, line, row in rows["rankings"]:
            agent, query_id, passage_id, score = _fields(row, _RANKING, path, line)
            ranked = rankings.setdefault(agent_name(agent), {}).setdefault(query_id, [])
            if ranked and ranked[-1][1] <= score:
                raise InputError("'score' does not fall from rank to rank", file=path, line=line)
            ranked.append((passage_id, score))
        for path, line, row in rows["answers"]:
            if (id := row.get("query_id")) not in gathering.queries:
                raise InputError(f"query '{plain(str(id))}' is not in queries.jsonl", file=path, line=line)
            gathering.answer(str(row.get("agent")), row, path, line)
        games = tuple(record_of(row, Game, path, line) for path, line, row in rows["games"])
        unknown = sorted(path.name for path in sources[0].glob("*.jsonl") if path.stem not in TABLES)
        notes = [f"not used: {plain(listed(unknown))}"] if unknown else []
        return gathering.collection(qrels=qrels, rankings=rankings, games=games, notes=(*gathering.notes, *notes))


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


_TREC = (
    "TREC's are topics or lines of id, tab and text; qrels (4 columns); runs (6 columns); documents (<DOC>); "
    "and answers of the RAG track (.jsonl with topic_id)"
)
_SUFFIXES = (".trec", ".txt", ".tsv", ".qrels", ".run", ".jsonl", ".topics", ".xml", ".sgml")


def _unlike(collection: Collection) -> int:
    """Answers that are another text when their sentences and citations are put together again."""
    read = TrecRag.columns["answer"].read
    whole = [answer for answer in answers_of(collection) if answer.answer is not None]
    return sum(read(rag_row(answer, collection)["answer"]) != answer.answer for answer in whole)


class Trec(Format):
    """TREC's files: topics, qrels, runs, documents, and answers as the RAG track takes them."""

    name = "trec"
    title = "TREC's files"
    loses: ClassVar[Losses] = {
        **parts("white space of queries", *OF_QUERIES, "white space of passages", "metadata of passages"),
        **parts("answers that failed"),
        "what stands in answers besides sentences and citations": _unlike,
        "repeated passages of answers": lambda made: sum(
            len(set(one.passages)) < len(one.passages) for one in answers_of(made)
        ),
        **parts(*OF_AGENTS, *OF_COST, "games"),
    }

    def write(self, collection: Collection, folder: Path) -> None:
        """queries.tsv, qrels.trec, documents.trec, runs/AGENT.trec and answers/AGENT.jsonl.

        Raises InputError for an id with white space.
        """
        for id in (*collection.queries, *collection.passages):
            check_trec_id(id, folder / "queries.tsv" if id in collection.queries else folder / "documents.trec")
        lines = (f"{q.id}\t{csv_cell(_one_line(q.text))}\n" for q in collection.queries.values())
        write_text(folder / "queries.tsv", "".join(lines))
        if collection.qrels:
            check_trec_ids(collection.qrels, folder / "qrels.trec")
            write_qrels(folder / "qrels.trec", collection.qrels)
        for agent, ranking in collection.rankings.items():
            if ranking:
                check_trec_ids(ranking, folder / f"{agent}.trec")
                write_run(folder / "runs" / f"{agent}.trec", ranking, agent)
        if collection.passages:
            write_text(folder / "documents.trec", "".join(map(_document, collection.passages.values())))
        for agent, answers in collection.answers.items():
            if rows := [rag_row(answer, collection) for answer in answers.values() if answer.answer is not None]:
                write_text(folder / "answers" / f"{agent}.jsonl", "".join(map(json_line, rows)))

    def read(self, sources: Sequence[Path]) -> Collection:
        """The collection of the files, or of those in folders and their folders. Raises InputError."""
        found: dict[str, list[Path]] = {"answers": [], "topics": [], "documents": [], "run": [], "qrels": []}
        there = [path for one in sources if one.is_dir() for path in sorted(one.iterdir())]
        there += [path for one in there if one.is_dir() for path in sorted(one.iterdir())]
        files = [one for one in sources if one.is_file()]
        for path in [*files, *(path for path in there if path.is_file() and path.suffix.lower() in _SUFFIXES)]:
            found[_kind(path)].append(path)
        gathering = Gathering()
        for path in found["topics"]:
            for query in read_queries_file(path):
                gathering.query(query.id, query.text, path, None, query.metadata)
        for path in found["documents"]:
            for passage in TrecCollection(path):
                gathering.passage(passage.model_dump(), path, None)
        for path in found["qrels"]:
            for query_id, row in read_qrels(path).items():
                for passage_id, label in row.items():
                    if gathering.qrels.setdefault(query_id, {}).setdefault(passage_id, label) != label:
                        told = f"another label for query '{plain(query_id)}' than a file before"
                        raise InputError(f"gives '{plain(passage_id)}' {told}", file=path)
        rankings = _runs(found["run"])
        answered = read_answer_files(found["answers"], "trec-rag") if found["answers"] else Collection()
        for query in answered.queries.values():
            gathering.query(query.id, query.text, found["answers"][0], None)
        notes = (*gathering.notes, *answered.notes)
        return gathering.collection(rankings=rankings, answers=answered.answers, notes=notes)


def _document(passage: Passage) -> str:
    title = f"<TITLE>{escape(_one_line(passage.title), quote=False)}</TITLE>\n" if passage.title.strip() else ""
    text = f"<TEXT>{escape(_one_line(passage.text), quote=False)}</TEXT>\n"
    return f"<DOC>\n<DOCNO>{escape(passage.id, quote=False)}</DOCNO>\n{title}{text}</DOC>\n"


def rag_row(answer: Answer, collection: Collection) -> dict[str, Any]:
    """The answer as the RAG track has it: sentences, each with the places in `references` that it cites, from 0."""
    text, references = answer.answer or "", list(dict.fromkeys(answer.passages))
    said = []
    for sentence in sentences(text):
        named = [answer.passages[number - 1] for number in cited(sentence) if 0 < number <= len(answer.passages)]
        citations = list(dict.fromkeys(references.index(id) for id in named))
        said.append({"text": without_citations(sentence), "citations": citations})
    query = collection.queries.get(answer.query_id)
    return {
        "run_id": answer.agent,
        "topic_id": answer.query_id,
        "topic": _one_line(query.text) if query else "",
        "references": references,
        "response_length": len(text.split()),
        "answer": said,
    }


def _kind(path: Path) -> str:
    table = path.suffix.lower() != ".jsonl"
    if table and is_trec_collection(path):
        with path.open("rb") as stream:
            return "topics" if re.match(rb"\W*(<\?xml[^>]*>\s*)?<top", stream.read(4096), re.I) else "documents"
    first = next((line for line in read_text(path).split("\n") if line.strip()), "")
    if not table:
        return "answers" if isinstance(row := unpacked(first), Mapping) and "topic_id" in row else "topics"
    cells = first.split()
    if len(cells) == 6 and cells[1].upper() == "Q0":
        return "run"
    if len(cells) == 4 and cells[3].lstrip("-").isdecimal():
        return "qrels"
    if first.count("\t") == 1:
        return "topics"
    raise InputError("is no file of TREC's", file=path, line=1, remedy=_TREC)


def _runs(paths: Sequence[Path]) -> dict[str, Rankings]:
    """Agent, which is the run's tag, to its rankings."""
    found: dict[str, Rankings] = {}
    for path in paths:
        tags = list(dict.fromkeys(line.split()[5] for line in read_text(path).split("\n") if len(line.split()) == 6))
        if len(tags) != 1:
            problem = f"is of {len(tags)} runs ({plain(listed(tags[:3]))})"
            raise InputError(problem, file=path, remedy="give a file each")
        name = agent_name(tags[0])
        if name in found:
            raise InputError(f"is a second run of '{plain(name)}'", file=path)
        found[name] = read_run(path)
    return found


def _one_line(text: str) -> str:
    return " ".join(text.split())
