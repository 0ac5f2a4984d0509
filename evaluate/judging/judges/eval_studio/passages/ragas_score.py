"""Ragas score: the harmonic mean of faithfulness, answer relevancy, context precision and context recall.

    4 / (1/F + 1/AR + 1/CP + 1/CR)

H2O Eval Studio's "Ragas" evaluator, after Es et al. 2024 (arXiv:2309.15217). A part that is 0, or below it as a cosine
may be, makes the score 0, the limit of the harmonic mean; a part without a value leaves it without one. The parts are
asked exactly as the evaluators of their names ask, by what `[evaluate.settings]` sets of these, whether they judge by
themselves or not; so beside them it costs nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from statistics import harmonic_mean

from ragassay.records import Assessment

from ....engine.cases import AnswerCase
from ....engine.evaluator import Criterion, Evaluator, Options, Steps
from ....engine.judge import Setup
from ....engine.parts import together
from .. import H2O_PAGE, TAGS
from ..by_verdicts import THRESHOLD
from ..context.faithfulness import Faithfulness
from ..question.relevancy import AnswerRelevancy
from .context_by_judge import ContextPrecision, ContextRecall


class RagasScore(Evaluator):
    """The requests of its four parts, side by side."""

    name = "ragas_score"
    family = "eval-studio-passages"
    about = "the harmonic mean of faithfulness, answer_relevancy, context_precision and context_recall"
    needs = ("expected_response",)
    reads = ("question", "expected_response", "context", "answer")
    source = f"{H2O_PAGE} (Ragas); arXiv:2309.15217"
    tags = TAGS
    calls = 9.0

    made_of = (Faithfulness, AnswerRelevancy, ContextPrecision, ContextRecall)

    def __init__(self, setup: Setup, options: Options | None = None, parts: Sequence[Evaluator] | None = None) -> None:
        """parts: the four evaluators; without them, those of default settings."""
        super().__init__(setup, options)
        self.parts = tuple(parts) if parts is not None else tuple(kind(setup) for kind in self.made_of)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """One, 0 to 1."""
        return (Criterion(self.name, threshold=THRESHOLD),)

    def check_at_hand(self) -> None:
        """Raises InputError where a part lacks a model of its own."""
        for part in self.parts:
            part.check_at_hand()

    def steps(self, case: AnswerCase) -> Steps:
        """All parts at once, then their harmonic mean."""
        made = yield from together([_steps_of(part, case) for part in self.parts], "parts")
        values = {
            part.name: next(float(row.label) for row in rows if row.criterion == part.name and row.label is not None)
            for part, rows in zip(self.parts, made, strict=True)
        }
        return self._row(case, values)

    def _row(self, case: AnswerCase, values: Mapping[str, float]) -> list[Assessment]:
        return [self.assess(case, harmonic(list(values.values())), details=[dict(values)])]


def harmonic(values: list[float]) -> float:
    """The harmonic mean; 0 as soon as a value is 0 or below."""
    return harmonic_mean([max(0.0, value) for value in values])


def _steps_of(part: Evaluator, case: AnswerCase) -> Steps:
    """The steps of a part, also where it asks nothing or prepares its cases."""
    part.prepare([case])
    made = part.steps(case)
    return (yield from made) if isinstance(made, Generator) else made
