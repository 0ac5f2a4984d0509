"""Evaluators on files of anybody's: answers, the passages they name, and the queries; what they say of each answer, and
how far an agent's answers to one query agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import (
    check_record,
    digest_bytes,
    digest_file,
    read_objects,
    read_records,
    record_of,
    write_json,
)
from ragassay.layouts.answers import FIELDS, GivenAnswers, read_given
from ragassay.records import Answer, Assessment, AssessmentRun, Passage, Query, Record, perturbed_from
from ragassay.text import listed, plain

from ..figures.answer_consistency import (
    Consistency,
    Runs,
    RunValues,
    answer_thresholds,
    flip_problems,
    flips_of,
    measure_consistency,
)
from ..figures.good_enough import (
    AgentShares,
    Cause,
    by_threshold,
    evidence_found,
    insights,
    problems,
    relevant_by_judges,
    shares_by_agent,
    values_by_agent,
)
from ..figures.pass_or_fail import Judged as AgentEvaluation
from ..figures.pass_or_fail import Outcome, Overall, fix_of, judged_of, overall, passages_outcome, takes_part
from ..inputs.clusters import ALONE, Clusters, source_clusters
from ..inputs.findings import Material, by_id, read_material
from ..judging.asked_again import further_runs, repeated_agents
from ..judging.catalog import experiment_evaluators
from ..judging.engine.cases import QueryCase, cases_of, expected_response
from ..judging.engine.evaluator import NO_VALUE, Evaluator, thresholds_of
from ..judging.judges.relevance import DocumentRecall
from ..results import ByThreshold, Figures, Insight, Perturbed, Problem
from ..statistics.clustered import Range, limits_of
from ..statistics.resamples import Resamples, resamples
from ..texts.by_model import TokenEncoder

EXPECTED = ("expected_response", "expected_docs", "expected_facts", "conditions", "json_schema", "expected_files")
USED = FIELDS - {"reference_contexts", "reference_passages", "metadata", "model", "prompt"}
_ANSWER_FIELDS = ("query_id", "agent", "answer", "passages", "queries", "usage", "latency_s", "error")
_OF_RUNS = ("query_id", "agent", "answer", "error")
DEFAULT_AGENT = "answers"
"""The agent of answers that name none."""

_SAME = "its text, expected_response and whatever else is expected must be the same in every line"

Row = tuple[Path, int, dict[str, Any], str]
"""(file, line, our fields, what the agent is called where the row does not say)."""


class GivenCases(NamedTuple):
    """The cases, sentences on what of the files is not used, and whether passages are written out in the answers."""

    cases: list[QueryCase]
    notices: tuple[str, ...]
    with_texts: bool


def read_cases(
    answers: Sequence[Path],
    passages: Path | None,
    queries: Path | None,
    max_rows: int | None = None,
    layout: str | None = None,
) -> GivenCases:
    """The cases that the files make; every agent owes an answer to every query.

    answers: in any layout of `ragassay.layouts`, or all in the one that is named; `agent` is the file's name where it
    is left out, the query's text and what is expected of the answer may stand in the line instead of in queries.jsonl,
    and passages may be written out. Where expected facts stand for an expected answer they are it, a line each.
    passages, queries: BEIR. max_rows: only the first so many answers, in the files' order, and what they are about.
    Raises InputError with file and line.
    """
    if queries is not None and queries.suffix.lower() in {".csv", ".tsv"} and queries.exists():
        remedy = "`ragassay import` makes it of other tools' files, or give `query` in the answers' rows"
        raise InputError("is a table, and queries are JSON Lines in BEIR's layout", file=queries, remedy=remedy)
    files = [read_given(path, layout) for path in answers]
    asked, known = None if queries is None else by_id(queries, Query), by_id(passages, Passage) if passages else {}
    rows = [row for file in files for row in _rows(file, asked)]
    asked = _queries(rows) if asked is None else asked
    written = _written_out(rows, known)
    n_listed, known = len(known), known | written
    given: dict[tuple[str, str], Answer] = {}
    for path, number, value, agent in rows:
        answer = _answer(path, number, value, agent)
        if (answer.query_id, answer.agent) in given:
            raise InputError(f"a second answer of {answer.agent} to '{plain(answer.query_id)}'", file=path, line=number)
        if answer.query_id not in asked:
            raise InputError(f"query '{plain(answer.query_id)}' is not in the queries", file=path, line=number)
        unknown = [id for id in answer.passages if id not in known]
        if passages and unknown:
            raise InputError(f"passage '{plain(unknown[0])}' is not in {passages}", file=path, line=number)
        given[answer.query_id, answer.agent] = answer
    agents = tuple(dict.fromkeys(agent for _, agent in given))
    missing = "the agent's file has no answer"
    owed = {
        (query, agent): given.get((query, agent)) or Answer(query_id=query, agent=agent, answer=None, error=missing)
        for query in asked
        for agent in agents
    }
    left = frozenset(() if max_rows is None else owed.keys() - set(list(given)[:max_rows]))
    whole = tuple(query for query in asked.values() if any((query.id, agent) not in left for agent in agents))
    used = USED if queries is None else USED - set(EXPECTED)
    return GivenCases(
        cases_of(Material(whole, agents, known, owed, not_asked=left)),
        tuple(sentence for file in files for sentence in file.unused(used)),
        len(known) > n_listed,
    )


def _rows(file: GivenAnswers, asked: Mapping[str, Query] | None) -> list[Row]:
    """The rows; one whose query's id is another tool's, or that has none, is told by the text of a query of `asked`."""
    by_text = {query.text.strip(): query.id for query in (asked or {}).values()}
    rows = []
    for one in file.answers if file.answered else ():
        value = dict(one.fields)
        if file.layout != "ragassay" and not value.keys() & {"answer", "error"}:
            continue  # a turn of a conversation that nobody answered
        id, text = value.get("query_id"), value.get("query")
        if isinstance(text, str) and (id is None or (one.foreign_ids and asked is not None and id not in asked)):
            value["query_id"] = by_text.get(text.strip(), id)
        if value.get("contexts") and not value.get("passages"):
            value["passages"] = [context_id(context) for context in value["contexts"]]
        rows.append((file.path, one.line, {k: v for k, v in value.items() if v is not None}, file.agent))
    if not rows:
        raise InputError("holds no answer", file=file.path)
    return rows


def context_id(context: Mapping[str, Any]) -> str:
    """The id of a passage that is written out: its own, or one made from its text."""
    if context.get("id"):
        return str(context["id"])
    return f"text-{digest_bytes(context['text'].encode('utf-8', 'surrogatepass'))[:16]}"


def _written_out(rows: Sequence[Row], known: Mapping[str, Passage]) -> dict[str, Passage]:
    """The passages that stand in the answers' lines. Raises InputError where one id has two texts."""
    found: dict[str, Passage] = {}
    for path, number, value, _ in rows:
        for context in value.get("contexts") or ():
            doc = {"doc": context["doc"]} if context.get("doc") else {}
            passage = Passage(id=context_id(context), text=context["text"], metadata=doc)
            check_record(passage, path, number)
            there = known.get(passage.id) or found.setdefault(passage.id, passage)
            if there.text != passage.text:
                remedy = "give each passage an id of its own, or none"
                problem = f"passage '{plain(passage.id)}' has another text than before"
                raise InputError(problem, file=path, line=number, remedy=remedy)
    return found


