"""The report's last part: every query with what was answered, found and judged, and each passage once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from jinja2 import Environment
from markupsafe import Markup

from ragassay.experiment.workspace import Workspace, read_not_asked
from ragassay.files import Rankings, read_model, read_objects, read_records, read_run
from ragassay.records import (
    Answer,
    Game,
    Judgment,
    Passage,
    Query,
    QuestionsCheck,
    RankedList,
    Record,
    original_of,
    own_failures,
)
from ragassay.table import Column, Row, Table

from ..inputs.clusters import writer
from ..inputs.labels import HIGHEST
from ..ratings.verdicts import Verdict, verdicts

R = TypeVar("R", bound=Record)
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

REFUSAL = "refusal"
"""Said of an answer by yes or no, and no grade of it."""


@dataclass(frozen=True)
class Evidence:
    """The files' content, by what it is about. A file that is not there leaves its part empty."""

    queries: list[Query]
    passages: dict[str, Passage]
    rankings: dict[str, Rankings]
    answers: dict[str, dict[str, Answer]]
    rewrites: dict[str, dict[str, Any]]
    relevance: dict[tuple[str, str], list[Judgment]]
    pointwise: dict[tuple[str, str], list[Judgment]]
    games: dict[str, list[Game]]
    unreadable: list[tuple[str, str]]
    lists: dict[str, list[RankedList]] = field(default_factory=dict)
    looks: str | None = None
    kinds_asked: Mapping[str, float] = field(default_factory=dict)
    suspicious: Table | None = None
    not_asked: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class PassageView:
    """A passage as one query saw it: `number` counts from 1 within the query, `found` is (agent, rank from 1)."""

    number: int
    id: str
    passage: Passage | None
    place: str
    judgments: list[Judgment]
    found: list[tuple[str, int]]


@dataclass(frozen=True)
class AnswerView:
    """What one agent did with a query. `answer` is None where there is no line for it; `rewritten` where its own."""

    agent: str
    answer: Answer | None
    passages: list[PassageView]
    judgments: list[Judgment]
    rewritten: tuple[str, ...]


@dataclass(frozen=True)
class GameView:
    """One pair's game (its best-ranked agent first): the verdict, one for each time it was played, and its rows."""

    pair: tuple[str, str]
    verdicts: list[Verdict]
    rows: list[Game]


@dataclass(frozen=True)
class QueryView:
    """Everything about one query; `n_failed`: answers, judgments and game orders that failed by themselves.

    number: from 1 in the order of the test set. spread: how far the mean labels of two answers lie apart at most, 0
    where fewer have any. n_flipped: games whose winner changes with the order. not_asked: agents that a plan left out.
    """

    number: int
    query: Query
    source: str
    writer: str
    rewrites: tuple[str, ...]
    rewrite_error: str | None
    answers: list[AnswerView]
    passages: list[PassageView]
    games: list[GameView]
    n_failed: int
    spread: float
    n_flipped: int
    lists: list[RankedList] = field(default_factory=list)
    not_asked: tuple[str, ...] = ()


def read_evidence(workspace: Workspace, agents: Sequence[str]) -> Evidence:
    """Read what is there. Raises InputError, with the line, where a file is not as the design has it."""
    questions = workspace.experiment.questions
    rankings = {a: read_run(workspace.rankings(a)) for a in agents if workspace.rankings(a).is_file()}
    answers = {a: {r.query_id: r for r in _records(workspace.answers(a), Answer)} for a in agents}
    relevance, pointwise = _records(workspace.relevance, Judgment), _records(workspace.pointwise, Judgment)
    retrieved = (pid for run in rankings.values() for row in run.values() for pid, _ in row)
    cited = (pid for rows in answers.values() for row in rows.values() for pid in row.passages)
    wanted = {*retrieved, *cited, *(judgment.subject for judgment in relevance)}
    return Evidence(
        queries=_records(workspace.queries, Query),
        passages={p.id: p for p in _records(workspace.passages, Passage) if p.id in wanted},
        rankings=rankings,
        answers=answers,
        rewrites={str(row.get("query_id")): row for row in _objects(workspace.rewrites)},
        relevance=_grouped(relevance, lambda row: (row.query_id, row.subject)),
        pointwise=_grouped(pointwise, lambda row: (row.query_id, row.subject)),
        games=_grouped(_records(workspace.games, Game), lambda row: row.query_id),
        unreadable=unreadable_documents(workspace),
        lists=_grouped(_records(workspace.lists, RankedList), lambda row: row.query_id),
        looks=looks_said(workspace),
        kinds_asked=questions.kinds if questions.from_needs else {},
        suspicious=suspicious_pages(workspace.suspicious_pages),
        not_asked=read_not_asked(workspace.not_asked),
    )


