"""Roles written from the corpus: who would come to these documents with a need, a sentence each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ragassay.calls.caller import Caller
from ragassay.models.requests import Reply, Request
from ragassay.prompts import Prompt, fence
from ragassay.records import Section, WrittenRole
from ragassay.text import one_line, plain, same_words
from ragassay.tokens import count_tokens

from .drafts import Asked, ask
from .sample import sample_sections
from .setup import PROMPTS, Setup

ROLES_PROMPT = PROMPTS / "roles.md"
FEWEST, MOST = 4, 8
LONGEST = 200
"""Characters of a role; a longer one is no sentence about a person."""
NAMES_TOKENS = 800
"""What the names of documents may take of the request."""
TEXT_TOKENS = 4200
"""What the beginnings of sections may take; with names, fences and instructions the request stays near 6,000 tokens."""
N_SECTIONS = 24

_LETTERS = 8
"""Characters of a text that are looked at for each token of its beginning."""


class Role(BaseModel):
    """Somebody who would come to the documents."""

    model_config = ConfigDict(extra="forbid")

    role: str = Field(description="Who it is and what brings them here, in one short sentence.")


def usable(roles: Sequence[Role]) -> list[str]:
    """The roles as prompts may show them, at most `MOST`, each on one line and once.

    What is empty, too long to be a role, or has a tag's brackets, which could close the fences of later prompts, is
    left out.
    """
    found: dict[str, str] = {}
    for item in roles:
        line = one_line(item.role)
        if (words := same_words(line)) and len(line) <= LONGEST and not {"<", ">"} & set(line):
            found.setdefault(words, line)
    return list(found.values())[:MOST]


def _enough(roles: list[Role]) -> list[Role]:
    if len(usable(roles)) < FEWEST:
        raise ValueError(f"{len(usable(roles))} different roles of at most {LONGEST} characters, {FEWEST} are needed")
    return roles


class Roles(BaseModel):
    """The people who come to the documents."""

    model_config = ConfigDict(extra="forbid")

    roles: Annotated[list[Role], AfterValidator(_enough), Field(json_schema_extra={"maxItems": MOST})]


def request_roles(setup: Setup, sections: Sequence[Section]) -> Asked:
    """The request to the first model of the quota: names of documents, and how some sections begin, spread by seed."""
    settings = setup.experiment.questions
    docs = list(dict.fromkeys(section.doc for section in sections))
    drawn = sample_sections(sections, N_SECTIONS, settings.seed)
    told = list(_within(dict.fromkeys([*(one.doc for one in drawn), *docs]), NAMES_TOKENS))
    shown = [{"doc": one.doc, "text": _beginning(one.text, TEXT_TOKENS // len(drawn))} for one in drawn]
    values = {"documents": told, "n_more": len(docs) - len(told), "sections": shown}
    messages = Prompt.load(ROLES_PROMPT).render(values | {"language": setup.experiment.corpus.language})
    return Asked("roles", next(iter(settings.quota)), Request(messages, Roles))


def ask_roles(
    setup: Setup, sections: Sequence[Section], caller: Caller, calls: list[tuple[Asked, Reply]]
) -> tuple[Setup, list[WrittenRole]]:
    """The setup with the roles that the model gives, and these; where `roles` is not "corpus", as it was and none.

    Where no reply can be used the setup has no role, and the one record says why. `calls` gets what was asked.
    """
    if setup.experiment.questions.roles != "corpus":
        return setup, []
    asked = request_roles(setup, sections)
    (reply,) = ask(caller, [asked], list(setup.experiment.questions.quota))
    calls.append((asked, reply))
    if not isinstance(reply.value, Roles):
        return setup, [WrittenRole(model=asked.model, error=reply.error)]
    roles = usable(reply.value.roles)
    return replace(setup, written_roles=tuple(roles)), [WrittenRole(model=asked.model, role=role) for role in roles]


def told_of(roles: Sequence[WrittenRole]) -> list[str]:
    """The sentence for the user: who asks, or why nobody is named; none where no role was asked for."""
    if not roles:
        return []
    if roles[0].role is None:
        return [
            f"no role was written from the corpus, so the questions name nobody who asks: {plain(str(roles[0].error))}"
        ]
    listed = "; ".join(str(one.role) for one in roles)
    return [f"asked as: {listed} (written by {roles[0].model}; put them into `roles` to keep or change them)"]


def _within(names: Iterable[str], tokens: int) -> Iterator[str]:
    """The first of the names, as many as `tokens` allow, fences and all."""
    for name in names:
        tokens -= count_tokens(fence("document", name))
        if tokens < 0:
            return
        yield name


def _beginning(text: str, tokens: int) -> str:
    """The longest beginning of a text that has at most `tokens`."""
    head = text[: tokens * _LETTERS]
    return head[: bisect_right(range(len(head) + 1), tokens, key=lambda end: count_tokens(head[:end])) - 1]