def _queries(rows: Sequence[Row]) -> dict[str, Query]:
    queries: dict[str, Query] = {}
    for file, number, value, _ in rows:
        if not isinstance(value.get("query"), str):
            remedy = "give the queries with --queries, or the text of each as `query` in its answer's line"
            raise InputError("has no query text", file=file, line=number, remedy=remedy)
        expected = {key: value[key] for key in EXPECTED if value.get(key) is not None}
        if "expected_facts" in expected and "expected_response" not in expected:
            expected["expected_response"] = "\n".join(map(str, expected["expected_facts"]))
        id = str(value["query"] if value.get("query_id") is None else value["query_id"])
        if not id or not value["query"]:
            raise InputError("has an empty query", file=file, line=number)
        query = Query(id=id, text=value["query"], metadata=expected)
        check_record(query, file, number)
        if queries.setdefault(id, query) != query:
            raise InputError(f"query '{plain(id)}' is not as in a line before", file=file, line=number, remedy=_SAME)
    return queries


def _answer(
    path: Path, number: int, value: Mapping[str, Any], agent: str, names: Sequence[str] = _ANSWER_FIELDS
) -> Answer:
    fields = {name: value[name] for name in names if value.get(name) is not None}
    fields.setdefault("query_id", value.get("query"))
    fields.setdefault("agent", agent)
    if isinstance(fields.get("answer"), str) and not fields["answer"].strip():
        fields = {**fields, "answer": None, "error": fields.get("error") or "the answer is empty"}
    answer = record_of({"answer": None, **fields}, Answer, path, number)
    if answer.latency_s is not None and not isfinite(answer.latency_s):
        raise InputError(f"latency_s is {answer.latency_s}", file=path, line=number)
    return answer


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
    keys = [(query.id, agent) for agent in agents for query in material.asked_of(agent)]
    groups = [Runs(*key, tuple(one.answers[key].answer for one in runs), metrics.get(key, {})) for key in keys]
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
    rows = [(1, row) for row in read_records(workspace.judgments, Assessment)]
    rows += [(later.run, later) for later in read_records(workspace.judgment_runs, AssessmentRun)]
    given = {(row.query_id, row.subject, row.criterion, run): row.label for run, row in rows}
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
            answer, run = _answer(path, number, value, DEFAULT_AGENT, _OF_RUNS), value.get("run", 0)
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
    met = {key: place for place, key in enumerate(dict.fromkeys(key for run in ordered for key in run))}
    owed = sorted(met, key=lambda key: (key[0], met[key]))  # queries as they were first met
    groups = [Runs(query, agent, tuple(run.get((agent, query)) for run in ordered)) for agent, query in owed]
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


