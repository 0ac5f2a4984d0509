"""The runs that can be looked at: those served and those beside them, and what a list says of each."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from ragassay.errors import InputError
from ragassay.evaluate.report.page import read_results
from ragassay.evaluate.report.tables import usage_total
from ragassay.evaluate.report.wording import MISSING, STOPPED_EARLY, dollars, overstated
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.settings import CompareSettings
from ragassay.experiment.workspace import Workspace
from ragassay.records import OWN_SYSTEM
from ragassay.table import Column, Row, Table
from ragassay.text import one_line

from .asked import Bench, name_of

MOST = 200
"""Runs that a list has, the latest."""

_LOOKS_AGAIN_S = 1.0
_LEFT_BY_A_RUN = ("results.json", "manifests", "queries.jsonl", ".lock")


class Runs(Mapping[str, Bench]):
    """By name: the folders that are served, and the results folders found below the parents of theirs, two deep.

    What a browser sends is a name to be looked up here and never a path. A folder keeps its name while the server runs.
    """

    def __init__(self, served: Mapping[str, Bench]) -> None:
        self.served = dict(served)
        self._known, self._lock, self._looked = dict(served), threading.Lock(), -_LOOKS_AGAIN_S

    def __getitem__(self, name: str) -> Bench:
        if name not in self._known:
            self._look()
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def there(self) -> list[Bench]:
        """Those that are there now, the latest first, at most `MOST` and those served."""
        self._look()
        rows = [(told(one).changed, one) for one in list(self._known.values())]
        gone = {one.name for changed, one in rows if not changed and one.name not in self.served}
        rows = [(changed, one) for changed, one in rows if one.name not in gone]
        latest = [one for _, one in sorted(rows, key=lambda row: (-row[0], row[1].name))]
        return [one for place, one in enumerate(latest) if place < MOST or one.name in self.served]

    @property
    def parents(self) -> list[Path]:
        """The folders below which runs are looked for."""
        return list(dict.fromkeys(one.workspace.results.resolve().parent for one in self.served.values()))

    def _look(self) -> None:
        with self._lock:
            if time.monotonic() - self._looked < _LOOKS_AGAIN_S:
                return
            known = {one.workspace.results.resolve() for one in self._known.values()}
            there: dict[Path, None] = {}
            for folder in (folder for parent in self.parents for folder in _below(parent)):
                there |= dict.fromkeys([folder] if _is_run(folder) else filter(_is_run, _below(folder)))
            new = [folder for folder in there if folder not in known]
            corpora = self._corpora() if new else {}
            for folder in new:
                name = name_of(folder, self._known)
                self._known = {**self._known, name: self._bench(name, folder, corpora)}
            self._looked = time.monotonic()

    def _bench(self, name: str, folder: Path, corpora: Mapping[str, Path]) -> Bench:
        """With the corpus folder of the name that its figures say, or of its own name; without one where none fits."""
        other = next(iter(self.served.values())).workspace.experiment
        settings = other.model_copy(update={"compare": CompareSettings()})
        alone = Bench(name, Workspace(folder, folder, settings), corpus_known=False)
        served = [one.workspace for one in self.served.values()]
        for corpus in filter(None, (corpora.get(told(alone).corpus), corpora.get(folder.name))):
            with suppress(InputError):
                own = next((one.experiment for one in served if one.corpus.resolve() == corpus), None)
                return Bench(name, Workspace(corpus, folder, own or load_experiment(corpus / "experiment.toml")))
        return alone

    def _corpora(self) -> dict[str, Path]:
        """By name: the corpus folders served, then those beside them."""
        own = [one.workspace.corpus.resolve() for one in self.served.values()]
        beside = (folder for parent in dict.fromkeys(one.parent for one in own) for folder in _below(parent))
        found: dict[str, Path] = {}
        for folder in (*own, *(one for one in beside if (one / "experiment.toml").exists())):
            found.setdefault(folder.name, folder)
        return found


def _below(parent: Path) -> list[Path]:
    """Its folders, sorted; none where it cannot be read."""
    with suppress(OSError), os.scandir(parent) as entries:
        return sorted(Path(one.path).resolve() for one in entries if one.is_dir() and not one.name.startswith("."))
    return []


def _is_run(folder: Path) -> bool:
    with suppress(OSError):
        return any((folder / name).exists() for name in _LEFT_BY_A_RUN) and not (folder / "experiment.toml").exists()
    return False


@dataclass(frozen=True)
class Told:
    """What a list says of a run. changed: when, in ns since 1970, 0 where nothing is there. error: why it has no
    figures, '' where it has; the others are then empty. unmeasured: calls that are not in the cost. early: what is
    overstated where it stopped early."""

    changed: int
    error: str = ""
    corpus: str = ""
    n_queries: int = 0
    leader: str = ""
    about: tuple[str, ...] = ()
    failed: str = MISSING
    judge_failed: int = 0
    cost: str = ""
    unmeasured: int = 0
    early: str = ""

    @property
    def date(self) -> str:
        """Of this machine's clock; '' where nothing is there."""
        return f"{datetime.fromtimestamp(self.changed / 1e9):%Y-%m-%d %H:%M}" if self.changed else ""


