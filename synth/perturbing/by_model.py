"""Perturbations that a model makes: a paraphrase, and synonyms that it names for words of the question.

What it says of synonyms is checked against the question: all but the words that it names stays as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, create_model

from ragassay.calls.caller import Caller
from ragassay.models.requests import Batch, Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import Query
from ragassay.text import one_line, plain, same_words

PROMPTS = Path(__file__).with_name("prompts")

LONGEST = 60
"""Characters of a synonym, at most."""

_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Scripts that put no space between words."""


class Made(NamedTuple):
    """What became of a question: its text, None where there is nothing to change, or else why there is none."""

    text: str | None = None
    error: str | None = None


class Replacement(BaseModel):
    """A word of the question, and what stands in its place."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    word: str
    synonym: str


def made_by_model(
    kinds: Sequence[str], queries: Sequence[Query], seed: int, caller: Caller, model: str
) -> dict[str, list[Made]]:
    """Kind ("synonyms", "paraphrase") to what became of each query, all asked for together.

    Raises what the caller raises.
    """
    batches = [Batch(kind, model, _requests(kind, queries, seed)) for kind in kinds]
    return {
        kind: [_read(kind, query, reply) for query, reply in zip(queries, replies, strict=True)]
        for kind, replies in zip(kinds, caller.ask(batches) if batches else [], strict=True)
    }


def _requests(kind: str, queries: Sequence[Query], seed: int) -> tuple[Request, ...]:
    prompt = Prompt.load(PROMPTS / f"{kind}.md")
    schema = {"synonyms": _replacements}.get(kind, lambda text: None)
    return tuple(Request(prompt.render({"question": one.text}), schema(one.text), sample=seed) for one in queries)


def _read(kind: str, query: Query, reply: Reply) -> Made:
    if reply.error is not None:
        return Made(error=reply.error)
    text = _READ[kind](query.text, reply)
    if not text:
        return Made(error="the reply is empty")
    return Made(None if same_words(text) == same_words(query.text) else text)


def _paraphrase(_: str, reply: Reply) -> str:
    return " ".join((reply.text or "").split())


def _with_synonyms(text: str, reply: Reply) -> str:
    named: list[Replacement] = getattr(reply.value, "replacements", [])
    return replaced(text, {one.word: one.synonym for one in named})


_READ: Mapping[str, Callable[[str, Reply], str]] = {"paraphrase": _paraphrase, "synonyms": _with_synonyms}


def replaced(text: str, synonyms: Mapping[str, str]) -> str:
    """The text with each of these words replaced wherever it stands, with a capital where it had one."""
    if not synonyms:
        return text
    by_word = {word.casefold(): synonym.strip() for word, synonym in synonyms.items()}
    words = sorted(synonyms, key=len, reverse=True)

    def other(found: re.Match[str]) -> str:
        new = by_word[found.group().casefold()]
        return new[:1].upper() + new[1:] if found.group()[:1].isupper() else new

    return re.sub("|".join(map(_pattern, words)), other, text)


def _pattern(word: str) -> str:
    """The word by itself, not inside another one, where its script tells words apart."""
    bare = re.escape(word)
    if _UNSPACED.search(word):
        return bare
    return rf"(?<!\w){bare}(?!\w)"


def _replacements(text: str) -> type[BaseModel]:
    """The reply: `replacements`, whose words stand in this text."""

    def checked(given: list[Replacement]) -> list[Replacement]:
        twice = [word for word, n in Counter(one.word.casefold() for one in given).items() if n > 1]
        if twice:
            raise ValueError(f"'{plain(twice[0])}' is replaced twice")
        for one in given:
            _check(one, text)
        return given

    fields: Any = {"replacements": (Annotated[list[Replacement], AfterValidator(checked)], ...)}
    config = ConfigDict(extra="forbid", strict=True, frozen=True)
    return create_model("Replacements", __config__=config, __doc__="Words that have a synonym.", **fields)


def _check(one: Replacement, text: str) -> None:
    if not one.word.strip() or not re.search(_pattern(one.word), text):
        raise ValueError(f"'{plain(one.word[:LONGEST])}' is no word of the question as it stands there")
    new = one.synonym.strip()
    if not new or len(new) > LONGEST or one_line(new) != new:
        raise ValueError(f"the synonym of '{plain(one.word)}' is blank, long or more than a line of words")
    if same_words(new) == same_words(one.word):
        raise ValueError(f"the synonym of '{plain(one.word)}' is the word itself")
