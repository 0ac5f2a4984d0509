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
from ragassay.perturbed import FROM, KIND, perturbed_from
from ragassay.records import Query
from ragassay.text import did_you_mean, plain

from . import by_rule
from .by_model import Made, made_by_model

KINDS = ("typos", "word-order", "synonyms", "case", "paraphrase")

Synonyms = Mapping[str, Sequence[str]]


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
                    raise InputError(
                        f"'{plain(word)}' has no synonym", file=path, line=rows.line_num, remedy="word,synonym"
                    )
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
    _check(queries, kinds, asked, caller)
    given = made_by_model(asked, queries, seed, caller, model) if asked and caller else {}
    for kind in kinds:
        if kind not in given:
            change = _rule(kind, table)
            given[kind] = [Made(change(one.text, Random(f"{seed} {kind} {one.id}"))) for one in queries]
    found = Perturbed([])
    for number, query in enumerate(queries):
        found.queries.append(query)
        for kind in kinds:
            _add(found, query, kind, given[kind][number])
    return found


def _add(found: Perturbed, query: Query, kind: str, made: Made) -> None:
    """What was made of the query, or what there was instead."""
    if made.error is not None:
        found.failed[kind] += 1
        found.errors.setdefault(kind, made.error)
    elif made.text is None:
        found.unchanged[kind] += 1
    else:
        link = {FROM: query.id, KIND: kind}
        found.queries.append(Query(id=f"{query.id}.{kind}", text=made.text, metadata={**query.metadata, **link}))


def _rule(kind: str, table: Synonyms | None) -> Callable[[str, Random], str | None]:
    rules = {"typos": by_rule.typos, "word-order": by_rule.word_order, "case": by_rule.case}
    return rules.get(kind) or partial(by_rule.synonyms, table=table or {})


def _check(queries: Sequence[Query], kinds: Sequence[str], asked: Sequence[str], caller: Caller | None) -> None:
    if "synonyms" in asked and caller is None:
        remedy = "give --synonyms FILE.csv with lines word,synonym, or --model, such as openai:gpt-4o"
        raise InputError("synonyms need a table or a model", remedy=remedy)
    if asked and caller is None:
        raise InputError("paraphrase needs a model", remedy="give --model, such as openai:gpt-4o")
    if already := next((one.id for one in queries if perturbed_from(one) is not None), None):
        raise InputError(f"'{plain(already)}' is a perturbation already", remedy="give the originals alone")
    ids = {query.id for query in queries}
    if taken := next((new for one in queries for kind in kinds if (new := f"{one.id}.{kind}") in ids), None):
        raise InputError(f"the id '{plain(taken)}' is taken", remedy="rename that query")