def query_views(evidence: Evidence, agents: Sequence[str], k: int) -> list[QueryView]:
    """Each query of the test set in its order; `k` passages of a ranking stand for an answer that names none."""
    return [_query_view(evidence, number, query, agents, k) for number, query in enumerate(evidence.queries, 1)]


def _query_view(evidence: Evidence, number: int, query: Query, agents: Sequence[str], k: int) -> QueryView:
    out = tuple(agent for agent in agents if (query.id, agent) in evidence.not_asked)
    agents = [agent for agent in agents if agent not in out]
    given, found = dict[str, list[str]](), dict[str, list[tuple[str, int]]]()
    for agent in agents:
        answer = evidence.answers.get(agent, {}).get(query.id)
        ranked = [pid for pid, _ in evidence.rankings.get(agent, {}).get(query.id, [])[:k]]
        given[agent] = list(dict.fromkeys(answer.passages if answer else ())) or ranked
        for rank, pid in enumerate(given[agent], 1):
            found.setdefault(pid, []).append((agent, rank))
    by_id = {}
    for at, (pid, ranks) in enumerate(found.items(), 1):
        passage, labels = evidence.passages.get(pid), evidence.relevance.get((query.id, pid), [])
        by_id[pid] = PassageView(at, pid, passage, place(passage.metadata) if passage else "", labels, ranks)
    passages = list(by_id.values())
    rewrite = evidence.rewrites.get(query.id, {})
    rewrites = tuple(str(text) for text in rewrite.get("queries") or ())
    answers = []
    for agent in agents:
        answer = evidence.answers.get(agent, {}).get(query.id)
        judgments = evidence.pointwise.get((query.id, agent), [])
        own = answer.queries if answer and set(answer.queries) - {query.text, *rewrites} else ()
        answers.append(AnswerView(agent, answer, [by_id[pid] for pid in given[agent]], judgments, own))
    means = [mean for view in answers if (mean := mean_label(view.judgments)) is not None]
    games = game_views(evidence.games.get(query.id, []), agents)
    rows: list[Answer | Judgment | Game] = [view.answer for view in answers if view.answer]
    rows += [judgment for view in answers for judgment in view.judgments]
    rows += [judgment for view in passages for judgment in view.judgments]
    rows += [row for game in games for row in game.rows]
    return QueryView(
        number=number,
        query=query,
        source=place(query.metadata),
        writer=writer(query) or "",
        rewrites=rewrites,
        rewrite_error=str(rewrite["error"]) if rewrite.get("error") else None,
        answers=answers,
        passages=passages,
        games=games,
        n_failed=len(own_failures(rows)),
        spread=round(max(means) - min(means), 9) if means else 0.0,
        n_flipped=sum(verdict.flipped is True for game in games for verdict in game.verdicts),
        lists=evidence.lists.get(query.id, []),
        not_asked=out,
    )


def mean_label(judgments: Iterable[Judgment]) -> float | None:
    """Of one answer, 0 to 2; None where no label is there. Refusals are no grade."""
    labels = [j.label for j in judgments if j.label is not None and j.criterion != REFUSAL]
    return sum(labels) / len(labels) if labels else None


HARDEST = 8
"""How many queries are named as those answered worst."""


class Worst(NamedTuple):
    """A query that is answered badly: the mean label over agents, 0 to 2, n of them; its best answer's mean, whose."""

    view: QueryView
    mean: float
    n: int
    best: float
    agents: tuple[str, ...]


def worst(views: Sequence[QueryView]) -> list[Worst]:
    """The queries as first asked that are answered worst, at most HARDEST of them; those answered as well as may be are
    not among them."""
    found = []
    for view in views:
        means = {one.agent: mean for one in view.answers if (mean := mean_label(one.judgments)) is not None}
        if means and original_of(view.query.metadata) is None:
            best = max(means.values())
            leaders = tuple(agent for agent, mean in means.items() if mean == best)
            found.append(Worst(view, sum(means.values()) / len(means), len(means), best, leaders))
    found.sort(key=lambda one: (round(one.mean, 9), one.view.number))
    return [one for one in found if one.mean < HIGHEST][:HARDEST]


def game_views(games: Sequence[Game], agents: Sequence[str]) -> list[GameView]:
    """Games in the order of the table of agents, each with its rows as the file has them."""
    rank = {agent: i for i, agent in enumerate(agents)}

    def key(game: Game) -> tuple[tuple[int, str], ...]:
        first, second = sorted((rank.get(name, len(rank)), name) for name in (game.agent_a, game.agent_b))
        return first, second, (0, game.judge)

    groups = sorted(_grouped(games, key).items())
    return [GameView((one, other), verdicts(rows), rows) for ((_, one), (_, other), _), rows in groups]


