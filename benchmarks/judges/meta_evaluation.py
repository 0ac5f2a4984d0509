"""What our judges' prompts are worth: groundedness, context relevance and correctness against people's labels.

    python -m benchmarks.judges.meta_evaluation DATA [WORDING]

DATA holds factcheckgpt, scifact, nq301 and paper_tables, each with its SOURCE.md. 100 rows of each set, drawn with
seed 7, are judged by recorded replies (benchmarks/replies) in both wordings, `prompts = "ragassay"` and "paper", or in
the WORDING named alone; a judge that has one prompt for both is asked once. Without the replies the requests are
written to results/benchmarks/meta_evaluation/WORDING and the status is 3. How the rows are drawn:

- factcheckgpt: half completely-support, the other half evenly partially-support, irrelevant and refute; of a claim one
  row at most. Pairs that have two labels are left out.
- scifact: half pairs of qrels/test.tsv, half passages of BM25's first ten without a label, all of different queries.
- nq301: rows at random, of a question one at most; what was expected are the set's own gold answers.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.judges.meta_sets import (
    BOTH,
    SEED,
    WORDINGS,
    Task,
    factcheckgpt,
    nq301,
    nq301_answers,
    scifact,
    verdicts,
)
from benchmarks.judges.take_replies import KEPT, WORK, awaited, open_caller, open_work
from benchmarks.judges.wordings import DIFFERENCES, better, differences
from ragassay.errors import RepliesMissing
from ragassay.evaluate.agreement.labelled_sets import LabelledSet
from ragassay.evaluate.agreement.meta_eval import (
    BINARY,
    CrossTable,
    MetaEvaluation,
    judge_rows,
    meta_evaluate,
    verdict_figures,
)
from ragassay.evaluate.agreement.meta_eval import NAME as SET_SHARE
from ragassay.evaluate.judging.engine.cases import Prompts
from ragassay.records import Assessment, Figure

BOOTSTRAP = 1000
NAME = "meta_evaluation"
PEERS = (("GPT-4", "gpt-4"), ("InstructGPT", "text-davinci-003"), ("BEM", "BEM"))
"""The verdicts that come with nq301, and their files."""

Judged = Mapping[str, Sequence[Assessment]]
"""Wording, or `BOTH`, to what the judge said in it."""


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
                yield f"| {row['judge']}, as printed | {row['dataset']} | – | {' | '.join(cells)}" + " | –" * 6 + " |"


def line(who: str, data: str, yes: str, figures: Mapping[str, Figure]) -> str:
    """One row of the table."""
    cells = [shown(figures[name]) for name in BINARY]
    cells.append(shown(figures[SET_SHARE]) if SET_SHARE in figures else "–")
    return f"| {who} | {data} | {yes} | {' | '.join(cells)} | {figures['kappa'].n} | {figures['kappa'].n_failed} |"


def shown(figure: Figure, digits: str = ".3f") -> str:
    """`0.694 [0.645, 0.740]`"""
    if figure.value is None:
        return "undefined"
    ends = "" if figure.ci_low is None else f" [{figure.ci_low:{digits}}, {figure.ci_high:{digits}}]"
    return f"{figure.value:{digits}}{ends}"


def yes_of(found: MetaEvaluation) -> str:
    """People's yes, how many of the rows, and of the set where that has another share."""
    there = f", {found.n_relevant} of {found.n_rows}"
    if found.set_rows and found.set_relevant is not None:
        there += f" ({found.set_relevant / found.set_rows:.0%} of the set's {found.set_rows:,})"
    return found.relevant + there


def ours(
    task: Task, data: str, wording: str, judged: Sequence[Assessment]
) -> tuple[list[str], CrossTable | None, dict[str, int]]:
    """The rows of the table of one judge in one wording, how labels met, and what failed."""
    one = task.evaluators[wording]
    found = [
        meta_evaluate(one, task.labelled, judged, relevant, threshold=least, bootstrap=BOOTSTRAP, seed=SEED)
        for relevant, least in task.readings
    ]
    rows = [
        line(
            f"**{task.judge}**, {wording}, from {each.threshold:g}",
            f"{data}, {each.n_rows} rows",
            yes_of(each),
            each.binary,
        )
        for each in found
    ]
    return rows, found[0].confusion, found[0].errors


def crossed(name: str, table: CrossTable | None) -> list[str]:
    """How labels met, as a table."""
    if table is None or not table.judge:
        return []
    head = [f"| people \\ {name} | {' | '.join(table.judge)} |", "|---|" + "--:|" * len(table.judge)]
    rows = zip(table.people, table.counts, strict=True)
    return ["", *head, *(f"| {label} | {' | '.join(map(str, counts))} |" for label, counts in rows)]


