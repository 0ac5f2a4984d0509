"""The labelled sets that our judges' prompts are held against, each with its drawn rows and the judge of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.judges.agreement import read_tsv
from benchmarks.judges.take_replies import evaluator
from ragassay.evaluate.agreement.labelled_sets import (
    LabelledSet,
    answered,
    expected_text,
    read_relevance,
    read_rows,
    sample,
)
from ragassay.evaluate.agreement.meta_eval import Relevant
from ragassay.evaluate.judging.engine.cases import Prompts
from ragassay.evaluate.judging.engine.evaluator import Evaluator
from ragassay.files import read_qrels, read_records, write_records
from ragassay.records import Query
from ragassay.retrieval.search import search_files

N, SEED = 100, 7
SUPPORT = "completely-support"
WORDINGS: tuple[Prompts, ...] = ("ragassay", "paper")
BOTH = "both wordings"


@dataclass(frozen=True)
class Task:
    """A judge and its drawn rows; readings: what counts as yes of people's labels, and from which label of its own.

    evaluators: by wording, or one under `BOTH` where it asks the same in either.
    """

    evaluators: Mapping[str, Evaluator]
    labelled: LabelledSet
    readings: tuple[tuple[Relevant, float], ...]

    @property
    def judge(self) -> str:
        """Its name."""
        return next(iter(self.evaluators.values())).name


def worded(name: str, wordings: Sequence[Prompts], **options: str) -> dict[str, Evaluator]:
    """A judge in each of the wordings, or under `BOTH` where it has one prompt."""
    found = {wording: evaluator(name, wording, **options) for wording in wordings}
    one = next(iter(found.values()))
    return {BOTH: one} if one.ragassay_prompt is None else dict(found)


def factcheckgpt(folder: Path, wordings: Sequence[Prompts] = WORDINGS) -> Task:
    """Claims with one passage of evidence each; the claim is judged whole."""
    everything = read_rows(folder / "subtask3_claim_evidence_stance.jsonl")
    stances = defaultdict(set)
    for row in everything.rows:
        stances[row.cluster, row.case.passages[0].text].add(row.label)
    rows = tuple(row for row in everything.rows if len(stances[row.cluster, row.case.passages[0].text]) == 1)
    complete = Relevant(frozenset({SUPPORT}), SUPPORT)
    partly = Relevant(frozenset({SUPPORT, "partially-support"}), f"{SUPPORT} or partially-support")
    drawn = sample(replace(everything, rows=rows), N, SEED, complete.labels, apart=True)
    return Task(worded("groundedness", wordings, split="whole"), drawn, ((complete, 2), (complete, 3), (partly, 2)))


def scifact(folder: Path, work: Path, wordings: Sequence[Prompts] = WORDINGS) -> Task:
    """(query, passage) pairs; the queries are statements, and what contradicts one is relevant to it as well."""
    qrels, run, queries = folder / "qrels" / "test.tsv", work / "bm25.trec", work / "queries.jsonl"
    labels = read_qrels(qrels)
    write_records(queries, [query for query in read_records(folder / "queries.jsonl", Query) if query.id in labels])
    search_files(folder / "corpus.jsonl", queries, "bm25", embedding="none", k=10, out=run)
    everything = read_relevance(qrels, folder / "corpus.jsonl", queries, negatives=run, depth=10)
    relevant = Relevant(frozenset({1.0}), "in the qrels")
    drawn = sample(everything, N, SEED, {1.0}, apart=True)
    return Task(worded("context_relevance", wordings), drawn, ((relevant, 2),))


def nq301(folder: Path, wordings: Sequence[Prompts] = WORDINGS) -> Task:
    """Answers to questions of which people know the answers."""
    accepted = Relevant(frozenset({1.0}), "accepted")
    drawn = sample(nq301_answers(folder), N, SEED, apart=True)
    return Task(worded("correctness", wordings), drawn, ((accepted, 1),))


def nq301_answers(folder: Path) -> LabelledSet:
    """All answers to the 301 questions, with the gold answers and whether people accepted them; ids are row-1, ….

    The four files of the set have the same rows in the same order, each with a spelling of its own.
    """
    rows = []
    people, bem = read_tsv(folder / "NQ301_human.tsv"), read_tsv(folder / "NQ301_BEM.tsv")
    for number, (row, beside) in enumerate(zip(people, bem, strict=True), 1):
        expected = expected_text([one.strip() for one in unquoted(beside["Gold answers"]).split(" | ")])
        label = {"Yes": 1.0, "No": 0.0}[row["Acceptable?"]]
        answer = unquoted(row["Model answer"])
        rows.append(answered(f"row-{number}", row["Question"], answer, label, row["id"], expected=expected))
    return LabelledSet("nq301", "correctness", tuple(rows))


def unquoted(text: str) -> str:
    """A cell without the quotation marks that the file put around it."""
    quoted = len(text) > 1 and text.startswith('"') and text.endswith('"') and '"' not in text[1:-1].replace('""', "")
    return text[1:-1].replace('""', '"').strip() if quoted else text.strip()


def verdicts(folder: Path, file: str, labelled: LabelledSet) -> list[bool | None]:
    """What GPT-4, InstructGPT or BEM said of each row; None where they said nothing, or of another answer."""
    rows, said = read_tsv(folder / f"NQ301_{file}.tsv"), {"Yes": True, "No": False}
    beside = [rows[int(row.case.query.id.removeprefix("row-")) - 1] for row in labelled.rows]
    return [
        said.get(theirs["Acceptable?"]) if bare(theirs["Model answer"]) == bare(row.case.answers[0].text) else None
        for row, theirs in zip(labelled.rows, beside, strict=True)
    ]


def bare(text: str) -> str:
    """The letters and digits, which all files spell alike."""
    return "".join(filter(str.isalnum, text)).casefold()
