"""Asking models: cached by content, concurrent, retried, limited in rate and cost, every failure a value.

Stages hand over batches of requests and get a reply for each; what happens in between is all here.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial

from ..errors import ProviderError, RepliesMissing
from ..experiment.settings import Experiment, ModelSettings
from ..experiment.workspace import Workspace
from ..files import json_line
from ..models.endpoint import Endpoint, base_url_of, check_model, provider_of
from ..models.prices import cost_usd
from ..models.prompt_cache import beginning_of, in_turn, shared_beginnings
from ..models.requests import Batch, Body, Reply, Request, ask_again, request_key
from ..progress import NoProgress, Progress
from ..records import StageUsage, Usage
from ..tokens import count_tokens, reply_tokens
from .batches.log import BatchLog
from .batches.runner import BatchRunner, Desk, Wanted, batches_of
from .budget import Budget
from .job import Job, cost_of, reply_of, usage_of_job, usage_of_stage
from .reach import Reach
from .reply_cache import ReplyCache
from .request_files import clear_requests, write_requests
from .retrying import Retrier

_SHORT_REPLY_TOKENS = 100


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
        self._later_models = tuple(later_models)
        self._endpoints: dict[str, Endpoint] = {}
        self._jobs: dict[str, Job] = {}
        self._reach, self._n_asked = Reach(), Counter[str]()
        self._stop = threading.Event()
        self._budget = Budget(workspace.experiment.run.max_cost_usd, spent_usd, stage)
        self._retrier = Retrier(workspace.experiment.run.retries, self._stop, self._reach, retry_after_cap_s)
        self._runners: dict[str, BatchRunner] = {}
        self._log = BatchLog(workspace.batches, workspace.batch_requests)
        self._shared: dict[str, int] = {}

    @property
    def _experiment(self) -> Experiment:
        return self._workspace.experiment

    def _settings(self, model: str) -> ModelSettings:
        return self._experiment.settings_of(model)

    @property
    def spent_usd(self) -> float:
        """US dollars spent so far, by earlier stages and this one, on replies that did not come with the corpus."""
        return self._budget.spent_usd

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
        return [[job.done for job in row] for row in jobs]

    def usage(self) -> tuple[StageUsage, ...]:
        """What the stage took of each model, replies from the cache included: the same whenever it is run."""
        models = sorted({job.model for job in self._jobs.values()})
        jobs = self._jobs.values()
        return tuple(
            usage_of_stage(self._stage, model, [job for job in jobs if job.model == model]) for model in models
        )

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

    def _job(self, batch: Batch, request: Request) -> Job:
        key = self._key(batch.model, request)
        return self._jobs.setdefault(key, Job(key, batch.label, batch.model, request))

    def _key(self, model: str, request: Request) -> str:
        settings = self._settings(model)
        return request_key(model, base_url_of(model, settings), settings, request)

    def _settle(self, job: Job) -> Request | None:
        """Give the job its reply from the cache; else say which request is still to be made for it."""
        request, key, received = job.request, job.key, []
        for attempt in range(2):
            stored = self._cache.get(key)
            if stored is None:
                return request
            received.append(stored)
            job.received = tuple(received)
            reply = reply_of(request, stored)
            if reply.error is None or stored.body is None or attempt or request.tokens:
                job.reply = replace(reply, usage=self._usage(job), latency_s=job.seconds)
                return None
            request = ask_again(job.request, stored.body, reply.error)
            key = self._key(job.model, request)
        raise AssertionError("unreachable")

    def _call(self, open_jobs: list[Job], distinct: dict[str, Job]) -> None:
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
                check_model(wanted, self._settings(wanted))
            self._endpoints.setdefault(model, Endpoint(model, self._settings(model)))
        self._share(online)
        self._run([job for job in online if self._settings(job.model).mode == "batch"], online)
        for label in {job.label for job in distinct.values()} - {job.label for job in waiting}:
            clear_requests(self._workspace.requests, label)
        if waiting:
            raise self._missing(waiting)

    def _share(self, jobs: list[Job]) -> None:
        """Find what prompts to a model that caches what is marked have in common."""
        marked = [job for job in jobs if provider_of(job.model) == "anthropic"]
        lengths = shared_beginnings([job.request for job in marked])
        self._shared.update((job.key, length) for job, length in zip(marked, lengths, strict=True) if length)

    def _run(self, batched: list[Job], online: list[Job]) -> None:
        """Batches of each model in a thread of their own, and meanwhile the direct calls."""
        models = sorted({job.model for job in batched})
        pool = ThreadPoolExecutor(len(models) or 1, thread_name_prefix="batch")
        rounds = {model: [job for job in batched if job.model == model] for model in models}
        futures = [pool.submit(self._run_batches, model, jobs) for model, jobs in rounds.items()]
        direct = [job for job in online if job.model not in rounds]
        try:
            for local in (False, True):
                here = [job for job in direct if (provider_of(job.model) == "local") == local]
                self._run_pool(here, one_at_a_time=local)
            _first_error(futures)
        except BaseException:
            self._stop.set()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _run_batches(self, model: str, jobs: list[Job]) -> None:
        """A batch for each round: what does not fit is asked again in a further one, as in a direct call."""
        runner, failed = self._runner(model), dict[str, ProviderError]()
        while jobs:
            wanted: dict[str, Wanted] = {}
            left = []
            for job in jobs:
                request = self._settle(job)
                key = "" if request is None else self._key(model, request)
                if request is not None and key not in failed:
                    wanted[key] = self._wanted(runner, key, job, request)
                    left.append(job)
                    continue
                if request is not None:
                    job.reply = Reply(error=str(failed[key]), usage=self._usage(job))
                job.paid = True
                self._finish(job)
            jobs = left
            failed = runner.run(wanted) if wanted else {}

    def _runner(self, model: str) -> BatchRunner:
        if model not in self._runners:
            settings, base_url = self._settings(model), base_url_of(model, self._settings(model))
            desk = Desk(
                self._log,
                self._retrier,
                self._reach,
                self._budget,
                self._progress,
                self._stop,
                partial(self._keep, model),
                self._experiment.run.retries,
                settings.poll_s,
            )
            self._runners[model] = BatchRunner(model, base_url, batches_of(model, settings, base_url), desk)
        return self._runners[model]

    def _wanted(self, runner: BatchRunner, key: str, job: Job, request: Request) -> Wanted:
        text = json_line(runner.provider.line(key, request, self._shared.get(job.key, 0)))
        return Wanted(text, self._guess_usd(job.model, request, reply_tokens(job.label)) or 0.0)

    def _keep(self, model: str, key: str, body: Body) -> float:
        """Put a batch's reply into the cache; what it cost, 0 where that is not known."""
        stored = self._cache.get(key)
        if stored is None or stored.body is None:
            self._cache.put(key, body, None, f"received-{self._stage}")
        return cost_of(model, self._settings(model), body) or 0.0

    def _finish(self, job: Job) -> None:
        self._progress.advance("done" if job.done.error is None else "failed", self.spent_usd)

    def _run_pool(self, jobs: list[Job], *, one_at_a_time: bool) -> None:
        if not jobs:
            return
        limit = 1 if one_at_a_time else min(self._experiment.run.max_concurrency, len(jobs))
        pool = ThreadPoolExecutor(limit, thread_name_prefix="ask")
        beginnings = [beginning_of(job.request, self._shared.get(job.key, 0)) for job in jobs]
        futures = [pool.submit(self._work, jobs[at]) for at in in_turn(beginnings, limit)]
        for future in futures:
            future.add_done_callback(self._stop_after)
        try:
            _first_error(futures)
        except BaseException:
            self._stop.set()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _stop_after(self, future: Future[None]) -> None:
        """In the thread that failed, before it takes the next job: what is paid for then could not be kept either."""
        if not future.cancelled() and future.exception() is not None:
            self._stop.set()

    def _work(self, job: Job) -> None:
        while (request := self._settle(job)) is not None:
            if self._stop.is_set():
                return
            self._budget.claim(partial(self._guess_usd, job.model, request))
            cost = None
            try:
                body, latency_s = self._retrier.call(job.model, partial(self._timed, job, request))
                cost = cost_of(job.model, self._settings(job.model), body)
            except ProviderError as error:
                self._reach.check(job.model, error, self._n_asked[job.model])
                job.reply = Reply(error=str(error), usage=self._usage(job))
                break
            finally:
                self._budget.end(cost)
            job.paid = True
            key = job.key if request is job.request else self._key(job.model, request)
            self._cache.put(key, body, latency_s, f"received-{self._stage}")
        self._finish(job)

    def _timed(self, job: Job, request: Request) -> tuple[Body, float]:
        started = time.monotonic()
        body = self._endpoints[job.model].call(request, self._shared.get(job.key, 0))
        return body, round(time.monotonic() - started, 4)

    def _guess_usd(self, model: str, request: Request, reply_tokens: int = _SHORT_REPLY_TOKENS) -> float | None:
        settings, batch = self._settings(model), self._settings(model).mode == "batch"
        if cost_usd(model, settings, 1, 1) is None:
            return None
        tokens = sum(count_tokens(message.content) for message in request.messages)
        return cost_usd(model, settings, tokens, reply_tokens, batch=batch)

    def _missing(self, waiting: Sequence[Job]) -> RepliesMissing:
        rows: dict[str, list[tuple[str, str, Request]]] = {}
        for job in waiting:
            request = self._settle(job)
            if request is not None:
                rows.setdefault(job.label, []).append((self._key(job.model, request), job.model, request))
        settings = {job.model: self._settings(job.model) for job in waiting}
        files = write_requests(self._workspace.requests, rows, settings)
        models = ", ".join(sorted({job.model for job in waiting}))
        return RepliesMissing(
            f"{len(waiting)} requests to {models} wait for replies in {self._workspace.requests} "
            f"({len(files)} files, from {files[0].name}); put the replies (OpenAI's Batch output) into "
            f"{self._workspace.replies} or take them in with `ragassay replies FILE {self._workspace.corpus}`, "
            "then run again; or name in experiment.toml a model that can be called"
        )

    def _usage(self, job: Job) -> Usage:
        return usage_of_job(job, self._settings(job.model))


def _first_error(futures: Iterable[Future[None]]) -> None:
    done, _ = wait(futures, return_when=FIRST_EXCEPTION)
    for future in done:
        future.result()
