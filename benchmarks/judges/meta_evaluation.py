"""What our judges' prompts are worth: groundedness, context relevance and correctness against people's labels.

    python -m benchmarks.judges.meta_evaluation DATA

DATA holds factcheckgpt, scifact, nq301 and paper_tables, each with its SOURCE.md. 100 rows of each set, drawn with
seed 7, are judged by recorded replies (benchmarks/replies); without them the requests are written to
results/benchmarks/meta_evaluation and the status is 3. How the rows are drawn:

- factcheckgpt: half completely-support, the other half evenly partially-support, irrelevant and refute; of a claim one
  row at most. In the whole set 21% are completely-support. Pairs that have two labels are left out.
- scifact: half pairs of qrels/test.tsv, half passages of BM25's first ten without a label, all of different queries.
- nq301: rows at random, of a question one at most; what was expected are the set's own gold answers.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.judges.agreement import read_tsv
from benchmarks.judges.take_replies import KEPT, WORK, awaited, evaluator, open_caller, open_work
from ragassay.errors import RepliesMissing
from ragassay.evaluate.agreement.labelled_sets import (
    LabelledSet,
    answered,
    expected_text,
    read_relevance,
    read_rows,
    sample,
)
from ragassay.evaluate.agreement.meta_eval import (
    BINARY,
    CrossTable,
    Relevant,
    judge_rows,
    meta_evaluate,
    verdict_figures,
)
from ragassay.evaluate.judging.engine.evaluator import Evaluator
from ragassay.files import read_records, write_records
from ragassay.records import Assessment, Figure, Query
from ragassay.retrieval.search import search_files
from ragassay.trec import read_qrels

N, SEED, BOOTSTRAP = 100, 7, 1000
NAME = "meta_evaluation"
SUPPORT = "completely-support"
PEERS = (("GPT-4", "gpt-4"), ("InstructGPT", "text-davinci-003"), ("BEM", "BEM"))
"""The verdicts that come with nq301, and their files."""


@dataclass(frozen=True)
class Task:
    """A judge and its drawn rows; readings: what counts as yes of people's labels, and from which label of its own."""

    evaluator: Evaluator
    labelled: LabelledSet
    readings: tuple[tuple[Relevant, float | None], ...]


def factcheckgpt(folder: Path) -> Task:
    """Claims with one passage of evidence each; the claim is judged whole."""
    everything = read_rows(folder / "subtask3_claim_evidence_stance.jsonl")
    stances = defaultdict(set)
    for row in everything.rows:
        stances[row.cluster, row.case.passages[0].text].add(row.label)
    rows = tuple(row for row in everything.rows if len(stances[row.cluster, row.case.passages[0].text]) == 1)
    complete = Relevant(frozenset({SUPPORT}), SUPPORT)
    partly = Relevant(frozenset({SUPPORT, "partially-support"}), f"{SUPPORT} or partially-support")
    drawn = sample(replace(everything, rows=rows), N, SEED, complete.labels, apart=True)
    return Task(evaluator("groundedness", split="whole"), drawn, ((complete, 2), (complete, 3), (partly, 2)))


def scifact(folder: Path, work: Path) -> Task:
    """(query, passage) pairs; the queries are statements, and what contradicts one is relevant to it as well."""
    qrels, run, queries = folder / "qrels" / "test.tsv", work / "bm25.trec", work / "queries.jsonl"
    labels = read_qrels(qrels)
    write_records(queries, [query for query in read_records(folder / "queries.jsonl", Query) if query.id in labels])
    search_files(folder / "corpus.jsonl", queries, "bm25", embedding="none", k=10, out=run)
    everything = read_relevance(qrels, folder / "corpus.jsonl", queries, negatives=run, depth=10)
    relevant = Relevant(frozenset({1.0}), "in the qrels")
    return Task(evaluator("context_relevance"), sample(everything, N, SEED, {1.0}, apart=True), ((relevant, 2),))


def nq301(folder: Path) -> LabelledSet:
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


def peers(folder: Path, labelled: LabelledSet) -> Iterator[str]:
    """Rows of the table for the verdicts that came with nq301, on the same questions and answers."""
    people, clusters = [row.label == 1 for row in labelled.rows], [row.cluster for row in labelled.rows]
    for name, file in PEERS:
        given = verdicts(folder, file, labelled)
        figures, _ = verdict_figures(people, given, clusters, bootstrap=BOOTSTRAP, seed=SEED)
        yield line(f"{name}, verdicts of the set", f"nq301, {len(given):,} rows", "accepted", figures)


