"""What the tests of whole runs share: a folder to work in, `demo`, the recorded demo, and `finished`, a small run."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.finished_run.run import Run
from support.places import ROOT
from support.read_once import pdfs_read_once as pdfs_read_once
from support.small_run import finished as finished
from support.small_run import finished_once as finished_once

from ragassay.cli import main


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is empty; a key for OpenAI, which is none, is in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Its corpus and results. Nobody writes there."""
    corpus, results = ROOT / "corpora" / "avr-libc", tmp_path_factory.mktemp("demo") / "avr-libc"
    assert main(["run", str(corpus), "--results", str(results)]) == 0
    return Run(corpus, results)
