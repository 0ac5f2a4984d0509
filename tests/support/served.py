"""`ragassay serve` as a process of its own over made-up results, and a tab of a browser that is watched."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from support.made_up_results.texts import HOSTILE
from support.made_up_results.workspace import make_workspace
from support.pdf_maker import make_pdf
from support.places import ROOT
from support.results_folder import experiment
from support.small_corpus import page as words_of_page

from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, write_records
from ragassay.records import Passage, Query
from ragassay.synth.ingest import ingest
from ragassay.workbench.index.build import build

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

HOSTILE_NAME = '"><img src=x onerror=alert(4)>.pdf'
N_HOSTILE = 12
EXPERIMENT = """[questions]
source = "own"
[answer]
model = "file:m"
[judge]
model = "file:m"
criteria = ["relevance", "accuracy", "completeness", "precision"]
"""


def make_served(root: Path) -> Workspace:
    """Hostile results whose passages stand in a small PDF with a hostile name; their index is built."""
    workspace = make_workspace(root, 12)
    (workspace.corpus / "experiment.toml").write_text(EXPERIMENT, encoding="utf-8")
    hostile = "\n".join(text for text in HOSTILE[:2])
    make_pdf(workspace.corpus / HOSTILE_NAME, [f"{words_of_page(n)}\n{hostile}" for n in range(1, 5)])
    read = Workspace(workspace.corpus, root / "read", experiment(ingest={"reader": "pdfium", "passage_words": 80}))
    ingest(read)
    placed = list(read_records(read.passages, Passage))
    made = list(read_records(workspace.passages, Passage))
    for number, passage in enumerate(made):
        found = placed[number % len(placed)]
        said = {} if number < N_HOSTILE else {"text": found.text}
        made[number] = passage.model_copy(update={"metadata": found.metadata} | said)
    write_records(workspace.passages, made)
    where = {"doc": HOSTILE_NAME, "first_page": 1, "last_page": 2}
    asked = list(read_records(workspace.queries, Query))
    write_records(workspace.queries, [q.model_copy(update={"metadata": q.metadata | where}) for q in asked])
    workspace.pages.write_bytes(read.pages.read_bytes())
    build(workspace, workspace.workbench / "index.sqlite")
    return workspace


@dataclass
class Served:
    """A running server: `url` without the last slash."""

    url: str
    process: subprocess.Popen[str]

    def kill(self) -> None:
        """As the kernel would, without a word."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)


@contextmanager
def serving(workspaces: Sequence[Workspace], port: int = 0) -> Iterator[Served]:
    """The verb itself over these folders."""
    words = [str(one.corpus) for one in workspaces]
    words += [word for one in workspaces for word in ("--results", str(one.results))]
    command = [sys.executable, "-m", "ragassay", "serve", *words, "--port", str(port)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
        assert found, "the server did not say where it is"
        yield Served(found[0], process)
    finally:
        process.kill()
        process.communicate()


@dataclass
class Watched:
    """A tab, and all in it that should not be: dialogs, errors, requests that leave the server."""

    page: Page
    url: str
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(30_000)
        self.page.on("dialog", lambda dialog: (self.wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.on("pageerror", lambda error: self.wrong.append(f"page error {error}"))
        self.page.on("popup", lambda popup: self.wrong.append(f"window {popup.url}"))
        self.page.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)
        self.page.on("request", lambda asked: None if self._own(asked.url) else self.wrong.append(asked.url))

    def _own(self, url: str) -> bool:
        return url.startswith((self.url + "/", "data:"))

    def go(self, path: str, until: Literal["load", "networkidle"] = "networkidle") -> None:
        """Open an address of the server, and wait until nothing is under way."""
        answer = self.page.goto(self.url + path, wait_until=until)
        assert answer is not None and answer.ok, path

    def follow(self, link: Locator) -> None:
        """Click a link, and wait until the page it leads to is there and nothing is under way."""
        with self.page.expect_navigation(wait_until="networkidle"):
            link.click()
