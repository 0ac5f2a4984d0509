"""From the tables `[[chunking]]` and `[[retriever]]` to the variants that they make, each with a name of its own.

A variant is named by its table and by what differs within it: `bm25-small-size_80-k1_0.9`. A hybrid of grids
pairs the members that share a chunking.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, NamedTuple, TypeVar

from ..records import grouped
from ..text import did_you_mean
from .tables import Table, TableError
from .variant_settings import MOST, OURS, WITHOUT, AgentSettings, Chunking, RetrieverSettings

Named = TypeVar("Named", Chunking, RetrieverSettings, AgentSettings)

LONGEST_NAME = 200
"""Characters of a variant's name, by which files are called."""

Parts = dict[str, str]
"""What varies in a variant: key to the value as it stands in its name."""


@dataclass(frozen=True)
class Variant:
    """A retriever with one value of everything. `chunking`: the name of what it searches, OURS for [ingest]'s.

    of: the names of the variants that a hybrid fuses. table: the name of its table.
    """

    name: str
    table: str
    chunking: str
    settings: RetrieverSettings
    of: tuple[str, ...] = ()
    parts: Parts = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Variants:
    """The variants of an experiment, those that a hybrid fuses before it. Making them raises ValueError."""

    chunking_tables: tuple[Chunking, ...]
    retriever_tables: tuple[RetrieverSettings, ...]

    @cached_property
    def chunkings(self) -> tuple[Chunking, ...]:
        """Each combination of the [[chunking]] tables, under a name of its own."""
        names = distinct_names(self.chunking_tables)
        check_names(names, "chunking", [table.name for table in self.chunking_tables])
        tables = zip(self.chunking_tables, names, strict=True)
        return tuple(table.model_copy(update={"name": name}) for table, name in tables)

    @cached_property
    def all(self) -> tuple[Variant, ...]:
        """Every variant, in the order of the tables but for what a hybrid needs first."""
        for name in self._tables:
            self._make(name, ())
        found = tuple(variant for variants in self._made.values() for variant in variants)
        if len(found) > MOST:
            raise ValueError(f"the tables make {len(found):,} retrievers, at most {MOST:,} can be run; shorten a list")
        check_names([variant.name for variant in found], "retriever", [variant.table for variant in found])
        return found

    @cached_property
    def by_name(self) -> Mapping[str, Variant]:
        return {variant.name: variant for variant in self.all}

    def named(self, name: str) -> tuple[Variant, ...]:
        """The variants of a table, or the one variant of that name. Raises ValueError."""
        if found := tuple(variant for variant in self.all if variant.table == name):
            return found
        if name in self.by_name:
            return (self.by_name[name],)
        raise ValueError(_unknown("retriever", name, [*dict.fromkeys(v.table for v in self.all), *self.by_name]))

    def needed(self, names: Sequence[str]) -> tuple[Variant, ...]:
        """These variants and those they are made of, each after what it needs."""
        wanted: set[str] = set()
        waiting = list(names)
        while waiting:
            if (name := waiting.pop()) not in wanted:
                wanted.add(name)
                waiting += self.by_name[name].of
        return tuple(variant for variant in self.all if variant.name in wanted)

    @cached_property
    def _tables(self) -> dict[str, list[RetrieverSettings]]:
        return _by_name(self.retriever_tables)

    @cached_property
    def _made(self) -> dict[str, tuple[Variant, ...]]:
        """By table, those made so far."""
        return {}

    def _make(self, name: str, above: tuple[str, ...]) -> tuple[Variant, ...]:
        """The variants of a table, and before it those of the tables that it is of."""
        if name in above:
            said = f"retriever '{name}' is of itself ({' of '.join([*above[above.index(name) :], name])})"
            raise TableError(said, "retriever", name)
        if name not in self._made:
            drafts: list[_Draft] = []
            for settings, parts in zip(self._tables[name], _differing(self._tables[name]), strict=True):
                if settings.kind == "hybrid":
                    members = [self._members(one, (*above, name)) for one in settings.of]
                    drafts += _pairs(settings, parts, members)
                else:
                    drafts += [_Draft(settings, chunking, parts) for chunking in self._searched(settings)]
                if len(drafts) > MOST:
                    raise _too_many(name)
            self._made[name] = _variants(name, drafts)
        return self._made[name]

    def _members(self, name: str, above: tuple[str, ...]) -> Sequence[Variant]:
        """What a name in `of` means: the variants of a table, or one variant of a table."""
        if name in self._tables:
            return self._make(name, above)
        for table in (table for table in self._tables if name.startswith(f"{table}-")):
            if found := [variant for variant in self._make(table, above) if variant.name == name]:
                return found
        said = f"'{above[-1]}' is of {_unknown('retriever', name, list(self._tables))}"
        raise TableError(said, "retriever", above[-1])

    def _searched(self, settings: RetrieverSettings) -> Sequence[str]:
        """The chunkings that a retriever is made for: the one it names (all of a table), or else all there are."""
        names = [one.name for one in self.chunkings]
        if settings.chunking is None:
            return names or [OURS]
        if settings.chunking == OURS:
            return [OURS]
        tables = [one.name for one in self.chunking_tables]
        if found := [n for n, table in zip(names, tables, strict=True) if settings.chunking in (n, table)]:
            return found
        said = _unknown("chunking", settings.chunking, [OURS, *tables])
        raise TableError(f"retriever '{settings.name}': {said}", "retriever", settings.name)


