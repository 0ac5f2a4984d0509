"""A sheet for people to label, blind to agent and judge, and the way of its labels into `labels.csv`.

The sheet is a CSV file: an opaque id, the question, the text (or two), what to say of it, and an empty column `label`.
What the ids stand for, and with which probability each thing in the test set was drawn, is kept beside `labels.csv` in
`label-samples/SHEET.jsonl`, which the labellers need not see. Cells cannot become formulas.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Literal

from ragassay.digests import digest_json
from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, write_records, write_text
from ragassay.records import Record
from ragassay.text import plain, safe_cell

from ..inputs.findings import Findings, read_findings
from ..inputs.labels import GAME, Key, Label, by_item, number, read_labels, read_table, write_labels
from ..inputs.perturbed import originals_alone
from ..ratings.verdicts import Verdict, verdicts
from .frame import KINDS, Kind, Unit, draw, numbers, units, whole_answers
from .held import corpus_held

COLUMNS = ("item", "question", "text", "other_text", "asked", "label")
ASKED: dict[str, str] = {
    "passages": "Does the text help to answer the question? 0 not, 1 somewhat, 2 very",
    "answers": "{criterion} of the text as an answer to the question: 0 not, 1 somewhat, 2 fully",
    "games": "Which answers the question better? 1 text, 2 other_text, 0 neither",
}

_GAME_CELLS = {"1": 1.0, "2": 0.0, "0": 0.5, "tie": 0.5}


class Drawn(Record):
    """A line of `label-samples/SHEET.jsonl`: one thing that could be drawn, and whether it was.

    probability: of its being drawn for this sheet. swapped: of a game, whether the second agent's answer stands first.
    """

    item: str
    kind: Literal["passages", "answers", "games"]
    query: str
    subject: str
    criterion: str
    probability: float
    drawn: bool
    swapped: bool = False

    @property
    def key(self) -> Key:
        """As in `labels.csv`."""
        return (self.query, self.subject, self.criterion)


@dataclass(frozen=True)
class Sheet:
    """What was drawn: `rows` go to the labeller, `frame` is kept."""

    id: str
    rows: tuple[tuple[str, ...], ...]
    frame: tuple[Drawn, ...]


def sample_files(workspace: Workspace) -> list[Path]:
    """The sampling probabilities of every sheet drawn."""
    return sorted(workspace.label_samples.glob("*.jsonl"))


def draw_sheet(
    findings: Findings,
    criteria: Sequence[str],
    k: int,
    *,
    n: int,
    seed: int,
    kinds: Sequence[Kind] = KINDS,
    known: Iterable[Key] = (),
) -> Sheet:
    """A sheet of about `n` labels. What is `known` already keeps its probability and is not asked again.

    Raises InputError where nothing can be labelled.
    """
    frame = draw_frame(findings, criteria, k, n=n, seed=seed, kinds=kinds)
    labelled = set(known)
    asked = sorted((row for row in frame if row.drawn and row.key not in labelled), key=reading_order(seed))
    id = digest_json([row.dump() for row in frame])[:12]
    return Sheet(id, tuple(_row(row, findings) for row in asked), frame)


def draw_frame(
    findings: Findings, criteria: Sequence[str], k: int, *, n: int, seed: int, kinds: Sequence[Kind] = KINDS
) -> tuple[Drawn, ...]:
    """Everything of these kinds that can be labelled, about `n` things of it drawn, each with its probability.

    Raises InputError where there is nothing.
    """
    found = verdicts(findings.games)
    there: dict[Kind, list[Unit]] = {kind: units(findings, found, criteria, k, kind) for kind in kinds}
    chosen = numbers(there, n)
    if not chosen:
        raise InputError("there is nothing to label yet", remedy="run `ragassay judge` first")
    return tuple(row for kind in KINDS if kind in chosen for row in _frame(draw(there[kind], chosen[kind], seed), seed))


def draw_share(
    findings: Findings, found: Sequence[Verdict], criteria: Sequence[str], k: int, *, share: float, seed: int
) -> tuple[Drawn, ...]:
    """Everything that a second judge can be asked about, `share` (0 to 1) of each kind drawn, rounded up.

    An answer is drawn with all its criteria. found: the verdicts on the games. Nothing where there is nothing.
    """
    rows: list[Drawn] = []
    for kind in KINDS:
        there = units(findings, found, criteria, k, kind)
        whole = whole_answers(there) if kind == "answers" else there
        rows += _frame(draw(whole, ceil(round(share * len(whole), 9)), seed), seed)
    return tuple(rows)


def sheet_files(workspace: Workspace) -> dict[str, Path]:
    """Sheet to its sampling probabilities, of every sheet drawn for the corpus."""
    return {path.stem: path for path in sample_files(workspace)}


def draw_into(
    workspace: Workspace,
    *,
    n: int,
    seed: int,
    kinds: Sequence[Kind] = KINDS,
    criteria: Sequence[str] | None = None,
    out: Path | None = None,
) -> tuple[Path, int]:
    """Draw a sheet of what is judged so far and write it to `out` (default: `label-sheet-ID.csv` in the corpus folder).

    Of perturbed queries nothing is drawn. criteria: of answers; default: all of the experiment's. Gives the file and
    how many things are on it. Raises InputError where nothing can be labelled, or this sheet was drawn before.
    """
    experiment = workspace.experiment
    known, depth = known_items(workspace), experiment.retrieval.k
    asked = criteria or experiment.judge.criteria
    findings = originals_alone(read_findings(workspace, read=read_records))
    sheet = draw_sheet(findings, asked, depth, n=n, seed=seed, kinds=kinds, known=known)
    path = out or workspace.corpus / f"label-sheet-{sheet.id}.csv"
    write_sheet(workspace, sheet, path)
    return path, len(sheet.rows)


def write_sheet(workspace: Workspace, sheet: Sheet, out: Path) -> None:
    """Write the sheet to `out` and its probabilities into the corpus folder.

    Raises InputError where this sheet was drawn before: its labels would count twice.
    """
    kept = workspace.label_samples / f"{sheet.id}.jsonl"
    if kept.exists():
        raise InputError("this sheet was drawn before", file=kept, remedy="give another --seed for another sheet")
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    writer.writerows([safe_cell(cell) for cell in row] for row in sheet.rows)
    write_text(out, stream.getvalue())
    write_records(kept, sheet.frame)


def take_sheet(workspace: Workspace, filled: Path, who: str, when: str) -> tuple[int, int]:
    """Put a filled sheet's labels into `labels.csv`; how many labels it had, and how many cells were left empty.

    Raises InputError, with the line, for an item of no sheet and a label off its scale; nothing is taken then.
    """
    items = {row.item: row for path in sample_files(workspace) for row in read_records(path, Drawn)}
    path = workspace.own_labels
    taken: list[Label] = []
    empty = 0
    for line, row in read_table(filled, ("item", "label")):
        item, cell = items.get(row["item"].strip()), row["label"].strip()
        if item is None:
            problem = f"'{plain(row['item'])}' is no item of a sheet drawn for this corpus"
            raise InputError(problem, file=filled, line=line, remedy=f"the sheets drawn are in {path.parent}")
        if cell:
            taken.append(label_of(item, cell, who, when, filled, line))
        else:
            empty += 1
    with corpus_held(workspace):
        before = read_labels(path) if path.exists() else ()
        write_labels(path, _joined(before, taken, filled))
    return len(taken), empty


def inclusion(frames: Iterable[Iterable[Drawn]]) -> dict[Key, float]:
    """The probability that a thing was drawn for at least one of the sheets, drawn independently; drawn things only."""
    missed: dict[Key, float] = {}
    drawn: set[Key] = set()
    for frame in frames:
        for row in frame:
            missed[row.key] = missed.get(row.key, 1.0) * (1 - row.probability)
            if row.drawn:
                drawn.add(row.key)
    return {key: 1 - missed[key] for key in sorted(drawn)}


def read_inclusion(workspace: Workspace) -> dict[Key, float] | None:
    """The same of every sheet drawn for the corpus; None where there is none."""
    paths = sample_files(workspace)
    return inclusion(read_records(path, Drawn) for path in paths) if paths else None


def known_items(workspace: Workspace) -> dict[Key, float]:
    """What has a label already, and which."""
    path = workspace.own_labels
    return by_item(read_labels(path)) if path.exists() else {}


def _frame(found: Iterable[tuple[Unit, float, bool]], seed: int) -> list[Drawn]:
    rows = []
    for unit, probability, drawn in found:
        for query, subject, criterion in unit.items:
            chance = random.Random(f"{seed}:{unit.kind}:{query}:{subject}:{criterion}")
            rows.append(
                Drawn(
                    item=f"i{chance.getrandbits(48):012x}",
                    kind=unit.kind,
                    query=query,
                    subject=subject,
                    criterion=criterion,
                    probability=round(probability, 12),
                    drawn=drawn,
                    swapped=unit.kind == "games" and chance.random() < 0.5,
                )
            )
    return rows


def reading_order(seed: int | str) -> Callable[[Drawn], tuple[int, float, str, str]]:
    """Kind by kind and query by query, so that a question is read once; queries and their rows in random order."""

    def place(row: Drawn) -> tuple[int, float, str, str]:
        return (KINDS.index(row.kind), random.Random(f"{seed}:{row.kind}:{row.query}").random(), row.query, row.item)

    return place


def _row(row: Drawn, findings: Findings) -> tuple[str, ...]:
    question = next(query.text for query in findings.material.queries if query.id == row.query)
    texts = _texts(row, findings)
    asked = ASKED[row.kind].format(criterion=row.criterion.replace("_", " ").capitalize())
    return (row.item, question, texts[0], texts[1], asked, "")


def _texts(row: Drawn, findings: Findings) -> tuple[str, str]:
    if row.kind == "passages":
        passage = findings.material.passages[row.subject]
        return (f"{passage.title}\n{passage.text}".strip(), "")
    agents = row.subject.split(":")
    answers = [findings.material.answers[row.query, agent].answer or "" for agent in agents]
    if row.kind == "answers":
        return (answers[0], "")
    return (answers[1], answers[0]) if row.swapped else (answers[0], answers[1])


def label_of(item: Drawn, cell: str, who: str, when: str, path: Path, line: int) -> Label:
    """The label that a cell of the sheet gives, told of the item's subject. Raises InputError with file and line."""
    if item.criterion == GAME:
        value = _GAME_CELLS.get(cell.lower().removesuffix(".0"))
        if value is None:
            problem = f"label '{plain(cell)}' is not 1, 2 or 0"
            raise InputError(problem, file=path, line=line, remedy="1 text, 2 other_text, 0 neither")
        label = 1 - value if item.swapped else value
    else:
        label = number(cell.replace(",", "."), False, path, line)
    return Label(who=who, when=when, query=item.query, subject=item.subject, criterion=item.criterion, label=label)


def _joined(before: Sequence[Label], taken: Sequence[Label], path: Path) -> list[Label]:
    labels: dict[tuple[str, Key], Label] = {(row.who, row.key): row for row in before}
    for row in taken:
        if labels.setdefault((row.who, row.key), row).value != row.value:
            problem = f"{plain(row.who)} has labelled '{plain(row.subject)}' for '{plain(row.query)}' otherwise before"
            raise InputError(problem, file=path, remedy="give another --who, or change labels.csv")
    return list(labels.values())
