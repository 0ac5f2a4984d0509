"""The register of a stage: every distinct request it asks, and what of their replies is at hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from ..errors import ProviderError, RepliesMissing
from ..experiment.settings import Experiment
from ..experiment.tables import ModelSettings
from ..experiment.workspace import Workspace
from ..files import json_line, write_text
from ..models.endpoint import base_url_of
from ..models.providers import cost_usd
from ..models.requests import (
    REFUSED,
    TOP_LOGPROBS,
    Batch,
    Body,
    Reply,
    Request,
    ask_again,
    came_by_batch,
    read_reply,
    request_key,
    response_format,
    usage_of,
)
from ..prompts import count_tokens
from ..records import StageUsage, Usage, grouped
from .reply_cache import ReplyCache, Stored

N = TypeVar("N", int, float)


@dataclass
class Job:
    """A request: where it stands and, at the end, its reply.

    shared: how many characters of its first user message others begin with too.
    """

    key: str
    label: str
    model: str
    request: Request
    reply: Reply | None = None
    received: tuple[Stored, ...] = ()
    paid: bool = False
    shared: int = 0

    @property
    def done(self) -> Reply:
        """The reply, or the error that there is none."""
        return Reply(error="stopped before it was asked") if self.reply is None else self.reply

    @property
    def bodies(self) -> list[Body]:
        """What was received, errors left out."""
        return [stored.body for stored in self.received if stored.body is not None]

    @property
    def recorded(self) -> bool:
        """Whether any of it came with the corpus."""
        return any(stored.recorded for stored in self.received)


def reply_of(request: Request, stored: Stored) -> Reply:
    """A stored reply as the stage gets it."""
    return read_reply(request, stored.body) if stored.body is not None else Reply(error=stored.error)


def cost_of(model: str, settings: ModelSettings, body: Body) -> float | None:
    """US dollars for a reply; half where it came through a batch API."""
    return cost_usd(model, settings, *usage_of(body), batch=came_by_batch(body))


def guess_usd(model: str, settings: ModelSettings, request: Request, reply_tokens: int = 100) -> float | None:
    """US dollars that a call may come to, with a reply of so many tokens; None where the model's prices are unknown."""
    if cost_usd(model, settings, 1, 1) is None:
        return None
    tokens = sum(count_tokens(message.content) for message in request.messages) + count_tokens(request.continuation)
    return cost_usd(model, settings, tokens, reply_tokens, batch=settings.mode == "batch")


def usage_of_job(job: Job, settings: ModelSettings) -> Usage:
    """What all replies to a request took together."""
    counts = [usage_of(body) for body in job.bodies]
    return Usage(
        input_tokens=_sum(count.input for count in counts),
        output_tokens=_sum(count.output for count in counts),
        cost_usd=_sum(cost_of(job.model, settings, body) for body in job.bodies),
    )


def usage_of_stage(stage: str, model: str, jobs: Sequence[Job]) -> StageUsage:
    """What a stage took of one model; `jobs` are its requests to it."""
    replied = [job for job in jobs if job.reply is not None]
    measured = [job.done.usage for job in replied]
    errors = [job.done.error for job in replied if job.done.error is not None]
    tokens = [usage_of(body) for job in jobs for body in job.bodies]
    return StageUsage(
        stage=stage,
        model=model,
        calls=sum(len(job.received) or 1 for job in jobs),
        n_failed=len(errors),
        n_unmeasured=sum(usage.cost_usd is None for usage in measured),
        input_tokens=known_sum(usage.input_tokens for usage in measured),
        output_tokens=known_sum(usage.output_tokens for usage in measured),
        cost_usd=known_sum(usage.cost_usd for usage in measured),
        n_refused=sum(error.startswith(REFUSED) for error in errors),
        cached_tokens=known_sum(count.cached for count in tokens if count.input is not None),
        cache_write_tokens=known_sum(count.written for count in tokens if count.input is not None),
    )


def _sum(values: Iterable[N | None]) -> N | None:
    """The sum, or None where any part of it is not known."""
    parts = list(values)
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None


