"""The rooms of the house, read from the imports: data moves one way, nothing runs up, and no room is a hall."""

from __future__ import annotations

import ast
import symtable
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from support.places import ROOT

FOLDERS = ("ragassay", "synth", "retrieval", "evaluate", "workbench", "cli", "functions")
MODULES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
BENCHMARKS = sorted((ROOT / "benchmarks").rglob("*.py"))
HEAVY = {"torch", "sentence_transformers", "scipy", "pandas", "xllamacpp", "langchain_openai", "langchain_anthropic"}
LARGEST_ROOM = 21

STAGES = {"synth", "retrieval", "evaluate"}
ABOVE = {"workbench", "cli", "functions"}
ABOVE_EACH_OTHER = {("cli", "workbench"), ("functions", "cli")}
DOORS = {"__init__", "__main__", "judges", "testing"}
"""Modules of `ragassay` that stand above all: what users start and import. They hold no code but the way in."""
GROUND_FLOOR = (
    {"errors", "text", "arrays", "records", "progress", "table"},
    {"files", "cores"},
    {"prompts", "experiment", "evidence", "layouts"},
    {"models"},
    {"calls"},
)
EVALUATE = (
    {"inputs", "texts", "results"},
    {"statistics"},
    {"ratings", "measures"},
    {"judging"},
    {"figures"},
    {"human_labels", "agreement", "screening"},
    {"audit"},
    {"looks"},
    {"validity"},
    {"compare", "make_judgments"},
    {"stages"},
)
"""Each may import those of earlier rows; rooms of one row do not know each other."""

REPORT_READS = {"report", "results", "ratings", "measures", "inputs", "screening"}


