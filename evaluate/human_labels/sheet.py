"""A sheet for people to label, blind to agent and judge, and the way of its labels into `labels.csv`.

The sheet is a CSV file: an opaque id, the question, the text (or two), what to say of it, and an empty column `label`.
What the ids stand for, and with which probability each thing in the test set was drawn, is kept beside `labels.csv` in
`label-samples/SHEET.jsonl`, which the labellers need not see. Cells cannot become formulas.
"""

from __future__ import annotations

import fcntl
import os
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from math import ceil
from pathlib import Path
from typing import Literal

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import append_line, digest_json, json_of, naming, read_records, record_of, write_records, write_text
from ragassay.records import Query, Record, whole_text
from ragassay.text import csv_of, plain, safe_cell

from ..inputs.findings import Findings, originals_alone, read_findings
from ..inputs.labels import GAME, Key, Label, by_item, number, read_labels, read_table, write_labels
from ..ratings.verdicts import Verdict, verdicts
from .frame import KINDS, Kind, Unit, draw, numbers, units, whole_answers

COLUMNS = ("item", "question", "text", "other_text", "asked", "label")
ASKED: dict[str, str] = {
    "passages": "Does the text help to answer the question? 0 not, 1 somewhat, 2 very",
    "answers": "{criterion} of the text as an answer to the question: 0 not, 1 somewhat, 2 fully",
    "games": "Which answers the question better? 1 text, 2 other_text, 0 neither",
}


class Drawn(Record):
    """A line of `label-samples/SHEET.jsonl`: one thing that could be drawn, and whether it was.

    probability: of its being drawn for this sheet. swapped: of a game, whether the second agent's answer stands first.
    planned: in a run that may end early, the digest of the query that was planned (`digests_planned`).
    """

    seldom = ("planned",)

    item: str
    kind: Literal["passages", "answers", "games"]
    query: str
    subject: str
    criterion: str
    probability: float
    drawn: bool
    swapped: bool = False
    planned: str | None = None

    @property
    def key(self) -> Key:
        """As `Label.key`: a game's agents are in the order of the alphabet here."""
        return (self.query, self.subject, self.criterion)


@dataclass(frozen=True)
class Sheet:
    """What was drawn: `rows` go to the labeller, `frame` is kept."""

    id: str
    rows: tuple[tuple[str, ...], ...]
    frame: tuple[Drawn, ...]


def sample_files(workspace: Workspace) -> list[Path]:
    """The sampling probabilities of every sheet drawn for the corpus; each file's stem is its sheet's name."""
    return sorted(workspace.label_samples.glob("*.jsonl"))


