"""Assertions for pytest, or any test: `from ragassay.testing import assert_better, assert_judged, assert_not_worse`."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["assert_better", "assert_judged", "assert_not_worse"]

if TYPE_CHECKING:
    from ragassay.functions.assertions import assert_better, assert_judged, assert_not_worse
else:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module 'ragassay.testing' has no attribute '{name}'")
        from ragassay.functions import assertions

        return getattr(assertions, name)
