"""Requests asked directly: several at a time, each until its reply fits or is given up; the first error stops all."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from ..errors import BudgetSpent, InputError, ProviderError, RagassayError
from ..models.endpoint import Endpoint
from ..models.providers import beginning_of, explain, in_turn
from ..models.requests import Body, Request
from ..progress import Progress
from .register import Job, Register, cost_of, guess_usd

if TYPE_CHECKING:
    from tenacity import RetryCallState


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
        """What was spent so far, by earlier stages too, on replies that did not come with the corpus."""
        return self._spent_usd

    @property
    def new_usd(self) -> float:
        """What was spent here and now, without earlier stages and runs; without what has no known price."""
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


T = TypeVar("T")


def _backoff(state: RetryCallState) -> float:
    from tenacity import wait_random_exponential

    return wait_random_exponential(multiplier=0.5, max=30)(state)


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
        from tenacity import Retrying, retry_if_exception, stop_after_attempt

        retrying = Retrying(
            stop=stop_after_attempt(self._retries + 1),
            wait=self._wait_s,
            retry=retry_if_exception(lambda error: isinstance(error, ProviderError) and error.retryable),
            sleep=self._pause,
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

    def _pause(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise ProviderError("stopped before the next try", retryable=False)


@dataclass(frozen=True)
class Desk:
    """The stage's requests, its money, and how it is told and stopped; for several threads."""

    register: Register
    budget: Budget
    reach: Reach
    retrier: Retrier
    progress: Progress
    stop: threading.Event

    def finish(self, job: Job) -> None:
        """Count a job that has been asked for."""
        error = job.done.error
        self.progress.advance("done" if error is None else "failed", self.budget.spent_usd, error)


class DirectCalls:
    """The direct calls of one ask; `n_asked` says how many requests are asked of each model in all."""

    def __init__(self, desk: Desk, models: Mapping[str, Endpoint], n_asked: Mapping[str, int]) -> None:
        self._desk, self._models, self._n_asked = desk, models, n_asked

    def run(self, jobs: list[Job], at_once: int) -> None:
        """Bring every job to its reply, `at_once` at a time.

        Raises BudgetSpent at the cost limit and InputError where every call would fail; calls under way end first.
        """
        if not jobs:
            return
        pool = ThreadPoolExecutor(at_once, thread_name_prefix="ask")
        order = in_turn([beginning_of(job.request, job.shared) for job in jobs], at_once)
        futures = [pool.submit(self._work, jobs[at]) for at in order]
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

        def ask() -> tuple[Body, float]:
            endpoint = self._models[job.model]
            if not request.continuation:
                endpoint.chat()  # made once, for which LangChain is imported: no part of what a reply takes
            started = time.monotonic()
            body = endpoint.call(request, job.shared)
            return body, round(time.monotonic() - started, 4)

        desk.budget.claim(partial(guess_usd, job.model, settings, request))
        try:
            body, latency_s = desk.retrier.call(job.model, ask)
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