def clusters_of(queries: Sequence[Query]) -> Clusters:
    """Each query by itself, unless some were made of others."""
    return source_clusters(queries) if any(perturbed_from(query) for query in queries) else ALONE


class AnswerVerdict(Record):
    """`--verdicts`: pass or fail of one answer, by every criterion and its threshold.

    As with Agent Evaluation one relevant passage is enough for `chunk_relevance` and for a judge of passages of the
    user's own, and document_recall, which is no judge, has no say; unless a threshold is given for their mean.
    root_cause: the first criterion failed, by the order of Agent Evaluation's root causes; fix: what to do about it.
    failure: whether something relevant was retrieved for an answer that fails. errors: criterion to why it is open.
    """

    query_id: str
    agent: str
    verdict: Literal["pass", "fail", "undecided"]
    root_cause: str | None = None
    failure: Literal["retrieval", "generation", "unexplained"] | None = None
    fix: str | None = None
    failed: tuple[str, ...] = ()
    errors: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """The evaluators, what they gave, and the cases; thresholds: the user's."""

    evaluators: Sequence[Evaluator]
    rows: Sequence[Assessment]
    cases: Sequence[QueryCase]
    given: Mapping[str, float]

    @cached_property
    def thresholds(self) -> dict[str, float]:
        """Criterion to the label that is good enough."""
        return thresholds_of(self.evaluators, self.given)

    @cached_property
    def answers(self) -> dict[tuple[str, str], Answer]:
        """By query id and agent."""
        made = {(case.query.id, one.subject): one.answer for case in self.cases for one in case.answers}
        return made | {(case.query.id, row.agent): row for case in self.cases for row in case.failed}

    @cached_property
    def queries(self) -> dict[str, Query]:
        """By id."""
        return {case.query.id: case.query for case in self.cases}

    @cached_property
    def _passages(self) -> dict[str, Passage]:
        return {one.id: one for case in self.cases for one in case.passages}

    @cached_property
    def _by_agent(self) -> dict[str, dict[str, AgentShares]]:
        relevant = relevant_by_judges(self.evaluators, self.rows, self.thresholds)
        telling = {agent for (_, agent), row in self.answers.items() if row.passages}

        def found(query: str, agent: str) -> bool | None:
            """Whether something relevant was retrieved; not known of an agent whose answers name no passage at all."""
            answer = self.answers[query, agent]
            return evidence_found(self.queries[query], answer, relevant, self._passages) if agent in telling else None

        return shares_by_agent(self.evaluators, self.rows, self.answers, self.thresholds, found)

    @cached_property
    def _draws(self) -> Resamples:
        return resamples(tuple(self.queries), 1, 0, clusters_of(list(self.queries.values())))

    def shares(self) -> ByThreshold:
        """Agent to criterion to shares."""
        return by_threshold(self._by_agent, self._draws)

    @cached_property
    def perturbed(self) -> Perturbed | None:
        """The flips where questions stand beside others made of them; None where none do."""
        lower = [c.name for one in self.evaluators for c in one.criteria if c.lower_is_better]
        agents = list(dict.fromkeys(agent for _, agent in self.answers))
        thresholds = answer_thresholds(self.evaluators, self.given)
        return flips_of(list(self.queries.values()), self.rows, thresholds, lower, agents)

    def told(self) -> tuple[tuple[Problem, ...], tuple[Insight, ...]]:
        """Problems and insights."""
        values = values_by_agent(self.evaluators, self.rows, self.answers)
        scales = {c.name: c for one in self.evaluators for c in one.criteria}
        limits = {name: limits_of(one.lowest, one.highest) for name, one in scales.items()}
        means: Figures = {
            agent: {name: self._draws.figure(row, limits[name]) for name, row in named.items()}
            for agent, named in values.items()
        }
        lower = [name for name, one in scales.items() if one.lower_is_better]
        queries = list(self.queries.values())
        flipped = flip_problems(self.perturbed) if self.perturbed else ()
        return (
            (*problems(means, self.thresholds, lower, self.answers, self._draws), *flipped),
            insights(self.evaluators, self.rows, values, self.answers, queries, self._draws),
        )

    def as_agent_evaluation(self) -> AgentEvaluation:
        """The rows as Agent Evaluation has them. Raises InputError where no judge by its method takes part."""
        agents = tuple(dict.fromkeys(agent for _, agent in self.answers))
        material = Material(tuple(self.queries.values()), agents, self._passages, self.answers)
        return judged_of(self.evaluators, self.rows, material, list(self.answers))

    def verdicts(self) -> list[AnswerVerdict]:
        """One for each answer, by query, then agent."""
        rows = {(row.query_id, row.subject, row.criterion): row for row in self.rows}
        # criterion that Agent Evaluation's verdict takes in its own way to whether it is one of passages
        theirs = {one.criteria[0].name: True for one in self.evaluators if takes_part(one) and one.unit == "passage"}
        theirs |= {one.criteria[0].name: False for one in self.evaluators if isinstance(one, DocumentRecall)}
        made = []
        for (query, agent), answer in self.answers.items():
            outcome: Outcome | None
            outcomes, causes = list[Outcome](), set[Cause]()
            for name, one in self._by_agent.get(agent, {}).items():
                row = rows.get((query, agent, name))
                error = row.error if row else None
                if query not in one.passed or (error or "").startswith(NO_VALUE):
                    continue
                if name not in theirs or name in self.given:
                    passed = one.passed[query]
                    outcome = Outcome(name, None if passed is None else passed == 1, error)
                else:
                    own = {id: rows.get((query, id, name)) for id in answer.passages}
                    outcome = passages_outcome(name, own) if theirs[name] else None
                if outcome is not None:
                    outcomes.append(outcome)
                    causes |= {one.causes[query]} if query in one.causes else set()
            found: Overall = overall(outcomes, ground_truth=expected_response(self.queries[query]) is not None)
            verdict = AnswerVerdict(
                query_id=query,
                agent=agent,
                verdict=found.verdict,
                root_cause=found.root_cause,
                failure=min(causes) if found.verdict == "fail" and causes else None,
                fix=found.root_cause and fix_of(found.root_cause),
                failed=found.failed,
                errors=dict(found.errors),
            )
            made.append(verdict)
        return made
