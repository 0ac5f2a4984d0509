"""What the report shows of every query: its answers, passages, judgments and games, read from the files beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import first_problem, read_json, read_objects, read_records
from ragassay.records import (
    Answer,
    Game,
    Judgment,
    Passage,
    Query,
    QuestionsCheck,
    RankedList,
    Record,
    own_failures,
)
from ragassay.trec import Rankings, read_run

from ...inputs.sources import writer
from ...ratings.verdicts import Verdict, verdicts

R = TypeVar("R", bound=Record)
Row = TypeVar("Row", Game, RankedList)

WORST = 3
"""How many of a document's pages that look wrong are shown."""


@dataclass(frozen=True)
class SuspiciousPage:
    """A page whose text looks wrong, why, and how it begins."""

    page: int
    reasons: list[str]
    excerpt: str


@dataclass(frozen=True)
class SuspiciousDocument:
    """A document of which `n` of `n_pages` pages look wrong, and of those the ones with most reasons."""

    doc: str
    n: int
    n_pages: int
    worst: list[SuspiciousPage]


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
    suspicious: Sequence[SuspiciousDocument] = ()


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
    where fewer have any. n_flipped: games whose winner changes with the order.
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
        relevance=_by_subject(relevance),
        pointwise=_by_subject(pointwise),
        games=_by_query(_records(workspace.games, Game)),
        unreadable=[(str(row.get("doc")), str(row.get("error"))) for row in _objects(workspace.unreadable)],
        lists=_by_query(_records(workspace.lists, RankedList)),
        looks=_looks(workspace.questions_check),
        kinds_asked=questions.kinds if questions.from_needs else {},
        suspicious=_suspicious(workspace.suspicious_pages),
    )


def query_views(evidence: Evidence, agents: Sequence[str], k: int) -> list[QueryView]:
    """Each query of the test set in its order; `k` passages of a ranking stand for an answer that names none."""
    return [_query_view(evidence, number, query, agents, k) for number, query in enumerate(evidence.queries, 1)]


def _query_view(evidence: Evidence, number: int, query: Query, agents: Sequence[str], k: int) -> QueryView:
    given = {agent: _passages_of(evidence, agent, query.id, k) for agent in agents}
    passages = _passage_views(evidence, query.id, given)
    by_id = {view.id: view for view in passages}
    rewrite = evidence.rewrites.get(query.id, {})
    rewrites = tuple(str(text) for text in rewrite.get("queries") or ())
    answers = []
    for agent in agents:
        answer = evidence.answers.get(agent, {}).get(query.id)
        judgments = evidence.pointwise.get((query.id, agent), [])
        own = answer.queries if answer and set(answer.queries) - {query.text, *rewrites} else ()
        answers.append(AnswerView(agent, answer, [by_id[pid] for pid in given[agent]], judgments, own))
    games = _game_views(evidence.games.get(query.id, []), agents)
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
        spread=_spread(answers),
        n_flipped=sum(verdict.flipped is True for game in games for verdict in game.verdicts),
        lists=evidence.lists.get(query.id, []),
    )


def _spread(answers: Sequence[AnswerView]) -> float:
    given = [[j.label for j in view.judgments if j.label is not None and j.criterion != REFUSAL] for view in answers]
    means = [sum(labels) / len(labels) for labels in given if labels]
    return round(max(means) - min(means), 9) if means else 0.0


def _passages_of(evidence: Evidence, agent: str, query_id: str, k: int) -> list[str]:
    answer = evidence.answers.get(agent, {}).get(query_id)
    if answer and answer.passages:
        return list(dict.fromkeys(answer.passages))
    return [pid for pid, _ in evidence.rankings.get(agent, {}).get(query_id, [])[:k]]


def _passage_views(evidence: Evidence, query_id: str, given: dict[str, list[str]]) -> list[PassageView]:
    found: dict[str, list[tuple[str, int]]] = {}
    for agent, ids in given.items():
        for rank, pid in enumerate(ids, 1):
            found.setdefault(pid, []).append((agent, rank))
    views = []
    for number, (pid, ranks) in enumerate(found.items(), 1):
        passage = evidence.passages.get(pid)
        where = place(passage.metadata) if passage else ""
        views.append(PassageView(number, pid, passage, where, evidence.relevance.get((query_id, pid), []), ranks))
    return views


def _game_views(games: Sequence[Game], agents: Sequence[str]) -> list[GameView]:
    """Games in the order of the table of agents, each with its rows as the file has them."""
    rank = {agent: i for i, agent in enumerate(agents)}
    groups: dict[tuple[tuple[int, str], ...], list[Game]] = {}
    for game in games:
        first, second = sorted((rank.get(name, len(rank)), name) for name in (game.agent_a, game.agent_b))
        groups.setdefault((first, second, (0, game.judge)), []).append(game)
    return [GameView((key[0][1], key[1][1]), verdicts(rows), rows) for key, rows in sorted(groups.items())]


def place(metadata: dict[str, Any]) -> str:
    """`manual.pdf, p. 12–13`, from what metadata there is."""
    doc, first, last = (metadata.get(key) for key in ("doc", "first_page", "last_page"))
    pages = "" if first is None else f"p. {first}" if last in {None, first} else f"pp. {first}–{last}"
    return ", ".join(str(part) for part in (doc, pages) if part)


def _by_subject(judgments: Iterable[Judgment]) -> dict[tuple[str, str], list[Judgment]]:
    rows: dict[tuple[str, str], list[Judgment]] = {}
    for judgment in judgments:
        rows.setdefault((judgment.query_id, judgment.subject), []).append(judgment)
    return rows


def _by_query(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.query_id, []).append(row)
    return found


def _records(path: Path, kind: type[R]) -> list[R]:
    return read_records(path, kind) if path.is_file() else []


def _suspicious(path: Path) -> list[SuspiciousDocument]:
    """The documents with pages that look wrong, those with the largest share first."""
    pages: dict[tuple[str, int], list[SuspiciousPage]] = {}
    for row in _objects(path):
        page = SuspiciousPage(int(row["page"]), [str(reason) for reason in row["reasons"]], str(row["excerpt"]))
        pages.setdefault((str(row["doc"]), int(row["n_pages"])), []).append(page)
    found = [
        SuspiciousDocument(doc, len(rows), n, sorted(rows, key=lambda row: (-len(row.reasons), row.page))[:WORST])
        for (doc, n), rows in pages.items()
    ]
    return sorted(found, key=lambda one: -one.n / one.n_pages)


def _looks(path: Path) -> str | None:
    """Whether written questions look like the experts', in a sentence."""
    if not path.is_file():
        return None
    try:
        return QuestionsCheck.model_validate(read_json(path)).said
    except ValidationError as error:
        remedy = "run `ragassay questions` again"
        raise InputError(first_problem(error), file=path, remedy=remedy) from None


def _objects(path: Path) -> list[dict[str, Any]]:
    return [row for _, row in read_objects(path)] if path.is_file() else []
