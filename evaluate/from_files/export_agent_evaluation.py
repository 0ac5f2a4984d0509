"""`ragassay export --format agent-evaluation`: Databricks' column names, and the run's metrics under theirs.

The names are those of "How quality, cost, and latency are assessed by Agent Evaluation", "Built-in AI judges" and
"Agent Evaluation input schema" (https://docs.databricks.com, MLflow 2). Where the documents name a metric otherwise
than their package writes it (databricks-agents 0.22), it stands under both. There a run is of one agent; here `agent`
says which one a row is of. Lists (passages, their ratings) are JSON in a cell; a missing value is an empty cell.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragassay.experiment.workspace import Workspace
from ragassay.perturbed import link_of, originals
from ragassay.records import Answer, Assessment, Passage
from ragassay.text import untrusted

from ..figures.agent_evaluation_rows import Judged, JudgedAnswer, PassageRows, read_judged
from ..figures.pass_or_fail import PASSED, commonest_first
from ..figures.query_values import mean_of_answers
from ..figures.root_cause import OverallVerdict, passes, precision, rationale
from ..inputs.sections import source_clusters
from ..judging.engine.cases import expected_docs, expected_response
from ..statistics.clustered import Range
from ..statistics.resamples import Resamples, resamples

GIVEN = (
    "request_id",
    "agent",
    "request",
    "response",
    "expected_response",
    "expected_retrieved_context",
    "retrieved_context",
)
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
    "agent/total_token_count": lambda answer: _total(answer),
    "agent/total_input_token_count": lambda answer: answer.usage.input_tokens,
    "agent/total_output_token_count": lambda answer: answer.usage.output_tokens,
    "agent/latency_seconds": lambda answer: answer.latency_s,
}
"""Column to what it measures of an answer."""


def table(workspace: Workspace) -> tuple[list[str], list[dict[str, Cell]]]:
    """(columns, rows), a row for each query and agent.

    Judges of answers have `rating` (yes, no), `rationale` and `error_message`; those of passages lists of these in the
    order of retrieval and the `precision`, which is missing where a passage has no rating. The rating of
    `response/overall_assessment` is missing where the verdict is undecided, its rationale says why. Raises InputError.
    """
    return table_of(read_judged(workspace))


def table_of(judged: Judged) -> tuple[list[str], list[dict[str, Cell]]]:
    """The same of answers judged elsewhere."""
    return _columns(judged), [_row(one) for one in judged.rows]


def metrics(workspace: Workspace) -> dict[str, Any]:
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
            agent: {"metrics": _metrics(judged, rows, draws), "root_causes": _causes(rows)}
            for agent, rows in by_agent.items()
        },
    } | ({"perturbed_left_out": n_perturbed} if n_perturbed else {})


def _columns(judged: Judged) -> list[str]:
    passages = [f"retrieval/llm_judged/{name}" for name in judged.of_passages]
    answers = [_prefix(name) for name in judged.of_answers]
    return [
        *GIVEN,
        *dict.fromkeys(name for query in judged.material.queries for name in link_of(query)),
        *(f"{name}/{part}" for name in passages for part in ("ratings", "rationales", "error_messages", "precision")),
        *([RECALL] if judged.recall else []),
        *(f"{name}/{part}" for name in answers for part in ("rating", "rationale", "error_message")),
        *(f"{OVERALL}/{part}" for part in ("rating", "rationale")),
        *COST,
    ]


def _prefix(name: str) -> str:
    """What the columns of a judge of answers begin with."""
    return f"{'retrieval' if name in OF_RETRIEVAL else 'response'}/llm_judged/{name}"


def _row(one: JudgedAnswer) -> dict[str, Cell]:
    row = _given(one)
    for name, rows in one.passages.items():
        row |= {f"retrieval/llm_judged/{name}/{part}": cell for part, cell in _passages_cells(rows).items()}
    if one.document_recall is not None:
        row[RECALL] = one.document_recall.label
    for name, found in one.answers.items():
        cells = {"rating": _rating(found), "rationale": found.reason, "error_message": found.error}
        row |= {f"{_prefix(name)}/{part}": cell for part, cell in cells.items()}
    row |= {f"{OVERALL}/rating": _VERDICTS[one.overall.verdict], f"{OVERALL}/rationale": rationale(one.overall)}
    return row | {column: measure(one.answer) for column, measure in COST.items()}


def _given(one: JudgedAnswer) -> dict[str, Cell]:
    expected = expected_docs(one.query)
    context = None if expected is None else _json([{"doc_uri": untrusted(doc)} for doc in expected.docs])
    return {
        "request_id": one.query.id,
        "agent": one.answer.agent,
        "request": one.query.text,
        "response": one.answer.answer,
        "expected_response": expected_response(one.query),
        "expected_retrieved_context": context,
        "retrieved_context": _json([_context(passage) for passage in one.retrieved]),
        **link_of(one.query),
    }


def _context(passage: Passage) -> dict[str, str]:
    doc = passage.metadata.get("doc")
    uri = doc if isinstance(doc, str) else passage.id
    return {"doc_uri": untrusted(uri), "passage_id": untrusted(passage.id), "content": untrusted(passage.text)}


def _passages_cells(rows: PassageRows) -> dict[str, Cell]:
    found = list(rows.values())
    reasons = [row.reason if row is not None else None for row in found]
    errors = [row.error if row is not None else "the passage is not in the corpus" for row in found]
    return {
        "ratings": _json([_rating(row) for row in found]),
        "rationales": _json([_shown(reason) for reason in reasons]),
        "error_messages": _json([_shown(error) for error in errors]),
        "precision": precision(rows),
    }


def _rating(row: Assessment | None) -> str | None:
    """yes where the score is above a half, as a judge of one's own may have another scale."""
    passed = None if row is None else passes(row)
    return None if passed is None else "yes" if passed else "no"


def _shown(text: str | None) -> str | None:
    return None if text is None else untrusted(text)


def _json(value: Sequence[Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _total(answer: Answer) -> int | None:
    """The sum where both parts are known."""
    usage = answer.usage
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens


def _metrics(judged: Judged, rows: Sequence[JudgedAnswer], draws: Resamples) -> dict[str, dict[str, Any]]:
    values: dict[str, dict[str, float | None]] = {}
    for name in judged.of_passages:
        owed = {one.query.id: precision(one.passages[name]) for one in rows if name in one.passages}
        values[f"retrieval/llm_judged/{name}/precision/average"] = owed
    if judged.recall:
        found = ((one.query.id, one.document_recall) for one in rows)
        values[f"{RECALL}/average"] = {query: row.label for query, row in found if row is not None}
    for name in judged.of_answers:
        ratings = {one.query.id: _number(passes(one.answers[name])) for one in rows if name in one.answers}
        values[f"{_prefix(name)}/rating/percentage"] = ratings
    values[f"{OVERALL}/rating/percentage"] = {one.query.id: PASSED[one.overall.verdict] for one in rows}
    answers = [one.answer for one in rows]
    figures = {name: draws.figure(owed, _SHARE) for name, owed in values.items()}
    figures |= {f"{name}/average": mean_of_answers(answers, measure, draws) for name, measure in COST.items()}
    figures |= {theirs: figures[name] for name, theirs in DOCUMENTED.items() if name in figures}
    return {name: figure.dump() for name, figure in figures.items()}


def _number(passed: bool | None) -> float | None:
    return None if passed is None else float(passed)


def _causes(rows: Sequence[JudgedAnswer]) -> dict[str, int]:
    """Root cause to how many answers failed by it, the commonest first."""
    return commonest_first(Counter(cause for one in rows if (cause := one.overall.root_cause) is not None))
