"""What queries are beside their text: perturbed copies of others, and what people decided about them.

`question-edits.jsonl` in the corpus folder has a line a decision. Lines are only added; the last line of a question
counts. The questions stage goes by them (`synth.questions.edits`), and the workbench writes them. A question that the
rules rejected has no id of its own; `id_of_rejected` gives it one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from .errors import InputError
from .files import append_line, digest_json, first_problem, read_objects
from .records import Query, Record

FROM, KIND = "perturbed_from", "perturbation"
"""Fields of `metadata`: the original's id, and what was done to it."""


def original_of(metadata: Mapping[str, Any]) -> str | None:
    """The id of the query that one with this metadata was made of; None of an original."""
    original = metadata.get(FROM)
    return original if isinstance(original, str) and original else None


def perturbed_from(query: Query) -> str | None:
    """The id of the query that it was made of; None of an original."""
    return original_of(query.metadata)


def kind_of(query: Query) -> str:
    """What was done to it."""
    return str(query.metadata.get(KIND) or "perturbed")


def link_of(query: Query) -> dict[str, str]:
    """Its link as two columns of a table, `perturbed_from` and `perturbation`; nothing of an original."""
    original = perturbed_from(query)
    return {} if original is None else {FROM: original, KIND: kind_of(query)}


def originals(queries: Sequence[Query]) -> list[Query]:
    """Those that were not made of others, which are what a test set asks."""
    return [query for query in queries if perturbed_from(query) is None]


def left_out(n_perturbed: int) -> list[str]:
    """The sentence for what speaks of originals alone; nothing where there are no others."""
    if not n_perturbed:
        return []
    some = "1 perturbed question is" if n_perturbed == 1 else f"{n_perturbed:,} perturbed questions are"
    return [f"{some} left out: the same question in changed words is no further question"]


Action = Literal["accept", "edit", "reject"]


class Edit(Record):
    """A person's decision about the question `id`: it stays as it was written, has another text, or leaves the set.

    One that the rules rejected is taken into the set by "accept" and, with another text, by "edit".

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


def id_of_rejected(text: str, metadata: Mapping[str, Any]) -> str:
    """What a question of `rejected.jsonl` is called in decisions about it, and in the set once it was taken in.

    Its own id, if a person rejected it; else `r-` and the first ten digits of the SHA-256 of its text, model and
    section, so that it is the same in every run.
    """
    own = metadata.get("id")
    if isinstance(own, str) and own:
        return own
    return f"r-{digest_json([text, metadata.get('model'), metadata.get('section')])[:10]}"


def add_edit(path: Path, one: Edit) -> None:
    """Add a decision, on disk when this returns."""
    append_line(path, one.dump())
