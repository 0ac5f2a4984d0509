"""Which code made a results file: what a benchmark imports counts, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.made_by import code_of, made_by, stale

FILES = {
    "benchmarks/__init__.py": "",
    "benchmarks/speed/__init__.py": "",
    "benchmarks/speed/fast.py": "from ragassay.rooms import near\nfrom benchmarks.speed.shared import go\n",
    "benchmarks/speed/shared.py": "import json\n\n\ndef go():\n    from ragassay import later\n",
    "benchmarks/speed/runs.py": "import sys\n\nCOMMAND = [sys.executable, '-m', 'ragassay', 'judge']\n",
    "benchmarks/speed/typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ragassay import far\n",
    "ragassay/__init__.py": "def __getattr__(name):\n    from ragassay import far\n    return far\n",
    "ragassay/__main__.py": "from ragassay import far\n",
    "ragassay/rooms/__init__.py": "",
    "ragassay/rooms/near.py": "from . import beside\nfrom ..far_off import there\n",
    "ragassay/rooms/beside.py": "x = 1\n",
    "ragassay/rooms/prompts/ask.md": "Ask.",
    "ragassay/rooms/other.py": "x = 1\n",
    "ragassay/far_off.py": "there = 1\n",
    "ragassay/later.py": "x = 1\n",
    "ragassay/far.py": "x = 1\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def changed(root: Path, name: str, file: str, text: str) -> bool:
    before = code_of(name, root)
    (root / file).write_text(text)
    return code_of(name, root) != before


@pytest.mark.parametrize(
    ("name", "file", "counts"),
    [
        ("speed.fast", "benchmarks/speed/fast.py", True),
        ("speed.fast", "benchmarks/speed/shared.py", True),
        ("speed.fast", "ragassay/rooms/near.py", True),
        ("speed.fast", "ragassay/rooms/beside.py", True),
        ("speed.fast", "ragassay/rooms/__init__.py", True),
        ("speed.fast", "ragassay/rooms/prompts/ask.md", True),
        ("speed.fast", "ragassay/far_off.py", True),
        ("speed.fast", "ragassay/later.py", True),
        ("speed.fast", "ragassay/rooms/other.py", False),
        ("speed.fast", "ragassay/far.py", False),
        ("speed.fast", "benchmarks/speed/runs.py", False),
        ("speed.runs", "ragassay/far.py", True),
        ("speed.runs", "ragassay/later.py", False),
        ("speed.typed", "ragassay/far.py", False),
    ],
)
def test_what_is_imported_counts_and_what_is_not_does_not(root: Path, name: str, file: str, counts: bool) -> None:
    assert changed(root, name, file, FILES[file] + "y = 2\n") == counts


def test_what_is_only_said_does_not_count(root: Path) -> None:
    said = '"""The near."""\n\n# says\nx = 1  # one\n\n\n\n'
    assert not changed(root, "speed.fast", "ragassay/rooms/beside.py", said)
    assert changed(root, "speed.fast", "ragassay/rooms/beside.py", said.replace("1  #", "'# 1'  #"))
    assert changed(root, "speed.fast", "ragassay/rooms/beside.py", said.replace("1  #", "'# 2'  #"))


def test_rooms_that_are_links_are_followed(root: Path) -> None:
    """As `ragassay/synth` is a link to `synth`, whose own imports are relative to the name that it is imported by."""
    (root / "synth").mkdir()
    (root / "synth" / "__init__.py").write_text("")
    (root / "synth" / "made.py").write_text("from ..far import x\nfrom .beside import y\n")
    (root / "synth" / "beside.py").write_text("y = 1\n")
    (root / "ragassay" / "synth").symlink_to("../synth")
    (root / "benchmarks" / "speed" / "fast.py").write_text("from ragassay.synth import made\n")
    for file in ("synth/made.py", "synth/beside.py", "ragassay/far.py"):
        text = (root / file).read_text()
        assert changed(root, "speed.fast", file, f"{text}z = 1\n"), file


def test_files_of_other_code_and_those_that_do_not_say_are_listed(root: Path) -> None:
    results = root / "results"
    (results / "speed").mkdir(parents=True)
    for name in ("fast", "runs", "typed"):
        (results / "speed" / f"{name}.md").write_text(f"# speed.{name}\n\n{made_by(f'speed.{name}', root)}\n")
    (results / "speed" / "old.md").write_text("# speed.old\n")
    (results / "speed" / "gone.md").write_text("# speed.gone\n\nMade by code 0123456789abcdef, commit unknown.\n")
    said = {"speed/gone.md": "there is no benchmark speed.gone any more"}
    said |= {"speed/old.md": "does not say which code made it"}
    assert stale(results, root) == said
    (root / "ragassay" / "rooms" / "near.py").write_text("")
    found = stale(results, root)
    assert found.pop("speed/fast.md").startswith("the code is another now: code ")
    assert found == said