def published(path: Path, metric: str) -> Iterator[str]:
    """Rows of the table for the figures that others printed, of other data."""
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if row["metric"] == metric:
                cells = [row[name] or "–" for name in ("precision", "recall", "f1", "cohen_kappa")]
                yield f"| {row['judge']}, as printed | {row['dataset']} | – | {' | '.join(cells)} | – | – | – | – | – |"


def line(who: str, data: str, yes: str, figures: Mapping[str, Figure]) -> str:
    """One row of the table."""
    cells = [shown(figures[name]) for name in BINARY]
    return f"| {who} | {data} | {yes} | {' | '.join(cells)} | {figures['kappa'].n} | {figures['kappa'].n_failed} |"


def shown(figure: Figure) -> str:
    """`0.694 [0.645, 0.740]`"""
    if figure.value is None:
        return "undefined"
    return f"{figure.value:.3f}" + ("" if figure.ci_low is None else f" [{figure.ci_low:.3f}, {figure.ci_high:.3f}]")


def ours(task: Task, data: str, judged: Sequence[Assessment]) -> tuple[list[str], CrossTable | None, dict[str, int]]:
    """The rows of the table of one judge, how labels met, and what failed."""
    found = [
        meta_evaluate(task.evaluator, task.labelled, judged, relevant, threshold=least, bootstrap=BOOTSTRAP, seed=SEED)
        for relevant, least in task.readings
    ]
    rows = [
        line(
            f"**{task.evaluator.name}**, from {one.threshold:g}", f"{data}, {one.n_rows} rows", one.relevant, one.binary
        )
        for one in found
    ]
    return rows, found[0].confusion, found[0].errors


def crossed(name: str, table: CrossTable | None) -> list[str]:
    """How labels met, as a table."""
    if table is None or not table.judge:
        return []
    head = [f"| people \\ {name} | {' | '.join(table.judge)} |", "|---|" + "--:|" * len(table.judge)]
    rows = zip(table.people, table.counts, strict=True)
    return ["", *head, *(f"| {label} | {' | '.join(map(str, counts))} |" for label, counts in rows)]


def page(data: Path, judged: Mapping[str, Sequence[Assessment]], tasks: Mapping[str, Task]) -> Iterator[str]:
    """The lines of the results: the table with our judges, others' and published figures; then how labels met."""
    names = " | ".join(name.replace("_", " ") for name in BINARY)
    yield f"| judge | labelled set | people's yes | {names} | n | failed |"
    yield "|---|---|---|" + "--:|" * (len(BINARY) + 2)
    below: list[str] = []
    for name, task in tasks.items():
        rows, table, errors = ours(task, name, judged[name])
        yield from rows
        yield from published(data / "paper_tables" / "triad_judges.csv", task.evaluator.name)
        if name == "nq301":
            yield from peers(data / name, task.labelled)
            yield from peers(data / name, nq301(data / name))
        below += crossed(task.evaluator.name, table)
        below += [f"\n{count} of {task.evaluator.name} have no label: {error}" for error, count in errors.items()]
    yield from below
    yield "\nFigures as printed are of other data: other claims, queries and people; the judge is GPT-4o, or as named."
    yield "Those in bold are of Claude's replies, written from request files (benchmarks/replies/SOURCES.md); cost and"
    yield 'latency were not measured. The prompts are those of `prompts = "ragassay"`.'


def main(data: Path, *, work: Path = WORK, kept: Path = KEPT) -> int:
    """Print the tables, or where replies are awaited write the requests of every judge and give 3."""
    workspace = open_work(NAME, work=work)
    answers = sample(nq301(data / "nq301"), N, SEED, apart=True)
    accepted = Relevant(frozenset({1.0}), "accepted")
    tasks = {
        "factcheckgpt": factcheckgpt(data / "factcheckgpt"),
        "scifact": scifact(data / "scifact", workspace.results),
        "nq301": Task(evaluator("correctness"), answers, ((accepted, 1),)),
    }
    judged: dict[str, list[Assessment]] = {}
    for name, task in tasks.items():
        try:
            judged[name] = judge_rows(task.evaluator, task.labelled, open_caller(workspace, kept))
        except RepliesMissing as missing:
            print(awaited(NAME, name, missing), file=sys.stderr)
    if len(judged) < len(tasks):
        return RepliesMissing.exit_status
    for text in page(data, judged, tasks):
        print(text)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
