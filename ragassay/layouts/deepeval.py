"""DeepEval's test cases: input, actual_output, retrieval_context, expected_output.

https://deepeval.com/docs/evaluation-test-cases (LLMTestCase), and data sets that `EvaluationDataset.save_as` writes.
"""

from __future__ import annotations

from .cells import contexts, number, text
from .layout import Column, Layout

DEEPEVAL = Layout(
    name="deepeval",
    title="DeepEval's: input, actual_output, retrieval_context, expected_output",
    needs=tuple(
        frozenset(("input", beside))
        for beside in ("actual_output", "actualOutput", "expected_output", "expectedOutput")
    ),
    columns={
        "input": Column("query", text),
        "actual_output": Column("answer", text),
        "actualOutput": Column("answer", text),
        "retrieval_context": Column("contexts", contexts),
        "retrievalContext": Column("contexts", contexts),
        "expected_output": Column("expected_response", text),
        "expectedOutput": Column("expected_response", text),
        "context": Column("reference_contexts", contexts),
        "completion_time": Column("latency_s", number),
        "completionTime": Column("latency_s", number),
        "agent": Column("agent", text),
    },
)
