"""The one maker of results folders: what the stages before leave, written through the record models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from ragassay.evaluate.figures import query_values
from ragassay.evaluate.figures.query_values import of_findings
from ragassay.evaluate.figures.values import all_measures, write_values
from ragassay.evaluate.inputs.clusters import source_clusters
from ragassay.evaluate.inputs.findings import Findings, Material, originals_alone, read_findings
from ragassay.evaluate.measures.measure import compared
from ragassay.evaluate.ratings.verdicts import panel_verdicts, points_of
from ragassay.evaluate.ratings.verdicts import verdicts as all_verdicts
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import write_qrels, write_records, write_run
from ragassay.records import Answer, Assessment, Game, Judgment, Passage, Record

Place = Literal["a", "b"]
Rankings = Mapping[str, Mapping[str, Sequence[str]]]
"""Agent to query to passages, best first."""


def experiment(model: str = "openai:m", **tables: Any) -> Experiment:
    """The user's own questions, answered and judged by `model`; `tables` say more, or otherwise."""
    settings: dict[str, Any] = {"questions": {"source": "own"}, "answer": {"model": model}, "judge": {"model": model}}
    for name, table in tables.items():
        settings[name] = {**settings.get(name, {}), **table} if isinstance(table, Mapping) else table
    return Experiment.model_validate(settings)


TWO_SYSTEMS = """
[questions]
source = "own"
[answer]
model = "openai:m"
agents = []
[judge]
model = "openai:m"
{more}
[[agent]]
name = "{one}"
kind = "file"
path = "{one}.jsonl"
[[agent]]
name = "{other}"
kind = "file"
path = "{other}.jsonl"
"""
"""An experiment of two systems of the user's, which are files; `more` comes below [judge]."""


def results_folder(root: Path, settings: Experiment | str, **files: Any) -> Workspace:
    """`root/corpus` and `root/results` with these files (see `write`).

    settings: the experiment, or the text of its experiment.toml, which then stands in the corpus folder.
    """
    corpus = root / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    if isinstance(settings, str):
        (corpus / "experiment.toml").write_text(settings, encoding="utf-8")
        settings = load_experiment(corpus / "experiment.toml")
    workspace = Workspace(corpus, root / "results", settings)
    write(workspace, **files)
    return workspace


def two_systems(root: Path, one: str, other: str, more: str = "", **files: Any) -> Workspace:
    """A results folder of two systems, with `p1` alone for a passage and without labels but for those in `files`."""
    files = {"passages": [Passage(_id="p1", text="…")], "relevance": (), "pointwise": (), "games": ()} | files
    made = results_folder(root, TWO_SYSTEMS.format(one=one, other=other, more=more), **files)
    for name in (one, other):
        (made.corpus / f"{name}.jsonl").write_text("")
    return made


def write(
    workspace: Workspace, *, answers: Iterable[Answer] | None = None, rankings: Rankings | None = None, **files: Any
) -> None:
    """Write files of a results folder; one that is not named is not touched.

    answers: of all agents, each to the file of its own. files: records, by what Workspace calls their file (`queries`,
    `passages`, `games`, …); labels of `relevance` are written as qrels too.
    """
    for name, records in files.items():
        rows: list[Record] = list(records)
        write_records(getattr(workspace, name), rows)
        if name == "relevance":
            write_qrels(workspace.qrels, qrels_of(rows))  # type: ignore[arg-type]
    if answers is not None:
        given = list(answers)
        for agent in dict.fromkeys((*workspace.experiment.agent_names(), *(row.agent for row in given))):
            write_records(workspace.answers(agent), [row for row in given if row.agent == agent])
    for agent, ranking in (rankings or {}).items():
        write_run(workspace.rankings(agent), {query: scored(row) for query, row in ranking.items()}, agent)


def write_values_of(workspace: Workspace) -> None:
    """`values.jsonl` of the records that are there, as `compare` would write it; evaluators' values are left out."""
    settings, found = workspace.experiment, originals_alone(read_findings(workspace))
    retrieval = query_values.retrieval_by_query(found, settings.retrieval.k)
    pointwise = query_values.pointwise_by_query(found, settings.judge.criteria)
    agents, verdicts = found.material.agents, panel_verdicts(all_verdicts(found.games), settings.judge.models)
    points = points_of(verdicts, agents, found.queries)
    measures = all_measures(retrieval, of_findings(compared(settings.retrieval.k), retrieval, pointwise, points))
    clusters = source_clusters(found.material.queries)
    write_values(workspace.values, measures, agents, found.queries, clusters)


def scored(passages: Sequence[str]) -> list[tuple[str, float]]:
    """Passages, best first, with scores that fall."""
    return [(passage, -float(rank)) for rank, passage in enumerate(passages)]


def qrels_of(relevance: Iterable[Judgment]) -> dict[str, dict[str, int]]:
    """Query to passage to label, of those that have one."""
    table: dict[str, dict[str, int]] = {}
    for row in relevance:
        if row.label is not None:
            table.setdefault(row.query_id, {})[row.subject] = int(row.label)
    return table


def answer(query: str, agent: str, text: str | None, *passages: str, **more: Any) -> Answer:
    """An answer over these passages; no text is one that failed, with an `error` that may be given."""
    if text is None:
        more = {"error": "the provider failed"} | more
    return Answer(query_id=query, agent=agent, answer=text, passages=passages, **more)


def judgment(query: str, subject: str, criterion: str, label: float | None, **more: Any) -> Judgment:
    """A label by the judge `openai:j`; no label is one that failed."""
    return Judgment.model_validate(_judged(query, subject, criterion, label) | more)


def assessment(query: str, subject: str, criterion: str, label: float | None, **more: Any) -> Assessment:
    """The same by an evaluator."""
    return Assessment.model_validate(_judged(query, subject, criterion, label) | more)


def _judged(query: str, subject: str, criterion: str, label: float | None) -> dict[str, Any]:
    row = {"query_id": query, "subject": subject, "judge": "openai:j", "criterion": criterion, "label": label}
    return row | ({"error": "refused"} if label is None else {})


def game(query: str, a: str, b: str, winner: str | None, first: Place = "a", **more: Any) -> Game:
    """One order of a game; no winner is one that failed."""
    if winner is None:
        more = {"error": "refused"} | more
    row = {"query_id": query, "agent_a": a, "agent_b": b, "first": first, "winner": winner}
    return Game.model_validate(row | more)


def findings(material: Material | None = None, **fields: Any) -> Findings:
    """What `compare` would read, of which a test gives what it is about."""
    return Findings(material or Material((), (), {}, {}), **fields)
