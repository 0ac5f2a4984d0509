"""The evaluators of how likely a language model finds an answer."""

from __future__ import annotations

from ....engine.evaluator import Evaluator
from .gptscore import (
    GptScoreQuestionAnswering,
    GptScoreSummarizationWithoutReference,
    GptScoreSummarizationWithReference,
    GptScoreTranslation,
)
from .perplexity import Perplexity

JUDGES: tuple[type[Evaluator], ...] = (
    Perplexity,
    GptScoreTranslation,
    GptScoreSummarizationWithReference,
    GptScoreSummarizationWithoutReference,
    GptScoreQuestionAnswering,
)
"""In the order in which they are listed."""
