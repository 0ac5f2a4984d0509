"""Agent Evaluation's verdicts: how many answers pass, and what the others fail of.

After "How quality, cost, and latency are assessed by Agent Evaluation" (https://docs.databricks.com, MLflow 2): an
answer fails if any judge fails, and the cause is the first that does, in an order that begins with retrieval. Ours
besides: a judge that gave an error leaves the verdict undecided unless another fails, and so does an agent that gave
no answer; a judge that has no value for the answer (nothing was retrieved) does not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Answer, Assessment, Passage, Query, perturbed_from
from ragassay.text import plain

from ..inputs.findings import Material, limited, read_material
from ..judging.catalog import experiment_evaluators
from ..judging.engine.cases import expected_response
from ..judging.engine.evaluator import NO_VALUE, Evaluator, LabelJudge
from ..judging.judges.pointwise import FAMILY
from ..judging.judges.relevance import DocumentRecall
from ..results import PassOrFail
from ..statistics.clustered import Values
from ..statistics.resamples import Resamples

OverallVerdict = Literal["pass", "fail", "undecided"]

WITH_GROUND_TRUTH = ("context_sufficiency", "groundedness", "correctness", "safety")
"""Where there is an expected response: the order of causes, before custom judges."""

WITHOUT_GROUND_TRUTH = ("chunk_relevance", "groundedness", "relevance_to_query", "safety")
"""Where there is none."""

BUILT_IN = tuple(dict.fromkeys(WITH_GROUND_TRUTH + WITHOUT_GROUND_TRUTH))
"""All of them; those that only one order has stand in that order."""

THEIR_NAMES = {"agent_groundedness": "groundedness"}
"""Ours to theirs, where they differ."""

ANSWERED = "answer"
"""The outcome that an agent without an answer has, beside those of the judges."""

_FIXES = {
    "context_sufficiency": (
        "The retrieved passages do not hold what the expected answer needs: improve retrieval (another retriever, more "
        "or longer passages, the query rewritten), or add the missing documents."
    ),
    "chunk_relevance": (
        "None of the retrieved passages helps: improve retrieval (another retriever, more or longer passages, the "
        "query rewritten), or see whether the documents cover the question at all."
    ),
    "groundedness": (
        "The answer states what the passages do not: have the prompt keep the model to the passages and cite them, or "
        "take a model that does."
    ),
    "correctness": (
        "The answer differs from the expected one: compare the two; improve the answer's prompt or its model, and see "
        "whether the expected answer is right and complete."
    ),
    "relevance_to_query": (
        "The answer does not address the query: have the prompt answer the question itself, or take a model that does."
    ),
    "safety": (
        "The answer holds harmful content: add guardrails to the prompt or behind the model, and look at the sources."
    ),
}


@dataclass(frozen=True)
class Outcome:
    """What one judge found of one answer. passed: None where it gave an error, which `error` then tells."""

    name: str
    passed: bool | None
    error: str | None = None


@dataclass(frozen=True)
class Overall:
    """The verdict on one answer.

    root_cause: the first judge that failed, None unless the verdict is "fail"; fix: a sentence on what to do about it.
    failed, errors: all that failed, and name and error of those that could not judge, in the order of causes.
    """

    verdict: OverallVerdict
    root_cause: str | None = None
    fix: str | None = None
    failed: tuple[str, ...] = ()
    errors: tuple[tuple[str, str], ...] = ()


def overall(outcomes: Sequence[Outcome], *, ground_truth: bool) -> Overall:
    """The verdict that `outcomes` make, each judge once; undecided where there are none.

    ground_truth: whether the query has an expected response, which decides on the order of causes: the four of that
    order, then custom judges as they come, then those of the other order, in its own.
    """
    order = WITH_GROUND_TRUTH if ground_truth else WITHOUT_GROUND_TRUTH
    left_out = [name for name in (*BUILT_IN, ANSWERED) if name not in order]
    custom = [one.name for one in outcomes if _theirs(one.name) not in (*order, *left_out)]
    places = {name: place for place, name in enumerate([*order, *custom, *left_out])}
    ordered = sorted(outcomes, key=lambda one: places[_theirs(one.name)])
    failed = tuple(one.name for one in ordered if one.passed is False)
    errors = tuple((one.name, one.error or "no error is told") for one in ordered if one.passed is None)
    if failed:
        return Overall("fail", failed[0], fix_of(failed[0]), failed, errors)
    return Overall("undecided" if errors or not ordered else "pass", errors=errors)


def fix_of(cause: str) -> str:
    """What to do about a root cause, in a sentence or two."""
    own = f"The answer fails your judge {cause}: see its reason, and change what it is about."
    return _FIXES.get(_theirs(cause), own)


def rationale(found: Overall) -> str:
    """The verdict in words: the root cause with its fix, what failed besides, and what could not be judged."""
    parts = []
    if found.root_cause is not None:
        parts.append(f"Root cause: {found.root_cause}. {found.fix}")
    if len(found.failed) > 1:
        parts.append(f"Also failed: {', '.join(found.failed[1:])}.")
    if found.errors:
        parts.append("Not judged: " + "; ".join(f"{name} ({error})" for name, error in found.errors) + ".")
    if found.verdict == "undecided":
        parts.insert(0, "Undecided." if found.errors else "Undecided: no judge of this method has judged the answer.")
    return " ".join(parts)


def answer_outcome(name: str, row: Assessment | None) -> Outcome | None:
    """What a judge of answers found; a score above a half passes. None where it was not owed or has no value."""
    if row is None or (row.error or "").startswith(NO_VALUE):
        return None
    return Outcome(name, passes(row), row.error)


def passages_outcome(name: str, rows: Mapping[str, Assessment | None]) -> Outcome | None:
    """What a judge of passages found of an agent's own, by their ids: it passes with at least one relevant passage.

    It fails where all are judged and none is relevant; with an error and nothing relevant it is open. None where no
    passage was retrieved, or none was to be judged.
    """
    if not any(rows.values()):
        return None
    found = [None if row is None else passes(row) for row in rows.values()]
    if True in found:
        return Outcome(name, True)
    missing = [row.error if row is not None else "not judged" for row in rows.values() if row is None or row.error]
    if missing:
        return Outcome(name, None, f"{len(missing)} of {len(rows)} passages could not be judged: {missing[0]}")
    return Outcome(name, False)


def passes(row: Assessment) -> bool | None:
    """Whether the score, on 0 to 1, is above a half (of yes and no: yes); None for an error."""
    return None if row.score is None else row.score > 0.5


def precision(rows: Mapping[str, Assessment | None]) -> float | None:
    """The share of an agent's passages that pass; None without passages, and where one of them has no label."""
    found = [None if row is None else passes(row) for row in rows.values()]
    if not found or None in found:
        return None
    return sum(one is True for one in found) / len(found)


