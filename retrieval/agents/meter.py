"""What a user's own system says of the tokens and the money that it used for a query."""

from __future__ import annotations

import math
import threading

from ragassay.records import Usage

PARAMETER = "meter"
"""A callable that has a parameter of this name is handed one."""


class Meter:
    """Handed to a callable that has a parameter `meter`; a new one for each query, for all threads of the callable."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: dict[str, int] = {}
        self._cost_usd: float | None = None

    def add(
        self, *, input_tokens: int | None = None, output_tokens: int | None = None, cost_usd: float | None = None
    ) -> None:
        """Count what one call took, in tokens and US dollars; None where that is not known.

        Raises ValueError for what is below 0 or not finite, TypeError for tokens that are no whole number.
        """
        tokens = {"input_tokens": input_tokens, "output_tokens": output_tokens}
        known = {name: count for name, count in tokens.items() if count is not None}
        if wrong := [name for name, count in known.items() if isinstance(count, bool) or not isinstance(count, int)]:
            raise TypeError(f"meter.add: {wrong[0]} is not a whole number")
        if negative := [name for name, count in known.items() if count < 0]:
            raise ValueError(f"meter.add: {negative[0]} is {known[negative[0]]}, it must be at least 0")
        if cost_usd is not None and not (math.isfinite(cost_usd) and cost_usd >= 0):
            raise ValueError(f"meter.add: cost_usd is {cost_usd}, which is not a finite number from 0")
        with self._lock:
            for name, count in known.items():
                self._tokens[name] = self._tokens.get(name, 0) + count
            if cost_usd is not None:
                self._cost_usd = (self._cost_usd or 0.0) + float(cost_usd)

    def usage(self) -> Usage:
        """All that was added; None of what never was."""
        with self._lock:
            return Usage(
                input_tokens=self._tokens.get("input_tokens"),
                output_tokens=self._tokens.get("output_tokens"),
                cost_usd=self._cost_usd,
            )