def module_of(path: Path) -> str:
    """`ragassay.evaluate.compare` of evaluate/compare.py: the name by which it is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    named = [*(("ragassay",) if parts[0] in FOLDERS[1:] else ()), *parts]
    return ".".join(named[:-1] if named[-1] == "__init__" else named)


NAMES = {module_of(path) for path in MODULES + BENCHMARKS}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path, *, only_at_import: bool = False) -> Iterator[str]:
    """The modules that a file imports, relative ones by their full names."""
    tree = parsed(path)
    package = module_of(path).split(".")[: None if path.name == "__init__.py" else -1]
    for node in tree.body if only_at_import else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield f"{base}.{alias.name}" if f"{base}.{alias.name}" in NAMES else base


def place(module: str) -> tuple[str, str]:
    """(folder, room) of a module of ours: ("evaluate", "statistics"), ("ragassay", "models"), ("cli", "verbs")."""
    parts = module.split(".")[1:] or ["__init__"]
    return (parts[0], (parts[1:] or ["__init__"])[0]) if parts[0] in FOLDERS else ("ragassay", parts[0])


def may_import(importer: tuple[str, str], imported: tuple[str, str]) -> bool:
    """Whether the rules of the house allow it."""
    (folder, room), (other, wanted) = importer, imported
    if importer == imported or (folder == "ragassay" and room in DOORS):
        return True
    if folder != other:
        below = other == "ragassay" and wanted not in DOORS - {"__init__"}
        return below or (folder in ABOVE and other in STAGES) or (folder, other) in ABOVE_EACH_OTHER
    if folder == "evaluate":
        return _in_evaluate(room, wanted)
    return folder != "ragassay" or wanted == "__init__" or _row(GROUND_FLOOR, wanted) <= _row(GROUND_FLOOR, room)


def _in_evaluate(room: str, wanted: str) -> bool:
    if room == "report":
        return wanted in REPORT_READS
    if room == "from_files":
        return True
    if room == "stages":
        return wanted != "from_files"
    return wanted not in {"report", "from_files"} and _row(EVALUATE, wanted) < _row(EVALUATE, room)


def _row(rows: tuple[set[str], ...], room: str) -> int:
    return next(number for number, row in enumerate(rows) if room in row)


def faults(path: Path) -> Iterator[str]:
    """What a module imports and may not, a sentence each."""
    module = module_of(path)
    for name in imports(path):
        first = name.split(".")[0]
        if first in STAGES | {"cli"}:
            yield f"{module} imports {name}, which is not imported as a part of ragassay"
        if first in {"benchmarks", "tests", "support"}:
            yield f"{module} imports {name}"
        if first == "ragassay" and not may_import(place(module), place(name)):
            yield f"{module} imports {name}, which its room may not"
    for name in imports(path, only_at_import=True):
        if name.split(".")[0] in HEAVY:
            yield f"{module} imports {name}, which is heavy, at import"
    for node in ast.walk(parsed(path)):
        whole = (node.module or "") if isinstance(node, ast.ImportFrom) and not node.level else ""
        if whole.startswith("ragassay.") and place(whole)[0] == place(module)[0]:
            yield f"{module}:{node.lineno} imports {whole} of its own folder by its full name"


def test_every_module_imports_only_what_its_room_may():
    assert [fault for path in MODULES for fault in faults(path)] == []


DOORS_OF_ONE = {
    "ragassay.retrieval.opensearch": "ragassay.retrieval.search",
    "ragassay.models.onnx": "ragassay.retrieval.rankers.embedding",
}
"""What only some users have or need: a room or a module, and the one module that imports it."""


def test_what_few_need_has_one_importer():
    for wanted, importer in DOORS_OF_ONE.items():
        outside = [path for path in MODULES if not f"{module_of(path)}.".startswith(f"{wanted}.")]
        found = {module_of(path) for path in outside for name in imports(path) if f"{name}.".startswith(f"{wanted}.")}
        assert found == {importer}, wanted


def test_no_module_is_in_a_circle():
    inside = NAMES - {"ragassay"}  # the package is there before any of its modules, and loads none of them
    known = {module_of(path): {name for name in imports(path) if name in inside} for path in MODULES + BENCHMARKS}
    while free := [name for name, needed in known.items() if not (needed & known.keys()) - {name}]:
        for name in free:
            del known[name]
    assert not known


@cache
def bound_in(path: Path) -> set[str]:
    """The names that can be imported from a module, those that it loads late as well."""
    symbols = symtable.symtable(path.read_text(encoding="utf-8"), str(path), "exec").get_symbols()
    return {one.get_name() for one in symbols if one.is_assigned() or one.is_imported()}


def test_every_name_that_a_benchmark_imports_is_there():
    """Of the package's own modules mypy sees to it; benchmarks it does not read, and few of them are run by tests."""
    files, missing = {module_of(path): path for path in MODULES + BENCHMARKS}, []
    for path in BENCHMARKS:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ImportFrom) and node.module in files:
                names = {alias.name for alias in node.names if f"{node.module}.{alias.name}" not in files}
                missing += [f"{path.name}: {node.module}.{name}" for name in names - bound_in(files[node.module])]
    assert missing == []


def test_no_room_is_a_hall():
    rooms = Counter(path.parent for path in MODULES + BENCHMARKS if path.name != "__init__.py")
    assert max(rooms.values()) <= LARGEST_ROOM, rooms.most_common(3)


def test_the_doors_load_nothing_of_what_is_behind_them():
    for name in DOORS - {"__main__"}:
        there = {found.split(".")[0] for found in imports(ROOT / "ragassay" / f"{name}.py", only_at_import=True)}
        assert there <= {"__future__", "typing"}, name


def test_every_room_has_its_tests():
    rooms = {path.parent.relative_to(ROOT) for path in MODULES if path.name != "__init__.py"}
    assert {str(room) for room in rooms if not list((ROOT / "tests" / room).glob("test_*.py"))} == set()


def test_no_module_has_a_name_that_says_nothing():
    assert not {"utils", "helpers", "common", "misc"} & {path.stem for path in MODULES}


def test_the_folders_are_part_of_the_package_by_relative_links():
    for folder in (*STAGES, *ABOVE):
        assert (ROOT / "ragassay" / folder).readlink() == Path("..") / folder
    assert (ROOT / "ragassay" / "corpora" / "avr-libc").readlink() == Path("../../corpora/avr-libc")


