"""The report's short word on how far the test set can be trusted: a line a part, the warnings first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import ValidationError

from ragassay.digests import digest_file
from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import first_problem, read_json

from ...results.validity import PARTS, Part, ValiditySaid


class Line(NamedTuple):
    """warning: whether it speaks against the set; said: nothing where there is nothing to say."""

    part: str
    said: str
    warning: bool


def read_validity(workspace: Workspace) -> tuple[Line, ...]:
    """A line for each part of `validity.json`, those with a warning first; none without one, or of other queries.

    Raises InputError where it is of another layout.
    """
    path = workspace.validity
    if not path.is_file() or not workspace.queries.is_file():
        return ()
    try:
        found = ValiditySaid.model_validate(read_json(path))
    except ValidationError as error:
        remedy = f"run `ragassay validity {workspace.corpus}` again, or remove it"
        raise InputError(first_problem(error), file=path, remedy=remedy) from None
    return _lines(found) if found.queries == digest_file(workspace.queries) else ()


def _lines(found: ValiditySaid) -> tuple[Line, ...]:
    parts: Mapping[str, Part] = {name: getattr(found, name) for name in PARTS}
    lines = [_line(name, part) for name, part in parts.items()]
    return tuple(sorted(lines, key=lambda line: not line.warning))


def _line(name: str, part: Part) -> Line:
    """Its warnings, or else the first sentence, or else why there is none."""
    if part.warnings:
        return Line(name, " ".join(part.warnings), True)
    if part.said:
        return Line(name, part.said[0], False)
    return Line(name, f"Not said: {part.abstained}" if part.abstained else "", False)
