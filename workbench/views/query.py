"""One query: its evidence, the agents' answers by who won, the games beside them, passages, and what was said."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal
from urllib.parse import quote, urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ragassay.errors import InputError
from ragassay.evaluate.judging.judges.games import LETTERS
from ragassay.evaluate.measures.by_step import passage_of
from ragassay.evaluate.report.plots import colours_of
from ragassay.evaluate.report.queries import GameView, game_views
from ragassay.evaluate.report.queries import place as place_named
from ragassay.evaluate.results import POINTS
from ragassay.evaluate.texts.sentences import CITATION
from ragassay.evidence import Span
from ragassay.retrieval.dependencies import REWRITING_FAILED

from ..asked import Bench, bench_of, index_of, render
from ..index.read import Index
from ..pages.pictures import Library
from ..pages.texts import documents_of, evidence_in
from . import View
from .queries import listing_of, marked, measure_of, places, row_of, values_of

SHORTEST = 3
"""Words that two answers share in a row for these to count as the same; fewer are a coincidence that only confuses."""

LARGEST = 4_000_000
"""Words of one text times those of the other, up to which they are compared."""

_TOKEN = re.compile(rf"{CITATION.pattern}|\w+|\s+|[^\w\s]")
_IN_A_CITATION = re.compile(r"\d{1,3}|\D+")

Kind = Literal["same", "new", "gone"]


@dataclass(frozen=True)
class Piece:
    """A part of an answer. kind: "new" where the reference does not have it, "gone" where only the reference has it;
    to: the number of the passage that it cites."""

    text: str
    kind: Kind = "same"
    to: int | None = None


@dataclass(frozen=True)
class Group:
    """Agents whose answers are the same words and cite the same passages. pieces: the answer; is_reference: whether
    the others are compared with it; compared: whether the pieces say how it differs from the reference."""

    answers: Sequence[Mapping[str, Any]]
    pieces: Sequence[Piece]
    is_reference: bool = False
    compared: bool = False

    @property
    def agents(self) -> list[str]:
        """Their names."""
        return [str(answer["name"]) for answer in self.answers]


def groups_of(
    answers: Sequence[Mapping[str, Any]], numbers: Mapping[str, int], reference: str | None = None
) -> list[Group]:
    """The answers in the agents' order, equal ones together at the first one's place.

    numbers: passage id to the number by which it is linked to. reference: an agent with whose answer the others are
    compared, word by word.
    """
    together: dict[tuple[object, ...], list[Mapping[str, Any]]] = {}
    for answer in answers:
        key: tuple[object, ...] = (None, answer["error"])
        if (text := answer["text"]) is not None:
            cited = (n for citation in CITATION.findall(text) for n in re.findall(r"\d{1,3}", citation))
            key = (" ".join(text.split()), *(_cited(int(n), answer) for n in cited))
        together.setdefault(key, []).append(answer)
    base = next((a["text"] for a in answers if a["name"] == reference and a["text"] is not None), None)
    groups = []
    for rows in together.values():
        first, own = rows[0], any(row["name"] == reference for row in rows)
        if first["text"] is None:
            groups.append(Group(rows, ()))
            continue
        found = None if base is None or own else differences(base, first["text"])
        spans: list[tuple[str, Kind]] = [(first["text"], "same")] if found is None else found
        pieces = [piece for text, kind in spans for piece in _linked(text, kind, first, numbers)]
        groups.append(Group(rows, pieces, own and base is not None, found is not None))
    return groups


def _cited(number: int, answer: Mapping[str, Any]) -> str | None:
    """The id of the passage that [number] of an answer means: the first of its record is [1]."""
    passages = answer["passages"]
    return str(passages[number - 1]) if 0 < number <= len(passages) else None


def differences(reference: str, text: str) -> list[tuple[str, Kind]] | None:
    """`text` in parts, with what only one of the two has; None where they are too long to be compared.

    The parts that are not "gone" make `text` up, those that are not "new" the words of the reference.
    """
    one, other = _TOKEN.findall(reference), _TOKEN.findall(text)
    if len(one) * len(other) > LARGEST:
        return None
    parts: list[tuple[str, Kind]] = []
    i_at = j_at = 0
    for i, j, size in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
        last = size == 0
        if not last and sum(not token.isspace() for token in one[i : i + size]) < SHORTEST and one != other:
            continue
        changed: tuple[tuple[list[str], Kind], ...] = ((one[i_at:i], "gone"), (other[j_at:j], "new"))
        parts += [("".join(tokens), kind) for tokens, kind in changed if tokens]
        if size:
            parts.append(("".join(other[j : j + size]), "same"))
        i_at, j_at = i + size, j + size
    return parts


def _linked(text: str, kind: Kind, answer: Mapping[str, Any], numbers: Mapping[str, int]) -> Iterator[Piece]:
    """The text with its citations as pieces of their own; those of the reference's words lead nowhere."""
    if kind == "gone":
        yield Piece(text, kind)
        return
    ids = sorted((re.escape(id) for id in answer["passages"] if id in numbers), key=len, reverse=True)
    named = "|".join([CITATION.pattern, *(rf"(?<![\w.-]){id}(?![\w-])" for id in ids)])
    at = 0
    for match in re.finditer(named, text):
        if match.start() > at:
            yield Piece(text[at : match.start()], kind)
        if match[0] in numbers:
            yield Piece(match[0], kind, numbers[match[0]])
        else:
            for part in _IN_A_CITATION.findall(match[0]):
                to = numbers.get(_cited(int(part), answer) or "") if part.isdecimal() else None
                yield Piece(part, kind, to)
        at = match.end()
    if at < len(text):
        yield Piece(text[at:], kind)


