"""Requests asked directly: several at a time, each until its reply fits or is given up; the first error stops all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import partial

from ..errors import ProviderError
from ..models.requests import Request
from .desk import Desk
from .endpoints import Endpoints
from .job import Job
from .usage import cost_of, guess_usd


class DirectCalls:
    """The direct calls of one ask; `n_asked` says how many requests are asked of each model in all."""

    def __init__(self, desk: Desk, endpoints: Endpoints, n_asked: Mapping[str, int]) -> None:
        self._desk, self._endpoints, self._n_asked = desk, endpoints, n_asked

    def run(self, jobs: list[Job], at_once: int) -> None:
        """Bring every job to its reply, `at_once` at a time.

        Raises BudgetSpent at the cost limit and InputError where every call would fail; calls under way end first.
        """
        if not jobs:
            return
        pool = ThreadPoolExecutor(at_once, thread_name_prefix="ask")
        futures = [pool.submit(self._work, job) for job in self._desk.beginnings.in_turn(jobs, at_once)]
        for future in futures:
            future.add_done_callback(self._stop_after)
        try:
            first_error(futures)
        except BaseException:
            self._desk.stop.set()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _stop_after(self, future: Future[None]) -> None:
        """In the thread that failed, before it takes the next job: what is paid for then could not be kept either."""
        if not future.cancelled() and future.exception() is not None:
            self._desk.stop.set()

    def _work(self, job: Job) -> None:
        register = self._desk.register
        while (request := register.settle(job)) is not None:
            if self._desk.stop.is_set():
                return
            if not self._call(job, request):
                break
        self._desk.finish(job)

    def _call(self, job: Job, request: Request) -> bool:
        """Make one call and keep its reply; False where the job is given up."""
        desk, settings, cost = self._desk, self._desk.register.settings(job.model), None
        desk.budget.claim(partial(guess_usd, job.model, settings, request))
        try:
            asking = partial(self._endpoints.call, job.model, request, desk.beginnings.shared(job))
            body, latency_s = desk.retrier.call(job.model, asking)
            cost = cost_of(job.model, settings, body)
        except ProviderError as error:
            desk.reach.check(job.model, error, self._n_asked[job.model])
            desk.register.give_up(job, error)
            return False
        finally:
            desk.budget.end(cost)
        job.paid = True
        key = job.key if request is job.request else desk.register.key(job.model, request)
        desk.register.keep(key, body, latency_s)
        return True


def first_error(futures: Iterable[Future[None]]) -> None:
    """Wait until all are done or one has failed, and raise what it raised."""
    done, _ = wait(futures, return_when=FIRST_EXCEPTION)
    for future in done:
        future.result()
