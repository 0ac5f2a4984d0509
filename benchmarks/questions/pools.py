"""Grades of what rankers find for written claims and questions: the evidence that `find` would give them.

    python -m benchmarks.questions.pools SCIFACT PDFS

SCIFACT is BEIR's folder, PDFS that of the two FAQs (`benchmarks.question_worth.faqs`). For each claim of the 199 that a
coin picks of `benchmarks.questions.write` (kept and rejected ones), each question written for the FAQs, eight of
people's of either that take no part in comparisons, and a hundred of people's claims that do, the pool is the first
five of BM25, KNN and their hybrid each (`[questions] pool_by` of all three), and the passage that it was written
from. Requests to the judge are written to results/benchmarks/pools, and the command ends with status 3 until
all replies are there: `python -m benchmarks.judges.take_replies pools FILE …` takes them in. With all of them it writes
results/benchmarks/pools/NAME.jsonl, a line a question: its grades by passage, and the place of each passage among the
first of each ranker.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.judges.take_replies import KEPT, WHO_JUDGED, WORK, awaited, judging, open_work
from benchmarks.question_worth import faqs
from benchmarks.question_worth.__main__ import CACHE
from benchmarks.questions import write
from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.errors import RagassayError, RepliesMissing
from ragassay.evaluate.judging.asked_again import in_batches
from ragassay.evaluate.judging.engine.cases import QueryCase
from ragassay.evaluate.judging.engine.rounds import judged
from ragassay.evaluate.judging.panel import panel_of
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_objects, read_qrels, read_records, write_records
from ragassay.models.encoders import OFFLINE_MODEL
from ragassay.records import Passage, Query, Record
from ragassay.retrieval.rankers.embedding import Embedder, model_identity
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache
from ragassay.retrieval.search import make_rankers

NAME = "pools"
RANKERS = ("bm25", "knn", "hybrid")
DEPTH = 5
WAYS = ("need", "blind")
EXPERT, PEOPLE = "expert", "people"
N_PEOPLE = 100


class Graded(Record):
    """A question with its pool. source: the passage it was written from; places: ranker to passages, best first.

    grades: passage to 0, 1 or 2; those whose grade failed are in `failed`.
    """

    id: str
    text: str
    kind: str
    kept: bool = True
    source: str | None = None
    places: dict[str, list[str]]
    grades: dict[str, int]
    failed: tuple[str, ...] = ()


def claims(scifact: Path, home: Workspace, caller: Caller) -> list[Query]:
    """Of each abstract the sighted or the blind claim, by a coin, and the experts. `metadata.kept`: by the evidence."""
    kept, rejected = write.questions(write.write(scifact, home, caller))
    of = {query.id: query.model_copy(update={"metadata": {**query.metadata, "kept": True}}) for query in kept}
    for one in rejected:
        id = f"{one.metadata['passage']}-{one.metadata['kind']}"
        of[id] = Query(id=id, text=one.text, metadata={**one.metadata, "kept": False})
    chance = random.Random(write.SEED)
    picked = [f"{section.doc}-{chance.choice(WAYS)}" for section in write.abstracts(scifact)]
    return [*(of[id] for id in picked if id in of), *_experts([one.text for one in write.experts(scifact)])]


def of_faqs(folder: Path) -> list[Query]:
    """The written questions, and of people's a few of which nothing is written."""
    rows = [Query.model_validate(row) for _, row in read_objects(folder / "questions.jsonl")]
    written = [query for query in rows if query.metadata["kind"] == "written"]
    about = {f"q-{query.metadata['passage']}" for query in written}
    free = [query for query in read_records(folder / "queries.jsonl", Query) if query.id not in about]
    drawn = random.Random(f"{write.SEED}:experts").sample(free, write.N_EXPERTS)
    return [*written, *(query.model_copy(update={"metadata": {"kind": EXPERT}}) for query in drawn)]