@contextmanager
def corpus_held(workspace: Workspace) -> Iterator[None]:
    """Wait until no other thread or process holds it, and hold it; let go however it ends."""
    folder = os.open(workspace.corpus, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


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

    Of a run that may end early, what no sheet could draw yet is drawn from alone, as long as there is any: each look
    has a sample of its own, whose probabilities hang on no other's.
    """
    known, experiment = by_item(_labels(workspace)), workspace.experiment
    asked, depth = criteria or experiment.judge.criteria, experiment.retrieval.k
    findings = originals_alone(read_findings(workspace, read=read_records))
    planned = digests_planned(workspace)
    before = {row.key for path in sample_files(workspace) for row in read_records(path, Drawn)} if planned else ()
    sheet = draw_sheet(findings, asked, depth, n=n, seed=seed, kinds=kinds, known=known, before=before, planned=planned)
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
    write_text(out, csv_of([COLUMNS, *(map(safe_cell, row) for row in sheet.rows)]))
    write_records(kept, sheet.frame)


def draw_sheet(
    findings: Findings,
    criteria: Sequence[str],
    k: int,
    *,
    n: int,
    seed: int,
    kinds: Sequence[Kind] = KINDS,
    known: Iterable[Key] = (),
    before: Collection[Key] = (),
    planned: Mapping[str, str] | None = None,
) -> Sheet:
    """A sheet of about `n` labels. What is `known` already keeps its probability and is not asked again.

    before: what sheets before could draw, which this one leaves alone unless there is nothing else. planned: query id
    to that of `Drawn`. Raises InputError where nothing can be labelled.
    """
    frame = draw_frame(findings, criteria, k, n=n, seed=seed, kinds=kinds, before=before)
    if planned is not None:
        frame = tuple(row.model_copy(update={"planned": planned[row.query]}) for row in frame)
    labelled = set(known)
    asked = sorted((row for row in frame if row.drawn and row.key not in labelled), key=reading_order(seed))
    questions, rows = {query.id: whole_text(query) for query in findings.material.queries}, []
    for row in asked:
        if row.kind == "passages":
            passage = findings.material.passages[row.subject]
            shown = [f"{passage.title}\n{passage.text}".strip(), ""]
        else:
            texts = [findings.material.answers[row.query, agent].answer or "" for agent in row.subject.split(":")]
            shown = [*texts, ""][:2]
        say = ASKED[row.kind].format(criterion=row.criterion.replace("_", " ").capitalize())
        rows.append((row.item, questions[row.query], *(shown[::-1] if row.swapped else shown), say, ""))
    return Sheet(digest_json([row.dump() for row in frame])[:12], tuple(rows), frame)


def draw_frame(
    findings: Findings,
    criteria: Sequence[str],
    k: int,
    *,
    n: int,
    seed: int,
    kinds: Sequence[Kind] = KINDS,
    before: Collection[Key] = (),
) -> tuple[Drawn, ...]:
    """Everything of these kinds that can be labelled, about `n` things of it drawn, each with its probability.

    before: what is left out as long as there is anything else. The draw is then one of its own: one that began where
    another did would take the same agents and labels again. Raises InputError where there is nothing.
    """
    found = verdicts(findings.games)
    there: dict[Kind, list[Unit]] = {kind: units(findings, found, criteria, k, kind) for kind in kinds}
    luck: int | str = seed
    if before:
        old = frozenset(before)
        new = {kind: [unit for unit in some if old.isdisjoint(unit.items)] for kind, some in there.items()}
        if any(new.values()):
            there, luck = new, f"{seed}:{len(old)}"
    chosen = numbers(there, n)
    if not chosen:
        raise InputError("there is nothing to label yet", remedy="run `ragassay judge` first")
    return tuple(row for kind in KINDS if kind in chosen for row in _frame(draw(there[kind], chosen[kind], luck), seed))


def digests_planned(workspace: Workspace) -> dict[str, str] | None:
    """Of each query's id and text, by its id, of the whole test set of a run that may end early; None where no such run
    left the queries that there are."""
    if not workspace.planned.exists() or not workspace.queries.exists():
        return None
    planned = _digests(read_records(workspace.planned, Query))
    asked = _digests(read_records(workspace.queries, Query))
    return planned if asked.items() <= planned.items() else None


def _digests(queries: Sequence[Query]) -> dict[str, str]:
    return {query.id: digest_json([query.id, query.text])[:16] for query in queries}


def check_of_plan(workspace: Workspace, planned: Sequence[Query]) -> None:
    """Raises InputError where people's labels, or the sheets that drew them, are of questions that this plan lacks.

    A sheet of an earlier plan counts on as long as all that it could draw is planned in the same words.
    """
    known = _digests(planned)
    for path in sample_files(workspace):
        rows = read_records(path, Drawn)
        gone = {row.query for row in rows if (row.planned or known.get(row.query, "")) != known.get(row.query)}
        if other := sorted(gone):
            problem = "was drawn from another test set than the one that is planned: "
            problem += f"{len(other)} of its questions, '{plain(other[0])}' first, are not planned in these words"
            remedy = "move this sheet elsewhere, and its labels out of labels.csv, or go back to its questions"
            raise InputError(problem, file=path, remedy=remedy)
    remedy = "move labels.csv and label-samples elsewhere, or go back to the questions that they are of"
    if strange := sorted({row.query for row in _labels(workspace)} - known.keys()):
        more = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
        said = f"labels the query '{plain(strange[0])}'{more}, which the planned test set does not have"
        raise InputError(said, file=workspace.own_labels, remedy=remedy)


def draw_share(
    findings: Findings, found: Sequence[Verdict], criteria: Sequence[str], k: int, *, share: float, seed: int
) -> tuple[Drawn, ...]:
    """Everything that a second judge can be asked about, `share` (0 to 1) of each kind drawn, rounded up.

    An answer is drawn with all its criteria. found: the verdicts on the games. Nothing where there is nothing. Of a run
    that may end early the queries of each look are drawn from by themselves, by a draw of its own, so that what was
    drawn before stays.
    """
    rows: list[Drawn] = []
    for kind in KINDS:
        for look, batch in enumerate(findings.material.batches or (frozenset(findings.queries),)):
            luck = f"{seed}:{look}" if look else seed
            mine = [verdict for verdict in found if verdict.query_id in batch]
            there = [one for one in units(findings, mine, criteria, k, kind) if one.items[0][0] in batch]
            whole = whole_answers(there) if kind == "answers" else there
            rows += _frame(draw(whole, ceil(round(share * len(whole), 9)), luck), seed)
    return tuple(rows)


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


def take_sheet(workspace: Workspace, filled: Path, who: str, when: str) -> tuple[int, int]:
    """Put a filled sheet's labels into `labels.csv`; how many labels it had, and how many cells were left empty.

    Raises InputError, with the line, for an item of no sheet and a label off its scale; nothing is taken then.
    """
    items = {row.item: row for path in sample_files(workspace) for row in read_records(path, Drawn)}
    path = workspace.own_labels
    taken, empty = list[Label](), 0
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
        labels = {(row.who, row.key): row for row in _labels(workspace)}
        for new in taken:
            if labels.setdefault((new.who, new.key), new).value != new.value:
                said = f"{plain(new.who)} has labelled '{plain(new.subject)}' for '{plain(new.query)}' otherwise before"
                raise InputError(said, file=filled, remedy="give another --who, or change labels.csv")
        write_labels(path, labels.values())
    return len(taken), empty


def label_of(item: Drawn, cell: str, who: str, when: str, path: Path, line: int) -> Label:
    """The label that a cell of the sheet gives, told of the item's subject. Raises InputError with file and line."""
    if item.criterion == GAME:
        value = {"1": 1.0, "2": 0.0, "0": 0.5, "tie": 0.5}.get(cell.lower().removesuffix(".0"))
        if value is None:
            problem = f"label '{plain(cell)}' is not 1, 2 or 0"
            raise InputError(problem, file=path, line=line, remedy="1 text, 2 other_text, 0 neither")
        label = 1 - value if item.swapped else value
    else:
        label = number(cell.replace(",", "."), False, path, line)
    return Label(who=who, when=when, query=item.query, subject=item.subject, criterion=item.criterion, label=label)


def _labels(workspace: Workspace) -> tuple[Label, ...]:
    path = workspace.own_labels
    return read_labels(path) if path.exists() else ()


def inclusion(frames: Iterable[Iterable[Drawn]]) -> dict[Key, float]:
    """The probability that a thing was drawn for at least one of the sheets, drawn independently; drawn things only."""
    missed: dict[Key, float] = {}
    drawn: set[Key] = set()
    for row in chain.from_iterable(frames):
        missed[row.key] = missed.get(row.key, 1.0) * (1 - row.probability)
        if row.drawn:
            drawn.add(row.key)
    return {key: 1 - missed[key] for key in sorted(drawn)}


def read_inclusion(workspace: Workspace) -> dict[Key, float] | None:
    """The same of every sheet drawn for the corpus; None where there is none."""
    paths = sample_files(workspace)
    return inclusion(read_records(path, Drawn) for path in paths) if paths else None


# What people say in the browser goes into a journal first, and from there into `labels.csv`.


class Said(Record):
    """A line of `label-journals/SHEET.jsonl`: a label, a skip, or that the one before is taken back.

    Lines are only added, so that neither a killed server nor a second browser loses any. Of one item and person the
    last counts. `label-journals/SHEET.taken` has how many of the lines `labels.csv` holds: what a full disk or a kill
    kept out is brought over the next time, and what was changed there by hand since stays.

    label: the cell as the sheet takes it (`0`, `1`, `2`; of a game as shown), None where the item was skipped or what
    was said of it is taken back. at: when, ISO 8601.
    """

    item: str
    who: str
    label: str | None = None
    skipped: bool = False
    at: str = ""


def read_items(path: Path) -> tuple[Drawn, ...]:
    """What of a sheet's frame was drawn, kind by kind and query by query. Raises InputError with the line.

    The frame also has everything that was not drawn, many times as much, which is passed over unread.
    """
    rows = []
    with naming(path), path.open(encoding="utf-8", errors="replace") as stream:
        for number, line in enumerate(stream, 1):
            if line.strip() and '"drawn": false' not in line:
                rows.append(record_of(json_of(line, path, number), Drawn, path, number))
    return tuple(sorted((row for row in rows if row.drawn), key=reading_order(path.stem)))


def read_said(path: Path) -> list[Said]:
    """Everything that was said; an end that a kill cut short was never answered for and is passed over.

    Raises InputError with the line.
    """
    if not path.exists():
        return []
    with naming(path):
        read = path.read_bytes()
    whole = read.rpartition(b"\n")[0].decode("utf-8", "replace")
    lines = ((number, line) for number, line in enumerate(whole.split("\n"), 1) if line.strip())
    return [record_of(json_of(line, path, number), Said, path, number) for number, line in lines]


def standing(said: Iterable[Said]) -> dict[tuple[str, str], Said]:
    """(person, item) to what counts of it; what was taken back is not there."""
    last = {(one.who, one.item): one for one in said}
    return {key: one for key, one in last.items() if one.label is not None or one.skipped}


def last_of(said: Iterable[Said], who: str) -> str | None:
    """The item that this person spoke of last and has not taken back."""
    spoken: dict[str, None] = {}
    for one in said:
        if one.who == who:
            spoken.pop(one.item, None)
            if one.label is not None or one.skipped:
                spoken[one.item] = None
    return next(reversed(spoken), None)


def times_said(said: Iterable[Said], who: str, item: str) -> int:
    """How often this person has spoken of an item, what was taken back among it."""
    return sum(one.who == who and one.item == item for one in said)


def say(workspace: Workspace, sheet: str, items: Sequence[Drawn], one: Said, n_before: int | None = None) -> bool:
    """Add a line, and bring `labels.csv` up to the journal; both are on disk when this returns.

    items: the sheet's. n_before: how often the person had spoken of the item when they were shown it: where they have
    spoken of it since, in another window, nothing is written and False comes back. Raises InputError for an item that
    the sheet does not have, a label off its scale, and a file that cannot be read: nothing is written then; and for a
    file that cannot be written, saying whether the label is kept.
    """
    path, named = workspace.label_journal(sheet), {item.item: item for item in items}
    if one.item not in named:
        raise InputError("this is no item of the sheet", file=path, remedy="reload the page")
    if one.label is not None:
        _said_label(named[one.item], one, path)
    with corpus_held(workspace):
        before = read_said(path)
        if n_before is not None and times_said(before, one.who, one.item) != n_before:
            return False
        labels, n_taken = _labels(workspace), _n_taken(workspace, sheet, before)
        with _writing(path, "it was not kept: make room, or let the folder be written, and say it again"):
            append_line(path, one.dump())
        _bring_over(workspace, sheet, labels, named, [*before, one], n_taken)
        return True


def settle(workspace: Workspace, sheet: str, items: Sequence[Drawn]) -> None:
    """Bring `labels.csv` up to the journal, where a kill or a full disk kept anything out of it. Raises InputError."""
    named = {item.item: item for item in items}
    with corpus_held(workspace):
        said, labels = read_said(workspace.label_journal(sheet)), _labels(workspace)
        if (n_taken := _n_taken(workspace, sheet, said)) < len(said):
            _bring_over(workspace, sheet, labels, named, said, n_taken)


def labelled_by(workspace: Workspace, who: str) -> set[Key]:
    """What a person has a label of in `labels.csv`."""
    return {row.key for row in _labels(workspace) if row.who == who}


def known_sheets(workspace: Workspace) -> tuple[str, ...]:
    """The sheets drawn for the corpus, the newest first."""
    found = sorted(sample_files(workspace), key=lambda path: (-path.stat().st_mtime_ns, path.stem))
    return tuple(path.stem for path in found)


def _said_label(item: Drawn, one: Said, path: Path) -> Label:
    return label_of(item, one.label or "", one.who, one.at[:10], path, 0)


def _taken(workspace: Workspace, sheet: str) -> Path:
    return workspace.label_journal(sheet).with_suffix(".taken")


def _n_taken(workspace: Workspace, sheet: str, said: Sequence[Said]) -> int:
    """How many of the journal's lines `labels.csv` holds; 0, to bring over all of them, where that is not known."""
    if not workspace.own_labels.exists():
        return 0
    try:
        number = int(_taken(workspace, sheet).read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return 0
    return number if 0 <= number <= len(said) else 0


def _bring_over(
    workspace: Workspace,
    sheet: str,
    labels: Iterable[Label],
    named: Mapping[str, Drawn],
    said: Sequence[Said],
    n_taken: int,
) -> None:
    """Write `labels.csv` with what was said after the first `n_taken` lines."""
    path, made = workspace.own_labels, {(row.who, row.key): row for row in labels}
    for one in said[n_taken:]:
        if item := named.get(one.item):
            if one.label is None:
                made.pop((one.who, item.key), None)
            else:
                made[one.who, item.key] = _said_label(item, one, workspace.label_journal(sheet))
    with _writing(path, "what was said is in label-journals: make room, or let the folder be written, and reload"):
        if made:
            write_labels(path, made.values())
        else:
            path.unlink(missing_ok=True)
        write_text(_taken(workspace, sheet), f"{len(said)}\n")


@contextmanager
def _writing(path: Path, remedy: str) -> Iterator[None]:
    """What the system refuses is said in one sentence."""
    try:
        yield
    except OSError as error:
        raise InputError(f"could not be written ({error.strerror or error})", file=path, remedy=remedy) from None