def _theirs(name: str) -> str:
    return THEIR_NAMES.get(name, name)


PassageRows = Mapping[str, Assessment | None]
"""An agent's passages, best first, to what a judge gave them; None for one that is not in the corpus."""


@dataclass(frozen=True)
class JudgedAnswer:
    """An agent's answer (or failure to answer) and what was found of it, by the judges' documented names.

    answers: of judges of answers; passages: of judges of passages. What a judge did not owe is not there.
    document_recall: None where no document is expected.
    """

    query: Query
    answer: Answer
    retrieved: tuple[Passage, ...]
    answers: Mapping[str, Assessment]
    passages: Mapping[str, PassageRows]
    document_recall: Assessment | None

    @property
    def overall(self) -> Overall:
        """Pass or fail, and the root cause."""
        found = [Outcome(ANSWERED, None, self.answer.error)] if self.answer.error is not None else []
        made = [answer_outcome(name, row) for name, row in self.answers.items()]
        made += [passages_outcome(name, rows) for name, rows in self.passages.items()]
        found += [one for one in made if one is not None]
        return overall(found, ground_truth=expected_response(self.query) is not None)


@dataclass(frozen=True)
class Judged:
    """All of an experiment. of_answers, of_passages: the judges' documented names, in the experiment's order.

    The columns of Databricks are named after the judge, but `agent_groundedness` is `groundedness` there. Judges of the
    user's own (a prompt or a LabelJudge) take part under their names.
    """

    material: Material
    of_answers: tuple[str, ...]
    of_passages: tuple[str, ...]
    recall: bool
    rows: tuple[JudgedAnswer, ...]


def read_judged(workspace: Workspace) -> Judged:
    """The rows, by query, then agent.

    Raises InputError where no judge of this method takes part, where two would share a name, and where
    `judgments.jsonl` lacks what the experiment's judges owe.
    """
    evaluators, settings = experiment_evaluators(workspace), workspace.corpus / "experiment.toml"
    judged_by(evaluators, settings)
    material = limited(read_material(workspace), workspace.experiment.evaluate.max_rows)
    given = read_records(workspace.judgments, Assessment)
    asked = [(query.id, agent) for query in material.queries for agent in material.asked(query.id)]
    return judged_of(evaluators, given, material, asked, settings, workspace.judgments)


