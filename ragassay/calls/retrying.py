"""Trying again what a provider may do better next time: bounded, with backoff, and stopped at once when the run is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from ..errors import ProviderError
from ..models.provider_errors import explain
from .reach import Reach

T = TypeVar("T")

_backoff = wait_random_exponential(multiplier=0.5, max=30)


class Retrier:
    """Calls a provider up to `retries` more times; for several threads.

    `stop` ends every wait; `reach` is told what each try came to; `retry_after_cap_s` bounds how long a provider's
    Retry-After is believed, in seconds.
    """

    def __init__(self, retries: int, stop: threading.Event, reach: Reach, retry_after_cap_s: float = 60.0) -> None:
        self._retries, self._stop, self._reach = retries, stop, reach
        self._retry_after_cap_s = retry_after_cap_s

    def call(self, model: str, ask: Callable[[], T]) -> T:
        """What `ask` gives. Raises ProviderError after the last try, InputError where every call would fail alike."""
        retrying = Retrying(
            stop=stop_after_attempt(self._retries + 1),
            wait=self._wait_s,
            retry=retry_if_exception(lambda error: isinstance(error, ProviderError) and error.retryable),
            sleep=self._sleep,
            reraise=True,
        )
        for attempt in retrying:
            with attempt:
                return self._try(model, ask)
        raise AssertionError("unreachable")

    def _try(self, model: str, ask: Callable[[], T]) -> T:
        try:
            got = ask()
        except Exception as error:
            ours = explain(error, model)
            if ours is None:
                raise
            self._reach.note(model, ours)
            raise ours from error
        self._reach.note(model, None)
        return got

    def _wait_s(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        wished = error.retry_after_s if isinstance(error, ProviderError) else None
        return _backoff(state) if wished is None else min(wished, self._retry_after_cap_s)

    def _sleep(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise ProviderError("stopped before the next try", retryable=False)
