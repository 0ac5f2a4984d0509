"""TREC's files: queries, qrels, runs, documents, and answers of its RAG track (2024)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from ragassay.errors import InputError
from ragassay.files import (
    Qrels,
    Rankings,
    json_line,
    read_qrels,
    read_run,
    read_text,
    write_qrels,
    write_run,
    write_text,
)
from ragassay.layouts.questions import TrecCollection, is_trec_collection, read_queries_file
from ragassay.layouts.tables import TrecRag
from ragassay.records import Answer, Passage
from ragassay.text import csv_cell, listed, plain

from ...texts.sentences import cited, sentences, without_citations
from .collection import Collection, Gathering, agent_name, check_trec_id, check_trec_ids, read_answer_files
from .format import (
    OF_AGENTS,
    OF_COST,
    OF_QUERIES,
    Format,
    Losses,
    answers_of,
    failures,
    games,
    spaced_passages,
    spaced_queries,
    told_of_passages,
)

REMEDY = (
    "TREC's are topics or lines of id, tab and text; qrels (4 columns); runs (6 columns); documents (<DOC>); "
    "and answers of the RAG track (.jsonl with topic_id)"
)
_SUFFIXES = (".trec", ".txt", ".tsv", ".qrels", ".run", ".jsonl", ".topics", ".xml", ".sgml")


def _unlike(collection: Collection) -> int:
    """Answers that are another text when their sentences and citations are put together again."""
    read = TrecRag.columns["answer"].read
    whole = [answer for answer in answers_of(collection) if answer.answer is not None]
    return sum(read(rag_row(answer, collection)["answer"]) != answer.answer for answer in whole)


def _repeated(collection: Collection) -> int:
    """Answers that name a passage twice."""
    return sum(len(set(one.passages)) < len(one.passages) for one in answers_of(collection))


class Trec(Format):
    """TREC's files: topics, qrels, runs, documents, and answers as the RAG track takes them."""

    name = "trec"
    title = "TREC's files"
    loses: ClassVar[Losses] = {
        "white space of queries": spaced_queries,
        **OF_QUERIES,
        "white space of passages": spaced_passages,
        "metadata of passages": told_of_passages,
        "answers that failed": failures,
        "what stands in answers besides sentences and citations": _unlike,
        "repeated passages of answers": _repeated,
        **OF_AGENTS,
        **OF_COST,
        "games": games,
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
            if not ranking:
                continue
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
        folders = [path for one in sources if one.is_dir() for path in sorted(one.iterdir()) if path.is_dir()]
        files = [one for one in sources if one.is_file()]
        inside = [path for one in (*sources, *folders) if one.is_dir() for path in sorted(one.iterdir())]
        for path in [*files, *(path for path in inside if path.is_file() and path.suffix.lower() in _SUFFIXES)]:
            found[_kind(path)].append(path)
        gathering = Gathering()
        for path in found["topics"]:
            for query in read_queries_file(path):
                gathering.query(query.id, query.text, path, None, query.metadata)
        for path in found["documents"]:
            for passage in TrecCollection(path):
                gathering.passage(passage.model_dump(), path, None)
        for path in found["qrels"]:
            _add_labels(gathering.qrels, read_qrels(path), path)
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
    made = []
    for sentence in sentences(text):
        named = [answer.passages[number - 1] for number in cited(sentence) if 0 < number <= len(answer.passages)]
        citations = list(dict.fromkeys(references.index(id) for id in named))
        made.append({"text": without_citations(sentence), "citations": citations})
    query = collection.queries.get(answer.query_id)
    return {
        "run_id": answer.agent,
        "topic_id": answer.query_id,
        "topic": _one_line(query.text) if query else "",
        "references": references,
        "response_length": len(text.split()),
        "answer": made,
    }


def _kind(path: Path) -> str:
    if path.suffix.lower() == ".jsonl":
        first = next((line for line in read_text(path).split("\n") if line.strip()), "{}")
        try:
            row = json.loads(first)
        except (ValueError, RecursionError):
            row = {}
        return "answers" if isinstance(row, Mapping) and "topic_id" in row else "topics"
    if is_trec_collection(path):
        with path.open("rb") as stream:
            return "topics" if re.match(rb"\W*(<\?xml[^>]*>\s*)?<top", stream.read(4096), re.I) else "documents"
    first = next((line for line in read_text(path).split("\n") if line.strip()), "")
    columns = len(first.split())
    if columns == 6 and first.split()[1].upper() == "Q0":
        return "run"
    if columns == 4 and first.split()[3].lstrip("-").isdecimal():
        return "qrels"
    if first.count("\t") == 1:
        return "topics"
    raise InputError("is no file of TREC's", file=path, line=1, remedy=REMEDY)


def _add_labels(qrels: Qrels, more: Qrels, path: Path) -> None:
    for query, row in more.items():
        for passage, label in row.items():
            if qrels.setdefault(query, {}).setdefault(passage, label) != label:
                problem = f"gives '{plain(passage)}' another label for query '{plain(query)}' than a file before"
                raise InputError(problem, file=path)


def _runs(paths: Sequence[Path]) -> dict[str, Rankings]:
    """Agent, which is the run's tag, to its rankings."""
    found: dict[str, Rankings] = {}
    for path in paths:
        tags = list(dict.fromkeys(line.split()[5] for line in read_text(path).split("\n") if len(line.split()) == 6))
        if len(tags) != 1:
            raise InputError(
                f"is of {len(tags)} runs ({plain(listed(tags[:3]))})", file=path, remedy="give a file each"
            )
        name = agent_name(tags[0])
        if name in found:
            raise InputError(f"is a second run of '{plain(name)}'", file=path)
        found[name] = read_run(path)
    return found


def _one_line(text: str) -> str:
    return " ".join(text.split())
