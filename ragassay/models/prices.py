"""What calls cost, from the genai-prices tables that the package carries; None where no price is known."""

from __future__ import annotations

from collections.abc import Mapping

from ..experiment.model_settings import ModelSettings, Price

BATCH_SHARE = 0.5
"""What a request in a batch costs of what a direct call does, at OpenAI and Anthropic."""


def cost_usd(
    model: str,
    settings: ModelSettings,
    input_tokens: int | None,
    output_tokens: int | None,
    cached_tokens: int = 0,
    written_tokens: int = 0,
    *,
    batch: bool = False,
) -> float | None:
    """US dollars for a call; 0.0 for a `local:` model, None for `file:`, an own server, or an unknown model.

    `cached_tokens` and `written_tokens`, both of `input_tokens`, were read from and written to the provider's prompt
    cache. `[models."…"] prices_usd_per_million = { input = …, output = … }` goes before the tables; its `cached_input`
    and `cache_write` are the input's where they are not given. A `batch` costs half.
    """
    if input_tokens is None or output_tokens is None:
        return None
    provider, name = model.split(":", 1)
    cost: float | None = None
    if settings.prices_usd_per_million:
        cost = _own(settings.prices_usd_per_million, input_tokens, output_tokens, cached_tokens, written_tokens)
    elif provider == "local":
        cost = 0.0
    elif provider in {"openai", "anthropic"} and not settings.base_url:
        cost = _listed(provider, name, input_tokens, output_tokens, cached_tokens, written_tokens)
    return cost * BATCH_SHARE if cost is not None and batch else cost


def served_cost_usd(
    model: str, settings: ModelSettings, input_tokens: int | None, searches: int | None
) -> float | None:
    """US dollars for a call of a server that embeds or reranks, by its tokens, its searches, or both; None as above."""
    prices = settings.prices_usd_per_million or {}
    if "search" not in prices:
        return cost_usd(model, settings, input_tokens, 0)
    if searches is None or ("input" in prices and input_tokens is None):
        return None
    return (searches * prices["search"] + (input_tokens or 0) * prices.get("input", 0.0)) / 1e6


def _own(prices: Mapping[Price, float], inputs: int, outputs: int, cached: int, written: int) -> float:
    of_input = prices.get("input", 0.0)
    plain = inputs - cached - written
    parts = plain * of_input + outputs * prices.get("output", 0.0)
    return (parts + cached * prices.get("cached_input", of_input) + written * prices.get("cache_write", of_input)) / 1e6


def _listed(provider: str, name: str, inputs: int, outputs: int, cached: int, written: int) -> float | None:
    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=inputs, output_tokens=outputs, cache_read_tokens=cached, cache_write_tokens=written or None
    )
    try:
        return float(calc_price(usage, model_ref=name, provider_id=provider).total_price)
    except (LookupError, ValueError):
        return None
