"""What the tests of whole runs share: `demo`, the recorded demo, run once."""

from __future__ import annotations

import pytest
from support.finished_run.run import Run
from support.places import ROOT
from support.read_once import pdfs_read_once as pdfs_read_once
from support.small_run import finished as finished
from support.small_run import finished_once as finished_once

from ragassay.cli import main


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Its corpus and results. Nobody writes there."""
    corpus, results = ROOT / "corpora" / "avr-libc", tmp_path_factory.mktemp("demo") / "avr-libc"
    assert main(["run", str(corpus), "--results", str(results)]) == 0
    return Run(corpus, results)