EVERYWHERE = {"pydantic", "pydantic_core", "markupsafe"}
"""Packages that records, settings and tables are made of: whatever reads an experiment loads them."""
LOADED_BY = {
    "numpy": {
        *(
            "evaluate",
            "functions",
            "retrieval",
            "synth",
            "workbench",
            "arrays",
            "models",
            "calls.caller",
            "calls.served",
        ),
        *("cli.pipeline.plan", "cli.verbs"),
    },
    "langchain_core": {"retrieval.agents.rag"},
    "jinja2": {
        "evaluate.from_files.gate",
        "evaluate.report",
        "evaluate.validity",
        "functions",
        "workbench",
        "cli.verbs.serve",
    },
    "starlette": {"workbench", "cli.verbs.serve"},
    "uvicorn": {"workbench.app"},
    "h11": {"workbench.app"},
    "rich": {"evaluate.report.terminal"},
}
"""Which modules, or all of a room, load a package of others when they are imported."""
LIGHT = {
    *("cli", "cli.terminal", "cli.verbs.run", "cli.pipeline.runner", "cli.pipeline.stages", "cli.pipeline.manifest"),
    *("cli.pipeline.obstacles", "cli.pipeline.opening", "experiment.stage", "evaluate.results"),
    *("synth.stages", "retrieval.stages", "retrieval.dependencies", "evaluate.stages", "synth.documents.doc_ids"),
    *("synth.questions.own", "calls.reply_cache", "prompts", "evidence", "evaluate.inputs.labels"),
    *("evaluate.measures.measure", "evaluate.measures.by_labels", "evaluate.measures.by_place"),
    *("evaluate.report.wording", "evaluate.report.plots", "evaluate.report.tables", "evaluate.report.decision"),
    "evaluate.report.judge",
}
"""What a run that has nothing to do imports, but for the table that it prints (rich); none may load more than
EVERYWHERE. Its modules are listed by a rerun of the demo, in `tests/cli/pipeline/test_demo_figures.py`."""


def loaded_with(module: str, seen: set[str]) -> set[str]:
    """The packages of others that are loaded where a module of ours is imported, its parents' among them."""
    if module in seen or module not in PATHS:
        return set()
    seen.add(module)
    names = set(imports(PATHS[module], only_at_import=True))
    parts = module.split(".")
    ours = {".".join(parts[:n]) for n in range(2, len(parts))} | {one for one in names if one.startswith("ragassay")}
    theirs = {one.split(".")[0] for one in names - ours} - sys.stdlib_module_names
    return theirs.union(*(loaded_with(one, seen) for one in ours))


PATHS = {module_of(path): path for path in MODULES}


def test_a_module_loads_no_more_than_it_did():
    allowed, used = {f"ragassay.{name}" for name in LIGHT}, set()
    for module in PATHS:
        for package in loaded_with(module, set()) - EVERYWHERE:
            by = [one for one in LOADED_BY.get(package, ()) if f"{module}.".startswith(f"ragassay.{one}.")]
            assert by and module not in allowed, f"{module} loads {package}"
            used |= {(package, one) for one in by}
    assert used == {(package, one) for package, names in LOADED_BY.items() for one in names}, "what loads it no more"


LARGEST_MODULE, TOGETHER = 650, 450
APART = {
    *("retrieval/agents/rag.py", "retrieval/answer_queries.py"),
    *("synth/pdf/worker.py", "workbench/pages/worker.py"),
}
"""What most runs do not load: a part of LangChain, and what runs a stage of which only the declaration is read. And a
worker is a process."""


def test_a_module_is_a_subject():
    """None is too long, and none has its one importer beside it where both together would make one."""
    lines = {module_of(path): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert {name for name, n in lines.items() if n > LARGEST_MODULE} == set()
    importers: dict[str, set[str]] = {}
    for path in MODULES:
        for name in set(imports(path)) - {module_of(path)}:
            importers.setdefault(name, set()).add(module_of(path))
    split = set()
    for path in MODULES:
        mine, by = module_of(path), importers.get(module_of(path), set())
        if path.name == "__init__.py" or len(by) != 1 or path.relative_to(ROOT).as_posix() in APART:
            continue
        (other,) = by
        if mine.rpartition(".")[0] == other.rpartition(".")[0] and lines[mine] + lines[other] <= TOGETHER:
            split.add((mine, other))
    assert split == set()
