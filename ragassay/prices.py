"""What calls cost, from the genai-prices tables that the package carries; None where no price is known."""

from __future__ import annotations

from ragassay.config import ModelSettings


def cost_usd(
    model: str, settings: ModelSettings, input_tokens: int | None, output_tokens: int | None, cached_tokens: int = 0
) -> float | None:
    """US dollars for a call; 0.0 for a `local:` model, None for `file:`, an own server, or an unknown model.

    `[models."…"] prices_usd_per_million = { input = …, output = … }` goes before the tables.
    """
    if input_tokens is None or output_tokens is None:
        return None
    provider, name = model.split(":", 1)
    if own := settings.prices_usd_per_million:
        return (input_tokens * own.get("input", 0.0) + output_tokens * own.get("output", 0.0)) / 1e6
    if provider == "local":
        return 0.0
    if provider not in {"openai", "anthropic"} or settings.base_url:
        return None
    return _listed(provider, name, input_tokens, output_tokens, cached_tokens)


def _listed(provider: str, name: str, input_tokens: int, output_tokens: int, cached_tokens: int) -> float | None:
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=cached_tokens)
    try:
        return float(calc_price(usage, model_ref=name, provider_id=provider).total_price)
    except (LookupError, ValueError):
        return None
