"""The requests of models in `mode = "batch"`, in rounds: what does not fit is asked again in a further batch."""

from __future__ import annotations

from functools import partial

from ...errors import ProviderError
from ...files import json_line
from ...models.requests import Body, Request
from ...tokens import reply_tokens
from ..desk import Desk
from ..job import Job
from ..usage import cost_of, guess_usd
from .log import BatchLog
from .runner import BatchRunner, Wanted


class BatchRounds:
    """Every model's batches; each model may have a thread of its own."""

    def __init__(self, desk: Desk, log: BatchLog) -> None:
        self._desk, self._log = desk, log
        self._runners: dict[str, BatchRunner] = {}

    def run(self, model: str, jobs: list[Job]) -> None:
        """Bring every job of a model to its reply; a batch for each round, as in a direct call.

        Raises what BatchRunner.run raises.
        """
        runner, register, failed = self._runner(model), self._desk.register, dict[str, ProviderError]()
        while jobs:
            wanted: dict[str, Wanted] = {}
            left = []
            for job in jobs:
                request = register.settle(job)
                key = "" if request is None else register.key(model, request)
                if request is not None and key not in failed:
                    wanted[key] = self._wanted(runner, key, job, request)
                    left.append(job)
                    continue
                if request is not None:
                    register.give_up(job, failed[key])
                job.paid = True
                self._desk.finish(job)
            jobs = left
            failed = runner.run(wanted) if wanted else {}

    def _runner(self, model: str) -> BatchRunner:
        if model not in self._runners:
            self._runners[model] = BatchRunner(model, self._desk, self._log, partial(self._keep, model))
        return self._runners[model]

    def _wanted(self, runner: BatchRunner, key: str, job: Job, request: Request) -> Wanted:
        text = json_line(runner.provider.line(key, request, self._desk.beginnings.shared(job)))
        settings = self._desk.register.settings(job.model)
        return Wanted(text, guess_usd(job.model, settings, request, reply_tokens(job.label)) or 0.0)

    def _keep(self, model: str, key: str, body: Body) -> float:
        """Put a batch's reply into the cache; what it cost, 0 where that is not known."""
        register = self._desk.register
        if not register.has(key):
            register.keep(key, body, None)
        return cost_of(model, register.settings(model), body) or 0.0
