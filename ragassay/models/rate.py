"""How many requests a minute go to a model."""

from __future__ import annotations

from typing import Any

from ..experiment.model_settings import ModelSettings


def rate_limiter(settings: ModelSettings) -> Any:
    """What keeps a model's requests_per_minute, for several threads; None where it is not set."""
    from langchain_core.rate_limiters import InMemoryRateLimiter

    if settings.requests_per_minute is None:
        return None
    per_second = settings.requests_per_minute / 60
    return InMemoryRateLimiter(
        requests_per_second=per_second, check_every_n_seconds=min(0.1, 0.5 / per_second), max_bucket_size=1
    )
