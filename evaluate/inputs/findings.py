"""What the stages before have left, read once and checked, for `compare`."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import Any, TypeVar

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import first_problem, read_json, read_records, read_rows
from ragassay.records import (
    IDENTICAL,
    Answer,
    Game,
    Judgment,
    LedgerRow,
    Passage,
    RankedList,
    Record,
    Repeat,
    Section,
    StageUsage,
)
from ragassay.text import plain
from ragassay.trec import Qrels, read_qrels, read_run

from .material import AnyRecord, Material, Read, read_material

R = TypeVar("R", bound=Record)

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
    with _uncollected():
        return _read_findings(workspace, agents, read or _usual(workspace))


def _usual(workspace: Workspace) -> Read:
    return with_answers if workspace.experiment.evaluates else without_texts


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
        () if queries & people.keys() or not workspace.own_qrels.exists() else (_of_other_queries(workspace),),
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


def _of_other_queries(workspace: Workspace) -> str:
    return plain(
        f"{workspace.own_qrels} labels no query of the test set: give the ids that stand in {workspace.queries}"
    )


def _if_there(path: Path, kind: type[R]) -> list[R]:
    return read_records(path, kind) if path.exists() else []


def _ranked(path: Path, agent: str, material: Material) -> Ranked | None:
    """The agent's rankings: its run, or the passages its answers name; None where it has neither.

    A query that neither ranks was answered over nothing, unless the answer failed: then so did its retrieval, as far as
    anyone can tell.
    """
    answers = {query.id: material.answers[query.id, agent] for query in material.queries}
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
