"""What the tests of the functions share: `bench`, a scripted server that answers judges, and a folder to work in."""

from pathlib import Path

import pytest
from support.judge_bench import bench as bench


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