def known_sum(values: Iterable[N | None]) -> N | None:
    """The sum of what is known, to six places; None where nothing is."""
    known = [value for value in values if value is not None]
    return round(sum(known), 6) if known else None


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
        keyed = [(self.key(batch.model, request), request) for request in batch.requests]
        return [self._jobs.setdefault(key, Job(key, batch.label, batch.model, request)) for key, request in keyed]

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
                seconds = _sum(stored.latency_s for stored in received)
                latency_s = None if seconds is None else round(seconds, 4)
                job.reply = replace(reply, usage=usage_of_job(job, self.settings(job.model)), latency_s=latency_s)
                return None
            request = ask_again(job.request, stored.body, reply.error)
            key = self.key(job.model, request)
        raise AssertionError("unreachable")

    def give_up(self, job: Job, error: ProviderError) -> None:
        """The job gets no reply but this error."""
        job.reply = Reply(error=str(error), usage=usage_of_job(job, self.settings(job.model)))

    def body(self, key: str) -> Body | None:
        """What was received under a key."""
        stored = self._cache.get(key)
        return stored.body if stored is not None else None

    def keep(self, key: str, body: Body, latency_s: float | None) -> None:
        """Put a reply that was received into the cache; `latency_s` is None where it was not measured."""
        self._cache.put(key, body, latency_s, f"received-{self._stage}")

    @property
    def all_failed(self) -> int:
        """How many requests the stage has asked, where not one of them has a reply that can be used; else 0."""
        return len(self._jobs) if all(job.done.error is not None for job in self._jobs.values()) else 0

    @property
    def commonest_error(self) -> str | None:
        """What most of the requests that failed failed by; None where none did. Untrusted text."""
        errors = Counter(job.done.error for job in self._jobs.values() if job.done.error is not None)
        return errors.most_common(1)[0][0] if errors else None

    def usage(self) -> tuple[StageUsage, ...]:
        """What the stage took of each model, replies from the cache included: the same whenever it is run."""
        by_model = grouped((job.model, job) for job in self._jobs.values())
        return tuple(usage_of_stage(self._stage, model, jobs) for model, jobs in sorted(by_model.items()))


def input_line(
    key: str, model: str, settings: ModelSettings, request: Request, limit: str = "max_tokens"
) -> dict[str, Any]:
    """One line of OpenAI's Batch input; `custom_id` is the cache key. limit: what the longest reply is called there."""
    body: dict[str, Any] = {
        "model": model.split(":", 1)[1],
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
    }
    if (temperature := request.temperature_by(settings)) is not None:
        body["temperature"] = temperature
    body |= settings.sampling(request.sample)
    longest = 1 if request.tokens else settings.max_tokens
    if longest is not None:
        body[limit] = longest
    if request.tokens:
        body |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
    if request.schema:
        body["response_format"] = response_format(request)
    return {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}


def hand_out(workspace: Workspace, register: Register, waiting: Sequence[Job]) -> RepliesMissing:
    """Write the requests of jobs whose models are answered through files; the error that says so."""
    rows: dict[str, list[tuple[str, str, Request]]] = {}
    for job in waiting:
        if (request := register.settle(job)) is not None:
            rows.setdefault(job.label, []).append((register.key(job.model, request), job.model, request))
    settings = {job.model: register.settings(job.model) for job in waiting}
    files = write_requests(workspace.requests, rows, settings)
    models = ", ".join(sorted({job.model for job in waiting}))
    return RepliesMissing(
        f"{len(waiting)} requests to {models} wait for replies in {workspace.requests} "
        f"({len(files)} files, from {files[0].name}); put the replies (OpenAI's Batch output) into "
        f"{workspace.replies} or take them in with `ragassay replies FILE {workspace.corpus}`, "
        "then run again; or name in experiment.toml a model that can be called"
    )


def clear_requests(folder: Path, label: str) -> None:
    """Remove the label's request files, whose replies are all there."""
    for stale in folder.glob(f"{label}-[0-9][0-9][0-9][0-9].jsonl"):
        stale.unlink()


def write_requests(
    folder: Path, missing: Mapping[str, Sequence[tuple[str, str, Request]]], settings: Mapping[str, ModelSettings]
) -> list[Path]:
    """Write (key, model, request) by label to `LABEL-0001.jsonl`, … and remove the label's older files.

    Two labels never share a file: that is how the two orders of a game and the repeats of a request are kept apart.
    Within a label they stand in the order of their keys, which is as good as shuffled: whoever answers one file then
    meets every agent alike, and the manner of one sitting does not become the manner of one agent.
    """
    written = []
    for label, unsorted in missing.items():
        clear_requests(folder, label)
        rows = sorted(unsorted, key=lambda row: row[0])
        size = min(settings[model].requests_per_file for _, model, _ in rows)
        for number, start in enumerate(range(0, len(rows), size), 1):
            part = rows[start : start + size]
            lines = (input_line(key, model, settings[model], request) for key, model, request in part)
            written.append(folder / f"{label}-{number:04d}.jsonl")
            write_text(written[-1], "".join(map(json_line, lines)))
    return written