def place(metadata: dict[str, Any]) -> str:
    """`manual.pdf, p. 12–13`, from what metadata there is."""
    doc, first, last = (metadata.get(key) for key in ("doc", "first_page", "last_page"))
    pages = "" if first is None else f"p. {first}" if last in {None, first} else f"pp. {first}–{last}"
    return ", ".join(str(part) for part in (doc, pages) if part)


def _grouped(rows: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    found: dict[K, list[T]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def _records(path: Path, kind: type[R]) -> list[R]:
    return read_records(path, kind) if path.is_file() else []


WORST = 3
"""How many of a document's pages that look wrong are shown."""


def suspicious_pages(path: Path) -> Table | None:
    """The pages whose text looks wrong, of each document those with most reasons to doubt it; the document with the
    largest share of such pages first. None without any."""
    pages: dict[tuple[str, int], list[tuple[int, list[str], str]]] = {}
    for row in _objects(path):
        page = (int(row["page"]), [str(reason) for reason in row["reasons"]], str(row["excerpt"]))
        pages.setdefault((str(row["doc"]), int(row["n_pages"])), []).append(page)
    rows: list[Row] = []
    for (doc, n), found in sorted(pages.items(), key=lambda item: -len(item[1]) / item[0][1]):
        about = (doc, f"{len(found):,} of {n:,}", f"{100 * len(found) / n:.0f}%")
        worst_first = sorted(found, key=lambda one: (-len(one[1]), one[0]))
        for place, (number, reasons, excerpt) in enumerate(worst_first[:WORST]):
            rows.append((*(("", "", "") if place else about), str(number), "; ".join(reasons), excerpt))
    names = ("Document", "Pages", "Share", "Page", "What looks wrong", "How it begins")
    columns = [Column(name, numbers=name in ("Pages", "Share", "Page")) for name in names]
    return Table("Pages whose text looks wrong, by document", columns, rows) if rows else None


def unreadable_documents(workspace: Workspace) -> list[tuple[str, str]]:
    """(document, why) of those that could not be read."""
    return [(str(row.get("doc")), str(row.get("error"))) for row in _objects(workspace.unreadable)]


def looks_said(workspace: Workspace) -> str | None:
    """Whether written questions look like the experts', in a sentence. Raises InputError."""
    if not (path := workspace.questions_check).is_file():
        return None
    return read_model(path, QuestionsCheck, "run `ragassay questions` again").said


def _objects(path: Path) -> list[dict[str, Any]]:
    return [row for _, row in read_objects(path)] if path.is_file() else []


WON, LOST, TIE, FAILED = "W", "L", "T", "F"


@dataclass(frozen=True)
class Met:
    """One pair by the row agent: `letters` for each time it was played, `verdict` W, L, T or F of all together."""

    letters: str
    verdict: str


@dataclass(frozen=True)
class GameTable:
    """One judge's games: the better placed agent of a pair is the row, the other the column. None: never met."""

    judge: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Met | None, ...]], ...]


def game_tables(games: Sequence[GameView], agents: Sequence[str]) -> list[GameTable]:
    """A table for each judge, in the order of the games, its rows and columns in that of `agents`, others last."""
    judges = dict.fromkeys(game.rows[0].judge for game in games)
    names = list(dict.fromkeys([*agents, *(name for game in games for name in game.pair)]))
    tables = []
    for judge in judges:
        met = {game.pair: _met(game) for game in games if game.rows[0].judge == judge}
        columns = tuple(name for name in names if any(name == pair[1] for pair in met))
        rows = [name for name in names if any(name == pair[0] for pair in met)]
        cells = tuple((row, tuple(met.get((row, to)) for to in columns)) for row in rows)
        tables.append(GameTable(judge, columns, cells))
    return tables


def _met(game: GameView) -> Met:
    """The row agent shown first comes first; what was ranked in lists stays in their order."""
    one = game.pair[0]
    rows = sorted(game.rows, key=lambda row: (row.presentation or 0, row.presentation is None and _first(row) != one))
    winners = [None if v.winner is None else _letter(v.winner, v.agent_a, one) for v in game.verdicts]
    verdict = FAILED if None in winners or not winners else winners[0] if len(set(winners)) == 1 else TIE
    return Met("".join(_letter(row.winner, row.agent_a, one) for row in rows), verdict or FAILED)


def _first(row: Game) -> str:
    return row.agent_a if row.first == "a" else row.agent_b


def _letter(winner: str | None, agent_a: str, one: str) -> str:
    if winner is None:
        return FAILED
    return TIE if winner == "tie" else WON if (winner == "a") == (agent_a == one) else LOST


