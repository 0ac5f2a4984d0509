"""The test set as it stands: what it is about, page by page, what was turned away and why, what people decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

from markupsafe import Markup, escape
from pydantic_core import from_json
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ragassay.evaluate.human_labels.sheet import corpus_held
from ragassay.experiment.workspace import Action, Edit, Workspace, add_edit, id_of_rejected, read_edits
from ragassay.files import read_objects, while_unchanged
from ragassay.records import original_of
from ragassay.text import one_line

from ..asked import bench_of, form_of, is_part, now, person_of, render, start_of
from . import View

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
        found = {}
        for facet in FACETS:
            counts = Counter(question.value(facet) for question in self.of["set"])
            known = counts.items() if counts.keys() - {""} else ()
            found[facet] = sorted(known, key=lambda pair: (pair[0] == "", -pair[1], pair[0]))
        return found

    @cached_property
    def strips(self) -> list[Strip]:
        """A strip a document, those asked about most first; documents that nothing is asked about at the end."""
        about: dict[str, list[tuple[int, int]]] = {doc: [] for doc in self.pages}
        for question in self.of["set"]:
            if found := question.pages:
                about.setdefault(found[0], []).append(found[1:])
        strips = []
        for doc, spans in about.items():
            n_pages = max([self.pages.get(doc, 0), 1, *(last for _, last in spans)])
            asked = Counter(page for first, last in spans for page in range(first, last + 1))
            strips.append(Strip(doc, _picture(doc, asked, n_pages), len(spans), len(asked), n_pages))
        return sorted(strips, key=lambda strip: (-strip.n, strip.doc))

    @cached_property
    def reasons(self) -> list[tuple[str, int]]:
        """Why questions were rejected, with how many, most first."""
        counts = Counter(_short(question.reason) for question in self.of["rejected"])
        return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def read_test_set(workspace: Workspace) -> TestSet:
    """Read it, or take what was read of the same files before. Raises InputError with file and line."""
    return _read(workspace.queries, workspace.pool, workspace.rejected, workspace.pages)


def found_in(questions: Iterable[Question], words: str, facets: Mapping[str, str]) -> list[Question]:
    """Those with all the words in text or reason, and these values of facets."""
    wanted = words.casefold().split()
    return [
        one
        for one in questions
        if all(word in f"{one.text} {one.reason}".casefold() for word in wanted)
        and all(one.value(name) == value for name, value in facets.items())
    ]


@while_unchanged(4)
def _read(queries: Path, pool: Path, rejected: Path, pages: Path) -> TestSet:
    every, pooled = (
        [Question(row["_id"], row["text"], row.get("metadata") or {}) for row in _rows(path)]
        for path in (queries, pool)
    )
    there = {question.id for question in every}
    kept = [one for one in every if original_of(one.metadata) is None]
    perturbed = [one for one in every if original_of(one.metadata) is not None]
    left = [one for one in pooled if one.id not in there]
    gone = []
    for row in _rows(rejected):
        metadata = row.get("metadata") or {}
        gone.append(Question(id_of_rejected(row["text"], metadata), row["text"], metadata, row["reason"]))
    counts: dict[str, int] = {}
    for row in _rows(pages):
        counts[str(row.get("doc"))] = max(counts.get(str(row.get("doc")), 0), int(row.get("page") or 0))
    return TestSet({"set": kept, "perturbed": perturbed, "pool": left, "rejected": gone}, counts)


def with_decided(found: TestSet, edits: Mapping[str, Edit]) -> TestSet:
    """With the questions that people decided about, as they were; those that are elsewhere no more are there too."""
    there = {one.id: one for which in ("set", "perturbed", "pool", "rejected") for one in found.of[which] if one.id}
    decided = [there.get(id) or Question(id, edit.was, {}) for id, edit in edits.items()]
    return TestSet({**found.of, "decided": decided}, found.pages)


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


def _short(reason: str) -> str:
    """A reason without the name of what it is about."""
    if reason.startswith("near-duplicate of the user's own"):
        return "near-duplicate of a question of the user's"
    kinds = (kind for kind in ("near-duplicate", "copy of an", "copy of the") if reason.startswith(kind))
    return next(kinds, reason.split(":")[0].split(", by ")[0])


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


AT_ONCE = 60
LONGEST = 2000
"""Characters of an edited question."""


def show(request: Request) -> Response:
    """The whole page, or the rows of the list from `from` on where htmx asks."""
    bench, params = bench_of(request), request.query_params
    if not bench.workspace.queries.exists():
        said = "There is no test set yet: the run has not come to the questions."
        return render(request, "said.html.j2", bench, said=said)
    edits = read_edits(bench.workspace.question_edits)
    read = read_test_set(bench.workspace)
    found = with_decided(read, edits)
    which = cast(Which, params["which"]) if params.get("which") in WHICH else "set"
    facets = {name: params[name] for name in FACETS if params.get(name)}
    rows = found_in(found.of[which], params.get("words", "")[:200], facets)
    first = start_of(request)
    shown: dict[str, Any] = {
        "found": found,
        "which": which,
        "rows": rows[first : first + AT_ONCE],
        "n": len(rows),
        "first": first,
        "following": first + AT_ONCE if first + AT_ONCE < len(rows) else None,
        "edits": edits,
        "facets": read.bars,
        "strips": read.strips,
        "reasons": read.reasons,
        "at_most": AT_MOST,
        "params": params,
        "who": person_of(request),
        "waits": _waits(found, edits),
        "fault": None,
    }
    return render(request, "test_set_rows.html.j2" if is_part(request) else "test_set.html.j2", bench, **shown)


async def decide(request: Request) -> Response:
    """Write down a decision, and show the question with it."""
    return await run_in_threadpool(_decide, request, await form_of(request))


def _decide(request: Request, form: dict[str, list[str]]) -> Response:
    bench, who = bench_of(request), person_of(request)
    id, action, given = ((form.get(name) or [""])[0] for name in ("id", "action", "text"))
    edits = read_edits(bench.workspace.question_edits)
    found = with_decided(read_test_set(bench.workspace), edits)
    question = next((one for which in WHICH for one in found.of[which] if one.id == id), None)
    if question is None or action not in {"accept", "edit", "reject"}:
        raise HTTPException(404)
    text, fault = " ".join(given.split()), None
    if action == "edit":
        fault = _fault(text)
    elif action == "accept" and question.reason and _fault(" ".join(question.text.split())):
        fault = "No query can have this text. Edit it, and it is taken in with the text you give it."
    if fault is None:
        one = Edit(id=id, action=cast(Action, action), text=text if action == "edit" else None, was=question.text)
        one = one.model_copy(update={"person": who, "at": now()})
        with corpus_held(bench.workspace):
            add_edit(bench.workspace.question_edits, one)
        edits = {**edits, id: one}
    status = 200 if fault is None else 422
    return render(request, "test_set_row.html.j2", bench, status, row=question, edits=edits, fault=fault)


def _fault(text: str) -> str | None:
    """Why a question cannot have this text."""
    if not text:
        return "An edited question needs a text."
    if len(text) > LONGEST:
        return f"A question has at most {LONGEST:,} characters."
    return "There are control characters in the text." if one_line(text) != text else None


def _waits(found: TestSet, edits: dict[str, Edit]) -> int:
    """Decisions that the next run will honour: what is in the set or the pool and should not be so."""
    n = 0
    for which in ("set", "perturbed", "pool", "rejected"):
        for one in found.of[which]:
            if (edit := edits.get(one.id)) is None:
                continue
            if which == "rejected":
                n += edit.action != "reject"
            elif edit.action == "edit":
                n += one.text != edit.text
            else:
                n += edit.action == "reject" or "edited_from" in one.metadata
    return n


class TestSetView(View):
    """The test set, and decisions on its questions."""

    name, title, order = "test-set", "Test set", 40
    needs_corpus = True
    routes = (("/test-set", show, ["GET"]), ("/test-set/decide", decide, ["POST"]))
