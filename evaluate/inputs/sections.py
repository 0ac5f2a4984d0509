"""The source sections of queries, from a BEIR queries file: `--sections` of `ragassay score` and `rate`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from ragassay.errors import InputError
from ragassay.files import read_records
from ragassay.perturbed import perturbed_from
from ragassay.records import Query
from ragassay.text import plain, same_words

from .clusters import ALONE, Clusters

_NAMED = 3


def read_clusters(path: Path | None, queries: Iterable[str], asked_in: Path) -> Clusters:
    """The clusters of `source_clusters`, by section alone, of the queries in `path`; `ALONE` without one.

    queries: the ids that need one, of the file `asked_in`. More in `path` is no harm. Raises InputError for a file that
    cannot be read, an id in it twice, no `metadata.section` at all, and, by name, the ids that it does not have.
    """
    if path is None:
        return ALONE
    rows = read_records(path, Query)
    often = Counter(row.id for row in rows)
    if twice := [query for query, times in often.items() if times > 1]:
        raise InputError(f"has the id '{plain(twice[0])}' twice", file=path)
    found = source_clusters(rows, by_text=False)
    if not any(name.startswith("section ") for name in found.names):
        remedy = 'give each {"_id": …, "text": …, "metadata": {"section": …}}, or leave --sections out'
        raise InputError("names no query's section", file=path, remedy=remedy)
    unknown = sorted(set(queries) - often.keys())
    if unknown:
        raise InputError(_lacks(unknown, asked_in), file=path, remedy="add them, each with its metadata.section")
    return found


def _lacks(unknown: list[str], asked_in: Path) -> str:
    named = ", ".join(f"'{plain(query)}'" for query in unknown[:_NAMED]) + (", …" if len(unknown) > _NAMED else "")
    some = "1 query" if len(unknown) == 1 else f"{len(unknown):,} queries"
    return f"lacks {some} of {asked_in}: {named}"


def source_clusters(queries: Sequence[Query], *, by_text: bool = True) -> Clusters:
    """The cluster of each query: the section it was made from, or itself where it names none.

    by_text: queries of the same text, whatever its case and white space, are of one cluster, and so is all that shares
    theirs. A text without a letter or digit is nobody's. A perturbed query is of its original's.
    """
    sections = {query.id: _section(query) for query in queries}
    for query in queries:
        if (original := perturbed_from(query)) is not None:
            sections[query.id] = sections.get(original, f"query {original}")
    texts = {query.id: same_words(query.text) if by_text else "" for query in queries}
    return Clusters.named(list(sections), _joined(list(sections.values()), [texts[query] for query in sections]))


def _joined(names: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Each one's name, or of names that a text joins, the first of them by the alphabet."""
    joined: dict[str, str] = {}

    def root(name: str) -> str:
        while name in joined:
            name = joined[name]
        return name

    of_text: dict[str, str] = {}
    for name, text in zip(names, texts, strict=True):
        low, high = sorted((root(name), root(of_text.setdefault(text, name) if text else name)))
        if low != high:
            joined[high] = low
    return [root(name) for name in names]


def _section(query: Query) -> str:
    section = query.metadata.get("section")
    if isinstance(section, str | int) and not isinstance(section, bool) and section != "":
        return f"section {query.metadata.get('doc', '')} {section}"
    return f"query {query.id}"
