"""The code that made a results file: a digest of the benchmark's module and of all that it imports in this repository.

`python -m benchmarks` writes it into the file, with the commit for people to look up. A digest can be checked in any
clone, however shallow: `python -m benchmarks stale` lists the files whose code is another now. Comments, docstrings and
blank lines do not count; prompts and other data beside an imported module do.
"""

from __future__ import annotations

import ast
import hashlib
import io
import re
import subprocess
import tokenize
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = frozenset((".md", ".json", ".jsonl", ".sql", ".j2", ".css"))
"""What is read besides modules: prompts, templates, defaults; beside a module, or in a folder without modules."""
WRITTEN = frozenset(("README.md", "SOURCES.md", "results.md"))
"""What people read, and what the commands write themselves."""

_LINE = re.compile(r"^Made by code (?P<code>[0-9a-f]{16})\b.*$", re.MULTILINE)


def made_by(name: str, root: Path = ROOT) -> str:
    """The line that says which code makes the results of `benchmarks.NAME` now."""
    return f"Made by code {code_of(name, root)}, commit {_commit(root)}."


def stale(results: Path, root: Path = ROOT) -> dict[str, str]:
    """Results file, below the folder, to what is wrong: its code has changed since, is gone, or is not named."""
    found = {}
    for path in sorted(results.rglob("*.md")):
        file = path.relative_to(results)
        said = _LINE.search(path.read_text("utf-8"))
        name = ".".join(file.with_suffix("").parts)
        if said is None:
            found[file.as_posix()] = "does not say which code made it"
        elif not _files(name, root):
            found[file.as_posix()] = f"there is no benchmark {name} any more"
        elif said["code"] != code_of(name, root):
            found[file.as_posix()] = f"the code is another now: {said[0].removeprefix('Made by ').rstrip('.')}"
    return found


def code_of(name: str, root: Path = ROOT) -> str:
    """16 hexadecimal digits of all code and data behind `benchmarks.NAME`."""
    digest = hashlib.sha256()
    for path in _files(name, root):
        content = _bare(path.read_text("utf-8")).encode() if path.suffix == ".py" else path.read_bytes()
        digest.update(f"{path.relative_to(root.resolve())}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def _files(name: str, root: Path) -> list[Path]:
    """The modules behind a benchmark and the data beside them, sorted; none where there is no such benchmark."""
    root = root.resolve()
    left = [
        path for path in (_module(f"benchmarks.{name}.__main__", root), _module(f"benchmarks.{name}", root)) if path
    ]
    seen: set[Path] = set()
    while left:
        path = left.pop()
        if path not in seen:
            seen.add(path)
            left += _imported(path, root)
    return sorted(seen | {data for folder in {path.parent for path in seen} for data in _data(folder)})


def _data(folder: Path) -> Iterator[Path]:
    below = [one for one in folder.iterdir() if one.is_dir() and not any(one.glob("*.py")) and one.name != "results"]
    for place in (folder, *below):
        files = (path for path in place.iterdir() if path.is_file() and path.suffix in DATA)
        yield from (path for path in files if path.name not in WRITTEN)


def _imported(path: Path, root: Path) -> Iterator[Path]:
    """The modules of the repository that a module imports, and the packages around them.

    What an `__init__` imports inside a function is a door, which only leads on for those who ask for it by name.
    """
    tree, name = ast.parse(path.read_text("utf-8")), _name(path, root)
    package = name if path.stem == "__init__" else name[:-1]
    for node in _walk(tree, inside=path.stem != "__init__"):
        wanted: Iterable[str] = ()
        if isinstance(node, ast.Import):
            wanted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            wanted = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.List) and _runs_ragassay(node):
            wanted = ["ragassay.__main__"]
        for one in wanted:
            parts = one.split(".")
            around = (".".join(parts[:depth]) for depth in range(1, len(parts) + 1))
            yield from (found for each in around if (found := _module(each, root)) is not None)


def _walk(tree: ast.AST, *, inside: bool) -> Iterator[ast.AST]:
    """All nodes but those for type checkers alone; those of functions where `inside`."""
    types = isinstance(tree, ast.If) and "TYPE_CHECKING" in ast.dump(tree.test)
    for node in tree.orelse if types and isinstance(tree, ast.If) else ast.iter_child_nodes(tree):
        if inside or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from (node, *_walk(node, inside=inside))


def _runs_ragassay(node: ast.List) -> bool:
    """Whether it is a command that runs `python -m ragassay`."""
    words = [each.value if isinstance(each, ast.Constant) else None for each in node.elts]
    return ("-m", "ragassay") in pairwise(words)


@cache
def _module(name: str, root: Path) -> Path | None:
    """The file of a module of the repository, links followed: None for another's."""
    parts = name.split(".")
    place = root.joinpath(*(["tests", *parts] if parts[0] == "support" else parts))
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if parts[0] in {"benchmarks", "ragassay", "support"} and path.is_file():
            return path.resolve()
    return None


def _name(path: Path, root: Path) -> list[str]:
    """The parts of a module's name; rooms beside `ragassay` are imported as its parts."""
    parts = list(path.relative_to(root).with_suffix("").parts)
    parts = parts[1:] if parts[0] == "tests" else parts
    parts = parts if parts[0] in {"benchmarks", "ragassay", "support"} else ["ragassay", *parts]
    return parts[:-1] if parts[-1] == "__init__" else parts


def _bare(source: str) -> str:
    """The source without comments, docstrings and blank lines."""
    lines = source.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for row in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                lines[row - 1] = ""
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _commit(root: Path) -> str:
    """As git tells it, "and changes since" where the tree has some, "unknown" without git."""
    try:
        code = (".", ":!docs", ":!benchmarks/results", ":!benchmarks/results.md")
        status = ["git", "status", "--porcelain", "--untracked-files=no", "--", *code]
        asked = [["git", "rev-parse", "--short=12", "HEAD"], status]
        said = [subprocess.run(one, cwd=root, check=True, capture_output=True, text=True).stdout for one in asked]
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return said[0].strip() + (" and changes since" if said[1].strip() else "")
