"""Document recall: how many of the documents known to hold the answer were retrieved. No model is asked.

`retrieval/ground_truth/document_recall` of Databricks' Agent Evaluation: |expected and retrieved| / |expected|, over
the documents that the query's `metadata.expected_docs` names, or else the one that the question was made from
(`metadata.doc`). A document counts as retrieved where a passage of the agent has its name as id or as `metadata.doc`;
an agent that retrieved nothing has found none of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.records import Assessment

from ..engine.cases import AnswerCase, expected_docs
from ..engine.evaluator import NO_VALUE, Evaluator


class DocumentRecall(Evaluator):
    """The share of the expected documents among all that the agent retrieved, whatever its k."""

    name = "document_recall"
    calls = 0.0
    family = "agent-evaluation"
    about = "the share of the expected documents that the agent retrieved; asks no model"
    reads = ("context",)
    asks = "nothing"
    source = "Databricks Agent Evaluation (MLflow 2)"
    tags = ("valid and reliable", "outcomes analysis")
    needs = ("expected_docs",)

    @property
    def judge(self) -> str:
        """The ground truth: nobody judges."""
        return "expected_docs"

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """One assessment; `details` says of each expected document whether it was found, and which field names it."""
        expected = expected_docs(case.query)
        if expected is None:
            return [self.fail(case, f"{NO_VALUE}no document is expected")]
        retrieved = _documents(case)
        docs = expected.docs
        parts = [{"doc": doc, "found": doc in retrieved, "source": f"metadata.{expected.source}"} for doc in docs]
        return [self.assess(case, sum(doc in retrieved for doc in docs) / len(docs), details=parts)]


def _documents(case: AnswerCase) -> frozenset[str]:
    """Every name of what was retrieved: the passages' ids, and the documents they were cut from."""
    cut_from = (passage.metadata.get("doc") for passage in case.passages)
    return frozenset([*case.answer.passages, *(doc for doc in cut_from if isinstance(doc, str))])
