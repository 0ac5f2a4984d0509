"""What the tests of the RAG triad share: settings in a file, what was asked, and the replies of a grader."""

from __future__ import annotations

import json
from typing import Any

from support.judge_bench import Bench
from support.loopback.behaviours import Behaviour, reply


def settings(bench: Bench, name: str, *lines: str) -> tuple[str, str]:
    """--config with a file whose `[evaluate.settings.NAME]` holds these lines."""
    return bench.config(f"[evaluate.settings.{name}]", *lines)


def graded(label: int, reason: str = "So it is.", **more: Any) -> Behaviour:
    """A reason and a label, after whatever else stands first."""
    return reply(json.dumps(more | {"reason": reason, "label": label}))


def system(body: dict[str, Any]) -> str:
    """The instructions of a request."""
    return str(body["messages"][0]["content"])


def user(body: dict[str, Any]) -> str:
    """What a request lays before the model."""
    return str(body["messages"][1]["content"])


def schema(body: dict[str, Any]) -> dict[str, Any]:
    """The schema of the reply that a request asks for."""
    wanted: dict[str, Any] = body["response_format"]["json_schema"]["schema"]
    return wanted
