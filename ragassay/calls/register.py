"""The register of a stage: every distinct request it asks, and what of their replies is at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import ProviderError
from ..experiment.model_settings import ModelSettings
from ..experiment.settings import Experiment
from ..models.endpoint import base_url_of
from ..models.requests import Batch, Body, Reply, Request, ask_again, request_key
from ..records import StageUsage
from .job import Job, reply_of
from .reply_cache import ReplyCache
from .usage import seconds_of, usage_of_job, usage_of_stage


class Register:
    """The requests of one stage, each once, by their keys; replies come from `cache` and are put there."""

    def __init__(self, experiment: Experiment, stage: str, cache: ReplyCache) -> None:
        self.experiment = experiment
        self._stage, self._cache = stage, cache
        self._jobs: dict[str, Job] = {}

    def settings(self, model: str) -> ModelSettings:
        """The model's table of the experiment."""
        return self.experiment.settings_of(model)

    def key(self, model: str, request: Request) -> str:
        """The cache key of a request to a model."""
        settings = self.settings(model)
        return request_key(model, base_url_of(model, settings), settings, request)

    def jobs(self, batch: Batch) -> list[Job]:
        """A job for each request of a batch, in its order; equal requests share one."""
        return [self._job(batch, request) for request in batch.requests]

    def missing(self, batches: Sequence[Batch]) -> set[str]:
        """The keys of the requests whose replies are not at hand yet."""
        jobs = [job for batch in batches for job in self.jobs(batch)]
        return {job.key for job in jobs if job.reply is None and self.settle(job) is not None}

    def settle(self, job: Job) -> Request | None:
        """Give the job its reply from the cache; else say which request is still to be made for it."""
        request, key, received = job.request, job.key, []
        for attempt in range(2):
            stored = self._cache.get(key)
            if stored is None:
                return request
            received.append(stored)
            job.received = tuple(received)
            reply = reply_of(request, stored)
            if reply.error is None or stored.body is None or attempt or request.tokens or request.continuation:
                job.reply = replace(reply, usage=usage_of_job(job, self.settings(job.model)), latency_s=seconds_of(job))
                return None
            request = ask_again(job.request, stored.body, reply.error)
            key = self.key(job.model, request)
        raise AssertionError("unreachable")

    def give_up(self, job: Job, error: ProviderError) -> None:
        """The job gets no reply but this error."""
        job.reply = Reply(error=str(error), usage=usage_of_job(job, self.settings(job.model)))

    def has(self, key: str) -> bool:
        """Whether a reply that is no error is at hand."""
        return self.body(key) is not None

    def body(self, key: str) -> Body | None:
        """What was received under a key."""
        stored = self._cache.get(key)
        return stored.body if stored is not None else None

    def keep(self, key: str, body: Body, latency_s: float | None) -> None:
        """Put a reply that was received into the cache; `latency_s` is None where it was not measured."""
        self._cache.put(key, body, latency_s, f"received-{self._stage}")

    @property
    def all_failed(self) -> int:
        """The number of requests where every one came to an error, else 0."""
        return len(self._jobs) if all(job.done.error is not None for job in self._jobs.values()) else 0

    def usage(self) -> tuple[StageUsage, ...]:
        """What the stage took of each model, replies from the cache included: the same whenever it is run."""
        models = sorted({job.model for job in self._jobs.values()})
        jobs = self._jobs.values()
        return tuple(
            usage_of_stage(self._stage, model, [job for job in jobs if job.model == model]) for model in models
        )

    def _job(self, batch: Batch, request: Request) -> Job:
        key = self.key(batch.model, request)
        return self._jobs.setdefault(key, Job(key, batch.label, batch.model, request))
