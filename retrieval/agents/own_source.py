"""What the source of a user's own callable tells without being run: whether it is there, its imports, its arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from ragassay.errors import InputError
from ragassay.files import read_text

from .meter import PARAMETER

Function = ast.FunctionDef | ast.AsyncFunctionDef


_GIVEN = ("a query's text", "k")


def source_problem(callable_name: str, folder: Path, n_given: Literal[1, 2] = 1) -> str | None:
    """Why "module:name" in `folder` cannot take part, in words; None where nothing is known against it.

    n_given: what it is called with, an agent with a query's text, a retriever with that and k.
    A module that lies elsewhere, or a name that is not plainly a function, is left to the import.
    """
    module, _, name = callable_name.partition(":")
    path = _source(module, folder)
    if path is None:
        return None if _installed(module) else f"there is no module {module}"
    try:
        tree = ast.parse(read_text(path))
    except (SyntaxError, ValueError, InputError) as error:
        return f"{path.name} is not Python ({error})"
    if missing := next((top for top in _imports(tree) if not _source(top, folder) and not _installed(top)), None):
        return f"{path.name} imports {missing}, which is not installed"
    functions = [node for node in tree.body if isinstance(node, Function) and node.name == name]
    return _against(functions[-1], n_given) if functions else _not_there(tree, name, path)


def _source(module: str, folder: Path) -> Path | None:
    base = folder / module.replace(".", "/")
    places = (base.with_name(f"{base.name}.py"), base / "__init__.py")
    return next((path for path in places if path.is_file()), None)


def _installed(module: str) -> bool:
    """Whether this environment has the module's package; only its first part, as finding further ones runs code."""
    try:
        return find_spec(module.partition(".")[0]) is not None
    except ValueError:
        return True


def _imports(tree: ast.Module) -> Iterator[str]:
    """The packages that the module imports whatever happens."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0]


def _against(function: Function, n_given: int) -> str | None:
    if isinstance(function, ast.AsyncFunctionDef):
        return f"{function.name} is async"
    if function.decorator_list:
        return None
    given = function.args
    places = [*given.posonlyargs, *given.args]
    needed = {arg.arg for arg in places[: len(places) - len(given.defaults)]} - {PARAMETER}
    keywords = {arg.arg for arg, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default is None}
    if len(needed) > n_given or keywords - {PARAMETER} or not (len(places) >= n_given or given.vararg):
        return f"{function.name} cannot be called with {' and '.join(_GIVEN[:n_given])} alone"
    return None


def _not_there(tree: ast.Module, name: str, path: Path) -> str | None:
    """A name that nothing in the module can bind."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {alias.asname or alias.name for node in ast.walk(tree) for alias in getattr(node, "names", []) if alias}
    names |= {node.name for node in tree.body if isinstance(node, ast.ClassDef | Function)}
    return None if {name, "*", "globals", "__getattr__"} & names else f"{path.name} has no {name}"
