"""Bugs as data: a piece of the product's code, what it becomes, and the tests that ought to notice.

A file `benchmarks/planted/ROOM.toml` says for all of its bugs, or for one,

    room = "evaluate/statistics"              folders or files in which the code is looked for
    tests = ["tests/evaluate/statistics"]     the room's own tests: folders, files, or patterns such as test_*.py

and of each bug

    [[bug]]
    name = "Holm counts from one"                        what is broken, in a few words
    old = "(len(p) - rank) * (p[index] or 0.0)"          code that stands there once
    new = "(len(p) - rank - 1) * (p[index] or 0.0)"      what it becomes; further lines are indented as its first is
    row = "which queries count as one cluster"           its row of docs/where-it-is-decided.md

Code is found by its words and signs. Where lines break, how far they are indented and a comma before a closing bracket
do not count, so that a bug outlives the moves of its code; but what stands nowhere is gone, and what stands twice is
ambiguous, and neither is planted.
"""

from __future__ import annotations

import ast
import re
import textwrap
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CODE = frozenset((".py", ".md", ".j2", ".sql", ".js", ".css", ".toml", ".txt", ".jsonl", ".json", ".pyi"))
"""Modules, and what stands beside them: prompts, templates, patterns."""


class Unplantable(Exception):
    """The code of a bug is gone or ambiguous, or its tests are."""


@dataclass(frozen=True)
class Bug:
    """One of a file's. file: the room's name; room, tests: as in the file, from the root of the repository."""

    file: str
    name: str
    old: str
    new: str
    room: tuple[str, ...]
    tests: tuple[str, ...]
    row: str = ""


@dataclass(frozen=True)
class Place:
    """Where a bug is planted: the file, from the root, and the span of its text."""

    path: Path
    begin: int
    end: int
    text: str = field(repr=False)

    @property
    def line(self) -> int:
        """From 1."""
        return self.text.count("\n", 0, self.begin) + 1

    def with_bug(self, new: str) -> str:
        """The file's text with `new` in that place, its further lines indented as the line of the first."""
        line = self.text[self.text.rfind("\n", 0, self.begin) + 1 :]
        indent = line[: len(line) - len(line.lstrip())]
        first, *rest = textwrap.dedent(new).strip().split("\n")
        planted = "\n".join([first, *(indent + one if one.strip() else "" for one in rest)])
        return self.text[: self.begin] + planted + self.text[self.end :]


def read_bugs(folder: Path = HERE) -> list[Bug]:
    """All bugs of the folder's files, by file and line; a ValueError names what a file has wrong."""
    bugs = [bug for path in sorted(folder.glob("*.toml")) for bug in _of_file(path)]
    names = [bug.name for bug in bugs]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two bugs are called '{twice[0]}'")
    return bugs


def _of_file(path: Path) -> list[Bug]:
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path.name}: {error}") from None
    rows = said.pop("bug", [])
    return [_bug(path.stem, said | row) for row in rows]


def _bug(file: str, said: dict[str, Any]) -> Bug:
    known = {"name", "old", "new", "room", "tests", "row"}
    if said.keys() - known or not known - {"row"} <= said.keys():
        raise ValueError(f"{file}.toml: {said.get('name', 'a bug')}: not just {', '.join(sorted(known))}")
    if said["old"].split() == said["new"].split():
        raise ValueError(f"{file}.toml: {said['name']}: changes nothing")
    lists = {key: (said[key],) if isinstance(said[key], str) else tuple(said[key]) for key in ("room", "tests")}
    return Bug(file, said["name"], said["old"], said["new"], **lists, row=said.get("row", ""))


def find(bug: Bug, root: Path) -> Place:
    """The one place of a bug in the tree; Unplantable where there is none or another one, or where it is no Python."""
    pattern, places = _pattern(bug.old), []
    for path in sorted({path for each in bug.room for path in _code_below(root / each)}):
        text = path.read_text(encoding="utf-8")
        places += [Place(path.relative_to(root), *found.span(), text) for found in pattern.finditer(text)]
    if not places:
        raise Unplantable(f"gone: its code stands nowhere in {', '.join(bug.room)}")
    if len(places) > 1:
        raise Unplantable(f"ambiguous: {', '.join(f'{place.path}:{place.line}' for place in places)}")
    if places[0].path.suffix == ".py":
        try:
            ast.parse(places[0].with_bug(bug.new))
        except SyntaxError as error:
            raise Unplantable(f"{places[0].path}:{error.lineno} would not be Python: {error.msg}") from None
    return places[0]


_SPACE = r"(?:\s|#[^\n]*\n)"


def _code_below(place: Path) -> list[Path]:
    return [place] if place.is_file() else [path for path in place.rglob("*") if path.suffix in CODE]


def _pattern(code: str) -> re.Pattern[str]:
    """What finds the words and signs of `code` with any white space and comments, or none, between them."""
    parts: list[str] = []
    for space, sign in re.findall(r"(\s*)(\w+|[^\w\s])", code.strip()):
        between_words = parts and re.match(r"\w", sign) and re.search(r"\w$", parts[-1])
        gap = f"{_SPACE}+" if space and between_words else f"{_SPACE}*"
        parts.append(f"{gap}(?:,{gap})?" if sign in ")]}" else gap)
        parts.append(re.escape(sign))
    whole = r"(?<!\w)" if re.match(r"\w", code.strip()) else "", r"(?!\w)" if re.search(r"\w$", code.strip()) else ""
    return re.compile(whole[0] + "".join(parts[1:]) + whole[1])


def own_tests(bug: Bug, place: Place, root: Path) -> list[str]:
    """The files of the room's own tests: first those that say the name of the function that is patched, then those that
    say who calls it, who calls that, and so on; of those, the ones first that say it most."""
    files: set[Path] = set()
    for each in bug.tests:
        found = [path for one in root.glob(each) for path in ([one] if one.is_file() else one.rglob("test_*.py"))]
        if not found:
            raise Unplantable(f"no tests: {each} is gone")
        files.update(found)
    callers = _callers(place)

    def far(path: Path) -> tuple[bool, int, int]:
        text = path.read_text(encoding="utf-8")
        words = Counter(re.findall(r"\w+", text))
        said = [sum(words[name] for name in names) for names in callers]
        steps = next((number for number, often in enumerate(said) if often), len(callers))
        return place.path.stem not in words and place.path.name not in text, steps, -sum(said)

    return [path.relative_to(root).as_posix() for path in sorted(sorted(files), key=far)]


def _callers(place: Place) -> list[set[str]]:
    """The name at a module's top level that the place is in, those that use it, those that use them, and so on."""
    if place.path.suffix != ".py":
        return []
    uses, names, line = dict[str, set[str]](), set[str](), place.line
    for node in ast.parse(place.text).body:
        found = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
        held, own = {one.id for one in found}, {one.id for one in found if isinstance(one.ctx, ast.Store)}
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own = {node.name}
        if node.lineno <= line <= (node.end_lineno or line):
            names = own
        uses |= dict.fromkeys(own, held)
    steps = [names]
    while new := {name for name, held in uses.items() if held & steps[-1]} - set().union(*steps):
        steps.append(new)
    return steps
