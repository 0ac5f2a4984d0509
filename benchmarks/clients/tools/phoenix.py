"""Phoenix: its server on loopback takes our spans, and gives its own back as its client has them."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen


@contextmanager
def _client(folder: Path) -> Iterator[Any]:
    """The client of a server that keeps what it has in the folder."""
    from phoenix.client import Client

    def free() -> str:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            return str(one.getsockname()[1])

    (folder / "phoenix").mkdir()
    told = {"PHOENIX_HOST": "127.0.0.1", "PHOENIX_PORT": free(), "PHOENIX_GRPC_PORT": free()}
    told |= {"PHOENIX_WORKING_DIR": str(folder / "phoenix"), "PHOENIX_TELEMETRY_ENABLED": "false"}
    command = [str(Path(sys.executable).with_name("phoenix")), "serve"]
    server = subprocess.Popen(command, env={**os.environ, **told}, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{told['PHOENIX_PORT']}"
    try:
        for _ in range(240):
            try:
                urlopen(f"{address}/healthz", timeout=5).close()  # noqa: S310
                break
            except (URLError, OSError):
                time.sleep(0.5)
        yield Client(base_url=address)
    finally:
        server.kill()
        server.wait()


def _waited(client: Any, project: str, n: int) -> list[dict[str, Any]]:
    """The spans of a project, when all are there."""
    found: list[dict[str, Any]] = []
    for _ in range(120):
        try:
            found = list(client.spans.get_spans(project_identifier=project, limit=10_000))
        except Exception:  # noqa: BLE001 - until the first is taken there is no such project
            found = []
        if len(found) >= n:
            return found
        time.sleep(0.5)
    return found


def write_spans(folder: Path, rows: list[dict[str, Any]]) -> None:
    from datetime import UTC, datetime, timedelta

    begin, made = datetime(2026, 1, 2, tzinfo=UTC), []
    for n, row in enumerate(rows, 1):
        end = begin + timedelta(seconds=row["latency_s"])

        def span(id: int, kind: str, n: int = n, end: datetime = end, **more: Any) -> dict[str, Any]:
            parent = None if kind == "CHAIN" else f"{16 * n:016x}"
            context = {"trace_id": f"{n:032x}", "span_id": f"{16 * n + id:016x}"}
            times = {"start_time": begin.isoformat(), "end_time": end.isoformat()}
            told = {"name": kind, "context": context, "span_kind": kind, "parent_id": parent, "status_code": "OK"}
            return {**told, **times, "attributes": more}

        documents = {f"retrieval.documents.{i}.document.content": text for i, text in enumerate(row["contexts"])}
        tokens = {"prompt": row["input_tokens"], "completion": row["output_tokens"]}
        made.append(span(0, "CHAIN", **{"input.value": row["query"], "output.value": row["answer"]}))
        made.append(span(1, "RETRIEVER", **{"input.value": row["query"]}, **documents))
        made.append(span(2, "LLM", **{f"llm.token_count.{name}": count for name, count in tokens.items()}))
    with _client(folder) as client:
        client.spans.log_spans(project_identifier="theirs", spans=made)
        found = _waited(client, "theirs", len(made))
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found)
    (folder / "theirs.jsonl").write_text(text, encoding="utf-8")


def read_spans(folder: Path) -> dict[str, Any]:
    found = {}
    with _client(folder) as client:
        for path in sorted(folder.glob("*.jsonl")):
            spans = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            client.spans.log_spans(project_identifier=path.stem, spans=spans)
            found[path.stem] = _rows(_waited(client, path.stem, len(spans)))
    return found


def _rows(spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Query, answer, passages, tokens of each trace, from the attributes that Phoenix has."""
    rows: dict[str, dict[str, Any]] = {}
    for span in spans:
        row = rows.setdefault(span["context"]["trace_id"], {"contexts": [], "input_tokens": None})
        told, kind = span["attributes"], span["span_kind"]
        if kind == "CHAIN":
            row |= {"query": _text(told, "input", "query"), "answer": _text(told, "output", "answer")}
        elif kind == "RETRIEVER":
            names = sorted((n for n in told if n.endswith("document.content")), key=lambda n: int(n.split(".")[2]))
            row["contexts"] = [told[name] for name in names]
        else:
            row["input_tokens"] = told.get("llm.token_count.prompt")
    return sorted(rows.values(), key=lambda row: str(row["query"]))


def _text(told: dict[str, Any], side: str, name: str) -> Any:
    value = told.get(f"{side}.value")
    return json.loads(value)[name] if told.get(f"{side}.mime_type") == "application/json" else value


WRITES = {"write_spans": ("phoenix", "query answer contexts latency_s input_tokens output_tokens")}
READS = {"read_spans": ("phoenix", "query answer contexts input_tokens")}
