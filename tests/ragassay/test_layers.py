"""The layers of the design, read from the imports: data moves one way, and the three packages never meet."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("ragassay", "synth", "retrieval", "evaluate")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
HEAVY = {"torch", "sentence_transformers", "scipy", "pandas", "xllamacpp", "langchain_openai", "langchain_anthropic"}


def imports(path: Path, *, only_at_import: bool = False) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if only_at_import else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_imports_only_what_its_layer_may(path: Path):
    package = path.relative_to(ROOT).parts[0]
    top_layer = package == "ragassay" and path.relative_to(ROOT).parts[1] in {"cli", "__main__.py"}
    for name in imports(path):
        first = name.split(".")[0]
        if first in PACKAGES and not top_layer:
            assert first in {package, "ragassay"}, f"{package} imports {name}"
            assert not name.startswith("ragassay.cli"), f"{path} imports the command line"
    assert not HEAVY & {name.split(".")[0] for name in imports(path, only_at_import=True)}, "heavy at import"


def test_no_module_has_a_name_that_says_nothing():
    assert not {"utils", "helpers", "common", "misc"} & {path.stem for path in MODULES}
