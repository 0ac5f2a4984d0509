"""Questions that people bring: `questions.txt` of experts, and a test set of the user's own in `queries.jsonl` (BEIR),
or in a table or a JSON file named `questions` (ragassay/layouts/questions.py).

The experts' are examples for the models that write; the user's own stand instead of or beside synthetic ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ragassay.errors import InputError
from ragassay.evidence import given_pieces
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_objects, read_text
from ragassay.layouts.cells import Row
from ragassay.layouts.questions import Questions, checked, made_id, question_file, read_questions
from ragassay.records import Query, grouped
from ragassay.text import plain, same_words, some_of

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
    for number, line in _lines(path):
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
        question = ExpertQuestion(columns[-1], columns[0] if len(columns) == 2 else "", number)
        found.setdefault(question.text.casefold(), question)
    if not found:
        raise InputError("has no question", file=path, remedy=_WRITE_SOME)
    return tuple(found.values())


def _lines(path: Path) -> list[tuple[int, str]]:
    """The lines with their numbers from 1, but for those that are blank or start with #."""
    lines = enumerate(read_text(path).split("\n"), 1)
    return [(number, line) for number, line in lines if line.strip() and not line.lstrip().startswith("#")]


def read_test_set(workspace: Workspace) -> Questions:
    """The user's own questions: `queries.jsonl`, or `questions.csv` or one of its like, or else those of the experts.

    What is told is empty for a file whose fields leave nothing to guess. Raises InputError as the readers do, and
    where two files could be meant.
    """
    path = question_file(workspace.corpus)
    if path is None and not workspace.expert_questions.exists():
        remedy = (
            "put them there, or as questions.csv, .xlsx, .json or .jsonl, or one a line into questions.txt; or set "
            'questions.source = "synthetic"'
        )
        raise InputError("there are no questions of your own", file=workspace.own_queries, remedy=remedy)
    if path is None:
        asked = read_expert_questions(workspace.expert_questions)
        told = [{"role": one.role} if one.role else {} for one in asked]
        made = (Query(id=made_id(one.text), text=one.text, metadata=who) for one, who in zip(asked, told, strict=True))
        return Questions(tuple(made), "")
    if path != workspace.own_queries:
        return read_questions(path, workspace.experiment.questions.columns)
    return Questions(tuple(read_own_queries(path)), "")


def read_own_queries(path: Path) -> list[Query]:
    """The user's queries in the file's order; fields that are not ours are carried along in `metadata`.

    The id of one that has none is made of its text. Raises InputError with the line: no such file, no query, not a
    query, an id that is used twice or cannot stand in a TREC file, a text that is blank or not Unicode, or evidence in
    none of its forms.
    """
    lines: dict[str, int] = {}
    queries = []
    for number, value in read_objects(path):
        query = checked(Row(number, number, value, path))
        given_pieces(value, path, number)
        others = {key: other for key, other in value.items() if key not in {"_id", "id", "text", "metadata"}}
        if query.id in lines:
            raise InputError(f"the id '{query.id}' is also that of line {lines[query.id]}", file=path, line=number)
        lines[query.id] = number
        queries.append(query.model_copy(update={"metadata": {**others, **query.metadata}}))
    if not queries:
        raise InputError("has no query", file=path, remedy='write one {"_id": …, "text": …} a line')
    return queries


def same_text(queries: Sequence[Query]) -> list[str]:
    """A sentence where queries share their text: they are no more evidence than one."""
    groups = grouped((same_words(query.text), query.id) for query in queries)
    shared = [ids for text, ids in groups.items() if text and len(ids) > 1]
    if not shared:
        return []
    said = f"{sum(map(len, shared))} queries have a text that another has too ({some_of(map(plain, shared[0]))})"
    return [f"{said}; in intervals and tests they count as {'one' if len(shared) == 1 else len(shared)}"]


def read_keep(path: Path) -> tuple[str, ...]:
    """The ids in the file's order, each once; blank lines and those that start with # are passed over.

    Raises InputError: missing, not UTF-8, or a line that is no id.
    """
    if not path.is_file():
        raise InputError("is not there", file=path, remedy="write one question id a line, or remove questions.keep")
    found: dict[str, None] = {}
    for number, line in _lines(path):
        if len(line.split()) > 1:
            raise InputError("is not one question id", file=path, line=number, remedy="write one id a line")
        found[line.strip()] = None
    return tuple(found)
