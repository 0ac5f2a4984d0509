"""Whether an agent had what it needed to answer: the line between a failure of retrieval and one of generation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ragassay.experiment.settings import Experiment
from ragassay.records import Answer, Assessment, Passage, Query

from ...inputs.findings import Findings
from ...judging.engine.cases import expected_docs
from ...judging.engine.evaluator import Evaluator
from ...judging.engine.thresholds import good_enough

Relevant = Mapping[tuple[str, str], bool]
"""(query id, passage id) to whether it is relevant; what nobody judged is not there."""


def evidence_found(query: Query, answer: Answer, relevant: Relevant, passages: Mapping[str, Passage]) -> bool | None:
    """Whether something relevant was retrieved; None where it cannot be known.

    By the labels of the passages where they tell, else by the documents that are expected. Who retrieved nothing found
    nothing.
    """
    ids = tuple(dict.fromkeys(answer.passages))
    labels = [relevant.get((query.id, id)) for id in ids]
    if True in labels:
        return True
    if None not in labels:
        return False
    expected = expected_docs(query)
    if expected is None:
        return None
    docs = {str(passages[id].metadata.get("doc")) for id in ids if id in passages}
    if not docs.union(ids) & set(expected.docs):
        return False if all(id in passages for id in ids) else None
    return True if False not in labels else None


def found_in(findings: Findings, relevant: Relevant, experiment: Experiment) -> Callable[[str, str], bool | None]:
    """The same of a run, by query id and agent: the labels of `[judge]` count before those of `relevant`."""
    least, material = experiment.judge.relevant_from, findings.material
    known = {(query, id): label >= least for query, labels in findings.qrels.items() for id, label in labels.items()}
    queries, told = {query.id: query for query in material.queries}, {**relevant, **known}

    def found(query: str, agent: str) -> bool | None:
        return evidence_found(queries[query], material.answers[query, agent], told, material.passages)

    return found


def relevant_by_judges(
    evaluators: Sequence[Evaluator], rows: Iterable[Assessment], thresholds: Mapping[str, float]
) -> dict[tuple[str, str], bool]:
    """By the judges of passages: relevant to one of them is relevant."""
    lower = {c.name: c.lower_is_better for one in evaluators if one.unit == "passage" for c in one.criteria}
    found: dict[tuple[str, str], bool] = {}
    for row in rows:
        if row.label is not None and row.criterion in lower and row.criterion in thresholds:
            enough = good_enough(row.label, thresholds[row.criterion], lower_is_better=lower[row.criterion])
            key = (row.query_id, row.subject)
            found[key] = found.get(key, False) or enough
    return found
