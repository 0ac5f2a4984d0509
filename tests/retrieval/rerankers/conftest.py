"""A workspace whose models are servers on loopback, and three passages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.results_folder import experiment, results_folder

from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.experiment.workspace import Workspace
from ragassay.records import Passage

DELAY = Passage(_id="p1", text="the header util delay declares the wait")
BUSY = Passage(_id="p2", text="a busy wait keeps the processor")
SEI = Passage(_id="p3", text="interrupts are on by sei")


@pytest.fixture
def three() -> list[Passage]:
    return [SEI, BUSY, DELAY]


@pytest.fixture
def open_folder(tmp_path: Path) -> Callable[..., tuple[Workspace, Caller]]:
    def make(model: str = "rerank:tiny", run: dict | None = None, **table: object) -> tuple[Workspace, Caller]:
        given = experiment("file:any", run={"retries": 1, "max_concurrency": 2, **(run or {})})
        settings = experiment("file:any").settings_of(model).model_copy(update={"timeout_s": 5.0, **table})
        workspace = results_folder(tmp_path, given.model_copy(update={"models": {model: settings}}))
        return workspace, Caller(workspace, "screen", ReplyCache(workspace.replies), retry_after_cap_s=0.05)

    return make