@dataclass(frozen=True)
class _Draft:
    settings: RetrieverSettings
    chunking: str
    parts: Parts
    of: tuple[Variant, ...] = ()


def _pairs(settings: RetrieverSettings, parts: Parts, members: Sequence[Sequence[Variant]]) -> list[_Draft]:
    """Each combination of members that search the same passages. Raises ValueError where there is none."""
    drafts: list[_Draft] = []
    for chunking in dict.fromkeys(variant.chunking for variant in members[0]):
        own = [[variant for variant in member if variant.chunking == chunking] for member in members]
        if len(drafts) + prod(map(len, own)) > MOST:
            raise _too_many(settings.name)
        drafts += [_Draft(settings, chunking, parts, of) for of in product(*own)]
    if not drafts:
        problem = f"'{settings.name}' is of retrievers that search different passages"
        remedy = f"give {' and '.join(settings.of)} a chunking in common"
        raise TableError(f"{problem}; {remedy}", "retriever", settings.name)
    return drafts


def _variants(name: str, drafts: Sequence[_Draft]) -> tuple[Variant, ...]:
    rows: list[Parts] = []
    for draft in drafts:
        row = {"chunking": draft.chunking, **draft.parts}
        for label, member in zip(draft.settings.of, draft.of, strict=False):
            own = {key: value for key, value in member.parts.items() if key != "chunking"}
            row |= {key if row.get(key, value) == value else f"{label}.{key}": value for key, value in own.items()}
        rows.append(row)
    keys = list(dict.fromkeys(key for row in rows for key in row))
    varied = [key for key in keys if len({row.get(key) for row in rows}) > 1]
    return tuple(
        Variant(
            _named(name, {key: row[key] for key in varied if key in row}),
            name,
            draft.chunking,
            draft.settings,
            tuple(member.name for member in draft.of),
            {key: row[key] for key in ("chunking", *varied) if key in row},
        )
        for draft, row in zip(drafts, rows, strict=True)
    )


def distinct_names(tables: Sequence[Named]) -> list[str]:
    """A name for each combination: its table's, and what differs within the table. Those of one table share a name."""
    names: list[str] = []
    for name, table in _by_name(tables).items():
        names += [_named(name, parts) for parts in _differing(table)]
    return names


def _by_name(tables: Sequence[Named]) -> dict[str, list[Named]]:
    return grouped((table.name, table) for table in tables)


def _differing(tables: Sequence[Table]) -> list[Parts]:
    """For each combination of one table, the keys whose values differ among them."""
    rows = [table.model_dump() for table in tables]
    keys = [key for key in rows[0] if len({repr(row[key]) for row in rows}) > 1]
    whole = {}
    for key in keys:
        values = ["none" if key in WITHOUT and row[key] is None else row[key] for row in rows]
        short = [_slug(value, whole=False) for value in values]  # the last part of a path, unless two would be the same
        same = len(set(short)) < len(set(map(repr, values)))
        whole[key] = [_slug(value, whole=True) for value in values] if same else short
    return [{key: whole[key][number] for key in keys} for number in range(len(rows))]


