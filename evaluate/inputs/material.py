"""What the judges are given: the queries, and for each the agents' answers and the pool of their passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol, TypeVar

from pydantic import BaseModel

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Answer, Passage, Query
from ragassay.text import plain

R = TypeVar("R", Query, Passage)
AnyRecord = TypeVar("AnyRecord", bound=BaseModel)


class Read(Protocol):
    """Every record of a file, as `ragassay.files.read_records`."""

    def __call__(self, path: Path, kind: type[AnyRecord], /) -> list[AnyRecord]: ...


@dataclass(frozen=True)
class Material:
    """`answers` has one for every (query id, agent): an answer that is not on record is one with an error.

    joined: the agents in the order in which they came to be judged, wave by wave; empty: all at once.
    """

    queries: tuple[Query, ...]
    agents: tuple[str, ...]
    passages: dict[str, Passage]
    answers: dict[tuple[str, str], Answer]
    joined: tuple[tuple[str, ...], ...] = ()

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
        return sorted({id for agent in some for id in self.answers[query_id, agent].passages})

    def known(self, ids: tuple[str, ...]) -> tuple[Passage, ...]:
        """The passages of `ids` that the corpus has, in that order, each once."""
        return tuple(self.passages[id] for id in dict.fromkeys(ids) if id in self.passages)

    @cached_property
    def _waves(self) -> dict[str, int]:
        return {agent: number for number, agents in enumerate(self.waves) for agent in agents}


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
    answers = {
        (query.id, agent): given.get((query.id, agent)) or _not_there(query.id, agent)
        for query in queries
        for agent in agents
    }
    return Material(queries, agents, passages, answers)


def _not_there(query_id: str, agent: str) -> Answer:
    return Answer(query_id=query_id, agent=agent, answer=None, error="the agent's file has no answer")


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
