"""The cost limit of a run, kept by many threads: a call is claimed before it is made and paid for when it is over."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..errors import BudgetSpent


class Budget:
    """US dollars spent by a run, and whether another call may be made; without a limit it always may.

    A call under way is taken to cost what the paid ones did on average, and before the first what `guess_usd` says.
    """

    def __init__(self, limit_usd: float | None, spent_usd: float, stage: str) -> None:
        self._limit_usd, self._spent_usd, self._stage = limit_usd, spent_usd, stage
        self._paid_usd, self._n_paid, self._under_way = 0.0, 0, 0
        self._reserved_usd = self._settled_usd = 0.0
        self._lock = threading.Lock()

    @property
    def spent_usd(self) -> float:
        """What was spent so far, by earlier stages too."""
        return self._spent_usd

    @property
    def new_usd(self) -> float:
        """What was spent here and now, without earlier stages and runs."""
        return self._paid_usd + self._settled_usd

    def spend(self, cost_usd: float) -> None:
        """Count what an earlier run has paid for this stage."""
        with self._lock:
            self._spent_usd += cost_usd

    def claim(self, guess_usd: Callable[[], float | None]) -> None:
        """Take a call under way; `end` must follow. Raises BudgetSpent where it would pass the limit."""
        with self._lock:
            each = self._paid_usd / self._n_paid if self._n_paid else guess_usd() or 0.0
            expected = self._spent_usd + self._reserved_usd + (self._under_way + 1) * each
            if self._limit_usd is not None and (expected > self._limit_usd or self._spent_usd >= self._limit_usd):
                raise BudgetSpent(
                    f"the next call of {self._stage} would pass the cost limit of ${self._limit_usd:.2f} "
                    f"(${self._spent_usd:.2f} spent, {self._under_way} calls under way); every reply so far is kept: "
                    "run again with a higher --max-cost to go on"
                )
            self._under_way += 1

    def end(self, cost_usd: float | None) -> None:
        """A call is over; None where it failed or its price is not known."""
        with self._lock:
            self._under_way -= 1
            self._spent_usd += cost_usd or 0.0
            self._paid_usd += cost_usd or 0.0
            self._n_paid += cost_usd is not None

    def reserve(self, expected_usd: float, n: int, *, handed_in: bool = False) -> None:
        """Set aside what `n` requests in batches will cost; `settle` must follow.

        Raises BudgetSpent where that would pass the limit, unless they are `handed_in`, which cannot be undone.
        """
        with self._lock:
            expected = self._spent_usd + self._reserved_usd + expected_usd
            if not handed_in and self._limit_usd is not None and expected > self._limit_usd:
                raise BudgetSpent(
                    f"{n} requests of {self._stage} in batches, about ${expected_usd:.2f}, would pass the cost limit "
                    f"of ${self._limit_usd:.2f} (${self._spent_usd:.2f} spent, ${self._reserved_usd:.2f} under way); "
                    "nothing of them was handed in: run again with a higher --max-cost to go on"
                )
            self._reserved_usd += expected_usd

    def settle(self, reserved_usd: float, cost_usd: float) -> None:
        """What was reserved is over, and `cost_usd` of it was spent."""
        with self._lock:
            self._reserved_usd -= reserved_usd
            self._spent_usd += cost_usd
            self._settled_usd += cost_usd