def _slug(value: Any, *, whole: bool) -> str:
    if isinstance(value, (tuple, list)):
        return "-".join(_slug(part, whole=whole) for part in value)
    text = f"{value:g}" if isinstance(value, float) else "default" if value is None else str(value)
    text = text if whole else re.split(r"[/\\:]", text.rstrip("/\\"))[-1]
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-") or "x"


def _named(name: str, parts: Parts) -> str:
    return "-".join([name, *(value if key == "chunking" else f"{key}_{value}" for key, value in parts.items())])


def check_names(names: Sequence[str], kind: str, tables: Sequence[str]) -> None:
    """Raises TableError where one is no name for a file, or two are one on some machine; `tables` are theirs."""
    by_file = Counter(name.casefold() for name in names)
    for name, table in zip(names, tables, strict=True):
        if by_file[name.casefold()] > 1:
            same = next(other for other in names[::-1] if other.casefold() == name.casefold())
            also = "" if same == name else f" and '{same}', which are one file on some machines"
            said = f"two variants would be named '{name}'{also}; give one of their tables another name"
            raise TableError(said, kind, table)
        if len(name) > LONGEST_NAME:
            said = f"the name '{name[:40]}…' would have {len(name)} characters, and a file's can have {LONGEST_NAME}"
            raise TableError(f"{said}; shorten the table's name or its lists", kind, table)
        if not name[0].isalnum():
            raise TableError(f"the name '{name}' must begin with a letter or a digit", kind, table)


def _too_many(name: str) -> TableError:
    return TableError(f"retriever '{name}' makes more than {MOST:,} variants; shorten a list", "retriever", name)


def _unknown(what: str, name: str, known: Sequence[str]) -> str:
    listed = ", ".join(dict.fromkeys(known)) or "none"
    return f"unknown {what} '{name}'; {did_you_mean(name, known)}known here: {listed}"


class TableAgent(NamedTuple):
    """An agent of a table that we answer for; variant: its retriever, None where it is handed the whole corpus."""

    name: str
    variant: Variant | None
    model: str
    prompt: str | None
    temperature: float | None
    tokens: int | None

    def is_plain(self, model: str) -> bool:
        """Whether it answers as agents do that say nothing of it, by `model`."""
        return self.model == model and self.prompt is None and self.temperature is None


BUILT_IN = "built-in"
WHOLE = "built-in for whole documents"
"""What our own prompts are called, where the experiment names none."""


class AnsweredBy(NamedTuple):
    """A model, and a prompt as the experiment or the answers name it; None where that is not known."""

    model: str | None
    prompt: str | None


def cross(by: Mapping[str, AnsweredBy]) -> dict[tuple[str, str], list[str]]:
    """(model, prompt) to the agents of which both are known; empty below two models or two prompts."""
    found = grouped(((m, p), agent) for agent, (m, p) in by.items() if m is not None and p is not None)
    enough = min(len({model for model, _ in found}), len({prompt for _, prompt in found})) >= 2
    return found if enough else {}


def make_agents(
    tables: Sequence[AgentSettings], variants: Variants, model: str
) -> tuple[TableAgent | AgentSettings, ...]:
    """Each combination of the tables, and of one that names a retriever with several variants each of these."""
    made: list[TableAgent | AgentSettings] = []
    for one, own in zip(tables, distinct_names(tables), strict=True):
        if one.is_own:
            made.append(one.model_copy(update={"name": own}))
            continue
        try:
            found = variants.named(one.retriever) if one.retriever else (None,)
        except ValueError as error:
            raise TableError(f"agent '{one.name}': {error}", "agent", one.name) from None
        for variant in found:
            part = variant.name.removeprefix(variant.table).strip("-") if variant else ""
            name = own if len(found) == 1 else f"{own}-{part}"
            if len(name) > LONGEST_NAME:
                said = f"agent '{name[:40]}…' has a name of {len(name)} characters"
                raise TableError(f"{said}, and a file's can have {LONGEST_NAME}; shorten it", "agent", one.name)
            said = one.model or model
            made.append(TableAgent(name, variant, said, one.prompt, one.temperature, one.tokens))
    return tuple(made)
