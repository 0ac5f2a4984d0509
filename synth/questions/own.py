"""Questions that people bring: `questions.txt` of experts, and `queries.jsonl` (BEIR), a test set of the user's own.

The experts' are examples for the models that write; the user's own stand instead of or beside synthetic ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.evidence import given_pieces
from ragassay.files import check_record, digest_bytes, first_problem, json_line, read_objects, read_text
from ragassay.records import Query
from ragassay.text import plain, same_words

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
            question = _expert_question(line, path, number)
            found.setdefault(question.text.casefold(), question)
    if not found:
        raise InputError("has no question", file=path, remedy=_WRITE_SOME)
    return tuple(found.values())


def _expert_question(line: str, path: Path, number: int) -> ExpertQuestion:
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


def read_test_set(queries: Path, questions: Path, *, own: bool) -> list[Query]:
    """The user's `queries.jsonl`; where there is none, and the test set is all their `own`, `questions.txt`.

    Of its lines the ids are `q-` and the first ten digits of the text's SHA-256. Raises InputError as both readers do.
    """
    if own and questions.exists() and not queries.exists():
        asked = read_expert_questions(questions)
        role = [{"role": one.role} if one.role else {} for one in asked]
        ids = [f"q-{digest_bytes(one.text.encode())[:10]}" for one in asked]
        return [Query(id=id, text=one.text, metadata=told) for id, one, told in zip(ids, asked, role, strict=True)]
    return read_own_queries(queries)


_ID = re.compile(r"[A-Za-z0-9._-]+")


def read_own_queries(path: Path) -> list[Query]:
    """The user's queries in the file's order; fields that are not ours are carried along in `metadata`.

    Raises InputError with the line: no such file, no query, not a query, an id that is used twice or cannot stand in a
    TREC file, a text that is blank or not Unicode, or evidence in none of its forms.
    """
    if not path.exists():
        remedy = (
            'put queries in BEIR\'s layout there, or with source = "own" questions into questions.txt, one a line, '
            'or set questions.source = "synthetic"'
        )
        raise InputError("there are no queries", file=path, remedy=remedy)
    lines: dict[str, int] = {}
    queries = []
    for number, value in read_objects(path):
        query = _own_query(value, path, number)
        if query.id in lines:
            raise InputError(f"the id '{query.id}' is also that of line {lines[query.id]}", file=path, line=number)
        lines[query.id] = number
        queries.append(query)
    if not queries:
        raise InputError("has no query", file=path, remedy='write one {"_id": …, "text": …} a line')
    return queries


def same_text(queries: Sequence[Query]) -> list[str]:
    """A sentence where queries share their text: they are no more evidence than one."""
    groups: dict[str, list[str]] = {}
    for query in queries:
        groups.setdefault(same_words(query.text), []).append(query.id)
    shared = [ids for text, ids in groups.items() if text and len(ids) > 1]
    if not shared:
        return []
    named = ", ".join(plain(query) for query in shared[0][:3]) + (", …" if len(shared[0]) > 3 else "")
    n = sum(map(len, shared))
    counted = "count as one" if len(shared) == 1 else f"count as {len(shared)}"
    return [f"{n} queries have a text that another has too ({named}); in intervals and tests they {counted}"]


def _own_query(value: dict[str, object], path: Path, line: int) -> Query:
    try:
        query = Query.model_validate(value)
        json_line(value).encode()
    except ValidationError as error:
        raise InputError(first_problem(error), file=path, line=line) from None
    except ValueError:
        raise InputError("has NaN or half of a surrogate pair in it", file=path, line=line) from None
    check_record(query, path, line)
    given_pieces(value, path, line)
    if not query.text.strip():
        raise InputError("text: is blank", file=path, line=line)
    if not _ID.fullmatch(query.id):
        remedy = "use letters, digits, dot, underscore and hyphen"
        raise InputError(f"the id '{plain(query.id)}' cannot be used", file=path, line=line, remedy=remedy)
    others = {key: other for key, other in value.items() if key not in {"_id", "id", "text", "metadata"}}
    return query.model_copy(update={"metadata": {**others, **query.metadata}})
