"""The report's last part: every query with what was answered, found and judged, and each passage once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from jinja2 import Environment
from markupsafe import Markup

from ragassay.records import Passage

from .evidence import AnswerView, Evidence, QueryView, place, query_views
from .games import game_tables
from .room import Detail, Rendered, fit, size


@dataclass(frozen=True)
class Said:
    """An answer, and all who gave it word for word."""

    agents: tuple[str, ...]
    first: AnswerView


@dataclass(frozen=True)
class Listed:
    """A passage in the list of all; `number` is its place in the corpus's order, from 1."""

    number: int
    id: str
    passage: Passage
    place: str


def evidence_sections(
    templates: Environment, evidence: Evidence, agents: Sequence[str], criteria: Sequence[str], k: int, room: int
) -> tuple[Markup, Markup]:
    """The section of queries and that of passages, at most about `room` bytes long; what has no room is named there."""
    views = query_views(evidence, agents, k)
    listed = {
        pid: Listed(n, pid, one, place(one.metadata)) for n, (pid, one) in enumerate(evidence.passages.items(), 1)
    }
    one_passage = templates.get_template("passage.html.j2")
    texts = {pid: Markup(one_passage.render(p=one)) for pid, one in listed.items()}  # noqa: S704
    shape = partial(_rendered, templates, agents, criteria, listed)
    order = sorted(range(len(views)), key=lambda i: (-views[i].spread, -views[i].n_flipped, i))
    details, shown = fit(
        len(views),
        order,
        lambda i, detail: shape(views[i], detail),
        {pid: size(text) for pid, text in texts.items()},
        room,
    )
    queries = templates.get_template("queries.html.j2").render(
        n=len(views),
        shown=[shown[i] for i in order if details[i] is not None],
        reached={detail: sum(one is not None and one >= detail for one in details) for detail in Detail},
        Detail=Detail,
        failed=[view for view, detail in zip(views, details, strict=True) if view.n_failed and detail is not None],
        listed=bool(evidence.lists),
    )
    passages = templates.get_template("passages.html.j2").render(texts=_told(views, details, texts))
    return Markup(queries), Markup(passages)  # noqa: S704


def _told(views: Sequence[QueryView], details: Sequence[Detail | None], texts: Mapping[str, Markup]) -> list[Markup]:
    """The passages of the queries that are shown with texts, in the corpus's order."""
    wanted = {
        passage.id
        for view, detail in zip(views, details, strict=True)
        if detail is not None and detail >= Detail.TEXTS
        for passage in view.passages
    }
    return [text for pid, text in texts.items() if pid in wanted]


def _rendered(
    templates: Environment,
    agents: Sequence[str],
    criteria: Sequence[str],
    listed: Mapping[str, Listed],
    view: QueryView,
    detail: Detail,
) -> Rendered:
    markup = templates.get_template("query.html.j2").render(
        q=view,
        detail=detail,
        Detail=Detail,
        criteria=_criteria(view, criteria),
        said=_said(view.answers),
        listed=listed,
        tables=game_tables(view.games, agents),
        places=_places(view, agents),
    )
    needs: frozenset[Hashable] = frozenset(one.id for one in view.passages if one.id in listed)
    return Markup(markup), needs if detail >= Detail.TEXTS else frozenset()  # noqa: S704


def _places(view: QueryView, agents: Sequence[str]) -> dict[str, int]:
    """Each agent's place in the ranking, from 1; whoever else played comes after."""
    names = dict.fromkeys([*agents, *(name for game in view.games for name in game.pair)])
    return {name: place for place, name in enumerate(names, 1)}


def _criteria(view: QueryView, criteria: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*criteria, *(j.criterion for answer in view.answers for j in answer.judgments)]))


def _said(answers: Sequence[AnswerView]) -> list[Said]:
    """Answers that are word for word the same, and from the same passages, together; failures each by itself."""
    groups: dict[Hashable, list[AnswerView]] = {}
    for view in answers:
        text = view.answer.answer if view.answer else None
        same = (text, tuple(one.id for one in view.passages), view.rewritten)
        groups.setdefault(view.agent if text is None else same, []).append(view)
    return [Said(tuple(view.agent for view in group), group[0]) for group in groups.values()]
