"""What was retrieved for an answer, as one text."""

from __future__ import annotations

from ....engine.cases import AnswerCase
from ....engine.evaluator import check_passages


def context_of(case: AnswerCase) -> str | None:
    """The texts of the passages, an empty line between two; None where the agent retrieved nothing.

    Raises JudgeFailed where the texts are not at hand.
    """
    check_passages(case)
    return "\n\n".join(passage.text for passage in case.passages) if case.passages else None
