"""The evaluators of what an answer must not hold."""

from __future__ import annotations

from ....engine.evaluator import Evaluator
from .classified import FairnessBias, Toxicity
from .encoding_guardrail import EncodingGuardrail
from .leaks import ContactInformationFound, PiiLeakage, SensitiveDataLeakage
from .yes_no import ContactInformationLeakage, Sexism, Stereotypes

JUDGES: tuple[type[Evaluator], ...] = (
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