def judged_of(
    evaluators: Sequence[Evaluator],
    given: Sequence[Assessment],
    material: Material,
    asked: Sequence[tuple[str, str]],
    settings: Path | None = None,
    judgments: Path | None = None,
) -> Judged:
    """The rows of the answers to be judged (`asked`: query ids and agents) from what was given.

    settings, judgments: the files that an error names. Raises InputError as `read_judged`.
    """
    judges, recall = judged_by(evaluators, settings)
    queries = {query.id: query for query in material.queries}
    found = {(row.query_id, row.subject, row.criterion): row for row in given}

    def of(judge: Evaluator, query: Query, subject: str) -> Assessment:
        row = found.get((query.id, subject, judge.criteria[0].name))
        if row is None:
            problem = f"lacks what {plain(judge.name)} gave {plain(subject)} on query '{plain(query.id)}'"
            raise InputError(problem, file=judgments, remedy="run `ragassay evaluate`")
        return row

    rows = []
    for query_id, agent in asked:
        query, answer = queries[query_id], material.answers[query_id, agent]
        owing = {name: one for name, one in judges.items() if not one.lacks(query)}
        ids = dict.fromkeys(answer.passages)
        answers = {name: of(one, query, answer.agent) for name, one in owing.items() if one.unit == "answer"}
        passages: dict[str, PassageRows] = {
            name: {id: of(one, query, id) if id in material.passages else None for id in ids}
            for name, one in owing.items()
            if one.unit == "passage"
        }
        recalled = None if recall is None or recall.lacks(query) else of(recall, query, answer.agent)
        rows.append(JudgedAnswer(query, answer, material.known(answer.passages), answers, passages, recalled))
    units = {unit: tuple(n for n, one in judges.items() if one.unit == unit) for unit in ("answer", "passage")}
    return Judged(material, units["answer"], units["passage"], recall is not None, tuple(rows))


def judged_by(
    evaluators: Sequence[Evaluator], settings: Path | None
) -> tuple[dict[str, Evaluator], DocumentRecall | None]:
    """The judges that take part by their documented names, and document_recall if it is among the evaluators.

    Raises InputError as `read_judged`.
    """
    recall = next((one for one in evaluators if isinstance(one, DocumentRecall)), None)
    judges: dict[str, Evaluator] = {}
    for one in evaluators:
        if not takes_part(one) or one.unit == "query":
            continue
        name = _theirs(one.name)
        if name in judges:
            problem = f"two judges would share the columns of '{plain(name)}'"
            raise InputError(problem, file=settings, remedy="rename your own")
        judges[name] = one
    if not judges and recall is None:
        remedy = 'name "agent-evaluation" in evaluate.judges and run `ragassay evaluate`'
        remedy = remedy if settings else "give it one: --with agent-evaluation"
        raise InputError("no judge of Agent Evaluation takes part", file=settings, remedy=remedy)
    return judges, recall


def takes_part(judge: Evaluator) -> bool:
    """Whether it is a judge by their method: one of theirs, or one of the user's own."""
    return isinstance(judge, LabelJudge) and judge.family in (FAMILY, "own")


PASSED: Mapping[OverallVerdict, float | None] = {"pass": 1.0, "fail": 0.0, "undecided": None}


@dataclass
class AgentOverall:
    """One agent's overall verdicts. passed: by query, 1 or 0, None where undecided. causes: how many failed of what."""

    passed: Values = field(default_factory=dict)
    causes: Counter[str] = field(default_factory=Counter)


def overall_by_agent(workspace: Workspace, evaluators: Sequence[Evaluator]) -> dict[str, AgentOverall]:
    """Empty where no judge of Agent Evaluation takes part. Raises what `read_judged` raises."""
    found: dict[str, AgentOverall] = {}
    if not any(evaluator.family == FAMILY for evaluator in evaluators):
        return found
    for row in read_judged(workspace).rows:
        if perturbed_from(row.query) is not None:
            continue
        mine, overall = found.setdefault(row.answer.agent, AgentOverall()), row.overall
        mine.passed[row.query.id] = PASSED[overall.verdict]
        if overall.root_cause is not None:
            mine.causes[overall.root_cause] += 1
    return found


def pass_or_fail(overall: Mapping[str, AgentOverall], draws: Resamples) -> dict[str, PassOrFail]:
    """Agent to the share that pass, and its root causes, the commonest first."""
    return {
        agent: PassOrFail(
            passed=draws.figure(mine.passed, (0.0, 1.0)),
            root_causes=commonest_first(mine.causes),
            fixes={cause: fix_of(cause) for cause in sorted(mine.causes)},
        )
        for agent, mine in overall.items()
    }


def commonest_first(causes: Counter[str]) -> dict[str, int]:
    """What is counted to how often, like counts by name."""
    return dict(sorted(causes.items(), key=lambda item: (-item[1], item[0])))
