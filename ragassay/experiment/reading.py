"""Reading `experiment.toml`: what is wrong in it is an InputError with the line and the key path; and what a stage
depends on of it, and of the user's files."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import NoneType
from typing import Any, get_args

from pydantic import ValidationError

from ragassay import __version__

from ..errors import InputError
from ..files import read_text
from ..text import did_you_mean, plain
from .settings import Experiment
from .tables import MODEL_PATTERN, TableError
from .workspace import Workspace

_SAMPLING = {"temperature", "top_p", "seed", "presence_penalty", "max_tokens"}
SHAPING = {"base_url", *_SAMPLING, "prices_usd_per_million"}
"""The settings of a model that shape a reply, or what it is said to cost; how it is reached does not."""


def tables(experiment: Experiment, *names: str, models: tuple[str, ...] = ()) -> dict[str, Any]:
    """The version, and what shapes the tables and models named: `TABLE.KEY` or `models.MODEL` to its value.

    They stand in a stage's manifest, and it runs again where one of them is not as it was.
    """
    values: dict[str, Any] = {"ragassay": __version__}
    for name in names:
        values |= {f"{name}.{key}": value for key, value in getattr(experiment, name).shaping().items()}
    for model in models:
        settings = experiment.settings_of(model)
        values[f"models.{model}"] = settings.model_dump(mode="json", include=SHAPING, exclude_none=True)
    return values


def check_by_look(workspace: Workspace) -> None:
    """Raises InputError where questions are to be written look by look and cannot be."""
    if why := workspace.experiment.not_by_look:
        path = workspace.corpus / "experiment.toml"
        line = line_of(["run", "write_by_look"], read_text(path)) if path.exists() else None
        raise InputError(why, file=path, line=line, remedy="or leave run.write_by_look out")


def own_files(workspace: Workspace, *names: str | None) -> list[Path]:
    """The files of the corpus folder that settings name; None where a setting names none."""
    return [workspace.corpus / name for name in names if name]


def own_modules(workspace: Workspace, *names: str | None) -> list[Path]:
    """The user's code that each `module:attribute` names: a file, or all files of a package in the corpus folder."""
    found: list[Path] = []
    for module in (name.partition(":")[0] for name in names if name):
        path, package = workspace.corpus / module.replace(".", "/"), workspace.corpus / module.partition(".")[0]
        inside = sorted(package.rglob("*.py")) if package.is_dir() else []
        found += inside or [path.with_name(f"{path.name}.py")]
    return found


def load_experiment(path: Path) -> Experiment:
    """Read and check `experiment.toml`.

    Raises InputError naming the file, the line and the key path of the first thing wrong.
    """
    if not path.exists():
        raise InputError("there is no such file", file=path, remedy="`ragassay new` makes a corpus folder with one")
    text = read_text(path)
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        line = re.search(r"line (\d+)", str(error))
        raise InputError(f"is not TOML ({error})", file=path, line=int(line[1]) if line else None) from None
    try:
        return Experiment.model_validate(_with_tuples(data), strict=True)
    except ValidationError as error:
        raise _complaint(error, text, path) from None


def _with_tuples(value: Any) -> Any:
    """The data with tuples for lists, which is what strict checking wants."""
    if isinstance(value, dict):
        return {key: _with_tuples(part) for key, part in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value


_EXPECTED = {
    "bool_type": "must be true or false",
    "dict_type": "must be a table",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "model_type": "must be a table",
    "string_pattern_mismatch": "may hold letters, digits, dot, underscore and hyphen",
    "string_type": "must be text in quotes",
    "too_short": "must not be empty",
    "tuple_type": "must be a list in square brackets",
}
"""What to say for a kind of pydantic's errors, in the words of TOML."""


def _complaint(error: ValidationError, text: str, path: Path) -> InputError:
    problems = error.errors(include_url=False)
    first = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])
    location = first["loc"]
    of_a_grid = location[:1] in {("agent",), ("chunking",), ("retriever",)} and len(location) > 2
    if of_a_grid and isinstance(location[2], int):
        location = (*location[:2], *location[3:])  # without the number of a grid's combination
    keys = [part for part in location if part != "[key]"]
    name, line = plain(".".join(map(str, keys))), line_of(keys, text)
    if isinstance(cause := first.get("ctx", {}).get("error"), TableError):
        line = line_of_table(cause.kind, cause.name, text)
    if first["type"] == "extra_forbidden":
        return InputError(f"unknown key '{name}'", file=path, line=line, remedy=_known(location))
    if first["type"] == "missing":
        remedy = "`ragassay new` writes a commented example"
        return InputError(f"'{name}' is missing", file=path, line=line, remedy=remedy)
    message = str(first["msg"]).removeprefix("Value error, ")
    if MODEL_PATTERN in message:
        message = "a model is named provider:model, such as openai:gpt-4o"
    message = _EXPECTED.get(first["type"], message) if message == first["msg"] else message
    return InputError(plain(f"{name}: {message}" if name else message), file=path, line=line)


def _known(location: tuple[int | str, ...]) -> str | None:
    table: Any = Experiment
    for part in location[:-1]:
        if fields := getattr(table, "model_fields", None):
            table = fields[part].annotation if part in fields else None
        else:  # an item in a list of tables, or in a table of tables, whatever its name
            table = next((kind for kind in get_args(table)[::-1] if kind not in {Ellipsis, NoneType}), None)
    fields = getattr(table, "model_fields", None)
    return f"{did_you_mean(str(location[-1]), fields)}known here: {', '.join(fields)}" if fields else None


def line_of(keys: Sequence[str | int], text: str) -> int | None:
    """The line of the key, of what holds it where it is not there, or None; as far as a search by line can tell."""
    wanted = ".".join(key for key in keys if isinstance(key, str))
    index = next((key for key in keys[1:2] if isinstance(key, int)), 0)
    best, table, seen = None, "", Counter[str]()
    for number, line in enumerate(text.split("\n"), 1):
        if header := re.match(r"\s*\[+([^\]]+)\]+", line):
            table = name = _unquoted(header[1])
            seen[table] += 1
        elif assignment := re.match(r"\s*([^=#\[\]{}]+?)\s*=", line):
            name = ".".join(filter(None, [table, _unquoted(assignment[1])]))
        else:
            continue
        if (wanted + ".").startswith(name + ".") and seen[table] <= index + 1:
            best = number
    return best


def line_of_table(kind: str, name: str, text: str) -> int | None:
    """The line on which a `[[kind]]` is given this name."""
    table = ""
    for number, line in enumerate(text.split("\n"), 1):
        if header := re.match(r"\s*\[+([^\]]+)\]+", line):
            table = _unquoted(header[1])
        elif table == kind and re.match(rf"\s*name\s*=\s*[\"']{re.escape(name)}[\"']", line):
            return number
    return None


def _unquoted(name: str) -> str:
    return name.replace('"', "").replace("'", "").strip()
