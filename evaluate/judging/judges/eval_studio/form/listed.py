"""The evaluators of the form of an answer: what it matches, parses as, repeats."""

from __future__ import annotations

from ....engine.evaluator import Evaluator
from .agent_sanity import AgentSanity
from .json_schema import JsonSchema
from .looping import Looping
from .loops_found import LoopsFound
from .text_matching import TextMatching

JUDGES: tuple[type[Evaluator], ...] = (JsonSchema, TextMatching, Looping, LoopsFound, AgentSanity)
"""In the order in which they are listed."""
