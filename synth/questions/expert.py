"""`questions.txt`: the experts' questions, one a line, optionally `role<TAB>question`."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ragassay.errors import InputError
from ragassay.files import read_text

LONGEST_LINE = 2000
_WRITE_SOME = "write one question a line, optionally role<TAB>question"


class ExpertQuestion(NamedTuple):
    """What an expert asked; `role` is "" where none is given, `line` counts from 1."""

    text: str
    role: str
    line: int


def read_expert_questions(path: Path, *, needed: bool = True) -> tuple[ExpertQuestion, ...]:
    """The questions in the file's order, each text once; blank lines and lines that start with # are passed over.

    Where the file is not there and nothing is `needed`, there are none. Raises InputError, with the line where there is
    one: missing, not UTF-8, binary, a line too long, a role without its question, or no question at all.
    """
    if not path.exists():
        if needed:
            raise InputError("there are no expert questions", file=path, remedy=f"{_WRITE_SOME}, or set few_shot = 0")
        return ()
    found: dict[str, ExpertQuestion] = {}
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            question = _parse(line, path, number)
            found.setdefault(question.text.casefold(), question)
    if not found:
        raise InputError("has no question", file=path, remedy=_WRITE_SOME)
    return tuple(found.values())


def _parse(line: str, path: Path, number: int) -> ExpertQuestion:
    if len(line) > LONGEST_LINE:
        problem = f"is {len(line)} characters long, more than {LONGEST_LINE}"
        raise InputError(problem, file=path, line=number, remedy=_WRITE_SOME)
    columns = [" ".join(column.split()) for column in line.split("\t")]
    while len(columns) > 2 and not columns[-1]:
        columns.pop()
    if len(columns) > 2:
        raise InputError(f"has {len(columns)} columns", file=path, line=number, remedy=_WRITE_SOME)
    if not columns[-1]:
        raise InputError("has a role and no question", file=path, line=number, remedy=_WRITE_SOME)
    return ExpertQuestion(columns[-1], columns[0] if len(columns) == 2 else "", number)
