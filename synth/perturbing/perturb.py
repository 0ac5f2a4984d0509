"""A test set with its questions changed in ways that leave what they ask: each linked to its original.

`metadata.perturbed_from` is the original's id, `metadata.perturbation` the kind; all else of `metadata` is the
original's, and the id is ORIGINAL.KIND. What a kind cannot change is left out and counted.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

from ragassay.calls.caller import Caller
from ragassay.errors import InputError
from ragassay.models.requests import Batch, Request
from ragassay.prompts import Prompt
from ragassay.records import Query
from ragassay.text import did_you_mean, plain, same_words

from . import by_rule

PARAPHRASE_PROMPT = Path(__file__).with_name("prompts") / "paraphrase.md"

KINDS = ("typos", "word-order", "synonyms", "case", "paraphrase")

Synonyms = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Perturbed:
    """The originals, each followed by what was made of it. unchanged, failed: kind to how many there are not, since it
    found nothing to change, or the model gave nothing (`errors`: why, each once)."""

    queries: list[Query]
    unchanged: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


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
            for number, row in enumerate(csv.reader(stream), 1):
                word, *others = (cell.strip() for cell in row or [""])
                if word and not any(others):
                    raise InputError(f"'{plain(word)}' has no synonym", file=path, line=number, remedy="word,synonym")
                if word:
                    table.setdefault(word.casefold(), []).extend(filter(None, others))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot be read ({error})", file=path) from None
    if not table:
        raise InputError("holds no synonym", file=path, remedy="write lines such as start,begin,commence")
    return table


def perturb(
    queries: Sequence[Query],
    kinds: Sequence[str],
    seed: int,
    table: Synonyms | None = None,
    caller: Caller | None = None,
    model: str = "",
) -> Perturbed:
    """Each query with one of each kind. table: of synonyms. caller, model: of paraphrases.

    The same queries, seed and replies give the same. Raises InputError where an original is a perturbation already, an
    id is taken, or a kind has not what it needs, and what the caller raises.
    """
    _check(queries, kinds, table, caller)
    found, made = Perturbed([]), dict[tuple[str, str], str | None]()
    for kind in kinds:
        if kind == "paraphrase":
            assert caller is not None
            made |= {(query, kind): text for query, text in _paraphrases(queries, seed, caller, model, found).items()}
        else:
            change = _rule(kind, table)
            made |= {(one.id, kind): change(one.text, Random(f"{seed} {kind} {one.id}")) for one in queries}
    for query in queries:
        found.queries.append(query)
        for kind in kinds:
            if (text := made.get((query.id, kind))) is not None:
                link = {"perturbed_from": query.id, "perturbation": kind}
                new = Query(id=f"{query.id}.{kind}", text=text, metadata={**query.metadata, **link})
                found.queries.append(new)
            elif (query.id, kind) in made:
                found.unchanged[kind] += 1
    return found


def _rule(kind: str, table: Synonyms | None) -> Callable[[str, Random], str | None]:
    rules = {"typos": by_rule.typos, "word-order": by_rule.word_order, "case": by_rule.case}
    return rules.get(kind) or partial(by_rule.synonyms, table=table or {})


def _check(queries: Sequence[Query], kinds: Sequence[str], table: Synonyms | None, caller: Caller | None) -> None:
    if "synonyms" in kinds and table is None:
        raise InputError("synonyms need a table", remedy="give --synonyms FILE.csv with lines word,synonym")
    if "paraphrase" in kinds and caller is None:
        raise InputError("paraphrase needs a model", remedy="give --model, such as openai:gpt-4o")
    if already := next((one.id for one in queries if "perturbed_from" in one.metadata), None):
        raise InputError(f"'{plain(already)}' is a perturbation already", remedy="give the originals alone")
    ids = {query.id for query in queries}
    if taken := next((new for one in queries for kind in kinds if (new := f"{one.id}.{kind}") in ids), None):
        raise InputError(f"the id '{plain(taken)}' is taken", remedy="rename that query")


def _paraphrases(
    queries: Sequence[Query], seed: int, caller: Caller, model: str, found: Perturbed
) -> dict[str, str | None]:
    """Query id to its paraphrase, None where it says the same word for word; without those that failed."""
    prompt = Prompt.load(PARAPHRASE_PROMPT)
    requests = tuple(Request(prompt.render({"question": query.text}), sample=seed) for query in queries)
    (replies,) = caller.ask([Batch("paraphrase", model, requests)])
    made: dict[str, str | None] = {}
    for query, reply in zip(queries, replies, strict=True):
        text = " ".join((reply.text or "").split())
        if reply.error is not None or not text:
            found.failed["paraphrase"] += 1
            why = reply.error or "the reply is empty"
            found.errors.extend([why] if why not in found.errors else [])
        else:
            made[query.id] = None if same_words(text) == same_words(query.text) else text
    return made
