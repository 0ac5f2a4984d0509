"""The evaluators of answers held against the retrieved passages."""

from __future__ import annotations

from ...engine.evaluator import Evaluator
from .by_judge import FactCheck, SummaryCompleteness, SummaryFaithfulness, SummaryQuality
from .context import Faithfulness, GroundednessEmbeddings, StepAlignment
from .form.looping import AgentSanity, Looping, LoopsFound
from .form.matching import TextMatching
from .form.schema import JsonSchema
from .likelihood import (
    GptScoreQuestionAnswering,
    GptScoreSummarizationWithoutReference,
    GptScoreSummarizationWithReference,
    GptScoreTranslation,
    Perplexity,
)
from .passages import ContextMrr, ContextPrecision, ContextRecall, ContextRelevancy, ContextRelevancySoft, RagasScore
from .question import AnswerRelevancy, AnswerRelevancySentences, LanguageMismatch
from .safety.classified import ContactInformationLeakage, FairnessBias, Sexism, Stereotypes, Toxicity
from .safety.guardrails import EncodingGuardrail
from .safety.leaks import ContactInformationFound, PiiLeakage, SensitiveDataLeakage
from .truth import AnswerCorrectnessClaims, Bleu, Classification, Rouge, SemanticSimilarity, SentenceSimilarity

JUDGES: tuple[type[Evaluator], ...] = (
    Faithfulness,
    StepAlignment,
    GroundednessEmbeddings,
)
"""In the order in which they are listed."""


FORM_JUDGES: tuple[type[Evaluator], ...] = (JsonSchema, TextMatching, Looping, LoopsFound, AgentSanity)
"""In the order in which they are listed."""


FREE_JUDGES: tuple[type[Evaluator], ...] = (FactCheck,)
"""In the order in which they are listed."""


LIKELIHOOD_JUDGES: tuple[type[Evaluator], ...] = (
    Perplexity,
    GptScoreTranslation,
    GptScoreSummarizationWithReference,
    GptScoreSummarizationWithoutReference,
    GptScoreQuestionAnswering,
)
"""In the order in which they are listed."""


PASSAGES_JUDGES: tuple[type[Evaluator], ...] = (
    ContextPrecision,
    ContextRecall,
    ContextRelevancy,
    RagasScore,
    ContextRelevancySoft,
    ContextMrr,
)
"""In the order in which they are listed."""


QUESTION_JUDGES: tuple[type[Evaluator], ...] = (
    AnswerRelevancy,
    AnswerRelevancySentences,
    LanguageMismatch,
)
"""In the order in which they are listed."""


SAFETY_JUDGES: tuple[type[Evaluator], ...] = (
    Toxicity,
    FairnessBias,
    Sexism,
    Stereotypes,
    PiiLeakage,
    SensitiveDataLeakage,
    ContactInformationLeakage,
    ContactInformationFound,
    EncodingGuardrail,
)
"""In the order in which they are listed."""


SUMMARIES_JUDGES: tuple[type[Evaluator], ...] = (SummaryCompleteness, SummaryFaithfulness, SummaryQuality)
"""In the order in which they are listed."""


TRUTH_JUDGES: tuple[type[Evaluator], ...] = (
    AnswerCorrectnessClaims,
    SemanticSimilarity,
    SentenceSimilarity,
    Bleu,
    Rouge,
    Classification,
)
"""In the order in which they are listed."""