def compared(task: Task, data: str, judged: Judged) -> Iterator[str]:
    """What the paper's wording adds to ours on the same rows, for each reading; nothing where there is but one."""
    if len(judged) < 2:
        return
    clusters = [row.cluster for row in task.labelled.rows]
    said = {wording: labels_of(task, judged[wording]) for wording in WORDINGS}
    for relevant, least in task.readings:
        people = [row.label in relevant.labels for row in task.labelled.rows]
        yes = [[None if label is None else label >= least for label in said[wording]] for wording in WORDINGS]
        found = differences(people, yes[0], yes[1], clusters, bootstrap=BOOTSTRAP, seed=SEED)
        kappa = found["kappa"]
        cells = [
            *(shown(found[name], "+.3f") for name in DIFFERENCES),
            better(kappa, *WORDINGS),
            kappa.n,
            kappa.n_failed,
        ]
        yield f"| **{task.judge}**, from {least:g} | {data} | {' | '.join(map(str, cells))} |"


def labels_of(task: Task, judged: Sequence[Assessment]) -> list[float | None]:
    """The judge's labels in the order of the rows."""
    given = {(row.query_id, row.subject): row.label for row in judged}
    return [given[row.case.query.id, row.subject] for row in task.labelled.rows]


def page(data: Path, judged: Mapping[str, Judged], tasks: Mapping[str, Task]) -> Iterator[str]:
    """The lines of the results: the table with our judges, others' and published figures; then how labels met."""
    names = " | ".join(name.replace("_", " ") for name in (*BINARY, SET_SHARE))
    yield f"| judge | labelled set | people's yes | {names} | n | failed |"
    yield "|---|---|---|" + "--:|" * (len(BINARY) + 3)
    below: list[str] = []
    for name, task in tasks.items():
        for wording, said in judged[name].items():
            rows, table, errors = ours(task, name, wording, said)
            yield from rows
            below += crossed(f"{task.judge}, {wording}", table)
            below += [
                f"\n{count} of {task.judge}, {wording}, have no label: {error}" for error, count in errors.items()
            ]
        yield from published(data / "paper_tables" / "triad_judges.csv", task.judge)
        if name == "nq301":
            yield from peers(data / name, task.labelled)
            yield from peers(data / name, nq301_answers(data / name))
    if differing := [row for name, task in tasks.items() for row in compared(task, name, judged[name])]:
        names = " | ".join(DIFFERENCES)
        yield f"\n| paper's wording less ours, the same rows | labelled set | {names} | better by kappa | n | failed |"
        yield "|---|---|" + "--:|" * len(DIFFERENCES) + "---|--:|--:|"
        yield from differing
        yield "\nReplies in the paper's wording were written later than those in ours, maybe by another Claude."
    yield from below
    yield from NOTES


NOTES = (
    "\nRows of factcheckgpt and scifact are drawn half positive, as the sets are not (of scifact: the pairs of its",
    "qrels and BM25's first ten without a label). Precision, F1, kappa and accuracy are of the draw; `precision at set",
    "share` gives each label the weight that it has in the set.",
    "Figures as printed are of other data: other claims, queries and people; the judge is GPT-4o, or as named.",
    "Those in bold are of Claude's replies, written from request files (benchmarks/replies/SOURCES.md); cost and",
    "latency were not measured. The wording is the value of `prompts`; a judge of both wordings has one prompt.",
)


def main(data: Path, wordings: Sequence[Prompts] = WORDINGS, *, work: Path = WORK, kept: Path = KEPT) -> int:
    """Print the tables, or where replies are awaited write the requests of every judge and give 3."""
    workspace = open_work(NAME, work=work)
    tasks = {
        "factcheckgpt": factcheckgpt(data / "factcheckgpt", wordings),
        "scifact": scifact(data / "scifact", workspace.results, wordings),
        "nq301": nq301(data / "nq301", wordings),
    }
    judged: dict[str, dict[str, list[Assessment]]] = {name: {} for name in tasks}
    awaiting = False
    for name, task in tasks.items():
        for wording, one in task.evaluators.items():
            asked = open_work(NAME, wordings[0] if wording == BOTH else wording, work)
            try:
                judged[name][wording] = judge_rows(one, task.labelled, open_caller(asked, kept))
            except RepliesMissing as missing:
                awaiting = True
                print(awaited(NAME, f"{name}, {wording}", missing), file=sys.stderr)
    if awaiting:
        return RepliesMissing.exit_status
    for text in page(data, judged, tasks):
        print(text)
    return 0


if __name__ == "__main__":
    known = {wording: (wording,) for wording in WORDINGS}
    if len(sys.argv) not in (2, 3) or not known.keys() >= set(sys.argv[2:]):
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), known[sys.argv[2]] if len(sys.argv) == 3 else WORDINGS))