class Detail(IntEnum):
    """What a query is shown with; each level has all that stands before it."""

    LABELS = 1
    TEXTS = 2
    REASONS = 3


Rendered = tuple[Markup, frozenset[Hashable]]
"""A query as it is shown, and what it needs besides that stands once for all queries."""


STEPS = ((Detail.LABELS, 1.0), (Detail.REASONS, 1 / 3), (Detail.TEXTS, 1.0), (Detail.REASONS, 1.0))
"""What is handed out one after the other, and at most what share of the room that is left then."""


def fit(
    n: int, order: Sequence[int], render: Callable[[int, Detail], Rendered], sizes: Mapping[Hashable, int], room: int
) -> tuple[list[Detail | None], list[Markup]]:
    """How each of `n` queries is shown in at most `room` bytes, and its markup; None and nothing where it is not shown.

    All get labels before one gets more; then each of `STEPS` goes in `order` until the first that does not fit, so
    that a query never has more than one before it. sizes: the bytes of what queries share, taken once.
    """
    details: list[Detail | None] = [None] * n
    shown, shared = [Markup("")] * n, set[Hashable]()
    for detail, share in STEPS:
        left = int(room * share)
        for i in order:
            if (details[i] or 0) >= detail:
                continue
            markup, needs = render(i, detail)
            cost = size(markup) - size(shown[i]) + sum(sizes.get(key, 0) for key in needs - shared)
            if cost > left or (detail > Detail.LABELS and details[i] is None):
                break
            left, room = left - cost, room - cost
            shared |= needs
            details[i], shown[i] = detail, markup
    return details, shown


def size(text: str) -> int:
    """In bytes, as the page is written."""
    return len(text.encode())


def evidence_sections(
    templates: Environment, evidence: Evidence, agents: Sequence[str], criteria: Sequence[str], k: int, room: int
) -> tuple[Markup, Markup, Markup]:
    """The sections of the worst queries, of all and of passages, at most about `room` bytes long; what has no room is
    named there.
    """
    views = query_views(evidence, agents, k)
    listed = {pid: number for number, pid in enumerate(evidence.passages, 1)}
    one_query, one_passage = templates.get_template("query.html.j2"), templates.get_template("passage.html.j2")
    texts = {
        pid: Markup(one_passage.render(number=listed[pid], passage=one, place=place(one.metadata)))  # noqa: S704
        for pid, one in evidence.passages.items()
    }

    def rendered(at: int, detail: Detail) -> Rendered:
        view = views[at]
        judged = (judgment.criterion for answer in view.answers for judgment in answer.judgments)
        players = dict.fromkeys([*agents, *(name for game in view.games for name in game.pair)])
        markup = one_query.render(
            q=view,
            detail=detail,
            Detail=Detail,
            criteria=list(dict.fromkeys([*criteria, *judged])),
            said=_said(view.answers),
            listed=listed,
            played=game_tables(view.games, agents),
            places={name: place for place, name in enumerate(players, 1)},
        )
        needs: frozenset[Hashable] = frozenset(one.id for one in view.passages if one.id in listed)
        return Markup(markup), needs if detail >= Detail.TEXTS else frozenset()  # noqa: S704

    order = sorted(range(len(views)), key=lambda i: (-views[i].spread, -views[i].n_flipped, i))
    details, shown = fit(len(views), order, rendered, {pid: size(text) for pid, text in texts.items()}, room)
    there = [(view, detail) for view, detail in zip(views, details, strict=True) if detail is not None]
    in_full = {passage.id for view, detail in there if detail >= Detail.TEXTS for passage in view.passages}
    queries = templates.get_template("queries.html.j2").render(
        n=len(views),
        shown=[shown[i] for i in order if details[i] is not None],
        reached={detail: sum(one >= detail for _, one in there) for detail in Detail},
        Detail=Detail,
        failed=[view for view, _ in there if view.n_failed],
        listed=bool(evidence.lists),
    )
    told = [text for pid, text in texts.items() if pid in in_full]
    passages = templates.get_template("passages.html.j2").render(texts=told)
    numbers = {view.number for view, _ in there}
    hardest = templates.get_template("worst.html.j2").render(worst=worst(views), there=numbers)
    return Markup(hardest), Markup(queries), Markup(passages)  # noqa: S704


def _said(answers: Sequence[AnswerView]) -> list[list[AnswerView]]:
    """Answers that are word for word the same, and from the same passages, together; failures each by itself."""

    def key(view: AnswerView) -> Hashable:
        text = view.answer.answer if view.answer else None
        return view.agent if text is None else (text, tuple(one.id for one in view.passages), view.rewritten)

    return list(_grouped(answers, key).values())
