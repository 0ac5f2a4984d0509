"""What calls take: tokens, seconds and US dollars, of one request and of a whole stage, and what one may come to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..experiment.model_settings import ModelSettings
from ..models.prices import cost_usd
from ..models.requests import REFUSED, Body, Request, came_by_batch, usage_of
from ..records import StageUsage, Usage
from ..tokens import count_tokens
from .job import Job

_SHORT_REPLY_TOKENS = 100


def cost_of(model: str, settings: ModelSettings, body: Body) -> float | None:
    """US dollars for a reply; half where it came through a batch API."""
    return cost_usd(model, settings, *usage_of(body), batch=came_by_batch(body))


def guess_usd(
    model: str, settings: ModelSettings, request: Request, reply_tokens: int = _SHORT_REPLY_TOKENS
) -> float | None:
    """US dollars that a call may come to, with a reply of so many tokens; None where the model's prices are unknown."""
    if cost_usd(model, settings, 1, 1) is None:
        return None
    tokens = sum(count_tokens(message.content) for message in request.messages) + count_tokens(request.continuation)
    return cost_usd(model, settings, tokens, reply_tokens, batch=settings.mode == "batch")


def usage_of_job(job: Job, settings: ModelSettings) -> Usage:
    """What all replies to a request took together."""
    if not job.bodies:
        return Usage()
    counts = [usage_of(body) for body in job.bodies]
    return Usage(
        input_tokens=_sum_int(count.input for count in counts),
        output_tokens=_sum_int(count.output for count in counts),
        cost_usd=_sum(cost_of(job.model, settings, body) for body in job.bodies),
    )


def seconds_of(job: Job) -> float | None:
    """How long the replies took together; None where one of them was not measured."""
    total = _sum(stored.latency_s for stored in job.received)
    return None if total is None else round(total, 4)


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
        input_tokens=_known_sum_int([usage.input_tokens for usage in measured]),
        output_tokens=_known_sum_int([usage.output_tokens for usage in measured]),
        cost_usd=_known_sum([usage.cost_usd for usage in measured]),
        n_refused=sum(error.startswith(REFUSED) for error in errors),
        cached_tokens=_known_sum_int([count.cached for count in tokens if count.input is not None]),
        cache_write_tokens=_known_sum_int([count.written for count in tokens if count.input is not None]),
    )


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
