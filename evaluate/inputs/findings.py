"""What the stages before have left, read once and checked, for `compare`."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from sys import intern
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace, read_not_asked
from ragassay.files import Qrels, first_problem, read_json, read_qrels, read_records, read_rows, read_run
from ragassay.records import (
    IDENTICAL,
    Answer,
    Game,
    Judgment,
    LedgerRow,
    Passage,
    Query,
    RankedList,
    Record,
    Repeat,
    Section,
    StageUsage,
    Taken,
    perturbed_from,
)
from ragassay.text import plain

R = TypeVar("R", Query, Passage)
AnyRecord = TypeVar("AnyRecord", bound=BaseModel)


class Read(Protocol):
    """Every record of a file, as `ragassay.files.read_records`."""

    def __call__(self, path: Path, kind: type[AnyRecord], /) -> list[AnyRecord]: ...


@dataclass(frozen=True)
class Material:
    """`answers` has one for every (query id, agent) that was asked: an answer that is not on record is one with an
    error. not_asked: those that were not asked by plan (`read_not_asked`), which have none.

    joined: the agents in the order in which they came to be judged, wave by wave; empty: all at once. planned: the ids
    of all queries that a run may come to ask, those together that were written at once, by which what is drawn for a
    query stays; empty: those of `queries`.
    told: of a run that may end early, query id to the agents that were told from the leader before it was asked, which
    do not meet on it any more. batches: of such a run, the ids of the queries that each look so far came after.
    """

    queries: tuple[Query, ...]
    agents: tuple[str, ...]
    passages: dict[str, Passage]
    answers: dict[tuple[str, str], Answer]
    joined: tuple[tuple[str, ...], ...] = ()
    planned: tuple[tuple[str, ...], ...] = ()
    told: Mapping[str, frozenset[str]] = field(default_factory=dict)
    batches: tuple[frozenset[str], ...] = ()
    not_asked: frozenset[tuple[str, str]] = frozenset()

    def asked(self, query_id: str) -> tuple[str, ...]:
        """The agents that were asked the query, in their order."""
        return tuple(agent for agent in self.agents if (query_id, agent) not in self.not_asked)

    def asked_of(self, agent: str) -> tuple[Query, ...]:
        """The queries that the agent was asked, in their order."""
        return tuple(query for query in self.queries if (query.id, agent) not in self.not_asked)

    @property
    def drawn_for(self) -> tuple[tuple[str, ...], ...]:
        """The ids of the queries over which turns are dealt out."""
        return self.planned or (tuple(query.id for query in self.queries),)

    @property
    def waves(self) -> tuple[tuple[str, ...], ...]:
        """The same, one wave where nobody said."""
        return self.joined or (self.agents,)

    def wave_of(self, *agents: str) -> int:
        """The last wave, from 0, that one of these agents came with."""
        return max(self._waves[agent] for agent in agents)

    def pool(self, query_id: str, wave: int | None = None) -> list[str]:
        """The ids of the passages that at least one agent retrieved for the query, sorted, so that no agent leads.

        wave: of the agents up to this wave.
        """
        some = self.agents if wave is None else [agent for agents in self.waves[: wave + 1] for agent in agents]
        asked = set(self.asked(query_id))
        return sorted({id for agent in some if agent in asked for id in retrieved(self.answers[query_id, agent])})

    def known(self, ids: tuple[str, ...]) -> tuple[Passage, ...]:
        """The passages of `ids` that the corpus has, in that order, each once."""
        return tuple(self.passages[id] for id in dict.fromkeys(ids) if id in self.passages)

    @cached_property
    def _waves(self) -> dict[str, int]:
        return {agent: number for number, agents in enumerate(self.waves) for agent in agents}


def retrieved(answer: Answer) -> Iterator[str]:
    """The ids of the passages that the answer was given, and of those that a step before it found."""
    yield from answer.passages
    for hop in answer.hops:
        yield from hop.passages


def limited(material: Material, max_rows: int | None) -> Material:
    """Its first queries: as many as `max_rows` answers of all agents make, at least one; all where it is None."""
    if max_rows is None:
        return material
    return replace(material, queries=material.queries[: max(1, max_rows // max(1, len(material.agents)))])


def read_material(workspace: Workspace, agents: Sequence[str] | None = None, read: Read = read_records) -> Material:
    """Read what the stages before have written, of `agents` (default: the experiment's).

    read: what reads a file's records. Raises InputError with the file and line.
    """
    queries = tuple(by_id(workspace.queries, Query).values())
    if not queries:
        raise InputError("holds no query", file=workspace.queries, remedy="run `ragassay questions` first")
    agents = tuple(agents) if agents is not None else workspace.experiment.agent_names()
    passages = by_id(workspace.passages, Passage, read)
    given: dict[tuple[str, str], Answer] = {}
    for agent in agents:
        given |= _answers_of(workspace, agent, {query.id for query in queries}, read)
    not_asked = read_not_asked(workspace.not_asked)
    answers = {
        (query.id, agent): given.get((query.id, agent))
        or Answer(query_id=query.id, agent=agent, answer=None, error="the agent's file has no answer")
        for query in queries
        for agent in agents
        if (query.id, agent) not in not_asked
    }
    if not workspace.experiment.run.until:
        return Material(queries, agents, passages, answers, not_asked=not_asked)
    look = read_json(workspace.look)
    told, batches = _told(workspace, look, queries), _batches(look["ends"], queries)
    planned = tuple(map(tuple, batches))
    if "plans" not in look:
        planned = (tuple(query.id for query in read_records(workspace.planned, Query)),)
    return Material(
        queries, agents, passages, answers, planned=planned, told=told, batches=batches, not_asked=not_asked
    )


def _batches(ends: Sequence[int], queries: Sequence[Query]) -> tuple[frozenset[str], ...]:
    return tuple(
        frozenset(query.id for query in queries[start:end])
        for start, end in zip((0, *ends), ends, strict=False)
        if start < len(queries)
    )


def _told(workspace: Workspace, look: Mapping[str, Any], queries: Sequence[Query]) -> dict[str, frozenset[str]]:
    if not workspace.looks.exists():
        return {}
    plans = look.get("plans", [look["plan"]])
    taken = [one for one in read_records(workspace.looks, Taken) if one.plan in plans]
    before = [[one.told for one in taken if one.queries <= place] for place in range(len(queries))]
    return {query.id: frozenset(told[-1]) for query, told in zip(queries, before, strict=True) if told}


def by_id(path: Path, kind: type[R], read: Read = read_records) -> dict[str, R]:
    """The records of a file by their ids. Raises InputError where one is there twice."""
    records: dict[str, R] = {}
    for record in read(path, kind):
        if record.id in records:
            raise InputError(f"has '{plain(record.id)}' twice", file=path, remedy="give each an id of its own")
        records[record.id] = record
    return records


def _answers_of(workspace: Workspace, agent: str, query_ids: set[str], read: Read) -> dict[tuple[str, str], Answer]:
    """An agent's answers to the queries asked; what it says about others is not owed."""
    path = workspace.answers(agent)
    answers: dict[tuple[str, str], Answer] = {}
    for answer in read(path, Answer):
        if (answer.query_id, agent) in answers:
            raise InputError(f"has two answers to query '{plain(answer.query_id)}'", file=path)
        if answer.query_id in query_ids:
            mine = answer.agent == agent
            answers[answer.query_id, agent] = answer if mine else answer.model_copy(update={"agent": agent})
    return answers


_Read = TypeVar("_Read", bound=Record)

Ranked = dict[str, list[tuple[str, float]] | None]
"""Query id to (passage id, score), best first; None where retrieval failed. Empty: it retrieved nothing."""

STAGES = ("ingest", "questions", "retrieve", "answer", "judge", "evaluate")


@dataclass(frozen=True)
class OfJudge:
    """What one judge of a panel says of passages and of answers."""

    relevance: tuple[Judgment, ...]
    pointwise: tuple[Judgment, ...]


@dataclass(frozen=True)
class Findings:
    """Everything that `compare` computes from. `rankings` has no agent that does not say what it retrieved.

    Of a panel, relevance and pointwise are what it says as one, games and repeats the rows of all its judges, and
    `judges` what each says by itself, in the panel's order; of one judge it is empty.
    `perturbed` are queries that were left out, being others in changed words.
    `unusable` says of a file of the user's that nothing in it fits this test set.
    """

    material: Material
    sections: tuple[Section, ...]
    rankings: dict[str, Ranked]
    relevance: tuple[Judgment, ...]
    qrels: Qrels
    people: Qrels
    pointwise: tuple[Judgment, ...]
    games: tuple[Game, ...]
    ledger: tuple[LedgerRow, ...]
    notices: tuple[str, ...]
    usage: tuple[StageUsage, ...]
    unusable: tuple[str, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    lists: tuple[RankedList, ...] = ()
    judges: Mapping[str, OfJudge] = field(default_factory=dict)
    perturbed: frozenset[str] = frozenset()

    def of_judge(self, judge: str) -> Findings:
        """The same with what one judge of the panel says."""
        return replace(
            self,
            relevance=self.judges[judge].relevance,
            pointwise=self.judges[judge].pointwise,
            games=tuple(row for row in self.games if row.judge == judge),
            repeats=tuple(row for row in self.repeats if row.judge == judge),
            lists=tuple(row for row in self.lists if row.judge == judge),
            judges={},
        )

    @property
    def queries(self) -> tuple[str, ...]:
        """The ids of the test set, in the file's order."""
        return tuple(query.id for query in self.material.queries)


def without_texts(path: Path, kind: type[AnyRecord]) -> list[AnyRecord]:
    """`read_rows` of what figures are made from, of millions of which there is room: ids are one object each, passages
    have no text, judgments no reason but `IDENTICAL`, and of an answer there is only the length (`Unread`)."""
    return read_rows(path, kind, _SLIM.get(kind))


def with_answers(path: Path, kind: type[AnyRecord]) -> list[AnyRecord]:
    """The same with the answers' texts."""
    return read_rows(path, kind, _ids_of_answer if kind is Answer else _SLIM.get(kind))


class Unread:
    """A text of which nothing was kept but how long it is: whatever else reads it fails."""

    __slots__ = ("_length",)

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length


def _slim_passage(row: Any) -> None:
    row.title, row.text = "", _unread(len(row.text))


def _ids_of_answer(row: Any) -> None:
    row.query_id, row.passages = intern(row.query_id), tuple(map(intern, row.passages))


def _slim_answer(row: Any) -> None:
    _ids_of_answer(row)
    if row.answer is not None:
        row.answer = _unread(len(row.answer))


def _slim_judgment(row: Any) -> None:
    row.query_id, row.reason = intern(row.query_id), None
    row.label = _LABELS.get(row.label, row.label)


def _slim_game(row: Any) -> None:
    row.query_id, row.reason = intern(row.query_id), IDENTICAL if row.reason == IDENTICAL else None


_LABELS = {0.0: 0.0, 1.0: 1.0, 2.0: 2.0}
_unread = lru_cache(maxsize=10_000)(Unread)
_SLIM: Mapping[type, Callable[[Any], None]] = {
    Passage: _slim_passage,
    Answer: _slim_answer,
    Judgment: _slim_judgment,
    Game: _slim_game,
}


def read_findings(workspace: Workspace, agents: Sequence[str] | None = None, read: Read | None = None) -> Findings:
    """Read them, of `agents` (default: the experiment's). Raises InputError with the file and, if any, line.

    read: how what was found, answered and judged is read (default: `without_texts`, or `with_answers` where evaluators
    may have to be told of answers without a word); who shows or judges texts gives `read_records`.
    """
    usual = with_answers if workspace.experiment.evaluates else without_texts
    with _uncollected():
        return _read_findings(workspace, agents, read or usual)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Python looks again and again through all objects there are for garbage, of which reading millions leaves none: a
    third of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _read_findings(workspace: Workspace, agents: Sequence[str] | None, read: Read) -> Findings:
    material = read_material(workspace, agents, read)
    notices, usage = _manifests(workspace.manifests)
    queries = {query.id for query in material.queries}
    games = read(workspace.games, Game)
    _check_games(games, queries, set(material.agents), workspace.games)
    people = read_qrels(workspace.own_qrels) if workspace.own_qrels.exists() else {}
    strange = f"{workspace.own_qrels} labels no query of the test set: give the ids that stand in {workspace.queries}"
    return Findings(
        material,
        tuple(_if_there(workspace.sections, Section)),
        read_rankings(workspace, material),
        tuple(read(workspace.relevance, Judgment)),
        read_qrels(workspace.qrels),
        {query: labels for query, labels in people.items() if query in queries},
        tuple(read(workspace.pointwise, Judgment)),
        tuple(games),
        tuple(_if_there(workspace.ledger, LedgerRow)),
        notices,
        usage,
        () if queries & people.keys() or not workspace.own_qrels.exists() else (plain(strange),),
        tuple(_if_there(workspace.repeats, Repeat)),
        tuple(_if_there(workspace.lists, RankedList)),
        {judge: _of_judge(workspace, judge, read) for judge in workspace.experiment.judge.panel},
    )


def _of_judge(workspace: Workspace, judge: str, read: Read) -> OfJudge:
    paths = (workspace.judge_relevance(judge), workspace.judge_pointwise(judge))
    for path in paths:
        if not path.exists():
            raise InputError("is not there: the panel has changed", file=path, remedy="run `ragassay judge` again")
    return OfJudge(*(tuple(read(path, Judgment)) for path in paths))


def read_rankings(workspace: Workspace, material: Material) -> dict[str, Ranked]:
    """By agent, of those that say what they retrieved."""
    ranked = {agent: _ranked(workspace.rankings(agent), agent, material) for agent in material.agents}
    return {agent: ranking for agent, ranking in ranked.items() if ranking is not None}


def judged_so_far(
    workspace: Workspace,
    material: Material,
    relevance: Sequence[Judgment],
    pointwise: Sequence[Judgment],
    games: Sequence[Game],
) -> Findings:
    """What there is to draw from while the judge stage runs: rankings, labels and games."""
    return Findings(
        material,
        sections=(),
        rankings=read_rankings(workspace, material),
        relevance=tuple(relevance),
        qrels={},
        people={},
        pointwise=tuple(pointwise),
        games=tuple(games),
        ledger=(),
        notices=(),
        usage=(),
    )


def _if_there(path: Path, kind: type[_Read]) -> list[_Read]:
    return read_records(path, kind) if path.exists() else []


def _ranked(path: Path, agent: str, material: Material) -> Ranked | None:
    """The agent's rankings: its run, or the passages its answers name; None where it has neither.

    A query that neither ranks was answered over nothing, unless the answer failed: then so did its retrieval, as far as
    anyone can tell.
    """
    answers = {query.id: material.answers[query.id, agent] for query in material.asked_of(agent)}
    run = read_run(path) if path.exists() else {}
    if not path.exists() and not any(answer.passages for answer in answers.values()):
        return None
    ranked: Ranked = {}
    for query, answer in answers.items():
        named = [(passage, -float(rank)) for rank, passage in enumerate(dict.fromkeys(answer.passages), 1)]
        ranked[query] = run.get(query) or named or (None if answer.error is not None else [])
    return ranked


def _check_games(games: Sequence[Game], queries: set[str], agents: set[str], path: Path) -> None:
    """Raises InputError for a game about a query or an agent that this experiment does not have."""
    for game in games:
        strange = [("query", game.query_id)] if game.query_id not in queries else []
        strange += [("agent", name) for name in (game.agent_a, game.agent_b) if name not in agents]
        if strange:
            kind, name = strange[0]
            raise InputError(
                f"has a game of {kind} '{plain(name)}', which this experiment does not have",
                file=path,
                remedy="run `ragassay judge` again",
            )


def _manifests(folder: Path) -> tuple[tuple[str, ...], tuple[StageUsage, ...]]:
    """Notices (those of stages that delivered less than asked first, then in the stages' order) and usage."""
    grave: list[str] = []
    other: list[str] = []
    usage: list[StageUsage] = []
    for stage in STAGES:
        path = folder / f"{stage}.json"
        if path.exists():
            manifest = read_json(path)
            (grave if _field(manifest, "exit_status", path) else other).extend(_field(manifest, "notices", path) or ())
            usage += [_usage(row, path) for row in _field(manifest, "usage", path) or ()]
    return tuple(dict.fromkeys(grave + other)), tuple(usage)


def _field(manifest: Any, name: str, path: Path) -> Any:
    if not isinstance(manifest, dict):
        raise InputError("is not a stage's manifest", file=path, remedy="remove it and run the stage again")
    return manifest.get(name)


def _usage(row: Any, path: Path) -> StageUsage:
    try:
        return StageUsage.model_validate(row)
    except ValidationError as error:
        raise InputError(first_problem(error), file=path, remedy="remove it and run the stage again") from None


def pairs_of(queries: Sequence[Query]) -> Mapping[str, str]:
    """Perturbed query to its original, of those whose original is in the test set too."""
    ids = {query.id for query in queries}
    return {query.id: original for query in queries if (original := perturbed_from(query)) in ids and original}


def originals_alone(findings: Findings) -> Findings:
    """What there would be, had nothing been perturbed: the same question asked again is no further question.

    Findings without perturbed queries are handed back as they are.
    """
    queries = tuple(query for query in findings.material.queries if perturbed_from(query) is None)
    if len(queries) == len(findings.material.queries) or not queries:
        return findings
    kept = {query.id for query in queries}
    answers = {key: answer for key, answer in findings.material.answers.items() if key[0] in kept}
    return replace(
        findings,
        perturbed=frozenset(query.id for query in findings.material.queries if query.id not in kept),
        material=replace(findings.material, queries=queries, answers=answers),
        rankings={
            agent: {query: row for query, row in ranked.items() if query in kept}
            for agent, ranked in findings.rankings.items()
        },
        relevance=tuple(row for row in findings.relevance if row.query_id in kept),
        qrels={query: labels for query, labels in findings.qrels.items() if query in kept},
        people={query: labels for query, labels in findings.people.items() if query in kept},
        pointwise=tuple(row for row in findings.pointwise if row.query_id in kept),
        games=tuple(row for row in findings.games if row.query_id in kept),
        repeats=tuple(row for row in findings.repeats if row.query_id in kept),
        lists=tuple(row for row in findings.lists if row.query_id in kept),
        judges={
            judge: OfJudge(
                tuple(row for row in one.relevance if row.query_id in kept),
                tuple(row for row in one.pointwise if row.query_id in kept),
            )
            for judge, one in findings.judges.items()
        },
    )
