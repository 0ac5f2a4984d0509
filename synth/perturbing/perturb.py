"""A test set with its questions changed in ways that leave what they ask: each linked to its original.

`metadata.perturbed_from` is the original's id, `metadata.perturbation` the kind; all else of `metadata` is the
original's, and the id is ORIGINAL.KIND. What a kind cannot change is left out and counted.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, create_model

from ragassay.calls.caller import Caller
from ragassay.errors import InputError
from ragassay.models.requests import Batch, Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import PERTURBATION, PERTURBED_FROM, Query, perturbed_from
from ragassay.text import did_you_mean, one_line, plain, same_words

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

    What the model says of synonyms is checked against the question: all but the words that it names stays as it is.
    Raises what the caller raises.
    """
    batches = []
    for kind in kinds:
        prompt = Prompt.load(PROMPTS / f"{kind}.md")
        asked = [(prompt.render({"question": one.text}), one.text) for one in queries]
        of = _replacements if kind == "synonyms" else lambda text: None
        batches.append(Batch(kind, model, tuple(Request(said, of(text), sample=seed) for said, text in asked)))
    found: dict[str, list[Made]] = {}
    for kind, replies in zip(kinds, caller.ask(batches) if batches else [], strict=True):
        found[kind] = [_read(kind, query.text, reply) for query, reply in zip(queries, replies, strict=True)]
    return found


def _read(kind: str, asked: str, reply: Reply) -> Made:
    if reply.error is not None:
        return Made(error=reply.error)
    text = " ".join((reply.text or "").split())
    if kind == "synonyms":
        text = replaced(asked, {one.word: one.synonym for one in getattr(reply.value, "replacements", ())})
    if not text:
        return Made(error="the reply is empty")
    return Made(None if same_words(text) == same_words(asked) else text)


def replaced(text: str, synonyms: Mapping[str, str]) -> str:
    """The text with each of these words replaced wherever it stands, with a capital where it had one."""
    if not synonyms:
        return text
    by_word = {word.casefold(): synonym.strip() for word, synonym in synonyms.items()}
    words = "|".join(map(_pattern, sorted(synonyms, key=len, reverse=True)))
    return re.sub(words, lambda found: _capital_as(found, by_word[found.group().casefold()]), text)


def _capital_as(found: re.Match[str], new: str) -> str:
    return new[:1].upper() + new[1:] if found.group()[:1].isupper() else new


def _pattern(word: str) -> str:
    """The word by itself, not inside another one, where its script tells words apart."""
    bare = re.escape(word)
    return bare if _UNSPACED.search(word) else rf"(?<!\w){bare}(?!\w)"


def _replacements(text: str) -> type[BaseModel]:
    """The reply: `replacements`, whose words stand in this text."""

    def checked(given: list[Replacement]) -> list[Replacement]:
        twice = [word for word, n in Counter(one.word.casefold() for one in given).items() if n > 1]
        if twice:
            raise ValueError(f"'{plain(twice[0])}' is replaced twice")
        for one in given:
            if not one.word.strip() or not re.search(_pattern(one.word), text):
                raise ValueError(f"'{plain(one.word[:LONGEST])}' is no word of the question as it stands there")
            new = one.synonym.strip()
            if not new or len(new) > LONGEST or one_line(new) != new:
                raise ValueError(f"the synonym of '{plain(one.word)}' is blank, long or more than a line of words")
            if same_words(new) == same_words(one.word):
                raise ValueError(f"the synonym of '{plain(one.word)}' is the word itself")
        return given

    fields: Any = {"replacements": (Annotated[list[Replacement], AfterValidator(checked)], ...)}
    config = ConfigDict(extra="forbid", strict=True, frozen=True)
    return create_model("Replacements", __config__=config, __doc__="Words that have a synonym.", **fields)


Synonyms = Mapping[str, Sequence[str]]

SHARE = 0.2
"""Of the words of a question, those that get a typing error or change places; one at least."""

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_LETTERS = re.compile(r"[^\W\d_]{4,}")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю")
_NEIGHBOURS = {key: [*row[max(at - 1, 0) : at], *row[at + 1 : at + 2]] for row in _ROWS for at, key in enumerate(row)}
"""The keys beside each in its row, of the English and the Russian keyboard."""


def typos(text: str, random: Random) -> str | None:
    """In words of four letters and more, a letter inside becomes its neighbour on the keyboard or changes places.

    Scripts whose keyboard is not known here get only the second. The first and the last letter stay.
    """
    words = list(_LETTERS.finditer(text))
    if not words:
        return None
    changed = list(text)
    for word in random.sample(words, max(1, round(SHARE * len(words)))):
        at = random.randrange(word.start() + 1, word.end() - 1)
        near = _NEIGHBOURS.get(text[at].lower(), [])
        if near and random.random() < 0.5:
            key = random.choice(near)
            changed[at] = key.upper() if text[at].isupper() else key
        elif inside := [at for at in range(word.start() + 1, word.end() - 2) if text[at] != text[at + 1]]:
            at = random.choice(inside)
            changed[at], changed[at + 1] = text[at + 1], text[at]
    made = "".join(changed)
    return made if made != text else None


