"""ragassay: make a test set from PDFs, run retrieval-augmented pipelines on it, and say which answers best.

From Python: the names of `__all__` (docs/from-python.md); from pytest: `ragassay.testing`. Nothing is loaded before a
name is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "BudgetSpent",
    "Evaluator",
    "Experiment",
    "Format",
    "InputError",
    "Layout",
    "Measure",
    "Provider",
    "RagassayError",
    "Ranker",
    "RepliesMissing",
    "Table",
    "agree",
    "check",
    "compare",
    "judges",
    "rate",
    "read_results",
    "run",
    "score",
    "search",
    "testing",
]

if TYPE_CHECKING:
    from ragassay import judges as judges
    from ragassay import testing as testing
    from ragassay.evaluate.from_files.collections.format import Format
    from ragassay.evaluate.judging.engine.evaluator import Evaluator
    from ragassay.evaluate.measures.measure import Measure
    from ragassay.functions.verbs import agree, check, compare, rate, read_results, run, score, search
    from ragassay.retrieval.rankers.ranker import Ranker

    from .errors import BudgetSpent, InputError, RagassayError, RepliesMissing
    from .experiment.settings import Experiment
    from .layouts.answers import Layout
    from .models.endpoint import Provider
    from .table import Table
else:
    _MODULES = {
        "ragassay.errors": ("BudgetSpent", "InputError", "RagassayError", "RepliesMissing"),
        "ragassay.evaluate.from_files.collections.format": ("Format",),
        "ragassay.evaluate.judging.engine.evaluator": ("Evaluator",),
        "ragassay.evaluate.measures.measure": ("Measure",),
        "ragassay.experiment.settings": ("Experiment",),
        "ragassay.functions.verbs": ("agree", "check", "compare", "rate", "read_results", "run", "score", "search"),
        "ragassay.layouts.answers": ("Layout",),
        "ragassay.models.endpoint": ("Provider",),
        "ragassay.retrieval.rankers.ranker": ("Ranker",),
        "ragassay.table": ("Table",),
    }

    def __getattr__(name: str) -> object:
        """What is imported when it is first asked for: the command line needs none of it."""
        from importlib import import_module

        if name in {"judges", "testing"}:
            return import_module(f"ragassay.{name}")
        for module, names in _MODULES.items():
            if name in names:
                return getattr(import_module(module), name)
        raise AttributeError(f"module 'ragassay' has no attribute '{name}'")

    def __dir__() -> list[str]:
        return [*__all__, "__version__"]
