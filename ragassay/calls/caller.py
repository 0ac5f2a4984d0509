"""Asking models: cached by content, concurrent, retried, limited in rate and cost, every failure a value.

Stages hand over batches of requests and get a reply for each; what happens in between is in this folder.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TypeVar

from ..experiment.workspace import Workspace
from ..models.endpoint import Endpoint, check_model, provider_of
from ..models.providers import shared_beginnings
from ..models.requests import Batch, Reply
from ..progress import NoProgress, Progress
from ..records import StageUsage
from .batches.apis import BatchLog
from .batches.runner import BatchRunner
from .direct import Budget, Desk, DirectCalls, Reach, Retrier, first_error
from .register import Job, Register, clear_requests, hand_out
from .reply_cache import ReplyCache
from .served import Failed, ServerCall, ServerCalls

T = TypeVar("T")


class Caller:
    """Asks the models of one experiment on behalf of one stage; `usage` says at the end what that took.

    `register` has its requests and what of their replies is at hand, `budget` its money, `servers` calls of servers.
    `spent_usd` is what earlier stages spent, which counts towards the cost limit. `retry_after_cap_s` bounds how long a
    provider's Retry-After is believed, in seconds. `before_asking` is called before requests without a reply are made,
    and stops them by what it raises.
    """

    def __init__(
        self,
        workspace: Workspace,
        stage: str,
        cache: ReplyCache,
        progress: Progress | None = None,
        spent_usd: float = 0.0,
        before_asking: Callable[[], None] | None = None,
        retry_after_cap_s: float = 60.0,
    ) -> None:
        experiment, stop, reach = workspace.experiment, threading.Event(), Reach()
        self._workspace, self._stage, self._before_asking = workspace, stage, before_asking
        self.register = Register(experiment, stage, cache)
        self.budget = Budget(experiment.run.max_cost_usd, spent_usd, stage)
        self._desk = Desk(
            self.register,
            self.budget,
            reach,
            Retrier(experiment.run.retries, stop, reach, retry_after_cap_s),
            progress or NoProgress(),
            stop,
        )
        self._models: dict[str, Endpoint] = {}
        self.servers = ServerCalls(self._desk, workspace.server_calls, stage)
        self._log, self._runners = BatchLog(workspace.batches, workspace.batch_requests), dict[str, BatchRunner]()

    def ask(self, batches: Sequence[Batch]) -> list[list[Reply]]:
        """A reply to every request, in the order asked; equal requests are asked once.

        Raises RepliesMissing when a `file:` model's replies are not all there (its requests are then written),
        BudgetSpent at the cost limit, InputError where every call would fail, and what `before_asking` does. What was
        received is kept in each case.
        """
        rows = [self.register.jobs(batch) for batch in batches]
        distinct = {job.key: job for row in rows for job in row}
        for job in distinct.values():
            if job.reply is None:
                self.register.settle(job)
        self._desk.progress.start(self._stage, len(distinct))
        try:
            self._call(list(distinct.values()))
        finally:
            self._desk.progress.stop()
        return [[job.done for job in row] for row in rows]

    def uses_server(self, model: str) -> None:
        """Count a model that embeds or reranks among those whose usage is told; it is to be `serve`d."""
        self.servers.use(model)

    def serve(
        self, calls: Iterable[ServerCall[T]], n: int, *, all_or_none: bool = False
    ) -> Iterator[tuple[ServerCall[T], T | Failed]]:
        """What each of about `n` calls of servers came to, as they come; several are made at a time.

        With `all_or_none` nothing more is asked after the first that failed. Raises as `ask` does, after all that was
        under way is given.
        """
        waiting = iter(calls)
        first = next(waiting, None)
        if first is None:
            return
        if self._before_asking:
            self._before_asking()
        self._desk.progress.start(f"{self._stage}: {first.model}", n)
        try:
            yield from self.servers.each(chain([first], waiting), n, all_or_none=all_or_none)
        finally:
            self._desk.progress.stop()

    def usage(self) -> tuple[StageUsage, ...]:
        """What the stage took of each model, replies from the cache included: the same whenever it is run."""
        return (*self.register.usage(), *self.servers.usage())

    def close(self) -> None:
        """Stop the servers of `local:` models."""
        for endpoint in self._models.values():
            endpoint.close()

    def _call(self, jobs: list[Job]) -> None:
        """Bring every job to its reply; those at hand are counted first. Raises InputError where none can be made."""
        unanswered = [job for job in jobs if job.reply is None]
        for job in (job for job in jobs if job.reply is not None):
            error = job.done.error
            self._desk.progress.advance("cached" if error is None else "failed", None, error)
            if not job.paid and not job.recorded:  # what an earlier run paid for it counts towards the limit, once
                self.budget.spend(job.done.usage.cost_usd or 0.0)
            job.paid = True
        waiting = [job for job in unanswered if provider_of(job.model) == "file"]
        online = [job for job in unanswered if provider_of(job.model) != "file"]
        if unanswered and self._before_asking:
            self._before_asking()
        for model in sorted({job.model for job in online}):
            check_model(model, self.register.settings(model))
            self._models.setdefault(model, Endpoint(model, self.register.settings(model)))
        marked = [job for job in online if provider_of(job.model) == "anthropic"]  # it caches what is marked alone
        for job, length in zip(marked, shared_beginnings([job.request for job in marked]), strict=True):
            job.shared = length or job.shared
        self._run(online, Counter(job.model for job in jobs))
        for label in {job.label for job in jobs} - {job.label for job in waiting}:
            clear_requests(self._workspace.requests, label)
        if waiting:
            raise hand_out(self._workspace, self.register, waiting)

    def _run(self, online: list[Job], n_asked: Counter[str]) -> None:
        """Batches of each model in a thread of their own, and meanwhile the direct calls.

        Models of this machine come last, one call at a time.
        """
        rounds: dict[str, list[Job]] = {}
        there, here = list[Job](), list[Job]()
        for job in online:
            if self.register.settings(job.model).mode == "batch":
                rounds.setdefault(job.model, []).append(job)
            else:
                (here if provider_of(job.model) == "local" else there).append(job)
        calls = DirectCalls(self._desk, self._models, n_asked)
        pool = ThreadPoolExecutor(len(rounds) or 1, thread_name_prefix="batch")
        futures = [pool.submit(self._runner(model).answer, jobs) for model, jobs in sorted(rounds.items())]
        try:
            calls.run(there, min(self._workspace.experiment.run.max_concurrency, len(there)))
            calls.run(here, 1)
            first_error(futures)
        except BaseException:
            self._desk.stop.set()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _runner(self, model: str) -> BatchRunner:
        if model not in self._runners:
            self._runners[model] = BatchRunner(model, self._desk, self._log)
        return self._runners[model]
