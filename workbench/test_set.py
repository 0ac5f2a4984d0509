"""The test set as it stands: what it is about, page by page, what was turned away and why, what people decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from markupsafe import Markup, escape
from pydantic_core import from_json

from ragassay.experiment.workspace import Workspace
from ragassay.files import read_objects
from ragassay.perturbed import original_of
from ragassay.question_edits import Edit, id_of_rejected, read_edits

Which = Literal["set", "perturbed", "pool", "rejected", "decided"]
WHICH: tuple[Which, ...] = ("set", "perturbed", "pool", "rejected", "decided")
FACETS = ("source", "model", "kind", "role", "doc")
AT_MOST = 12
"""Values of a facet that have a bar of their own."""


@dataclass(frozen=True)
class Question:
    """A question of the set, the pool, the rejected, or decided about by people.

    reason: why it was rejected; '' of one that was not.
    """

    id: str
    text: str
    metadata: Mapping[str, Any]
    reason: str = ""

    def value(self, facet: str) -> str:
        """What it has of a facet; '' where it says nothing of that."""
        if facet == "source":
            return "written by a model" if self.metadata.get("model") else "the user's own"
        found = self.metadata.get(facet)
        return found if isinstance(found, str) else ""

    @property
    def lacks(self) -> str:
        """What it would lack in the set, of one that the rules rejected: a sentence, or ''."""
        if not self.reason or self.metadata.get("evidence"):
            return ""
        if not isinstance(self.metadata.get("section"), str):
            return (
                "It names neither evidence nor section: it counts as a section of its own, and no page is shown of it."
            )
        if self.metadata.get("kind") is None or self.metadata.get("kind") == "unanswerable":
            return ""
        return (
            "It has no evidence in the documents, unlike the others: figures that are told by the evidence "
            "leave it out."
        )

    @property
    def pages(self) -> tuple[str, int, int] | None:
        """The document and the pages, from 1, that it says it is about."""
        doc, first, last = (self.metadata.get(name) for name in ("doc", "first_page", "last_page"))
        if isinstance(doc, str) and type(first) is int and type(last) is int and 1 <= first <= last:
            return doc, first, last
        return None


@dataclass(frozen=True)
class Strip:
    """A document's pages and which are asked about. n: questions; n_pages: those asked about of `pages` there are."""

    doc: str
    picture: Markup
    n: int
    n_asked: int
    pages: int


@dataclass(frozen=True)
class TestSet:
    """The questions of each kind, perturbed ones apart from the set, and how many pages each document has."""

    of: Mapping[Which, Sequence[Question]]
    pages: Mapping[str, int]

    @cached_property
    def bars(self) -> dict[str, list[tuple[str, int]]]:
        """Facet to its values in the set with how many questions have each, most first; nothing where none says."""
        return {facet: self._bars(facet) for facet in FACETS}

    def _bars(self, facet: str) -> list[tuple[str, int]]:
        counts = Counter(question.value(facet) for question in self.of["set"])
        if set(counts) <= {""}:
            return []
        return sorted(counts.items(), key=lambda pair: (pair[0] == "", -pair[1], pair[0]))

    @cached_property
    def strips(self) -> list[Strip]:
        """A strip a document, those asked about most first; documents that nothing is asked about at the end."""
        about: dict[str, list[tuple[int, int]]] = {doc: [] for doc in self.pages}
        for question in self.of["set"]:
            if found := question.pages:
                about.setdefault(found[0], []).append(found[1:])
        return sorted((self._strip(doc, spans) for doc, spans in about.items()), key=lambda s: (-s.n, s.doc))

    @cached_property
    def reasons(self) -> list[tuple[str, int]]:
        """Why questions were rejected, with how many, most first."""
        counts = Counter(_short(question.reason) for question in self.of["rejected"])
        return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))

    def _strip(self, doc: str, spans: Sequence[tuple[int, int]]) -> Strip:
        n_pages = max([self.pages.get(doc, 0), 1, *(last for _, last in spans)])
        asked = Counter(page for first, last in spans for page in range(first, last + 1))
        return Strip(doc, _picture(doc, asked, n_pages), len(spans), len(asked), n_pages)


