"""Asking models: cached by content, concurrent, retried, limited in rate and cost, every failure a value.

Stages hand over batches of requests and get a reply for each; what happens in between is all here.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from ragassay.budget import Budget
from ragassay.config import Experiment
from ragassay.errors import ProviderError, RepliesMissing
from ragassay.models import Endpoint, base_url_of, check_model, gives_probabilities, provider_of
from ragassay.prices import cost_usd
from ragassay.progress import NoProgress, Progress
from ragassay.prompts import Message
from ragassay.provider_errors import explain
from ragassay.reach import Reach
from ragassay.records import Usage
from ragassay.reply_cache import ReplyCache, Stored
from ragassay.request_files import clear_requests, write_requests
from ragassay.requests import REFUSED, Batch, Body, Reply, Request, ask_again, read_reply, request_key, usage_of
from ragassay.results import StageUsage
from ragassay.tokens import count_tokens
from ragassay.workspace import Workspace

__all__ = ["Batch", "Caller", "Message", "Reply", "Request"]

_SHORT_REPLY_TOKENS = 100
_backoff = wait_random_exponential(multiplier=0.5, max=30)


@dataclass
class _Job:
    """One distinct request, however often it was asked: where it stands and, at the end, its reply."""

    key: str
    label: str
    model: str
    request: Request
    reply: Reply | None = None
    received: tuple[Stored, ...] = ()
    paid: bool = False


class Caller:
    """Asks the models of one experiment on behalf of one stage; `usage` says at the end what that took.

    `spent_usd` is what earlier stages spent, which counts towards the cost limit. `retry_after_cap_s` bounds how long a
    provider's Retry-After is believed, in seconds. `later_models` are those that further stages will call: a key that
    one of them lacks is said before the first call is paid for.
    """

    def __init__(
        self,
        workspace: Workspace,
        stage: str,
        cache: ReplyCache,
        progress: Progress | None = None,
        spent_usd: float = 0.0,
        later_models: Sequence[str] = (),
        retry_after_cap_s: float = 60.0,
    ) -> None:
        self._workspace, self._stage, self._cache = workspace, stage, cache
        self._progress: Progress = progress or NoProgress()
        self._retry_after_cap_s = retry_after_cap_s
        self._later_models = tuple(later_models)
        self._endpoints: dict[str, Endpoint] = {}
        self._jobs: dict[str, _Job] = {}
        self._reach, self._n_asked = Reach(), Counter[str]()
        self._stop = threading.Event()
        self._budget = Budget(workspace.experiment.run.max_cost_usd, spent_usd, stage)

    @property
    def _experiment(self) -> Experiment:
        return self._workspace.experiment

    @property
    def spent_usd(self) -> float:
        """US dollars spent so far, by earlier stages and this one, on replies that did not come with the corpus."""
        return self._budget.spent_usd

    def gives_probabilities(self, model: str) -> bool:
        """Whether `tokens` requests can be put to this model."""
        return gives_probabilities(model)

    def ask(self, batches: Sequence[Batch]) -> list[list[Reply]]:
        """A reply to every request, in the order asked; equal requests are asked once.

        Raises RepliesMissing when a `file:` model's replies are not all there (its requests are then written),
        BudgetSpent at the cost limit, InputError where every call would fail. What was received is kept in each case.
        """
        jobs = [[self._job(batch, request) for request in batch.requests] for batch in batches]
        distinct = {job.key: job for row in jobs for job in row}
        self.missing(batches)
        self._progress.start(self._stage, len(distinct))
        try:
            self._call([job for job in distinct.values() if job.reply is None], distinct)
        finally:
            self._progress.stop()
        return [[_done(job) for job in row] for row in jobs]

    def usage(self) -> tuple[StageUsage, ...]:
        """What the stage took of each model, replies from the cache included: the same whenever it is run."""
        models = sorted({job.model for job in self._jobs.values()})
        return tuple(self._usage_of_model(model) for model in models)

    def keyed(self, batch: Batch) -> list[tuple[str, Request]]:
        """(key, request) of a batch."""
        return [(self._key(batch.model, request), request) for request in batch.requests]

    def missing(self, batches: Sequence[Batch]) -> set[str]:
        """The keys of the requests whose replies are not at hand yet."""
        jobs = [self._job(batch, request) for batch in batches for request in batch.requests]
        return {job.key for job in jobs if job.reply is None and self._settle(job) is not None}

    def close(self) -> None:
        """Stop the servers of `local:` models."""
        for endpoint in self._endpoints.values():
            endpoint.close()

    def _job(self, batch: Batch, request: Request) -> _Job:
        key = self._key(batch.model, request)
        return self._jobs.setdefault(key, _Job(key, batch.label, batch.model, request))

    def _key(self, model: str, request: Request) -> str:
        settings = self._experiment.settings_of(model)
        return request_key(model, base_url_of(model, settings), settings, request)

    def _settle(self, job: _Job) -> Request | None:
        """Give the job its reply from the cache; else say which request is still to be made for it."""
        request, key, received = job.request, job.key, []
        for attempt in range(2):
            stored = self._cache.get(key)
            if stored is None:
                return request
            received.append(stored)
            job.received = tuple(received)
            reply = _reply_of(request, stored)
            if reply.error is None or stored.body is None or attempt or request.tokens:
                job.reply = replace(reply, usage=self._usage(job), latency_s=_seconds(received))
                return None
            request = ask_again(job.request, stored.body, reply.error)
            key = self._key(job.model, request)
        raise AssertionError("unreachable")

    def _call(self, open_jobs: list[_Job], distinct: dict[str, _Job]) -> None:
        for job in distinct.values():
            if job.reply is not None:
                self._progress.advance("cached" if job.reply.error is None else "failed", None)
                if not job.paid and not any(stored.recorded for stored in job.received):
                    self._budget.spend(job.reply.usage.cost_usd or 0.0)
                job.paid = True
        waiting = [job for job in open_jobs if provider_of(job.model) == "file"]
        online = [job for job in open_jobs if provider_of(job.model) != "file"]
        self._n_asked = Counter(job.model for job in distinct.values())
        for model in sorted({job.model for job in online}):
            for wanted in (model, *self._later_models):
                check_model(wanted, self._experiment.settings_of(wanted))
            self._endpoints.setdefault(model, Endpoint(model, self._experiment.settings_of(model)))
        for local in (False, True):
            self._run_pool([job for job in online if (provider_of(job.model) == "local") == local], one_at_a_time=local)
        for label in {job.label for job in distinct.values()} - {job.label for job in waiting}:
            clear_requests(self._workspace.requests, label)
        if waiting:
            raise self._missing(waiting)

    def _run_pool(self, jobs: list[_Job], *, one_at_a_time: bool) -> None:
        if not jobs:
            return
        limit = 1 if one_at_a_time else min(self._experiment.run.max_concurrency, len(jobs))
        pool = ThreadPoolExecutor(limit, thread_name_prefix="ask")
        futures = [pool.submit(self._work, job) for job in jobs]
        try:
            _first_error(futures)
        except BaseException:
            self._stop.set()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _work(self, job: _Job) -> None:
        while (request := self._settle(job)) is not None:
            if self._stop.is_set():
                return
            self._budget.claim(partial(self._guess_usd, job.model, request))
            cost = None
            try:
                body, latency_s = self._call_with_retries(job.model, request)
                cost = self._cost(job.model, body)
            except ProviderError as error:
                self._reach.check(job.model, error, self._n_asked[job.model])
                job.reply = Reply(error=str(error), usage=self._usage(job))
                break
            finally:
                self._budget.end(cost)
            job.paid = True
            key = job.key if request is job.request else self._key(job.model, request)
            self._cache.put(key, body, latency_s, f"received-{self._stage}")
        reply = _done(job)
        self._progress.advance("done" if reply.error is None else "failed", self.spent_usd)

    def _call_with_retries(self, model: str, request: Request) -> tuple[Body, float]:
        endpoint = self._endpoints[model]
        retrying = Retrying(
            stop=stop_after_attempt(self._experiment.run.retries + 1),
            wait=self._wait_s,
            retry=retry_if_exception(lambda error: isinstance(error, ProviderError) and error.retryable),
            sleep=self._sleep,
            reraise=True,
        )
        for attempt in retrying:
            with attempt:
                started = time.monotonic()
                try:
                    body = endpoint.call(request)
                    self._reach.note(model, None)
                    return body, round(time.monotonic() - started, 4)
                except Exception as error:
                    ours = explain(error, model)
                    if ours is None:
                        raise
                    self._reach.note(model, ours)
                    raise ours from error
        raise AssertionError("unreachable")

    def _wait_s(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        wished = error.retry_after_s if isinstance(error, ProviderError) else None
        return _backoff(state) if wished is None else min(wished, self._retry_after_cap_s)

    def _sleep(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise ProviderError("stopped before the next try", retryable=False)

    def _guess_usd(self, model: str, request: Request) -> float | None:
        settings = self._experiment.settings_of(model)
        if cost_usd(model, settings, 1, 1) is None:
            return None
        tokens = sum(count_tokens(message.content) for message in request.messages)
        return cost_usd(model, settings, tokens, _SHORT_REPLY_TOKENS)

    def _missing(self, waiting: Sequence[_Job]) -> RepliesMissing:
        rows: dict[str, list[tuple[str, str, Request]]] = {}
        for job in waiting:
            request = self._settle(job)
            if request is not None:
                rows.setdefault(job.label, []).append((self._key(job.model, request), job.model, request))
        settings = {job.model: self._experiment.settings_of(job.model) for job in waiting}
        files = write_requests(self._workspace.requests, rows, settings)
        models = ", ".join(sorted({job.model for job in waiting}))
        return RepliesMissing(
            f"{len(waiting)} requests to {models} wait for replies in {self._workspace.requests} "
            f"({len(files)} files, from {files[0].name}); put the replies (OpenAI's Batch output) into "
            f"{self._workspace.replies} or take them in with `ragassay replies FILE {self._workspace.corpus}`, "
            "then run again; or name in experiment.toml a model that can be called"
        )

    def _usage(self, job: _Job) -> Usage:
        bodies = [stored.body for stored in job.received if stored.body is not None]
        if not bodies:
            return Usage()
        counts = [usage_of(body) for body in bodies]
        return Usage(
            input_tokens=_sum_int(count[0] for count in counts),
            output_tokens=_sum_int(count[1] for count in counts),
            cost_usd=_sum(self._cost(job.model, body) for body in bodies),
        )

    def _cost(self, model: str, body: Body) -> float | None:
        return cost_usd(model, self._experiment.settings_of(model), *usage_of(body))

    def _usage_of_model(self, model: str) -> StageUsage:
        replies = [_done(job) for job in self._jobs.values() if job.model == model and job.reply is not None]
        measured = [reply.usage for reply in replies]
        return StageUsage(
            stage=self._stage,
            model=model,
            calls=sum(len(job.received) or 1 for job in self._jobs.values() if job.model == model),
            n_failed=sum(reply.error is not None for reply in replies),
            n_unmeasured=sum(usage.cost_usd is None for usage in measured),
            input_tokens=_known_sum_int([usage.input_tokens for usage in measured]),
            output_tokens=_known_sum_int([usage.output_tokens for usage in measured]),
            cost_usd=_known_sum([usage.cost_usd for usage in measured]),
            n_refused=sum(reply.error is not None and reply.error.startswith(REFUSED) for reply in replies),
        )


def _reply_of(request: Request, stored: Stored) -> Reply:
    return read_reply(request, stored.body) if stored.body is not None else Reply(error=stored.error)


def _done(job: _Job) -> Reply:
    if job.reply is None:
        return Reply(error="stopped before it was asked")
    return job.reply


def _first_error(futures: list[Future[None]]) -> None:
    done, _ = wait(futures, return_when=FIRST_EXCEPTION)
    for future in done:
        future.result()


def _seconds(received: Sequence[Stored]) -> float | None:
    total = _sum(stored.latency_s for stored in received)
    return None if total is None else round(total, 4)


def _sum(values: Iterable[float | None]) -> float | None:
    """The sum, or None where any part of it is not known."""
    parts = list(values)
    known = [part for part in parts if part is not None]
    return float(sum(known)) if known and len(known) == len(parts) else None


def _sum_int(values: Iterable[int | None]) -> int | None:
    total = _sum(values)
    return None if total is None else int(total)


def _known_sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known), 6) if known else None


def _known_sum_int(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
