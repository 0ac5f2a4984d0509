"""The models that a stage calls, each opened once; a `local:` one keeps its server until all are closed."""

from __future__ import annotations

import time

from ..experiment.settings import Experiment
from ..models.endpoint import Endpoint
from ..models.requests import Body, Request


class Endpoints:
    """The open models of one stage."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._open: dict[str, Endpoint] = {}

    def open(self, model: str) -> None:
        """Make a model ready to be called; nothing is asked of it yet."""
        self._open.setdefault(model, Endpoint(model, self._experiment.settings_of(model)))

    def call(self, model: str, request: Request, shared: int) -> tuple[Body, float]:
        """One call of an open model and how long it took, in seconds. Raises whatever its provider's SDK raises."""
        started = time.monotonic()
        body = self._open[model].call(request, shared)
        return body, round(time.monotonic() - started, 4)

    def close(self) -> None:
        """Stop the servers of `local:` models."""
        for endpoint in self._open.values():
            endpoint.close()
