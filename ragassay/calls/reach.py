"""Whether a model's server answers at all, told by the first requests, before all others wait through their retries."""

from __future__ import annotations

import threading
from collections import Counter

from ..errors import InputError, ProviderError, RagassayError

PATIENCE = 3
"""After so many requests without any answer, each with all its retries, and none with one, a server is not there."""


class Reach:
    """What is known of each model's server; for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answered: set[str] = set()
        self._unanswered: Counter[str] = Counter()

    def note(self, model: str, error: RagassayError | None) -> None:
        """What one try came to. An error that the provider sent is an answer too."""
        if not isinstance(error, ProviderError) or error.answered:
            with self._lock:
                self._answered.add(model)

    def check(self, model: str, error: ProviderError, n_requests: int) -> None:
        """Take note that a request was given up with `error`; `n_requests` are asked of the model in all.

        Raises InputError once PATIENCE of them, or all, were given up and the server has never answered.
        """
        with self._lock:
            self._unanswered[model] += not error.answered
            given_up = self._unanswered[model] >= min(PATIENCE, n_requests)
            not_there = given_up and model not in self._answered
        if not_there:
            remedy = "see that its server runs and that its base_url is right, then run again: nothing is lost"
            raise InputError(f"{model} does not answer: {error}", remedy=remedy)
