"""What the stages before have left, read once and checked, for `compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import first_problem, read_json, read_records, read_rows
from ragassay.records import IDENTICAL, Game, Judgment, LedgerRow, RankedList, Record, Repeat, Section, StageUsage
from ragassay.text import plain
from ragassay.trec import Qrels, read_qrels, read_run

from .material import Material, read_material

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

    Judgments, games and answers are rows (`ragassay.files.read_rows`) of millions of which there is room; of the reasons
    that judges gave, they have none but `IDENTICAL`. Of a panel, relevance and pointwise are what it says as one, games and repeats the rows of all its judges, and
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


def read_findings(workspace: Workspace, agents: Sequence[str] | None = None) -> Findings:
    """Read them, of `agents` (default: the experiment's). Raises InputError with the file and, if any, line."""
    material = read_material(workspace, agents, as_rows=True)
    notices, usage = _manifests(workspace.manifests)
    queries = {query.id for query in material.queries}
    games = read_rows(workspace.games, Game, _kept_of_game)
    _check_games(games, queries, set(material.agents), workspace.games)
    people = read_qrels(workspace.own_qrels) if workspace.own_qrels.exists() else {}
    return Findings(
        material,
        tuple(_if_there(workspace.sections, Section)),
        read_rankings(workspace, material),
        _judgments(workspace.relevance),
        read_qrels(workspace.qrels),
        {query: labels for query, labels in people.items() if query in queries},
        _judgments(workspace.pointwise),
        tuple(games),
        tuple(_if_there(workspace.ledger, LedgerRow)),
        notices,
        usage,
        () if queries & people.keys() or not workspace.own_qrels.exists() else (_of_other_queries(workspace),),
        tuple(_if_there(workspace.repeats, Repeat)),
        tuple(_if_there(workspace.lists, RankedList)),
        {judge: _of_judge(workspace, judge) for judge in workspace.experiment.judge.panel},
    )


def _judgments(path: Path) -> tuple[Judgment, ...]:
    return tuple(read_rows(path, Judgment, _kept_of_judgment))


# No figure is made from what a judge said in words, which is most of a file.


def _kept_of_judgment(row: Any) -> None:
    row.reason = None


def _kept_of_game(row: Any) -> None:
    row.reason = IDENTICAL if row.reason == IDENTICAL else None


def _of_judge(workspace: Workspace, judge: str) -> OfJudge:
    paths = (workspace.judge_relevance(judge), workspace.judge_pointwise(judge))
    for path in paths:
        if not path.exists():
            raise InputError("is not there: the panel has changed", file=path, remedy="run `ragassay judge` again")
    return OfJudge(*map(_judgments, paths))


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
