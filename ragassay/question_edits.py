"""`question-edits.jsonl` in the corpus folder: what people decided about questions, a line a decision.

Lines are only added; the last line of a question counts. The questions stage goes by them (`synth.questions.edits`),
and the workbench writes them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from .errors import InputError
from .files import append_line, first_problem, read_objects
from .records import Record

Action = Literal["accept", "edit", "reject"]


class Edit(Record):
    """A person's decision about the question `id`: it stays as it was written, has another text, or leaves the set.

    text: an edited one's, else None. was: the text that was decided about. at: when, ISO 8601.
    """

    id: str = Field(min_length=1)
    action: Action
    text: str | None = None
    was: str = ""
    person: str = ""
    at: str = ""


def read_edits(path: Path) -> dict[str, Edit]:
    """Question id to the decision that counts; empty without a file. Raises InputError with the line."""
    edits: dict[str, Edit] = {}
    for line, value in read_objects(path) if path.exists() else ():
        try:
            one = Edit.model_validate(value)
        except ValidationError as error:
            remedy = "mend the line or remove it"
            raise InputError(first_problem(error), file=path, line=line, remedy=remedy) from None
        if one.action == "edit" and not (one.text or "").strip():
            raise InputError("edits a question and has no text", file=path, line=line, remedy="give it a text")
        edits[one.id] = one
    return edits


def add_edit(path: Path, one: Edit) -> None:
    """Add a decision, on disk when this returns."""
    append_line(path, one.dump())
