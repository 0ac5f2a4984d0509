"""`ragassay export`: what evaluators gave, in the columns of Agent Evaluation's tables and of Open RAG Eval's.

In both `agent` says which one a row is of, where there a table is of one. A missing value is an empty cell.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_model, read_records
from ragassay.records import Answer, Assessment, AssessmentRun, Passage, Query, link_of, originals
from ragassay.text import untrusted

from ..figures.answer_consistency import Consistency, Spread
from ..figures.pass_or_fail import (
    PASSED,
    Judged,
    JudgedAnswer,
    OverallVerdict,
    commonest_first,
    passes,
    precision,
    rationale,
    read_judged,
)
from ..figures.query_values import mean_of_answers
from ..inputs.clusters import source_clusters
from ..inputs.findings import Material, read_material
from ..judging.asked_again import further_runs
from ..judging.catalog import experiment_evaluators
from ..judging.engine.cases import expected_docs, expected_response
from ..judging.judges.nuggets import SUPPORT
from ..judging.judges.pointwise import RAW
from ..measures.measure import Judged as JudgedRankings
from ..measures.measure import measure
from ..statistics.clustered import Range
from ..statistics.resamples import Resamples, resamples
from ..texts.sentences import cited, sentences
from .answers import inputs_of

GIVEN = (
    *("request_id", "agent", "request", "response", "expected_response", "expected_retrieved_context"),
    "retrieved_context",
)
_NO_PASSAGE = "the passage is not in the corpus"
RECALL = "retrieval/ground_truth/document_recall"
OVERALL = "response/overall_assessment"
OF_RETRIEVAL = frozenset({"context_sufficiency"})
"""Judges of what an agent retrieved as a whole: their columns begin with `retrieval/`, as those of passages do."""

DOCUMENTED = {
    "response/llm_judged/safety/rating/percentage": "response/llm_judged/safety/rating/average",
    "agent/total_input_token_count/average": "agent/input_token_count/average",
    "agent/total_output_token_count/average": "agent/output_token_count/average",
}
"""A metric as the package writes it to the name that the documents give it."""

_SHARE: Range = (0.0, 1.0)
_VERDICTS: Mapping[OverallVerdict, str | None] = {"pass": "yes", "fail": "no", "undecided": None}

Cell = str | float | int | None

COST: Mapping[str, Callable[[Answer], float | int | None]] = {
    "agent/total_token_count": lambda answer: (
        None
        if answer.usage.input_tokens is None or answer.usage.output_tokens is None
        else answer.usage.input_tokens + answer.usage.output_tokens
    ),
    "agent/total_input_token_count": lambda answer: answer.usage.input_tokens,
    "agent/total_output_token_count": lambda answer: answer.usage.output_tokens,
    "agent/latency_seconds": lambda answer: answer.latency_s,
}
"""Column to what it measures of an answer."""


def agent_evaluation_table(workspace: Workspace) -> tuple[list[str], list[dict[str, Cell]]]:
    """(columns, rows), a row for each query and agent.

    The names are those of "How quality, cost, and latency are assessed by Agent Evaluation", "Built-in AI judges" and
    "Agent Evaluation input schema" (https://docs.databricks.com, MLflow 2). Where the documents name a metric otherwise
    than their package writes it (databricks-agents 0.22), it stands under both. Lists (passages, their ratings) are
    JSON in a cell.

    Judges of answers have `rating` (yes, no), `rationale` and `error_message`; those of passages lists of these in the
    order of retrieval and the `precision`, which is missing where a passage has no rating. The rating of
    `response/overall_assessment` is missing where the verdict is undecided, its rationale says why. Raises InputError.
    """
    return table_of(read_judged(workspace))


def table_of(judged: Judged) -> tuple[list[str], list[dict[str, Cell]]]:
    """The same of answers judged elsewhere."""
    passages = [f"retrieval/llm_judged/{name}" for name in judged.of_passages]
    columns = [
        *GIVEN,
        *dict.fromkeys(name for query in judged.material.queries for name in link_of(query)),
        *(f"{name}/{part}" for name in passages for part in ("ratings", "rationales", "error_messages", "precision")),
        *([RECALL] if judged.recall else []),
        *(f"{_prefix(name)}/{part}" for name in judged.of_answers for part in ("rating", "rationale", "error_message")),
        *(f"{OVERALL}/{part}" for part in ("rating", "rationale")),
        *COST,
    ]
    return columns, [_row(one) for one in judged.rows]


def agent_evaluation_metrics(workspace: Workspace) -> dict[str, Any]:
    """The run's metrics by agent, each with n, n_failed and its interval over queries, and the causes of failures.

    `…/rating/percentage` is a share from 0 to 1, as there; n counts the answers with a rating, n_failed those without
    though the judge owed one. Means of tokens and latency are over answers for which they were measured, n_failed are
    the answers that failed. Perturbed queries are left out and counted. Raises InputError.
    """
    judged = read_judged(workspace)
    queries = originals(judged.material.queries)
    asked, n_perturbed = {query.id for query in queries}, len(judged.material.queries) - len(queries)
    kept = [one for one in judged.rows if one.query.id in asked]
    draws = resamples([query.id for query in queries], 1, 0, source_clusters(queries))
    by_agent = {agent: [one for one in kept if one.answer.agent == agent] for agent in judged.material.agents}
    return {
        "format": "agent-evaluation",
        "queries": len(queries),
        "agents": {
            agent: {
                "metrics": _metrics(judged, rows, draws),
                "root_causes": commonest_first(Counter(filter(None, (one.overall.root_cause for one in rows)))),
            }
            for agent, rows in by_agent.items()
        },
    } | ({"perturbed_left_out": n_perturbed} if n_perturbed else {})


def _prefix(name: str) -> str:
    """What the columns of a judge of answers begin with."""
    return f"{'retrieval' if name in OF_RETRIEVAL else 'response'}/llm_judged/{name}"


def _row(one: JudgedAnswer) -> dict[str, Cell]:
    expected = expected_docs(one.query)
    expected_context = None if expected is None else _cell([{"doc_uri": untrusted(doc)} for doc in expected.docs])
    row: dict[str, Cell] = {
        "request_id": one.query.id,
        "agent": one.answer.agent,
        "request": one.query.text,
        "response": one.answer.answer,
        "expected_response": expected_response(one.query),
        "expected_retrieved_context": expected_context,
        "retrieved_context": _cell([_context(passage) for passage in one.retrieved]),
        **link_of(one.query),
    }
    for name, rows in one.passages.items():
        given, start = list(rows.values()), f"retrieval/llm_judged/{name}"
        row |= {
            f"{start}/ratings": _texts(map(_rating, given)),
            f"{start}/rationales": _texts(judged.reason if judged else None for judged in given),
            f"{start}/error_messages": _texts(judged.error if judged else _NO_PASSAGE for judged in given),
            f"{start}/precision": precision(rows),
        }
    if one.document_recall is not None:
        row[RECALL] = one.document_recall.label
    for name, found in one.answers.items():
        cells = {"rating": _rating(found), "rationale": found.reason, "error_message": found.error}
        row |= {f"{_prefix(name)}/{part}": cell for part, cell in cells.items()}
    row |= {f"{OVERALL}/rating": _VERDICTS[one.overall.verdict], f"{OVERALL}/rationale": rationale(one.overall)}
    return row | {column: measure(one.answer) for column, measure in COST.items()}


def _context(passage: Passage) -> dict[str, str]:
    doc = passage.metadata.get("doc")
    uri = doc if isinstance(doc, str) else passage.id
    return {"doc_uri": untrusted(uri), "passage_id": untrusted(passage.id), "content": untrusted(passage.text)}


def _rating(row: Assessment | None) -> str | None:
    """yes where the score is above a half, as a judge of one's own may have another scale."""
    passed = None if row is None else passes(row)
    return None if passed is None else "yes" if passed else "no"


def _texts(texts: Iterable[str | None]) -> str:
    return json.dumps([text and untrusted(text) for text in texts], ensure_ascii=False)


def _metrics(judged: Judged, rows: Sequence[JudgedAnswer], draws: Resamples) -> dict[str, dict[str, Any]]:
    values: dict[str, dict[str, float | None]] = {}
    for name in judged.of_passages:
        owed = {one.query.id: precision(one.passages[name]) for one in rows if name in one.passages}
        values[f"retrieval/llm_judged/{name}/precision/average"] = owed
    if judged.recall:
        found = ((one.query.id, one.document_recall) for one in rows)
        values[f"{RECALL}/average"] = {query: row.label for query, row in found if row is not None}
    for name in judged.of_answers:
        rated = {one.query.id: passes(one.answers[name]) for one in rows if name in one.answers}
        ratings = {query: None if passed is None else float(passed) for query, passed in rated.items()}
        values[f"{_prefix(name)}/rating/percentage"] = ratings
    values[f"{OVERALL}/rating/percentage"] = {one.query.id: PASSED[one.overall.verdict] for one in rows}
    answers = [one.answer for one in rows]
    figures = {name: draws.figure(owed, _SHARE) for name, owed in values.items()}
    figures |= {f"{name}/average": mean_of_answers(answers, measure, draws) for name, measure in COST.items()}
    figures |= {theirs: figures[name] for name, theirs in DOCUMENTED.items() if name in figures}
    return {name: figure.dump() for name, figure in figures.items()}


NAMES = {
    "nuggets_all": "mean_nugget_assignment_score",
    "nuggets_vital": "vital_nuggetizer_score",
    "hallucination": "hallucination_score",
    "weighted_f1": "citation_f1_score",
    "golden_similarity": "semantic_similarity",
    "factual_precision": "factual_correctness_precision",
    "factual_recall": "factual_correctness_recall",
    "factual_f1": "factual_correctness_f1",
    "rougeL": "rouge_score",
}
"""Our criterion or measure to its name there."""

NUGGETS = {
    "All": "nuggets_all",
    "All Strict": "nuggets_strict_all",
    "Vital": "nuggets_vital",
    "Vital Strict": "nuggets_strict_vital",
    "Weighted": "nuggets_weighted",
    "Weighted Strict": "nuggets_strict_weighted",
}
WEIGHED = {"weighted_precision": "weighted_precision", "weighted_recall": "weighted_recall", "f1": "weighted_f1"}

Row = dict[str, Cell]
Labels = Mapping[str, Assessment]
"""Criterion to what an answer got."""


@dataclass(frozen=True)
class _Run:
    """One run of all agents. answers: what evaluators gave, by (query, agent) and criterion."""

    number: int
    material: Material
    answers: Mapping[tuple[str, str], Labels]


@dataclass(frozen=True)
class _Grades:
    """What passages got: criterion to (query, passage) to the record, and the ranking measures of UMBRELA's grades."""

    passages: Mapping[str, Mapping[tuple[str, str], Assessment]]
    ranked: Mapping[tuple[str, str], Mapping[str, Any]]


def open_rag_eval_table(workspace: Workspace) -> tuple[list[str], list[Row]]:
    """(columns, rows), a row for each agent and query, in the columns of Open RAG Eval's CSV files.

    The names are those of vectara/open-rag-eval (evaluators/trec_evaluator.py, golden_answer_evaluator.py and
    consistency_evaluator.py): `retrieval_score_…`, `generation_score_…`, `consistency_…`, tables as JSON. Where there
    are several runs, the columns of each begin with `run_1_`, `run_2_`, …; what reads these files there takes both
    forms. A missing value is an empty cell, where Open RAG Eval would write 0. AP is trec_eval's, over the relevant
    passages that any agent found, where theirs is over the system's own. What it has no name for goes by our
    criterion's: `generation_score_groundedness`.

    Raises InputError, also where evaluators gave nothing yet."""
    if not workspace.experiment.evaluates or not workspace.judgments.exists():
        remedy = "name evaluators under [evaluate] and run `ragassay evaluate`"
        raise InputError("there are no judgments to export", file=workspace.judgments, remedy=remedy)
    material, given = read_material(workspace), read_records(workspace.judgments, Assessment)
    of_passages = {c.name for e in experiment_evaluators(workspace) if e.unit == "passage" for c in e.criteria}
    grades = _grades(workspace, material, [row for row in given if row.criterion in of_passages])
    runs = list(_runs(workspace, material, [row for row in given if row.criterion not in of_passages]))
    spreads = _spreads(workspace)
    rows = [
        _open_rag_eval_row(query, agent, runs, grades, spreads.get((query.id, agent), ()))
        for agent in material.agents
        for query in material.asked_of(agent)
    ]
    return list(dict.fromkeys(["query_id", "query", "agent", *(name for row in rows for name in row)])), rows


def _runs(workspace: Workspace, material: Material, rows: Sequence[Assessment]) -> Iterator[_Run]:
    yield _Run(1, material, _by_answer(rows))
    if workspace.experiment.answer.repeats == 1:
        return
    further = read_records(workspace.judgment_runs, AssessmentRun) if workspace.judgment_runs.exists() else []
    for number, repeated in further_runs(workspace, material):
        yield _Run(number, repeated, _by_answer([row for row in further if row.run == number]))


def _by_answer(rows: Sequence[Assessment]) -> Mapping[tuple[str, str], Labels]:
    found: dict[tuple[str, str], dict[str, Assessment]] = defaultdict(dict)
    for row in rows:
        found[row.query_id, row.subject][row.criterion] = row
    return found


def _grades(workspace: Workspace, material: Material, rows: Sequence[Assessment]) -> _Grades:
    """By UMBRELA, from 2 on: P@k, AP@k, the reciprocal rank; None where a failed one leaves one open."""
    passages: dict[str, dict[tuple[str, str], Assessment]] = defaultdict(dict)
    for row in rows:
        passages[row.criterion][row.query_id, row.subject] = row
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    failed: dict[str, list[str]] = defaultdict(list)
    for (query_id, passage), row in passages.get("umbrela", {}).items():
        if row.label is None:
            failed[query_id].append(passage)
        else:
            qrels[query_id][passage] = int(row.label)
    cutoffs, ranked = workspace.experiment.evaluate.k, dict[tuple[str, str], dict[str, Any]]()
    for agent in material.agents if "umbrela" in passages else ():
        rankings: dict[str, list[tuple[str, float]] | None] = {}
        for query in material.asked_of(agent):  # None where it failed before it could name a passage
            answer = material.answers[query.id, agent]
            named = [(passage, -float(rank)) for rank, passage in enumerate(dict.fromkeys(answer.passages), 1)]
            rankings[query.id] = named or (None if answer.error is not None else [])
        judged = JudgedRankings(list(rankings), qrels, rankings, failed)
        p, ap = ({k: measure(f"{name}(rel=2)@{k}").values(judged) for k in cutoffs} for name in ("P", "AP"))
        first = measure(f"RR(rel=2)@{max(cutoffs)}").values(judged)
        for id in rankings:
            cut = {"precision@": {str(k): p[k][id] for k in cutoffs}, "AP@": {str(k): ap[k][id] for k in cutoffs}}
            ranked[id, agent] = {**cut, "MRR": first[id]}
    return _Grades(passages, ranked)


def _open_rag_eval_row(
    query: Query, agent: str, runs: Sequence[_Run], grades: _Grades, spreads: Sequence[Spread]
) -> Row:
    row: Row = {"query_id": query.id, "query": query.text, "agent": agent, **link_of(query)}
    for run in runs:
        answer, start = run.material.answers[query.id, agent], f"run_{run.number}_" if len(runs) > 1 else ""
        row[f"{start}retrieved_passages"] = _cell({one.id: one.text for one in run.material.known(answer.passages)})
        said, ids = sentences(answer.answer or ""), dict(enumerate(answer.passages, 1))
        told = [{"text": text, "citations": [ids[n] for n in cited(text) if n in ids]} for text in said]
        row[f"{start}generated_answer"] = None if answer.answer is None else _cell(told)
        row |= {f"{start}retrieval_score_{name}": cell for name, cell in _retrieval(answer, grades)}
        got = run.answers.get((query.id, agent), {})
        row |= {f"{start}generation_score_{name}": cell for name, cell in _generation(got)}
        if expected := expected_response(query):
            row[f"{start}generation_score_expected_answer"] = expected
    row |= {f"consistency_{NAMES.get(one.measure, one.measure)}": _cell(_statistics(one)) for one in spreads if one.n}
    return row


def _retrieval(answer: Answer, grades: _Grades) -> Iterator[tuple[str, Cell]]:
    for criterion, rows in grades.passages.items():
        given = {id: rows.get((answer.query_id, id)) for id in dict.fromkeys(answer.passages)}
        labels = {id: row.label if row else None for id, row in given.items()}
        known = [label for label in labels.values() if label is not None]
        yield f"{criterion}_scores", _cell(labels)
        if criterion == "umbrela":
            yield "precision_metrics", _cell(grades.ranked.get((answer.query_id, answer.agent)))
        whole = known and len(known) == len(labels)
        yield f"mean_{criterion}_score", _cell(float(np.mean(known)) if whole else None)


def _generation(got: Labels) -> Iterator[tuple[str, Cell]]:
    labels = {criterion: row.label for criterion, row in got.items()}
    if "nuggets_all" in got:
        yield "autonugget_scores", _cell(_nuggets(got["nuggets_all"], labels))
    if "weighted_f1" in got:
        yield "citation_scores", _cell({theirs: labels.get(ours) for theirs, ours in WEIGHED.items()})
    for criterion, label in labels.items():
        if criterion == RAW:
            said = None if label is None else {"query_answered": "yes" if label else "no"}
            yield "no_answer_score", _cell(said)
        else:
            yield NAMES.get(criterion, criterion), _cell(label)


def _nuggets(row: Assessment, labels: Mapping[str, float | None]) -> dict[str, Any] | None:
    """Scores, nuggets, importances and assignments, lists in one order; None where the nuggets failed."""
    if row.label is None:
        return None
    assignments = [str(detail["assignment"]) for detail in row.details]
    return {
        "nuggetizer_scores": {theirs: labels.get(ours) for theirs, ours in NUGGETS.items()},
        "nuggets": [detail["nugget"] for detail in row.details],
        "labels": [detail["importance"] for detail in row.details],
        "assignments": assignments,
        "assignment_scores": [SUPPORT[assignment] for assignment in assignments],
    }


def _spreads(workspace: Workspace) -> Mapping[tuple[str, str], list[Spread]]:
    """(query, agent) to what `ragassay consistency` found; empty where it was not run.

    Raises InputError where it was run before the answers or judgments were made that there are now.
    """
    found: dict[tuple[str, str], list[Spread]] = defaultdict(list)
    if workspace.experiment.answer.repeats == 1 or not workspace.consistency.exists():
        return found
    remedy = "run `ragassay consistency` again"
    known = read_model(workspace.consistency, Consistency, remedy)
    if known.inputs != inputs_of(workspace):
        raise InputError("is of other answers", file=workspace.consistency, remedy=remedy)
    for one in known.queries:
        found[one.query_id, one.agent].append(one)
    return found


def _statistics(one: Spread) -> dict[str, Any]:
    """Their statistics (`std` divides by n, the index is mean / (1 + std)), and ours beside them."""
    known = np.array([value for value in one.values if value is not None])
    low, q1, median, q3, high = (float(value) for value in np.quantile(known, [0, 0.25, 0.5, 0.75, 1]))
    mean, std = float(known.mean()), float(known.std())
    theirs = {"mean": mean, "median": median, "std": std, "max_min": high - low, "iqr": q3 - q1}
    theirs["consistency_adjusted_index"] = mean / (1 + std)
    ours = {"variance": one.variance, "cv": one.cv, "n": one.n, "n_failed": one.n_failed}
    return {"values": list(one.values), "stats": theirs | ours}


def _cell(value: Any) -> Cell:
    """A number as it is, an empty cell for what is missing, else JSON."""
    if value is None or isinstance(value, int | float):
        return value
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
