"""The runs whose consistency is asked for: an experiment's, or those in files of anybody's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

from pydantic import ValidationError

from ragassay.digests import digest_file
from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import first_problem, read_objects, read_records, write_json
from ragassay.records import Answer, Assessment, AssessmentRun
from ragassay.text import listed, plain

from ..figures.answer_consistency import Consistency, Runs, RunValues, measure_consistency
from ..inputs.material import read_material
from ..inputs.sections import source_clusters
from ..judging.catalog import experiment_evaluators
from ..judging.further_runs import further_runs, repeated_agents
from ..statistics.clustered import Range
from ..texts.bert_score import TokenEncoder

DEFAULT_AGENT = "answers"
"""The agent of answers that name none."""

_FIELDS = ("query_id", "agent", "answer", "error")


def of_experiment(workspace: Workspace) -> Consistency:
    """Write `consistency.json` from the answers, their further runs and what the evaluators gave both.

    Raises InputError where agents answer only once, and for files that cannot be read.
    """
    agents = repeated_agents(workspace)
    if not agents:
        remedy = "set repeats = 3 under [answer] and run again"
        raise InputError("every agent answers once", file=workspace.corpus / "experiment.toml", remedy=remedy)
    material = read_material(workspace)
    runs = [material, *(later for _, later in further_runs(workspace, material))]
    metrics, scales = _judged(workspace, len(runs))
    groups = [
        Runs(
            query.id,
            agent,
            tuple(one.answers[query.id, agent].answer for one in runs),
            metrics.get((query.id, agent), {}),
        )
        for agent in agents
        for query in material.queries
    ]
    embedding = workspace.experiment.retrieval.embedding
    clusters = source_clusters(material.queries)
    found = measure_consistency(groups, TokenEncoder(embedding).vectors, embedding, scales, clusters)
    found = found.model_copy(update={"inputs": inputs_of(workspace)})
    write_json(workspace.consistency, found.dump())
    return found


def inputs_of(workspace: Workspace) -> dict[str, str]:
    """File to SHA-256 of the answers, their further runs and what the evaluators gave both."""
    agents = repeated_agents(workspace)
    files = [path(agent) for agent in agents for path in (workspace.answers, workspace.answer_runs)]
    files += [workspace.judgments, workspace.judgment_runs] if workspace.experiment.judges_runs else []
    return {path.relative_to(workspace.results).as_posix(): digest_file(path) for path in files if path.exists()}


def _judged(
    workspace: Workspace, n_runs: int
) -> tuple[Mapping[tuple[str, str], dict[str, RunValues]], Mapping[str, Range]]:
    """(query, agent) to criterion to the label of each run, and the criteria's scales; empty without evaluators."""
    if not workspace.experiment.judges_runs:
        return {}, {}
    judging = [one for one in experiment_evaluators(workspace) if one.unit != "passage"]
    scales = {criterion.name: (criterion.lowest, criterion.highest) for one in judging for criterion in one.criteria}
    given: dict[tuple[str, str, str, int], float | None] = {}
    for row in read_records(workspace.judgments, Assessment):
        given[row.query_id, row.subject, row.criterion, 1] = row.label
    for later in read_records(workspace.judgment_runs, AssessmentRun):
        given[later.query_id, later.subject, later.criterion, later.run] = later.label
    agents, table = repeated_agents(workspace), dict[tuple[str, str], dict[str, RunValues]]()
    for query, agent, criterion, run in given:
        if run == 1 and agent in agents and criterion in scales:
            values = tuple(given.get((query, agent, criterion, place)) for place in range(1, n_runs + 1))
            table.setdefault((query, agent), {})[criterion] = values
    return table, scales


def of_files(paths: Sequence[Path], embedding: str) -> Consistency:
    """The same of the answers in JSON Lines files, a run a file; lines with `run`, as ours have, are of that run.

    A query that a run does not answer is a failed answer. Raises InputError, with the line, for what cannot be used, a
    second answer of an agent to a query in a run, where there is only one run, and where no query is answered twice.
    """
    runs: dict[tuple[int, int], dict[tuple[str, str], str | None]] = {}
    for place, path in enumerate(paths):
        rows = list(read_objects(path))
        if not rows:
            raise InputError("holds no answer", file=path)
        for number, value in rows:
            answer, run = _answer(path, number, value), value.get("run", 0)
            if type(run) is not int:
                raise InputError("run is not a whole number", file=path, line=number)
            mine = runs.setdefault((place, run), {})
            if (answer.agent, answer.query_id) in mine:
                problem = f"a second answer of {answer.agent} to '{plain(answer.query_id)}'"
                raise InputError(problem, file=path, line=number, remedy="put each run into a file of its own")
            mine[answer.agent, answer.query_id] = answer.answer
    if len(runs) < 2:
        raise InputError("there is one run, consistency needs two or more", remedy="give --answers once for each run")
    ordered = [runs[key] for key in sorted(runs)]
    _check_shared(ordered)
    groups = [Runs(query, agent, tuple(run.get((agent, query)) for run in ordered)) for agent, query in _owed(ordered)]
    return measure_consistency(groups, TokenEncoder(embedding).vectors, embedding)


def _check_shared(runs: Sequence[Mapping[tuple[str, str], object]]) -> None:
    """Raises InputError where no agent answers the same query in two runs, so that there is nothing to compare."""
    met = [key for run in runs for key in run]
    if len(set(met)) < len(met):
        return
    agents = [sorted({agent for agent, _ in run}) for run in runs]
    if any(set(one) & set(other) for one, other in combinations(agents, 2)):
        raise InputError("no query is answered in two runs", remedy="give the same queries the same query_id in each")
    named = "; ".join(f"run {number} has {plain(listed(names[:5]))}" for number, names in enumerate(agents, 1))
    remedy = "give the system the same name in each file, or leave `agent` out where a file has one system"
    raise InputError(f"the runs have no agent in common: {named}", remedy=remedy)


def _owed(runs: Sequence[Mapping[tuple[str, str], object]]) -> list[tuple[str, str]]:
    """(agent, query) that at least one run has: agents by name, queries in the order in which they were first met."""
    met = {key: place for place, key in enumerate(dict.fromkeys(key for run in runs for key in run))}
    return sorted(met, key=lambda key: (key[0], met[key]))


def _answer(path: Path, number: int, value: dict[str, object]) -> Answer:
    fields = {name: value[name] for name in _FIELDS if value.get(name) is not None}
    fields.setdefault("query_id", value.get("query"))
    fields.setdefault("agent", DEFAULT_AGENT)
    if isinstance(fields.get("answer"), str) and not str(fields["answer"]).strip():
        fields = {**fields, "answer": None, "error": "the answer is empty"}
    try:
        return Answer.model_validate({"answer": None, **fields})
    except ValidationError as error:
        raise InputError(first_problem(error).replace("Value error, ", ""), file=path, line=number) from None