def word_order(text: str, random: Random) -> str | None:
    """Words side by side change places; what stands between words stays where it is."""
    said = _WORD.findall(text)
    pairs = [at for at in range(len(said) - 1) if said[at] != said[at + 1]]
    free, wanted = set(pairs), max(1, round(SHARE * len(said) / 2))
    for at in random.sample(pairs, len(pairs)):
        if at in free and wanted:
            said[at], said[at + 1] = said[at + 1], said[at]
            free -= {at - 1, at, at + 1}
            wanted -= 1
    moved = iter(said)
    made = _WORD.sub(lambda _: next(moved), text)
    return made if made != text else None


def case(text: str, random: Random) -> str | None:
    """All letters small, all capital, or each word with a capital; None in scripts that have no case."""
    made = [one for one in dict.fromkeys((text.lower(), text.upper(), text.title())) if one != text]
    return random.choice(made) if made else None


def synonyms(text: str, random: Random, table: Synonyms) -> str | None:
    """Each word that the table has becomes one of its synonyms, with a capital where it had one."""

    def other(found: re.Match[str]) -> str:
        known = table.get(found.group().casefold())
        return _capital_as(found, random.choice(list(known))) if known else found.group()

    made = _WORD.sub(other, text)
    return made if made != text else None


KINDS = ("typos", "word-order", "synonyms", "case", "paraphrase")
"""Each gives the text changed, or None where it has nothing to change. The same random numbers give the same text."""


@dataclass(frozen=True)
class Perturbed:
    """The originals, each followed by what was made of it. unchanged, failed: kind to how many there are not, since it
    found nothing to change, or the model gave nothing (`errors`: kind to why, of the first)."""

    queries: list[Query]
    unchanged: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    errors: dict[str, str] = field(default_factory=dict)


def check_kinds(names: Sequence[str]) -> tuple[str, ...]:
    """The kinds named, each once. Raises InputError."""
    if unknown := next((name for name in names if name not in KINDS), None):
        remedy = f"{did_you_mean(unknown, KINDS)}known are {', '.join(KINDS)}"
        raise InputError(f"there is no perturbation '{plain(unknown)}'", remedy=remedy)
    if not names:
        raise InputError("--kinds names no perturbation", remedy=f"known are {', '.join(KINDS)}")
    return tuple(dict.fromkeys(names))


def read_synonyms(path: Path) -> Synonyms:
    """Word to synonyms, from lines `word,synonym,synonym…`. Raises InputError with the line."""
    table: dict[str, list[str]] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.reader(stream)
            for row in rows:
                word, *others = (cell.strip() for cell in row or [""])
                if word and not any(others):
                    problem = f"'{plain(word)}' has no synonym"
                    raise InputError(problem, file=path, line=rows.line_num, remedy="word,synonym")
                if word:
                    table.setdefault(word.casefold(), []).extend(filter(None, others))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot be read ({error})", file=path) from None
    if not table:
        raise InputError("holds no synonym", file=path, remedy="write lines such as start,begin,commence")
    return table


def asks_model(kinds: Sequence[str], table: Synonyms | None) -> list[str]:
    """Those of the kinds that a model is asked for: synonyms where there is no table of them."""
    return [kind for kind in kinds if kind == "paraphrase" or (kind == "synonyms" and table is None)]


def perturb(
    queries: Sequence[Query],
    kinds: Sequence[str],
    seed: int,
    table: Synonyms | None = None,
    caller: Caller | None = None,
    model: str = "",
) -> Perturbed:
    """Each query with one of each kind. table: of synonyms. caller, model: of what a model makes.

    The same queries, seed and replies give the same. Raises InputError where an original is a perturbation already, an
    id is taken, or a kind has not what it needs, and what the caller raises.
    """
    asked = asks_model(kinds, table)
    if "synonyms" in asked and caller is None:
        remedy = "give --synonyms FILE.csv with lines word,synonym, or --model, such as openai:gpt-4o"
        raise InputError("synonyms need a table or a model", remedy=remedy)
    if asked and caller is None:
        raise InputError("paraphrase needs a model", remedy="give --model, such as openai:gpt-4o")
    if already := next((one.id for one in queries if perturbed_from(one) is not None), None):
        raise InputError(f"'{plain(already)}' is a perturbation already", remedy="give the originals alone")
    ids = {query.id for query in queries}
    if taken := next((id for one in queries for kind in kinds if (id := f"{one.id}.{kind}") in ids), None):
        raise InputError(f"the id '{plain(taken)}' is taken", remedy="rename that query")
    given = made_by_model(asked, queries, seed, caller, model) if asked and caller else {}
    for kind in kinds:
        if kind not in given:
            rules = {"typos": typos, "word-order": word_order, "case": case}
            change = rules.get(kind) or partial(synonyms, table=table or {})
            given[kind] = [Made(change(one.text, Random(f"{seed} {kind} {one.id}"))) for one in queries]
    found = Perturbed([])
    for number, query in enumerate(queries):
        found.queries.append(query)
        for kind in kinds:
            made = given[kind][number]
            if made.error is not None:
                found.failed[kind] += 1
                found.errors.setdefault(kind, made.error)
            elif made.text is None:
                found.unchanged[kind] += 1
            else:
                link = {PERTURBED_FROM: query.id, PERTURBATION: kind}
                new = {"id": f"{query.id}.{kind}", "text": made.text, "metadata": {**query.metadata, **link}}
                found.queries.append(Query(**new, history=query.history))
    return found
