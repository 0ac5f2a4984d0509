"""What models were asked about one query, word for word, and what they replied.

Replies are kept by a digest of their request (`ragassay.calls`); requests are not kept. So each is made again from the
records, by what made it first. Where a reply lies under its digest, it is the very request that was asked; where none
does, prompts or settings have changed since, or the replies are gone, and the page says so. No model is ever asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from starlette.exceptions import HTTPException
from starlette.requests import Request as Asked
from starlette.responses import Response

from ragassay.calls.caller import Caller
from ragassay.calls.register import Job, Register, reply_of
from ragassay.calls.reply_cache import ReplyCache
from ragassay.errors import InputError
from ragassay.evaluate.inputs.findings import Material
from ragassay.evaluate.judging.asked_again import (
    ask_once,
    cases_by_wave,
    graded_before,
    in_batches,
    relevant_by_wave,
    waves_of,
)
from ragassay.evaluate.judging.catalog import experiment_evaluators
from ragassay.evaluate.judging.engine.cases import (
    GameCase,
    Judge,
    ListCase,
    QueryCase,
    cases_of,
    known_relevant,
    with_evidence,
)
from ragassay.evaluate.judging.engine.rounds import judged, units
from ragassay.evaluate.judging.panel import panels_of
from ragassay.evaluate.report.plots import colours_of
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, while_unchanged
from ragassay.models.requests import Batch, Reply, ask_again
from ragassay.prompts import Message, Prompt
from ragassay.records import Answer, Found, Judgment, Passage, Query
from ragassay.retrieval.dependencies import (
    ANSWER_PROMPT,
    LONG_CONTEXT_PROMPT,
    of_rag_fusion,
    prompt_file,
    rewritings_for,
    searching_agents,
)

from ..asked import bench_of, index_of, render
from ..index.read import Index
from . import View

OF = {
    "rewriting": "Rewriting the query",
    "answer": "Answering",
    "relevance": "Grading passages",
    "evidence": "Grading what was found as evidence",
    "grades": "Grading answers",
    "game": "Games",
    "list": "Lists of answers",
}
"""What a call was for; an evaluator's has its name."""


@dataclass(frozen=True)
class Try:
    """What was sent, and what came back; reply: None where nothing is kept. whole: the kept body as JSON."""

    messages: Sequence[Message]
    reply: str | None = None
    whole: str = ""
    error: str | None = None
    recorded: bool = False


@dataclass(frozen=True)
class Call:
    """of: a key of `OF`, or an evaluator's name. about: agents or passages. order: which presentation it was."""

    of: str
    about: tuple[str, ...]
    order: str
    model: str
    tries: tuple[Try, ...]

    @property
    def kept(self) -> bool:
        """Whether every try has what came back."""
        return all(one.reply is not None or one.error is not None for one in self.tries)


@dataclass(frozen=True)
class Wanted:
    """Which calls: all where nothing is said."""

    of: str = ""
    about: frozenset[str] = frozenset()
    order: str = ""

    def has(self, of: str, about: Iterable[str], order: str = "") -> bool:
        """Whether a call is one of these."""
        return self.of in ("", of) and self.about <= set(about) and self.order in ("", order)


class _Kept:
    """Stands where a Caller stands: gives what is kept, and remembers what it was asked."""

    def __init__(self, workspace: Workspace, cache: ReplyCache) -> None:
        self.register, self.jobs = Register(workspace.experiment, "workbench", cache), list[Job]()

    def ask(self, batches: Sequence[Batch]) -> list[list[Reply]]:
        """A reply to every request, an error where none is kept."""
        rows = [self.register.jobs(batch) for batch in batches]
        for job in (job for row in rows for job in row):
            self.register.settle(job)
            self.jobs.append(job)
        return [[job.done for job in row] for row in rows]

    def calls(self, of: str, about: Sequence[str], order: str = "") -> Iterator[Call]:
        """Those since the last time."""
        jobs, self.jobs = self.jobs, []
        for job in jobs:
            yield Call(of, tuple(about), order, job.model, tuple(_tries(job)))