def read_test_set(workspace: Workspace) -> TestSet:
    """Read it, or take what was read of the same files before. Raises InputError with file and line."""
    paths = (workspace.queries, workspace.pool, workspace.rejected, workspace.pages)
    return _read(paths, tuple(_seen(path) for path in paths))


def read_decisions(workspace: Workspace) -> dict[str, Edit]:
    """What people decided so far. Raises InputError with the line."""
    return read_edits(workspace.question_edits)


def found_in(questions: Iterable[Question], words: str, facets: Mapping[str, str]) -> list[Question]:
    """Those with all the words in text or reason, and these values of facets."""
    wanted = words.casefold().split()
    return [
        one
        for one in questions
        if all(word in f"{one.text} {one.reason}".casefold() for word in wanted)
        and all(one.value(name) == value for name, value in facets.items())
    ]


@lru_cache(maxsize=4)
def _read(paths: tuple[Path, ...], seen: tuple[object, ...]) -> TestSet:
    del seen
    queries, pool, rejected, pages = paths
    every = [Question(r["_id"], r["text"], r.get("metadata") or {}) for r in _rows(queries)]
    there = {question.id for question in every}
    kept = [one for one in every if original_of(one.metadata) is None]
    perturbed = [one for one in every if original_of(one.metadata) is not None]
    left = [Question(r["_id"], r["text"], r.get("metadata") or {}) for r in _rows(pool) if r["_id"] not in there]
    gone = [_rejected(row) for row in _rows(rejected)]
    counts: dict[str, int] = {}
    for row in _rows(pages):
        counts[str(row.get("doc"))] = max(counts.get(str(row.get("doc")), 0), int(row.get("page") or 0))
    return TestSet({"set": kept, "perturbed": perturbed, "pool": left, "rejected": gone}, counts)


def with_decided(found: TestSet, edits: Mapping[str, Edit]) -> TestSet:
    """With the questions that people decided about, as they were; those that are elsewhere no more are there too."""
    there = {one.id: one for which in ("set", "perturbed", "pool", "rejected") for one in found.of[which] if one.id}
    decided = [there.get(id) or Question(id, edit.was, {}) for id, edit in edits.items()]
    return TestSet({**found.of, "decided": decided}, found.pages)


def _rejected(row: dict[str, Any]) -> Question:
    metadata = row.get("metadata") or {}
    return Question(id_of_rejected(row["text"], metadata), row["text"], metadata, row["reason"])


def _rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a file, read by the quick reader; by the other, which says what is wrong, where that fails."""
    if not path.exists():
        return []
    try:
        found = [from_json(line) for line in path.read_bytes().split(b"\n") if line.strip()]
        if all(isinstance(one, dict) for one in found):
            return found
    except (ValueError, OSError):
        pass
    return [value for _, value in read_objects(path)]


def _seen(path: Path) -> object:
    return (path.stat().st_size, path.stat().st_mtime_ns) if path.exists() else None


def _short(reason: str) -> str:
    """A reason without the name of what it is about."""
    if reason.startswith("near-duplicate of the user's own"):
        return "near-duplicate of a question of the user's"
    return (
        next((kind for kind in ("near-duplicate", "copy of an", "copy of the") if reason.startswith(kind)), "")
        or (reason.split(":")[0].split(", by ")[0])
    )


def _picture(doc: str, asked: Mapping[int, int], n_pages: int) -> Markup:
    """A strip of pages from the first to the last; the more questions a page has, the darker it is, in three steps."""
    parts = ['<rect class="bed" x="0" y="0" width="100%" height="100%" rx="3"/>']
    width = 100 / n_pages
    for page, n in sorted(asked.items()):
        title = f"<title>page {page}: {n} {'question' if n == 1 else 'questions'}</title>"
        box = f'x="{(page - 1) * width:.3f}%" y="0" width="{max(width, 0.15):.3f}%" height="100%"'
        parts.append(f'<rect class="asked{min(n, 3)}" {box}>{title}</rect>')
    words = f"{doc}: {len(asked)} of {n_pages} pages are asked about"
    return Markup(f'<svg class="pages" role="img" aria-label="{escape(words)}">{"".join(parts)}</svg>')  # noqa: S704
