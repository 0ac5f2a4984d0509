"""ragassay: make a test set from PDFs, run retrieval-augmented pipelines on it, and say which answers best.

From Python: `from ragassay import judges`, `ragassay.run`, `ragassay.read_results`; from pytest: `ragassay.testing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ragassay.functions.whole_run import read_results as read_results
    from ragassay.functions.whole_run import run as run
else:

    def __getattr__(name: str) -> object:
        """What is imported when it is first asked for: the command line needs none of it."""
        if name == "run":
            from ragassay.functions.whole_run import run

            return run
        if name == "read_results":
            from ragassay.functions.whole_run import read_results

            return read_results
        if name in {"judges", "testing"}:
            from importlib import import_module

            return import_module(f"ragassay.{name}")
        raise AttributeError(f"module 'ragassay' has no attribute '{name}'")
