"""What the stages before have left, read once and checked, for `compare`."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from sys import intern
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace, read_not_asked
from ragassay.files import Qrels, read_json, read_qrels, read_records, read_rows, read_run, record_of
from ragassay.records import (
    IDENTICAL,
    Answer,
    Game,
    Judgment,
    LedgerRow,
    Passage,
    Query,
    RankedList,
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


def read_material(workspace: Workspace, read: Read = read_records) -> Material:
    """Read what the stages before have written. Raises InputError with the file and line.

    read: what reads a file's records. What an agent says about queries that were not asked is passed over.
    """
    queries = tuple(by_id(workspace.queries, Query).values())
    if not queries:
        raise InputError("holds no query", file=workspace.queries, remedy="run `ragassay questions` first")
    agents, passages = workspace.experiment.agent_names(), by_id(workspace.passages, Passage, read)
    given: dict[tuple[str, str], Answer] = {}
    query_ids = {query.id for query in queries}
    for agent in agents:
        for answer in read(workspace.answers(agent), Answer):
            if (answer.query_id, agent) in given:
                said = f"has two answers to query '{plain(answer.query_id)}'"
                raise InputError(said, file=workspace.answers(agent))
            if answer.query_id in query_ids:
                mine = answer.agent == agent
                given[answer.query_id, agent] = answer if mine else answer.model_copy(update={"agent": agent})
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
    plans = look.get("plans", [look["plan"]])
    taken = [one for one in _if_there(workspace.looks, Taken) if one.plan in plans]
    before = [[one.told for one in taken if one.queries <= place] for place in range(len(queries))]
    told = {query.id: frozenset(looks[-1]) for query, looks in zip(queries, before, strict=True) if looks}
    batches = tuple(
        frozenset(query.id for query in queries[start:end])
        for start, end in pairwise((0, *look["ends"]))
        if start < len(queries)
    )
    planned = tuple(map(tuple, batches))
    if "plans" not in look:
        planned = (tuple(query.id for query in read_records(workspace.planned, Query)),)
    return Material(
        queries, agents, passages, answers, planned=planned, told=told, batches=batches, not_asked=not_asked
    )


def by_id(path: Path, kind: type[R], read: Read = read_records) -> dict[str, R]:
    """The records of a file by their ids. Raises InputError where one is there twice."""
    records: dict[str, R] = {}
    for record in read(path, kind):
        if record.id in records:
            raise InputError(f"has '{plain(record.id)}' twice", file=path, remedy="give each an id of its own")
        records[record.id] = record
    return records


Ranked = dict[str, list[tuple[str, float]] | None]
"""Query id to (passage id, score), best first; None where retrieval failed. Empty: it retrieved nothing."""


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
    sections: tuple[Section, ...] = ()
    rankings: dict[str, Ranked] = field(default_factory=dict)
    relevance: tuple[Judgment, ...] = ()
    qrels: Qrels = field(default_factory=dict)
    people: Qrels = field(default_factory=dict)
    pointwise: tuple[Judgment, ...] = ()
    games: tuple[Game, ...] = ()
    ledger: tuple[LedgerRow, ...] = ()
    notices: tuple[str, ...] = ()
    usage: tuple[StageUsage, ...] = ()
    unusable: tuple[str, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    lists: tuple[RankedList, ...] = ()
    judges: Mapping[str, OfJudge] = field(default_factory=dict)
    perturbed: frozenset[str] = frozenset()

    def of_judge(self, judge: str) -> Findings:
        """The same with what one judge of the panel says."""
        rows: dict[str, Any] = dict(vars(self.judges[judge]))
        for name in ("games", "repeats", "lists"):
            rows[name] = tuple(row for row in getattr(self, name) if row.judge == judge)
        return replace(self, judges={}, **rows)

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


def read_findings(workspace: Workspace, read: Read | None = None) -> Findings:
    """Read them. Raises InputError with the file and, if any, line.

    read: how what was found, answered and judged is read (default: `without_texts`, or `with_answers` where evaluators
    may have to be told of answers without a word); who shows or judges texts gives `read_records`.
    """
    read = read or (with_answers if workspace.experiment.evaluates else without_texts)
    with _uncollected():
        material = read_material(workspace, read)
        notices, usage = _manifests(workspace.manifests)
        queries, games = {query.id for query in material.queries}, read(workspace.games, Game)
        _check_games(games, queries, set(material.agents), workspace.games)
        own, unusable = workspace.own_qrels, list[str]()
        people = read_qrels(own) if own.exists() else {}
        if own.exists() and not queries & people.keys():
            remedy = f"give the ids that stand in {workspace.queries}"
            unusable.append(plain(f"{own} labels no query of the test set: {remedy}"))
        return Findings(
            material,
            sections=tuple(_if_there(workspace.sections, Section)),
            rankings=read_rankings(workspace, material),
            relevance=tuple(read(workspace.relevance, Judgment)),
            qrels=read_qrels(workspace.qrels),
            people={query: labels for query, labels in people.items() if query in queries},
            pointwise=tuple(read(workspace.pointwise, Judgment)),
            games=tuple(games),
            ledger=tuple(_if_there(workspace.ledger, LedgerRow)),
            notices=notices,
            usage=usage,
            unusable=tuple(unusable),
            repeats=tuple(_if_there(workspace.repeats, Repeat)),
            lists=tuple(_if_there(workspace.lists, RankedList)),
            judges={judge: _of_judge(workspace, judge, read) for judge in workspace.experiment.judge.panel},
        )


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


def _if_there(path: Path, kind: type[AnyRecord]) -> list[AnyRecord]:
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
        for kind, name, known in (
            ("query", game.query_id, queries),
            ("agent", game.agent_a, agents),
            ("agent", game.agent_b, agents),
        ):
            if name not in known:
                problem = f"has a game of {kind} '{plain(name)}', which this experiment does not have"
                raise InputError(problem, file=path, remedy="run `ragassay judge` again")


def _manifests(folder: Path) -> tuple[tuple[str, ...], tuple[StageUsage, ...]]:
    """Notices (those of stages that delivered less than asked first, then in the stages' order) and usage."""
    grave, other, usage = list[str](), list[str](), list[StageUsage]()
    again = "remove it and run the stage again"
    for stage in ("ingest", "questions", "retrieve", "answer", "judge", "evaluate"):
        path = folder / f"{stage}.json"
        if not path.exists():
            continue
        manifest = read_json(path)
        if not isinstance(manifest, dict):
            raise InputError("is not a stage's manifest", file=path, remedy=again)
        (grave if manifest.get("exit_status") else other).extend(manifest.get("notices") or ())
        usage += [record_of(one, StageUsage, path, remedy=again) for one in manifest.get("usage") or ()]
    return tuple(dict.fromkeys(grave + other)), tuple(usage)


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

    def mine(one: Findings | OfJudge, *names: str) -> dict[str, Any]:
        return {name: tuple(row for row in getattr(one, name) if row.query_id in kept) for name in names}

    return replace(
        findings,
        perturbed=frozenset(query.id for query in findings.material.queries if query.id not in kept),
        material=replace(findings.material, queries=queries, answers=answers),
        rankings={
            agent: {query: row for query, row in ranked.items() if query in kept}
            for agent, ranked in findings.rankings.items()
        },
        qrels={query: labels for query, labels in findings.qrels.items() if query in kept},
        people={query: labels for query, labels in findings.people.items() if query in kept},
        judges={judge: OfJudge(**mine(one, "relevance", "pointwise")) for judge, one in findings.judges.items()},
        **mine(findings, "relevance", "pointwise", "games", "repeats", "lists"),
    )