def of_people(scifact: Path) -> list[Query]:
    """Some of the claims by whose labels people order the retrievers."""
    judged = read_qrels(scifact / "qrels" / "test.tsv")
    drawn = set(random.Random(f"{write.SEED}:people").sample(sorted(judged), N_PEOPLE))
    rows = read_records(scifact / "queries.jsonl", Query)
    return [Query(id=query.id, text=query.text, metadata={"kind": PEOPLE}) for query in rows if query.id in drawn]


def _experts(texts: Sequence[str]) -> list[Query]:
    return [Query(id=f"{EXPERT}-{n}", text=text, metadata={"kind": EXPERT}) for n, text in enumerate(texts, 1)]


def places(passages: Sequence[Passage], queries: Sequence[Query]) -> list[dict[str, list[str]]]:
    """For each query the first `DEPTH` of each ranker."""
    embedder = Embedder(
        OFFLINE_MODEL, EmbeddingCache(model_identity(OFFLINE_MODEL), CACHE / "embeddings"), progress=_progress
    )
    rankers = make_rankers(RANKERS, passages, embedder, language="en", bm25="bm25s", rrf_k=60)
    found = {name: ranker.search([query.text for query in queries], DEPTH) for name, ranker in rankers.items()}
    return [{name: [id for id, _ in found[name][at]] for name in RANKERS} for at in range(len(queries))]


def _progress(done: int, total: int) -> None:
    print(f"embedded: {done} of {total} texts", file=sys.stderr)


def grade(
    part: str, passages: Mapping[str, Passage], queries: Sequence[Query], work: Path = WORK, kept: Path = KEPT
) -> list[Graded]:
    """The questions with their grades. Raises RepliesMissing until all replies are there."""
    found = places(list(passages.values()), queries)
    cases = []
    for query, by_ranker in zip(queries, found, strict=True):
        source = [query.metadata["passage"]] if "passage" in query.metadata else []
        pool = dict.fromkeys(id for row in (*by_ranker.values(), source) for id in row)
        cases.append(QueryCase(query, tuple(passages[id] for id in pool), ()))
    home = open_work(NAME, part, work, judging({}))
    caller = Caller(home, "benchmark", ReplyCache(home.replies, [kept]))
    try:
        (rows,) = judged([in_batches(home, panel_of(home)).passages(cases)], caller)
    finally:
        caller.close()
    told: dict[str, dict[str, int | None]] = {query.id: {} for query in queries}
    for row in rows:
        told[row.query_id][row.subject] = None if row.label is None else int(row.label)
    return [
        Graded(
            id=query.id,
            text=query.text,
            kind=query.metadata["kind"],
            kept=query.metadata.get("kept", True),
            source=query.metadata.get("passage"),
            places=by_ranker,
            grades={id: label for id, label in told[query.id].items() if label is not None},
            failed=tuple(id for id, label in told[query.id].items() if label is None),
        )
        for query, by_ranker in zip(queries, found, strict=True)
    ]


def main(scifact: Path, pdfs: Path, *, work: Path = WORK) -> int:
    """Write the grades; 3 while replies are missing, 2 for what cannot be used."""
    folder, status = work / NAME / "faqs-collection", 0
    try:
        faqs.make(pdfs, folder)
        home = write.workspace(work)
        sets = {
            "scifact": (scifact, claims(scifact, home, write.open_caller(home))),
            "faqs": (folder, of_faqs(folder)),
            "scifact-people": (scifact, of_people(scifact)),
        }
        for part, (collection, queries) in sets.items():
            passages = {one.id: one for one in read_records(collection / "corpus.jsonl", Passage)}
            try:
                graded = grade(part, passages, queries, work)
            except RepliesMissing as missing:
                print(awaited(NAME, part, missing), file=sys.stderr)
                status = missing.exit_status
                continue
            write_records(work / NAME / f"{part}.jsonl", graded)
            n = sum(len(one.grades) for one in graded)
            best = sum(2 in one.grades.values() for one in graded)
            print(f"{part}: {len(graded)} questions, {n} grades, {best} answered by a passage. {WHO_JUDGED}.")
    except RagassayError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    return status


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