def lists_of(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each list as the index has it; `shown` is (letter, agents of the answer that stood there)."""
    return [
        {**row, "shown": [(LETTERS[at : at + 1] or str(at + 1), some) for at, some in enumerate(row["shown"])]}
        for row in rows
    ]


@dataclass(frozen=True)
class Standing:
    """An agent among the others on this query. points: the mean over its opponents, 0 to 1, None without any; met: what
    became of its games ("beat", "tied with", "lost to", "no verdict against") to (agent, number of the pair)."""

    points: float | None
    met: Mapping[str, Sequence[tuple[str, int]]]


MET = ("beat", "tied with", "lost to", "no verdict against")


def standings(pairs: Sequence[GameView], agents: Sequence[str], points: Mapping[str, float]) -> dict[str, Standing]:
    """Every agent, most points first, those without any last; of several judges each verdict counts."""
    met: dict[str, dict[str, list[tuple[str, int]]]] = {agent: {} for agent in agents}
    for number, pair in enumerate(pairs, 1):
        for verdict in pair.verdicts:
            for mine, other in (pair.pair, pair.pair[::-1]):
                score = verdict.score_of([mine])
                said = MET[3] if score is None else MET[{1.0: 0, 0.5: 1, 0.0: 2}[score]]
                met.setdefault(mine, {}).setdefault(said, []).append((other, number))
    order = sorted(met, key=lambda agent: -points.get(agent, -1.0))
    return {agent: Standing(points.get(agent), {said: met[agent].get(said, []) for said in MET}) for agent in order}


@dataclass(frozen=True)
class Failure:
    """Why there is no answer. stage: when that was, after "failed"; same: of the agent's `n` failed answers those with
    this error; commonest: what most of them say, where that is another."""

    stage: str
    same: int
    n: int
    commonest: str


def failures_of(index: Index, answers: Sequence[Mapping[str, Any]], own: Collection[str]) -> dict[str, Failure]:
    """Of the agents whose answer failed. own: the user's own systems."""
    sql = "SELECT error, count(*) AS n FROM answers WHERE agent = ? AND error NOT NULL GROUP BY error ORDER BY 2 DESC"
    found = {}
    for answer in answers:
        if (error := answer["error"]) is None:
            continue
        counts = {row["error"]: row["n"] for row in index.rows(sql, (answer["agent"],))}
        most, n = next(iter(counts)), counts[error]
        stage, given = "before a model was asked for the answer, or with no passage", len(answer["passages"])
        if answer["name"] in own:
            stage = "in your own system"
        elif error.startswith(REWRITING_FAILED):
            stage = "while rewriting the query, before anything was searched"
        elif given:
            stage = f"while answering, with {given} {'passage' if given == 1 else 'passages'}"
        found[answer["name"]] = Failure(stage, n, sum(counts.values()), most if counts[most] > n else "")
    return found


@dataclass(frozen=True)
class PassageShown:
    """number: from 1 within the query. passage: None where the corpus does not have it. found: (agent, rank from 1);
    none where it was only judged. unused: (agent, step from 1) where a step found it and the answer was not given it.
    page: the address of the page it stands on, None where it names none."""

    number: int
    id: str
    passage: Mapping[str, Any] | None
    where: str
    found: Sequence[tuple[str, int]]
    labels: Sequence[Mapping[str, Any]]
    page: str | None
    unused: Sequence[tuple[str, int]] = ()


Searches = Mapping[str, Mapping[str, Any]]
"""Agent to its steps, as the index has them."""


def ids_of(answers: Sequence[Mapping[str, Any]], labels: Sequence[Mapping[str, Any]], searches: Searches) -> list[str]:
    """The passages that agents handed to their answers, as they come, those of steps, those that were only judged."""
    given = [str(id) for answer in answers for id in answer["passages"]]
    given += [id for one in searches.values() for hop in one["hops"] for id in hop["passages"]]
    return list(dict.fromkeys([*given, *(row["subject"] for row in labels if row["of"] == "passage")]))


def passages_of(
    query: Mapping[str, Any],
    answers: Sequence[Mapping[str, Any]],
    labels: Sequence[Mapping[str, Any]],
    known: Mapping[str, Mapping[str, Any]],
    searches: Searches,
    address: Callable[[Mapping[str, Any], Mapping[str, str]], str | None],
) -> list[PassageShown]:
    """Every passage of a query. known: those of the corpus by id; address: of a page, by metadata and what is asked."""
    found: dict[str, list[tuple[str, int]]] = {}
    for answer in answers:
        for rank, id in enumerate(dict.fromkeys(answer["passages"]), 1):
            found.setdefault(id, []).append((answer["name"], rank))
    given: dict[str, list[Mapping[str, Any]]] = {}
    for row in labels:
        if row["of"] != "answer":
            given.setdefault(row["subject"], []).append(row)
    unused: dict[str, dict[str, int]] = {}
    for agent, one in searches.items():
        for step, hop in enumerate(one["hops"], 1):
            for id in hop["passages"]:
                if agent not in dict(found.get(id, ())):
                    unused.setdefault(id, {}).setdefault(agent, step)
    shown = []
    for number, id in enumerate(ids_of(answers, labels, searches), 1):
        where, page = "", None
        if (passage := known.get(id)) is not None:
            where = place_named(passage["metadata"])
            page = address(passage["metadata"], {"passage": id, "query": query["id"]})
        steps = list(unused.get(id, {}).items())
        shown.append(PassageShown(number, id, passage, where, found.get(id, []), given.get(id, []), page, steps))
    return shown


def page_address(bench: str, doc: object, page: object, asked: Mapping[str, str]) -> str | None:
    """The address of a document's page; None where it is not named."""
    if not isinstance(doc, str) or not doc or not isinstance(page, int):
        return None
    return f"/{bench}/page/{quote(doc)}/{page}?{urlencode(asked)}"


DRAWN_AHEAD = 4
"""Pages of the evidence and the first passages that are drawn while one reads the query's page."""

AS_ASKED = frozenset({"evidence", "doc", "first_page", "last_page"})
"""Metadata that is shown in a way of its own."""


@dataclass(frozen=True)
class EvidenceShown:
    """A piece of the evidence of a query: its words, where they stand, and the address of the page. number: from 1, of
    one by which steps are measured."""

    text: str
    where: str
    page: str | None
    number: int | None = None


@dataclass(frozen=True)
class StepShown:
    """A search. hop: the record of it; passages: their ids, each once. first: the names of the pieces of evidence that
    no step before had found, and where on the page they stand; said: what it was besides, in words; recall: after it;
    fresh: the share of its passages that are new; both None where that is not known."""

    hop: Mapping[str, Any]
    passages: Sequence[str]
    first: Sequence[tuple[str, str]] = ()
    said: Sequence[str] = ()
    recall: float | None = None
    fresh: float | None = None


@dataclass(frozen=True)
class Trace:
    """An agent's steps, in their order. missed: the evidence that none found; unused: what was found of it and not
    handed to the answer, None where nobody says what was; lost: recall of all less that of what was handed over.
    why_not: why nothing is known of all that; None where it is."""

    agent: str
    steps: Sequence[StepShown]
    missed: Sequence[tuple[str, str]] = ()
    unused: Sequence[tuple[str, str]] | None = None
    lost: float | None = None
    why_not: str | None = None


def pieces_of(searches: Searches) -> list[Span]:
    """The evidence of a query as its steps are measured by it."""
    brought = [one["brought"] for one in searches.values() if one["brought"]]
    return sorted({Span(*piece) for one in brought for part in (*one["first"], one["missed"]) for piece in part})


def traces_of(searches: Searches, numbers: Mapping[str, int]) -> list[Trace]:
    """Each agent's steps. numbers: passage id to the number by which it is linked to."""
    of_texts = [piece for piece in pieces_of(searches) if passage_of(piece) is None]

    def named(found: Sequence[Sequence[Any]]) -> list[tuple[str, str]]:
        """What each piece of evidence is called, and where on the page it stands; "" where it does not."""
        names = []
        for piece in (Span(*one) for one in found):
            if (passage := passage_of(piece)) is None:
                number = of_texts.index(piece) + 1
                names.append((f"E{number}", f"#evidence-{number}"))
            elif passage in numbers:
                names.append((f"P{numbers[passage]}", f"#passage-{numbers[passage]}"))
            else:
                names.append((passage, ""))
        return names

    made = []
    for agent, one in searches.items():
        hops = [(hop, list(dict.fromkeys(hop["passages"]))) for hop in one["hops"]]
        if (told := one["brought"]) is None:
            made.append(Trace(agent, [StepShown(*hop) for hop in hops], why_not=one["why_not"]))
            continue
        words = {"wasted": "wasted", "surplus": "surplus: all was found before", "repeated": "asked before"}
        steps = [
            StepShown(
                *hop,
                named(told["first"][n]),
                [said for name, said in words.items() if told[name][n]],
                told["recall"][n],
                told["fresh"][n],
            )
            for n, hop in enumerate(hops)
        ]
        unused = None if told["unused"] is None else named(told["unused"])
        made.append(Trace(agent, steps, named(told["missed"]), unused, told["lost"]))
    return made


def show(request: Request) -> Response:
    """The page of a query, by its id; what the list was asked for goes along, for the next and the previous."""
    bench, index = bench_of(request), index_of(request)
    place = index.place_of(request.path_params["query"])
    if place is None:
        raise HTTPException(404)
    (query,) = index.queries([place])
    answers, labels, searches = index.answers(place), index.labels(place), index.steps(place)
    known = index.passages(ids_of(answers, labels, searches))
    library: Library = request.app.state.library

    def address(about: Mapping[str, Any], asked: Mapping[str, str]) -> str | None:
        """Of the page that something stands on, where there is something to show of it."""
        doc, page = about.get("doc"), about.get("first_page")
        return page_address(bench.name, doc, page, asked) if library.has_page(bench.workspace, doc, page) else None

    passages = passages_of(query, answers, labels, known, searches, address)
    evidence = _evidence(library, bench, query, [one for one in pieces_of(searches) if passage_of(one) is None])
    _draw_ahead(library, bench, query, passages)
    numbers = {passage.id: passage.number for passage in passages}
    listing = listing_of(request.query_params)
    measure = measure_of(index, listing)
    pairs = game_views(index.games(place), index.agents)
    points = {agent: float(column[place]) for agent, column in index.column(POINTS).items()}
    ranked = standings(pairs, index.agents, {agent: value for agent, value in points.items() if value == value})
    answers.sort(key=lambda answer: list(ranked).index(answer["name"]))
    own = {agent.name for agent in bench.workspace.experiment.own_agents()}
    conversation = None  # of a turn its name, which of its turns it says it is, and of those asked, from 1
    if name := query["conversation"]:
        conversation = {"name": name, "turn": query["turn"], "at": index.turns(name).index(place) + 1}
    made_of = query["metadata"]
    causes = index.rows("SELECT name, cause FROM causes JOIN agents ON place = agent WHERE query = ?", (place,))
    shown: dict[str, Any] = {
        "groups": groups_of(answers, numbers, request.query_params.get("reference")),
        "standings": ranked,
        "failures": failures_of(index, answers, own),
        "causes": {row["name"]: row["cause"] for row in causes},
        "own": own,
        "traces": traces_of(searches, numbers),
        "traced": {agent: number for number, agent in enumerate(searches, 1)},
        "passages": passages,
        "numbers": numbers,
        "labels": by_answer(labels),
        "pairs": pairs,
        "lists": lists_of(index.lists(place)),
        "row": row_of(query, (), "", measure, None if measure is None else values_of(index, measure.name)),
        "measure": measure,
        "conversation": conversation,
        "metadata": _told(query),
        "history": query["history"],
        "evidence": evidence,
        "made_from": (place_named(made_of), address(made_of, {"query": query["id"]})),
        "question": marked(query["text"], listing.words),
        "colour": colours_of(index.agents),
        "listing": listing,
        "n_agents": len(index.agents),
    }
    return render(request, "query.html.j2", bench, query=query, **shown, **_around(index, request, place))


def _around(index: Index, request: Request, place: int) -> dict[str, Any]:
    """The queries before and after it in the list, and where in the list it is (from 1)."""
    listed = places(index, listing_of(request.query_params))
    if place not in listed:
        return {"before": None, "after": None, "at": None, "n_listed": len(listed)}
    at = listed.index(place)
    near = {row["place"]: row["id"] for row in index.queries(listed[max(at - 1, 0) : at + 2])}
    before = near[listed[at - 1]] if at else None
    after = near[listed[at + 1]] if at + 1 < len(listed) else None
    return {"before": before, "after": after, "at": at + 1, "n_listed": len(listed)}


def by_answer(labels: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Agent to what judges and evaluators gave its answer."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in labels:
        if row["of"] != "passage":
            found.setdefault(row["subject"], []).append(row)
    return found


def _told(query: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Metadata as names and values."""
    not_shown = AS_ASKED | ({"conversation", "turn"} if query["conversation"] else set())
    given = {name: value for name, value in query["metadata"].items() if name not in not_shown}
    words = {True: "yes", False: "no"}
    told = {name: words[one] if isinstance(one, bool) else str(one) for name, one in given.items() if one is not None}
    return [(name, text) for name, text in told.items() if text]


def _draw_ahead(library: Library, bench: Bench, query: Mapping[str, Any], passages: Sequence[PassageShown]) -> None:
    """Pages of the document that the query is about, which one may look at next."""
    about = [query["metadata"], *(one.passage["metadata"] for one in passages if one.passage is not None and one.page)]
    places = [(one.get("doc"), one.get("first_page")) for one in about]
    there = [(doc, page) for doc, page in dict.fromkeys(places) if library.has_page(bench.workspace, doc, page)]
    if there:
        pages = [page for doc, page in there if doc == there[0][0]]
        library.ahead(bench.workspace, there[0][0], pages[:DRAWN_AHEAD])


def _evidence(library: Library, bench: Bench, query: Mapping[str, Any], pieces: Sequence[Span]) -> list[EvidenceShown]:
    """What the query says of it; pieces that steps are measured by are named by their numbers."""
    found = []
    for doc in dict.fromkeys([*(piece.doc for piece in pieces), *documents_of(query["metadata"])]):
        try:
            document = library.document(bench.workspace, doc)
        except InputError:
            continue
        if document is None:
            continue
        numbers = {piece[1:]: number for number, piece in enumerate(pieces, 1) if piece.doc == doc}
        given = [(one.start, one.end) for one in evidence_in(query["metadata"], document)]
        for start, end in [*numbers, *(one for one in given if _stripped(document.text, *one) not in numbers)]:
            pages = [piece.page for piece in document.pieces(start, end)]
            where = {"doc": doc, "first_page": pages[0], "last_page": pages[-1]} if pages else {"doc": doc}
            address = page_address(bench.name, doc, where.get("first_page"), {"query": query["id"]})
            number = numbers.get((start, end))
            found.append(EvidenceShown(document.text[start:end], place_named(where), address, number))
    return found


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """The stretch without the white space at its ends."""
    begin = start + len(text[start:end]) - len(text[start:end].lstrip())
    return begin, begin + len(text[start:end].strip())


class QueryPage(View):
    """One query, which the list leads to."""

    name, title, order = "query", "", 21
    routes = (("/queries/{query:path}", show, ["GET"]),)
