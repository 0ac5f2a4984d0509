"""A finished run on the small corpus, made once; each test that asks for it works in a copy of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from support.loopback.server import Script, ScriptedServer
from support.small_corpus import answer_everything, edit, make_corpus

from ragassay.cli import main


@dataclass(frozen=True)
class SmallRun:
    """The working folder has the corpus in `mine` and its results in `results/mine`; the server goes on answering.

    n_calls: requests that the server had before the test.
    """

    folder: Path
    server: ScriptedServer
    n_calls: int

    @property
    def corpus(self) -> Path:
        return self.folder / "mine"

    @property
    def results(self) -> Path:
        return self.folder / "results" / "mine"

    def set(self, old: str, new: str) -> None:
        """Change experiment.toml."""
        edit(self.corpus, old, new)

    def asked(self) -> int:
        """Requests since the test began."""
        return len(self.server.requests) - self.n_calls

    def copied(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> SmallRun:
        """The same in an empty folder, which is worked in from now on."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        monkeypatch.chdir(folder)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")
        return replace(self, folder=folder, n_calls=len(self.server.requests))


@contextmanager
def finished_in(
    folder: Path, script: Script = answer_everything, prepare: Callable[[Path], object] = lambda corpus: None
) -> Iterator[SmallRun]:
    """A run to its end. prepare: what is changed in the corpus folder before."""
    with ScriptedServer("openai", script) as server, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")
        prepare(make_corpus(folder / "mine", "openai:m", server.base_url))
        assert main(["run", "mine"]) == 0
        patch.undo()
        yield SmallRun(folder, server, 0)


@pytest.fixture(scope="session")
def finished_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallRun]:
    with finished_in(tmp_path_factory.mktemp("finished")) as run:
        yield run


@pytest.fixture
def finished(finished_once: SmallRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallRun:
    return finished_once.copied(tmp_path, monkeypatch)
