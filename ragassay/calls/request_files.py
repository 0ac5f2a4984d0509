"""Requests as OpenAI's Batch input, for models that stand behind a wall, a batch queue or a person (`file:NAME`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import RepliesMissing
from ..experiment.model_settings import ModelSettings
from ..experiment.workspace import Workspace
from ..files import json_line, write_text
from ..models.requests import Request, response_format
from .job import Job
from .register import Register


def input_line(key: str, model: str, settings: ModelSettings, request: Request) -> dict[str, Any]:
    """One line of OpenAI's Batch input; `custom_id` is the cache key."""
    body: dict[str, Any] = {
        "model": model.split(":", 1)[1],
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
    }
    if (temperature := request.temperature_by(settings)) is not None:
        body["temperature"] = temperature
    body |= settings.sampling(request.sample)
    if settings.max_tokens is not None:
        body["max_tokens"] = settings.max_tokens
    if request.schema:
        body["response_format"] = response_format(request)
    return {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}


def hand_out(workspace: Workspace, register: Register, waiting: Sequence[Job]) -> RepliesMissing:
    """Write the requests of jobs whose models are answered through files; the error that says so."""
    rows: dict[str, list[tuple[str, str, Request]]] = {}
    for job in waiting:
        request = register.settle(job)
        if request is not None:
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
            path = folder / f"{label}-{number:04d}.jsonl"
            lines = (
                input_line(key, model, settings[model], request) for key, model, request in rows[start : start + size]
            )
            write_text(path, "".join(map(json_line, lines)))
            written.append(path)
    return written
