"""A server that answers evaluators over HTTP, and `ragassay judge` on three answers."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import write_lines
from support.loopback.behaviours import Behaviour, reply
from support.loopback.openai_server import CHAT_PATH, completion
from support.loopback.server import Received, ScriptedServer

from ragassay.cli import main
from ragassay.files import read_records
from ragassay.models.endpoint import Endpoint
from ragassay.records import Assessment

PASSAGES = [
    {"_id": "p1", "title": "delay", "text": "The header util/delay.h declares _delay_ms(), which waits busily."},
    {"_id": "p2", "title": "delay", "text": "A busy wait keeps the processor occupied."},
    {"_id": "p3", "title": "interrupts", "text": "Interrupts are enabled by sei()."},
]
QUERIES = [
    {"_id": "q1", "text": "Which header has _delay_ms()?", "metadata": {"expected_response": "util/delay.h"}},
    {"_id": "q2", "text": "How are interrupts enabled?", "metadata": {"expected_response": "By calling sei()."}},
]
ANSWERS = [
    {"query_id": "q1", "agent": "ours", "answer": "It is in util/delay.h [1].", "passages": ["p1", "p2"]},
    {"query_id": "q2", "agent": "ours", "answer": "By sei() [1]. It is a macro.", "passages": ["p3"]},
]


_BEST = ("claim", "yes", "support", "vital", "full", "entailed")


def kind_reply(body: dict[str, Any]) -> str:
    """A reply that fits what the request shows: a row for each numbered item, and the best label of every scale."""
    schema = body["response_format"]["json_schema"]["schema"]
    items = re.findall(r'<(?:sentence|nugget|claim) number="(\d+)">', body["messages"][1]["content"])
    return json.dumps(_kindly(schema, schema.get("$defs", {}), items))


def _kindly(schema: dict[str, Any], definitions: dict[str, Any], items: list[str]) -> Any:
    if "$ref" in schema:
        return _kindly(definitions[schema["$ref"].split("/")[-1]], definitions, items)
    if "enum" in schema:
        return next((label for label in _BEST if label in schema["enum"]), schema["enum"][-1])
    if "const" in schema:
        return schema["const"]
    if schema.get("type") == "object":
        return {name: _kindly(part, definitions, items) for name, part in schema["properties"].items()}
    if schema.get("type") == "array":
        rows = [_kindly(schema["items"], definitions, items) for _ in items or "x"]
        for row, number in zip(rows, items, strict=False):
            if isinstance(row, dict) and "number" in row:
                row["number"] = int(number)
        return rows
    return 1 if schema.get("type") == "integer" else "util/delay.h declares _delay_ms()"


@dataclass
class Bench:
    """`judge(...)` runs the command line on the files of `folder` against a server, and gives the judgments."""

    folder: Path
    server: Any
    status: int | None = None

    def config(self, *lines: str) -> tuple[str, str]:
        """--config with an experiment on the user's own questions, judged by this server's model, and these lines."""
        models = f'[models."openai:judge"]\nbase_url = "{self.server.base_url}"'
        tables = ['[questions]\nsource = "own"', *(f'[{name}]\nmodel = "openai:judge"' for name in ("answer", "judge"))]
        path = self.folder / "experiment.toml"
        path.write_text("\n".join([*tables, models, *lines, ""]))
        return "--config", str(path)

    def judge(self, names: str, *more: str, answers: list[dict[str, Any]] | None = None) -> list[Assessment]:
        files = {"answers": answers or ANSWERS, "passages": PASSAGES, "queries": QUERIES}
        for name, rows in files.items():
            write_lines(self.folder / f"{name}.jsonl", rows)
        options = [part for name in files for part in (f"--{name}", str(self.folder / f"{name}.jsonl"))]
        out = self.folder / "judgments.jsonl"
        model = ["--model", "openai:judge", "--base-url", self.server.base_url]
        self.status = main(["judge", *options, *model, "--with", names, "--out", str(out), *more])
        return read_records(out, Assessment) if out.exists() else []


class AtHand:
    """Answers as ScriptedServer does, in place of the provider's client: nothing goes over a socket."""

    base_url = "http://127.0.0.1:9/v1"

    def __init__(self, script: Callable[[int, dict[str, Any]], Behaviour]) -> None:
        self.script = script
        self.requests: list[Received] = []
        self._lock = threading.Lock()

    def completion(self, messages: Iterable[tuple[str, str]], options: dict[str, Any]) -> dict[str, Any]:
        body = {"messages": [{"role": role, "content": content} for role, content in messages]}
        body |= {name: value for name, value in options.items() if name != "extra_body"} | options.get("extra_body", {})
        with self._lock:
            number = len(self.requests)
            self.requests.append(Received(number, CHAT_PATH, {}, body))
        return completion(self.script(number, body), body)


@pytest.fixture(name="bench")
def bench_at_hand(tmp_path, monkeypatch):
    """The same without HTTP, for tests of what is asked and what is made of the replies."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key-000")
    server = AtHand(lambda number, body: reply(kind_reply(body)))
    monkeypatch.setattr(Endpoint, "chat", lambda endpoint: server)
    return Bench(tmp_path, server)


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A bench whose server replies with whatever fits the schema; set `bench.server.script` for other replies."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key-000")
    with ScriptedServer("openai", lambda number, body: reply(kind_reply(body))) as server:
        yield Bench(tmp_path, server)
