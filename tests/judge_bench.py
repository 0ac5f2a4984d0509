"""A server that answers evaluators over HTTP, and `ragassay judge` on three answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from loopback.behaviours import reply
from loopback.server import ScriptedServer
from schema_replies import reply_to

from ragassay.cli import main
from ragassay.files import read_records
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


@dataclass
class Bench:
    """`judge(...)` runs the command line on the files of `folder` against a server, and gives the judgments."""

    folder: Path
    server: Any
    status: int | None = None

    def judge(self, names: str, *more: str, answers: list[dict[str, Any]] | None = None) -> list[Assessment]:
        files = {"answers": answers or ANSWERS, "passages": PASSAGES, "queries": QUERIES}
        for name, rows in files.items():
            (self.folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        options = [part for name in files for part in (f"--{name}", str(self.folder / f"{name}.jsonl"))]
        out = self.folder / "judgments.jsonl"
        model = ["--model", "openai:judge", "--base-url", self.server.base_url]
        self.status = main(["judge", *options, *model, "--with", names, "--out", str(out), *more])
        return read_records(out, Assessment) if out.exists() else []


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A bench whose server replies with whatever fits the schema; set `bench.server.script` for other replies."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key-000")
    with ScriptedServer("openai", lambda number, body: reply(reply_to(body))) as server:
        yield Bench(tmp_path, server)
