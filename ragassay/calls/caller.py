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
from ..models.requests import Batch, Body, Reply, Request
from ..progress import NoProgress, Progress
from ..records import ServerCallRow, StageUsage
from .batches.apis import BatchLog
from .batches.runner import BatchRunner
from .direct import Budget, Desk, DirectCalls, Reach, Retrier, first_error
from .register import Job, Register, clear_requests, hand_out
from .reply_cache import ReplyCache
from .served import Failed, ServerCall, ServerCalls

T = TypeVar("T")


class Caller:
    """Asks the models of one experiment on behalf of one stage; `usage` says at the end what that took.

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
        self._register = Register(experiment, stage, cache)
        self._desk = Desk(
            self._register,
            Budget(experiment.run.max_cost_usd, spent_usd, stage),
            reach,
            Retrier(experiment.run.retries, stop, reach, retry_after_cap_s),
            progress or NoProgress(),
            stop,
        )
        self._models: dict[str, Endpoint] = {}
        self._servers = ServerCalls(self._desk, workspace.server_calls, stage)
        self._log, self._runners = BatchLog(workspace.batches, workspace.batch_requests), dict[str, BatchRunner]()

    @property
    def spent_usd(self) -> float:
        """US dollars spent so far, by earlier stages and this one, on replies that did not come with the corpus."""
        return self._desk.budget.spent_usd

    @property
    def new_usd(self) -> float:
        """US dollars spent on replies that were not at hand; what has no known price is not counted."""
        return self._desk.budget.new_usd

    def ask(self, batches: Sequence[Batch]) -> list[list[Reply]]:
        """A reply to every request, in the order asked; equal requests are asked once.

        Raises RepliesMissing when a `file:` model's replies are not all there (its requests are then written),
        BudgetSpent at the cost limit, InputError where every call would fail, and what `before_asking` does. What was
        received is kept in each case.
        """
        rows = [self._register.jobs(batch) for batch in batches]
        distinct = {job.key: job for row in rows for job in row}
        self.missing(batches)
        self._desk.progress.start(self._stage, len(distinct))
        try:
            self._call(list(distinct.values()))
        finally:
            self._desk.progress.stop()
        return [[job.done for job in row] for row in rows]

    def uses_server(self, model: str) -> None:
        """Count a model that embeds or reranks among those whose usage is told; it is to be `serve`d."""
        self._servers.use(model)

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
            yield from self._servers.each(chain([first], waiting), n, all_or_none=all_or_none)
        finally:
            self._desk.progress.stop()

    def served(self, model: str) -> list[ServerCallRow]:
        """The calls of a server that this stage has made so far, in earlier runs too."""
        return self._servers.rows(model)

    def kept(self, key: str) -> Body | None:
        """The body that a server's reply was kept as."""
        return self._register.body(key)

    def keep(self, key: str, body: Body) -> None:
        """Keep a server's reply with those of the models."""
        self._register.keep(key, body, None)

    @property
    def all_failed(self) -> int:
        """How many requests the stage has asked, where not one of them has a reply that can be used; else 0."""
        return self._register.all_failed

    @property
    def commonest_error(self) -> str | None:
        """What most of the requests that failed failed by; None where none did. Untrusted text."""
        return self._register.commonest_error

    def usage(self) -> tuple[StageUsage, ...]:
        """What the stage took of each model, replies from the cache included: the same whenever it is run."""
        return (*self._register.usage(), *self._servers.usage())

    def keyed(self, batch: Batch) -> list[tuple[str, Request]]:
        """(key, request) of a batch."""
        return [(self._register.key(batch.model, request), request) for request in batch.requests]

    def missing(self, batches: Sequence[Batch]) -> set[str]:
        """The keys of the requests whose replies are not at hand yet."""
        return self._register.missing(batches)

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
                self._desk.budget.spend(job.done.usage.cost_usd or 0.0)
            job.paid = True
        waiting = [job for job in unanswered if provider_of(job.model) == "file"]
        online = [job for job in unanswered if provider_of(job.model) != "file"]
        if unanswered and self._before_asking:
            self._before_asking()
        for model in sorted({job.model for job in online}):
            check_model(model, self._register.settings(model))
            self._models.setdefault(model, Endpoint(model, self._register.settings(model)))
        marked = [job for job in online if provider_of(job.model) == "anthropic"]  # it caches what is marked alone
        for job, length in zip(marked, shared_beginnings([job.request for job in marked]), strict=True):
            job.shared = length or job.shared
        self._run(online, Counter(job.model for job in jobs))
        for label in {job.label for job in jobs} - {job.label for job in waiting}:
            clear_requests(self._workspace.requests, label)
        if waiting:
            raise hand_out(self._workspace, self._register, waiting)

    def _run(self, online: list[Job], n_asked: Counter[str]) -> None:
        """Batches of each model in a thread of their own, and meanwhile the direct calls.

        Models of this machine come last, one call at a time.
        """
        rounds: dict[str, list[Job]] = {}
        there, here = list[Job](), list[Job]()
        for job in online:
            if self._register.settings(job.model).mode == "batch":
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