def told(bench: Bench) -> Told:
    """Of its `results.json`, read again where that has changed. Raises nothing: what cannot be read is said."""
    path = bench.workspace.figures
    try:
        return _told(path, path.stat().st_mtime_ns)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        why = "no figures yet: the run has not come to compare" if missing else f"cannot be read: {error.strerror}"
    for place in (path.parent / "manifests", path.parent):  # when a stage, or the folder, was last written
        with suppress(OSError):
            return Told(place.stat().st_mtime_ns, why)
    return Told(0, why)


@lru_cache(maxsize=4 * MOST)
def _told(path: Path, changed_ns: int) -> Told:
    try:
        results = read_results(path)
    except (InputError, OSError) as error:
        return Told(changed_ns, f"cannot be read: {one_line(error)}")
    failures, leader = results.failures, results.verdict.leader
    used = usage_total([row for row in results.usage if not row.model.startswith(OWN_SYSTEM)])  # ours alone
    settled = leader is not None and results.verdict.decided
    about = [] if settled or leader is None else [f"{one_line(leader)} is ahead"]
    return Told(
        changed_ns,
        corpus=results.corpus,
        n_queries=results.n_queries,
        leader=leader if leader is not None and settled else "none: not settled",
        about=(*about, *([STOPPED_EARLY] if results.stopped_early else ())),
        failed=MISSING if failures is None else f"{sum(failures.answers.values()):,}",
        judge_failed=0 if failures is None else failures.judge_passages + failures.judge_answers + failures.judge_games,
        cost="not measured" if used.cost_usd is None else dollars(used.cost_usd),
        unmeasured=0 if used.cost_usd is None else used.n_unmeasured,
        early=overstated(results),
    )


def runs_table(benches: Sequence[Bench]) -> Table:
    """A row a run, which leads to its first page; one without figures says why, and leads to how far it is."""
    names = ("Run", "Date", "Leader", "Queries", "Corpus", "Failed", "Cost")
    rows: list[Row] = []
    for one in benches:
        found, title = told(one), one_line(one.title) if one.corpus_known else MISSING
        view = "decision" if not found.error or not one.corpus_known else "progress"
        link = Markup('<a href="/{}/{}">{}</a>').format(quote(one.name), view, one.name)
        date, corpus = _small(*found.date.partition(" ")[::2]), one_line(found.corpus) or title
        if found.error:
            rows.append((link, date, _small("", found.error), "", corpus, "", ""))
            continue
        leader = _small(one_line(found.leader), ", ".join(found.about))
        failed = _small(found.failed, f"judge: {found.judge_failed:,}" if found.judge_failed else "")
        cost = _small(found.cost, f"{found.unmeasured:,} calls not measured" if found.unmeasured else "")
        rows.append((link, date, leader, f"{found.n_queries:,}", corpus, failed, cost))
    numbers = ("Queries", "Failed", "Cost")
    return Table("Runs", [Column(name, numbers=name in numbers) for name in names], rows)


def _small(text: str, more: str) -> str:
    """The text with more below it in small letters, where there is more."""
    return Markup("{}<small>{}</small>").format(text, more) if more else text
