"""Questions put through a batch API: what the tests of batch mode ask."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict
from support.results_folder import experiment, results_folder

from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.models.requests import Batch, Reply, Request
from ragassay.progress import Progress
from ragassay.prompts import Message


class Grade(BaseModel):
    model_config = ConfigDict(extra="forbid")
    reason: str
    label: Literal[0, 1, 2]


def request(text: str, **fields: object) -> Request:
    return Request((Message("system", "Grade."), Message("user", text)), **{"schema": Grade, **fields})  # type: ignore[arg-type]


def make_caller(
    folder: Path,
    model: str,
    base_url: str,
    mode: str = "batch",
    progress: Progress | None = None,
    prices: dict[str, float] | None = None,
    more: Mapping[str, object] | None = None,
    **run: object,
) -> Caller:
    """A stage's caller on `folder`; 1,000 dollars for a million tokens. more: other settings of the model."""
    settings = {
        "base_url": base_url,
        "timeout_s": 2.0,
        "prices_usd_per_million": prices or {"input": 1000.0, "output": 1000.0},
        "mode": mode,
        "poll_s": 0.01,
        "max_tokens": 500,
        **(more or {}),
    }
    run = {"retries": 2, "max_cost_usd": None, **run}
    workspace = results_folder(folder, experiment(model, run=run, models={model: settings}))
    return Caller(workspace, "judge", ReplyCache(workspace.replies), progress, retry_after_cap_s=0.01)


def ask(caller: Caller, model: str, n: int) -> list[Reply]:
    """Grades of `n` texts."""
    return caller.ask([Batch("relevance", model, tuple(request(f"text {at}") for at in range(n)))])[0]
