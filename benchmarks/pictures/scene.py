"""What the pictures show: two runs that differ, two sheets that three people label, and a run under way.

All of it is made in a folder of its own, so that nothing is written beside the corpora. The labels are made up: the
judge's own, one in five of them moved. The counts of the run under way are made up too.
"""

from __future__ import annotations

import fcntl
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ragassay.evaluate.human_labels.frame import Kind
from ragassay.evaluate.human_labels.sheet import (
    Drawn,
    Said,
    draw_into,
    known_sheets,
    read_items,
    read_said,
    say,
    standing,
)
from ragassay.evaluate.inputs.labels import Key, game_subject
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Standing, Workspace
from ragassay.files import read_records, write_json
from ragassay.records import Game, Judgment

CORPUS = Path("corpora/avr-libc")
DEMO, ONCE, UNDER_WAY = "avr-libc", "avr-libc-once", "under-way"
CHANGED = ("presentations = 2", "presentations = 1")
"""What the second run has otherwise: it ranks the answers of a query together once, in one order."""

TO_COME = ("judge", "evaluate", "compare", "report")
MOVED, SEED, AT = 0.2, 3, "2026-11-22T21:00:00+00:00"
SHEETS: tuple[tuple[int, tuple[Kind, ...], tuple[str, ...]], ...] = (
    (30, ("passages", "games"), ()),
    (70, ("answers",), ("accuracy",)),
)
"""About how many labels, of what, by which criteria; the first sheet is the older."""
PEOPLE: dict[str, Kind] = {"Ann": "passages", "Ben": "answers", "Cem": "games"}
"""Who is at an item of which kind: a few of it are labelled, and all that comes before on its sheet."""
FEW = 4

STANDING = Standing(
    stage="judge", what="judge passages", total=611, done=214, cached=180, failed=2, spent_usd=0.38, left_s=140.0
)


@dataclass(frozen=True)
class Scene:
    """`root/corpora/NAME` and `root/results/NAME`."""

    root: Path

    def words(self, *names: str) -> list[str]:
        """Of `ragassay serve`, below `root`: these runs."""
        corpora = [f"corpora/{ONCE if name == ONCE else DEMO}" for name in names]
        return ["serve", *corpora, *(word for name in names for word in ("--results", f"results/{name}"))]

    def workspace(self, name: str) -> Workspace:
        """One of the runs."""
        corpus = self.root / "corpora" / (ONCE if name == ONCE else DEMO)
        return Workspace(corpus, self.root / "results" / name, load_experiment(corpus / "experiment.toml"))


def make_scene(root: Path, demo: Path) -> Scene:
    """Copy the demo's results, run it otherwise beside them, and draw sheets that people have begun."""
    scene = Scene(root)
    for name in (DEMO, ONCE):
        shutil.copytree(CORPUS, root / "corpora" / name)
    settings = root / "corpora" / ONCE / "experiment.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace(*CHANGED), encoding="utf-8")
    for name in (DEMO, UNDER_WAY):
        shutil.copytree(demo, root / "results" / name, ignore=shutil.ignore_patterns("workbench"))
    for stage in TO_COME:
        (root / "results" / UNDER_WAY / "manifests" / f"{stage}.json").unlink()
    words = ["run", f"corpora/{ONCE}", "--results", f"results/{ONCE}"]
    subprocess.run([sys.executable, "-m", "ragassay", *words], cwd=root, check=True, capture_output=True)
    workspace = scene.workspace(DEMO)
    for number, (n, kinds, criteria) in enumerate(SHEETS):
        draw_into(workspace, n=n, seed=SEED + number, kinds=kinds, criteria=criteria or None)
    for who, kind in PEOPLE.items():
        _begin(workspace, who, kind)
    return scene


def label_the_rest(scene: Scene) -> None:
    """Everybody goes through all sheets."""
    workspace = scene.workspace(DEMO)
    for sheet in known_sheets(workspace):
        items = _items(workspace, sheet)
        for who in PEOPLE:
            _label(workspace, sheet, items, items, who)


@contextmanager
def under_way(scene: Scene) -> Iterator[None]:
    """A run holds the folder, and has said how far it is."""
    workspace = scene.workspace(UNDER_WAY)
    with (workspace.results / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        write_json(workspace.progress, STANDING.dump())
        yield


def _items(workspace: Workspace, sheet: str) -> tuple[Drawn, ...]:
    return read_items(workspace.label_samples / f"{sheet}.jsonl")


def _begin(workspace: Workspace, who: str, kind: Kind) -> None:
    """Label until a few of this kind are done."""
    for sheet in known_sheets(workspace):
        items = _items(workspace, sheet)
        places = [place for place, item in enumerate(items) if item.kind == kind]
        if places:
            _label(workspace, sheet, items, items[: places[0] + FEW], who)


def _label(workspace: Workspace, sheet: str, items: Sequence[Drawn], some: Sequence[Drawn], who: str) -> None:
    """A label of each of `some` of the sheet's items that has none by this person."""
    judged = _judged(workspace)
    done = {item for person, item in standing(read_said(workspace.label_journal(sheet))) if person == who}
    for item in some:
        if item.item not in done:
            said = Said(item=item.item, who=who, label=_made_up(item, who, judged.get(item.key)), at=AT)
            say(workspace, sheet, items, said)


def _made_up(item: Drawn, who: str, judged: float | None) -> str:
    """A cell of the sheet: the judge's label, in one of five cases the next to it."""
    chance = random.Random(f"{who}:{item.item}")
    value = 1.0 if judged is None else judged
    if item.kind == "games":
        value = 2 - value if item.swapped else value
    value = round(value)
    if chance.random() < MOVED:
        value = chance.choice([1]) if value != 1 else chance.choice([0, 2])
    return {0: "2", 1: "0", 2: "1"}[value] if item.kind == "games" else str(value)


def _judged(workspace: Workspace) -> dict[Key, float]:
    """The judge's labels, 0 to 2; of a game 2 where the first agent of the pair won."""
    found: dict[Key, float] = {}
    for path in (workspace.relevance, workspace.pointwise):
        for row in read_records(path, Judgment):
            if row.label is not None:
                found[row.query_id, row.subject, row.criterion] = row.label
    for game in read_records(workspace.games, Game):
        subject, turned = game_subject(f"{game.agent_a}:{game.agent_b}")
        won = {"a": 2.0, "b": 0.0}.get(game.winner or "", 1.0)
        found[game.query_id, subject, "game"] = 2 - won if turned else won
    return found
