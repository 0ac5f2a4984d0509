"""How long the calls of a plan take: what earlier calls of a model took, or else what is assumed of any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragassay.experiment.settings import Experiment

START_S, TOKENS_PER_S = 1.0, 50.0
"""Assumed of a call to a server: until it begins to write, and how fast it writes."""
LOCAL_READ_PER_S, LOCAL_TOKENS_PER_S = 200.0, 20.0
"""Assumed of a `local:` model, which takes one call at a time: tokens a second read, and written."""


@dataclass(frozen=True)
class Pace:
    """`measured` is the median seconds of a call by model, of those models that have answered in this experiment."""

    experiment: Experiment
    measured: Mapping[str, float]

    def seconds(self, model: str, calls: int, input_tokens: int, output_tokens: int) -> float | None:
        """An estimate for so many calls, which have these tokens together; None for files and batches.

        Calls in flight are those of `max_concurrency`, and `requests_per_minute` is kept.
        """
        settings, provider = self.experiment.settings_of(model), model.partition(":")[0]
        if not calls:
            return 0.0
        if provider == "file" or settings.mode == "batch":
            return None
        work = self._work(model, provider, calls, input_tokens, output_tokens)
        in_flight = 1 if provider == "local" else min(calls, self.experiment.run.max_concurrency)
        per_minute = settings.requests_per_minute
        return max(work / in_flight, calls * 60 / per_minute if per_minute else 0.0)

    def basis(self, models: Sequence[str]) -> str:
        """What the estimates for these models rest on, in words."""
        parts = [f"up to {self.experiment.run.max_concurrency} calls at once, requests_per_minute where it is set"]
        measured = [f"{model} {self.measured[model]:.1f} s a call" for model in models if model in self.measured]
        parts += [f"as it was before: {', '.join(measured)}"] if measured else []
        assumed = {model.partition(":")[0] for model in models if model not in self.measured}
        if assumed - {"local"}:
            parts.append(f"assumed: {START_S:g} s a call and {TOKENS_PER_S:g} tokens/s")
        if "local" in assumed:
            rates = f"{LOCAL_READ_PER_S:g} tokens/s read and {LOCAL_TOKENS_PER_S:g} written"
            parts.append(f"assumed of a model on this machine: {rates}, one call at a time")
        return "; ".join(parts)

    def _work(self, model: str, provider: str, calls: int, input_tokens: int, output_tokens: int) -> float:
        """Seconds, were one call made after the other."""
        if model in self.measured:
            return calls * self.measured[model]
        if provider == "local":
            return input_tokens / LOCAL_READ_PER_S + output_tokens / LOCAL_TOKENS_PER_S
        return calls * START_S + output_tokens / TOKENS_PER_S


def in_words(seconds: float | None) -> str:
    """Such as `40 s`, `12 min`, `3.5 h`; `unknown` for None."""
    if seconds is None:
        return "unknown"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