def _tries(job: Job) -> Iterator[Try]:
    request = job.request
    for stored in job.received:
        if stored.body is None:
            yield Try(request.messages, error=stored.error, recorded=stored.recorded)
            continue
        whole = json.dumps(stored.body, ensure_ascii=False, indent=1)
        try:
            said: Any = stored.body["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            said = None
        yield Try(request.messages, said if isinstance(said, str) else whole, whole, recorded=stored.recorded)
        if problem := reply_of(request, stored).error:
            request = ask_again(job.request, stored.body, problem)
    if job.reply is None:
        yield Try(request.messages)


def calls_of(workspace: Workspace, index: Index, place: int, cache: ReplyCache, wanted: Wanted) -> list[Call]:
    """The calls about the query at a place, in the order of the stages. Raises InputError."""
    kept, material = _Kept(workspace, cache), _material(workspace, index, place)
    return [*_answering(workspace, material, kept, wanted), *_judging(workspace, index, place, material, kept, wanted)]


def _material(workspace: Workspace, index: Index, place: int) -> Material:
    (row,) = index.queries([place])
    query = Query(id=row["id"], text=row["text"], metadata=row["metadata"], history=row["history"])
    given = {one["name"]: one for one in index.answers(place)}
    out = {name for name, asked in index.asked.items() if not asked[place]}
    labels = [one["subject"] for one in index.labels(place) if one["of"] == "passage"]
    ids = dict.fromkeys([*(id for one in given.values() for id in one["passages"]), *labels])
    passages = {id: _passage(one) for id, one in index.passages(list(ids)).items()}
    lacking = {"text": None, "error": "the agent's file has no answer", "passages": ()}
    answers = {}
    for name in index.agents:
        if name not in out:
            one = given.get(name, lacking)
            said = {"answer": one["text"], "error": one["error"], "passages": tuple(one["passages"])}
            answers[query.id, name] = Answer(query_id=query.id, agent=name, **said)
    waves, not_asked = waves_of(workspace, index.agents), frozenset((query.id, name) for name in out)
    return Material((query,), index.agents, passages, answers, joined=waves, not_asked=not_asked)


def _passage(row: Mapping[str, Any]) -> Passage:
    return Passage(id=row["id"], title=row["title"], text=row["text"], metadata=row["metadata"])


def _answering(workspace: Workspace, material: Material, kept: _Kept, wanted: Wanted) -> Iterator[Call]:
    from ragassay.retrieval.agents.answering import answer_request, long_context_request, read_documents
    from ragassay.retrieval.rank_queries import fuses
    from ragassay.retrieval.rewriting.rewritings import request_for

    experiment, (query,) = workspace.experiment, material.queries
    ways = [of_rag_fusion(experiment)] if fuses(workspace) else []
    variants = list(searching_agents(experiment).values())
    for way in dict.fromkeys([*ways, *(rewritings_for(experiment, variants) if variants else [])]):
        if wanted.has("rewriting", wanted.about):
            prompt = Prompt.load(prompt_file(workspace, way.way))
            kept.ask([Batch("", way.model, (request_for(way.way, prompt, query.text, way.n),))])
            yield from kept.calls("rewriting", (), way.way)
    tables = {agent.name: agent for agent in experiment.table_agents()}
    for name in experiment.answered_agents():
        answer, table = material.answers.get((query.id, name)), tables.get(name)
        if answer is None or not wanted.has("answer", [name]):
            continue
        own = (table.prompt if table else None) or (experiment.answer.prompt if not table or table.variant else None)
        temperature = table.temperature if table else None
        if table and table.variant is None:
            prompt = Prompt.load(workspace.prompt_file(own, LONG_CONTEXT_PROMPT))
            request = long_context_request(prompt, query.text, read_documents(workspace), temperature)
        elif answer.error is not None and not answer.passages:
            continue  # what failed came before
        else:
            prompt = Prompt.load(workspace.prompt_file(own, ANSWER_PROMPT))
            request = answer_request(prompt, query.text, material.known(answer.passages), temperature)
        kept.ask([Batch("", table.model if table else experiment.answer.model, (request,))])
        yield from kept.calls("answer", (name,))


def _judging(
    workspace: Workspace, index: Index, place: int, material: Material, kept: _Kept, wanted: Wanted
) -> Iterator[Call]:
    (query,), settings, panels = material.queries, workspace.experiment.judge, panels_of(workspace)
    labels = index.labels(place)

    def made(of: str, about: Sequence[str], judge: Judge[Any], case: Any, order: str = "") -> Iterator[Call]:
        if wanted.has(of, about, order):
            judged([(judge, [case])], cast(Caller, kept))
            yield from kept.calls(of, about, order)

    once, _ = graded_before(workspace, ask_once(cases_by_wave(material)), panels, cast(Caller, kept))
    files = [path for path in (workspace.found, workspace.found_deeper) if path.exists()]
    looked = [row.passage for path in files for row in read_records(path, Found) if row.query_id == query.id]
    there = index.passages(list(dict.fromkeys(looked))).values()  # in which evidence was looked for
    pool = tuple(map(_passage, there))
    for panel in panels:
        for wave in once.waves:
            judge, cases = panel.passages(wave)
            for case in cases:
                yield from made("relevance", _about(case), judge, case)
        judge, cases = in_batches(workspace, panel).passages([QueryCase(query, pool, ())])
        for case in cases:
            yield from made("evidence", _about(case), judge, case)
    names = ("subject", "criterion", "judge", "label", "reason", "error")
    graded = (row for row in labels if row["of"] == "passage")
    relevance = [Judgment(query_id=query.id, **{name: row[name] for name in names}) for row in graded]
    known = relevant_by_wave(material, known_relevant(material, relevance, settings.relevant_from))
    waves = [with_evidence(cases, those) for cases, those in zip(once.waves, known, strict=True)]
    for panel in panels:
        for answer in (one for cases in waves for case in cases for one in case.answers):
            for pointwise in panel.pointwise:
                yield from made("grades", [answer.subject], pointwise, answer)
    by_model = {panel.judge: panel for panel in panels}
    answers = {agent: material.answers[query.id, agent] for agent in material.asked(query.id)}
    for row in index.games(place):
        a, b = row.agent_a, row.agent_b
        if row.presentation is None and row.judge in by_model and {a, b} <= set(answers):
            shown = known[material.wave_of(a, b)].get(query.id, ())
            game = GameCase(query, answers[a], answers[b], row.first, shown)
            if of_order := by_model[row.judge].games.get(row.first):
                yield from made("game", [a, b], of_order, game, a if row.first == "a" else b)
    for ranked in index.lists(place):
        listed = [agent for agents in ranked["shown"] for agent in agents]
        lists = by_model[ranked["judge"]].lists if ranked["judge"] in by_model else {}
        if ranked["presentation"] in lists and set(listed) <= set(answers):
            seated = tuple(answers[agent] for agent in material.agents if agent in listed)
            shown = known[material.wave_of(*listed)].get(query.id, ())
            places = tuple(map(tuple, ranked["shown"]))
            together = ListCase(query, seated, places, ranked["presentation"], shown, block=ranked["block"])
            yield from made("list", listed, lists[ranked["presentation"]], together, str(ranked["presentation"]))
    for evaluator in experiment_evaluators(workspace) if workspace.experiment.evaluates else ():
        of_ours = any(row["criterion"] in {one.name for one in evaluator.criteria} for row in labels)
        if of_ours and evaluator.asking != "nothing" and type(evaluator).prepare is Judge.prepare:
            for unit in units(evaluator, cases_of(material)):
                yield from made(evaluator.name, [unit.subject], evaluator, unit)


def _about(case: Any) -> list[str]:
    return [one.subject for one in getattr(case, "single", (case,))]


@while_unchanged(2)
def _cache(own: Path, recorded: tuple[Path, ...], *_files: Path) -> ReplyCache:
    return ReplyCache(own, recorded)


def cache_of(workspace: Workspace) -> ReplyCache:
    """What is kept, read again where a file has changed. Raises InputError."""
    own, recorded = workspace.replies, workspace.recorded_replies()
    files = sorted(path for folder in (own, *recorded) for path in folder.glob("*.jsonl*"))
    return _cache(own, recorded, *files)


def show(request: Asked) -> Response:
    """The calls that the address names, whole; all of a query as a list, where it names none."""
    bench, index = bench_of(request), index_of(request)
    place = index.place_of(request.path_params["query"])
    if place is None:
        raise HTTPException(404)
    params = request.query_params
    wanted = Wanted(params.get("of", ""), frozenset(params.getlist("about")), params.get("order", ""))
    calls, error = list[Call](), ""
    try:
        calls = calls_of(bench.workspace, index, place, cache_of(bench.workspace), wanted)
    except InputError as problem:
        error = str(problem)
    grouped: dict[str, list[Call]] = {}
    for call in calls:
        grouped.setdefault(call.of, []).append(call)
    (query,) = index.queries([place])
    own = {agent.name for agent in bench.workspace.experiment.own_agents()}
    shown: dict[str, Any] = {
        "calls": {OF.get(of, of): some for of, some in grouped.items()},
        "whole": wanted != Wanted(),
        "own": sorted(own & wanted.about) if wanted.of == "answer" else [],
        "error": error,
        "names": set(index.agents),
        "colour": colours_of(index.agents),
    }
    return render(request, "calls.html.j2", bench, query=query, **shown)


class Calls(View):
    """What was asked of models about one query, which the query's page leads to."""

    name, title, order = "calls", "", 23
    routes = (("/calls/{query:path}", show, ["GET"]),)
